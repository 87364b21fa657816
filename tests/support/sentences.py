"""Sentences made of strings."""

from tripleaudit.corpora.model import Sentence, Span, Triple


def sentence(text: str, *triples: tuple[str, str, str], id: str = "s") -> Sentence:
    """Build a sentence whose entities lie at the first occurrence of their strings."""

    def span(entity: str) -> Span:
        start = text.index(entity)
        return Span(start, start + len(entity), entity)

    return Sentence(id, text, tuple(Triple(span(s), r, span(o)) for s, r, o in triples))
