"""The benchmarks: sentences, one small measurement, files with goals.

That for GPUs runs on this machine's processor with CUDA made up: nothing of it may fail where it
counts.
"""

import csv
import dataclasses

import pytest
import torch

from benchmarks import __main__ as main_module
from benchmarks import bench_gpu
from benchmarks.__main__ import missed, parsed, parts_at_hand, write
from benchmarks.bench_operators import device_formulation
from benchmarks.speed import (
    LEARNING_RATES,
    Measurement,
    Task,
    measure,
    renamed,
    settings_of,
    synthetic_sentences,
)
from support.captured import Replayed, ReplayedStep, pretend
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.extractors.registry import extractor_class, extractor_names
from tripleaudit.testing import build_extractor

pytestmark = pytest.mark.thorough


def test_synthetic_sentences_are_shaped_like_webnlg(tiny_encoder):
    sentences = synthetic_sentences(build_extractor(CasRel, tiny_encoder), 300)
    words = sum(len(each.text.split()) for each in sentences) / 300
    triples = sum(len(each.triples) for each in sentences) / 300
    assert 18 < words < 28
    assert 2 < triples < 3
    for each in sentences:
        for triple in each.triples:
            assert each.text[triple.subject.start : triple.subject.end] == triple.subject.text
            assert (
                triple.subject.end < triple.object.start or triple.object.end < triple.subject.start
            )
    names = {
        triple.relation for each in renamed(sentences, ["a", "b", "c"]) for triple in each.triples
    }
    assert names == {"a", "b", "c"}


def test_measurement_of_both_phases(tiny_encoder):
    shape = {"rounds": 2, "warm_up": 1, "threads": 1, "gpu": False, "goals": (0.0, 9e9)}
    rows = measure(Task("casrel", 5, str(tiny_encoder), None, 3, 4, 2, **shape))
    assert [(row.phase, row.batch) for row in rows] == [("train", 3), ("predict", 4)]
    for row in rows:
        assert 0 < row.ratio_low <= row.ratio <= row.ratio_high
        assert row.sentences_per_second > 0
        assert row.peak_mb > 50
    assert rows[1].gold > 1
    assert sum(share for _, share in rows[0].shares) == pytest.approx(1)
    assert {"matrix products", "optimiser"} < {kind for kind, _ in rows[0].shares}
    assert rows[0].calls > 100
    assert not rows[1].shares


@pytest.mark.parametrize("name", extractor_names())
def test_steps_have_the_official_optimiser_and_clipping(name):
    settings, official = (
        settings_of(extractor_class(name)),
        extractor_class(name).settings.training_defaults,
    )
    assert (settings.encoder_learning_rate, settings.head_learning_rate) == LEARNING_RATES
    for key in ("optimizer", "clip", "clip_norm"):
        assert getattr(settings, key) == official.get(key, getattr(settings, key))


def test_files_name_goals_and_what_misses_them(tmp_path):
    row = Measurement("birte", 216, "train", 6, 1.5, 1.4, 1.6, 20.0, 900.0)
    shares = (("optimiser", 0.5), ("matrix products", 0.3), ("b", 0.1), ("c", 0.1))
    row = dataclasses.replace(row, shares=shares, calls=7)
    rows = [
        row,
        dataclasses.replace(row, phase="predict", ratio=1.2),
        dataclasses.replace(row, ratio=1.0, peak_mb=2e3),
    ]
    assert missed(rows, gpu=False) == [
        "missed: birte, train, 216 relations: 1.5 times the encoder, goal 1.4; the encoder's own time is 67% of it; by "
        "operators: optimiser 50%, matrix products 30%, b 10% (7 operator calls for a batch)",
        "missed: birte, train, 216 relations: peak 2000 MB, goal 1600",
    ]
    write(rows, parsed(["--out", str(tmp_path)]), gpu=False)
    with open(tmp_path / "extractors.csv", newline="") as file:
        written = list(csv.DictReader(file))
    columns = (
        "extractor relations phase batch ratio ratio_low ratio_high sentences_per_second peak_mb"
    )
    assert " ".join(written[0]) == columns
    table = [
        line
        for line in (tmp_path / "extractors.md").read_text().splitlines()
        if line.startswith("| birte")
    ]
    assert [line.split(" | ")[7] for line in table] == ["no", "yes", "no"]
    assert (
        "- missed: birte, train, 216 relations: peak 2000 MB"
        in (tmp_path / "extractors.md").read_text()
    )


def test_parts_run_on_their_own_and_failures_show(monkeypatch, capsys):
    assert {"extractors", "endpoint", "protocols"} <= set(parts_at_hand())
    monkeypatch.setattr(main_module, "holds", lambda part: print(part) or part != "endpoint")
    assert main_module.main(["--only", "protocols", "--out", "folder"]) == 0
    assert capsys.readouterr().out == "protocols\nresults: folder\n"
    assert main_module.main(["--only", "protocols", "endpoint", "--out", "folder"]) == 1
    output = capsys.readouterr()
    assert output.out == "protocols\nendpoint\nresults: folder\n"
    assert output.err == "failed: endpoint\n"


@pytest.mark.parametrize(
    "options", [["--batches", "0"], ["--extractor", "nothing"], ["--only", "nothing"]]
)
def test_bad_options(options):
    with pytest.raises(SystemExit):
        parsed(options)


MADE_UP = {
    "is_available": lambda: True,
    "get_device_name": lambda: "no GPU at all",
    "reset_peak_memory_stats": lambda: None,
    "max_memory_allocated": lambda: 5e6,
    "set_sync_debug_mode": lambda mode: None,
    "empty_cache": lambda: None,
    "CUDAGraph": Replayed,
}


@pytest.fixture
def bench(tiny_encoder, tmp_path, monkeypatch):
    """Runs the benchmark with these options and returns its rows; no data, little of everything."""
    pretend(monkeypatch)
    for name, value in MADE_UP.items():
        monkeypatch.setattr(torch.cuda, name, value)
    for name, value in {"DEVICE": torch.device("cpu"), "CapturedStep": ReplayedStep, "RELATIONS": 5, "ROUNDS": 1,
                        "STEPS": 20, "LAST": 10, "BATCHES": 4, "speed_data": lambda: None}.items():  # fmt: skip
        monkeypatch.setattr(bench_gpu, name, value)
    monkeypatch.setattr(
        bench_gpu, "profiled", lambda function, batches: (0.5, 7, ["1 µs, 7 times: kernel"])
    )
    monkeypatch.setattr(bench_gpu.speed, "SENTENCES", 30)
    monkeypatch.setattr(bench_gpu.speed.synthetic_sentences, "__defaults__", (30,))
    monkeypatch.setenv("TRIPLEAUDIT_BENCH_ENCODER", str(tiny_encoder))

    def run(*options: str) -> tuple[int, list[dict[str, str]]]:
        with device_formulation():
            status = bench_gpu.main([*options, "--out", str(tmp_path)])
        with open(tmp_path / "gpu.csv", newline="") as file:
            return status, list(csv.DictReader(file))

    return run


def test_all_extractors_are_measured():
    assert set(bench_gpu.NAMES) == {*extractor_names(), "zcc-binary"}


@pytest.mark.parametrize("name", ["unirel", "zcc-binary"])
def test_every_column_is_filled(bench, tmp_path, name):
    """Of an extractor and of a classifier."""
    status, (row,) = bench("--extractor", name, "--sizes", "0")
    assert (status, row["fault"]) == (0, "")
    assert row["equal"] == "bit by bit"
    columns = [
        "step_ms",
        "encoder_ms",
        "eager_ms",
        "loop_ms",
        "tight_ms",
        "capture_ms",
        "peak_mb",
        "kernels",
        "busy",
    ]
    columns += ["predict_ms", "forward_ms"] if name != "zcc-binary" else []
    assert all(float(row[column]) > 0 for column in columns)
    (line,) = [
        line
        for line in (tmp_path / "gpu.md").read_text().splitlines()
        if line.startswith(f"| {name}")
    ]
    assert line.split(" | ")[6] == str(bench_gpu.TRAIN_GOALS[name] or "")
    assert "kernel" in (tmp_path / "gpu-kernels.txt").read_text()


def test_what_fails_keeps_the_others_and_what_was_measured(bench, monkeypatch, capsys):
    row, loop = bench_gpu.Bench.row, bench_gpu.loop_milliseconds

    def fails(self, size):
        assert self.name != "tdeer"  # an error without a word
        return row(self, size)

    def no_loop(own, size):
        return loop(own, size) if own.name == "zcc-binary" else 1 / 0

    monkeypatch.setattr(bench_gpu.Bench, "row", fails)
    monkeypatch.setattr(bench_gpu, "loop_milliseconds", no_loop)
    status, rows = bench("--extractor", "tdeer", "casrel", "zcc-binary", "--sizes", "0")
    assert status == 1
    faults = [
        (each["extractor"], each["fault"].split(":")[0], float(each["step_ms"]) > 0)
        for each in rows
    ]
    assert faults[:1] == [("tdeer", "AssertionError", False)]
    assert faults[1:] == [("casrel", "ZeroDivisionError", True), ("zcc-binary", "", True)]


def test_nothing_begins_that_may_not_end_in_time(bench, monkeypatch):
    """Each measurement takes 100 seconds, of which 250 hold two; the others are named as such,
    and are no failure.
    """
    clock = iter(range(0, 10**6, 50))
    monkeypatch.setattr(
        bench_gpu, "measured", lambda name, *_: (bench_gpu.Row(name, 6, "bf16", step_ms=1.0), [])
    )
    monkeypatch.setattr(bench_gpu.time, "monotonic", lambda: next(clock))
    status, rows = bench(
        "--extractor", "casrel", "prgc", "grte", "--sizes", "6", "--seconds", "150"
    )
    faults = {"casrel": "", "prgc": bench_gpu.NO_TIME, "grte": bench_gpu.NO_TIME}
    assert {each["extractor"]: each["fault"] for each in rows} == faults
    assert status == 0
