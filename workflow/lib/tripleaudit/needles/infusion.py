"""Needles infused into documents at natural boundaries (MINEA, section 5.2.1).

A needle becomes a paragraph of its own between two paragraphs, or a group of sentences between two
sentences where the document has too few paragraphs.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tripleaudit.core.errors import UserError
from tripleaudit.core.fields import CLOSED
from tripleaudit.llm.units import Unit, has_open_fence, is_prose, paragraphs, sentences, text_of
from tripleaudit.needles.haystack import Document

MINIMUM, TARGET, MAXIMUM = (
    0.10,
    0.20,
    0.30,
)  # share of the enriched text; the target is this project's choice


@dataclass(frozen=True, slots=True)
class Infusion:
    """A document with needles in it.

    Attributes:
        doc: identifier of the document.
        seed: of the needles' order and places.
        share: of the characters of the enriched text that were inserted.
        units: the document's own units, and a unit for each needle.
    """

    __pydantic_config__ = CLOSED

    doc: str
    seed: int
    share: float
    units: tuple[Unit, ...]

    @property
    def text(self) -> str:
        """The enriched text."""
        return text_of(self.units)

    @property
    def needles(self) -> list[str]:
        """Identifiers of the needles, in their order in the text."""
        return [unit.needle for unit in self.units if unit.needle]

    @property
    def original_text(self) -> str:
        """The text without the needles."""
        return text_of([unit for unit in self.units if not unit.needle])

    def check(self, document: Document, where: str | Path) -> None:
        """Check that the text without the needles is the document.

        Raises:
            UserError: it is not; ``where`` begins the message.
        """
        if self.original_text != document.text:
            raise UserError(
                f"{where}: without its needles, {self.doc!r} is not its document; make the needles again"
            )


@dataclass(frozen=True, slots=True)
class _Haystack:
    """The units of a document and the places between them that a needle can take.

    Attributes:
        places: indices of the units before which a needle can stand; their number is the place
            behind the last one.
        separator: blanks between a needle and its neighbour.
    """

    units: Sequence[str]
    places: Sequence[int]
    separator: str


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
        seed: decides the order and the places; equal arguments give equal results.
        target: stop once the needles fill this share of the characters of the enriched text.
        minimum, maximum: bounds of the share; a needle that would pass ``maximum`` is left out.

    Raises:
        UserError: all fitting needles together stay below ``minimum``; the message says how many
            characters are there and how many are needed.
    """
    rng = random.Random(f"{seed}:{document.id}:{document.text}")
    shuffled = rng.sample(list(needles), len(needles))
    haystack, chosen = _choose(document.text, shuffled, target, maximum)
    inserted = sum(len(paragraph) + len(haystack.separator) for _, paragraph in chosen)
    if inserted < needed(len(document.text), minimum):
        raise UserError(_too_few(document, shuffled, inserted, minimum, maximum))
    places = sorted(_draw(rng, haystack.places, len(chosen)))
    units = _insert(haystack, chosen, places)
    share = round(inserted / (len(document.text) + inserted), 6)
    return Infusion(document.id, seed, share, tuple(units))


def needed(length: int, share: float) -> float:
    """Return how many characters fill ``share`` of the result if added to ``length``."""
    return share * length / (1 - share)


def _choose(
    text: str, shuffled: Sequence[tuple[str, str]], target: float, maximum: float
) -> tuple[_Haystack, list[tuple[str, str]]]:
    """Return the haystack by paragraphs or sentences, and the needles to insert.

    Paragraphs are taken where there are at least two for each needle and one more; the number of
    needles depends on the separators, which count towards the share.
    """
    by_paragraph = _haystack_of_paragraphs(text)
    chosen = _take(text, shuffled, len(by_paragraph.separator), target, maximum)
    if len(by_paragraph.units) >= 2 * len(chosen) + 1:
        return by_paragraph, chosen
    by_sentence = _haystack_of_sentences(text)
    if not by_sentence.places:  # a document of headings, lists and code alone
        return by_paragraph, chosen
    return by_sentence, _take(text, shuffled, len(by_sentence.separator), target, maximum)


def _take(
    text: str, shuffled: Sequence[tuple[str, str]], separator: int, target: float, maximum: float
) -> list[tuple[str, str]]:
    """Return the first needles that fill ``target`` of the result within ``maximum``.

    Args:
        separator: characters inserted with each needle.
    """
    chosen: list[tuple[str, str]] = []
    inserted = 0
    for identifier, paragraph in shuffled:
        if inserted >= needed(len(text), target):
            break
        size = len(paragraph) + separator
        if inserted + size <= needed(len(text), maximum):
            chosen.append((identifier, paragraph))
            inserted += size
    return chosen


def _haystack_of_paragraphs(text: str) -> _Haystack:
    units = paragraphs(text)
    places = range(len(units) if has_open_fence(text) else len(units) + 1)
    has_windows_newlines = text.count("\r\n") * 2 > text.count("\n")
    return _Haystack(units, places, "\r\n\r\n" if has_windows_newlines else "\n\n")


def _haystack_of_sentences(text: str) -> _Haystack:
    """Return a document's sentences; needles go next to prose, not before headings or blocks."""
    units: list[str] = []
    places: list[int] = []
    for paragraph in paragraphs(text):
        if is_prose(paragraph):
            parts = sentences(paragraph)
            places += range(len(units), len(units) + len(parts))
        else:
            parts = [paragraph]
        units += parts
        ends_with_prose = is_prose(paragraph)
    if units and ends_with_prose:
        places.append(len(units))
    return _Haystack(units, places, " ")


def _insert(
    haystack: _Haystack, needles: Sequence[tuple[str, str]], places: Sequence[int]
) -> list[Unit]:
    """Return the units of a document with needles before the units of these places, in order."""
    units: list[Unit] = []
    placed = list(zip(places, needles, strict=True))
    for index, text in enumerate(haystack.units):
        before = [needle for place, needle in placed if place == index]
        units += [
            Unit(paragraph + haystack.separator, identifier) for identifier, paragraph in before
        ]
        units.append(Unit(text))
    behind = [needle for place, needle in placed if place == len(haystack.units)]
    units += [Unit(haystack.separator + paragraph, identifier) for identifier, paragraph in behind]
    return units


def _draw(rng: random.Random, places: Sequence[int], count: int) -> list[int]:
    """Return places for ``count`` needles: different ones while there are enough."""
    if count <= len(places):
        return rng.sample(list(places), count)
    return [*places, *rng.choices(places, k=count - len(places))]


def _too_few(
    document: Document,
    needles: Sequence[tuple[str, str]],
    inserted: int,
    minimum: float,
    maximum: float,
) -> str:
    length = len(document.text)
    least, most = needed(length, minimum), needed(length, maximum)
    available = sum(len(paragraph) for _, paragraph in needles)
    advice = "add needles" if available < least else "use a longer document or shorter needles"
    return (
        f"document {document.id!r}: its {length} characters need between {least:.0f} and {most:.0f} characters of "
        f"needles to reach a share of {minimum:g} to {maximum:g}, but of the {len(needles)} needles ({available} "
        f"characters) only {inserted} characters fit; {advice}"
    )
