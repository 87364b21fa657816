"""Padded batches of aligned sentences: the tensors that every extractor's ``forward`` and ``predict_rows`` take."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from tripleaudit.extractors.alignment import Alignment


def pad_batch(alignments: Sequence[Alignment], pad_id: int, words: bool = False) -> dict[str, Tensor]:
    """Stack alignments, padded to the longest one.

    Args:
        alignments: B aligned sentences.
        pad_id: token id of padding.
        words: also give the word tensors, for word-level extractors.

    Returns:
        ``input_ids``, ``attention_mask``, ``content_mask`` (1 for tokens of the text, markers included; 0 for specials
        and padding), all [B, L] int64; with ``words`` also ``word_ids`` [B, L] (number of the whitespace word, -1 for
        specials and padding), ``word_first`` and ``word_last`` [B, Lw] (first / last token of each word, -1 padding).
    """
    lengths = [len(alignment) for alignment in alignments]
    shape = len(alignments), max(lengths, default=0)
    input_ids = np.full(shape, pad_id, dtype=np.int64)
    word_ids = np.full(shape, -1, dtype=np.int64)
    attention = np.zeros(shape, dtype=np.int64)
    for row, alignment in enumerate(alignments):
        length = lengths[row]
        input_ids[row, :length] = alignment.input_ids
        word_ids[row, :length] = alignment.word_ids
        attention[row, :length] = 1
    batch = {"input_ids": input_ids, "attention_mask": attention, "content_mask": (word_ids >= 0).astype(np.int64)}
    if words:
        batch.update(word_ids=word_ids, **_word_edges(word_ids))
    return {key: torch.from_numpy(value) for key, value in batch.items()}


def _word_edges(word_ids: np.ndarray) -> dict[str, np.ndarray]:
    """First and last token of every word; [B, L] word ids to two [B, Lw] arrays."""
    edges = {}
    outside = np.full((len(word_ids), 1), -1, dtype=np.int64)
    before = np.concatenate([outside, word_ids[:, :-1]], axis=1)
    after = np.concatenate([word_ids[:, 1:], outside], axis=1)
    for name, neighbour in (("word_first", before), ("word_last", after)):
        edges[name] = np.full((len(word_ids), int(word_ids.max(initial=-1)) + 1), -1, dtype=np.int64)
        rows, columns = np.nonzero((word_ids >= 0) & (word_ids != neighbour))
        edges[name][rows, word_ids[rows, columns]] = columns
    return edges


def stack_triples(rows: Sequence[np.ndarray]) -> Tensor:
    """Put the sentence number before each triple row.

    Args:
        rows: B arrays [n_i, 5] of (subject start, subject end, relation, object start, object end).

    Returns:
        [n, 6] int64 (sentence, subject start, subject end, relation, object start, object end).
    """
    sentences = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
    stacked = np.concatenate([np.zeros((0, 5), dtype=np.int64), *rows])
    return torch.from_numpy(np.concatenate([sentences[:, None], stacked], axis=1))
