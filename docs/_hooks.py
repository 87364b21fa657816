"""Hooks of MkDocs: pages link to files of the repository, which the site therefore holds too.

Pages are written to be read in the repository. Links that leave ``docs`` are followed when the site
is built: README.md becomes the home page, every other file lies below ``repository/``.
"""

import argparse
import os
import re
import sys
from pathlib import Path
from posixpath import dirname, normpath, relpath
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
FENCED = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")
HELP_MARK = "<!-- help of every command -->"
HOME = {"README.md": "index.md"}


def on_files(files: Files, config: Any) -> Files:
    """Add the home page and every file of the repository that a page links to."""
    waiting = ["README.md", "config/README.md", *(f"docs/{page.src_uri}" for page in files)]
    visited = set()
    while waiting:
        path = waiting.pop()
        if path in visited:
            continue
        visited.add(path)
        if not path.startswith("docs/"):
            file = File.generated(config, site_uri(path), abs_src_path=str(ROOT / path))
            files.append(file)
        if path.endswith(".md"):
            waiting.extend(linked_files(path))
    return files


def on_page_markdown(markdown: str, page: Page, config: Any, files: Files) -> str:
    """Point links to the places of the site, and insert the help of the commands."""
    path = repository_path(page.file.src_uri)

    def relocate(match: re.Match[str]) -> str:
        target = resolve(path, match[1])
        if target is None:
            return match[0]
        place = relpath(site_uri(target), dirname(page.file.src_uri) or ".")
        return f"]({place}{match[2] or ''})"

    parts = FENCED.split(markdown)
    parts[::2] = [LINK.sub(relocate, part) for part in parts[::2]]
    text = "".join(parts)
    return text.replace(HELP_MARK, command_help()) if HELP_MARK in text else text


def linked_files(path: str) -> list[str]:
    """Return the files that a page of the repository links to."""
    text = FENCED.sub("", (ROOT / path).read_text(encoding="utf-8"))
    targets = (resolve(path, link) for link, _ in LINK.findall(text))
    return [target for target in targets if target is not None]


def resolve(path: str, link: str) -> str | None:
    """Return the file of the repository that a link of ``path`` names; None for other links."""
    if re.match(r"[a-z]+:", link):
        return None
    target = normpath(f"{dirname(path)}/{link}" if dirname(path) else link)
    return target if (ROOT / target).is_file() else None


def site_uri(path: str) -> str:
    """Return the place of a file of the repository within the site."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return HOME.get(path, f"repository/{path}")


def repository_path(uri: str) -> str:
    """Return the file of the repository that a place of the site shows."""
    for path, place in HOME.items():
        if place == uri:
            return path
    return uri.removeprefix("repository/") if uri.startswith("repository/") else f"docs/{uri}"


def command_help() -> str:
    """Return the help of every command as Markdown."""
    sys.path.insert(0, str(ROOT / "workflow" / "lib"))
    os.environ["COLUMNS"] = "96"
    from tripleaudit.cli import build_parser

    actions = build_parser()._actions
    commands = next(a for a in actions if isinstance(a, argparse._SubParsersAction)).choices
    sections = [
        f"### tripleaudit {name}\n\n```text\n{parser.format_help().rstrip()}\n```\n"
        for name, parser in commands.items()
    ]
    return "\n".join(sections)
