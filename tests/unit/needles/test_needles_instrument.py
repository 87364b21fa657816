"""The scripted models of ``resources/instrument``: every score is the known one."""

import json

import numpy as np
import pytest

from instrument.instrument import (
    FOUND_BY,
    SKILLS,
    Needle,
    answer,
    embed,
    found,
    is_supported,
    known_scores,
    parts_of,
    triple_sets,
)
from support.fake_endpoint import asking
from tripleaudit.grescores.evaluate import Inputs, Settings, evaluate
from tripleaudit.grescores.judgements import triple_json
from tripleaudit.grescores.similarity import Elements, Matching
from tripleaudit.grescores.systems import System
from tripleaudit.needles.extracting import extract_corpus
from tripleaudit.needles.haystack import read_documents
from tripleaudit.needles.infused import Result
from tripleaudit.needles.making import build_corpus
from tripleaudit.needles.minea import rate_matches
from tripleaudit.needles.plan import Plan
from tripleaudit.needles.score_rows import score_result

PLAN = Plan(
    schema="demo", per_type=5, target=0.35, minimum=0.3, maximum=0.4, iterations=0, untouched=False
)


@pytest.fixture(scope="module")
def corpus(root):
    return build_corpus(
        read_documents([root / "resources/instrument/documents"], limit=1), PLAN, None
    )


@pytest.mark.parametrize("model", SKILLS)
def test_every_criterion_finds_the_needles_that_a_model_reports(corpus, model, tmp_path):
    needles = [
        Needle(row.id, row.type, row.paragraph, row.name, row.keywords) for row in corpus.needles
    ]
    scripted = lambda body: answer({**body, "model": model}, needles)  # noqa: E731
    with asking(tmp_path / "cache", scripted) as (_, client):
        extract_corpus(corpus, PLAN, client, model).save(tmp_path)
    rate_matches(tmp_path, PLAN.thresholds)
    keys = {"study": "s", "corpus": "c", "extractor": model}
    scores = score_result(corpus, Result.load(tmp_path), PLAN, keys)
    rates = {
        score.matching: score.value
        for score in scores
        if (score.stratum, score.metric) == ("all", "rate")
    }
    placed = corpus.infusions["report1"].needles
    assert len(placed) >= 15
    assert rates == {
        criterion: pytest.approx(
            sum(found(model, needle, criterion) for needle in placed) / len(placed)
        )
        for criterion in FOUND_BY
    }


class Encoder:
    """The scripted embedder."""

    name = "scripted"

    def encode(self, texts):
        return np.array([embed(text) for text in texts], dtype=np.float32)


def test_every_triple_set_has_its_known_grescore(root):
    folder = root / "resources/instrument"
    gold = json.loads((folder / "gold.json").read_text(encoding="utf-8"))
    sets = triple_sets(gold)
    assert sets == {
        name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in sets
    }
    elements = Elements(Encoder())
    for name, known in known_scores(gold).items():
        if known.score == "ts":
            continue  # needs a trained topic model; the study measures it
        texts = sets[name]
        verdicts = {
            text: [is_supported(triple) for triple in triples] for text, triples in texts.items()
        }
        splits = {
            text: {triple_json(triple): json.dumps(parts_of(triple)) for triple in triples}
            for text, triples in texts.items()
        }
        system, reference = System(texts), System(gold)
        elements.add(
            part
            for each in (system, reference)
            for rows in each.texts.values()
            for row in rows
            for part in row
        )
        inputs = Inputs(system, reference, verdicts=verdicts, splits=splits, elements=elements)
        score = evaluate(inputs, Settings(matching=Matching(0.9), resamples=200)).scores[
            known.score
        ]
        assert score.value == pytest.approx(known.realised, abs=1e-6), name
        assert score.low <= known.expected <= score.high, name
