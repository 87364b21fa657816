"""Code blocks of the documentation, as a reader would copy them."""

import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(
    r"(?:^`(?P<file>[\w./-]+)`:\n\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
# the fences first, so that comments in them are no headings
PART = re.compile(rf"{FENCE.pattern}|^##? (?P<head>[^\n]*)$", FENCE.flags)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the file that the line before it names (``""``
    for none).
    """

    language: str
    file: str
    text: str


def sections(path: Path) -> dict[str, list[Block]]:
    """Return the code blocks under each heading of the first two levels, by the heading's text."""
    found: dict[str, list[Block]] = {}
    for match in PART.finditer(path.read_text(encoding="utf-8")):
        if match["head"]:
            found[match["head"]] = []
        elif found:
            found[[*found][-1]].append(block(match))
    return found


def every_block(path: Path) -> list[Block]:
    """Return all code blocks of a page that name their language."""
    return [block(fence) for fence in FENCE.finditer(path.read_text(encoding="utf-8"))]


def block(fence: re.Match[str]) -> Block:
    """Return the block that :data:`FENCE` matched."""
    return Block(fence["language"], fence["file"] or "", fence["text"])
