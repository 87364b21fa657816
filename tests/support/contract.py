"""Laws of extractors, as classes of tests: a test module declares what is its extractor's own."""

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from transformers import AutoTokenizer

from support.extractors import one_word, random_batch
from support.webnlg import read_triple_list
from tripleaudit.corpora.model import Sentence
from tripleaudit.extractors import tables
from tripleaudit.extractors.alignment import Aligner
from tripleaudit.extractors.base import Extractor
from tripleaudit.testing import (
    Oracle,
    build_extractor,
    ceiling,
    check_determinism,
    check_extractor,
    check_padding_invariance,
    check_save_and_load,
    check_zero_triple_batch,
    make_sentence,
    toy_sentences,
    training_batch,
    worked_example,
)
from tripleaudit.training import data


def check_loss(model: Extractor, fast: Tensor, naive: Tensor) -> None:
    """A loss and its gradients equal those of the plain formulas; in float64."""
    torch.testing.assert_close(fast, naive, rtol=1e-10, atol=1e-8)
    parameters = list(model.parameters())
    for a, b in zip(
        torch.autograd.grad(fast, parameters), torch.autograd.grad(naive, parameters), strict=True
    ):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-8)


NAMES = ("tim cook", "london", "ada lovelace", "acme")
RELATIONS = ("C", "F", "L")


@st.composite
def separate_entities(draw) -> Sentence:
    """A sentence in which every entity has one mention, apart from the others.

    One to three pairs of entities have a relation, each another one.
    """
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=4, unique=True))
    pairs = [(first, second) for first in names for second in names if first < second]
    related = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=3, unique=True))
    relations = draw(st.permutations(RELATIONS))
    triples = [
        (first, relation, second)
        for (first, second), relation in zip(related, relations, strict=False)
    ]
    return make_sentence(" leads ".join([*names, "."]), *triples)


class Zeros:
    """Random numbers that are all 0: the first of everything is drawn."""

    def random(self, size=(), dtype=np.float64):
        return np.zeros(size, dtype=dtype)


class ExtractorContract:
    """What holds for every extractor; the class of a test module declares what is its own.

    Attributes:
        kind: the extractor.
        unfit: ids of the structures that it cannot represent.
        whole: settings of the model.
        overfit: ``learning_rate`` and ``steps`` of the training that must reach F1 1.0.
        oracle: see :func:`tripleaudit.testing.ceiling`; ``words`` as there.
        decodable: of the triples of a random batch those that its decoding can give back, found one
            by one.
        worked: rows of the worked example.
        ceilings: corpus of real data -> F1 in percent, met ``within`` so much.
        draws: whether its batches are others in each epoch.
        sgd_learning_rate: of the training that must be reproducible.
    """

    kind: ClassVar[type[Extractor]]
    unfit: ClassVar[set[str]] = set()
    whole: ClassVar[dict] = {}
    overfit: ClassVar[dict] = {}
    oracle: ClassVar[Oracle]
    decodable: ClassVar[Callable[[dict], set]]
    words: ClassVar[bool] = False
    worked: ClassVar[set] = {(0, 1, 2, 0, 4, 4), (0, 4, 4, 1, 6, 8)}
    ceilings: ClassVar[dict[str, float]]
    within: ClassVar[float] = 0.1
    draws: ClassVar[bool] = False
    sgd_learning_rate: ClassVar[float] = 0.1

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
        batch = training_batch(build_extractor(self.kind, tiny_encoder), [worked_example()])
        rows, scores = self.oracle(batch, 4)
        assert set(map(tuple, rows.tolist())) == self.worked
        assert ((scores > 0.99) & (scores <= 1)).all()

    def test_gold_triples_of_separate_entities_come_back(self, tiny_encoder):
        tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
        aligner = Aligner(tokenizer, self.kind.settings().layout)

        @settings(max_examples=30)
        @given(st.lists(separate_entities(), min_size=1, max_size=4))
        def check(sentences):
            assert ceiling(self.oracle, sentences, aligner, RELATIONS, words=self.words) == 1

        check()

    def test_an_untrained_model_is_reproducible_and_the_same_padded_or_loaded(
        self, tiny_encoder, tmp_path
    ):
        model = build_extractor(self.kind, tiny_encoder, **self.whole)
        check_zero_triple_batch(model.train())
        check_padding_invariance(model.eval())
        check_save_and_load(model, tmp_path / "model")
        check_determinism(
            self.kind,
            tiny_encoder,
            draws=self.draws,
            learning_rate=self.sgd_learning_rate,
            **self.whole,
        )

    @pytest.mark.thorough
    def test_whole_model(self, tiny_encoder):
        self.check_whole_model(tiny_encoder)

    def check_whole_model(self, tiny_encoder):
        check_extractor(
            self.kind,
            tiny_encoder,
            cannot_represent=self.unfit,
            draws=self.draws,
            sgd_learning_rate=self.sgd_learning_rate,
            **self.overfit,
            **self.whole,
        )

    @pytest.mark.thorough
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
        monkeypatch.setattr(tables, "MAX_PAIRS", 50)
        monkeypatch.setattr(tables, "MAX_LOGITS", 400)
        model = build_extractor(self.kind, tiny_encoder, **self.exact).double()
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
