"""What a process that runs a model sets up once: threads, log lines, quiet libraries."""

import logging
import sys

import torch
import transformers

from tripleaudit.errors import UserError
from tripleaudit.machine.memory import keep_freed_memory


def set_up(threads: int = 0, level: int = logging.INFO) -> None:
    """Log to standard error with times, silence progress bars, bound PyTorch's CPU threads, keep freed memory.

    Args:
        threads: CPU threads; 0 leaves PyTorch's choice.
        level: of the log.
    """
    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", force=True
    )
    logging.getLogger("tripleaudit").setLevel(level)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    if threads > 0:
        torch.set_num_threads(threads)
    keep_freed_memory()


def device(gpu: str) -> torch.device:
    """Return where a model runs.

    Args:
        gpu: ``auto`` is the first GPU where there is one, else the CPU; ``0`` is the CPU, ``1`` the first GPU.

    Raises:
        UserError: a GPU is asked for and there is none.
    """
    if gpu == "1" and not torch.cuda.is_available():
        raise UserError("a GPU was asked for, but PyTorch sees none; expected a CUDA device, or --gpu 0")
    wanted = gpu == "1" or (gpu == "auto" and torch.cuda.is_available())
    return torch.device("cuda", 0) if wanted else torch.device("cpu")
