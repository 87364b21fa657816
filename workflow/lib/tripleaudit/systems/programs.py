"""``command`` and ``python``: programs that read texts as JSON lines and answer in JSON lines.

A program is started once for a test set, gets every text on its standard input, which is then
closed, and answers on its standard output; what it says on standard error goes to the log. One that
ends before its last answer is started again with the texts that are left, at most ``restarts``
times. A program ends with its job, even where the job is killed. A class of Python runs in such a
program of its own, so that its crash, or its memory, is not the job's.
"""

import asyncio
import codecs
import difflib
import json
import logging
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.core import memory
from tripleaudit.core.errors import UserError
from tripleaudit.core.process_groups import WatchedGroup
from tripleaudit.corpora.readers.common import shown
from tripleaudit.systems import child
from tripleaudit.systems.class_source import class_problems
from tripleaudit.systems.queries import Answered, Answers, Query
from tripleaudit.systems.spec import SystemKind

logger = logging.getLogger(__name__)
LONGEST_LINE = 1 << 26  # bytes of one answer; a program that never ends its line is stopped there
SAID = 4096  # last characters of its standard error, in which its last words are looked for
TRAIN = "{train}"
"""Placeholder for the file of the training set, in a command and in the options of a class."""
PLACEHOLDER = re.compile(r"\{([A-Za-z_]+)\}")
OTHER_SETS = ("valid", "dev", "test")
"""Names of sets that no system gets, so that a placeholder of such a name is a mistake."""
INTERPRETER = re.compile(r"(python|pypy)[\d.]*|bash|sh|Rscript|perl|node|ruby")
SCRIPT_SUFFIXES = (".py", ".sh", ".R", ".r", ".pl", ".js", ".rb")
GRACE = 10.0  # seconds that a program has to end after its last answer


def argv_of(settings: Mapping[str, Any]) -> list[str]:
    """Return the program and its arguments; ``python`` stands for this interpreter."""
    given = settings["command"]
    words = shlex.split(given) if isinstance(given, str) else list(given)
    return [sys.executable, *words[1:]] if words[:1] == ["python"] else words


def problems_of_command(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield ``key: sentence`` for a command that cannot be run."""
    try:
        words = argv_of(settings)
    except ValueError as error:
        yield f"command: cannot be split into words ({error})"
        return
    if not words or shutil.which(words[0]) is None:
        yield f"command: {' '.join(words[:1]) or 'empty'}: no such program; expected one that can be run from here"
        return
    script = _script_of(words)
    if script and not Path(script).is_file():
        yield f"command: {script}: no such file; expected a path from the folder of the run"
    for word in words:
        yield from _problems_of_placeholders("command", word)


def _script_of(words: Sequence[str]) -> str | None:
    """Return the script that an interpreter is to run, as far as its suffix tells."""
    if not INTERPRETER.fullmatch(Path(words[0]).name):
        return None
    for word in words[1:]:
        if not word.startswith("-"):
            return word if word.endswith(SCRIPT_SUFFIXES) and not word.split()[1:] else None
        if word in ("-c", "-m"):
            return None
    return None


def _problems_of_placeholders(where: str, text: str) -> Iterator[str]:
    """Yield a sentence for each misspelt placeholder; other text in braces is the program's."""
    for name in PLACEHOLDER.findall(text):
        is_misspelt = difflib.get_close_matches(name.lower(), ["train"])
        if name != "train" and (is_misspelt or name in OTHER_SETS):
            yield f"{where}: unknown placeholder '{{{name}}}'; expected {TRAIN}, the only one"


def uses_training_set(settings: Mapping[str, Any]) -> bool:
    """Return whether a program or class is to get the file of the training set."""
    return TRAIN in json.dumps([settings.get("command"), settings.get("options")])


def _training_file(query: Query) -> str:
    """Return the file of the training set that the settings of a program ask for.

    Raises:
        UserError: they ask for it, and the corpus has none.
    """
    train = query.job.get("train") or ""
    if not train and uses_training_set(query.settings):
        raise UserError(
            f"the system asks for {TRAIN}, and there is no training set; expected a corpus with one"
        )
    return str(train)


def answer_command(query: Query) -> Answered:
    """Return the triples that a command prints for the sentences of a query."""
    train = _training_file(query)
    return _answered(query, [word.replace(TRAIN, train) for word in argv_of(query.settings)], 1)


def problems_of_class(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield ``key: sentence`` for a class that cannot be located."""
    file, _, name = settings["python"].rpartition(":")
    if not file.endswith(".py") or not name.isidentifier():
        yield f"python: {settings['python']!r}, expected path/to/file.py:Class"
        return
    if not Path(file).is_file():
        yield f"python: {file}: no such file"
        return
    options = settings.get("options") or {}
    yield from class_problems(file, name, options, settings.get("relations") is True)
    for option, value in options.items():
        yield from _problems_of_placeholders(f"options/{option}", json.dumps(value))


def answer_class(query: Query) -> Answered:
    """Return the triples that a Python class extracts, in a process of its own."""
    batch = query.settings.get("batch_size") or 1
    train_in_json = json.dumps(_training_file(query))[1:-1]
    options = json.dumps(query.settings.get("options") or {}).replace(TRAIN, train_in_json)
    argv = [
        sys.executable,
        "-P",
        "-m",
        child.__name__,
        query.settings["python"],
        options,
        str(batch),
    ]
    return _answered(query, argv, batch)


def _answered(query: Query, argv: Sequence[str], batch: int) -> Answered:
    """Ask a program, as often as it takes.

    Raises:
        UserError: it cannot be started, ends too often before its last answer, lets one wait, or
            answers otherwise.
    """
    answers, rows = Answers(query), {row["id"]: row for row in query.rows()}
    limit, restarts = query.settings["timeout"] * batch, query.settings["restarts"]
    own = {"PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": str(query.job.get("threads") or 1)}
    hidden = {} if query.settings.get("gpus") else {"CUDA_VISIBLE_DEVICES": ""}
    for attempt in range(restarts + 1):
        left = [rows[name] for name in answers.open]
        ended = asyncio.run(_run(argv, {**os.environ, **own, **hidden}, left, answers, limit))
        if not answers.open:
            break
        done = f"{len(answers.rows)} of {len(rows)} sentences are answered"
        if attempt == restarts:
            again = f", started {restarts + 1} times" if restarts else ""
            raise UserError(f"{ended} at the sentence {next(iter(answers.open))!r}{again}; {done}")
        logger.warning("the program %s; %s; it is started again with the rest", ended, done)
    return Answered(answers.sentences("its answers"), {"peak_mb": memory.peak_mb(children=True)})


class _Program(asyncio.SubprocessProtocol):
    """A program's ``answers``, last standard error ``said``, and whether it ``closed``."""

    def __init__(self) -> None:
        self.answers, self.said, self.closed = (
            asyncio.StreamReader(LONGEST_LINE),
            "",
            asyncio.Event(),
        )
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self.answers.feed_data(data)
        else:
            text = self._decoder.decode(data)
            sys.stderr.write(text)
            self.said = (self.said + text)[-SAID:]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self.answers.feed_eof()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()


async def _run(
    argv: Sequence[str],
    environment: Mapping[str, str],
    rows: Sequence[Mapping[str, Any]],
    answers: Answers,
    limit: float,
) -> str:
    """Read answers until a program ends or is complete; return in words how it ended.

    The texts lie in a file, so that a program that writes before it has read them blocks nobody.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as texts:
        texts.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        texts.seek(0)
        group = WatchedGroup()
        try:
            transport, program = await asyncio.get_running_loop().subprocess_exec(
                _Program, *argv, stdin=texts, env=environment, process_group=group.id
            )
        except OSError as error:
            group.kill()
            raise UserError(f"{argv[0]}: cannot be started ({error.strerror})") from error
    try:
        problem = await _listen(program, answers, limit)
    finally:
        group.kill()
        try:
            await asyncio.wait_for(program.closed.wait(), GRACE)
        except TimeoutError:
            logger.warning(
                "the program has left a process behind that holds its streams; it is not waited for"
            )
        transport.close()
    last_words = next(
        (line.strip() for line in reversed(program.said.splitlines()) if line.strip()), "none"
    )
    return (
        problem
        or f"ends with exit status {transport.get_returncode()} (its last words: {last_words[:200]})"
    )


async def _listen(program: _Program, answers: Answers, limit: float) -> str:
    """Read a program's answers; return other behaviour in words, else an empty text."""
    number = 0
    try:
        while line := await asyncio.wait_for(
            program.answers.readline(), limit if answers.open else GRACE
        ):
            number += 1
            if line.strip():
                answers.add(
                    _decoded(line, f"line {number} of its standard output"),
                    f"line {number} of its answers",
                )
        if answers.open:
            await asyncio.wait_for(program.closed.wait(), GRACE)  # its exit status is its own
    except TimeoutError:
        if program.answers.at_eof():
            return "closes its standard output and goes on"
        if answers.open:
            return f"gives no answer within {limit:g} s"
        logger.warning("the program does not end by itself after its last answer and is stopped")
    except ValueError as error:
        raise UserError(
            f"line {number + 1} of its standard output has more than {LONGEST_LINE >> 20} MB"
        ) from error
    return ""


def _decoded(line: bytes, where: str) -> Any:
    text = line.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"{where} is no JSON: {shown(text.strip())}; expected one answer a line and "
            "everything else on standard error"
        ) from error


COMMAND = SystemKind(
    name="command",
    label="command",
    order=2,
    answer=answer_command,
    options=("timeout", "restarts", "relations", "files"),
    files=lambda settings: [word for word in argv_of(settings)[1:] if Path(word).is_file()],
    problems=problems_of_command,
    takes_schema=True,
)
PYTHON = SystemKind(
    name="python",
    label="Python class",
    order=3,
    answer=answer_class,
    options=("timeout", "restarts", "relations", "files", "options", "batch_size"),
    files=lambda settings: [settings["python"].rpartition(":")[0]],
    problems=problems_of_class,
    takes_schema=True,
)
