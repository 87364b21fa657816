"""The rules of plots and report on a finished study: no training, every input written
beforehand.
"""

from pathlib import Path

import pytest

from support.report_study import EVIL, TABLES, write_finished_study
from support.workflow import DEMO_FILES, configure, planned, ran
from tripleaudit.core.files import write_jsonl

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("report")]
RULES = ("--allowed-rules", "plots", "write_report", "report", "--rerun-triggers", "mtime")


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    write_finished_study(folder / "results" / "small", plots=False)
    benchmark = folder / "results/small/benchmarks/train/demo/original-nz/casrel/none/seed1.jsonl"
    write_jsonl(benchmark, [{"s": 90.0, "max_rss": 512.0}])
    (folder / "results/small/systems.json").write_text("[]", encoding="utf-8")
    (folder / "encoder").mkdir()
    (folder / "encoder" / "config.json").write_text("{}", encoding="utf-8")
    config = {
        "study": "small",
        "description": EVIL,
        "encoder": {"model": str(folder / "encoder")},
        "gpu": 0,
    }
    config |= {
        "corpora": {"demo": {"format": "jsonl", "files": DEMO_FILES}},
        "protocols": {"original": None},
    }
    config |= {"settings": ["nz", "wz"], "noising": {"probability": 0.5}, "training": {"epochs": 1}}
    config |= {"extractors": {"casrel": {}}, "baselines": [], "tables": dict.fromkeys(TABLES)}
    configure(folder, config)
    return folder


def test_report_and_plots_follow_from_a_finished_study(study):
    ran(study, *RULES, "--", "report")
    for ending in ("svg", "json"):
        plots = {path.stem for path in (study / "results/small/plots").glob(f"*.{ending}")}
        assert plots == {"f1-cost", "training-curves", "time-memory"}
    text = (study / "results/small/report.html").read_text(encoding="utf-8")
    assert (
        text.count("<figure") == 4
    )  # the first screen's, and those that are not drawn from their tables
    assert (
        "Training, minutes" in text
    )  # the benchmark file of one run is there, the others' are missing
    assert EVIL not in text
    assert "snakemake --cores 2 results/small/tables/type-f1.md --configfile study.yaml" in text
    assert "CasRel+EN (trained on NZ)" in text

    captioned = study / "captions.html"
    ran(study, "--report", str(captioned), *RULES, "--", "report")
    shown = captioned.read_text(encoding="utf-8")
    assert "every test sentence with what was found" in shown  # of the report


def test_a_study_that_can_fill_no_table_asks_for_no_report(tmp_path):
    (tmp_path / "study.yaml").write_text("study: small\ngpu: 0\n", encoding="utf-8")
    assert "write_report" not in planned(tmp_path)
