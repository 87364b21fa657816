"""The printed values agree with each other, and the look-up finds them by the project's names."""

from collections import defaultdict

import pytest

from tripleaudit.tables import reported
from tripleaudit.tables.reported import values

COUNTS = {
    "rte_eval": 520,
    "zero_cardinality": 412,
    "minea": 169,
    "genres": 688,
    "genres_official": 936,
}


@pytest.mark.parametrize("name", COUNTS)
def test_every_value_is_a_number(name: str) -> None:
    assert len(values(name)) == COUNTS[name]
    for value in values(name).values():
        float(value)


@pytest.mark.parametrize("name", ["rte_eval", "zero_cardinality"])
def test_f1_follows_from_precision_and_recall(name: str) -> None:
    scores: dict[tuple, dict[str, float]] = defaultdict(dict)
    for (*key, metric), value in values(name).items():
        if metric in ("precision", "recall", "F1"):
            scores[tuple(key)][metric] = float(value)
    whole = [score for score in scores.values() if len(score) == 3]
    assert len(whole) > 30
    step = 0.1 if name == "rte_eval" else 0.001
    for score in whole:
        p, r = score["precision"], score["recall"]
        assert 2 * p * r / (p + r) == pytest.approx(score["F1"], abs=1.05 * step)


def test_shares_add_up_and_totals_fit() -> None:
    found = values("rte_eval")
    for dataset in ("NYT", "WebNLG"):
        for protocol in ("original", "rearranged", "sift-1", "sift-2", "sift-3", "augmented"):
            shares = [
                float(found["1", dataset, protocol, "", "test triples", f"{kind}_pct"])
                for kind in ("entirely_seen", "partially_seen", "unseen")
            ]
            assert sum(shares) == pytest.approx(100, abs=0.015)
            if protocol == "augmented":
                continue
            kinds = ("entirely seen only", "partially seen only", "unseen only", "mixed types")
            strata = [
                int(found["7", dataset, protocol, "", kind, "test instances"]) for kind in kinds
            ]
            assert str(sum(strata)) == found["7", dataset, protocol, "", "total", "test instances"]
            assert str(sum(strata)) == found["6", dataset, protocol, "", "test", "instances"]


def test_drops_and_gains_are_differences_of_the_printed_f1() -> None:
    found = values("zero_cardinality")

    def f1(table: str, dataset: str, setting: str, model: str, variant: str) -> float:
        return float(found[table, dataset, setting, model, variant, "F1"])

    sets, checked = ("train NZ / test NZ", "train WZ / test WZ"), 0
    for (_, dataset, setting, model, variant, metric), value in found.items():
        if metric == "F1_drop_points":
            training = setting.split(" / ")[0]
            whole = setting.startswith("train NZ / test NZ vs train")
            pair = sets if whole else (f"{training} / test NZ", f"{training} / test WZ")
            first, second = (f1("3", dataset, one, model, variant) for one in pair)
        elif metric == "F1_gain_points":
            first, second = (
                f1("5", dataset, setting, model, variant),
                f1("3", dataset, sets[1], model, variant),
            )
        else:
            continue
        assert 100 * (first - second) == pytest.approx(float(value), abs=0.11)
        checked += 1
    assert checked == 18 * 3 + 18


def test_look_up_by_the_projects_names() -> None:
    assert (
        reported.rte(1, "webnlg", "original", "entirely_seen_pct", variant="test triples")
        == "91.10"
    )
    assert (
        reported.rte(3, "nyt24", "rearranged", "F1", model="tplinker", variant="entity noising")
        == "64.5"
    )
    assert reported.rte(1, "demo", "original", "entirely_seen_pct", variant="test triples") is None
    assert reported.rte(3, "webnlg", "original", "F1", model="mine", variant="baseline") is None
    setting = "train NZ / test WZ"
    assert (
        reported.cardinality(
            3, "nyt24star", setting, "F1", model="onerel", variant="exact entity match"
        )
        == "0.780"
    )
    assert (
        reported.cardinality(6, "nyt29star", "train WZ", "training_minutes", model="zcc-mcml")
        == "25.65"
    )
