"""Code blocks of the documentation, as a reader would copy them."""

import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(
    r"(?:^`(?P<file>[\w./-]+)`:\n\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the file that the line before it names (``""`` for none)."""

    language: str
    file: str
    text: str


def sections(path: Path) -> dict[str, list[Block]]:
    """Return the code blocks under each heading of the second level, by the heading's text."""
    text = path.read_text(encoding="utf-8")
    fences = list(FENCE.finditer(text))
    heads = [
        match
        for match in re.finditer(r"^##? (.*)$", text, re.MULTILINE)
        if not any(fence.start() < match.start() < fence.end() for fence in fences)  # comments are no headings
    ]
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return {
        head[1]: [block(fence) for fence in fences if head.end() < fence.start() < end]
        for head, end in zip(heads, ends, strict=True)
    }


def every_block(path: Path) -> list[Block]:
    """Return all code blocks of a page that name their language."""
    return [block(fence) for fence in FENCE.finditer(path.read_text(encoding="utf-8"))]


def block(fence: re.Match[str]) -> Block:
    """Return the block that :data:`FENCE` matched."""
    return Block(fence["language"], fence["file"] or "", fence["text"])
