"""Setup of processes with a model: threads, logging, quiet libraries, relations."""

import contextlib
import logging
import sys
import warnings
from collections.abc import Iterator, Sequence

import torch
import transformers

from tripleaudit.core.devices import gpu_slot, share
from tripleaudit.core.errors import UserError
from tripleaudit.core.memory import is_out_of_memory, keep_freed_memory
from tripleaudit.corpora.model import Sentence

logger = logging.getLogger(__name__)

WORKSPACE = (
    2**26
)  # bytes that CUDA's libraries want at least, asked for at once: a device that is full says so here


def set_up(threads: int = 0, level: int = logging.INFO) -> None:
    """Log to standard error with times, silence libraries, bound threads, keep freed memory.

    Args:
        threads: CPU threads; 0 leaves PyTorch's choice.
        level: of the log.
    """
    logging.basicConfig(
        level=logging.WARNING,
        stream=sys.stderr,
        format="%(asctime)s %(message)s",
        datefmt="%H:%M:%S",
        force=True,
    )
    logging.getLogger("tripleaudit").setLevel(level)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    # weights of an LSTM that are padded for each batch cannot lie in one piece
    warnings.filterwarnings(
        "ignore", "RNN module weights are not part of single contiguous chunk of memory"
    )
    if threads > 0:
        torch.set_num_threads(threads)
    keep_freed_memory()


def device(gpu: str) -> torch.device:
    """Return where a model runs.

    Args:
        gpu: ``auto`` is the first GPU where there is one, else the CPU; ``0`` is the CPU, ``1`` the
            first GPU.

    Raises:
        UserError: a GPU is asked for and there is none, or other programs fill it.
    """
    if gpu == "1" and not torch.cuda.is_available():
        raise UserError(
            "a GPU was asked for, but PyTorch sees none; expected a CUDA device, or --gpu 0"
        )
    wanted = gpu == "1" or (gpu == "auto" and torch.cuda.is_available())
    if not wanted:
        return torch.device("cpu")
    first = torch.device("cuda", 0)
    try:
        torch.cuda.set_per_process_memory_fraction(1 / share(), first)
        torch.zeros(WORKSPACE, dtype=torch.uint8, device=first)
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        raise UserError(
            "the GPU has no memory left: another program fills it (nvidia-smi lists programs); expected a device with "
            "room. Wait for that program, name another device in CUDA_VISIBLE_DEVICES, or set gpu: 0"
        ) from error
    return first


@contextlib.contextmanager
def taken(gpu: str) -> Iterator[torch.device]:
    """Take a device for the block, waiting until one is free, after the host's work."""
    with gpu_slot(gpu):
        yield device(gpu)


def report_unknown_relations(
    sentences: Sequence[Sentence], relations: Sequence[str], split: str
) -> None:
    """Log gold relations that a model cannot predict: they count as misses."""
    known = set(relations)
    unknown = [
        t.relation for sentence in sentences for t in sentence.triples if t.relation not in known
    ]
    if unknown:
        names = sorted(set(unknown))
        logger.warning(
            "%d %s triples have a relation that was not in training (%s%s); they count as misses",
            len(unknown), split, ", ".join(names[:5]), ", …" if len(names) > 5 else "",
        )  # fmt: skip
