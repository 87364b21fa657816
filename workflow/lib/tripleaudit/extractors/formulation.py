"""Which of two formulations of the same mathematics runs.

On a CPU every operator costs what it computes, so the fast way looks at values: it skips what is
empty and goes sentence by sentence. On a GPU at these sizes every operator costs its launch, so the
fast way has static shapes and looks at no value, and a whole training step becomes one launch.
``TRIPLEAUDIT_FORMULATION=device`` runs the latter on a CPU, for tests and counts.
"""

import contextlib
import os
from collections.abc import Iterator

import torch
from torch import Tensor

VARIABLE = "TRIPLEAUDIT_FORMULATION"
CPU_CELLS = 2**30
SHARE = 1 / 16  # of a GPU's memory that one table of cells may take


def on_device(where: Tensor | torch.device) -> bool:
    """Whether tensors there take the device's formulation.

    Raises:
        ValueError: the variable has another value than ``device``.
    """
    forced = os.environ.get(VARIABLE, "")
    if forced not in ("", "device"):
        raise ValueError(f"{VARIABLE} is {forced!r}, expected 'device' or nothing")
    return bool(forced) or (where.device if isinstance(where, Tensor) else where).type != "cpu"


def cells_at_once(device: torch.device) -> int:
    """Return how many numbers a table may hold at a time, a constant of the device.

    A graph that was captured once stays valid.
    """
    if device.type != "cuda":
        return CPU_CELLS
    share = torch.cuda.get_per_process_memory_fraction(device) if torch.cuda.is_available() else 1.0
    return int(torch.cuda.get_device_properties(device).total_memory * share * SHARE) // 4


def at_once(device: torch.device, each: int, cells: int) -> int:
    """Return how many candidates of ``each`` numbers are scored together; a CPU holds ``cells``."""
    return max(
        1, (max(cells, cells_at_once(device)) if on_device(device) else cells) // max(1, each)
    )


def half_precision(device: torch.device, wanted: bool) -> bool:
    """Whether bfloat16 is used there."""
    return bool(wanted and device.type == "cuda" and torch.cuda.is_bf16_supported())


@contextlib.contextmanager
def products(device: torch.device, bf16: bool) -> Iterator[None]:
    """Let a GPU multiply float32 in TF32 where bfloat16 is used; elsewhere exactly.

    TF32 has 3 bits more than bfloat16.
    """
    if device.type != "cuda":
        yield
        return
    matmul, before = torch.backends.cuda.matmul, torch.backends.cuda.matmul.allow_tf32
    matmul.allow_tf32 = bf16
    try:
        yield
    finally:
        matmul.allow_tf32 = before
