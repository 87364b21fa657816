"""Data frames of plugins as tables of five forms."""

import csv

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
