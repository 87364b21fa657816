"""Sentences, triples and spans; readers of every upstream format; the project's JSON-lines store."""

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.store import iterate_sentences, load_sentences, save_sentences

__all__ = ["Sentence", "Span", "Triple", "iterate_sentences", "load_sentences", "save_sentences"]
