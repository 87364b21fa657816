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
    UNREADABLE,
)
from tripleaudit.tables.headlines import make_headlines
from tripleaudit.tables.ranking import ranking_lines

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
    row |= {"paired": True, "cases": 500, "unit": "sentence", "seeds": 3}
    row |= {"mark": "", "mark_first": "", "mark_second": ""}
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


def test_a_system_leads_only_if_it_is_shown_to_be_ahead_of_every_other():
    rows = [
        pair(("casrel", 0.75), ("prgc", 0.66)),
        pair(("casrel", 0.75), ("pfn", 0.65), NOT_SHOWN, p_holm=0.2),
        pair(("prgc", 0.66), ("pfn", 0.65), NOT_SHOWN, p_holm=0.9),
    ]
    (headline,) = found(*rows).headlines
    assert headline.title == "CasRel and PFN are not distinguishable"
    assert headline.numbers.startswith("CasRel against PFN: 75.0 and 65.0 %, +10.0 points")
    rising = rows[1] | {"outcome": OPEN, "mark": "†", "mark_second": "†"}
    result = found(rows[0], rising, rows[2] | {"outcome": OPEN, "mark": "†", "mark_second": "†"})
    assert result.headlines == []
    assert result.remarks == ["Training had not converged: ranking of CasRel and PFN."]


def test_all_systems_that_are_not_distinguishable_from_the_best_are_named():
    rows = [
        pair(("casrel", 0.75), ("prgc", 0.74), NOT_SHOWN, p_holm=0.4),
        pair(("casrel", 0.75), ("pfn", 0.73), NOT_SHOWN, p_holm=0.4),
        pair(("prgc", 0.74), ("pfn", 0.73), NOT_SHOWN, p_holm=0.9),
    ]
    assert "not distinguishable from PFN either" in found(*rows).headlines[0].numbers


@pytest.mark.parametrize(
    ("low", "high", "p", "reason"),
    [
        (-0.005, 0.4, 0.04, "not shown: the interval includes 0"),
        (0.007, 0.075, 0.065, "not shown: p = .065 (Holm)"),
        (-0.02, 0.04, 0.3, "p = .300 (Holm)"),
    ],
)
def test_a_difference_that_is_not_shown_prints_no_number_against_it(low, high, p, reason):
    tie = pair(("prgc", 0.71), ("casrel", 0.75), NOT_SHOWN, low=low, high=high, p_holm=p)
    result = found(tie)
    (headline,) = result.headlines
    assert f", {reason}, 500 sentences" in headline.numbers
    assert (f"p = .{round(1000 * p):03d}" in headline.numbers) == (p >= 0.05)
    line = ranking_lines(result.ranking)[-1]
    assert "not distinguishable" in line and ("p = " in line) == (low > 0)


def test_the_mark_of_a_system_is_that_of_its_own_training():
    rising = {"mark": "†", "mark_second": "†"}
    rows = [
        pair(("casrel", 0.8), ("prgc", 0.6), OPEN, **rising),
        pair(("casrel", 0.8), ("pfn", 0.55)),
        pair(("pfn", 0.55), ("prgc", 0.6), OPEN, **rising),
    ]
    assert ranking_lines(found(*rows).ranking) == [
        "F1 on the original test set of WebNLG:",
        "  1. CasRel  80.0 %",
        "  2. PRGC    not converged  not compared: training had not converged (PRGC)",
        "  3. PFN     55.0 %  −25.0 points [−29.0, −21.0]",
    ]


def test_systems_of_a_gold_set_alone_are_ranked_on_all_of_its_sentences():
    zero = {"testing_first": "wz", "testing_second": "wz"}
    result = found(pair(("alpha", 0.72), ("beta", 0.92), **zero))
    assert [entry.system for entry in result.ranking] == ["beta", "alpha"]
    assert result.headlines[0].title == "beta leads by 20 points"
    both = found(pair(("alpha", 0.72), ("beta", 0.92), **zero), pair(("alpha", 0.8), ("beta", 0.7)))
    assert [entry.system for entry in both.ranking] == ["alpha", "beta"]


def test_programs_behind_a_training_in_doubt_are_compared_with_each_other():
    doubt = {"mark": "§", "mark_first": "§", "seeds": 2}
    rows = [
        pair(("casrel", 0.9), ("rules", 0.8), OPEN, **doubt),
        pair(("casrel", 0.9), ("lookup", 0.5), OPEN, **doubt),
        pair(("casrel", 0.9), ("prgc", 0.4), OPEN, **doubt | {"mark_second": "§"}),
        pair(("lookup", 0.5), ("rules", 0.8), seeds=0),
        pair(("prgc", 0.4), ("rules", 0.8), OPEN, **doubt),
        pair(("prgc", 0.4), ("lookup", 0.5), OPEN, **doubt),
    ]
    result = found(*rows)
    assert ranking_lines(result.ranking) == [
        "F1 on the original test set of WebNLG:",
        "  1. CasRel  convergence not known",
        "  2. rules   80.0 %  not compared: too few evaluations to tell whether training "
        "had converged (CasRel)",
        "  3. lookup  50.0 %  −30.0 points [−34.0, −26.0] (to rules)",
        "  4. PRGC    convergence not known  not compared: too few evaluations to tell whether "
        "training had converged (PRGC and CasRel)",
    ]


def test_a_headline_about_programs_names_no_seeds():
    (headline,) = found(pair(("rules", 0.8), ("lookup", 0.5), seeds=0)).headlines
    assert headline.numbers.endswith("500 sentences.")


def test_a_model_with_mostly_unread_answers_is_not_ranked():
    unread = {"mark": "¶", "mark_second": "¶", "p": None, "p_holm": None}
    rows = [
        pair(("casrel", 0.6), ("llm", 0.9), UNREADABLE, **unread),
        pair(("prgc", 0.5), ("llm", 0.9), UNREADABLE, **unread),
        pair(("casrel", 0.6), ("prgc", 0.4)),
    ]
    result = found(*rows)
    assert [entry.system for entry in result.ranking] == ["casrel", "prgc"]
    assert result.headlines[0].title == "CasRel leads by 20 points"
    assert result.remarks == [
        "Most answers are unreadable (truncated, refused or not in the requested form): ranking of llm."
    ]


def test_findings_of_one_of_several_corpora_name_it():
    rows = [contrast(UNSEEN, 0.97, 0.52), contrast(UNSEEN, 0.9, 0.3, corpus="nyt24")]
    assert found(*rows).headlines[0].numbers.startswith("CasRel on WebNLG: 97.0 → 52.0 %")


def test_a_ranking_without_the_systems_with_entity_noising_says_so():
    noising = contrast("with Entity Noising, all triples", 0.7, 0.8, noise_second="noising")
    lines = ranking_lines(found(noising, pair(("casrel", 0.7), ("prgc", 0.5))).ranking)
    assert lines[0] == "F1 on the original test set of WebNLG, without Entity Noising:"


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
        pair(("casrel", 0.75), ("prgc", 0.62), OPEN, mark=mark, mark_first=mark, mark_second=mark),
    ]
    result = found(*rows)
    assert result.headlines == []
    assert result.remarks == [f"{reason}ranking of CasRel and PRGC; unseen triples."]
    text = "\n".join(ranking_lines(result.ranking))
    assert "75.0" not in text and "62.0" not in text and "13.0" not in text


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


def test_no_system_leads_if_the_seeds_that_both_have_order_them_the_other_way():
    rows = [
        pair(("casrel", 0.80), ("pfn", 0.60)),
        pair(("prgc", 0.70), ("pfn", 0.60)),
        pair(("casrel", 0.65), ("prgc", 0.72), seeds=1),
    ]
    result = found(*rows)
    assert result.headlines == []
    assert result.remarks == [
        "Seeds that two systems share order them differently than all their seeds: "
        "ranking of CasRel and PRGC."
    ]
