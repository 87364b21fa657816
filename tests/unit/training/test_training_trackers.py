"""Trackers: what they get, that they alter nothing, and that a training outlives them."""

import contextlib
import json
import logging
import os
import subprocess
import sys
import types

import pytest

from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.core.shipped import PACKAGE
from tripleaudit.training.settings import TRACKERS
from tripleaudit.training.trackers import ROWS_ALONE, reporting

ROWS = [{"step": 2, "epoch": 0.5, "loss": 3.0}, {"step": 4, "epoch": 1.0, "f1": 0.25}]


REPORTING = """
import json, sys
from pathlib import Path
from tripleaudit.training.trackers import reporting

with reporting(sys.argv[1], Path(sys.argv[2]), {"epochs": 2}) as report:
    for row in json.loads(sys.argv[3]):
        report(row)
"""

READING = """
import json, trackio
logs = trackio.SQLiteStorage.get_logs
found = trackio.Api().runs("tripleaudit")
runs = [[run.name, run.config["epochs"], logs("tripleaudit", run.name, run_id=run.id)] for run in found]
print("runs", json.dumps(runs))
"""


def tell(tracker, tmp_path, rows, code=REPORTING) -> str:
    """Report rows from a process of its own."""
    environment = {
        **os.environ, "TRACKIO_DIR": str(tmp_path / "tracked"), "WANDB_DIR": str(tmp_path), "WANDB_MODE": "offline",
        "PYTHONPATH": str(PACKAGE.parent),
    }  # fmt: skip
    folder = tmp_path / "demo/original-nz/casrel/none/seed1"
    command = [sys.executable, "-c", code, tracker, str(folder), json.dumps(rows)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.thorough
def test_trackio_keeps_a_run_of_each_training_on_this_machine(tmp_path):
    pytest.importorskip("trackio")
    for rows in (ROWS, ROWS[:1]):
        tell("trackio", tmp_path, rows)
    runs = json.loads(tell("trackio", tmp_path, [], READING).partition("runs ")[2].splitlines()[0])
    assert {(name, epochs) for name, epochs, _ in runs} == {
        ("demo/original-nz/casrel/none/seed1", 2)
    }
    reported = [
        [(row["step"], row.get("loss"), row.get("f1")) for row in history] for _, _, history in runs
    ]
    assert sorted(reported, key=len) == [[(2, 3.0, None)], [(2, 3.0, None), (4, None, 0.25)]]
    assert list((tmp_path / "tracked").rglob("*.db"))


@pytest.mark.thorough
def test_wandb_keeps_a_run_on_this_machine_where_it_is_set_to_stay_offline(tmp_path):
    pytest.importorskip("wandb")
    tell("wandb", tmp_path, ROWS)
    (file,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    written = file.read_bytes()
    for text in (
        "tripleaudit",
        "demo/original-nz/casrel/none/seed1",
        "epochs",
        "loss",
        "f1",
        "0.25",
    ):
        assert text.encode() in written


class Broken(types.ModuleType):
    """A tracker that takes one row."""

    def __init__(self, rows=1, opens=True):
        super().__init__("trackio")
        self.rows, self.opens, self.reported, self.finished = rows, opens, [], 0

    def init(self, **options):
        if not self.opens:
            raise OSError("no space left")
        self.options = options
        return self

    def log(self, row, step):
        if len(self.reported) == self.rows:
            raise RuntimeError("the disk is full")
        self.reported.append((step, row))

    def finish(self):
        self.finished += 1
        raise RuntimeError("the disk is full")


def test_a_training_outlives_its_tracker(tmp_path, monkeypatch, caplog):
    broken = Broken()
    monkeypatch.setitem(sys.modules, "trackio", broken)
    with (
        caplog.at_level(logging.WARNING),
        reporting("trackio", tmp_path / "a/b/c/d/e/f", {"epochs": 2}) as report,
    ):
        for row in [*ROWS, *ROWS]:
            report(row)
    assert broken.reported == [(2, {"epoch": 0.5, "loss": 3.0})] and broken.finished == 1
    assert broken.options == {
        "name": "b/c/d/e/f", "config": {"epochs": 2}, "project": "tripleaudit",
        "embed": False, "auto_log_gpu": False, "auto_log_cpu": False,  # nothing but the training's rows
    }  # fmt: skip
    assert (
        len([record for record in caplog.records if "the training goes on" in record.message]) == 1
    )


def test_a_tracker_that_cannot_start_is_an_error_before_training(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "trackio", Broken(opens=False))
    opened = reporting("trackio", tmp_path, {})
    with pytest.raises(UserError, match=r"training/report_to: trackio opens no run \(OSError"):
        opened.__enter__()
    monkeypatch.setitem(sys.modules, "trackio", None)  # as if it were not installed
    opened = reporting("trackio", tmp_path, {})
    with pytest.raises(UserError, match="ModuleNotFoundError"):
        opened.__enter__()


def test_none_imports_nothing(tmp_path, monkeypatch):
    for name in TRACKERS:
        monkeypatch.setitem(sys.modules, name, None)
    assert ("none", *ROWS_ALONE) == TRACKERS
    with contextlib.ExitStack() as stack:
        stack.enter_context(reporting("none", tmp_path, {}))(ROWS[0])


def test_one_sentence_where_it_is_missing(tmp_path, monkeypatch, capsys):
    from tripleaudit.testing import save_tiny_encoder

    monkeypatch.setitem(sys.modules, "trackio", None)
    monkeypatch.setattr("tripleaudit.core.extras.extras_by_module", lambda: {"trackio": ["track"]})
    encoder = save_tiny_encoder(tmp_path / "encoder", layers=1)
    row = '{"id": "1", "text": "tim leads apple", "triples": []}\n'
    (tmp_path / "a.jsonl").write_text(row)
    command = [
        "train",
        "--train",
        tmp_path / "a.jsonl",
        "--valid",
        tmp_path / "a.jsonl",
        "--encoder",
        encoder,
    ]
    settings = [
        "--extractor",
        "casrel",
        "--settings",
        '{"report_to": "trackio"}',
        "--out",
        tmp_path / "out",
    ]
    assert main([*map(str, [*command, *settings])]) == 1
    (line,) = capsys.readouterr().err.splitlines()[-1:]
    assert "trackio is not installed" in line and "[track]" in line
