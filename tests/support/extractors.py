"""The small encoders and sentences that extractors are tested on, and what tests make of them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from support.sentences import sentence
from tripleaudit.core.randomness import generator
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.extractors.base import Extractor
from tripleaudit.extractors.batches import Shape, stack_triples
from tripleaudit.extractors.registry import extractor_names, resolve
from tripleaudit.training.data import Collator, TrainingSentences

WORDS = (
    "tim cook leads apple in cup ##ert ##ino . , ada lovelace wrote notes on the engine of charles bab ##bage london",
    "is capital england it rain ##s today and was born founded by an old house stands near river nobody knows why",
)
SYLLABLES = ("ka", "lo", "mi", "ne", "ru", "sa", "te", "vo")


def save_tiny_encoder(
    folder: Path,
    *,
    layers: int = 2,
    width: int = 32,
    dropout: float = 0.0,
    seed: int = 0,
    segments: int = 2,
) -> Path:
    """Write a random BERT and a fast WordPiece tokenizer with a small vocabulary ([unused1]
    included) to ``folder``.
    """
    from transformers import BertConfig, BertModel, BertTokenizerFast

    vocabulary = tiny_vocabulary(
        "[PAD]", "[unused0]", "[unused1]", "[unused2]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=True)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    shape = tiny_shape(vocabulary, layers, width, dropout)
    BertModel(
        BertConfig(**shape, max_position_embeddings=160, type_vocab_size=segments)
    ).save_pretrained(folder)
    return folder


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


def tiny_shape(vocabulary: Sequence[str], layers: int, width: int, dropout: float) -> dict:
    """What the configurations of tiny encoders have in common."""
    shape = {"vocab_size": len(vocabulary), "hidden_size": width, "intermediate_size": 2 * width}
    shape |= {"num_hidden_layers": layers, "num_attention_heads": 4}
    return shape | {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}


def tiny_vocabulary(*specials: str) -> list[str]:
    """The words and pieces of the toy sentences behind the special tokens."""
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)] + [
        str(digit) for digit in range(10)
    ]
    pieces = [
        *letters,
        *(f"##{letter}" for letter in letters),
        *SYLLABLES,
        *(f"##{part}" for part in SYLLABLES),
    ]
    return list(dict.fromkeys([*specials, *pieces, *" ".join(WORDS).split()]))


def worked_example() -> Sentence:
    """The worked example: (Tim Cook, C, Apple), (Apple, F, Cupertino); "Cupertino" has the
    pieces cup ##ert ##ino.
    """
    return sentence(
        "Tim Cook leads Apple in Cupertino .",
        ("Tim Cook", "C", "Apple"),
        ("Apple", "F", "Cupertino"),
        id="worked",
    )


def structures() -> list[Sentence]:
    """Return sentences with the structures of triples that some extractors cannot represent; the
    ids name them.

    - ``chain``: a one-token entity is the object of one triple and the subject of another;
    - ``rivals``: two pairs of one relation;
    - ``reversed``: two relations between two entities, one in each direction;
    - ``adjacent``: two objects of one relation without a token between them, one of them a subject
      as well.
    """
    return [
        sentence(
            "rain leads notes in river .",
            ("rain", "C", "notes"),
            ("notes", "F", "river"),
            id="chain",
        ),
        sentence(
            "tim leads house and old leads engine .",
            ("tim", "C", "house"),
            ("old", "C", "engine"),
            id="rivals",
        ),
        sentence(
            "charles wrote ada today .",
            ("charles", "W", "ada"),
            ("ada", "F", "charles"),
            id="reversed",
        ),
        sentence(
            "england , why london .",
            ("england", "L", "why"),
            ("england", "L", "london"),
            ("why", "F", "england"),
            id="adjacent",
        ),
    ]


def toy_sentences() -> list[Sentence]:
    """Eight sentences over the relations C, F, W, L: shared entities, two relations on one pair,
    and zero triples.

    The first is the worked example, a chain: the object of one triple is the subject of the next.
    """
    return [
        worked_example(),
        sentence(
            "ada lovelace wrote notes on the engine .", ("ada lovelace", "W", "notes"), id="1"
        ),
        sentence(
            "charles babbage founded london and leads london .",
            ("charles babbage", "F", "london"),
            ("charles babbage", "C", "london"),
            id="2",
        ),
        sentence("london is the capital of england .", ("england", "L", "london"), id="3"),
        sentence("it rains today .", id="4"),
        sentence(
            "apple was founded by tim cook and ada lovelace .",
            ("tim cook", "F", "apple"),
            ("ada lovelace", "F", "apple"),
            id="5",
        ),
        sentence("nobody knows why an old house stands near the river .", id="6"),
        sentence(
            "notes of ada lovelace , london .",
            ("ada lovelace", "W", "notes"),
            ("ada lovelace", "L", "london"),
            id="7",
        ),
    ]


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
    return [sentence("tim", ("tim", "C", "tim"), id="word")]


TOY_RELATIONS = ("C", "F", "W", "L")
NAMES = (*extractor_names(), "zcc-binary", "zcc-mcml")
NARROW = {
    "ptrnet": {"width": 6},
    "pfn": {"width": 6},
}  # of 300, which take most of the time of a test


def build(
    extractor: type[Extractor],
    encoder: Path,
    *,
    relations: Sequence[str] = TOY_RELATIONS,
    seed: int = 0,
    **settings,
):
    """Return an untrained extractor on the tiny encoder, with weights fixed by ``seed``."""
    torch.manual_seed(seed)
    return extractor.from_encoder(encoder, relations, **settings)


def built(name: str, encoder: Path, **settings):
    """Return an untrained extractor or classifier by its name, as narrow as it may be unless
    ``settings`` say more.
    """
    kind, implied = resolve(name)
    return build(kind, encoder, **implied, **NARROW.get(name, {}) | settings)


def training_batch(
    model: Extractor,
    sentences: Sequence[Sentence],
    *,
    seed: int = 0,
    epoch: int = 0,
    length: int = 0,
    static: int = 0,
) -> dict:
    """Collate sentences exactly as training does.

    Args:
        length: of the batch in tokens; 0 for that of the longest sentence.
        static: the number of sentences of a static batch, with dummies at its end; 0 pads tightly.
    """
    dataset = TrainingSentences(sentences, model)
    collator = Collator(type(model), model.config, model.aligner.pad_id, seed, static)
    examples = [dataset[epoch, index] for index in range(len(dataset))]
    return collator(examples, Shape(len(examples), length) if length else None)


def gold(sentences: Sequence[Sentence]) -> set[tuple]:
    """Exact-span triples of sentences: (sentence number, subject start, end, relation, object
    start, end).
    """
    return {
        (number, t.subject.start, t.subject.end, t.relation, t.object.start, t.object.end)
        for number, each in enumerate(sentences)
        for t in each.triples
    }


def f1(expected: set, found: set) -> float:
    """F1 of two sets; 1.0 when both are empty."""
    return (
        1.0
        if not expected and not found
        else 2 * len(expected & found) / (len(expected) + len(found))
    )


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
