"""What holds for every extractor: checks of whole models, and classes of tests that say what is
an extractor's own.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import AutoModel, AutoTokenizer

import tripleaudit.extractors.auto  # noqa: F401  (AutoModel)
from support.extractors import (
    build,
    f1,
    gold,
    one_word,
    random_batch,
    sentence,
    structures,
    toy_sentences,
    training_batch,
    worked_example,
)
from support.webnlg import read_triple_list
from tripleaudit.corpora.model import Sentence
from tripleaudit.extractors import tables
from tripleaudit.extractors.alignment import Aligner, token_triples
from tripleaudit.extractors.base import Extractor, by_sentence
from tripleaudit.extractors.batches import pad_batch, stack_triples
from tripleaudit.extractors.registry import load_extractor
from tripleaudit.training import data
from tripleaudit.training.data import Collator, TrainingSentences


def check_loss(model: Extractor, fast: Tensor, naive: Tensor) -> None:
    """A loss and its gradients equal those of the plain formulas; in float64."""
    torch.testing.assert_close(fast, naive, rtol=1e-10, atol=1e-8)
    parameters = list(model.parameters())
    for a, b in zip(
        torch.autograd.grad(fast, parameters), torch.autograd.grad(naive, parameters), strict=True
    ):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-8)


class Zeros:
    """Random numbers that are all 0: the first of everything is drawn."""

    def random(self, size=(), dtype=np.float64):
        return np.zeros(size, dtype=dtype)


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
        oracle: (batch, number of relations) -> (rows [n, 6], scores [n]). It builds the extractor's
            perfect scores from ``batch["triples"]`` with the extractor's own target functions, and
            calls the extractor's own decoding function. ``batch`` is what ``pad_batch`` gives, with
            ``triples`` [n, 6].
        sentences: triples without a position in the text do not count.
        aligner: of the extractor's layout; nothing is truncated below the aligner's limit.
        occurrence: as the extractor's config has it. With ``all``, gold is the set of all
            occurrence pairs.
    """
    ids = {relation: number for number, relation in enumerate(relations)}
    aligned = aligner.align([each.text for each in sentences])
    rows = [
        token_triples(a, s, ids, occurrence)[0] for a, s in zip(aligned, sentences, strict=True)
    ]
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


# Checks of whole models


def check_overfit(
    extractor: type[Extractor],
    encoder: Path,
    *,
    steps: int = 300,
    learning_rate: float = 3e-3,
    sentences: Sequence[Sentence] | None = None,
    **settings,
) -> Extractor:
    """Train a tiny model on a handful of sentences until it predicts them all; fails below F1
    1.0.
    """
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
    assert best == 1.0, (
        f"{extractor.name} reached F1 {best:.3f} on {len(sentences)} sentences after {steps} steps"
    )
    return model


def check_zero_triple_batch(model: Extractor) -> None:
    """A batch of sentences with zero triples only, and a mixed one, have a finite loss with
    gradients.
    """
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


def check_determinism(
    extractor: type[Extractor],
    encoder: Path,
    *,
    draws: bool = False,
    learning_rate: float = 0.1,
    **settings,
) -> None:
    """Equal seeds give equal batches, losses and weights after a few steps; another epoch gives
    other draws, if any.
    """

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
    batches = [training_batch(model, toy_sentences(), epoch=epoch) for epoch in (0, 0, 1, 2)]
    assert all(torch.equal(batches[0][key], batches[1][key]) for key in batches[0])
    assert (
        any(
            not torch.equal(batches[0][key], other[key])
            for other in batches[2:]
            for key in batches[0]
        )
        == draws
    )


def check_save_and_load(model: Extractor, folder: Path) -> None:
    """A saved extractor predicts the same by ``load_extractor``, its own class, the base class,
    and transformers'.
    """
    texts = [each.text for each in toy_sentences()]

    def predicted(own: Extractor) -> list:
        return (
            own.decide(texts)
            if own.kind == "classifier"
            else [each.triples for each in own.extract(texts)]
        )

    before = predicted(model)
    model.save_pretrained(folder)
    assert not list(folder.glob("*.bin"))
    for load in (
        load_extractor,
        Extractor.from_pretrained,
        type(model).from_pretrained,
        AutoModel.from_pretrained,
    ):
        loaded = load(folder)
        assert type(loaded) is type(model)
        names = {*model.settings.model_fields, "relations"}
        assert all(getattr(loaded.config, name) == getattr(model.config, name) for name in names)
        for (name, old), (other, new) in zip(
            sorted(model.state_dict().items()), sorted(loaded.state_dict().items()), strict=True
        ):
            assert name == other
            assert torch.equal(old, new), name
        assert predicted(loaded) == before


class Structures:
    """Structures of triples (:func:`support.extractors.structures`) that an extractor learns or
    cannot represent.

    Attributes:
        kind: the extractor.
        unfit: ids of the structures that it cannot represent.
        whole: settings of the model.
        overfit: ``learning_rate`` and ``steps`` of :func:`check_overfit`.
    """

    STEPS: ClassVar[int] = 150  # a representable structure alone takes 50 to 100

    kind: ClassVar[type[Extractor]]
    unfit: ClassVar[set[str]] = set()
    whole: ClassVar[dict] = {}
    overfit: ClassVar[dict] = {}

    @classmethod
    def representable(cls) -> list[Sentence]:
        return [each for each in structures() if each.id not in cls.unfit]

    def test_other_structures_are_not_learnt(self, tiny_encoder):
        for each in structures():
            if each.id in self.unfit:
                settings = {**self.overfit, **self.whole, "steps": self.STEPS}
                with pytest.raises(AssertionError, match="reached F1"):
                    check_overfit(self.kind, tiny_encoder, sentences=[each], **settings)


class LearnsStructures(Structures):
    """For another layout or variant of an extractor, whose contract is tested already."""

    def test_representable_structures_are_learnt(self, tiny_encoder):
        check_overfit(
            self.kind, tiny_encoder, sentences=self.representable(), **self.whole, **self.overfit
        )


class ExtractorContract(Structures):
    """What holds for every extractor; the class of a test module says what is its own.

    Attributes:
        kind: the extractor.
        oracle: see :func:`ceiling`; ``words`` as there.
        decodable: of the triples of a random batch those that its decoding can give back, found one
            by one.
        worked: rows of the worked example.
        ceilings: corpus of real data -> F1 in percent, met ``within`` so much.
        draws: whether its batches are others in each epoch.
        determinism: further arguments of :func:`check_determinism`.
    """

    kind: ClassVar[type[Extractor]]
    oracle: ClassVar[Oracle]
    decodable: ClassVar[Callable[[dict], set]]
    words: ClassVar[bool] = False
    worked: ClassVar[set] = {(0, 1, 2, 0, 4, 4), (0, 4, 4, 1, 6, 8)}
    ceilings: ClassVar[dict[str, float]]
    within: ClassVar[float] = 0.1
    draws: ClassVar[bool] = False
    determinism: ClassVar[dict] = {}

    @staticmethod
    def random(seed: int) -> dict:
        """A random batch for perfect scores."""
        return random_batch(seed)

    def test_perfect_scores_are_decoded_to_what_decoding_can_give_back(self):
        for seed in range(60):
            batch = self.random(seed)
            rows, scores = self.oracle(batch, 3)
            assert sorted(map(tuple, rows.tolist())) == sorted(self.decodable(batch)), seed
            assert ((scores > 0) & (scores <= 1)).all()

    def test_the_worked_example_comes_back(self, tiny_encoder):
        batch = training_batch(build(self.kind, tiny_encoder), [worked_example()])
        rows, scores = self.oracle(batch, 4)
        assert set(map(tuple, rows.tolist())) == self.worked
        assert ((scores > 0.99) & (scores <= 1)).all()

    def test_whole_model(self, tiny_encoder, tmp_path):
        check_zero_triple_batch(build(self.kind, tiny_encoder, **self.whole).train())
        check_determinism(
            self.kind, tiny_encoder, draws=self.draws, **self.whole | self.determinism
        )
        sentences = [*toy_sentences(), *self.representable()]
        model = check_overfit(
            self.kind, tiny_encoder, sentences=sentences, **self.overfit, **self.whole
        )
        check_save_and_load(model, tmp_path / "saved")
        check_padding_invariance(model)

    @pytest.mark.parametrize("corpus", ["nyt", "webnlg"])
    def test_ceilings_on_real_test_sets(self, real_data, minilm, corpus):
        sentences = read_triple_list(real_data / corpus / "test_triples.json")
        relations = sorted({triple.relation for each in sentences for triple in each.triples})
        aligner = Aligner(AutoTokenizer.from_pretrained(minilm), self.kind.settings().layout)
        reached = ceiling(self.oracle, sentences, aligner, relations, words=self.words)
        assert 100 * reached == pytest.approx(self.ceilings[corpus], abs=self.within)


class PlainLoss:
    """The loss and its gradients are those of the paper's formulas, where there are tables of pairs
    block by block.

    Attributes:
        plain: ``(model, batch) -> loss`` by these, for models with the settings ``exact`` that
            ``prepare`` may alter.
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
    def test_loss_and_gradients_are_those_of_the_plain_formulas(
        self, tiny_encoder, monkeypatch, which
    ):
        if self.first:
            monkeypatch.setattr(data, "generators", lambda keys: (Zeros() for _ in keys))
        monkeypatch.setattr(tables, "PAIRS_AT_ONCE", 50)
        monkeypatch.setattr(tables, "LOGITS_AT_ONCE", 400)
        model = build(self.kind, tiny_encoder, **self.exact).double()
        with torch.no_grad():
            self.prepare(model)
        batch = training_batch(
            model, one_word() if which == "one word" else [*toy_sentences(), *self.extra]
        )
        check_loss(model, model(**batch).loss, self.plain(model, batch))


class Evidence:
    """The score of a triple is the product of the probabilities behind it, each of which is more
    than a half.

    Attributes:
        evidence: so many logits -> rows and scores, with a triple of the tokens 1 and 2, and 3 and
            4, of six if none of them is missing; of two relations the second.
        behind: how many.
        half: whether a half is enough.
    """

    evidence: ClassVar[Callable[[list[float]], tuple[Tensor, Tensor]]]
    behind: ClassVar[int]
    half: ClassVar[bool] = False

    def test_a_score_is_the_product_of_the_probabilities_behind_it_each_of_which_is_more_than_a_half(
        self,
    ):
        logits = [0.5 + number / 4 for number in range(self.behind)]
        rows, scores = self.evidence(logits)
        assert rows.tolist() == [[0, 1, 2, 1, 3, 4]]
        torch.testing.assert_close(scores, torch.tensor(logits).sigmoid().prod()[None])
        for which in range(self.behind):
            for value, found in ((-1e-6, False), (0.0, self.half), (1e-6, True)):
                assert (
                    len(self.evidence([*logits[:which], value, *logits[which + 1 :]])[0]) == found
                ), (which, value)


class Portions:
    """What is decoded in small portions is what is decoded at once.

    Attributes:
        portions: the extractor's module, and its constants that say how much is decoded at once.
    """

    portions: ClassVar[tuple]

    @pytest.mark.parametrize("at_once", [1, 3])
    def test_what_is_decoded_in_portions_is_what_is_decoded_at_once(self, monkeypatch, at_once):
        batches = [random_batch(seed, triples=9) for seed in range(6)]
        expected = [self.oracle(batch, 3) for batch in batches]
        assert sum(len(rows) for rows, _ in expected) > 20
        module, *names = self.portions
        for name in names:
            monkeypatch.setattr(module, name, at_once)
        for batch, (rows, scores) in zip(batches, expected, strict=True):
            found, likely = self.oracle(batch, 3)
            assert torch.equal(found, rows)
            torch.testing.assert_close(likely, scores)
