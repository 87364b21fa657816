"""``command`` and ``python``: programs that read texts as JSON lines and answer in JSON lines.

A program is started once for a test set, gets every text on its standard input, which is then closed, and answers on
its standard output; what it says on standard error goes to the log. One that ends before its last answer is started
again with the texts that are left, at most ``restarts`` times. A class of Python runs in such a program of its own, so
that its crash, or its memory, is not the job's.
"""

import contextlib
import json
import logging
import os
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

from tripleaudit.corpora.readers.common import shown
from tripleaudit.descriptors import SystemKind
from tripleaudit.errors import UserError
from tripleaudit.machine import memory
from tripleaudit.systems import child
from tripleaudit.systems.queries import Answered, Answers, Query

logger = logging.getLogger(__name__)
LONGEST_LINE = 1 << 26  # characters of one answer; a program that never ends its line is stopped there
TRAIN = "{train}"  # in a command: the training set of the corpus, as JSON lines
GRACE = 10.0  # seconds that a program has to end after its last answer
END: Final = ""


def argv_of(settings: Mapping[str, Any]) -> list[str]:
    """Return the program and its arguments; ``python`` stands for this interpreter."""
    given = settings["command"]
    words = shlex.split(given) if isinstance(given, str) else list(given)
    return [sys.executable, *words[1:]] if words[:1] == ["python"] else words


def files_of_command(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of a command that are files: its result depends on them."""
    yield from (word for word in argv_of(settings)[1:] if Path(word).is_file())


def problems_of_command(settings: Mapping[str, Any]) -> Iterator[str]:
    try:
        words = argv_of(settings)
    except ValueError as error:
        yield f"command: cannot be split into words ({error})"
        return
    if not words or shutil.which(words[0]) is None:
        yield f"command: {' '.join(words[:1]) or 'empty'}: no such program; expected one that can be run from here"


def answer_command(query: Query) -> Answered:
    argv, train = argv_of(query.settings), query.job.get("train")
    if train is None and any(TRAIN in word for word in argv):
        raise UserError(f"the command asks for {TRAIN}, and there is no training set; expected a test set of a corpus")
    return _answered(query, [word.replace(TRAIN, str(train)) for word in argv], 1)


def file_of_class(settings: Mapping[str, Any]) -> Iterator[str]:
    yield settings["python"].rpartition(":")[0]


def problems_of_class(settings: Mapping[str, Any]) -> Iterator[str]:
    file, _, name = settings["python"].rpartition(":")
    if not file.endswith(".py") or not name.isidentifier():
        yield f"python: {settings['python']!r}, expected path/to/file.py:Class"
    elif not Path(file).is_file():
        yield f"python: {file}: no such file"


def answer_class(query: Query) -> Answered:
    batch = query.settings.get("batch_size") or 1
    options = json.dumps(query.settings.get("options") or {})
    argv = [sys.executable, "-m", child.__name__, query.settings["python"], options, str(batch)]
    return _answered(query, argv, batch)


def _answered(query: Query, argv: Sequence[str], batch: int) -> Answered:
    """Ask a program, as often as it takes.

    Raises:
        UserError: it cannot be started, ends too often before its last answer, lets one wait, or answers otherwise.
    """
    answers, rows = Answers(query), {row["id"]: row for row in query.rows()}
    limit, restarts = query.settings["timeout"] * batch, query.settings["restarts"]
    own = {"PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": str(query.job.get("threads") or 1)}
    hidden = {} if query.settings.get("gpus") else {"CUDA_VISIBLE_DEVICES": ""}
    for attempt in range(restarts + 1):
        ended = _run(argv, {**os.environ, **own, **hidden}, [rows[name] for name in answers.open], answers, limit)
        if not answers.open:
            break
        done = f"{len(answers.rows)} of {len(rows)} sentences are answered"
        if attempt == restarts:
            again = f", started {restarts + 1} times" if restarts else ""
            raise UserError(f"{ended} at the sentence {next(iter(answers.open))!r}{again}; {done}")
        logger.warning("the program %s; %s; it is started again with the rest", ended, done)
    return Answered(answers.sentences("its answers"), {"peak_mb": memory.peak_mb(children=True)})


def _run(
    argv: Sequence[str],
    environment: Mapping[str, str],
    rows: Sequence[Mapping[str, Any]],
    answers: Answers,
    limit: float,
) -> str:
    """Take answers about texts until a program ends or has answered all; return how it ended, in words.

    The texts lie in a file, and each stream that the program writes is read by a thread, so that none can block it.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as texts:
        texts.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        texts.seek(0)
        try:
            process = subprocess.Popen(
                argv,
                stdin=texts,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise UserError(f"{argv[0]}: cannot be started ({error.strerror})") from error
    lines: queue.Queue[str] = queue.Queue()
    last_words = ["none"]

    def repeat(line: str) -> None:
        sys.stderr.write(line)
        last_words[0] = line.strip()[:200] or last_words[0]

    threads = [_reading(process.stdout, lines.put), _reading(process.stderr, repeat)]
    try:
        problem = _listen(process, lines, answers, limit)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        end = time.monotonic() + GRACE
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            logger.warning("the program has left a process behind that holds its streams; it is not waited for")
    return problem or f"ends with exit status {process.returncode} (its last words: {last_words[0]})"


def _listen(process: subprocess.Popen[str], lines: "queue.Queue[str]", answers: Answers, limit: float) -> str:
    """Take the answers of a program; return what it does instead of answering or ending, else nothing."""
    number = 0
    try:
        while (line := lines.get(timeout=limit if answers.open else GRACE)) != END:
            number += 1
            if line.strip():
                answers.add(_decoded(line, f"line {number} of its standard output"), f"line {number} of its answers")
        if answers.open:
            process.wait(GRACE)  # its exit status is its own
    except queue.Empty:
        if answers.open:
            return f"gives no answer within {limit:g} s"
        logger.warning("the program does not end by itself after its last answer and is stopped")
    except subprocess.TimeoutExpired:
        return "closes its standard output and goes on"
    return ""


def _reading(stream: IO[str] | None, take: Callable[[str], object]) -> threading.Thread:
    """Start a thread that gives each line of a stream to a function, and :data:`END` after the last."""
    assert stream

    def read() -> None:
        with stream:
            while line := stream.readline(LONGEST_LINE):
                take(line)
        take(END)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def _decoded(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"{where} is no JSON: {shown(line.strip())}; expected one answer a line and "
            "everything else on standard error"
        ) from error


COMMAND = SystemKind(
    name="command",
    label="command",
    order=2,
    answer=answer_command,
    options=("timeout", "restarts", "relations", "files"),
    files=files_of_command,
    problems=problems_of_command,
    takes_schema=True,
)
PYTHON = SystemKind(
    name="python",
    label="Python class",
    order=3,
    answer=answer_class,
    options=("timeout", "restarts", "relations", "files", "options", "batch_size"),
    files=file_of_class,
    problems=problems_of_class,
    takes_schema=True,
)
