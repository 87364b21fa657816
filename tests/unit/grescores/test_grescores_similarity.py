"""Uniqueness and completeness with vectors whose cosines are known."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.grescores.evaluate import strings_of
from tripleaudit.grescores.similarity import (
    Elements,
    FolderEncoder,
    Matching,
    completeness,
    default_phi,
    triple_vectors,
    uniqueness,
)
from tripleaudit.grescores.systems import System

ABR = ["A", "R", "B"]
BRA = ["B", "R", "A"]
ASB = ["A", "S", "B"]


class OneHot:
    """Every string has an axis of its own; counts what it is asked for."""

    name = "one-hot"

    def __init__(self):
        self.axis = {}
        self.asked = []

    def encode(self, texts):
        self.asked += list(texts)
        rows = np.zeros((len(texts), 64), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[self.axis.setdefault(text, len(self.axis))] = 1
        return rows


def elements(*systems):
    found = Elements(OneHot())
    found.add(strings_of(systems))
    return found


def us(triples, official=False, **options):
    matching = Matching(0.95, **options)
    system = System({"t": triples})
    return uniqueness(system, elements(system), matching, official)


def cs(gold, predicted, official=False, phi=0.95, **options):
    matching = Matching(phi, **options)
    system, reference = System(predicted), System(gold)
    return completeness(system, reference, elements(system, reference), matching, official)


def test_cosines_of_sums_of_vectors():
    vectors = triple_vectors(
        [tuple(triple) for triple in (ABR, BRA, ASB)], elements(System({"t": [ABR, ASB]}))
    )
    assert (vectors @ vectors[0]).tolist() == pytest.approx([1, 1, 2 / 3], abs=1e-6)


def test_uniqueness_in_closed_form():
    assert us([ABR, BRA, ASB]) == {"t": pytest.approx(4 / 6)}
    assert us([ABR, ABR]) == {"t": 0}
    assert us([ABR]) == {"t": 1}
    assert us([]) == {}
    assert us([], official=True) == {"t": 1}


def test_completeness_in_closed_form():
    gold = {"t": [ABR, ["C", "R", "D"]]}
    assert cs(gold, {"t": [BRA]}) == {"t": 0.5}


def test_threshold_is_inclusive_for_completeness_and_repeated_gold_collapses():
    assert cs({"t": [ABR]}, {"t": [ASB]}, phi=0.6666) == {"t": 1}
    assert cs({"t": [ABR, ABR, ["C", "R", "D"]]}, {"t": [ABR]}) == {"t": 0.5}


def test_closed_setting_compares_relations_of_the_best_match_only():
    assert cs({"t": [ABR]}, {"t": [ASB]}, phi=0.6) == {"t": 1}
    assert cs({"t": [ABR]}, {"t": [ASB]}, phi=0.6, closed=True) == {"t": 0}
    assert cs({"t": [ABR]}, {"t": [ASB, ABR]}, phi=0.6, closed=True) == {"t": 1}


def test_empty_cases_of_completeness():
    gold = {"gold": [ABR], "no gold": []}
    answers = {"gold": [], "no gold": [ABR], "elsewhere": [ABR]}
    assert cs(gold, answers) == {"gold": 0}
    assert cs(gold, answers, official=True) == {"gold": 0, "no gold": 1}
    assert cs(gold, {"gold": [ABR], "no gold": []}, official=True) == {"gold": 1, "no gold": 0}
    assert cs(gold, {"gold": [["", "R", "B"]]}, official=True) == {}
    assert cs(gold, {"gold": [["", "R", "B"]]}) == {"gold": 0}


def test_every_distinct_string_is_embedded_once():
    encoder = OneHot()
    found = Elements(encoder)
    found.add(["b", "a", "b"])
    found.add(["a", "c"])
    assert encoder.asked == ["a", "b", "c"]
    assert found(["c", "a"]).argmax(axis=1).tolist() == [2, 0]


def test_thresholds_belong_to_encoders():
    assert default_phi("all-MiniLM-L6-v2@53aa5117") == 0.70
    assert default_phi("text-embedding-ada-002") == 0.95
    assert default_phi("mpnet-base@78c0197b") == 0.74
    with pytest.raises(UserError, match="no similarity threshold is known"):
        default_phi("bert")
    with pytest.raises(UserError, match="phi is 1.2"):
        Matching(1.2)


def test_a_folder_runs_no_code_and_fetches_nothing(tmp_path, monkeypatch):
    seen = {}
    module = SimpleNamespace(SentenceTransformer=lambda folder, **options: seen.update(options))
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    for name in ("config.json", "modules.json", "model.safetensors"):
        (tmp_path / name).write_text("{}")
    FolderEncoder(tmp_path)
    assert (
        seen["trust_remote_code"] is False
        and seen["local_files_only"]
        and seen["model_kwargs"]["use_safetensors"]
    )


@pytest.mark.thorough
def test_minilm_ranks_stored_systems_as_published(real_data, minilm):
    """US and CS of the first 60 texts of three data sets, against the published scores of the whole
    sets.

    docs/reference/grescores.md has the correlations on all texts of five data sets (0.99 for US).
    """
    from scipy.stats import spearmanr

    from tripleaudit.grescores.systems import read_system

    published = {
        ("nyt10m_rand_500", "vicuna-1.5-7b"): (86.4, 38.9),
        ("nyt10m_rand_500", "gpt-3.5-turbo-1106"): (82.3, 29.8),
        ("nyt10m_rand_500", "openchat"): (84.7, 55.3),
        ("wiki20m_rand_500", "vicuna-1.5-7b"): (67.8, 37.3),
        ("wiki20m_rand_500", "openchat"): (61.8, 47.7),
        ("wiki80_rand_800", "vicuna-1.5-7b"): (76.8, 36.6),
        ("wiki80_rand_800", "openchat"): (69.7, 50.6),
    }
    folder = real_data / "genres" / "processed_results"
    matching = Matching(0.70)
    found = Elements(FolderEncoder(minilm))
    unique, complete = {}, {}
    for dataset, model in published:
        gold = read_system(folder / f"{dataset}_groundtruth_1.json", "sro")
        texts = list(gold.texts)[:60]
        gold = gold.restricted(texts)
        system = read_system(folder / f"{dataset}_{model}_1.json", "sro").restricted(texts)
        found.add(strings_of([gold, system]))
        unique[dataset, model] = np.mean(list(uniqueness(system, found, matching, True).values()))
        complete[dataset, model] = np.mean(
            list(completeness(system, gold, found, matching, True).values())
        )
    us_rank = spearmanr(list(unique.values()), [value[0] for value in published.values()]).statistic
    assert us_rank >= 0.85
    for dataset in ("nyt10m_rand_500", "wiki20m_rand_500", "wiki80_rand_800"):
        models = sorted(
            (key for key in published if key[0] == dataset), key=lambda key: published[key][1]
        )
        assert sorted(models, key=complete.get) == models
