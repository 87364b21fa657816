"""The one data model of the project: sentences with relational triples between character spans."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BeforeValidator, Strict

from tripleaudit.errors import UserError
from tripleaudit.fields import Text, row_of

Offset = Annotated[int, Strict()] | None


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a sentence: ``sentence[start:end] == text`` (characters, end exclusive).

    An entity whose string does not occur in the sentence has ``start = end = None``: it still counts as gold when
    strings are matched, and is left out of training. ``type`` is the entity's, where the corpus or the extractor says;
    spans are equal whatever it is.
    """

    start: Offset
    end: Offset
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
    """A relational triple (subject, relation, object); ``score`` in (0, 1] is set on predictions only."""

    subject: Span
    relation: Text
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
    """A text and its triples; ``triples == ()`` is a sentence with zero triples."""

    id: Annotated[str, BeforeValidator(str)]
    text: str
    triples: tuple[Triple, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "text": self.text, "triples": [triple.to_json() for triple in self.triples]}

    def problems(self) -> Iterator[str]:
        """Yield one clause for each span that does not fit the text."""
        for triple in self.triples:
            for role, span in (("subject", triple.subject), ("object", triple.object)):
                if (span.start is None) != (span.end is None):
                    yield f"{role} span {span.text!r} has one end alone, expected both or none"
                elif span.located and (problem := misfit(self.text, *span.offsets, span.text)):
                    yield f"{role} span {problem}"


def misfit(text: str, start: int, end: int, expected: str) -> str:
    """Return what is wrong with a span of a text that is to read as expected; empty where nothing is."""
    if not 0 <= start < end <= len(text):
        return f"[{start}, {end}) is outside the text of {len(text)} characters"
    found = text[start:end]
    return "" if found == expected else f"[{start}, {end}) reads {found!r}, expected {expected!r}"


def sentence_from_json(value: Any, where: str) -> Sentence:
    """Build a :class:`Sentence` from the project's JSON form and check it.

    Args:
        value: ``{"id", "text", "triples": [{"subject", "relation", "object"[, "score"]}]}``; ``id`` may be missing.
        where: file and line, the start of every error message and the id of a sentence that has none.

    Raises:
        UserError: something is missing, has the wrong type, or a span does not fit the text.
    """
    named = {"id": where, "triples": None, **value} if isinstance(value, dict) else value
    sentence = row_of(named, Sentence, where)
    for problem in sentence.problems():
        raise UserError(f"{where}: {problem}")
    return sentence
