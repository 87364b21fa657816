"""Training sentences: aligned once, noised and drawn from again in every epoch, batched by length.

The epoch travels with the number of each sentence (keys are ``(epoch, number)``), so that
prefetching and resumed runs see the right one.
"""

import logging
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from tripleaudit.core.progress import watched
from tripleaudit.core.randomness import generator, generators
from tripleaudit.corpora.model import Sentence
from tripleaudit.extractors.alignment import Alignment, token_triples
from tripleaudit.extractors.base import Extractor, ExtractorConfig
from tripleaudit.extractors.batches import GoldBatch, Shape, pad_batch
from tripleaudit.protocols.noising import EntityNoising

logger = logging.getLogger(__name__)

ALIGN_AT_ONCE = 1000
GROUP = 50  # batches that are sorted by length together


@dataclass(frozen=True, slots=True)
class Example:
    """One training sentence in token space.

    Attributes:
        rows: [n, 5] gold triples in tokens (``GoldBatch.rows``).
        lost: triples that no tokens fit.
        instance: the only one of its instances that is wanted, where batches count instances.
    """

    id: str
    alignment: Alignment
    rows: np.ndarray
    lost: int
    epoch: int = 0
    instance: int | None = None


class TrainingSentences:
    """The training sentences that an extractor can learn from.

    Sentences that lose all their triples (entities without a position in the text, truncation,
    spans that no token span fits) are left out: they must never serve as sentences with zero
    triples. ``counts`` says how many sentences and triples went which way; ``unwritable_triples``
    have tokens, but entities that the extractor cannot write.

    Args:
        extractor: gives aligner, relations and the settings that leave sentences out.
        noise: called at every fetch; None trains on the sentences as they are.
    """

    def __init__(
        self,
        sentences: Sequence[Sentence],
        extractor: Extractor,
        noise: EntityNoising | None = None,
    ):
        config = extractor.config
        self.aligner, self.noise = extractor.aligner, noise
        self.relations = {name: number for number, name in enumerate(config.relations)}
        self.max_length, self.occurrence = config.max_length, config.occurrence
        self.count = partial(type(extractor).instance_count, config)
        most = config.drop_above or math.inf
        self.sentences: list[Sentence] = []
        self.examples: list[Example] = []
        self.counts = Counter(sentences=len(sentences))
        for at in watched(
            range(0, len(sentences), ALIGN_AT_ONCE), "aligning", f"times {ALIGN_AT_ONCE} sentences"
        ):
            chunk = sentences[at : at + ALIGN_AT_ONCE]
            for sentence, example in zip(chunk, self._align(chunk), strict=True):
                written = type(extractor).representable(config, example.alignment, example.rows)
                self.counts["triples"] += len(set(sentence.triples))
                self.counts["lost_triples"] += example.lost
                self.counts["unwritable_triples"] += int(np.sum(~written))
                self.counts["truncated"] += example.alignment.truncated
                if sentence.triples and not len(example.rows):
                    self.counts["lost_sentences"] += 1
                elif len(example.rows) > most:
                    self.counts["dropped_long"] += 1
                elif not sentence.triples and config.drop_zero:
                    self.counts["dropped_zero"] += 1
                else:
                    self.counts["zero"] += not sentence.triples
                    self.sentences.append(sentence)
                    self.examples.append(example)
        logger.info(
            "training sentences: %s",
            ", ".join(f"{key} {value}" for key, value in sorted(self.counts.items())),
        )

    def _align(self, sentences: Sequence[Sentence]) -> list[Example]:
        alignments = self.aligner.align([sentence.text for sentence in sentences], self.max_length)
        return [
            Example(
                sentence.id,
                alignment,
                *token_triples(alignment, sentence, self.relations, self.occurrence),
            )
            for sentence, alignment in zip(sentences, alignments, strict=True)
        ]

    @property
    def lengths(self) -> list[int]:
        """Tokens of each sentence, un-noised."""
        return [len(example.alignment) for example in self.examples]

    def instances(self) -> list[int]:
        """Instances that the extractor makes of each sentence (``Extractor.instance_count``)."""
        return [self.count(example.rows) for example in self.examples]

    def size(self, unit: str) -> int:
        """Sentences or instances of an epoch."""
        return len(self) if unit == "sentences" else sum(self.instances())

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, key: tuple[int, ...]) -> Example:
        epoch, index, *instance = key
        example = self.examples[index]
        noised = self.noise(self.sentences[index], epoch) if self.noise is not None else None
        if noised is not None:
            (fresh,) = self._align([noised])
            if (
                fresh.lost <= example.lost
            ):  # else noise pushed a span over the limit: keep the original
                example = fresh
        return replace(example, epoch=epoch, instance=instance[0] if instance else None)


def batches(
    lengths: Sequence[int],
    batch_size: int,
    seed: int,
    epoch: int,
    *,
    grouped: bool = True,
    instances: Sequence[int] | None = None,
) -> list[list[tuple[int, ...]]]:
    """Return the batches of an epoch: keys ``(epoch, sentence)`` of sentences of similar length.

    The order follows from (seed, epoch) alone: a random permutation, cut into groups of ``GROUP``
    batches, each sorted by length, and the resulting batches shuffled.

    Args:
        batch_size: sentences per batch; the last batch may be smaller.
        epoch: counted from 0.
        grouped: False gives plain random batches.
        instances: of each sentence, where ``batch_size`` counts these; keys are then ``(epoch,
            sentence, instance)``.
    """
    keys: list[tuple[int, ...]] = [(epoch, number) for number in range(len(lengths))]
    sizes = np.asarray(lengths)
    if instances is not None:
        keys = [
            (epoch, number, each) for number, count in enumerate(instances) for each in range(count)
        ]
        sizes = np.repeat(sizes, instances)
    rng = generator(seed, epoch, "batches")
    order = rng.permutation(len(sizes))
    if grouped:
        size = batch_size * GROUP
        groups = [order[at : at + size] for at in range(0, len(order), size)]
        order = np.concatenate(
            [group[np.argsort(-sizes[group], kind="stable")] for group in groups]
        )
    found = [
        [keys[index] for index in order[at : at + batch_size]]
        for at in range(0, len(order), batch_size)
    ]
    return [found[number] for number in rng.permutation(len(found))] if grouped else found


class Collator:
    """Turns examples into arguments of ``forward``; draws depend on (seed, epoch, id).

    ``static`` is the number of sentences of a static batch (see :class:`Shape`); 0 pads tightly.
    """

    def __init__(
        self,
        extractor: type[Extractor],
        config: ExtractorConfig,
        pad_id: int,
        seed: int,
        static: int = 0,
    ):
        self.extractor, self.config, self.pad_id, self.seed, self.static = (
            extractor,
            config,
            pad_id,
            seed,
            static,
        )

    def __call__(
        self, examples: Sequence[Example], shape: Shape | None = None
    ) -> dict[str, Tensor]:
        alignments, rows = (
            [example.alignment for example in examples],
            [example.rows for example in examples],
        )
        shape = shape or Shape.of([len(alignment) for alignment in alignments], self.static)
        batch = pad_batch(alignments, self.pad_id, self.extractor.words, shape)
        rngs = generators((self.seed, example.epoch, example.id, "draws") for example in examples)
        chosen = [example.instance for example in examples]
        gold = GoldBatch(rows, rngs, shape, None if None in chosen else chosen)
        batch["triples"] = shape.padded(gold.triples.numpy())
        if shape.static:
            batch["valid"] = torch.arange(len(batch["triples"])) < len(gold.triples)
        return batch | self.extractor.collate_targets(self.config, gold)
