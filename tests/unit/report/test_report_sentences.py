from tripleaudit.descriptors import TABLES
from tripleaudit.report.inputs import StudyFacts
from tripleaudit.report.make import Evidence
from tripleaudit.scoring.scores import Score, keys_of
from tripleaudit.tables.cells import Cell
from tripleaudit.tables.evidence import TableInputs
from tripleaudit.tables.score_index import ScoreIndex
from tripleaudit.tables.words import Pair, contrast

SEEN, UNSEEN = "on seen triples", "on unseen triples"


def pair(name: str, first: float, second: float, width: float = 2) -> Pair:
    return Pair(name, *(Cell(value, low=value - width, high=value + width) for value in (first, second)))


def scores(*rows: tuple) -> TableInputs:
    """``(extractor, noise, stratum, value[, metric])`` rows, F1 by default, on the original nz test set."""
    return TableInputs(
        scores=ScoreIndex(
            Score(
                keys_of(
                    {
                        "study": "s",
                        "corpus": "webnlg",
                        "protocol": "original",
                        "training": "nz",
                        "testing": "nz",
                        "extractor": extractor,
                        "noise": noise,
                        "seed": "1",
                    }
                ),
                stratum,
                "exact-string",
                metric[0] if metric else "f1",
                value,
                value - 0.02,
                value + 0.02,
            )
            for extractor, noise, stratum, value, *metric in rows
        )
    )


def test_one_pair_is_told_with_its_gap_and_whether_intervals_overlap():
    assert contrast([pair("CasRel", 92.0, 41.0)], SEEN, UNSEEN) == (
        "For CasRel, F1 is 92.0 % on seen triples and 41.0 % on unseen triples: a gap of 51.0 points (95 % intervals "
        "do not overlap)."
    )
    assert "a gain of 1.0 points (95 % intervals overlap)" in contrast([pair("CasRel", 50.0, 51.0)], SEEN, UNSEEN)
    assert contrast([pair("CasRel", 50.0, 50.0)], SEEN, UNSEEN).endswith("50.0 % on unseen triples: no difference.")


def test_without_intervals_nothing_is_said_about_them():
    assert "interval" not in contrast([Pair("A", Cell(5.0), Cell(4.0))], SEEN, UNSEEN)


def test_an_interval_without_width_is_no_evidence():
    sure = Pair("A", Cell(100.0, low=100.0, high=100.0), Cell(40.0, low=30.0, high=50.0))
    assert "interval" not in contrast([sure], SEEN, UNSEEN)


def test_many_pairs_are_counted_and_the_greatest_is_named():
    pairs = [pair("A", 90, 80), pair("B", 90, 40), pair("C", 60, 63), Pair("D", Cell(), Cell(1.0))]
    assert contrast(pairs, SEEN, UNSEEN).startswith(
        "F1 is lower on unseen triples than on seen triples in 2 of 3 cases (by 10.0 to 50.0 points) and higher in 1 "
        "of 3 cases (by 3.0 points); most so for B: 90.0 % on seen triples and 40.0 % on unseen triples"
    )


def test_nothing_measured_is_said():
    assert contrast([], SEEN, UNSEEN) == "This was not measured in the study."
    for table in TABLES:
        answer = Evidence().answer(table)[1]
        assert answer in ("This was not measured in the study.", ""), table


def test_the_answer_about_types_follows_the_scores():
    rows = [("casrel", "none", "entirely_seen", 0.9), ("casrel", "none", "unseen", 0.3)]
    evidence = Evidence(scores(*rows))
    assert (
        "90.0 % on entirely seen triples and 30.0 % on unseen triples: a gap of 60.0 points"
        in (evidence.answer("type-f1")[1])
    )
    changed = Evidence(scores(("casrel", "none", "entirely_seen", 0.5), ("casrel", "none", "unseen", 0.5)))
    assert "no difference" in changed.answer("type-f1")[1]
    noised = [*rows, ("casrel", "noising", "entirely_seen", 0.9), ("casrel", "noising", "unseen", 0.42)]
    assert (
        "Entity Noising moves F1 on unseen triples by +12.0 points, from 30.0 % to 42.0 %"
        in (Evidence(scores(*noised)).answer("type-f1")[1])
    )


def test_few_sentences_are_named():
    rows = [("casrel", "none", "entirely_seen", 0.9), ("casrel", "none", "unseen", 0.3)]
    for sizes, warned in (((200, 12), True), ((200, 30), False)):
        counted = [("casrel", "none", row[2], size, "sentences") for row, size in zip(rows, sizes, strict=True)]
        answer = Evidence(scores(*rows, *counted)).answer("type-f1")[1]
        assert ("only 12 test sentences have unseen triples alone (WebNLG)" in answer) == warned


def test_answers_obey_the_options_of_their_table():
    rows = [
        (name, "none", stratum, value)
        for name, seen in (("casrel", 0.9), ("prgc", 0.8))
        for stratum, value in (("entirely_seen", seen), ("unseen", 0.1))
    ]
    facts = StudyFacts("s", table_options={"type-f1": {"extractors": ["prgc"]}})
    assert Evidence(scores(*rows), facts=facts).answer("type-f1")[1].startswith("For PRGC, F1 is 80.0 %")


def measured(protocol: str, *rows: tuple) -> TableInputs:
    """``(extractor, stratum, matching, metric, value)`` rows of one protocol."""
    return TableInputs(
        scores=ScoreIndex(
            Score(
                keys_of({"study": "s", "corpus": "c", "protocol": protocol, "extractor": extractor}),
                stratum,
                matching,
                metric,
                value,
            )
            for extractor, stratum, matching, metric, value in rows
        )
    )


def test_leaders_in_grescores_are_named_with_ties():
    rows = [
        (name, "all", "default", metric, value)
        for name, values in (("a", (0.5, 0.2)), ("b", (0.5, 0.1)), ("c", (0.4, 0.3)))
        for metric, value in zip(("ts", "us"), values, strict=True)
    ]
    answer = Evidence(gre=measured("gre-sentence-open", *rows)).answer("gre-sentence")[1]
    assert answer == "Of 3 systems, the highest scores are TS 50.0 % by a and 1 more and US 30.0 % by c."
    assert Evidence().answer("gre-bag")[1] == "This was not measured in the study."


def test_the_middle_is_told_from_three_parts_on():
    rows = [("m", str(part + 1), "", "redundancy", value) for part, value in enumerate((0.1, 0.8, 0.3))]
    told = "m repeats 0.100 of what it found in the first part and 0.300 in the last of 3, most in part 2 (0.800)."
    assert Evidence(needles=measured("parts", *rows)).answer("lost-in-the-middle")[1] == told
    assert "most" not in Evidence(needles=measured("parts", *rows[:2])).answer("lost-in-the-middle")[1]


def test_every_table_has_a_question():
    assert all(table.question.endswith("?") for table in TABLES.values())
