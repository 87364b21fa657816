"""Documents, and needles infused into them at natural boundaries (MINEA, section 5.2.1).

A needle becomes a paragraph of its own between two paragraphs, or a group of sentences between two sentences where
the document has too few paragraphs. Its span covers what was inserted, separators included, so that removing all
spans gives back the document byte for byte.
"""

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tripleaudit.errors import UserError
from tripleaudit.fields import CLOSED
from tripleaudit.files import open_text
from tripleaudit.llm.splitting import blocks, headings, paragraphs, piece_of, sentences


@dataclass(frozen=True, slots=True)
class Document:
    """A plain text with an identifier that is unique within a study."""

    __pydantic_config__ = CLOSED

    id: str
    text: str

    @property
    def sha256(self) -> str:
        """SHA-256 of the UTF-8 text, 64 hexadecimal digits."""
        return _sha256(self.text)


def read_document(path: str | Path, max_chars: int | None = None) -> Document:
    """Read one UTF-8 text file; its name without the suffix becomes the identifier.

    Args:
        max_chars: keep at most this many characters, cut at the last paragraph end before that.

    Raises:
        UserError: the file is missing, binary, not UTF-8, or holds only whitespace.
    """
    path = Path(path)
    if path.is_file():
        with path.open("rb") as stream:
            if b"\0" in stream.read(8192):
                raise UserError(f"{path}: this is a binary file, expected a document in plain UTF-8 text")
    with open_text(path) as stream:
        text = stream.read().removeprefix("\ufeff")
    if not text.strip():
        raise UserError(f"{path}: the document is empty, expected plain text")
    return Document(path.stem, shorten(text, max_chars))


def read_documents(
    paths: Iterable[str | Path], max_chars: int | None = None, limit: int | None = None
) -> list[Document]:
    """Read text files and the ``*.txt`` and ``*.md`` files of folders, in the order given (folders by name).

    Raises:
        UserError: nothing was found, a file is not usable, or two files have the same name.
    """
    files = document_files(paths, limit)
    documents = [read_document(path, max_chars) for path in files]
    if not documents:
        raise UserError("no documents: expected at least one text file or a folder of them")
    seen: dict[str, Path] = {}
    for document, path in zip(documents, files, strict=True):
        if document.id in seen:
            raise UserError(f"{path}: a document named {document.id!r} was read from {seen[document.id]} already")
        seen[document.id] = path
    return documents


def document_files(paths: Iterable[str | Path], limit: int | None = None) -> list[Path]:
    """Return the text files that paths stand for: files as they are, folders as their ``.txt`` and ``.md`` files.

    Raises:
        UserError: a folder holds no such file.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if p.suffix.lower() in (".txt", ".md") and p.is_file())
            inside = [p for p in inside if p.stem.upper() not in ("LICENSE", "LICENCE", "README")]
            if not inside:
                raise UserError(f"{path}: the folder has no .txt or .md file")
            files += inside
        else:
            files.append(path)
    return files if limit is None else files[:limit]


def shorten(text: str, max_chars: int | None) -> str:
    """Return the longest run of whole paragraphs from the start of ``text`` within ``max_chars`` characters.

    A first paragraph that is longer by itself is kept whole: a document is never cut inside a paragraph.
    """
    if max_chars is None or len(text) <= max_chars:
        return text
    ends = [end for _, end in paragraphs(text)]
    fitting = [end for end in ends if end <= max_chars]
    return text[: fitting[-1] if fitting else ends[0]].rstrip() + "\n"


MINIMUM, TARGET, MAXIMUM = 0.10, 0.20, 0.30  # share of the enriched text; the target is this project's choice


@dataclass(frozen=True, slots=True)
class Placed:
    """One infused needle: ``enriched[start:end]`` was inserted, ``enriched[text_start:text_end]`` is the needle.

    ``gap`` counts the gaps between the document's units (0 = before the first); ``piece`` is the index of the piece
    that holds the needle after splitting.
    """

    __pydantic_config__ = CLOSED

    id: str
    start: int
    end: int
    text_start: int
    text_end: int
    gap: int
    piece: int | None = None


@dataclass(frozen=True, slots=True)
class Infusion:
    """A document with needles in it, and everything that is needed to take them out again."""

    __pydantic_config__ = CLOSED

    doc: str
    seed: int
    unit: str
    share: float
    original_sha256: str
    enriched_sha256: str
    needles: tuple[Placed, ...]
    text: str

    def removed(self) -> str:
        """Return the text without the spans of the needles: the document as it was."""
        parts, last = [], 0
        for placed in sorted(self.needles, key=lambda item: item.start):
            parts.append(self.text[last : placed.start])
            last = placed.end
        return "".join(parts) + self.text[last:]

    def spans(self) -> list[tuple[int, int]]:
        """The needles' own texts as ``(start, end)``: what splitting must not cut."""
        return [(placed.text_start, placed.text_end) for placed in self.needles]

    def with_pieces(self, pieces: Sequence[tuple[int, int]]) -> "Infusion":
        """Return the same infusion with every needle's piece index filled in."""
        return replace(self, needles=tuple(replace(p, piece=piece_of(p.text_start, pieces)) for p in self.needles))

    def check(self, where: str | Path) -> None:
        """Check the text and its spans against the recorded hashes.

        Raises:
            UserError: they do not fit; ``where`` begins the message.
        """
        if _sha256(self.text) != self.enriched_sha256:
            raise UserError(f"{where}: the enriched text of {self.doc!r} was changed after the infusion")
        if _sha256(self.removed()) != self.original_sha256:
            raise UserError(f"{where}: removing the needles of {self.doc!r} does not give back its document")


def infuse(
    document: Document,
    needles: Sequence[tuple[str, str]],
    seed: int,
    target: float = TARGET,
    minimum: float = MINIMUM,
    maximum: float = MAXIMUM,
) -> Infusion:
    """Insert needles at random natural boundaries until they fill ``target`` of the enriched text.

    Args:
        document: the haystack.
        needles: ``(id, paragraph)`` pairs; they are shuffled, and taken in that order.
        seed: decides the order and the offsets; equal arguments give equal results.
        target: stop once the needles fill this share of the characters of the enriched text.
        minimum, maximum: bounds of the share; a needle that would pass ``maximum`` is left out.

    Raises:
        UserError: all fitting needles together stay below ``minimum``; the message says how many characters are there
            and how many are needed.
    """
    rng = random.Random(f"{seed}:{document.id}:{document.sha256}")
    shuffled = list(needles)
    rng.shuffle(shuffled)
    chosen, unit, gaps = _choose(document, shuffled, target, minimum, maximum)
    offsets = sorted(_draw(rng, len(gaps), len(chosen)))
    text = document.text
    parts, placed, last, length = [], [], 0, 0
    for (identifier, paragraph), gap in zip(chosen, offsets, strict=True):
        position = gaps[gap]
        parts.append(text[last:position])
        length += position - last
        before, after = _separators(len(text), position, unit, _newline(text))
        start = length
        parts.append(before + paragraph + after)
        length += len(before) + len(paragraph) + len(after)
        placed.append(Placed(identifier, start, length, start + len(before), start + len(before) + len(paragraph), gap))
        last = position
    parts.append(text[last:])
    enriched = "".join(parts)
    share = round((len(enriched) - len(text)) / len(enriched), 6)
    return Infusion(document.id, seed, unit, share, document.sha256, _sha256(enriched), tuple(placed), enriched)


def needed(length: int, share: float) -> float:
    """Return how many characters must be inserted into ``length`` characters to fill ``share`` of the result."""
    return share * length / (1 - share)


def _choose(
    document: Document, shuffled: Sequence[tuple[str, str]], target: float, minimum: float, maximum: float
) -> tuple[list[tuple[str, str]], str, list[int]]:
    text = document.text
    units = {"paragraph": paragraphs(text), "sentence": sentences(text)}
    # The separators count towards the share, and which ones are used depends on the number of needles. A document of
    # headings and blocks alone has no offset between sentences, so its needles are paragraphs however many they are.
    for unit, roomy in (("paragraph", True), ("sentence", False), ("paragraph", False)):
        gaps = _gaps(text, units[unit], unit)
        extra = len("".join(_separators(len(text), 0, unit, _newline(text))))
        chosen, inserted = [], 0
        for identifier, paragraph in shuffled:
            if inserted >= needed(len(text), target):
                break
            size = len(paragraph) + extra
            if inserted + size <= needed(len(text), maximum):
                chosen.append((identifier, paragraph))
                inserted += size
        if len(units[unit]) >= 2 * len(chosen) + 1 if roomy else gaps:
            break
    if inserted < needed(len(text), minimum):
        total = sum(len(paragraph) for _, paragraph in shuffled)
        raise UserError(
            f"document {document.id!r}: its {len(text)} characters need between {needed(len(text), minimum):.0f} and "
            f"{needed(len(text), maximum):.0f} characters of needles to reach a share of {minimum:g} to {maximum:g}, "
            f"but of the {len(shuffled)} needles ({total} characters) only {inserted} characters fit; "
            f"{'add needles' if total < needed(len(text), minimum) else 'use a longer document or shorter needles'}"
        )
    return chosen, unit, gaps


def _gaps(text: str, spans: Sequence[tuple[int, int]], unit: str) -> list[int]:
    """Offsets between units, before the first and after the last included, but not inside lists, tables or code.

    Between sentences a needle is followed by a blank alone, so it cannot stand in, before or right behind a heading,
    nor before a block.
    """
    whole = blocks(text)
    offsets = [0, *(s for s in [*(s for s, _ in spans[1:]), len(text)] if not any(a < s < b for a, b in whole))]
    if unit == "paragraph":
        return offsets
    barred = [*headings(text), *((start, start) for start, _ in whole)]
    if barred and any(end >= len(text.rstrip()) for _, end in whole):
        barred.append((len(text), len(text)))  # a blank after the last line of a block would be part of it
    return [offset for offset in offsets if not any(a <= offset <= b for a, b in barred)]


def _draw(rng: random.Random, gaps: int, count: int) -> list[int]:
    if count <= gaps:
        return rng.sample(range(gaps), count)
    return [*range(gaps), *(rng.randrange(gaps) for _ in range(count - gaps))]


def _separators(length: int, position: int, unit: str, newline: str) -> tuple[str, str]:
    separator = " " if unit == "sentence" else newline * 2
    return (separator, "") if position == length else ("", separator)


def _newline(text: str) -> str:
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
