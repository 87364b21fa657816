"""Data frames of plugins as tables of five forms."""

import csv

import numpy as np
import pandas as pd
import pytest

from support.scored import Results
from tripleaudit.core.errors import UserError
from tripleaudit.tables import building, of_frame
from tripleaudit.tables.building import ResultFiles, build_table, make_tables
from tripleaudit.tables.render import FORMS, to_markdown
from tripleaudit.tables.spec import TABLES, TableSpec


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    results = Results(tmp_path_factory.mktemp("results"))
    results.run("casrel", quality=0.7, sentences=40, seeds=(1, 2))
    return results


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch):
    """Return a function that registers the builder of a plugin table and returns its name."""

    def add(build) -> str:
        spec = TableSpec(name="density", build=build, question="How dense?")
        monkeypatch.setattr(building, "TABLES", {**TABLES, spec.name: spec})
        return spec.name

    return add


def test_labels_of_two_levels_are_groups_and_values_numbers_texts_or_gaps() -> None:
    index = pd.MultiIndex.from_tuples([("Demo", "a|b"), ("Demo", "c")], names=["Corpus", "System"])
    frame = pd.DataFrame({"F1": [0.25, None], "Why": ["fine", ""]}, index=index)
    low = pd.DataFrame({"F1": [0.125, None], "Why": [None, None]})
    high = pd.DataFrame({"F1": [0.5, None], "Why": [None, None]})
    table = of_frame(frame, "Caption.", ["–: not measured."], digits=2, low=low, high=high)
    assert to_markdown(table).splitlines() == [
        "**Caption.**",
        "",
        "| Corpus | System | F1 | Why |",
        "| :--- | :--- | ---: | ---: |",
        "| Demo | a&#124;b | 0.25<br>[0.12, 0.50] | fine |",
        "|  | c | – |  |",
        "",
        "- –: not measured.",
    ]
    assert all(render(table) for render in FORMS.values())


MISSING_AND_ODD = pd.DataFrame(
    {
        "Cases": pd.array([3, None], dtype="Int64"),
        "Word": pd.array(["x", None], dtype="string"),
        "Day": [pd.Timestamp("2020-01-01"), pd.NaT],
        "Is": [True, "no"],
        "Ratio": [float("inf"), np.float32(0.5)],
    }
)


def test_missing_values_of_every_type_are_gaps_and_flags_are_words() -> None:
    seeds = pd.DataFrame(np.full(MISSING_AND_ODD.shape, 2)).astype("Int64")
    table = of_frame(MISSING_AND_ODD, "Caption.", digits=0, seeds=seeds)
    shown = [[cell.text or cell.shown or "–" for cell in row.cells] for row in table.rows]
    assert shown == [
        ["3", "x", "2020-01-01 00:00:00", "True", "inf"],
        ["–", "–", "–", "no", "0"],
    ]
    assert all(render(table) for render in FORMS.values())


def test_every_level_of_a_label_is_shown() -> None:
    index = pd.MultiIndex.from_tuples(
        [("Demo", "nz", "CasRel"), ("Demo", "wz", "CasRel")], names=["Corpus", "Training", "System"]
    )
    columns = pd.MultiIndex.from_tuples([("F1",), (float("nan"),)])
    table = of_frame(pd.DataFrame([[1, 2], [3, 4]], index=index, columns=columns), "Caption.")
    assert (table.group_header, table.row_header) == ("Corpus", "Training, System")
    assert [(row.group, row.label) for row in table.rows] == [
        ("Demo", "nz, CasRel"),
        ("Demo", "wz, CasRel"),
    ]
    assert [(column.group, column.label) for column in table.columns] == [("", "F1"), ("", "–")]


@pytest.mark.parametrize(
    ("frame", "attributes", "message"),
    [
        (pd.Series([1.0]), {}, "expected a DataFrame, got Series"),
        (pd.DataFrame([1.0]), {"colour": "red"}, "unknown attribute 'colour'"),
        (pd.DataFrame([1.0]), {"low": pd.DataFrame([[0, 1]])}, r"low has the shape \(1, 2\)"),
        (pd.DataFrame([1.0]), {"low": pd.Series([0])}, "low is a Series"),
        (pd.DataFrame([1.0]), {"low": [0]}, "low is a list"),
    ],
)
def test_what_does_not_fit_the_table_is_refused(frame, attributes, message) -> None:
    with pytest.raises(UserError, match=f"^of_frame: {message}"):
        of_frame(frame, "Caption.", **attributes)


def test_a_frame_without_rows_is_a_table() -> None:
    assert to_markdown(of_frame(pd.DataFrame({"F1": []}), "Nothing."))


def test_a_builder_reads_cells_and_counts_as_frames(results, register, tmp_path) -> None:
    def by_gold_triples(study):
        counts = study.counts.query("matching == 'exact-string'")
        sums = counts.groupby(["extractor", "gold"], observed=True)[["correct", "predicted"]].sum()
        return sums.unstack("gold")

    name = register(by_gold_triples)
    files = ResultFiles(scores=results.scores, counts=results.counts)
    make_tables(files, {name: {"caption": "By gold triples."}}, tmp_path)
    with (tmp_path / "density.csv").open(encoding="utf-8") as stream:
        cells = list(csv.DictReader(stream))
    assert [(cell["column_group"], cell["column"]) for cell in cells] == [
        ("correct", "1"),
        ("predicted", "1"),
    ]
    inputs = results.inputs()
    overall = inputs.cells.query("metric == 'recall' and stratum == 'all'")
    recall = overall.query("matching == 'exact-string'")["mean"].item()
    assert float(cells[0]["value"]) == pytest.approx(recall * 80)  # 40 sentences, two seeds
    assert "By gold triples." in (tmp_path / "density.md").read_text(encoding="utf-8")


def test_tables_that_fail_are_named_and_the_others_are_written(results, register, tmp_path) -> None:
    name = register(lambda study: {}["missing"])
    files = ResultFiles(scores=results.scores, counts=results.counts)
    with pytest.raises(UserError, match="^table density: KeyError: 'missing'$"):
        make_tables(files, {name: {}, "type-f1": {}}, tmp_path)
    assert (tmp_path / "type-f1.html").is_file()
    with pytest.raises(UserError, match="its builder returned int"):
        build_table(register(lambda study: 3), results.inputs())
