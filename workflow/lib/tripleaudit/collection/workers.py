"""Worker processes of one machine, each with the models.

A process that dies leaves the finished blocks.
"""

import multiprocessing
import os
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from tripleaudit.collection.finished import Target
from tripleaudit.collection.pipeline import BlockExtractor, Models, ReadBlock
from tripleaudit.core.devices import devices
from tripleaudit.core.errors import UserError

MAX_WAITING = 2  # blocks per worker that are read but not yet finished

_extractor: BlockExtractor  # of a worker process


def extract_with_workers(
    blocks: Iterable[ReadBlock],
    workers: int,
    models: Models,
    target: Target,
    settings: dict[str, Any],
) -> Iterator[dict[str, Any]]:
    """Yield the facts about blocks as worker processes finish them.

    Memory does not depend on the number of blocks: at most :data:`MAX_WAITING` of them wait for a
    worker.

    Raises:
        UserError: a worker process died.
    """
    context = multiprocessing.get_context("spawn")
    numbers = context.SimpleQueue()
    for number in range(workers):
        numbers.put(number)
    pool = ProcessPoolExecutor(workers, context, _start_worker, (models, target, settings, numbers))
    waiting: set[Future[dict[str, Any]]] = set()
    try:
        for block in blocks:
            waiting.add(pool.submit(_extract_block, block))
            if len(waiting) >= MAX_WAITING * workers:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BrokenProcessPool as error:
        raise UserError(
            "a worker process died (killed, or out of memory); the finished blocks are kept, start the same command "
            "again to go on from them"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _start_worker(models: Models, target: Target, settings: dict[str, Any], numbers: Any) -> None:
    """Load the models of a worker process, on the GPU with its number."""
    global _extractor
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    gpus = None if models.gpu == "0" else devices()
    number = numbers.get()
    if gpus:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpus[number % len(gpus)]
    _extractor = BlockExtractor(models, target, settings)


def _exit_with_parent() -> None:
    """End this process when the one that started it has ended, even if that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _extract_block(block: ReadBlock) -> dict[str, Any]:
    return _extractor.extract(block)
