"""Sentences, triples and spans; readers of every upstream format; the project's JSON-lines store."""

from tripleaudit.corpora.corpus import Corpus, CorpusReport
from tripleaudit.corpora.divide import split_corpus, split_like
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.store import iterate_sentences, load_sentences, save_sentences
from tripleaudit.descriptors import FORMATS

__all__ = [
    "FORMATS",
    "Corpus",
    "CorpusReport",
    "Sentence",
    "Span",
    "Triple",
    "iterate_sentences",
    "load_sentences",
    "read_corpus",
    "save_sentences",
    "split_corpus",
    "split_like",
]
