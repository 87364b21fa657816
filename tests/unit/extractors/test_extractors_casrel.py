"""CasRel: targets, decoding, losses against naive formulas, and whole models."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from tokenizers.processors import TemplateProcessing
from transformers import AutoTokenizer

from support.contract import (
    Evidence,
    ExtractorContract,
    PlainLoss,
    Portions,
)
from support.extractors import tag_logits
from tripleaudit.core.errors import UserError
from tripleaudit.extractors import casrel
from tripleaudit.extractors.alignment import Aligner
from tripleaudit.extractors.casrel import CasRel, CasRelOwnSubject, decode, draw_subjects
from tripleaudit.extractors.registry import saved_extractor_name
from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.testing import build_extractor, check_save_and_load, check_structures


def oracle(batch: dict, relations: int, distance: int = 1):
    """Decode perfect logits (+10 / -10); a subject that is not gold has no objects."""
    triples = batch["triples"] + torch.tensor([0, 0, distance, 0, 0, distance])
    length = batch["input_ids"].shape[1]
    subject = tag_logits(batch["input_ids"].shape, *triples[:, :3].unbind(1))

    def objects(rows, first, last):
        logits = torch.full((len(rows), length, 2, relations), -10.0)
        keys = torch.stack([rows, first, last], dim=1)
        n, t = torch.nonzero((keys[:, None] == triples[None, :, :3]).all(dim=-1), as_tuple=True)
        logits[n, triples[t, 4], 0, triples[t, 3]] = 10.0
        logits[n, triples[t, 5], 1, triples[t, 3]] = 10.0
        return logits

    return decode(subject, objects, batch["content_mask"].bool(), relations, distance)


def inclusive_oracle(batch: dict, relations: int):
    return oracle(batch, relations, distance=0)


def naive_loss(model: CasRel, batch: dict) -> torch.Tensor:
    """The loss with dense labels and copied hidden states, term by term as the paper writes it;
    first subjects.
    """
    distance = 1 if model.config.layout == "exclusive" else 0
    triples = (batch["triples"] + torch.tensor([0, 0, distance, 0, 0, distance])).tolist()
    chosen = {}
    for row in triples:
        chosen.setdefault(row[0], (row[1], row[2]))
    hidden = model.encode(batch["input_ids"], batch["attention_mask"])
    mask = batch["attention_mask"].double()
    size, length = mask.shape
    relations = len(model.config.relations)
    total = torch.zeros((), dtype=torch.float64)
    for side in (0, 1):
        labels = torch.zeros(size, length, dtype=torch.float64)
        for row in triples:
            labels[row[0], row[1 + side]] = 1
        logits = model.subject(hidden)[..., side]
        total = (
            total
            + (F.binary_cross_entropy_with_logits(logits, labels, reduction="none") * mask).sum()
            / mask.sum()
        )
    terms, tokens = [], 0.0
    for number, (start, end) in chosen.items():
        subject = (hidden[number, start] + hidden[number, end]) / 2
        if isinstance(model, CasRelOwnSubject):
            logits = model.object(hidden[number]) + model.shift(subject)
        else:
            logits = model.object(hidden[number] + subject)
        for side in (0, 1):
            labels = torch.zeros(length, relations, dtype=torch.float64)
            for row in triples:
                if row[0] == number and (row[1], row[2]) == (start, end):
                    labels[row[4 + side], row[3]] = 1
            part = logits[:, side * relations : (side + 1) * relations]
            terms.append(
                (
                    F.binary_cross_entropy_with_logits(part, labels, reduction="none")
                    * mask[number, :, None]
                ).sum()
            )
        tokens += mask[number].sum()
    return total + sum(terms) / tokens if terms else total


def nearest(heads: set[int], tails: set[int]) -> set[tuple[int, int]]:
    """The official pairing of head and tail tags, one head at a time: the nearest tail at or
    after it.
    """
    return {
        (head, min(t for t in tails if t >= head))
        for head in heads
        if any(t >= head for t in tails)
    }


def decodable(batch: dict) -> set:
    """Nearest tails distinguish no more."""
    rows = batch["triples"].tolist()
    found = set()
    for number in range(len(batch["input_ids"])):
        own = [row for row in rows if row[0] == number]
        subjects = nearest({r[1] for r in own}, {r[2] for r in own})
        for subject in subjects & {(r[1], r[2]) for r in own}:
            for relation in range(3):
                of = [r for r in own if (r[1], r[2]) == subject and r[3] == relation]
                for first, last in nearest({r[4] for r in of}, {r[5] for r in of}):
                    found.add((number, *subject, relation, first, last))
    return found


def evidence(logits: list[float]):
    """Of the subject's head and tail, and the object's."""
    subject, object_ = torch.full((1, 6, 2), -9.0), torch.full((1, 6, 2, 2), -9.0)
    subject[0, 1, 0], subject[0, 2, 1], object_[0, 3, 0, 1], object_[0, 4, 1, 1] = logits
    return decode(
        subject, lambda s, a, b: object_.expand(len(s), -1, -1, -1), torch.ones(1, 6).bool(), 2
    )


class TestCasRel(ExtractorContract, PlainLoss, Portions, Evidence):
    kind, draws, behind = CasRel, True, 4
    oracle, decodable, plain, evidence = map(
        staticmethod, (oracle, decodable, naive_loss, evidence)
    )
    ceilings, within = {"nyt": 99.92, "webnlg": 99.84}, 0.05
    unfit = {"rivals", "adjacent"}
    first = True
    portions = casrel, "ROWS_AT_ONCE"

    def test_whole_model(self, tiny_encoder):
        """The one that is not marked as thorough."""
        self.check_whole_model(tiny_encoder)


class TestMarkers(PlainLoss, Portions):
    """The authors' layout."""

    kind, first, portions = CasRel, True, (casrel, "ROWS_AT_ONCE")
    oracle, plain = map(staticmethod, (inclusive_oracle, naive_loss))
    exact = {"layout": "marker"}

    @pytest.mark.thorough
    def test_structures(self, tiny_encoder):
        check_structures(CasRel, tiny_encoder, cannot_represent={"rivals"}, layout="marker")


class TestSubwords(PlainLoss):
    """The last subword of an entity as its end, the default before version 0.4."""

    kind, first = CasRel, True
    plain = staticmethod(naive_loss)
    exact = {"layout": "subword"}

    @pytest.mark.thorough
    def test_structures(self, tiny_encoder):
        none = {"chain", "rivals", "reversed", "adjacent"}
        check_structures(CasRel, tiny_encoder, cannot_represent=none, layout="subword")


class TestOwnSubjectWeights(PlainLoss):
    kind, first = CasRelOwnSubject, True
    plain = staticmethod(naive_loss)

    @pytest.mark.thorough
    def test_structures(self, tiny_encoder):
        check_structures(CasRelOwnSubject, tiny_encoder, cannot_represent={"rivals"})

    def test_a_saved_model_keeps_its_name(self, tiny_encoder, tmp_path):
        check_save_and_load(build_extractor(CasRelOwnSubject, tiny_encoder), tmp_path)
        assert saved_extractor_name(tmp_path) == "casrel-own-subject"
        assert EXTRACTORS["casrel-own-subject"].label == "CasRel (own subject weights)"


def test_an_entity_at_the_end_of_a_sentence_ends_at_the_special_token():
    """Content tokens 1 and 2; the subject is token 1, the object token 2, whose end is tagged on
    token 3.
    """
    content = torch.tensor([[False, True, True, False]])
    subject, object_ = torch.full((1, 4, 2), -9.0), torch.full((1, 4, 2, 1), -9.0)
    subject[0, 1, 0] = subject[0, 2, 1] = object_[0, 2, 0, 0] = object_[0, 3, 1, 0] = 9.0
    rows, _ = decode(
        subject, lambda s, a, b: object_.expand(len(s), -1, -1, -1), content, 1, distance=1
    )
    assert rows.tolist() == [[0, 1, 1, 0, 2, 2]]


def test_an_encoder_without_a_special_token_after_the_text_needs_another_layout(tiny_encoder):
    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        "[CLS] $A", special_tokens=[("[CLS]", 5)]
    )
    with pytest.raises(UserError, match="layout 'exclusive': .*; use layout: marker"):
        Aligner(tokenizer, "exclusive")


def test_subjects_are_drawn_uniformly_over_distinct_spans():
    triples = np.array(
        [
            [1, 3, 3, 0, 5, 5],
            [1, 3, 3, 1, 6, 6],
            [1, 4, 5, 0, 1, 1],
            [1, 3, 3, 0, 1, 2],
            [2, 1, 1, 0, 2, 2],
        ]
    )
    counts = {(3, 3): 0, (4, 5): 0}
    for draw in np.linspace(0, 0.999, 100):
        start, end, present, _ = draw_subjects(triples, np.full(3, draw), 3)
        counts[int(start[1]), int(end[1])] += 1
        assert present.tolist() == [False, True, True]
        assert (int(start[2]), int(end[2])) == (1, 1)
    assert counts == {(3, 3): 50, (4, 5): 50}


def test_specials_and_padding_start_and_end_nothing():
    subject = torch.full((1, 5, 2), 10.0)
    content = torch.tensor([[False, True, True, False, False]])
    rows, _ = decode(subject, lambda s, a, b: torch.full((len(s), 5, 2, 1), 10.0), content, 1)
    assert set(map(tuple, rows.tolist())) == {(0, s, s, 0, o, o) for s in (1, 2) for o in (1, 2)}


def test_extract_gives_spans_of_the_text(tiny_encoder):
    model = build_extractor(CasRel, tiny_encoder)
    torch.nn.init.constant_(model.subject.bias, 5.0)
    torch.nn.init.constant_(model.object.bias, 5.0)
    texts = ["Tim  Cook leads\tApple .", "", "it rains", "Tim  Cook leads\tApple ."]
    results = model.extract(texts, batch_size=2, ids=["a", "b", "c", "d"])
    assert [each.id for each in results] == ["a", "b", "c", "d"]
    assert [each.text for each in results] == texts
    assert results[0].triples == results[3].triples
    assert len(results[0].triples) == 5 * 5 * 4
    assert results[1].triples == ()
    assert all(not list(each.problems()) for each in results)
    assert all(0 < triple.score <= 1 for triple in results[0].triples)


def test_every_tagger_starts_as_a_layer_of_its_own(tiny_encoder, monkeypatch):
    """Xavier's uniform bound for one output each (subject head, tail), for R outputs each
    (object heads, tails).
    """
    start, started = torch.nn.init.xavier_uniform_, []
    monkeypatch.setattr(
        torch.nn.init, "xavier_uniform_", lambda own: started.append(tuple(own.shape)) or start(own)
    )
    torch.manual_seed(0)
    model = build_extractor(CasRel, tiny_encoder)
    assert started == [(1, 32), (1, 32), (4, 32), (4, 32)]
    width, relations = model.hidden_size, len(model.config.relations)
    for layer, outputs in ((model.subject, 1), (model.object, relations)):
        assert not layer.bias.any()
        bound = (6 / (width + outputs)) ** 0.5
        for part in layer.weight.split(outputs):
            assert 0.8 * bound < part.abs().max().item() <= bound and part.min() < 0 < part.max()
