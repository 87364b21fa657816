"""Runs one case in a process of its own, and says what is wrong with how it ended."""

import contextlib
import json
import os
import re
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

SECONDS = 60
NOBODY = 65534


@dataclass(frozen=True)
class Case:
    """A command line with the files that it meets.

    Attributes:
        name: what is wrong with the input.
        argv: arguments of ``tripleaudit``, run in the folder with the files.
        make: writes the files into the current folder.
        expect: whether the input is to be refused, read, or may be either.
        counts: ``(output, folder) -> found`` of an accepted input, and what an independent count
            says; see ``right``.
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


def wrong(case: Case, folder: Path) -> str:
    """Run a case in a new folder, and return what is wrong with how it ended; empty if nothing
    is.
    """
    folder.mkdir()
    with contextlib.chdir(folder):
        case.make()
    before = {name: (folder / name).read_bytes() for name in case.kept}
    status = _in_child(case, folder)
    out, err = (Path(f"{folder}.{name}").read_text(errors="replace") for name in ("out", "err"))
    if "Traceback (most recent call last)" in err or status not in (0, 1, 2):
        return f"status {status}: {(err.strip().splitlines() or ['nothing said'])[-1][:300]}"
    for name, content in before.items():
        if (folder / name).read_bytes() != content:
            return f"{name} was changed"
    return _refused_wrongly(case, err) if status else _accepted_wrongly(case, out, folder)


def _refused_wrongly(case: Case, err: str) -> str:
    said = [line for line in err.splitlines() if line.startswith("error: ")]
    if case.expect == "read":
        return f"refused: {err.strip()[-300:]}"
    if len(said) != 1 or not re.search(r"\w.*\w", said[0]) or len(said[0]) > 1500:
        return f"expected one sentence, got {err.strip()[:300]!r}"
    return ""


def _accepted_wrongly(case: Case, out: str, folder: Path) -> str:
    if case.expect == "refused":
        return f"accepted: {out.strip()[:200]!r}"
    try:
        found = case.counts(out, folder) if case.counts else case.right
    except (ValueError, KeyError, OSError) as error:
        return f"no counts in what was printed ({error}): {out[:200]!r}"
    return "" if found == case.right else f"counted {found}, expected {case.right}"


def _in_child(case: Case, folder: Path) -> int:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 70
        try:
            for stream, name in ((1, "out"), (2, "err")):
                os.dup2(os.open(f"{folder}.{name}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC), stream)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            sys.stdout, sys.stderr = (
                sys.__stdout__,
                sys.__stderr__,
            )  # those of the test run are captured
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
    """Return a reader of the sentences and triples (each once a sentence) of a file of JSON
    lines.
    """

    def read(_: str, folder: Path) -> list[int]:
        rows = [
            json.loads(line)
            for line in (folder / name).read_text(encoding="utf-8").split("\n")
            if line
        ]
        return [
            len(rows),
            sum(len({json.dumps(triple) for triple in row["triples"]}) for row in rows),
        ]

    return read
