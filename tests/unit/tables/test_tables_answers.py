"""What tables answer in a sentence, and that no two statements of a study contradict each other
on the same numbers.
"""

import itertools
from collections.abc import Iterable

import pytest

from support.contradictions import contradictions, statements
from support.scored import Results, told
from tripleaudit.core.descriptors import TABLES
from tripleaudit.core.files import write_json
from tripleaudit.report.overview import matrix
from tripleaudit.scoring.counts import load_counts
from tripleaudit.scoring.scores import Score, keys_of
from tripleaudit.tables.builders.seen_triples import BEYOND
from tripleaudit.tables.building import build_table
from tripleaudit.tables.cells import Cell, Table
from tripleaudit.tables.gates import NOT_MEASURED, Pair, contrast, leader
from tripleaudit.tables.inputs import RunKey, ScoreIndex, TableInputs
from tripleaudit.tables.render import FORMS

SEEN, UNSEEN = "on seen triples", "on unseen triples"


def answer(table: str, inputs: TableInputs) -> str:
    """What the file of a table says over its values."""
    return build_table(table, inputs).answer


def pair(name: str, first: float, second: float, width: float = 2) -> Pair:
    return Pair(
        name, *(Cell(value, low=value - width, high=value + width) for value in (first, second))
    )


def score(
    value: float,
    metric: str = "f1",
    of: str = "all",
    by: str = "exact-string",
    width: float | None = None,
    **keys,
):
    """One row of a scores file, with an interval of the half width."""
    run = {"study": "s", "corpus": "c", "protocol": "original", "training": "nz", "testing": "nz"}
    bounds = () if width is None else (value - width, value + width)
    return Score(
        keys_of(run | {"extractor": "casrel", "noise": "none"} | keys),
        of,
        by,
        metric,
        value,
        *bounds,
    )


def inputs_of(rows: Iterable[Score]) -> TableInputs:
    return TableInputs(scores=ScoreIndex(rows))


def scores(*rows: tuple) -> TableInputs:
    """``(extractor, noise, stratum, value[, metric])`` rows, F1 by default, on the original nz
    test set.
    """
    keys = {"corpus": "webnlg", "seed": "1"}
    return inputs_of(
        score(value, *metric, of=stratum, width=0.02, extractor=extractor, noise=noise, **keys)
        for extractor, noise, stratum, value, *metric in rows
    )


def test_without_intervals_or_width_nothing_is_said_about_them():
    assert contrast([Pair("A", Cell(5.0), Cell(4.0))], SEEN, UNSEEN).endswith(
        "a gap of 1.0 points."
    )
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
    for table, spec in TABLES.items():
        made = build_table(table, TableInputs())
        assert made.answer in (NOT_MEASURED, "") and all(form(made) for form in FORMS.values()), (
            table
        )
        assert spec.question.endswith("?")


def gre(metric: str, *values: tuple, texts: int = 100) -> TableInputs:
    """``(system, value, half width[, coverage])`` of one GREScore at the sentence level."""
    rows = []
    for system, value, width, *coverage in values:
        of = {
            "extractor": system,
            "protocol": "gre-sentence-open",
            "training": "",
            "testing": "",
            "by": "default",
        }
        rows += [score(value, metric, width=width, **of), score(texts, "texts", **of)]
        rows.append(score(coverage[0] if coverage else 1.0, "coverage", **of))
    return inputs_of(rows)


def test_a_leader_in_grescores_is_named_where_there_is_one():
    apart = gre("ts", ("a", 0.5, 0.01), ("b", 0.4, 0.01), ("c", 0.3, 0.01))
    assert answer("gre-sentence", apart) == "Of 3 systems: TS 50.0 % by a."
    assert answer("gre-bag", TableInputs()) == NOT_MEASURED


def test_the_middle_is_distinguished_from_three_parts_on(kept):
    rows = [
        score(value, "redundancy", str(part), "", protocol="parts", extractor="m")
        for part, value in enumerate((0.1, 0.8, 0.3), 1)
    ]
    kept("tables/lost-in-the-middle.md", told(build_table("lost-in-the-middle", inputs_of(rows))))
    assert "most" not in answer("lost-in-the-middle", inputs_of(rows[:2]))


def test_a_classifier_that_says_yes_to_all_is_not_praised():
    def said(*rows: tuple) -> str:
        """``(classifier, metric, value)`` on the wz test set."""
        wz = {"training": "wz", "testing": "wz", "by": "classification"}
        return answer(
            "zcc",
            inputs_of(score(value, metric, extractor=name, **wz) for name, metric, value in rows),
        )

    rows = [("zcc-binary", "f1", 0.8), ("zcc-binary", "recall", 1.0)]
    beaten = said(*rows, ("always-yes", "f1", 0.8))
    assert (
        beaten.startswith("No classifier is better than none at all")
        and "“Always yes” has 80.0 %" in beaten
    )
    assert "No trivial baseline was measured with it." in said(*rows)
    better = said(*rows, ("always-yes", "f1", 0.6))
    assert "80.0 % (ZCC binary on c), against 60.0 % of the baseline" in better
    assert "lowest" not in better and ", the lowest 70.0 %; it" in said(
        *rows, ("zcc-mcml", "f1", 0.7)
    )


def settings(marks: str = "") -> TableInputs:
    """CasRel trained on NZ and on WZ, alone and behind a classifier, 31 points and more apart,
    all tested on WZ.
    """
    values = {
        ("nz", "nz", "casrel"): 0.8,
        ("nz", "wz", "casrel"): 0.7,
        ("wz", "wz", "casrel"): 0.39,
    }
    values |= {("wz", "nz", "casrel"): 0.4, ("nz", "wz", "zcc-binary+casrel"): 0.72}
    index = ScoreIndex(
        score(value, width=0.02, training=training, testing=testing, extractor=extractor, seed="1")
        for (training, testing, extractor), value in values.items()
    )
    index.marks = {
        RunKey("c", "original", training, "", "casrel"): marks for training in ("nz", "wz")
    }
    return TableInputs(scores=index)


def test_what_unequal_or_unfinished_trainings_differ_by_is_no_finding():
    for table in ("end-to-end", "two-step"):
        reported = answer(table, settings())
        assert " points [" in reported and "with one seed" in reported
        for mark, reason in {
            "‡": "unequal numbers",
            "†": "was still rising",
            "§": "too few evaluations",
        }.items():
            reported = answer(table, settings(mark)).rpartition("No conclusion for")[2]
            assert reason in reported
            assert "points" not in reported


def test_drops_and_gains_carry_the_marks_of_their_trainings():
    tables = {name: build_table(name, settings("†‡")) for name in ("end-to-end", "two-step")}
    assert tables["two-step"].rows[0].cells[-1].mark == "†‡"
    drop, realistic = tables["end-to-end"].rows[1].cells[-2:]
    assert (drop.mark, realistic.mark) == (
        "†",
        "†‡",
    )  # one training on two test sets has one budget
    assert any(note.startswith("‡") for note in tables["two-step"].notes)


def test_one_needle_ranks_nobody(kept):
    needles = {"protocol": "needles", "extractor": "smollm2"}
    rows = [
        Score(score(0, **needles).keys, "all", "max", "minea", 1.0, 0.21, 1.0),
        score(1, "needles", by="", **needles),
    ]
    for name in ("llm-comparison", "minea"):
        kept(f"tables/{name}-of-one-needle.md", told(build_table(name, inputs_of(rows))))


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


def test_no_step_without_two_entities_is_the_best_at_avoiding_redundancy(kept):
    of = {"protocol": "iterations", "by": ""}
    values = {"0": (0, 1.0), "1": (1, 1.0), "2": (2, 0.9), "3": (6, 0.8)}
    rows = [score(entities, "entities", step, **of) for step, (entities, _) in values.items()]
    rows += [
        score(value, "redundancy_avoidance(0.2)", step, **of) for step, (_, value) in values.items()
    ]
    kept("tables/iterations.md", told(build_table("iterations", inputs_of(rows))))


LOOKED_UP = [
    ("memorise", "none", stratum, value)
    for stratum, value in (("entirely_seen", 0.89), ("unseen", 0.0))
]


def test_unseen_triples_are_held_against_what_looking_up_finds_of_them():
    rows = [("casrel", "none", "entirely_seen", 0.82), ("casrel", "none", "unseen", 0.16)]
    noised = ("casrel", "noising", "unseen", 0.28)
    gain = "F1 on unseen triples is 16.0 % without Entity Noising and 28.0 % with it: a gain of 12.0 points"
    assert f"For CasRel+EN, {gain}" in answer("type-f1", scores(*rows, *LOOKED_UP, noised))
    assert answer("type-f1", scores(*rows, *LOOKED_UP)).startswith(
        "CasRel finds more than looking up on unseen triples: F1 is 16.0 % [14.0, 18.0], against 0.0 %. For CasRel, F1 "
        "is 82.0 % on entirely seen triples and 16.0 % on unseen triples: a gap of 66.0 points"
    )


def test_where_only_the_rearranged_split_is_trained_on_its_triple_types_are_answered(tmp_path):
    made = Results(tmp_path)
    for noise, quality in (("none", 0.5), ("noising", 0.8)):
        made.run("casrel", quality=quality, noise=noise, protocol="rearranged")
    inputs = made.inputs()
    table = build_table("type-f1", inputs)
    assert (
        table.caption == "F1 and type F1 (%) on the rearranged test sets." and len(table.rows) == 2
    )
    assert (
        "With Entity Noising, F1 on unseen triples is" in table.lead and "a gain of" in table.answer
    )
    made.run("casrel", quality=0.5)
    assert "original" in build_table("type-f1", made.inputs()).caption


def test_a_baseline_that_is_not_beaten_is_named_instead_of_a_gap():
    rows = [("casrel", "none", "entirely_seen", 0.82), ("casrel", "none", "unseen", 0.01)]
    said = answer("type-f1", scores(*rows, *LOOKED_UP))
    assert said.startswith(
        "CasRel is not shown to find more than looking up on unseen triples: F1 is 1.0 % [-1.0, 3.0], against"
    )
    assert (
        "it does not beat the baseline “Memorised triples” (89.0 % on entirely seen triples and 0.0 % on"
        in said
    )
    assert "a gap of 81.0 points" in answer("type-f1", scores(*rows))


@pytest.mark.parametrize(("known", "beaten"), [(0.5, True), (0.66, False), (0.8, False)])
def test_two_steps_are_held_against_what_looking_up_finds_on_the_same_sentences(
    tmp_path, known, beaten
):
    made = Results(tmp_path)
    for training in ("nz", "wz"):
        made.run("casrel", quality=0.62, training=training, testing="wz", zero=100)
        made.run("memorise", quality=known, training=training, testing="wz", zero=100)
    made.run("zcc-binary+casrel", quality=0.62, testing="wz", zero=100)
    said = answer("two-step", made.inputs())
    assert ("it does not beat the baseline “Memorised triples”" in said) is not beaten
    assert said.startswith(
        "For CasRel behind ZCC binary, no difference is shown between F1 trained end to end"
    )


def test_several_systems_are_counted_and_the_one_that_finds_most_is_named():
    rows = [
        (name, "none", "unseen", value)
        for name, value in (("casrel", 0.16), ("prgc", 0.3), ("pfn", 0.01))
    ]
    assert answer("type-f1", scores(*rows, *LOOKED_UP)) == (
        "2 of 3 systems find more than looking up on unseen triples, where looking up has 0.0 %; most PRGC: F1 30.0 % "
        "[28.0, 32.0]."
    )


def test_strata_with_too_few_sentences_are_taken_together(tmp_path):
    made = Results(tmp_path)
    made.run("casrel", quality=0.9, sentences=80)  # 20 partially seen, 20 unseen
    made.run("prgc", quality=0.9, sentences=80, corpus="nyt24")
    made.run("prgc", quality=0.9, sentences=160, corpus="conll04")
    inputs = made.inputs()
    said = answer("type-f1", inputs)
    assert "are taken together: alone they have 20 and 20 test sentences, and it takes 30." in said
    together, apart = said.split("For PRGC on CoNLL04", 1)  # which has enough of either
    assert "CasRel on WebNLG and PRGC on NYT24" in together or "most so for" in together
    assert (
        together.count("on partially seen and unseen triples together") and "together" not in apart
    )
    run = RunKey("webnlg", "original", "nz", "nz", "casrel")
    pooled = inputs.scores.cell(run, "f1", stratum="+".join(BEYOND), matching="exact-string")
    (counted,) = (load_counts(path) for path in made.counts if path.name.startswith("webnlg"))
    correct, found, gold = counted.counts["exact-string"][1::2].sum(axis=0)
    assert (pooled.value, pooled.cases) == (pytest.approx(200 * correct / (found + gold)), 40)
    assert pooled.low < pooled.value < pooled.high


def timed(*trainings: tuple) -> Table:
    """The table of ``(corpus, training, noise, seconds an epoch)``."""
    facts = []
    for corpus, training, noise, seconds in trainings:
        keys = {
            "corpus": corpus,
            "protocol": "original",
            "training": training,
            "extractor": "casrel",
            "noise": noise,
        }
        facts.append({"keys": keys, "seconds_per_epoch": seconds, "device": "cpu"})
    return build_table("training-time", TableInputs(runs=facts))


def test_the_minutes_of_an_epoch_are_those_of_the_cells_and_stand_in_the_row_of_their_corpus():
    table = timed(
        ("demo", "nz", "none", 18.6), ("demo", "wz", "none", 57), ("demo", "nz", "noising", 30)
    )
    assert [cell.shown for cell in table.rows[0].cells[:2]] == ["0.31", "0.95"]
    assert table.answer == "An epoch on sentences with triples takes 0.31 minutes (CasRel)."
    table = timed(("demo", "nz", "none", 180), ("conll04", "nz", "none", 3000))
    shown = {
        corpus: [cell.shown for cell in cells.values()]
        for (corpus, _), cells in matrix([table]).rows.items()
    }
    assert shown == {"Demo": ["3.00"], "CoNLL04": ["50.00"]}


def test_a_collection_is_measured_where_its_table_has_numbers(tmp_path, kept):
    counts = {
        "lines": 6,
        "empty": 2,
        "sentences": 4,
        "let_through": 4,
        "with_triples": 3,
        "triples": 6,
    }
    of = {"extractor": "casrel", "gate": "", "device": ["a CPU"], "blocks": [1], "peak_mb": 9}
    spent = {
        "seconds": {"start": 3600.0, "extract": 2.0},
        "relations": {"born in": 2, "lives in": 4},
    }
    write_json(tmp_path / "manifest.json", {"collection": "news", "counts": counts, **of, **spent})
    inputs = TableInputs(files={"collection": [tmp_path / "manifest.json"]})
    kept("tables/collection.md", told(build_table("collection", inputs)))


def test_a_system_is_named_with_its_corpus_where_the_study_has_several():
    rows = [score(0.9, corpus="webnlg"), score(0.5, corpus="webnlg", protocol="rearranged")]
    assert answer("rearranged", inputs_of(rows)).startswith("For CasRel, F1 is 90.0 %")
    both = inputs_of([*rows, score(0.8, corpus="nyt24")])  # the table has WebNLG alone
    assert answer("rearranged", both).startswith("For CasRel on WebNLG, F1 is 90.0 %")


@pytest.fixture(
    scope="module",
    params=[(1, 0.62), (3, 0.62), (3, 0.57), (3, 0.55)],
    ids="{0[0]}-seeds-{0[1]}".format,
)
def inputs(request, tmp_path_factory) -> TableInputs:
    """Studies in which noising gains much, little, hardly anything and nothing, with one and
    with three seeds.
    """
    seeds, noised = request.param
    made = Results(tmp_path_factory.mktemp("study"))
    for noise, quality in (("none", 0.55), ("noising", noised)):
        for protocol in ("original", "rearranged", "augmented"):
            less = {"original": 0, "rearranged": 0.03, "augmented": 0.06}[protocol]
            made.run(
                "casrel",
                quality=quality - less,
                noise=noise,
                protocol=protocol,
                seeds=range(1, seeds + 1),
            )
    for training, testing in (("nz", "wz"), ("wz", "nz"), ("wz", "wz")):
        zero = 100 if testing == "wz" else 0
        made.run(
            "casrel",
            quality=0.55,
            training=training,
            testing=testing,
            zero=zero,
            seeds=range(1, seeds + 1),
        )
    made.run("zcc-binary+casrel", quality=0.56, testing="wz", zero=100, seeds=range(1, seeds + 1))
    return made.inputs()


def test_studies_do_not_contradict_themselves(inputs, kept, request):
    names = [name for name, table in TABLES.items() if table.needs == "scores"]
    found = [build_table(name, inputs) for name in names]
    assert len(list(statements(found))) >= 4
    assert contradictions(found) == []
    said = [
        (table.name, table.lead, table.answer) for table in found if table.answer != NOT_MEASURED
    ]
    kept(
        f"answers/{request.node.callspec.id}.txt",
        "\n\n".join("\n".join(filter(None, one)) for one in said) + "\n",
    )
    for table in found:  # a bold value is distinguishable from every other one of its column
        for row, rival in itertools.permutations(table.rows, 2):
            for cell, other in zip(row.cells, rival.cells, strict=True):
                if (
                    cell.bold
                    and other.of
                    and row.group == rival.group
                    and other.of["matching"] == cell.of["matching"]
                ):
                    assert (
                        cell.of["metric"] != "f1" or inputs.scores.between(other.of, cell.of).shown
                    )


def test_a_contradiction_is_found():
    reported = "For A, F1 is 75.6 % on seen triples and 71.2 % on unseen triples: a gap of 4.4 points [1.2, 7.5]."
    tie = "For A, no difference is shown between F1 here and there: 75.6 % and 71.2 %, a difference of 4.4 points."
    tables = [
        Table(name, "", [], [], answer=answer) for name, answer in (("x", reported), ("y", tie))
    ]
    assert len(contradictions(tables)) == 1 and contradictions(tables[:1]) == []
