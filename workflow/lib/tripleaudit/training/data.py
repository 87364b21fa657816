"""Training sentences: aligned once, noised again in every epoch, batched by length.

Sentences are requested by keys ``(epoch, number)``. The key contains the epoch, so workers that
prefetch and runs that resume noise a sentence for the right epoch.
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

ALIGN_AT_ONCE = 1000  # sentences
GROUP = 50  # batches that are sorted by length together


@dataclass(frozen=True, slots=True)
class Example:
    """One training sentence in token space.

    Attributes:
        rows: [n, 5] gold triples in tokens (``GoldBatch.rows``).
        lost: number of triples whose entities do not align with tokens.
        epoch: counted from 0; selects the random draws.
        instance: number of the training instance to use; None for all instances of the sentence.
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
    spans that do not align with tokens) are left out: they must never serve as sentences with zero
    triples. ``counts`` holds the numbers of sentences and triples that were kept or lost;
    ``unwritable_triples`` align with tokens, but the extractor cannot represent them.

    Args:
        extractor: source of the aligner, the relations, and the settings ``drop_above`` and
            ``drop_zero``, which leave sentences out.
        noise: applied whenever a sentence is fetched; None trains on the original sentences.
    """

    def __init__(
        self,
        sentences: Sequence[Sentence],
        extractor: Extractor,
        noise: EntityNoising | None = None,
    ):
        config = extractor.config
        self.aligner = extractor.aligner
        self.noise = noise
        self.relations = {name: number for number, name in enumerate(config.relations)}
        self.max_length = config.max_length
        self.occurrence = config.occurrence
        self.instance_count = partial(type(extractor).instance_count, config)
        max_triples = config.drop_above or math.inf
        self.sentences: list[Sentence] = []
        self.examples: list[Example] = []
        self.counts = Counter(sentences=len(sentences))
        starts = range(0, len(sentences), ALIGN_AT_ONCE)
        for start in watched(starts, "aligning", f"times {ALIGN_AT_ONCE} sentences"):
            chunk = sentences[start : start + ALIGN_AT_ONCE]
            for sentence, example in zip(chunk, self._align(chunk), strict=True):
                writable = type(extractor).representable(config, example.alignment, example.rows)
                self.counts["triples"] += len(set(sentence.triples))
                self.counts["lost_triples"] += example.lost
                self.counts["unwritable_triples"] += int(np.sum(~writable))
                self.counts["truncated"] += example.alignment.truncated
                if sentence.triples and not len(example.rows):
                    self.counts["lost_sentences"] += 1
                elif len(example.rows) > max_triples:
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
        """Return sentences as examples, with their gold triples in token positions."""
        alignments = self.aligner.align([sentence.text for sentence in sentences], self.max_length)
        examples = []
        for sentence, alignment in zip(sentences, alignments, strict=True):
            rows, lost = token_triples(alignment, sentence, self.relations, self.occurrence)
            examples.append(Example(sentence.id, alignment, rows, lost))
        return examples

    @property
    def lengths(self) -> list[int]:
        """Number of tokens of each original sentence."""
        return [len(example.alignment) for example in self.examples]

    def instances(self) -> list[int]:
        """Return the number of training instances of each sentence."""
        return [self.instance_count(example.rows) for example in self.examples]

    def size(self, unit: str) -> int:
        """Return the number of sentences or instances in an epoch."""
        return len(self) if unit == "sentences" else sum(self.instances())

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, key: tuple[int, ...]) -> Example:
        """Return an example by ``(epoch, sentence)`` or ``(epoch, sentence, instance)``."""
        epoch, index, *instance = key
        example = self.examples[index]
        noised = self.noise(self.sentences[index], epoch) if self.noise is not None else None
        if noised is not None:
            (noised_example,) = self._align([noised])
            # If noise moves an entity beyond the maximum length, the original sentence is kept.
            if noised_example.lost <= example.lost:
                example = noised_example
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
    """Return the batches of an epoch as lists of keys ``(epoch, sentence)``.

    A batch holds sentences of similar length: a random permutation is cut into groups of ``GROUP``
    batches, each group is sorted by length, and the batches are shuffled. The order depends only on
    ``seed`` and ``epoch``.

    Args:
        lengths: number of tokens of each sentence.
        batch_size: sentences (or instances) per batch; the last batch may be smaller.
        epoch: counted from 0.
        grouped: False gives plain random batches.
        instances: number of instances of each sentence, if ``batch_size`` counts instances; keys
            are then ``(epoch, sentence, instance)``.
    """
    keys: list[tuple[int, ...]] = [(epoch, sentence) for sentence in range(len(lengths))]
    sizes = np.asarray(lengths)
    if instances is not None:
        keys = [
            (epoch, sentence, instance)
            for sentence, count in enumerate(instances)
            for instance in range(count)
        ]
        sizes = np.repeat(sizes, instances)
    rng = generator(seed, epoch, "batches")
    order = rng.permutation(len(sizes))
    if grouped:
        group_size = batch_size * GROUP
        groups = [order[start : start + group_size] for start in range(0, len(order), group_size)]
        longest_first = [group[np.argsort(-sizes[group], kind="stable")] for group in groups]
        order = np.concatenate(longest_first)
    key_batches = []
    for start in range(0, len(order), batch_size):
        indices = order[start : start + batch_size]
        key_batches.append([keys[index] for index in indices])
    if not grouped:
        return key_batches
    return [key_batches[number] for number in rng.permutation(len(key_batches))]


class Collator:
    """Collate function that turns examples into the arguments of ``forward``.

    Random draws depend only on the seed, the epoch and the id of a sentence.

    Args:
        pad_id: token id of padding.
        static: number of sentences of a static batch (see :class:`Shape`); 0 pads each batch to its
            longest sentence.
    """

    def __init__(
        self,
        extractor: type[Extractor],
        config: ExtractorConfig,
        pad_id: int,
        seed: int,
        static: int = 0,
    ):
        self.extractor = extractor
        self.config = config
        self.pad_id = pad_id
        self.seed = seed
        self.static = static

    def __call__(
        self, examples: Sequence[Example], shape: Shape | None = None
    ) -> dict[str, Tensor]:
        alignments = [example.alignment for example in examples]
        rows = [example.rows for example in examples]
        shape = shape or Shape.of([len(alignment) for alignment in alignments], self.static)
        batch = pad_batch(alignments, self.pad_id, self.extractor.words, shape)
        rngs = generators((self.seed, example.epoch, example.id, "draws") for example in examples)
        instances = [example.instance for example in examples]
        gold = GoldBatch(rows, rngs, shape, None if None in instances else instances)
        batch["triples"] = shape.padded(gold.triples.numpy())
        if shape.static:
            batch["valid"] = torch.arange(len(batch["triples"])) < len(gold.triples)
        return batch | self.extractor.collate_targets(self.config, gold)
