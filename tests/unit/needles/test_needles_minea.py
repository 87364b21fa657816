"""The paper's integers, the toy example, and the criteria and rates by hand."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from tripleaudit.core.shipped import DATA
from tripleaudit.needles.entities import Entity
from tripleaudit.needles.minea import (
    Index,
    TypeScore,
    minea_interval,
    overall,
    rate_rows,
    rated,
    type_scores,
    wilson,
)
from tripleaudit.needles.needle import Needle
from tripleaudit.needles.needle_check import problem
from tripleaudit.needles.plan import Plan

THRESHOLDS = Plan().thresholds

CRITERIA = ("n", "ns", "k0.5", "k0.6", "k0.7", "llm")


def published(table):
    """What a table of the paper prints, by type and metric."""
    found = {}
    with open(DATA / "reported" / "minea.csv", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if row["table"] == table:
                found.setdefault(row["variant"], {})[row["metric"]] = float(row["value"])
    return found


def scores_of(printed, metrics):
    """Scores of types of which each criterion finds as many needles as its printed rate says,
    the first ones.
    """
    rows = []
    for kind, of in printed.items():
        for number in range(int(of["needles"])):
            finds = {
                criterion: number < round(of[name] * of["needles"])
                for criterion, name in metrics.items()
            }
            rows.append({"id": f"{kind}{number}", "type": kind, **finds})
    return type_scores(rows, list(metrics))


def test_table_3_overall_is_542_of_695():
    printed = published("3")
    printed_overall = printed.pop("overall")["MINEA"]
    scores = scores_of(printed, {"ns": "MINEA"})
    assert all(round(scores[kind].minea, 3) == of["MINEA"] for kind, of in printed.items())
    found, _, needles = overall(scores.values())
    assert (found, needles) == (542, 695) and round(found / needles, 3) == printed_overall
    assert (
        round(sum(s.minea for s in scores.values()) / len(scores), 3) == 0.781
    )  # the mean that it is not


def test_table_5_maxima_are_those_of_table_3():
    printed, maxima = published("5"), published("3")
    for kind, score in scores_of(
        printed, {criterion: f"criterion_{criterion}" for criterion in CRITERIA}
    ).items():
        rates = {criterion: printed[kind][f"criterion_{criterion}"] for criterion in CRITERIA}
        best = max(rates, key=rates.get)
        assert (score.best, round(score.minea, 3)) == (best, rates[best])
        assert (
            kind == "Country" or rates[best] == maxima[kind]["MINEA"]
        )  # which table 3 does not have


def needle(kind, name, keywords):
    return Needle(f"d:{kind}", "d", kind, f"About {name}.", name, "", tuple(keywords))


def entity(index, kind, name, piece=0, **properties):
    return Entity("d", "enriched", piece, 0, 0, index, kind, name, properties)


def identify(needles, entities):
    return Index(entities).matches(needles)


def judged(match, index):
    return {**match, "llm": True, "llm_index": index}


def toy():
    """Two needles in the shape of the paper's figures 2 and 3, with other words."""
    meeting = needle(
        "Event", "Robot Guild Gathering", ["robots", "guild", "workshop", "Lyon", "panel", "spring"]
    )
    product = needle(
        "Product", "Chart Finder", ["chart", "finder", "search", "nodes", "edges", "speed"]
    )
    extracted = [
        entity(
            0,
            "Person",
            "Ada Moss",
            description="gave a talk at the Robot Guild Gathering",
            keywords=["talk"],
        ),
        entity(
            1,
            "Event",
            "Robot Gathering",
            keywords=["robots", "guild", "workshop", "speech", "France"],
        ),
        entity(2, "Product", "CHAFI", keywords=["chart", "search", "nodes", "edges", "index"]),
    ]
    return [meeting, product], extracted


def test_toy_example_of_table_4():
    needles, extracted = toy()
    event, product = identify(needles, extracted)
    event, product = judged(event, 1), judged(product, 2)
    rows = rated([event, product], THRESHOLDS)
    assert [[int(row[c]) for c in CRITERIA] for row in rows] == [
        [0, 1, 1, 0, 0, 1],
        [0, 0, 1, 1, 0, 1],
    ]
    assert (event["ns_index"], event["k_index"], event["llm_index"]) == (0, 1, 1)
    assert [row["k_ratio"] for row in rows] == [0.5, 0.666667]  # 3 and 4 of 6


def test_n_implies_ns_and_k_is_monotone():
    found = entity(0, "Place", "  Nova\u00a0 Ruda ", keywords="hill, town")
    target = needle("Place", "Nova Ruda", ["hill, town"])
    (match,) = identify([target], [found])
    assert match["n"] and match["ns"] and match["k_ratio"] == 1
    (row,) = rated([match], THRESHOLDS)
    assert row["k0.5"] and row["k0.6"] and row["k0.7"] and row["llm"] is None
    assert not identify([target], [entity(0, "Place", "nova ruda")])[0]["n"]


def test_the_name_of_one_entity_does_not_run_into_the_next_value():
    split_name = entity(0, "Place", "Nova", description="Ruda")
    assert not identify([needle("Place", "Nova Ruda", ["k"])], [split_name])[0]["ns"]


def test_three_of_five_keywords_reach_the_threshold_0_6():
    (match,) = identify(
        [needle("T", "x", "abcde")], [entity(0, "T", "y", keywords=["a", "b", "c"])]
    )
    (row,) = rated([match], THRESHOLDS)
    assert row["k0.6"] is True and row["k0.7"] is False


def test_every_needle_is_identified_by_itself():
    """One entity stands for every needle that it is like, as in the paper."""
    ada = needle("Person", "Ada Moss", "abcdef")
    eva = needle("Person", "Eva Lund", "abcdxy")
    rows = rated(
        identify([ada, eva], [entity(0, "Person", "Ada Moss", keywords=list("abcd"))]), THRESHOLDS
    )
    assert [(row["n"], row["k_ratio"], row["k_index"]) for row in rows] == [
        (True, 0.666667, 0),
        (False, 0.666667, 0),
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None),
        ({"name": " "}, "the paragraph or the name is empty"),
        ({"name": "Bo"}, "the name 'Bo' does not occur in the paragraph"),
        ({"name": "A Text"}, "the name 'A Text' occurs in the document"),
        ({"name": "Eva"}, "the name 'Eva' overlaps that of needle other"),
        ({"name": "Eva Moss Hill"}, "the name 'Eva Moss Hill' overlaps that of needle other"),
        (
            {"paragraph": "ADA and EVA MOSS " + "w " * 50},
            "the paragraph repeats that of needle other",
        ),
        (
            {"keywords": tuple("uvwxy")},
            "it has 5 keywords, 5 of them different; expected 6 different ones",
        ),
        (
            {"keywords": tuple("uvwxyzU")},
            "it has 7 keywords, 6 of them different; expected 6 different ones",
        ),
        ({"keywords": tuple("ABcxyz")}, "it shares 3 of 6 keywords with needle other"),
        ({"keywords": tuple("abuvwt")}, None),
        ({"paragraph": "Ada" + " w" * 38}, "the paragraph has 39 words, expected 40 to 120"),
        ({"paragraph": "Ada" + " w" * 39}, None),
        ({"paragraph": "Ada" + " w" * 119}, None),
        ({"paragraph": "Ada" + " w" * 120}, "the paragraph has 121 words, expected 40 to 120"),
    ],
)
def test_why_a_needle_cannot_be_used(change, said):
    other = Needle(
        "other", "d", "T", "Ada and Eva Moss " + "w " * 50, "Eva Moss", "", tuple("abcdef")
    )
    one = Needle(
        "one", "d", "T", "Ada, Eva Moss Hill, a text " + "w " * 50, "Ada", "", tuple("uvwxyz")
    )
    assert problem(replace(one, **change), "This is a text.", [other], Plan()) == said


def test_candidates_share_words_or_the_piece():
    target = needle("Person", "Ada Moss", ["talk"])
    pool = [entity(i, "T", "Ada" if i in (3, 60) else "other", piece=i // 50) for i in range(70)]
    found = [e.index for e in Index(pool).candidates(target, None, 30)]
    assert found == [3, 60]
    assert [e.index for e in Index(pool).candidates(target, 1, 30)] == [3, *range(50, 70)]
    many = [entity(i, "T", "Ada Moss" if i == 99 else "Ada") for i in range(100)]
    chosen = [e.index for e in Index(many).candidates(target, None, 30)]
    assert len(chosen) == 30 and chosen[-1] == 99


def test_maximum_of_rates_is_not_the_rate_of_any():
    rows = [{"id": i, "type": "T", "n": i < 2, "llm": i >= 2} for i in range(4)]
    score = type_scores(rows, ("n", "llm"))["T"]
    assert score.minea == 0.5 and score.found_any == 4


COVERAGE = [
    pytest.param(types, needles, alike, marks=marks)
    for types, needles, marks in (
        (4, 5, ()),
        (11, 2, pytest.mark.thorough),
        (11, 6, pytest.mark.thorough),
        (11, 20, pytest.mark.thorough),
    )
    for alike in (0.0, 0.7, 0.9)
]


@pytest.mark.parametrize(("types", "needles", "alike"), COVERAGE)
def test_the_interval_of_minea_covers_the_rate_of_the_best_criterion(types, needles, alike):
    """Three criteria with a true rate of a half, whose verdicts are correlated; Wilson's
    interval misses it.
    """
    random, covered, cases = np.random.default_rng(1), 0, 150
    for _ in range(cases):
        shared = alike**0.5 * random.normal(size=(types, needles, 1))
        says = shared + (1 - alike) ** 0.5 * random.normal(size=(types, needles, 3)) > 0
        rows = [
            {"type": t} | dict(zip("abc", each, strict=True))
            for t in range(types)
            for each in says[t]
        ]
        low, high = minea_interval(type_scores(rows, "abc").values())
        covered += low <= 0.5 <= high
    assert covered / cases >= 0.93


def test_the_interval_of_one_criterion_or_a_clear_best_one_is_wilsons():
    rows = [{"type": kind, "n": number < 6, "ns": False} for kind in "ab" for number in range(20)]
    for criteria in (["n"], ["n", "ns"]):
        scores = type_scores(rows, criteria).values()
        assert minea_interval(scores) == pytest.approx(wilson(12, 40), abs=1e-3)


def test_wilson_interval():
    low, high = wilson(21.5, 43)
    assert 0.13 < (high - low) / 2 < 0.15  # 43 needles: about 14 points
    assert (
        wilson(0, 0) == (0, 1) and wilson(0, 10)[0] == 0 and wilson(10, 10)[1] == pytest.approx(1)
    )
    assert wilson(8, 10) == pytest.approx((0.49016, 0.94332), abs=1e-4)


@pytest.mark.parametrize(("needles", "bounded"), [(9, False), (10, True)])
def test_few_needles_have_no_interval(needles, bounded):
    score = TypeScore("person", needles, {"n": needles}, needles, float(needles))
    rows = rate_rows("person", [score], {"n": needles})
    assert {
        low is not None
        for _, _, metric, _, low, _ in rows
        if metric in ("rate", "minea", "minea_any")
    } == {bounded}
