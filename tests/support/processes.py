"""Programs that a test writes, and what becomes of processes."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from tripleaudit.llm.store import Store


def program(path: Path, text: str) -> Path:
    """Write a script that can be run, with the folder around it."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def forked(target: Callable[..., None], *arguments: tuple) -> list[int | None]:
    """Call a function with each of the arguments in processes of their own, side by side;
    returns how they ended.
    """
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=target, args=given) for given in arguments]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    return [process.exitcode for process in processes]


def die_after(stored: int) -> None:
    """Kill this process as soon as it has stored so many answers."""
    settle, left = Store.settle, [None] * stored

    def settle_and_die(
        store: Store, key: str, cost: float, record: object = None, **more: object
    ) -> None:
        settle(store, key, cost, record, **more)
        if record is not None:
            left.pop()
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    Store.settle = settle_and_die


def alive(pid: int) -> bool:
    """Whether a process is there and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(pid: int, argument: str | Path) -> set[int]:
    """Return the processes that a process has started with an argument."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    started = {int(child) for path in lists for child in path.read_text().split()}
    return {
        child
        for child in started
        if str(argument) in Path(f"/proc/{child}/cmdline").read_text().split("\0")
    }


def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Wait until the condition holds; whether it did in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False
