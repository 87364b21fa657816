"""Several processes train one extractor: shares of batches, one that writes, and the weights of one process."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure
from torch.distributed.launcher import api

from support.extractors import toy_sentences
from tripleaudit.cli import main
from tripleaudit.corpora.store import save_sentences
from tripleaudit.errors import UserError
from tripleaudit.extractors.registry import load_extractor, register_from
from tripleaudit.training import distributed
from tripleaudit.training.data import LengthGroupedBatches
from tripleaudit.training.settings import TrainingSettings

WATCHED = """
import os
import tempfile
from pathlib import Path

from tripleaudit.extractors.casrel import CasRel, CasRelConfig
from tripleaudit.training import data


class WatchedConfig(CasRelConfig):
    model_type = "tripleaudit-watched"


class Watched(CasRel):
    name = "watched"
    config_class = WatchedConfig


def note(kind, text):
    with open(Path(os.environ["NOTES"]) / f"{kind}-{os.environ['RANK']}", "a") as stream:
        stream.write(f"{text}\\n")


def noting(function, kind):
    def noted(*arguments, **options):
        note(kind, options.get("dir", ""))
        return function(*arguments, **options)

    return noted


def noted_collate(self, examples):
    note("seen", " ".join(example.id for example in examples))
    return collate(self, examples)


collate = data.Collator.__call__
if "RANK" in os.environ:  # one of the processes: note what it sees, and which files it makes
    data.Collator.__call__ = noted_collate
    tempfile.NamedTemporaryFile = noting(tempfile.NamedTemporaryFile, "written")
    Watched.save_pretrained = noting(Watched.save_pretrained, "saved")
"""

SETTINGS = {"epochs": 2, "batch_size": 4, "encoder_learning_rate": 1e-3, "head_learning_rate": 3e-3, "save_every": 3}


pytestmark = pytest.mark.usefixtures("logging_as_it_was")


def test_shares_are_parts_of_the_batches_of_one_process():
    lengths = np.arange(5, 27)
    alone = list(LengthGroupedBatches(lengths, 8, seed=1))
    shares = [list(LengthGroupedBatches(lengths, 8, 1, True, (number, 3))) for number in range(3)]
    for whole, *parts in zip(alone, *shares, strict=True):
        assert sorted(key for part in parts for key in part) == sorted(whole)
    # a last batch of two sentences, three processes: nobody is without one
    shares = [list(LengthGroupedBatches(np.arange(10), 8, 1, False, (number, 3)))[-1] for number in range(3)]
    assert [len(share) for share in shares] == [1, 1, 1]
    assert len({share[0] for share in shares}) == 2


def test_more_processes_than_sentences_in_a_batch():
    with pytest.raises(UserError, match="3 processes cannot divide a batch of 2 sentences"):
        TrainingSettings(batch_size=2, processes=3)


def test_a_process_that_trains_alone():
    assert (distributed.rank(), distributed.world_size()) == (0, 1)
    assert distributed.broadcast("x") == "x"
    assert distributed.gather(3) == [3]
    assert distributed.join(torch.device("cpu")) == torch.device("cpu")
    distributed.barrier()
    distributed.leave()


@pytest.mark.parametrize("failed", [False, True])
def test_processes_are_started_on_this_machine_and_the_first_failure_ends_all(monkeypatch, failed: bool):
    asked = []

    def launched(config, program):
        def run(*arguments):
            asked.append((config, program, arguments))
            if failed:
                raise ChildFailedError("train", {0: ProcessFailure(0, 1, 1, "")})

        return run

    monkeypatch.setattr(api, "elastic_launch", launched)
    assert distributed.launch(3, ["train", "--out", "x"]) == int(failed)
    ((config, program, arguments),) = asked
    assert (program, arguments) == (sys.executable, ("-m", "tripleaudit", "train", "--out", "x"))
    assert (config.min_nodes, config.max_nodes, config.nproc_per_node, config.max_restarts) == (1, 1, 3, 0)
    assert config.rdzv_endpoint == "127.0.0.1:0" and config.local_addr == "127.0.0.1"


@pytest.fixture
def second_of_two(monkeypatch):
    """The second of two processes; returns what it asks of the group."""
    asked = []

    def broadcast(box, src):
        assert src == 0
        box[0] = "first's"

    def gather(values, value):
        values[:] = ["first's", value]

    group = SimpleNamespace(
        is_initialized=lambda: True, get_rank=lambda: 1, get_world_size=lambda: 2, broadcast_object_list=broadcast,
        all_gather_object=gather, barrier=lambda: asked.append("barrier"),
        destroy_process_group=lambda: asked.append("left"),
    )  # fmt: skip
    monkeypatch.setattr(distributed, "dist", group)
    return asked


def test_what_processes_tell_each_other(second_of_two):
    assert (distributed.rank(), distributed.world_size()) == (1, 2)
    assert distributed.broadcast("own") == "first's"
    assert distributed.gather("own") == ["first's", "own"]
    distributed.barrier()
    distributed.leave()
    assert second_of_two == ["barrier", "left"]
    assert distributed.join(torch.device("cuda", 0)) == torch.device("cuda", 0)  # has joined already


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_a_process_that_was_launched_joins_with_the_device_of_its_rank(monkeypatch, kind: str):
    joined, device = [], torch.device(kind, 0) if kind == "cuda" else torch.device(kind)
    group = SimpleNamespace(
        is_initialized=lambda: False, init_process_group=lambda backend, timeout: joined.append((backend, timeout))
    )
    monkeypatch.setattr(distributed, "dist", group)
    monkeypatch.setattr(torch.cuda, "set_device", joined.append)
    for known in ({"LOCAL_RANK": "1"}, {"WORLD_SIZE": "2"}):  # both are PyTorch's
        for name in ("LOCAL_RANK", "WORLD_SIZE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(*next(iter(known.items())))
        assert not distributed.launched() and distributed.join(device) == device and not joined
    monkeypatch.setenv("LOCAL_RANK", "1")
    own = torch.device("cuda", 1) if kind == "cuda" else device
    assert distributed.launched() and distributed.join(device) == own
    assert joined == ([own, ("nccl", distributed.PATIENCE)] if kind == "cuda" else [("gloo", distributed.PATIENCE)])
    assert distributed.PATIENCE.days >= 1  # a validation of the first takes hours at most


@pytest.mark.slow
def test_two_processes_train_as_one_and_one_of_them_writes(tmp_path, tiny_encoder, capsys):
    rows = [replace(each, id=f"{copy}-{each.id}") for copy in range(2) for each in toy_sentences(chain=False)]
    rows += [replace(rows[0], id="last"), replace(rows[1], id="very-last")]
    save_sentences(tmp_path / "train.jsonl", rows)
    save_sentences(tmp_path / "valid.jsonl", toy_sentences(chain=False))
    (tmp_path / "watched.py").write_text(WATCHED)
    notes = tmp_path / "notes"
    notes.mkdir()

    def arguments(out, count, name="casrel"):
        command = ["train", "--train", tmp_path / "train.jsonl", "--valid", tmp_path / "valid.jsonl", "--gpu", "0"]
        command += ["--encoder", tiny_encoder, "--extractor", name, "--threads", "1", "--out", tmp_path / out]
        return [*map(str, command), "--settings", json.dumps({**SETTINGS, "processes": count})]

    own = f"{tmp_path / 'watched.py'}:Watched"
    result = subprocess.run(
        [sys.executable, "-m", "tripleaudit", "--plugin", f"watched={own}", *arguments("two", 2, "watched")],
        capture_output=True,
        text=True,
        env={**os.environ, "NOTES": str(notes)},
    )
    assert result.returncode == 0, result.stderr[-3000:]
    assert result.stdout.count("best validation F1") == 1
    written = {path.name for path in notes.iterdir()}
    assert written == {"seen-0", "seen-1", "saved-0", "written-0"}  # the second process made no file of its own
    seen = [(notes / f"seen-{number}").read_text().splitlines() for number in (0, 1)]
    assert len(seen[0]) == len(seen[1]) == 8  # steps
    first_epoch = " ".join([*seen[0][:4], *seen[1][:4]]).split()
    assert sorted(first_epoch) == sorted(row.id for row in rows)
    assert not list((tmp_path / "two").glob("checkpoints*"))
    record = json.loads((tmp_path / "two" / "provenance.json").read_text())
    assert record["training"]["settings"]["processes"] == 2
    assert record["training"]["steps"] == 8
    register_from(own)
    model = load_extractor(tmp_path / "two")
    assert len(model.extract([row.text for row in rows])) == len(rows)

    assert main(arguments("one", 1)) == 0
    one, two = (load_file(tmp_path / name / "model.safetensors") for name in ("one", "two"))
    assert one.keys() == two.keys()
    logged = [
        [
            row["loss"]
            for row in map(json.loads, (tmp_path / name / "history.jsonl").read_text().splitlines())
            if "loss" in row
        ]
        for name in ("one", "two")
    ]
    assert logged[1] == pytest.approx(logged[0], rel=0.4)  # the mean over both processes, not their sum
    # not equal: a mean over the tokens of a share weighs its sentences differently from one over the batch
    assert max((one[name] - two[name]).abs().max().item() for name in one) < 0.012 < 8 * SETTINGS["head_learning_rate"]
    capsys.readouterr()

    assert main(arguments("bad", 9)) == 1  # more processes than sentences in a batch: said once, nothing started
    assert "expected at most 4" in capsys.readouterr().err
