"""Values, marks and bold type of tables over constructed scores."""

import itertools
from collections.abc import Iterable

import pandas as pd
import pytest

from support.scored import Results, told
from tripleaudit.core.files import write_json
from tripleaudit.report.overview import matrix
from tripleaudit.scoring.counts import load_counts
from tripleaudit.scoring.scores import Score, keys_of
from tripleaudit.tables.building import build_table
from tripleaudit.tables.cells import Table
from tripleaudit.tables.comparisons import compare_cells
from tripleaudit.tables.contrasts import BEYOND, contrasts
from tripleaudit.tables.grid import score_columns, strata_table
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.render import FORMS
from tripleaudit.tables.result_frames import ResultFrames, score_frame
from tripleaudit.tables.spec import TABLES
from tripleaudit.tables.study_facts import StudyFacts, training_id


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
    return TableInputs(ResultFrames(score_frame(rows)))


def test_tables_without_scores_have_all_forms():
    for table, spec in TABLES.items():
        made = build_table(table, TableInputs())
        assert all(form(made) for form in FORMS.values()), table
        assert spec.question.endswith("?")


def test_redundancy_is_shown_for_each_part(kept):
    rows = [
        score(value, "redundancy", str(part), "", protocol="parts", extractor="m")
        for part, value in enumerate((0.1, 0.8, 0.3), 1)
    ]
    kept("tables/lost-in-the-middle.md", told(build_table("lost-in-the-middle", inputs_of(rows))))


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
    inputs = inputs_of(
        score(value, width=0.02, training=training, testing=testing, extractor=extractor, seed="1")
        for (training, testing, extractor), value in values.items()
    )
    keys = {"corpus": "c", "protocol": "original", "extractor": "casrel"}
    inputs.facts.marks = {
        training_id({**keys, "training": training}): marks for training in ("nz", "wz")
    }
    return inputs


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


def test_no_step_without_two_entities_is_the_best_at_avoiding_redundancy(kept):
    of = {"protocol": "iterations", "by": ""}
    values = {"0": (0, 1.0), "1": (1, 1.0), "2": (2, 0.9), "3": (6, 0.8)}
    rows = [score(entities, "entities", step, **of) for step, (entities, _) in values.items()]
    rows += [
        score(value, "redundancy_avoidance(0.2)", step, **of) for step, (_, value) in values.items()
    ]
    kept("tables/iterations.md", told(build_table("iterations", inputs_of(rows))))


def test_triple_types_of_the_rearranged_split_where_it_alone_is_trained_on(tmp_path):
    made = Results(tmp_path)
    for noise, quality in (("none", 0.5), ("noising", 0.8)):
        made.run("casrel", quality=quality, noise=noise, protocol="rearranged")
    inputs = made.inputs()
    table = build_table("type-f1", inputs)
    assert (
        table.caption == "F1 and type F1 (%) on the rearranged test sets." and len(table.rows) == 2
    )
    made.run("casrel", quality=0.5)
    assert "original" in build_table("type-f1", made.inputs()).caption


def test_the_strata_beyond_entirely_seen_triples_are_scored_together(tmp_path):
    made = Results(tmp_path)
    made.run("casrel", quality=0.9, sentences=80)  # 20 partially seen, 20 unseen
    inputs = made.inputs()
    frame = contrasts(inputs.frames, "exact-string", names=["entirely seen to not entirely seen"])
    (pooled,) = frame.to_dict("records")
    (counted,) = (load_counts(path) for path in made.counts if path.name.startswith("webnlg"))
    correct, found, gold = counted.counts["exact-string"][1::2].sum(axis=0)
    assert pooled["stratum_second"] == BEYOND
    assert (pooled["second"], pooled["cases"]) == (pytest.approx(2 * correct / (found + gold)), 40)
    assert pooled["low"] < pooled["difference"] < pooled["high"]


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
    return build_table("training-time", TableInputs(ResultFrames(facts=StudyFacts(facts))))


def test_the_minutes_of_an_epoch_are_those_of_the_cells_and_stand_in_the_row_of_their_corpus():
    table = timed(
        ("demo", "nz", "none", 18.6), ("demo", "wz", "none", 57), ("demo", "nz", "noising", 30)
    )
    assert [cell.shown for cell in table.rows[0].cells[:2]] == ["0.31", "0.95"]
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


@pytest.fixture(
    scope="module",
    params=[
        (1, 0.62),
        pytest.param((3, 0.62), marks=pytest.mark.thorough),
        (3, 0.57),
        pytest.param((3, 0.55), marks=pytest.mark.thorough),
    ],
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


def test_a_bold_value_differs_from_every_other_one_of_its_column(inputs):
    names = [name for name, table in TABLES.items() if table.needs == "scores"]
    for table in [build_table(name, inputs) for name in names]:
        for row, rival in itertools.permutations(table.rows, 2):
            for cell, other in zip(row.cells, rival.cells, strict=True):
                if (
                    cell.bold
                    and other.of
                    and row.group == rival.group
                    and other.of["matching"] == cell.of["matching"]
                ):
                    assert (
                        cell.of["metric"] != "f1"
                        or compare_cells(inputs.frames, other.of, cell.of).shown
                    )


def test_a_column_of_counts_has_no_winner(tmp_path):
    made = Results(tmp_path)
    for name, quality in (("casrel", 0.9), ("prgc", 0.3)):
        made.run(name, quality=quality, sentences=60)
    study = made.inputs()
    f1 = score_columns(with_strata=False, only_f1=True).assign(scale=100, digits=1)
    predicted = f1.assign(column="Predicted", metric="predicted", scale=1, digits=0)
    columns = pd.concat([f1, predicted], ignore_index=True)
    table = strata_table(study, "", columns, lambda keys: None, "original")
    for row in table.rows:
        score, count = row.cells
        assert score.bold == (row.label == "CasRel")
        assert count.value == int(count.shown) > 0 and not count.bold
