"""Runs one case in a process of its own, and says what is wrong with how it ended."""

import json
import os
import re
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

SECONDS, MEMORY = 60, 6 << 30
NOBODY = 65534


@dataclass(frozen=True)
class Case:
    """A command line with the files that it meets.

    Attributes:
        name: what is wrong with the input.
        argv: arguments of ``tripleaudit``, run in the folder with the files.
        make: writes the files into the current folder.
        expect: whether the input is to be refused, read, or may be either.
        counts: ``(output, folder) -> found`` of an accepted input, and what an independent count says; see ``right``.
        right: what ``counts`` must return.
        kept: files that must not change.
        unprivileged: run as a user who is not root.
    """

    name: str
    argv: list[str]
    make: Callable[[], None]
    expect: Literal["refused", "read", "either"] = "refused"
    counts: Callable[[str, Path], Any] | None = None
    right: Any = None
    kept: tuple[str, ...] = ()
    unprivileged: bool = False


@dataclass
class Outcome:
    """How a case ended: exit status, what was printed, and what is wrong with it (empty if nothing is)."""

    case: Case
    status: int
    out: str
    err: str
    wrong: str = field(default="")


def run(case: Case, folder: Path) -> Outcome:
    """Run a case in a new folder."""
    folder.mkdir(parents=True)
    here = os.getcwd()
    os.chdir(folder)
    try:
        case.make()
    finally:
        os.chdir(here)
    before = {name: (folder / name).read_bytes() for name in case.kept}
    status = _in_child(case, folder)
    out, err = (Path(f"{folder}.{name}").read_text(errors="replace") for name in ("out", "err"))
    outcome = Outcome(case, status, out, err)
    outcome.wrong = _wrong(outcome, folder, before)
    return outcome


def _in_child(case: Case, folder: Path) -> int:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 70
        try:
            for stream, name in ((1, "out"), (2, "err")):
                os.dup2(os.open(f"{folder}.{name}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC), stream)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            signal.alarm(SECONDS)
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            os.chdir(folder)
            if case.unprivileged and os.geteuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            from tripleaudit.cli import main

            try:
                status = main(case.argv)
            except SystemExit as error:
                status = error.code if isinstance(error.code, int) else 1
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _wrong(outcome: Outcome, folder: Path, before: dict[str, bytes]) -> str:
    case, err = outcome.case, outcome.err
    if "Traceback (most recent call last)" in err or outcome.status not in (0, 1, 2):
        return f"status {outcome.status}: {(err.strip().splitlines() or ['nothing said'])[-1][:300]}"
    for name, content in before.items():
        if (folder / name).read_bytes() != content:
            return f"{name} was changed"
    said = [line for line in err.splitlines() if line.startswith("error: ")]
    if outcome.status:
        if case.expect == "read":
            return f"refused: {err.strip()[-300:]}"
        if len(said) != 1 or not re.search(r"\w.*\w", said[0]) or len(said[0]) > 1500:
            return f"expected one sentence, got {err.strip()[:300]!r}"
        return ""
    if case.expect == "refused":
        return f"accepted: {outcome.out.strip()[:200]!r}"
    if case.counts is not None:
        try:
            found = case.counts(outcome.out, folder)
        except (ValueError, KeyError, OSError) as error:
            return f"no counts in what was printed ({error}): {outcome.out[:200]!r}"
        if found != case.right:
            return f"counted {found}, expected {case.right}"
    return ""


def of_json(*paths: str) -> Callable[[str, Path], list[Any]]:
    """Return a reader of values of printed JSON at paths such as ``files/0/sentences``."""

    def read(out: str, _: Path) -> list[Any]:
        found = []
        for path in paths:
            value = json.loads(out)
            for key in path.split("/"):
                value = value[int(key)] if isinstance(value, list) else value[key]
            found.append(value)
        return found

    return read


def of_lines(name: str) -> Callable[[str, Path], list[int]]:
    """Return a reader of the sentences and triples (each once a sentence) of a file of JSON lines."""

    def read(_: str, folder: Path) -> list[int]:
        rows = [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").split("\n") if line]
        return [len(rows), sum(len({json.dumps(triple) for triple in row["triples"]}) for row in rows)]

    return read
