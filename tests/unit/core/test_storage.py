"""Full disks and folders that cannot be written give one sentence and leave nothing
half-written.
"""

import errno
import os
import subprocess

import pytest
import torch
from safetensors.torch import save_file

from tripleaudit import cli
from tripleaudit.commands import audit
from tripleaudit.core import storage
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import atomic_write
from tripleaudit.corpora.store import save_sentences
from tripleaudit.scoring import scores
from tripleaudit.testing import toy_sentences
from tripleaudit.training.run import train_to
from tripleaudit.training.settings import TrainingSettings


def full(path):
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 256 kB, where this user may mount one; skips elsewhere."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting a small file system needs root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_weights_that_do_not_fit(small_disk):
    folder = small_disk / "model"
    folder.mkdir()
    with (
        pytest.raises(UserError, match=r"model: the disk is full; free"),
        storage.whole_folder(folder),
    ):
        (folder / "config.json").write_text("{}")
        save_file({"weight": torch.zeros(100_000)}, folder / "model.safetensors")
    assert not folder.exists()


def test_a_training_on_a_disk_that_is_too_small(small_disk, tiny_encoder, tmp_path):
    data = toy_sentences()
    save_sentences(tmp_path / "train.jsonl", data)
    with pytest.raises(UserError, match="the disk is full; free some space and run again"):
        train_to(
            small_disk / "model", name="casrel", train=data, valid=[], encoder=tiny_encoder, seed=1, score=dict,
            settings=TrainingSettings(epochs=2, batch_size=4, save_every=1),
            inputs={"train": tmp_path / "train.jsonl"},
        )  # fmt: skip
    assert [path.name for path in small_disk.rglob("*") if path.is_file()] == [
        "run.json"
    ]  # no part of a checkpoint


def test_a_read_only_disk(small_disk):
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(
        UserError, match="this file system is read-only; expected a writable folder"
    ):
        storage.check_writable(small_disk / "results")


def test_a_writable_folder_stays_as_it_is(tmp_path):
    storage.check_writable(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (
            errno.ENOSPC,
            "the disk is full; free some space and run again, what was finished is kept$",
        ),
        (errno.EDQUOT, "the disk is full"),
        (errno.EROFS, "this file system is read-only"),
        (errno.EACCES, "permission denied; expected a readable file, or a writable folder"),
    ],
)
def test_atomic_writing_says_why_and_leaves_what_was_there(tmp_path, monkeypatch, number, words):
    monkeypatch.setattr(
        os, "fsync", lambda _: (_ for _ in ()).throw(OSError(number, os.strerror(number)))
    )
    target = tmp_path / "table.csv"
    target.write_text("kept")
    with pytest.raises(UserError, match=words) as caught, atomic_write(target) as stream:
        stream.write("half")
    assert str(caught.value).startswith(f"{target}: ")
    assert list(tmp_path.iterdir()) == [target] and target.read_text() == "kept"


def test_what_libraries_say_is_understood():
    rust = 'Error while serializing: IoError(Os { code: 28, kind: StorageFull, message: "No space left on device" })'
    assert "the disk is full" in storage.sentence(ValueError(rust), "model.safetensors")
    assert "the disk is full" in storage.sentence(
        RuntimeError("write failed: No space left on device")
    )
    torch_ = "[enforce fail at inline_container.cc:672] . unexpected pos 115392 vs 115280"
    assert storage.sentence(RuntimeError(torch_), "x").startswith("x: the disk is full")
    assert storage.sentence(RuntimeError("status code: 13")) is None
    assert storage.sentence(FileNotFoundError(errno.ENOENT, "no", "x")) is None


def test_commands_and_steps_print_one_line(monkeypatch, capsys):
    def fails(*_, **__):
        raise full("results/x/model.safetensors")

    monkeypatch.setattr(audit, "run", fails)
    monkeypatch.setattr(scores, "merge_scores", lambda paths, out: fails())
    for arguments in (["audit", "a", "b"], ["merge-scores", "--paths", "x", "--out", "y"]):
        assert cli.main(arguments) == 1
        lines = capsys.readouterr().err.strip().splitlines()
        assert len(lines) == 1
        assert lines[0].startswith("error: results/x/model.safetensors: the disk is full")
