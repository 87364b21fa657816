import pytest

from support.scored import Results
from tripleaudit.descriptors import TABLES
from tripleaudit.files import write_json
from tripleaudit.report.glance import matrix
from tripleaudit.scoring.counts import load_counts
from tripleaudit.scoring.scores import Score, keys_of
from tripleaudit.tables.builders import build_table
from tripleaudit.tables.builders.seen_triples import BEYOND
from tripleaudit.tables.cells import Cell
from tripleaudit.tables.gates import NOT_MEASURED, Pair, contrast, leader
from tripleaudit.tables.inputs import RunKey, ScoreIndex, TableInputs
from tripleaudit.tables.loading import load_inputs

SEEN, UNSEEN = "on seen triples", "on unseen triples"


def answer(table: str, inputs: TableInputs) -> str:
    """What the file of a table says over its values."""
    return build_table(table, inputs).answer


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


def test_one_pair_is_told_with_its_gap_and_the_interval_of_that():
    assert contrast([pair("CasRel", 92.0, 41.0)], SEEN, UNSEEN) == (
        "For CasRel, F1 is 92.0 % on seen triples and 41.0 % on unseen triples: a gap of 51.0 points [48.2, 53.8]."
    )
    assert "a gain of 9.0 points [6.2, 11.8]" in contrast([pair("A", 50.0, 59.0)], SEEN, UNSEEN)


def test_without_intervals_nothing_is_said_about_them():
    assert contrast([Pair("A", Cell(5.0), Cell(4.0))], SEEN, UNSEEN).endswith("a gap of 1.0 points.")


def test_an_interval_without_width_is_no_evidence():
    sure = Pair("A", Cell(100.0, low=100.0, high=100.0), Cell(40.0, low=30.0, high=50.0))
    assert contrast([sure], SEEN, UNSEEN).endswith("a gap of 60.0 points.")


def test_many_pairs_are_counted_and_the_greatest_is_named():
    pairs = [pair("A", 90, 80), pair("B", 90, 40), pair("C", 60, 65), Pair("D", Cell(), Cell(1.0))]
    assert contrast(pairs, SEEN, UNSEEN).startswith(
        "F1 is lower on unseen triples than on seen triples in 2 of 3 cases (by 10.0 to 50.0 points) and higher in 1 "
        "of 3 cases (by 5.0 points); most so for B: 90.0 % on seen triples and 40.0 % on unseen triples"
    )


def test_nothing_measured_is_said():
    assert contrast([], SEEN, UNSEEN) == NOT_MEASURED
    for table in TABLES:
        assert answer(table, TableInputs()) in (NOT_MEASURED, ""), table


def test_the_answer_about_types_follows_the_scores():
    rows = [("casrel", "none", "entirely_seen", 0.9), ("casrel", "none", "unseen", 0.3)]
    told = "90.0 % on entirely seen triples and 30.0 % on unseen triples: a gap of 60.0 points"
    assert told in answer("type-f1", scores(*rows))
    changed = scores(("casrel", "none", "entirely_seen", 0.5), ("casrel", "none", "unseen", 0.5))
    assert "no difference is shown" in answer("type-f1", changed)
    noised = [*rows, ("casrel", "noising", "entirely_seen", 0.9), ("casrel", "noising", "unseen", 0.42)]
    assert (
        "For CasRel+EN, F1 on unseen triples is 30.0 % without Entity Noising and 42.0 % with it: a gain of 12.0 points"
        in answer("type-f1", scores(*noised))
    )


def test_few_sentences_are_named():
    rows = [("casrel", "none", "entirely_seen", 0.9), ("casrel", "none", "unseen", 0.3)]
    for sizes, warned in (((200, 12), True), ((200, 30), False)):
        counted = [("casrel", "none", row[2], size, "sentences") for row, size in zip(rows, sizes, strict=True)]
        told = answer("type-f1", scores(*rows, *counted))
        assert ("one side rests on 12 test sentences" in told) == warned
        assert ("a gap of 60.0 points" in told) != warned


def test_answers_obey_the_options_of_their_table():
    inputs = scores(("casrel", "none", "entirely_seen", 0.9), ("casrel", "none", "unseen", 0.1))
    assert "90.0 %" in answer("type-f1", inputs)
    inputs.options["matching"] = "partial-last"
    assert answer("type-f1", inputs) == NOT_MEASURED


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


def gre(metric: str, *values: tuple, texts: int = 100) -> TableInputs:
    """``(system, value, half width[, coverage])`` of one GREScore at the sentence level."""
    identity = {"study": "s", "corpus": "c", "protocol": "gre-sentence-open"}
    rows = []
    for system, value, width, *coverage in values:
        keys = keys_of({**identity, "extractor": system})
        rows += [
            Score(keys, "all", "default", metric, value, value - width, value + width),
            Score(keys, "all", "default", "coverage", coverage[0] if coverage else 1.0),
            Score(keys, "all", "default", "texts", texts),
        ]
    return TableInputs(scores=ScoreIndex(rows))


def test_a_leader_in_grescores_is_named_where_there_is_one():
    apart = gre("ts", ("a", 0.5, 0.01), ("b", 0.4, 0.01), ("c", 0.3, 0.01))
    assert answer("gre-sentence", apart) == "Of 3 systems: TS 50.0 % by a."
    assert answer("gre-bag", TableInputs()) == NOT_MEASURED


def test_the_middle_is_told_from_three_parts_on():
    rows = [("m", str(part + 1), "", "redundancy", value) for part, value in enumerate((0.1, 0.8, 0.3))]
    told = "m repeats 0.100 of what it found in the first part and 0.300 in the last of 3, most in part 2 (0.800)."
    assert answer("lost-in-the-middle", measured("parts", *rows)) == told
    assert "most" not in answer("lost-in-the-middle", measured("parts", *rows[:2]))


def test_every_table_has_a_question():
    assert all(table.question.endswith("?") for table in TABLES.values())


# What a review found told as findings: the values are right, the conclusions were not.


def test_a_model_that_predicts_nothing_is_no_evidence_of_generalisation():
    nothing = scores(("casrel", "none", "entirely_seen", 0.0), ("casrel", "none", "unseen", 0.0))
    assert answer("type-f1", nothing) == (
        "CasRel finds nothing right on entirely seen triples or on unseen triples, which says nothing about either: it "
        "takes more epochs, or more training sentences."
    )


def classified(*rows: tuple) -> TableInputs:
    """``(classifier, metric, value[, low])`` on the wz test set."""
    keys = {"study": "s", "corpus": "c", "protocol": "original", "training": "wz", "testing": "wz"}
    return TableInputs(
        scores=ScoreIndex(
            Score(keys_of({**keys, "extractor": name}), "all", "classification", metric, value, *low, *low)
            for name, metric, value, *low in rows
        )
    )


def test_a_classifier_that_says_yes_to_all_is_not_praised():
    rows = [("zcc-binary", "f1", 0.8), ("zcc-binary", "recall", 1.0)]
    beaten = answer("zcc", classified(*rows, ("always-yes", "f1", 0.8)))
    assert beaten.startswith("No classifier is better than none at all")
    assert "“Always yes” has 80.0 %" in beaten
    assert "No trivial baseline was measured beside it." in answer("zcc", classified(*rows))
    better = answer("zcc", classified(*rows, ("always-yes", "f1", 0.6)))
    assert "80.0 % (ZCC binary on c), against 60.0 % of the baseline" in better


def settings(marks: str = "") -> TableInputs:
    """CasRel trained on NZ and on WZ, alone and behind a classifier, 31 points and more apart, all tested on WZ."""
    values = {("nz", "nz", "casrel"): 0.8, ("nz", "wz", "casrel"): 0.7, ("wz", "wz", "casrel"): 0.39}
    values |= {("wz", "nz", "casrel"): 0.4, ("nz", "wz", "zcc-binary+casrel"): 0.72}
    rows = [
        Score(
            keys_of(
                {"study": "s", "corpus": "c", "protocol": "original", "training": training, "testing": testing}
                | {"extractor": extractor, "noise": "none", "seed": "1"}
            ),
            "all",
            "exact-string",
            "f1",
            value,
            value - 0.02,
            value + 0.02,
        )
        for (training, testing, extractor), value in values.items()
    ]
    index = ScoreIndex(rows)
    index.marks = {RunKey("c", "original", training, "", "casrel"): marks for training in ("nz", "wz")}
    return TableInputs(scores=index)


def test_what_unequal_or_unfinished_trainings_differ_by_is_no_finding():
    for table in ("end-to-end", "two-step"):
        told = answer(table, settings())
        assert " points [" in told and "with one seed" in told
        for mark, reason in {"‡": "unequal numbers", "†": "was still rising", "§": "too few evaluations"}.items():
            told = answer(table, settings(mark)).rpartition("No conclusion for")[2]
            assert reason in told
            assert "points" not in told


def test_drops_and_gains_carry_the_marks_of_their_trainings():
    tables = {name: build_table(name, settings("†‡")) for name in ("end-to-end", "two-step")}
    assert tables["two-step"].rows[0].cells[-1].mark == "†‡"
    drop, realistic = tables["end-to-end"].rows[1].cells[-2:]
    assert (drop.mark, realistic.mark) == ("†", "†‡")  # one training on two test sets has one budget
    assert any(note.startswith("‡") for note in tables["two-step"].notes)


def test_one_needle_ranks_nobody():
    keys = keys_of({"study": "s", "corpus": "c", "protocol": "needles", "extractor": "smollm2"})
    rows = [Score(keys, "all", "max", "minea", 1.0, 0.21, 1.0), Score(keys, "all", "", "needles", 1)]
    inputs = TableInputs(scores=ScoreIndex(rows))
    assert answer("llm-comparison", inputs).startswith(
        "MINEA rests on 1 case: too few to rank systems, which takes 30."
    )
    assert answer("minea", inputs).endswith(
        "smollm2 1.000 [0.210, 1.000] of 1. So few say little: a conclusion takes 30."
    )


def test_three_texts_and_ties_crown_nobody():
    tie = [(name, 0.5, 0.1) for name in "abcd"]
    few = answer("gre-sentence", gre("fs", *tie, texts=3))
    assert few == "Too few cases to rank 4 systems: the scores rest on 3 texts, and it takes 30."
    many = answer("gre-sentence", gre("fs", *tie))
    tie = "a, b, c and d are not distinguishable, which takes more cases"
    assert many == f"Of 4 systems: FS has no clear leader (up to 50.0 %; {tie})."
    assert leader([("a", Cell(0.0)), ("b", Cell(0.0))], "F1") == "F1 is 0 for all"


def test_a_system_that_answers_nothing_is_left_aside():
    failing = gre("us", ("silent", 1.0, 0.0, 0.1), ("talking", 0.6, 0.01, 0.9))
    said = answer("gre-sentence", failing)
    assert "silent" not in said.partition("Left aside")[0]
    assert said.endswith("Left aside, as they find no triple in most texts: silent.")


def test_no_step_without_entities_is_the_best_at_avoiding_redundancy():
    keys = keys_of({"study": "s", "corpus": "c", "protocol": "iterations", "extractor": "m"})
    values = {"0": (0, 1.0), "1": (4, 0.9), "2": (6, 0.8)}
    rows = [Score(keys, step, "", "entities", entities) for step, (entities, _) in values.items()]
    rows += [Score(keys, step, "", "redundancy_avoidance(0.2)", value) for step, (_, value) in values.items()]
    table = build_table("iterations", TableInputs(scores=ScoreIndex(rows)))
    cells = next(row.cells for row in table.rows if row.label.startswith("redundancy avoidance (0.2)"))
    assert [cell.bold for cell in cells[:3]] == [False, True, False]


LOOKED_UP = [("memorise", "none", stratum, value) for stratum, value in (("entirely_seen", 0.89), ("unseen", 0.0))]


def test_unseen_triples_are_held_against_what_looking_up_finds_of_them():
    rows = [("casrel", "none", "entirely_seen", 0.82), ("casrel", "none", "unseen", 0.16)]
    said = answer("type-f1", scores(*rows, *LOOKED_UP))
    assert said.startswith(
        "CasRel finds more than looking up on unseen triples: F1 is 16.0 % [14.0, 18.0], against 0.0 %. For CasRel, F1 "
        "is 82.0 % on entirely seen triples and 16.0 % on unseen triples: a gap of 66.0 points"
    )


def test_a_baseline_that_is_not_beaten_is_named_instead_of_a_gap():
    rows = [("casrel", "none", "entirely_seen", 0.82), ("casrel", "none", "unseen", 0.01)]
    said = answer("type-f1", scores(*rows, *LOOKED_UP))
    assert said.startswith("CasRel finds no more than looking up on unseen triples: F1 is 1.0 % [-1.0, 3.0], against")
    assert "it does not beat the baseline “Memorised triples” (89.0 % on entirely seen triples and 0.0 % on" in said
    assert "a gap of 81.0 points" in answer("type-f1", scores(*rows))


def test_several_systems_are_counted_and_the_one_that_finds_most_is_named():
    rows = [(name, "none", "unseen", value) for name, value in (("casrel", 0.16), ("prgc", 0.3), ("pfn", 0.01))]
    assert answer("type-f1", scores(*rows, *LOOKED_UP)) == (
        "2 of 3 systems find more than looking up on unseen triples, where looking up has 0.0 %; most PRGC: F1 30.0 % "
        "[28.0, 32.0]."
    )


def test_strata_with_too_few_sentences_are_taken_together(tmp_path):
    made = Results(tmp_path)
    made.run("casrel", quality=0.9, sentences=80)  # 20 partially seen, 20 unseen
    made.run("prgc", quality=0.9, sentences=80, corpus="nyt24")
    made.run("prgc", quality=0.9, sentences=160, corpus="conll04")
    inputs = load_inputs(scores=made.scores, counts=made.counts)
    said = answer("type-f1", inputs)
    assert "are taken together: alone they have 20 and 20 test sentences, and it takes 30." in said
    together, apart = said.split("For PRGC on CoNLL04", 1)  # which has enough of either
    assert "CasRel on WebNLG and PRGC on NYT24" in together or "most so for" in together
    assert together.count("on partially seen and unseen triples together") and "together" not in apart
    run = RunKey("webnlg", "original", "nz", "nz", "casrel")
    pooled = inputs.scores.cell(run, "f1", stratum="+".join(BEYOND), matching="exact-string")
    (counted,) = (load_counts(path) for path in made.counts if path.name.startswith("webnlg"))
    correct, found, gold = counted.counts["exact-string"][1::2].sum(axis=0)
    assert (pooled.value, pooled.cases) == (pytest.approx(200 * correct / (found + gold)), 40)
    assert pooled.low < pooled.value < pooled.high


def trained(corpus: str, seconds: float, training: str = "nz", noise: str = "none") -> dict:
    keys = {"corpus": corpus, "protocol": "original", "training": training, "extractor": "casrel", "noise": noise}
    return {"keys": keys, "seconds_per_epoch": seconds, "device": "cpu"}


def test_the_minutes_of_an_epoch_are_those_of_the_cells():
    facts = [trained("demo", 18.6), trained("demo", 57, training="wz"), trained("demo", 30, noise="noising")]
    table = build_table("training-time", TableInputs(runs=facts))
    assert [cell.shown for cell in table.rows[0].cells[:2]] == ["0.31", "0.95"]
    assert table.answer == "An epoch on sentences with triples takes 0.31 minutes (CasRel)."


def test_minutes_stand_in_the_row_of_their_own_corpus():
    def measured_on(corpus: str, protocol: str = "original") -> Score:
        keys = {"study": "s", "corpus": corpus, "protocol": protocol, "training": "nz", "testing": "nz"}
        return Score(keys_of({**keys, "extractor": "casrel", "noise": "none"}), "all", "exact-string", "f1", 0.5)

    inputs = TableInputs(scores=ScoreIndex([measured_on("webnlg"), measured_on("conll04")]))
    for seconds, shown in (
        ({"conll04": 180}, {"CoNLL04": "3.00"}),
        ({"conll04": 180, "webnlg": 3000}, {"CoNLL04": "3.00", "WebNLG": "50.00"}),
    ):
        inputs.runs = [trained(corpus, each) for corpus, each in seconds.items()]
        found = matrix([build_table(name, inputs) for name in ("type-f1", "training-time")])
        minutes = {corpus: cells.get(("training-time", "minutes")) for (corpus, _), cells in found.rows.items()}
        assert {corpus: cell.shown for corpus, cell in minutes.items() if cell} == shown


def test_a_collection_is_measured_where_its_table_has_numbers(tmp_path):
    counts = {"lines": 4, "sentences": 4, "let_through": 4, "with_triples": 3, "triples": 6}
    of = {"extractor": "casrel", "gate": "", "device": ["a CPU"], "blocks": [1], "peak_mb": 9}
    spent = {"seconds": {"start": 1.0, "extract": 2.0}, "relations": {"born in": 6}}
    write_json(tmp_path / "manifest.json", {"collection": "news", "counts": counts, **of, **spent})
    table = build_table("collection", TableInputs(files={"collection": [tmp_path / "manifest.json"]}))
    assert table.cell("All", "news").value == 6
    assert table.answer == "The extractor found — news: 6 triples in 3 of 4 sentences."


def test_a_system_is_named_with_its_corpus_where_the_study_has_several():
    def at(corpus: str, protocol: str, value: float) -> Score:
        keys = {"study": "s", "corpus": corpus, "protocol": protocol, "training": "nz", "testing": "nz"}
        return Score(keys_of({**keys, "extractor": "casrel", "noise": "none"}), "all", "exact-string", "f1", value)

    rows = [at("webnlg", "original", 0.9), at("webnlg", "rearranged", 0.5)]
    assert answer("rearranged", TableInputs(ScoreIndex(rows))).startswith("For CasRel, F1 is 90.0 %")
    both = TableInputs(ScoreIndex([*rows, at("nyt24", "original", 0.8)]))  # the table has WebNLG alone
    assert answer("rearranged", both).startswith("For CasRel on WebNLG, F1 is 90.0 %")
