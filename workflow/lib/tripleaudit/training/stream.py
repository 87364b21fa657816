"""Extraction from a stream of sentences in constant memory, optionally with a classifier."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from tripleaudit.core.clock import Clock
from tripleaudit.corpora.model import Sentence
from tripleaudit.extractors.alignment import Aligner, Alignment
from tripleaudit.extractors.base import Extractor
from tripleaudit.scoring.gate import THRESHOLD

WINDOW = 4096  # sentences that are read before the first of them is predicted


class Extracted(NamedTuple):
    """A predicted sentence; ``gate`` is the classifier's score, None without a classifier."""

    sentence: Sentence
    gate: float | None = None


@dataclass
class Account:
    """What happened to the sentences of a stream so far.

    Attributes:
        counts: ``sentences`` read, ``let_through`` to the extractor, ``cut`` of these to the
            encoder's limit, ``with_triples``, and ``triples``.
        relations: triples of each relation.
        clock: of ``tokenisation``, ``gate`` and ``extraction`` (the models and their decoding).
    """

    counts: Counter = field(default_factory=Counter)
    relations: Counter = field(default_factory=Counter)
    clock: Clock = field(default_factory=Clock)


class Stream:
    """Predicts sentences window by window.

    Memory is that of one window, however long the stream is. Batches are made within a window:
    sentences of similar length together, equal texts once.

    Args:
        model: an extractor, or whatever has its ``extract``; without ``aligner`` it reads texts and
            no tokens.
        gate: a zero-cardinality classifier; only what passes it reaches the extractor, the rest
            gets no triples.
        threshold: a sentence passes the gate if its score is greater.
    """

    def __init__(
        self,
        model: Any,
        gate: Extractor | None = None,
        *,
        batch_size: int = 32,
        window: int = WINDOW,
        threshold: float = THRESHOLD,
    ):
        self.model, self.gate = model, gate
        self.batch_size, self.window, self.threshold = (
            batch_size,
            max(window, batch_size),
            threshold,
        )
        self.account = Account()
        self._shared = (
            gate is not None
            and model.aligner is not None
            and same_tokens(gate.aligner, model.aligner)
        )

    def extract(self, sentences: Iterable[Sentence]) -> Iterator[Extracted]:
        """Yield every sentence with predicted triples, in order; given triples are ignored."""
        sentences = iter(sentences)
        while window := list(islice(sentences, self.window)):
            yield from self.predict(window)

    def predict(self, window: list[Sentence]) -> Iterator[Extracted]:
        """Yield the sentences of one window with their predicted triples, in order."""
        account, gate, texts = self.account, self.gate, [sentence.text for sentence in window]
        scores: list[float | None] = [None] * len(window)
        known = self._align((self.model if gate is None else gate).aligner, texts)
        if gate is not None:
            with account.clock.timed("gate"):
                scores = gate.decide(texts, self.batch_size, known)
        kept = [
            number for number, score in enumerate(scores) if score is None or score > self.threshold
        ]
        texts, ids = [texts[number] for number in kept], [window[number].id for number in kept]
        if gate is not None and not self._shared:
            known = self._align(self.model.aligner, texts)
        with account.clock.timed("extraction"):
            found = self.model.extract(texts, self.batch_size, ids, known) if kept else []
        predicted = dict(zip(kept, found, strict=True))
        account.counts.update(sentences=len(window), let_through=len(kept))
        account.counts["cut"] += sum(known[text].truncated for text in texts if text in known)
        for number, (sentence, score) in enumerate(zip(window, scores, strict=True)):
            result = predicted.get(number) or Sentence(sentence.id, sentence.text)
            account.counts.update(with_triples=bool(result.triples), triples=len(result.triples))
            account.relations.update(triple.relation for triple in result.triples)
            yield Extracted(result, score)

    def _align(self, aligner: Aligner | None, texts: list[str]) -> Mapping[str, Alignment]:
        if aligner is None:
            return {}
        with self.account.clock.timed("tokenisation"):
            return aligner.aligned(texts)


def same_tokens(first: Aligner, second: Aligner) -> bool:
    """Return whether two aligners tokenise alike, so that one tokenisation serves two models."""
    if (first.limit, first.marker_id, first.words) != (
        second.limit,
        second.marker_id,
        second.words,
    ):
        return False
    return first.tokenizer.backend_tokenizer.to_str() == second.tokenizer.backend_tokenizer.to_str()
