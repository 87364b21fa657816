"""Padded batches of aligned sentences, the input of ``forward`` and ``predict_rows``."""

import functools
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from tripleaudit.extractors.alignment import Alignment

LENGTHS_OF = 8  # static batches have a multiple of so many tokens: few graphs, and whole tiles of matrix units
AHEAD = 8  # batches that wait for a GPU
ROWS_OF = 4  # rows for each sentence that static batches have room for; twice, four times, … as many where needed

Item = TypeVar("Item")
Each = TypeVar("Each", np.ndarray, Tensor)


@dataclass(frozen=True)
class Shape:
    """The shape of one padded training batch.

    Attributes:
        batch: sentences B, with the dummy ones behind a last batch that is too small.
        length: tokens L.
        static: padded to one of a few shapes, for a step that is captured once for each of them.
    """

    batch: int
    length: int
    static: bool = False

    @classmethod
    def of(cls, lengths: Sequence[int], static: int = 0) -> "Shape":
        """Return the shape of sentences of these lengths, in a static or a tight batch."""
        longest = max(lengths, default=0)
        if not static:
            return cls(len(lengths), longest)
        return cls(static, -(-longest // LENGTHS_OF) * LENGTHS_OF, static=True)

    def rows(self, count: int) -> int:
        """How many rows a list of ``count`` targets takes."""
        if not self.static:
            return count
        room = ROWS_OF * self.batch
        while room < count:
            room *= 2
        return room

    def padded(self, rows: np.ndarray) -> Tensor:
        """Pad targets [n, …] with zeros to [rows(n), …]."""
        return _longer(rows, self.rows(len(rows)))

    def sentences(self, rows: np.ndarray) -> Tensor:
        """Pad one row for each real sentence with zeros to [B, …]."""
        return _longer(rows, self.batch)


def _longer(rows: np.ndarray, count: int) -> Tensor:
    return torch.from_numpy(
        np.concatenate([rows, np.zeros((count - len(rows), *rows.shape[1:]), dtype=rows.dtype)])
    )


@dataclass(frozen=True)
class GoldBatch:
    """The gold triples of a training batch.

    Attributes:
        rows: an array [n_i, 5] of gold (subject start, subject end, relation, object start, object
            end) for each sentence; a static batch may have dummy sentences behind, which must count
            in no term.
        rngs: random generators of the sentences, each fixed by (run seed, epoch, sentence id); one
            that is taken from it is good until the next is.
        shape: of the batch; its methods pad targets where the batch is static.
        chosen: which of its instances each entry stands for, where batches count these; else None.
    """

    rows: Sequence[np.ndarray]
    rngs: Iterable[np.random.Generator]
    shape: Shape
    chosen: Sequence[int] | None = None

    @functools.cached_property
    def triples(self) -> Tensor:
        """All gold triples, [n, 6] (:func:`stack_triples`)."""
        return stack_triples(self.rows)


def pad_batch(
    alignments: Sequence[Alignment], pad_id: int, words: bool = False, shape: Shape | None = None
) -> dict[str, Tensor]:
    """Stack alignments, padded to the longest one.

    Args:
        words: also give the word tensors, for word-level extractors.
        shape: pad to it instead; a sentence that is missing has padding alone.

    Returns:
        ``input_ids``, ``attention_mask``, ``content_mask`` (1 for tokens of the text, markers
        included; 0 for specials and padding), all [B, L] int64; with ``words`` also ``word_ids``
        [B, L] (number of the whitespace word, -1 for specials and padding), ``word_first`` and
        ``word_last`` [B, Lw] (first / last token of each word, -1 padding).
    """
    lengths = [len(alignment) for alignment in alignments]
    shape = shape or Shape.of(lengths)
    table = shape.batch, shape.length
    input_ids = np.full(table, pad_id, dtype=np.int64)
    word_ids = np.full(table, -1, dtype=np.int64)
    attention = np.zeros(table, dtype=np.int64)
    for row, alignment in enumerate(alignments):
        length = lengths[row]
        input_ids[row, :length] = alignment.input_ids
        word_ids[row, :length] = alignment.word_ids
        attention[row, :length] = 1
    batch = {
        "input_ids": input_ids,
        "attention_mask": attention,
        "content_mask": (word_ids >= 0).astype(np.int64),
    }
    if words:
        count = int(word_ids.max(initial=-1)) + 1
        if shape.static:
            count = max(LENGTHS_OF, -(-count // LENGTHS_OF) * LENGTHS_OF)
        batch.update(word_ids=word_ids, **_word_edges(word_ids, count))
    return {key: torch.from_numpy(value) for key, value in batch.items()}


def _word_edges(word_ids: np.ndarray, count: int) -> dict[str, np.ndarray]:
    """First and last token of every word; [B, L] word ids to two [B, count] arrays."""
    edges = {}
    outside = np.full((len(word_ids), 1), -1, dtype=np.int64)
    before = np.concatenate([outside, word_ids[:, :-1]], axis=1)
    after = np.concatenate([word_ids[:, 1:], outside], axis=1)
    for name, neighbour in (("word_first", before), ("word_last", after)):
        edges[name] = np.full((len(word_ids), count), -1, dtype=np.int64)
        rows, columns = np.nonzero((word_ids >= 0) & (word_ids != neighbour))
        edges[name][rows, word_ids[rows, columns]] = columns
    return edges


def stack_triples(rows: Sequence[np.ndarray]) -> Tensor:
    """Put the sentence's number before the gold rows [n_i, 5] of each; returns [n, 6] int64."""
    sentences = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
    stacked = np.concatenate([np.zeros((0, 5), dtype=np.int64), *rows])
    return torch.from_numpy(np.concatenate([sentences[:, None], stacked], axis=1))


def by_subject(triples: Tensor) -> Tensor:
    """Triples [n, 6] grouped by subject span, subjects in the order in which they come first."""
    same = (triples[:, None, :3] == triples[None, :, :3]).all(dim=-1)
    return (
        triples[torch.argsort(same.long().argmax(dim=1), stable=True)] if len(triples) else triples
    )


def flat_spans(sentence: Each, start: Each, end: Each, length: int) -> Each:
    """Return numbers [n, 2] of first and last tokens of spans [n] among B * L tokens."""
    stack = torch.stack if isinstance(start, Tensor) else np.stack
    return stack([sentence * length + start, sentence * length + end], 1)


def span_mean(tokens: Tensor, spans: Tensor) -> Tensor:
    """Return the mean [n, H] of each span's first and last token.

    Tokens are [B, L, H], spans [n, 2] from :func:`flat_spans`.
    """
    return F.embedding(spans, tokens.flatten(0, 1)).mean(dim=1)  # its gradient is one operator


def sentences_of(values: Tensor, sentence: Tensor) -> Tensor:
    """Rows [n, …] of ``values`` [B, …] for the numbers ``sentence`` [n]."""
    return F.embedding(sentence, values.flatten(1)).view(-1, *values.shape[1:])


def ahead(items: Iterator[Item], most: int = AHEAD) -> Iterator[Item]:
    """Yield the items of an iterator that a thread reads at most ``most`` items ahead."""
    end: Any = object()
    thread = ThreadPoolExecutor(1, thread_name_prefix="batches")
    try:
        waiting = deque(thread.submit(next, items, end) for _ in range(most))
        while (item := waiting.popleft().result()) is not end:
            waiting.append(thread.submit(next, items, end))
            yield item
    finally:
        thread.shutdown(cancel_futures=True)


def joined(parts: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Concatenate tensors, without a copy of a single one."""
    return parts[0] if len(parts) == 1 else torch.cat(list(parts), dim=dim)


def slices(size: int, most: int) -> Iterator[slice]:
    """Divide ``range(size)`` into the fewest nearly equal parts of at most ``most`` (>= 1)."""
    parts = -(-size // max(1, most))
    step = -(-size // max(1, parts))
    for start in range(0, size, max(1, step)):
        yield slice(start, min(size, start + step))
