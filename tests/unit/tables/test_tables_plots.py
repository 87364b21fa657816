import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support.scored import Results
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import write_jsonl
from tripleaudit.scoring.scores import Score, keys_of
from tripleaudit.tables.building import benchmarks_of
from tripleaudit.tables.inputs import TableInputs, load_inputs
from tripleaudit.tables.panels import log_ticks
from tripleaudit.tables.plots import (
    lost_in_the_middle,
    plots,
    time_memory,
    training_curves,
    write_plot,
    zcc_curves,
)
from tripleaudit.tables.result_frames import ResultFrames, score_frame
from tripleaudit.tables.study_facts import training_id

OWN = ("f1-cost", "time-memory", "training-curves", "zcc-curves")
EVIL = "<b>$x$ & |\x07"
NZ = {"study": "s", "protocol": "original", "training": "nz", "testing": "nz", "seed": 1}


def text_of(path: Path) -> str:
    return " ".join(
        "".join(node.itertext())
        for node in ElementTree.parse(path).iter()
        if node.tag.endswith("text")
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    made = Results(tmp_path_factory.mktemp("plots"))
    for extractor, quality in (("casrel", 0.5), ("prgc", 0.9)):
        for testing, zero in (("nz", 0), ("wz", 40)):
            made.run(
                extractor, quality=quality, testing=testing, zero=zero, corpus="demo", sentences=40
            )
        made.run(extractor, quality=quality, noise="noising", corpus=EVIL, sentences=40)
    made.classifier("zcc-binary", quality=0.8, corpus="demo", seeds=(1, 2))
    return made


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("models")
    paths = []
    for noise in ("none", "noising"):
        paths.append(folder / f"demo/original-nz/casrel/{noise}/seed1/history.jsonl")
        rows = [{"epoch": e / 2, "loss": 1 / e, "step": e} for e in range(1, 9)] + [
            {"epoch": 4, "f1": 0.5}
        ]
        write_jsonl(paths[-1], rows)
    return paths


@pytest.fixture(scope="module")
def predictions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Places of predictions, with benchmark files next to them: two seeds, one of which has no
    training's.
    """
    study = tmp_path_factory.mktemp("study")
    paths = []
    runs = {"original-nz/casrel/none/seed1": 120, "original-nz/casrel/none/seed2": 240}
    runs |= {"original-wz/casrel/none/seed1": None, "sift-1-nz/prgc/none/seed1": 600}
    for run, seconds in ((f"demo/{run}", seconds) for run, seconds in runs.items()):
        paths.append(study / "predictions" / run / "test.jsonl")
        for job in ("train", "predict"):
            row = {"s": seconds, "max_rss": "-" if job == "predict" else 2048}
            if seconds:
                write_jsonl(study / "benchmarks" / job / f"{run}.jsonl", [row])
    write_jsonl(
        study / "benchmarks/predict/demo/original-wz/casrel/none/seed1.jsonl",
        [{"s": 7.5, "max_rss": 1}],
    )
    return paths


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the predictions of two extractors took, and those of a system that has no scores."""
    path = tmp_path_factory.mktemp("facts") / "systems.json"
    keys = {**NZ, "corpus": "demo", "noise": "none"}
    took = {
        name: {"seconds": seconds, "sentences": 80}
        for name, seconds in (("casrel", 2.0), ("prgc", None))
    }
    path.write_text(
        json.dumps([{"keys": {**keys, "extractor": n}, "predicted": took[n]} for n in took]),
        "utf-8",
    )
    return path


@pytest.mark.parametrize("name", plots())
def test_nothing_measured_says_so(name: str, tmp_path: Path) -> None:
    write_plot(name, TableInputs(), tmp_path / "p.svg")
    assert "not measured" in text_of(tmp_path / "p.svg")


@pytest.mark.parametrize("name", OWN)
def test_plots_show_names_and_are_equal_each_time(
    name: str,
    results: Results,
    histories: list[Path],
    predictions: list[Path],
    facts: Path,
    tmp_path: Path,
) -> None:
    files = {
        "curves": results.curves,
        "history": histories,
        "benchmarks": benchmarks_of(predictions),
    }
    inputs = load_inputs(scores=results.scores, counts=results.counts, runs=[facts], files=files)
    for copy in ("a.svg", "b.svg"):
        write_plot(name, inputs, tmp_path / copy)
    for ending in ("svg", "json"):
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    text = text_of(tmp_path / "a.svg")
    assert "Demo" in text


def test_the_plot_of_f1_and_cost_has_the_f1_and_the_time_of_the_predictions(tmp_path: Path) -> None:
    perfect = Results(tmp_path, study="s")
    perfect.run("casrel", quality=1.0, false_alarms=0.0, corpus="demo", sentences=40)
    keys = {**NZ, "corpus": "demo", "extractor": "casrel", "noise": "none"}
    perfect.fact(keys=keys, predicted={"seconds": 2.0, "sentences": 40})
    write_plot("f1-cost", perfect.inputs(), tmp_path / "p.svg")
    (panel,) = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))["concat"]
    (point,) = rows_of(panel)
    assert (point["value"], point["cost"], point["cases"]) == (100, 50, 40)


def test_ticks_of_a_logarithm_lie_within_its_domain() -> None:
    """Of two decades all, of more than two the powers of ten alone."""
    for low, high, *ticks in (
        (1, 100, 1, 2, 5, 10, 20, 50, 100),
        (1, 101, 1, 10, 100),
        (0.2, 4, 0.2, 0.5, 1, 2),
    ):
        assert log_ticks(low, high) == ticks


def rows_of(panel: dict) -> list[dict]:
    return panel["data"]["values"]


def test_panels_of_one_quantity_share_their_scale(
    predictions: list[Path], histories: list[Path]
) -> None:
    study = predictions[0].parents[6]
    other = study / "benchmarks/train/other/original-nz/casrel/none/seed1.jsonl"
    write_jsonl(other, [{"s": 6000, "max_rss": 1024}])
    panels = time_memory.draw(
        load_inputs(files={"benchmarks": [*benchmarks_of(predictions), other]})
    )["concat"]
    minutes = {panel["title"]: panel for panel in panels if "minutes" in panel["title"]}
    assert list(minutes) == ["Demo: Training, minutes", "other: Training, minutes"]
    first, second = (
        panel["layer"][0]["encoding"]["x"]["scale"]["domain"] for panel in minutes.values()
    )
    assert first == second and first[1] > 100
    curves = training_curves.draw(load_inputs(files={"history": histories}))["concat"]
    assert [panel["encoding"]["x"]["scale"]["domain"] for panel in curves] == [[0, 4], [0, 4]]
    assert curves[1]["encoding"]["y"]["scale"]["domain"] == [0, 1]


@pytest.mark.parametrize(
    ("losses", "ticks"), [((0.1, 0.9), {0.1, 0.2, 0.5}), ((0.001, 900), {0.001, 0.01, 100})]
)
def test_ticks_of_the_loss_stay_apart(
    losses: tuple[float, ...], ticks: set[float], tmp_path: Path
) -> None:
    path = tmp_path / "demo/original-nz/grte/none/seed1/history.jsonl"
    write_jsonl(path, [{"epoch": at, "loss": loss} for at, loss in enumerate(losses)])
    y = training_curves.draw(load_inputs(files={"history": [path]}))["concat"][0]["encoding"]["y"]
    assert y["scale"] == {"domain": list(losses), "type": "log"}
    assert ticks <= set(y["axis"]["values"])
    assert len(y["axis"]["values"]) <= 8


def test_long_histories_and_curves_keep_their_ends_and_corners(tmp_path: Path) -> None:
    path = tmp_path / "demo/original-nz/grte/none/seed1/history.jsonl"
    write_jsonl(path, [{"epoch": at, "loss": 1 / (at + 1)} for at in range(1001)])
    rows = rows_of(training_curves.draw(load_inputs(files={"history": [path]}))["concat"][0])
    assert [rows[0]["epoch"], rows[-1]["epoch"]] == [0, 1000]
    assert 100 < len(rows) < 250
    points = [{"recall": at / 100, "precision": 1.0} for at in range(50)]
    points += [
        {"recall": 0.5, "precision": 0.9},
        {"recall": 0.6, "precision": 0.8},
        {"recall": 1.0, "precision": 0.5},
    ]
    curve = {
        "keys": {"corpus": "demo", "extractor": "zcc-binary"},
        "points": points,
        "average_precision": 0.9,
    }
    curve["operating_point"] = points[-2]
    (tmp_path / "curve.json").write_text(json.dumps(curve))
    line, mark = zcc_curves.draw(load_inputs(files={"curves": [tmp_path / "curve.json"]}))[
        "concat"
    ][0]["layer"]
    drawn = [(one["recall"], one["precision"]) for one in rows_of(line)]
    assert drawn == [(0.0, 1.0), (0.49, 1.0), (0.5, 0.9), (0.6, 0.8), (1.0, 0.5)]
    assert [(one["recall"], one["precision"]) for one in rows_of(mark)] == [(0.6, 0.8)]


def test_values_of_unfinished_trainings_are_marked(results: Results) -> None:
    late = results.inputs()
    classifier = {
        "corpus": "demo", "protocol": "original", "training": "wz", "extractor": "zcc-binary",
    }  # fmt: skip
    late.facts.marks = {training_id(classifier): "†"}
    late.files = {"curves": results.curves}
    assert "ZCC binary†, AP" in json.dumps(zcc_curves.draw(late), ensure_ascii=False)


def test_documents_in_few_parts_and_in_many_share_their_positions() -> None:
    run = keys_of({"study": "s", "corpus": "c", "protocol": "parts", "extractor": "m"})
    scores = [
        Score(run, str(part), "", "redundancy", value)
        for part, value in enumerate((0.1, 0.8, 0.3), 1)
    ]
    (panel,) = lost_in_the_middle.draw(TableInputs(ResultFrames(score_frame(scores))))["concat"]
    mine = list(rows_of(panel))
    assert [(row["position"], row["value"]) for row in mine] == [
        (0.1667, 0.1),
        (0.5, 0.8),
        (0.8333, 0.3),
    ]
    assert [row["part"] for row in mine] == ["1 of 3", "2 of 3", "3 of 3"]
    assert {row["series"] for row in mine} == {"m"}


def test_unknown_plot(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="test.jsonl: expected a study's predictions"):
        benchmarks_of(["seed1/test.jsonl"])
    with pytest.raises(UserError, match="there is no plot 'pie'"):
        write_plot("pie", TableInputs(), tmp_path / "p.svg")
    with pytest.raises(UserError, match="expected a file that ends in .svg"):
        write_plot("f1-cost", TableInputs(), tmp_path / "p.png")


@pytest.mark.parametrize(
    ("name", "kind", "text", "message"),
    [
        ("zcc-curves", "curves", "{}", "not a precision-recall curve"),
        ("training-curves", "history", '{"loss": 1}\n', "line 1: expected an object with 'epoch'"),
    ],
)
def test_bad_files(name: str, kind: str, text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a/b/original-nz/d/e/history.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        write_plot(name, load_inputs(files={kind: [path]}), tmp_path / "p.svg")


def test_the_command_of_the_workflow_draws_all_plots_into_a_folder(tmp_path: Path) -> None:
    results = Results(tmp_path / "study")
    results.classifier("zcc-binary", quality=1.0, corpus="demo")
    curves = [str(path) for path in results.curves]
    plots = '{"zcc-curves": {}, "time-memory": {}}'
    arguments = ["plots", "--plots", plots, "--curves", *curves, "--out", str(tmp_path)]
    assert main(arguments) == 0
    assert "ZCC binary, AP" in text_of(tmp_path / "zcc-curves.svg")
    assert "not measured" in text_of(tmp_path / "time-memory.svg")
    (panel,) = json.loads((tmp_path / "zcc-curves.json").read_text(encoding="utf-8"))["concat"]
    assert rows_of(panel["layer"][0])
