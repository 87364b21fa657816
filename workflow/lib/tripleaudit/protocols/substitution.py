"""Putting other words at places of a text, and moving the spans that stand there."""

from collections.abc import Mapping

from tripleaudit.corpora.model import Span

Place = tuple[int, int]


def replace_places(text: str, words: Mapping[Place, str]) -> tuple[str, "Shift"]:
    """Put ``words`` at disjoint places of ``text``; return the new text and the shift of offsets outside the places."""
    parts, shift, at = [], Shift(), 0
    for (start, end), word in sorted(words.items()):
        parts += [text[at:start], word]
        shift.add(end, len(word) - (end - start))
        at = end
    parts.append(text[at:])
    return "".join(parts), shift


class Shift:
    """Where an offset of the old text lies in the new one; not for offsets inside a replaced word."""

    def __init__(self) -> None:
        self._steps: list[tuple[int, int]] = []

    def add(self, end: int, growth: int) -> None:
        """Record that everything from ``end`` on moves by ``growth``; ends must not fall."""
        self._steps.append((end, growth))

    def __call__(self, offset: int) -> int:
        return offset + sum(growth for end, growth in self._steps if end <= offset)

    def span(self, start: int, end: int, text: str, kind: str | None) -> Span:
        """Return the span of the new ``text`` at which that of the old one now stands."""
        start, end = self(start), self(end)
        return Span(start, end, text[start:end], kind)
