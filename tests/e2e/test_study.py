"""One small study run for real, from corpus to tables, and what is rerun after a change."""

import json
import shutil

import pytest

import tripleaudit as ta
from support.latex import check_fits, needs_pdflatex
from support.shared import shared
from support.workflow import change, planned, ran, write_study
from tripleaudit.tables.render.data_forms import read_table

pytestmark = pytest.mark.slow

STATISTICS = {"triple-types", "split-sizes", "strata-sizes", "cardinality-sizes"}
RESULTS = {"type-f1", "sifted", "augmented", "end-to-end", "training-time"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory, tiny_encoder):
    """The folder of a small study that ran to its end."""

    def run(folder):
        write_study(folder, tiny_encoder)
        ran(folder)

    return shared(tmp_path_factory, "study", run)


@pytest.fixture
def copy(finished, tmp_path):
    """A copy of the finished study that a test may change, with times and Snakemake's records
    kept.
    """
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder, copy_function=shutil.copy2)
    return folder


def test_every_table_is_made_in_four_forms(finished):
    tables = finished / "results" / "small" / "tables"
    assert {path.stem for path in tables.glob("*.md")} >= STATISTICS | RESULTS
    for name in STATISTICS | RESULTS:
        for form in ("csv", "md", "tex", "html"):
            assert (tables / f"{name}.{form}").stat().st_size > 30, f"{name}.{form}"


@needs_pdflatex
def test_every_table_fits_the_page_of_a_paper(finished, tmp_path):
    tables = sorted((finished / "results" / "small" / "tables").glob("*.tex"))
    assert {path.stem for path in tables} >= STATISTICS | RESULTS
    check_fits([path.read_text(encoding="utf-8") for path in tables], tmp_path)


def test_scores_are_tidy_and_have_their_provenance(finished):
    study = finished / "results" / "small"
    header, *rows = (study / "scores.csv").read_text().splitlines()
    assert header == (
        "study,corpus,protocol,training,testing,extractor,noise,seed,stratum,matching,metric,value,low,high"
    )
    runs = {tuple(row.split(",")[2:7]) for row in rows}
    assert ("augmented", "nz", "nz", "casrel", "noising") in runs
    assert ("original", "wz", "wz", "casrel", "none") in runs
    assert ("sift-1", "nz", "nz", "casrel", "none") in runs
    record = json.loads(
        (study / "models/tiny/original-nz/casrel/none/seed1/provenance.json").read_text()
    )
    assert (record["seed"], record["device"]) == (1, "cpu")
    assert {"git", "inputs", "settings", "packages", "seconds"} <= set(record)
    assert (study / "scores.provenance.json").exists()


def test_a_changed_table_option_makes_the_tables_alone_again(copy):
    names = sorted(STATISTICS | RESULTS)
    change(
        copy, {"tables": {name: {"digits": 2} if name == "end-to-end" else None for name in names}}
    )
    assert planned(copy) == {"tables": 1, "write_report": 1, "all": 1}


def test_tables_divide_the_scores_of_stored_predictions(tmp_path):
    """Cheap: nothing is trained."""
    few = {"settings": ["nz", "wz"], "protocols": {"original": None}, "noising": None}
    by = ["overlap", "entities"]
    tables = {"type-f1": {"by": by}, "end-to-end": {"by": by}}
    half = {"half": {"predictions": ["half.jsonl"]}}
    write_study(tmp_path, tmp_path, **few, extractors={}, systems=half, tables=tables)
    change(tmp_path, {"encoder": {"model": "minilm"}})
    gold = [json.loads(line) for line in (tmp_path / "test.jsonl").read_text().splitlines()]
    for row in gold[::2]:
        row["triples"] = []
    (tmp_path / "half.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    ran(tmp_path, "--", "tables")
    study = tmp_path / "results" / "small"
    result = ta.score(
        study / "protocols/tiny/original/wz/test.jsonl",
        study / "predictions/tiny/original-nz/half/test.jsonl",
        by=by,
        bootstrap=50,
    )
    table = read_table(study / "tables" / "end-to-end.json")
    entities = table.cell("half", "Entities", column_group="Test WZ")
    assert 0 < entities.value < 100
    assert entities.value == pytest.approx(100 * result.elements["entities"].f1)
    normal = table.cell("half", "Normal", column_group="Test WZ, Overlap")
    assert normal.value == pytest.approx(100 * result.overlap["Normal"].f1)
    type_f1 = read_table(study / "tables" / "type-f1.json")
    assert {"Entities", "Normal"} <= {column.label for column in type_f1.columns}


def test_lost_predictions_and_scores_are_made_again_without_training(copy):
    run = "tiny/sift-1-nz/casrel/none/seed1"
    lost = [f"predictions/{run}/test.jsonl", f"scores/{run}/test-nz.csv", "scores.csv"]
    for name in lost:
        (copy / "results" / "small" / name).unlink()
    assert planned(copy) == {}  # no table waits for them
    assert planned(copy, "--", "results/small/scores.csv") == {
        "predict": 1,
        "score": 1,
        "merge_scores": 1,
    }


def test_a_study_of_stored_systems_fetches_no_encoder(tmp_path):
    """Nothing is trained, so that no weights are needed: what is fetched is the corpus."""
    few = {"settings": ["nz"], "protocols": {"original": None}, "noising": None, "extractors": {}}
    write_study(tmp_path, tmp_path, **few, systems={"gold": {"predictions": ["test.jsonl"]}})
    change(tmp_path, {"encoder": {"model": "minilm"}})
    started = planned(tmp_path)
    assert started["predict_system"] == 1 and not {"fetch_model", "train"} & set(started)
    change(tmp_path, {"extractors": {"casrel": None}})
    assert planned(tmp_path)["fetch_model"] == 1
