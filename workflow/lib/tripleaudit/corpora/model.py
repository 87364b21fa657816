"""The one data model of the project: sentences with relational triples between character spans."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tripleaudit.core.errors import UserError


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a sentence: ``sentence[start:end] == text`` (characters, end exclusive).

    An entity whose string does not occur in the sentence has ``start = end = None``: it still
    counts as gold when strings are matched, and is left out of training. ``type`` is the entity's,
    where the corpus or the extractor says; spans are equal whatever it is.
    """

    start: int | None
    end: int | None
    text: str
    type: str | None = field(default=None, compare=False)

    @property
    def located(self) -> bool:
        """Whether the span has a position in the sentence."""
        return self.start is not None

    @property
    def offsets(self) -> tuple[int, int]:
        """Start and end of a located span."""
        assert self.start is not None and self.end is not None
        return self.start, self.end

    def to_json(self) -> dict[str, Any]:
        row: dict[str, Any] = {"start": self.start, "end": self.end, "text": self.text}
        return row if self.type is None else {**row, "type": self.type}


@dataclass(frozen=True, slots=True)
class Triple:
    """A relational triple (subject, relation, object); predictions have a ``score`` in (0, 1]."""

    subject: Span
    relation: str
    object: Span
    score: float | None = field(default=None, compare=False)

    @property
    def strings(self) -> tuple[str, str, str]:
        """``(subject text, relation, object text)``, the unit of exact string matching."""
        return self.subject.text, self.relation, self.object.text

    @property
    def located(self) -> bool:
        """Whether both arguments have a position in the sentence."""
        return self.subject.located and self.object.located

    @property
    def typed(self) -> bool:
        """Whether the type of either argument is known."""
        return self.subject.type is not None or self.object.type is not None

    def to_json(self) -> dict[str, Any]:
        row: dict[str, Any] = {
            "subject": self.subject.to_json(),
            "relation": self.relation,
            "object": self.object.to_json(),
        }
        if self.score is not None:
            row["score"] = round(self.score, 6)
        return row


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text and its triples; ``triples == ()`` is a sentence with zero triples.

    ``names`` groups the names of one entity each, where the corpus annotates mentions of entities;
    the project's own files have them too. ``other_entities`` are the annotated entities that are in
    no triple; they are written by exports to formats with entities only.
    """

    id: str
    text: str
    triples: tuple[Triple, ...] = ()
    names: tuple[tuple[str, ...], ...] = field(default=(), compare=False)
    other_entities: tuple[Span, ...] = field(default=(), compare=False)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "text": self.text,
            "triples": [triple.to_json() for triple in self.triples],
        }

    def problems(self) -> Iterator[str]:
        """Yield one clause for each span that does not fit the text."""
        for triple in self.triples:
            for role, span in (("subject", triple.subject), ("object", triple.object)):
                if span.located and (problem := misfit(self.text, *span.offsets, span.text)):
                    yield f"{role} span {problem}"


def misfit(text: str, start: int, end: int, expected: str) -> str:
    """Return the problem of a span that should read as expected; empty if there is none."""
    if not 0 <= start < end <= len(text):
        return f"[{start}, {end}) is outside the text of {len(text)} characters"
    found = text[start:end]
    return "" if found == expected else f"[{start}, {end}) reads {found!r}, expected {expected!r}"


def span_from_json(value: Any) -> Span:
    """Build a :class:`Span` from ``{"start", "end", "text"[, "type"]}``.

    Raises:
        UserError: a key is missing or has the wrong type.
    """
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise UserError(f"expected a span {{'start', 'end', 'text'}}, got {value!r}")
    start, end = value.get("start"), value.get("end")
    if not (start is None and end is None) and not (type(start) is int and type(end) is int):
        raise UserError(
            f"span {value['text']!r} needs whole numbers 'start' and 'end', or null for both"
        )
    if not isinstance(value.get("type"), str | None):
        raise UserError(
            f"span {value['text']!r} has the type {value['type']!r}, expected a string or null"
        )
    return Span(start, end, value["text"], value.get("type"))


def sentence_from_json(value: Any, where: str) -> Sentence:
    """Build a :class:`Sentence` from the project's JSON form and check it.

    Args:
        value: ``{"id", "text", "triples": [{"subject", "relation", "object"[, "score"]}]}``, perhaps
            with ``names``, a list of the names of each entity; ``id`` may be missing.
        where: file and line, the start of every error message and the id of a sentence that has
            none.

    Raises:
        UserError: something is missing, has the wrong type, or a span does not fit the text.
    """
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise UserError(f"{where}: expected an object with the string 'text'")
    if not isinstance(value.get("triples"), list):
        raise UserError(
            f"{where}: field 'triples' is missing or not a list; a sentence without triples has []"
        )
    triples = []
    for number, row in enumerate(value["triples"]):
        if not isinstance(row, dict):
            raise UserError(
                f"{where}: triple {number} is not an object with 'subject', 'relation' and 'object'"
            )
        if not isinstance(row.get("relation"), str) or not row["relation"]:
            raise UserError(f"{where}: triple {number} has no 'relation'")
        try:
            subject, object_ = span_from_json(row.get("subject")), span_from_json(row.get("object"))
        except UserError as error:
            raise UserError(f"{where}: triple {number}: {error}") from error
        triples.append(Triple(subject, row["relation"], object_, row.get("score")))
    names = value.get("names", [])
    if not isinstance(names, list) or not all(isinstance(entity, list) for entity in names):
        raise UserError(
            f"{where}: field 'names' is no list of lists; expected the names of each entity"
        )
    names_of_entities = tuple(tuple(map(str, entity)) for entity in names)
    sentence = Sentence(
        str(value.get("id", where)), value["text"], tuple(triples), names_of_entities
    )
    for problem in sentence.problems():
        raise UserError(f"{where}: {problem}")
    return sentence
