"""Locks of GPUs: one job a device, a scheduler's choice, no GPU at all; with a made-up
nvidia-smi.
"""

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from filelock import FileLock, Timeout

from tripleaudit.core import devices
from tripleaudit.core.errors import UserError

TWO = "GPU 0: NVIDIA A100 (UUID: GPU-11)\nGPU 1: NVIDIA A100 (UUID: GPU-22)\n"
SLICED = (
    "GPU 0: NVIDIA A100 (UUID: GPU-11)\n"
    "  MIG 1g.5gb Device 0: (UUID: MIG-a)\n"
    "  MIG 1g.5gb Device 1: (UUID: MIG-b)\n"
)


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    """A machine with two GPUs, no scheduler, and locks of its own; returns what makes it list
    other devices.
    """
    for name in (*devices.DEVICE_VARIABLES, *devices.JOB_VARIABLES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TRIPLEAUDIT_LOCKS", str(tmp_path))
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")

    def lists(text: str, status: int = 0) -> None:
        program = programs / "nvidia-smi"
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}END\nexit {status}\n")
        program.chmod(0o755)

    lists(TWO)
    return lists


def visible():
    return os.environ.get("CUDA_VISIBLE_DEVICES")


def test_a_killed_job_frees_its_device(machine):
    machine(TWO.splitlines(keepends=True)[0])
    code = "import time; from tripleaudit.core.devices import gpu_slot\n"
    code += "with gpu_slot(): print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        folder = devices.lock_folder()
        with pytest.raises(Timeout):
            FileLock(folder / "gpu-0.0.lock").acquire(blocking=False)
        other.kill()
    with devices.gpu_slot() as names:
        assert names == ["0"]


class Waits(Exception):
    pass


def free(count: int = 1) -> bool:
    """Whether another job would get devices at once."""
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)  # another process would see all
    try:
        with devices.gpu_slot(count=count):
            return True
    except Waits:
        return False


@pytest.fixture
def impatient(monkeypatch):
    """Who would wait raises instead; in this module alone: a process that is waited for sleeps,
    too.
    """

    def wait(seconds):
        raise Waits

    monkeypatch.setattr(devices, "time", SimpleNamespace(sleep=wait, monotonic=time.monotonic))


def test_two_devices_are_for_two_jobs_and_who_waits_for_both_holds_none(impatient):
    assert free(2)
    with devices.gpu_slot() as first:
        assert os.environ["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
        assert first == ["0"] and not free(2) and free()
        with devices.gpu_slot() as second:
            assert second == ["1"] and not free()


def test_jobs_of_a_study_share_a_device(machine, monkeypatch, impatient):
    """Two halves fit next to each other, a third one and a whole device do not."""

    def fits(share: int) -> bool:
        with monkeypatch.context() as patch:
            patch.setenv(devices.SHARE, str(share))
            return free()

    machine(TWO.splitlines(keepends=True)[0])
    monkeypatch.setenv(devices.SHARE, "2")
    with devices.gpu_slot() as first:
        assert (fits(2), fits(4), fits(1)) == (True, True, False)
        with devices.gpu_slot() as second:
            assert first == second == ["0"]
            assert (fits(2), fits(12)) == (False, False)
    assert fits(1)


SLURM = {"SLURM_JOB_ID": "17"}


@pytest.mark.parametrize(
    ("environment", "options", "taken", "seen"),
    [
        ({}, {"wanted": "0"}, [], ""),
        ({}, {"count": 0}, [], ""),
        ({}, {"count": 2}, ["0", "1"], "0,1"),
        (SLURM, {}, [], ""),  # it was given none of those that it sees
        ({**SLURM, "CUDA_VISIBLE_DEVICES": "3"}, {}, ["3"], "3"),
        ({**SLURM, "CUDA_VISIBLE_DEVICES": "GPU-ab12,5"}, {}, ["GPU-ab12"], "GPU-ab12"),
        ({**SLURM, "CUDA_VISIBLE_DEVICES": ""}, {}, [], ""),
        ({**SLURM, "CUDA_VISIBLE_DEVICES": "-1"}, {}, [], ""),
        ({**SLURM, "CUDA_VISIBLE_DEVICES": "NoDevFiles"}, {}, [], ""),
        ({**SLURM, "SLURM_JOB_GPUS": "2,3"}, {}, ["2"], "2"),
        ({"PATH": ""}, {"wanted": "auto"}, [], None),  # a machine without GPUs
    ],
)
def test_what_a_job_asks_for_and_is_given(monkeypatch, environment, options, taken, seen):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with devices.gpu_slot(**options) as names:
        assert (names, visible()) == (taken, seen)
    assert visible() == environment.get("CUDA_VISIBLE_DEVICES")


@pytest.mark.parametrize(
    ("environment", "options", "message"),
    [
        ({}, {"count": 3}, "3 GPUs were asked for, but only 2 can be used here"),
        ({"PATH": ""}, {"wanted": "1"}, "this job has none"),
    ],
)
def test_what_no_job_can_be_given(monkeypatch, environment, options, message):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match=message), devices.gpu_slot(**options):
        pass


def test_equal_numbers_in_two_jobs_of_a_scheduler_are_not_the_same_device(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    with devices.gpu_slot():
        monkeypatch.setenv("SLURM_JOB_ID", "18")
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
        with devices.gpu_slot() as names:  # would wait for ever if it were the same lock
            assert names == ["0"]


def test_the_resource_of_a_rule(monkeypatch):
    assert [devices.policy("auto", resource) for resource in (0, 1, 2)] == ["0", "auto", "auto"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert devices.policy("auto", 0) == "0"
    monkeypatch.setenv("SLURM_JOB_ID", "17")  # it was given by --gres
    assert [devices.policy(wanted, 0) for wanted in ("auto", "1", "0")] == ["auto", "1", "0"]


def test_what_a_machine_has(machine):
    assert devices.installed() == ["0", "1"]
    machine(SLICED)
    assert devices.installed() == ["MIG-a", "MIG-b"]
    machine("NVIDIA-SMI has failed\n", status=9)
    assert devices.installed() == []


def test_locks_in_a_position_of_somebody_else(monkeypatch, tmp_path):
    place = tmp_path / f"tripleaudit-gpu-{os.getuid()}"
    place.write_text("")
    with pytest.raises(UserError, match="set TRIPLEAUDIT_LOCKS"), devices.gpu_slot():
        pass
    place.unlink()
    (tmp_path / "elsewhere").mkdir()
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="belongs to another user"), devices.gpu_slot():
        pass


def test_no_torch_is_imported():
    code = "import sys, tripleaudit.core.devices as d; d.installed(); print('torch' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
        == "False\n"
    )
