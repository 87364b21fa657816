"""One process at a time in a folder."""

import fcntl
import subprocess
import sys
import time

import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.core.locks import folder_lock

HOLD = """
import sys, time
from tripleaudit.core.locks import folder_lock
with folder_lock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "m")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_a_second_process_is_refused(tmp_path, holder):
    with (
        pytest.raises(UserError, match="m: another process is at work in this folder"),
        folder_lock(tmp_path / "m", 0),
    ):
        pytest.fail("both are in the folder")


def test_a_process_that_is_killed_in_time_leaves_no_lock(tmp_path, holder):
    def sleep(seconds, real=time.sleep):
        holder.kill()
        holder.wait()
        real(seconds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "sleep", sleep)
        with folder_lock(tmp_path / "m", patience=10):
            pass


def test_it_is_given_back(tmp_path):
    for _ in range(2):
        with folder_lock(tmp_path / "new" / "m", 0):
            assert (tmp_path / "new" / "m").is_dir()
        assert list((tmp_path / "new" / "m").iterdir()) == []


def test_a_file_system_without_locks(tmp_path, monkeypatch, caplog):
    def refuse(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with folder_lock(tmp_path):
        pass
    assert "has no locks" in caplog.text
