"""Putting other words at places of a sentence, and moving the spans that stand there."""

from collections.abc import Callable, Container, Mapping

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.spans import find_spans

Place = tuple[int, int]


class Shift:
    """Where an offset of the old text lies in the new one; not for offsets inside a replaced word."""

    def __init__(self) -> None:
        self._steps: list[tuple[int, int]] = []

    def add(self, end: int, growth: int) -> None:
        """Record that everything from ``end`` on moves by ``growth``; ends must not fall."""
        self._steps.append((end, growth))

    def __call__(self, offset: int) -> int:
        return offset + sum(growth for end, growth in self._steps if end <= offset)


def replace_places(text: str, words: Mapping[Place, str]) -> tuple[str, Shift]:
    """Put ``words`` at disjoint places of ``text``; return the new text and the shift of offsets outside the places."""
    parts, shift, at = [], Shift(), 0
    for (start, end), word in sorted(words.items()):
        parts += [text[at:start], word]
        shift.add(end, len(word) - (end - start))
        at = end
    parts.append(text[at:])
    return "".join(parts), shift


def substitute(
    sentence: Sentence, words: Mapping[Place, str], place_of: Callable[[Span], Place] | None = None
) -> tuple[Sentence, Shift]:
    """Put ``words`` at disjoint places of a sentence; its spans move with them.

    Args:
        sentence: with spans that begin and end outside the places or at their ends.
        words: by place.
        place_of: the place that a located span is to have before it moves; by default its own.
    """
    text, shift = replace_places(sentence.text, words)

    def moved(span: Span) -> Span:
        if not span.located:
            return span
        start, end = map(shift, place_of(span) if place_of else (span.start, span.end))
        return Span(start, end, text[start:end], span.type)

    triples = (Triple(moved(t.subject), t.relation, moved(t.object)) for t in sentence.triples)
    return Sentence(sentence.id, text, tuple(triples)), shift


def entity_places(sentence: Sentence, levels: Container[str] | None = None) -> dict[str, set[Place]]:
    """Return the places of every located entity string: those that triples name, and wherever else it stands.

    Args:
        levels: of :func:`~tripleaudit.corpora.spans.find_spans` at which a string counts as standing there; by default
            all.
    """
    places: dict[str, set[Place]] = {}
    for triple in sentence.triples:
        for span in (triple.subject, triple.object):
            if span.located:
                places.setdefault(span.text, set()).add((span.start, span.end))
    for text, known in places.items():
        found, level = find_spans(sentence.text, text, every=True)
        if levels is None or level in levels:
            known.update(found)
    return places
