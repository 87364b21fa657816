"""The benchmark for GPUs, run on this machine's processor with CUDA made up: nothing of it may fail where it counts."""

import csv

import pytest
import torch

from benchmarks import bench_gpu
from benchmarks.bench_operators import device_formulation
from support.captured import Replayed, ReplayedStep, pretend
from tripleaudit.extractors.registry import extractor_names

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
    monkeypatch.setattr(bench_gpu, "profiled", lambda function, batches: (0.5, 7, ["1 µs, 7 times: kernel"]))
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
    columns = ["step_ms", "encoder_ms", "eager_ms", "loop_ms", "tight_ms", "capture_ms", "peak_mb", "kernels", "busy"]
    columns += ["predict_ms", "forward_ms"] if name != "zcc-binary" else []
    assert all(float(row[column]) > 0 for column in columns)
    (line,) = [line for line in (tmp_path / "gpu.md").read_text().splitlines() if line.startswith(f"| {name}")]
    assert line.split(" | ")[6] == str(bench_gpu.TRAIN_GOALS[name] or "")
    assert "kernel" in (tmp_path / "gpu-kernels.txt").read_text()


def test_what_fails_keeps_the_others_and_what_was_measured(bench, monkeypatch, capsys):
    row, loop = bench_gpu.Bench.row, bench_gpu.loop_milliseconds

    def fails(self, size):
        assert self.name != "tdeer"  # an error without a word
        return row(self, size)

    def no_loop(own, size):
        return loop(own, size) if own.name == "casrel" else 1 / 0

    monkeypatch.setattr(bench_gpu.Bench, "row", fails)
    monkeypatch.setattr(bench_gpu, "loop_milliseconds", no_loop)
    status, rows = bench("--extractor", "tdeer", "prgc", "casrel", "--sizes", "0")
    assert status == 1
    faults = [(each["extractor"], each["fault"].split(":")[0], float(each["step_ms"]) > 0) for each in rows]
    assert faults == [("tdeer", "AssertionError", False), ("prgc", "ZeroDivisionError", True), ("casrel", "", True)]


def test_nothing_begins_that_may_not_end_in_time(bench, monkeypatch):
    """Each measurement takes 100 seconds, of which 250 hold two; the others are named as such, and are no failure."""
    clock = iter(range(0, 10**6, 50))
    monkeypatch.setattr(bench_gpu, "measured", lambda name, *_: (bench_gpu.Row(name, 6, "bf16", step_ms=1.0), []))
    monkeypatch.setattr(bench_gpu.time, "monotonic", lambda: next(clock))
    status, rows = bench("--extractor", "casrel", "prgc", "grte", "--sizes", "6", "--seconds", "150")
    assert [(each["extractor"], each["fault"]) for each in rows] == [
        ("casrel", ""), ("prgc", bench_gpu.NO_TIME), ("grte", bench_gpu.NO_TIME),
    ]  # fmt: skip
    assert status == 0
