"""Headlines of a study from small constructed frames of contrasts."""

import pandas as pd
import pytest

from tripleaudit.tables.contrasts import (
    AT_LEAST,
    COLUMNS,
    FEW,
    NOT_SHOWN,
    NOTHING_FOUND,
    OPEN,
    SHOWN,
    SYSTEMS,
)
from tripleaudit.tables.headlines import make_headlines, ranking_lines

UNSEEN = "entirely seen to unseen"
BEYOND = "entirely seen to not entirely seen"


def contrast(name: str, first: float, second: float, outcome: str = SHOWN, **changes) -> dict:
    """Return a row of the frame: a system under two conditions, with an interval of ±4 points."""
    difference = second - first
    row = dict.fromkeys(COLUMNS)
    for side in ("first", "second"):
        row |= {f"protocol_{side}": "original", f"training_{side}": "nz", f"testing_{side}": "nz"}
        row |= {f"extractor_{side}": "casrel", f"noise_{side}": "none", f"stratum_{side}": "all"}
    if name in (UNSEEN, BEYOND):
        row |= {"stratum_first": "entirely_seen", "stratum_second": "unseen"}
    row |= {"contrast": name, "corpus": "webnlg", "matching": "exact-string", "outcome": outcome}
    row |= {"first": first, "second": second, "difference": difference}
    row |= {"low": difference - 0.04, "high": difference + 0.04, "p": 0.0004, "p_holm": 0.0012}
    row |= {"paired": True, "cases": 500, "seeds": 3, "mark": ""}
    return row | changes


def pair(first: tuple[str, float], second: tuple[str, float], outcome: str = SHOWN, **changes):
    """Return the contrast of two systems, ``(name, F1)`` each, on the original test set."""
    names = {"extractor_first": first[0], "extractor_second": second[0]}
    return contrast(SYSTEMS, first[1], second[1], outcome, **names, **changes)


def found(*rows: dict):
    """Return the headlines of a frame, through the types that pandas gives its columns."""
    return make_headlines(pd.DataFrame(rows, columns=list(COLUMNS)).to_dict("records"))


def titles(*rows: dict) -> list[str]:
    return [headline.title for headline in found(*rows).headlines]


def test_the_fall_to_unseen_triples_has_values_interval_cases_and_seeds():
    (headline,) = found(contrast(UNSEEN, 0.97, 0.52, p_holm=None, p=None)).headlines
    assert headline.title == "F1 falls by 45 points on unseen triples"
    assert headline.numbers == (
        "CasRel: 97.0 → 52.0 %, −45.0 points [−49.0, −41.0], 500 sentences, 3 seeds."
    )
    assert headline.table == "type-f1"


def test_the_baseline_that_looks_triples_up_is_named_next_to_the_fall():
    memorise = {"extractor_first": "memorise", "extractor_second": "memorise"}
    rows = [contrast(UNSEEN, 0.97, 0.52), contrast(UNSEEN, 0.9, 0.0, **memorise)]
    assert found(*rows).headlines[0].numbers.endswith("; memorised triples 90.0 → 0.0 %.")
    assert titles(rows[1]) == []  # a baseline alone is no finding


@pytest.mark.parametrize("swapped", [False, True])
def test_the_first_headline_ranks_the_systems_whichever_side_the_best_stands_on(swapped):
    sides = [("prgc", 0.62), ("casrel", 0.75)]
    ranking = pair(*(sides[::-1] if swapped else sides))
    first, second = found(contrast(UNSEEN, 0.97, 0.52), ranking).headlines
    assert first.title == "CasRel leads by 13 points"
    assert first.numbers.startswith(
        "CasRel against PRGC: 75.0 and 62.0 %, +13.0 points [9.0, 17.0], p = .001 (Holm)"
    )
    assert second.title.startswith("F1 falls")


def test_systems_without_a_shown_difference_are_not_distinguishable():
    tie = pair(("casrel", 0.75), ("prgc", 0.74), NOT_SHOWN, p_holm=0.4)
    assert titles(tie) == ["CasRel and PRGC are not distinguishable"]
    three = [
        tie,
        pair(("casrel", 0.75), ("pfn", 0.73), NOT_SHOWN),
        pair(("prgc", 0.74), ("pfn", 0.73), NOT_SHOWN),
    ]
    assert titles(*three) == ["CasRel and 2 others are not distinguishable"]
    assert "p = .400 (Holm)" in found(*three).headlines[0].numbers


def test_baselines_and_other_test_sets_are_not_ranked():
    baseline = pair(("casrel", 0.75), ("memorise", 0.5))
    augmented = {"protocol_first": "augmented", "protocol_second": "augmented"}
    assert titles(baseline, pair(("casrel", 0.7), ("prgc", 0.5), **augmented)) == []


def test_each_corpus_has_a_ranking_and_names_itself():
    other = pair(("casrel", 0.4), ("prgc", 0.6), corpus="nyt24")
    assert titles(pair(("casrel", 0.75), ("prgc", 0.62)), other) == [
        "CasRel leads by 13 points on WebNLG",
        "PRGC leads by 20 points on NYT24",
    ]


def test_findings_are_about_the_best_system_and_the_original_split():
    prgc = {"extractor_first": "prgc", "extractor_second": "prgc"}
    augmented = {"protocol_first": "augmented", "protocol_second": "augmented"}
    rows = [
        contrast(UNSEEN, 0.9, 0.3, **prgc),
        contrast(UNSEEN, 0.8, 0.7, **augmented),
        contrast(UNSEEN, 0.97, 0.52),
        pair(("casrel", 0.75), ("prgc", 0.62)),
    ]
    assert found(*rows).headlines[1].numbers.startswith("CasRel: 97.0 → 52.0 %")


def test_findings_of_few_cases_are_folded_into_one_line():
    augmented = contrast("original to augmented", 0.9, 0.8, FEW, cases=12)
    names = found(contrast(UNSEEN, 0.97, 0.52, FEW, cases=29), augmented)
    assert names.headlines == []
    assert names.remarks == ["Fewer than 30 cases: unseen triples; new entity names."]


def test_strata_are_taken_together_where_unseen_triples_are_too_few():
    rows = [contrast(UNSEEN, 0.97, 0.52, FEW), contrast(BEYOND, 0.97, 0.6)]
    assert titles(*rows) == ["F1 falls by 37 points beyond seen triples"]
    assert found(*rows).remarks == []
    assert titles(rows[1], contrast(UNSEEN, 0.97, 0.52)) == [
        "F1 falls by 45 points on unseen triples"
    ]


@pytest.mark.parametrize(
    ("mark", "reason"),
    [
        ("†", "Training had not converged: "),
        ("§", "Too few evaluations to tell whether training had converged: "),
    ],
)
def test_an_unconverged_training_has_no_level_and_no_conclusion(mark, reason):
    rows = [
        contrast(UNSEEN, 0.97, 0.52, OPEN, mark=mark),
        pair(("casrel", 0.75), ("prgc", 0.62), OPEN, mark=mark),
    ]
    result = found(*rows)
    assert result.headlines == []
    assert result.remarks == [f"{reason}ranking of CasRel and PRGC; unseen triples."]
    text = "\n".join(ranking_lines(result.ranking))
    assert text.count("not converged") == 2 and "75.0" not in text


def test_the_same_sign_after_twice_the_epochs_is_a_lower_bound_without_levels():
    doubled = {"difference_doubled": -0.3, "low_doubled": -0.35, "high_doubled": -0.25}
    (headline,) = found(contrast(UNSEEN, 0.97, 0.52, AT_LEAST, mark="†", **doubled)).headlines
    assert headline.title == "F1 falls by ≥30 points on unseen triples"
    assert "97.0" not in headline.numbers and "52.0" not in headline.numbers
    assert "after twice the epochs −30.0 points [−35.0, −25.0] (not converged)" in headline.numbers


def test_a_system_without_correct_triples_is_said_once():
    rows = [
        contrast(UNSEEN, 0.0, 0.0, NOTHING_FOUND),
        contrast("original to augmented", 0.0, 0.0, NOTHING_FOUND),
    ]
    assert found(*rows).remarks == ["No correct triple: unseen triples; new entity names."]


def test_trainings_of_unequal_size_are_named():
    row = contrast("zero-triple sentences in training", 0.7, 0.8, mark="‡")
    assert "trainings of unequal size" in found(row).headlines[0].numbers


def test_headlines_have_at_most_eight_words():
    names = {
        UNSEEN: {},
        "with Entity Noising, unseen": {"noise_second": "noising"},
        "original to rearranged": {"protocol_second": "rearranged"},
        "original to augmented": {"protocol_second": "augmented"},
        "with Entity Noising, augmented": {"noise_second": "noising"},
        "zero-triple sentences in the test": {"testing_second": "wz"},
        "zero-triple sentences in training": {"training_second": "wz"},
        "classifier in front": {"extractor_second": "zcc-binary+casrel"},
        "end to end to two steps": {"extractor_second": "zcc-binary+casrel"},
    }
    for first, second, outcome in ((0.5, 0.7, SHOWN), (0.7, 0.5, SHOWN), (0.7, 0.7, NOT_SHOWN)):
        rows = [contrast(name, first, second, outcome, **more) for name, more in names.items()]
        rows.append(pair(("casrel", first), ("prgc", second), outcome))
        shown = titles(*rows)
        assert len(shown) == len(rows)
        assert max(len(title.split()) for title in shown) <= 8, shown


def test_a_frame_without_rows_has_no_headlines():
    assert found() == make_headlines([])
    assert (found().headlines, found().remarks, found().ranking) == ((), (), ())


def test_the_ranking_lists_every_system_with_its_distance_to_the_best():
    rows = [
        pair(("casrel", 0.75), ("prgc", 0.74), NOT_SHOWN),
        pair(("casrel", 0.75), ("pfn", 0.5)),
        pair(("prgc", 0.74), ("pfn", 0.5)),
    ]
    assert ranking_lines(found(*rows).ranking) == [
        "F1 on the original test set of WebNLG:",
        "  1. CasRel  75.0 %",
        "  2. PRGC    74.0 %  −1.0 points [−5.0, 3.0], not distinguishable",
        "  3. PFN     50.0 %  −25.0 points [−29.0, −21.0]",
    ]
