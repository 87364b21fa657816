"""Encoders, sentences and random batches for tests of extractors."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from tripleaudit.core.randomness import generator
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.extractors.batches import stack_triples
from tripleaudit.extractors.registry import extractor_names, resolve
from tripleaudit.testing import build_extractor, make_sentence
from tripleaudit.testing.encoders import tiny_shape, tiny_vocabulary


def save_tiny_mpnet(folder: Path, *, seed: int = 0) -> Path:
    """Write a random MPNet (relative attention, ``<s>`` and ``</s>``, padding id 1) and its
    tokenizer to ``folder``.
    """
    from transformers import MPNetConfig, MPNetModel, MPNetTokenizerFast

    vocabulary = tiny_vocabulary("<s>", "<pad>", "</s>", "[unused1]", "[UNK]", "<mask>")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    MPNetTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(seed)
    shape = tiny_shape(vocabulary, layers=2, width=32, dropout=0.0)
    special = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    MPNetModel(MPNetConfig(**shape, **special, max_position_embeddings=162)).save_pretrained(folder)
    return folder


def with_types(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences with a type of each entity, by its length."""

    def typed(span: Span) -> Span:
        return replace(span, type="long" if len(span.text) > 5 else "short")

    return [
        replace(
            s,
            triples=tuple(Triple(typed(t.subject), t.relation, typed(t.object)) for t in s.triples),
        )
        for s in sentences
    ]


def one_word() -> list[Sentence]:
    """A sentence of one word, related to itself: means over one token, one pair, one instance."""
    return [make_sentence("tim", ("tim", "C", "tim"), id="word")]


NAMES = (*extractor_names(), "zcc-binary", "zcc-mcml")
NARROW = {
    "ptrnet": {"width": 6},
    "pfn": {"width": 6},
}  # of 300, which take most of the time of a test


def built(name: str, encoder: Path, **settings):
    """Return an untrained extractor or classifier by its name, as narrow as it may be unless
    ``settings`` say more.
    """
    kind, implied = resolve(name)
    return build_extractor(kind, encoder, **implied, **NARROW.get(name, {}) | settings)


def random_rows(
    rng: np.random.Generator, length: int, relations: int, triples: int, longest: int = 3
) -> np.ndarray:
    """Return up to ``triples`` random, possibly overlapping triples in a sentence of ``length``
    content tokens.

    Token 0 and the token after the content are specials, as in a BERT input. Returns [n, 5],
    distinct rows.
    """
    rows = set()
    for _ in range(triples):
        spans = []
        for _ in range(2):
            start = int(rng.integers(1, length + 1))
            spans.append((start, int(min(length, start + rng.integers(0, longest)))))
        rows.add((*spans[0], int(rng.integers(relations)), *spans[1]))
    return np.array(sorted(rows), dtype=np.int64).reshape(-1, 5)


def random_batch(
    seed: int, *, sentences: int = 3, relations: int = 3, triples: int = 5, longest: int = 3
) -> dict:
    """Return a padded batch of random overlapping triples, for round trips of targets and
    decoding.
    """
    rng = generator(seed, "random batch")
    lengths = [int(rng.integers(1, 12)) for _ in range(sentences)]
    width = max(lengths) + 2
    mask = torch.zeros(sentences, width, dtype=torch.long)
    content = torch.zeros_like(mask)
    for row, length in enumerate(lengths):
        mask[row, : length + 2] = 1
        content[row, 1 : length + 1] = 1
    rows = [
        random_rows(rng, length, relations, int(rng.integers(0, triples + 1)), longest)
        for length in lengths
    ]
    return {
        "input_ids": mask.clone(),
        "attention_mask": mask,
        "content_mask": content,
        "triples": stack_triples(rows),
    }


def with_words(batch: dict, size: int = 1) -> dict:
    """Give a random batch words of ``size`` tokens."""
    sentences, length = batch["input_ids"].shape
    word_ids = torch.where(batch["content_mask"].bool(), (torch.arange(length) - 1) // size, -1)
    first = torch.full((sentences, int(word_ids.max()) + 1), -1)
    last = first.clone()
    for row in range(sentences):
        for word in word_ids[row][word_ids[row] >= 0].unique().tolist():
            places = (word_ids[row] == word).nonzero()[:, 0]
            first[row, word], last[row, word] = places[0], places[-1]
    return {**batch, "word_ids": word_ids, "word_first": first, "word_last": last}


def tag_logits(
    shape: tuple[int, ...], sentence: torch.Tensor, start: torch.Tensor, end: torch.Tensor
) -> torch.Tensor:
    """Perfect logits (+10 / -10) [B, L, 2] of the starts and ends of spans."""
    return (
        torch.stack([dense(shape, sentence, start), dense(shape, sentence, end)], dim=-1) * 20 - 10
    )


def dense(shape: tuple[int, ...], *indices: torch.Tensor) -> torch.Tensor:
    """Return a float64 tensor of zeros with ones at the indices: the label tensor that real code
    never builds.
    """
    labels = torch.zeros(shape, dtype=torch.float64)
    labels[indices] = 1.0
    return labels
