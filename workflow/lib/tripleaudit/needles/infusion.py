"""Needles infused into documents at natural boundaries (MINEA, section 5.2.1).

A needle becomes a paragraph of its own between two paragraphs, or a group of sentences between two
sentences where the document has too few paragraphs.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tripleaudit.core.errors import UserError
from tripleaudit.core.rows import CLOSED
from tripleaudit.llm.units import Unit, has_open_fence, is_prose, paragraphs, sentences, text_of
from tripleaudit.needles.haystack import Document
from tripleaudit.needles.plan import NeedleSettings


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
    document: Document, needles: Sequence[tuple[str, str]], settings: NeedleSettings
) -> Infusion:
    """Insert needles at random natural boundaries until they fill ``target`` of the enriched text.

    Args:
        document: the haystack.
        needles: ``(id, paragraph)`` pairs; they are shuffled, and taken in that order.
        settings: ``seed`` of order and places, and the share of the characters of the enriched text
            that the needles fill: ``target``, and its bounds ``minimum`` and ``maximum``. A needle
            that would pass ``maximum`` is left out. Equal arguments give equal results.

    Raises:
        UserError: all fitting needles together stay below ``minimum``; the message says how many
            characters are there and how many are needed.
    """
    length = len(document.text)
    rng = random.Random(f"{settings.seed}:{document.id}:{document.text}")
    shuffled = rng.sample(list(needles), len(needles))
    haystack, chosen = _choose(document.text, shuffled, settings)
    inserted = sum(len(paragraph) + len(haystack.separator) for _, paragraph in chosen)
    if inserted < needed(length, settings.minimum):
        raise UserError(_too_few(document, shuffled, inserted, settings))
    places = sorted(_draw(rng, haystack.places, len(chosen)))
    units = _insert(haystack, chosen, places)
    share = round(inserted / (length + inserted), 6)
    return Infusion(document.id, settings.seed, share, tuple(units))


def needed(length: int, share: float) -> float:
    """Return how many characters fill ``share`` of the result if added to ``length``."""
    return share * length / (1 - share)


def _choose(
    text: str, shuffled: Sequence[tuple[str, str]], settings: NeedleSettings
) -> tuple[_Haystack, list[tuple[str, str]]]:
    """Return the haystack by paragraphs or sentences, and the needles to insert.

    Paragraphs are taken where there are at least two for each needle and one more; the number of
    needles depends on the separators, which count towards the share.
    """
    by_paragraph = _haystack_of_paragraphs(text)
    chosen = _take(text, shuffled, by_paragraph.separator, settings)
    if len(by_paragraph.units) >= 2 * len(chosen) + 1:
        return by_paragraph, chosen
    by_sentence = _haystack_of_sentences(text)
    if not by_sentence.places:  # a document of headings, lists and code alone
        return by_paragraph, chosen
    return by_sentence, _take(text, shuffled, by_sentence.separator, settings)


def _take(
    text: str, shuffled: Sequence[tuple[str, str]], separator: str, settings: NeedleSettings
) -> list[tuple[str, str]]:
    """Return the first needles that fill ``target`` of the result within ``maximum``.

    Args:
        separator: inserted with each needle.
    """
    wanted = needed(len(text), settings.target)
    most = needed(len(text), settings.maximum)
    chosen: list[tuple[str, str]] = []
    inserted = 0
    for identifier, paragraph in shuffled:
        if inserted >= wanted:
            break
        size = len(paragraph) + len(separator)
        if inserted + size <= most:
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
    surplus = count - len(places)
    return [*places, *rng.choices(places, k=surplus)]


def _too_few(
    document: Document,
    needles: Sequence[tuple[str, str]],
    inserted: int,
    settings: NeedleSettings,
) -> str:
    length = len(document.text)
    least = needed(length, settings.minimum)
    most = needed(length, settings.maximum)
    available = sum(len(paragraph) for _, paragraph in needles)
    advice = "add needles" if available < least else "use a longer document or shorter needles"
    return (
        f"document {document.id!r}: its {length} characters need between {least:.0f} and "
        f"{most:.0f} characters of needles to reach a share of {settings.minimum:g} to "
        f"{settings.maximum:g}, but of the {len(needles)} needles ({available} characters) only "
        f"{inserted} characters fit; {advice}"
    )
