import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support.scored import Results
from tripleaudit.cli import main
from tripleaudit.errors import UserError
from tripleaudit.files import write_jsonl
from tripleaudit.scoring.scores import Score, keys_of, write_scores
from tripleaudit.tables.evidence import TableInputs, load_inputs
from tripleaudit.tables.plots import cardinality_drop, plots, time_memory, training_curves, type_f1, write_plot
from tripleaudit.tables.plots.time_memory import benchmarks_of

OWN = ("cardinality-drop", "gre-scores", "time-memory", "training-curves", "type-f1", "zcc-curves")
EVIL = "<b>$x$ & |\x07"
NZ = {"study": "s", "protocol": "original", "training": "nz", "testing": "nz", "seed": 1}


def text_of(path: Path) -> str:
    return " ".join("".join(node.itertext()) for node in ElementTree.parse(path).iter() if node.tag.endswith("text"))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    made = Results(tmp_path_factory.mktemp("plots"))
    for extractor, quality in (("casrel", 0.5), ("prgc", 0.9)):
        for testing, zero in (("nz", 0), ("wz", 40)):
            made.run(extractor, quality=quality, testing=testing, zero=zero, corpus="demo", sentences=40)
        made.run(extractor, quality=quality, noise="noising", corpus=EVIL, sentences=40)
    made.classifier("zcc-binary", quality=0.8, corpus="demo", seeds=(1, 2))
    return made


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("models")
    paths = []
    for noise in ("none", "noising"):
        path = folder / f"demo/original-nz/casrel/{noise}/seed1/history.jsonl"
        path.parent.mkdir(parents=True)
        rows = [{"epoch": e / 2, "loss": 1 / e, "step": e} for e in range(1, 9)] + [{"epoch": 4, "f1": 0.5}]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        paths.append(path)
    return paths


@pytest.fixture(scope="module")
def gre(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """GREScores of the ground truth, of a published system beside its reported values, and of an own one."""
    rows = []
    for protocol, system, value in (("gold", "groundtruth", 0.9), ("open", "gpt-4", 0.7), ("open", EVIL, 0.4)):
        keys = keys_of({"study": "s", "corpus": "cdr", "protocol": f"gre-document-{protocol}", "extractor": system})
        rows += [
            Score(keys, "all", "official", metric, value, value - 0.1, value + 0.1)
            for metric in ("ts", "us", "fs", "gs", "cs")
        ]
    path = tmp_path_factory.mktemp("gre") / "scores.csv"
    write_scores(path, rows)
    return path


@pytest.fixture(scope="module")
def predictions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Places of predictions, with benchmark files beside them: two seeds, one of which has no training's."""
    study = tmp_path_factory.mktemp("study")
    paths = []
    for run, seconds in (
        ("demo/original-nz/casrel/none/seed1", 120),
        ("demo/original-nz/casrel/none/seed2", 240),
        ("demo/original-wz/casrel/none/seed1", None),
        ("demo/sift-1-nz/prgc/none/seed1", 600),
    ):
        paths.append(study / "predictions" / run / "test.jsonl")
        for job in ("train", "predict"):
            row = {"s": seconds, "max_rss": "-" if job == "predict" else 2048}
            if seconds:
                write_jsonl(study / "benchmarks" / job / f"{run}.jsonl", [row])
    write_jsonl(study / "benchmarks/predict/demo/original-wz/casrel/none/seed1.jsonl", [{"s": 7.5, "max_rss": 1}])
    return paths


def test_all_plots_are_known() -> None:
    assert set(OWN) <= set(plots())


@pytest.mark.parametrize("name", OWN)
def test_nothing_measured_says_so(name: str, tmp_path: Path) -> None:
    write_plot(name, TableInputs(), tmp_path / "p.svg")
    assert "not measured" in text_of(tmp_path / "p.svg")


@pytest.mark.parametrize("name", OWN)
def test_plots_show_names_and_are_equal_each_time(
    name: str, results: Results, histories: list[Path], gre: Path, predictions: list[Path], tmp_path: Path
) -> None:
    files = {"curves": results.curves, "history": histories, "benchmarks": benchmarks_of(predictions)}
    scores, counts = ([gre], ()) if name == "gre-scores" else (results.scores, results.counts)
    inputs = load_inputs(scores=scores, counts=counts, files=files)
    for copy in ("a.svg", "b.svg"):
        write_plot(name, inputs, tmp_path / copy)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    text = text_of(tmp_path / "a.svg")
    assert ("CDR" if name == "gre-scores" else "Demo") in text
    expected = {
        "gre-scores": (
            "Topical similarity",
            "Completeness",
            "Ground truth",
            "GPT-4",
            "reported in the paper",
            "<b>$x$",
        ),
        # the mean of two and four minutes; predictions of WZ; the memory of both
        "time-memory": ("CasRel", "trained on NZ", "trained on WZ", "3", "7.5", "2"),
        "cardinality-drop": ("tested on NZ", "tested on WZ", "CasRel", "PRGC"),
        "training-curves": ("training loss", "validation F1", "CasRel"),
        "type-f1": ("Entirely seen", "Partially seen", "Unseen", "PRGC+EN"),
        "zcc-curves": ("ZCC binary, AP 0.", "Precision"),
    }
    for part in expected[name]:
        assert part in text
    if name == "type-f1":
        assert "<b>$x$ & |\ufffd" in text


def test_time_and_memory_are_those_of_the_benchmarks(predictions: list[Path]) -> None:
    panels = time_memory.draw(load_inputs(files={"benchmarks": benchmarks_of(predictions)})).axes
    widths = [[round(bar.get_width(), 6) for bar in panel.patches] for panel in panels]
    assert widths == [[3.0], [180.0, 7.5], [2.0]]


@pytest.mark.parametrize(("losses", "ticks"), [((0.1, 0.9), {0.1, 0.2, 0.5}), ((0.001, 900), {0.001, 0.01, 100})])
def test_ticks_of_the_loss_stay_apart(losses: tuple[float, ...], ticks: set[float], tmp_path: Path) -> None:
    path = tmp_path / "demo/original-nz/grte/none/seed1/history.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps({"epoch": at, "loss": loss}) + "\n" for at, loss in enumerate(losses)), "utf-8")
    axis = training_curves.draw(load_inputs(files={"history": [path]})).axes[0]
    low, high = axis.get_ylim()
    shown = {float(f"{tick:g}") for tick in axis.get_yticks() if low <= tick <= high}
    assert ticks <= shown
    assert len(shown) <= 8


def test_many_systems_stand_below_one_another(tmp_path: Path) -> None:
    scores = [
        Score(
            keys_of({**NZ, "corpus": "demo", "extractor": name, "noise": noise}),
            stratum,
            "exact-string",
            "f1",
            0.5,
            0.4,
            0.6,
        )
        for name in ("casrel", "prgc", "onerel", "pfn")
        for noise in ("none", "noising")
        for stratum in ("entirely_seen", "partially_seen", "unseen")
    ]
    write_scores(tmp_path / "s.csv", scores)
    panels = type_f1.draw(load_inputs(scores=[tmp_path / "s.csv"])).axes
    assert [panel.get_title() for panel in panels] == ["Demo: Entirely seen", "Partially seen", "Unseen"]
    assert [len(panel.lines) for panel in panels] == [8, 8, 8]
    names = [label.get_text() for label in panels[0].get_yticklabels()]
    assert names[:2] == ["CasRel", "CasRel+EN"] and len(names) == 8


def test_intervals_of_two_test_sets_stay_apart(results: Results) -> None:
    drawn = cardinality_drop.draw(load_inputs(scores=results.scores, counts=results.counts))
    heights = [line.get_ydata()[0] for line in drawn.axes[0].lines if line.get_marker() in ("o", "s")]
    assert len(heights) == len(set(heights)) == 4


def test_unknown_plot(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no plot 'pie'"):
        write_plot("pie", TableInputs(), tmp_path / "p.svg")


@pytest.mark.parametrize(
    ("name", "kind", "text", "message"),
    [
        ("zcc-curves", "curves", "{}", "not a precision-recall curve"),
        ("time-memory", "benchmarks", '{"loss": 1}\n', "line 1: not a benchmark"),
        ("training-curves", "history", '{"loss": 1}\n', "line 1: expected an object with 'epoch'"),
    ],
)
def test_bad_files(name: str, kind: str, text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a/b/original-nz/d/e/history.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        write_plot(name, load_inputs(files={kind: [path]}), tmp_path / "p.svg")


def test_command(results: Results, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    out = str(tmp_path / "p.svg")
    scores = [str(path) for path in results.scores]
    assert main(["plots", "type-f1", "--scores", *scores, "--out", out]) == 0
    assert capsys.readouterr().out.strip() == out
    assert "CasRel" in text_of(Path(out))
    assert main(["plots", "type-f1", "--file", "curves", "--out", out]) == 1
    assert "--file curves: expected KIND=FILE" in capsys.readouterr().err


def test_tables_and_scores_import_nothing_heavy() -> None:
    code = (
        "import sys, tripleaudit.cli, tripleaudit.tables.builders, tripleaudit.tables.plots, tripleaudit.scoring.rows;"
        "from tripleaudit.descriptors import TABLES; list(TABLES);"
        "print([name for name in ('torch', 'transformers', 'matplotlib', 'pandas', 'datasets') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr
