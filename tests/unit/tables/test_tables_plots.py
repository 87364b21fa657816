import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support.scored import Results
from tripleaudit.cli import main
from tripleaudit.errors import UserError
from tripleaudit.tables.inputs import TableInputs, load_inputs
from tripleaudit.tables.plots import plots, write_plot

OWN = ("cardinality-drop", "training-curves", "type-f1", "zcc-curves")
EVIL = "<b>$x$ & |\x07"


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


def test_all_plots_are_known() -> None:
    assert set(OWN) <= set(plots())


@pytest.mark.parametrize("name", OWN)
def test_nothing_measured_says_so(name: str, tmp_path: Path) -> None:
    write_plot(name, TableInputs(), tmp_path / "p.svg")
    assert "not measured" in text_of(tmp_path / "p.svg")


@pytest.mark.parametrize("name", OWN)
def test_plots_show_names_and_are_equal_each_time(
    name: str, results: Results, histories: list[Path], tmp_path: Path
) -> None:
    files = {"curves": results.curves, "history": histories}
    inputs = load_inputs(scores=results.scores, counts=results.counts, files=files)
    for copy in ("a.svg", "b.svg"):
        write_plot(name, inputs, tmp_path / copy)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    text = text_of(tmp_path / "a.svg")
    assert "Demo" in text
    expected = {
        "cardinality-drop": ("tested on NZ", "tested on WZ", "CasRel", "PRGC"),
        "training-curves": ("training loss", "validation F1", "CasRel"),
        "type-f1": ("Entirely seen", "Partially seen", "Unseen", "PRGC+EN"),
        "zcc-curves": ("ZCC binary, AP 0.", "Precision"),
    }
    for part in expected[name]:
        assert part in text
    if name == "type-f1":
        assert "<b>$x$ & |\ufffd" in text


def test_unknown_plot(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no plot 'pie'"):
        write_plot("pie", TableInputs(), tmp_path / "p.svg")


@pytest.mark.parametrize(
    ("name", "kind", "text", "message"),
    [
        ("zcc-curves", "curves", "{}", "not a precision-recall curve"),
        ("training-curves", "history", '{"loss": 1}\n', "line 1: expected an object with 'epoch'"),
    ],
)
def test_bad_files(name: str, kind: str, text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a/b/c/d/e/history.jsonl"
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
        "import sys, tripleaudit.cli, tripleaudit.tables.make, tripleaudit.tables.plots, tripleaudit.scoring.run;"
        "from tripleaudit.tables.builders import builders; builders();"
        "print([name for name in ('torch', 'transformers', 'matplotlib', 'pandas', 'datasets') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr
