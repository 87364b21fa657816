"""Checks that every extractor must pass, and the small sentences and encoder that they run on."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import AutoTokenizer

from support.webnlg import read_triple_list
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.extractors import tables
from tripleaudit.extractors.alignment import Aligner, token_triples
from tripleaudit.extractors.base import Extractor, by_sentence
from tripleaudit.extractors.batches import Shape, pad_batch, stack_triples
from tripleaudit.extractors.registry import load_extractor
from tripleaudit.randomness import generator
from tripleaudit.training import data
from tripleaudit.training.data import Collator, TrainingSentences

WORDS = (
    "tim cook leads apple in cup ##ert ##ino . , ada lovelace wrote notes on the engine of charles bab ##bage london",
    "is capital england it rain ##s today and was born founded by an old house stands near river nobody knows why",
)
SYLLABLES = ("ka", "lo", "mi", "ne", "ru", "sa", "te", "vo")


def save_tiny_encoder(
    folder: Path, *, layers: int = 2, width: int = 32, dropout: float = 0.0, seed: int = 0, segments: int = 2
) -> Path:
    """Write a random BERT and a fast WordPiece tokenizer with a small vocabulary ([unused1] included) to ``folder``."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    vocabulary = tiny_vocabulary("[PAD]", "[unused0]", "[unused1]", "[unused2]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=True)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    shape = tiny_shape(vocabulary, layers, width, dropout)
    BertModel(BertConfig(**shape, max_position_embeddings=160, type_vocab_size=segments)).save_pretrained(folder)
    return folder


def save_tiny_mpnet(folder: Path, *, seed: int = 0) -> Path:
    """Write a random MPNet (relative attention, ``<s>`` and ``</s>``, padding id 1) and its tokenizer to ``folder``."""
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
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)] + [str(digit) for digit in range(10)]
    pieces = [*letters, *(f"##{letter}" for letter in letters), *SYLLABLES, *(f"##{part}" for part in SYLLABLES)]
    return list(dict.fromkeys([*specials, *pieces, *" ".join(WORDS).split()]))


def sentence(text: str, *triples: tuple[str, str, str], id: str = "s") -> Sentence:
    """Build a sentence whose entities lie at the first occurrence of their strings."""

    def span(entity: str) -> Span:
        start = text.index(entity)
        return Span(start, start + len(entity), entity)

    return Sentence(id, text, tuple(Triple(span(s), r, span(o)) for s, r, o in triples))


def worked_example() -> Sentence:
    """The worked example: (Tim Cook, C, Apple), (Apple, F, Cupertino); "Cupertino" has the pieces cup ##ert ##ino."""
    return sentence(
        "Tim Cook leads Apple in Cupertino .", ("Tim Cook", "C", "Apple"), ("Apple", "F", "Cupertino"), id="worked"
    )


def toy_sentences(*, chain: bool = True) -> list[Sentence]:
    """Eight sentences over the relations C, F, W, L: shared entities, two relations on one pair, and zero triples.

    The first is the worked example, a chain: the object of one triple is the subject of the next. ``chain=False``
    leaves it out, for extractors that cannot represent chains.
    """
    return [
        *([worked_example()] if chain else []),
        sentence("ada lovelace wrote notes on the engine .", ("ada lovelace", "W", "notes"), id="1"),
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
            "notes of ada lovelace , london .", ("ada lovelace", "W", "notes"), ("ada lovelace", "L", "london"), id="7"
        ),
    ]


def with_types(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences with a type of each entity, by its length."""

    def typed(span: Span) -> Span:
        return replace(span, type="long" if len(span.text) > 5 else "short")

    return [
        replace(s, triples=tuple(Triple(typed(t.subject), t.relation, typed(t.object)) for t in s.triples))
        for s in sentences
    ]


def one_word() -> list[Sentence]:
    """A sentence of one word, related to itself: means over one token, one pair, one instance."""
    return [sentence("tim", ("tim", "C", "tim"), id="word")]


TOY_RELATIONS = ("C", "F", "W", "L")
NARROW = {"ptrnet": {"width": 6}, "pfn": {"width": 6}}  # of 300, which take most of the time of a test


def build(
    extractor: type[Extractor], encoder: Path, *, relations: Sequence[str] = TOY_RELATIONS, seed: int = 0, **settings
):
    """Return an untrained extractor on the tiny encoder, with weights fixed by ``seed``."""
    torch.manual_seed(seed)
    return extractor.from_encoder(encoder, relations, **settings)


def check_loss(model: Extractor, fast: Tensor, naive: Tensor) -> None:
    """A loss and its gradients equal those of the plain formulas; in float64."""
    torch.testing.assert_close(fast, naive, rtol=1e-10, atol=1e-8)
    parameters = list(model.parameters())
    for a, b in zip(torch.autograd.grad(fast, parameters), torch.autograd.grad(naive, parameters), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-8)


def training_batch(
    model: Extractor, sentences: Sequence[Sentence], *, seed: int = 0, epoch: int = 0, length: int = 0
) -> dict:
    """Collate sentences exactly as training does, padded to ``length`` tokens or to the longest of them."""
    dataset = TrainingSentences(sentences, model)
    collator = Collator(type(model), model.config, model.aligner.pad_id, seed)
    examples = [dataset[epoch, index] for index in range(len(dataset))]
    return collator(examples, Shape(len(examples), length) if length else None)


class Zeros:
    """Random numbers that are all 0: the first of everything is drawn."""

    def random(self, size=(), dtype=np.float64):
        return np.zeros(size, dtype=dtype)


def gold(sentences: Sequence[Sentence]) -> set[tuple]:
    """Exact-span triples of sentences: (sentence number, subject start, end, relation, object start, end)."""
    return {
        (number, t.subject.start, t.subject.end, t.relation, t.object.start, t.object.end)
        for number, each in enumerate(sentences)
        for t in each.triples
    }


def f1(expected: set, found: set) -> float:
    """F1 of two sets; 1.0 when both are empty."""
    return 1.0 if not expected and not found else 2 * len(expected & found) / (len(expected) + len(found))


# Ceilings: gold -> targets -> oracle scores -> decode, without a model

Oracle = Callable[[dict, int], tuple[torch.Tensor, torch.Tensor]]


def ceiling(
    oracle: Oracle,
    sentences: Sequence[Sentence],
    aligner: Aligner,
    relations: Sequence[str],
    *,
    occurrence: str = "given",
    batch_size: int = 32,
    words: bool = False,
) -> float:
    """Return the exact-span F1 of decoding perfect scores.

    Args:
        oracle: (batch, number of relations) -> (rows [n, 6], scores [n]). It builds the extractor's perfect scores
            from ``batch["triples"]`` with the extractor's own target functions, and calls the extractor's own decoding
            function. ``batch`` is what ``pad_batch`` gives, with ``triples`` [n, 6].
        sentences: triples without a position in the text do not count.
        aligner: of the extractor's layout; nothing is truncated below the aligner's limit.
        occurrence: as the extractor's config has it. With ``all``, gold is the set of all occurrence pairs.
    """
    ids = {relation: number for number, relation in enumerate(relations)}
    aligned = aligner.align([each.text for each in sentences])
    rows = [token_triples(a, s, ids, occurrence)[0] for a, s in zip(aligned, sentences, strict=True)]
    order = sorted(range(len(sentences)), key=lambda index: len(aligned[index]))
    correct = predicted = wanted = 0
    for at in range(0, len(order), batch_size):
        chunk = order[at : at + batch_size]
        batch = pad_batch([aligned[index] for index in chunk], aligner.pad_id, words=words)
        batch["triples"] = stack_triples([rows[index] for index in chunk])
        decoded, scores = oracle(batch, len(relations))
        assert len(decoded) == len(scores)
        assert ((scores > 0) & (scores <= 1)).all()
        expected = set(map(tuple, batch["triples"].tolist()))
        found = set(map(tuple, decoded.tolist()))
        correct += len(expected & found)
        predicted += len(found)
        wanted += len(expected)
    return 2 * correct / (predicted + wanted)


def random_rows(rng: np.random.Generator, length: int, relations: int, triples: int, longest: int = 3) -> np.ndarray:
    """Return up to ``triples`` random, possibly overlapping triples in a sentence of ``length`` content tokens.

    Token 0 and the token after the content are specials, as in a BERT input. Returns [n, 5], distinct rows.
    """
    rows = set()
    for _ in range(triples):
        spans = []
        for _ in range(2):
            start = int(rng.integers(1, length + 1))
            spans.append((start, int(min(length, start + rng.integers(0, longest)))))
        rows.add((*spans[0], int(rng.integers(relations)), *spans[1]))
    return np.array(sorted(rows), dtype=np.int64).reshape(-1, 5)


def random_batch(seed: int, *, sentences: int = 3, relations: int = 3, triples: int = 5, longest: int = 3) -> dict:
    """Return a padded batch of random overlapping triples, for round trips of targets and decoding."""
    rng = generator(seed, "random batch")
    lengths = [int(rng.integers(1, 12)) for _ in range(sentences)]
    width = max(lengths) + 2
    mask = torch.zeros(sentences, width, dtype=torch.long)
    content = torch.zeros_like(mask)
    for row, length in enumerate(lengths):
        mask[row, : length + 2] = 1
        content[row, 1 : length + 1] = 1
    rows = [random_rows(rng, length, relations, int(rng.integers(0, triples + 1)), longest) for length in lengths]
    return {"input_ids": mask.clone(), "attention_mask": mask, "content_mask": content, "triples": stack_triples(rows)}


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


# Checks of whole models


def check_portions(patch: pytest.MonkeyPatch, oracle: Callable, module: ModuleType, most: int, *names: str) -> None:
    """Check that an extractor with perfect scores decodes in small portions what it decodes at once.

    Args:
        patch: of the test.
        oracle: batch, number of relations -> decoded rows [n, 6] and their scores [n].
        module: the extractor's, whose constants ``names`` say how much is decoded at once.
        most: what they become.
    """
    batches = [random_batch(seed, triples=9) for seed in range(6)]
    expected = [oracle(batch, 3) for batch in batches]
    assert sum(len(rows) for rows, _ in expected) > 20
    for name in names:
        patch.setattr(module, name, most)
    for batch, (rows, scores) in zip(batches, expected, strict=True):
        found, likely = oracle(batch, 3)
        assert torch.equal(found, rows)
        torch.testing.assert_close(likely, scores)


def check_overfit(
    extractor: type[Extractor],
    encoder: Path,
    *,
    steps: int = 300,
    learning_rate: float = 3e-3,
    sentences: Sequence[Sentence] | None = None,
    **settings,
) -> Extractor:
    """Train a tiny model on a handful of sentences until it predicts them all; fails below F1 1.0."""
    sentences = toy_sentences() if sentences is None else sentences
    model = build(extractor, encoder, **settings)
    dataset = TrainingSentences(sentences, model)
    collator = Collator(extractor, model.config, model.aligner.pad_id, seed=0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.0)
    best = 0.0
    for step in range(steps):
        model.train()
        model.step = step
        loss = model(**collator([dataset[step, index] for index in range(len(dataset))])).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 25 == 24 or step == steps - 1:
            best = f1(gold(sentences), gold(model.extract([each.text for each in sentences])))
            if best == 1.0:
                break
    assert best == 1.0, f"{extractor.name} reached F1 {best:.3f} on {len(sentences)} sentences after {steps} steps"
    return model


def check_zero_triple_batch(model: Extractor) -> None:
    """A batch of sentences with zero triples only, and a mixed one, have a finite loss with gradients."""
    zero = [each for each in toy_sentences() if not each.triples]
    assert zero
    for sentences in (zero, toy_sentences()):
        model.zero_grad()
        loss = model(**training_batch(model, sentences)).loss
        assert torch.isfinite(loss)
        loss.backward()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        assert gradients
        assert all(torch.isfinite(gradient).all() for gradient in gradients)
        assert any(gradient.abs().sum() > 0 for gradient in gradients)


def check_padding_invariance(model: Extractor) -> None:
    """In float64, predictions and losses of a sentence do not depend on what it is padded to."""
    model = model.double().eval()
    sentences = toy_sentences()
    longer = sentence(" ".join(["it rains today and nobody knows why ."] * 4), id="long")

    def predicted(texts: list[str]) -> list[list]:
        batch = model.collate(model.aligner.align(texts))
        return by_sentence(*model.decoded(batch)[:2], batch["content_mask"])

    alone = [predicted([each.text]) for each in sentences]
    together = predicted([each.text for each in [*sentences, longer]])
    for (single,), padded in zip(alone, together, strict=False):
        # best first, and equal scores may change places by rounding: compare as sets
        assert {row[:-1] for row in single} == {row[:-1] for row in padded}
        scores = {row[:-1]: row[-1] for row in padded}
        assert all(abs(row[-1] - scores[row[:-1]]) < 1e-5 for row in single)
    for each in sentences:
        batch = training_batch(model, [each])
        wide = training_batch(model, [each], length=batch["input_ids"].shape[1] + 7)
        first, second = model(**batch).loss.item(), model(**wide).loss.item()
        assert abs(first - second) <= 1e-8 * max(1.0, abs(first)), (each.id, first, second)


def check_determinism(extractor: type[Extractor], encoder: Path, *, learning_rate: float = 0.1, **settings) -> None:
    """Equal seeds give equal batches, losses and weights after a few steps; another seed or epoch gives other draws."""

    def run(seed: int) -> list[torch.Tensor]:
        model = build(extractor, encoder, seed=seed, **settings).train()
        optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
        for step in range(3):
            loss = model(**training_batch(model, toy_sentences(), seed=seed, epoch=step)).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return [parameter.detach() for parameter in model.parameters()]

    first, again, other = run(1), run(1), run(2)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first, other, strict=True))
    model = build(extractor, encoder, **settings)
    batches = [training_batch(model, toy_sentences(), epoch=epoch) for epoch in (0, 0, 1)]
    assert all(torch.equal(batches[0][key], batches[1][key]) for key in batches[0])
    drawn = [key for key in batches[0] if key == "draws"]
    assert all(not torch.equal(batches[0][key], batches[2][key]) for key in drawn)


def check_save_and_load(model: Extractor, folder: Path) -> None:
    """A saved extractor predicts the same after ``load_extractor``, ``Extractor.from_pretrained`` and its own class."""
    texts = [each.text for each in toy_sentences()]
    before = model.extract(texts)
    model.save_pretrained(folder)
    assert not list(folder.glob("*.bin"))
    for load in (load_extractor, Extractor.from_pretrained, type(model).from_pretrained):
        loaded = load(folder)
        assert type(loaded) is type(model)
        assert loaded.config.relations == model.config.relations
        for (name, old), (other, new) in zip(
            sorted(model.state_dict().items()), sorted(loaded.state_dict().items()), strict=True
        ):
            assert name == other
            assert torch.equal(old, new), name
        after = loaded.extract(texts)
        assert [each.triples for each in after] == [each.triples for each in before]


class ExtractorContract:
    """What holds for every extractor; the class of a test module says what is its own.

    Attributes:
        kind: the extractor; ``layout`` of its tokens, by default its own.
        oracle: see :func:`ceiling`; ``words`` as there.
        worked: rows of the worked example.
        ceilings: corpus of real data -> F1 in percent, met ``within`` so much.
        whole: settings of the checks of a whole model; ``overfit`` and ``determinism``: further arguments of two.
    """

    kind: ClassVar[type[Extractor]]
    layout: ClassVar[str] = ""
    oracle: ClassVar[Oracle]
    words: ClassVar[bool] = False
    worked: ClassVar[set] = {(0, 1, 2, 0, 4, 4), (0, 4, 4, 1, 6, 8)}
    ceilings: ClassVar[dict[str, float]]
    within: ClassVar[float] = 0.1
    whole: ClassVar[dict] = {}
    overfit: ClassVar[dict] = {}
    determinism: ClassVar[dict] = {}

    def test_the_worked_example_comes_back(self, tiny_encoder):
        batch = training_batch(build(self.kind, tiny_encoder), [worked_example()])
        rows, scores = self.oracle(batch, 4)
        assert set(map(tuple, rows.tolist())) == self.worked
        assert ((scores > 0.99) & (scores <= 1)).all()

    def test_whole_model(self, tiny_encoder, tmp_path):
        check_zero_triple_batch(build(self.kind, tiny_encoder, **self.whole).train())
        check_determinism(self.kind, tiny_encoder, **self.whole | self.determinism)
        model = check_overfit(self.kind, tiny_encoder, **self.overfit, **self.whole)
        check_save_and_load(model, tmp_path / "saved")
        check_padding_invariance(model)

    @pytest.mark.parametrize("corpus", ["nyt", "webnlg"])
    def test_ceilings_on_real_test_sets(self, real_data, minilm, corpus):
        sentences = read_triple_list(real_data / corpus / "test_triples.json")
        relations = sorted({triple.relation for each in sentences for triple in each.triples})
        aligner = Aligner(AutoTokenizer.from_pretrained(minilm), self.layout or self.kind.settings().layout)
        reached = ceiling(self.oracle, sentences, aligner, relations, words=self.words)
        assert 100 * reached == pytest.approx(self.ceilings[corpus], abs=self.within)


class PlainLoss:
    """The loss and its gradients are those of the paper's formulas, where there are tables of pairs block by block.

    Attributes:
        plain: ``(model, batch) -> loss`` by these, for models with the settings ``exact`` that ``prepare`` may alter.
        extra: more sentences than the toy ones.
        first: draws the first of all.
    """

    plain: ClassVar[Callable]
    exact: ClassVar[dict] = {}
    extra: ClassVar[Sequence[Sentence]] = ()
    first: ClassVar[bool] = False

    @staticmethod
    def prepare(model: Extractor) -> None:
        """Alter weights before losses are compared, or leave dropout out."""

    @pytest.mark.parametrize("which", ["toy sentences", "one word"])
    def test_loss_and_gradients_are_those_of_the_plain_formulas(self, tiny_encoder, monkeypatch, which):
        if self.first:
            monkeypatch.setattr(data, "generators", lambda keys: (Zeros() for _ in keys))
        monkeypatch.setattr(tables, "PAIRS_AT_ONCE", 50)
        monkeypatch.setattr(tables, "LOGITS_AT_ONCE", 400)
        model = build(self.kind, tiny_encoder, **self.exact).double()
        with torch.no_grad():
            self.prepare(model)
        batch = training_batch(model, one_word() if which == "one word" else [*toy_sentences(), *self.extra])
        check_loss(model, model(**batch).loss, self.plain(model, batch))


class Portions:
    """What is decoded in small portions is what is decoded at once.

    Attributes:
        portions: the extractor's module, and its constants that say how much is decoded at once.
    """

    portions: ClassVar[tuple]

    @pytest.mark.parametrize("at_once", [1, 3])
    def test_what_is_decoded_in_portions_is_what_is_decoded_at_once(self, monkeypatch, at_once):
        check_portions(monkeypatch, self.oracle, self.portions[0], at_once, *self.portions[1:])


def dense(shape: tuple[int, ...], *indices: torch.Tensor) -> torch.Tensor:
    """Return a float64 tensor of zeros with ones at the indices: the label tensor that real code never builds."""
    labels = torch.zeros(shape, dtype=torch.float64)
    labels[indices] = 1.0
    return labels
