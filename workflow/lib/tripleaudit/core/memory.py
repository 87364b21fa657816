"""Main memory and GPU memory of a process, without importing torch.

* :func:`paused_collection` speeds up the reading of corpora.
* :func:`peak_mb` is the peak that the provenance of a training records.
* :func:`keep_freed_memory` speeds up training on a CPU.
* :func:`out_of_memory_advice` turns out-of-memory errors of trainings and predictions into advice.
"""

import contextlib
import ctypes
import gc
import os
import platform
import sys
from collections.abc import Iterator

from tripleaudit.core.errors import UserError

# Parts of error messages. PyTorch raises a class of its own, OutOfMemoryError, for GPUs only; for
# main memory it raises RuntimeError with one of these messages. The overflow is that of a tensor
# with more bytes than can be addressed.
MAIN_MEMORY_MESSAGES = (
    "DefaultCPUAllocator",
    "not enough memory: you tried to allocate",
    "Storage size calculation overflowed",
)
# Messages of CUDA's libraries (cuBLAS, cuDNN) for which no memory is left, for example because
# another program holds it.
GPU_MEMORY_MESSAGES = (
    "CUDA error: out of memory",
    "_STATUS_ALLOC_FAILED",
    "_STATUS_NOT_INITIALIZED",
)

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # parameters of mallopt(3)
MALLOC_VARIABLES = (
    "MALLOC_MMAP_MAX_",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TRIM_THRESHOLD_",
    "GLIBC_TUNABLES",
    "LD_PRELOAD",
)
"""Environment variables by which users configure malloc, or replace it, themselves."""


@contextlib.contextmanager
def paused_collection() -> Iterator[None]:
    """Pause Python's garbage collection inside the block, or in a decorated function.

    While millions of objects are made, such as the sentences of a corpus, Python searches all of
    them again and again for unreachable cycles. The search takes a fifth of the reading time and
    finds nothing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def peak_mb(children: bool = False) -> float:
    """Return the peak memory in MB (10^6 bytes) of this process or its largest ended child.

    Args:
        children: return that of the ended child.
    """
    import resource

    processes = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
    peak = resource.getrusage(processes).ru_maxrss
    unit = 1 if sys.platform == "darwin" else 2**10  # bytes
    return round(peak * unit / 1e6, 1)


def keep_freed_memory() -> bool:
    """Let the C library keep freed blocks for later use; the process stays as large as its peak.

    By default glibc returns large blocks to the system at once. The next training step allocates
    blocks of the same sizes, whose pages the system must clear again: up to a tenth of the step.

    Returns:
        Whether it was set; False if the C library is another one, or the user configured malloc.
    """
    is_configured = any(os.environ.get(name) for name in MALLOC_VARIABLES)
    if platform.libc_ver()[0] != "glibc" or is_configured:
        return False
    mallopt = ctypes.CDLL(None).mallopt
    no_separate_blocks = mallopt(M_MMAP_MAX, 0)  # large blocks are part of the heap, too
    no_trimming = mallopt(M_TRIM_THRESHOLD, 2**31 - 1)  # the free end of the heap is kept
    return bool(no_separate_blocks and no_trimming)


@contextlib.contextmanager
def out_of_memory_advice(
    what: str, setting: str, batch_size: int | None, *, keep: bool = False
) -> Iterator[None]:
    """Turn an out-of-memory error inside the block into a :class:`UserError` with advice.

    Args:
        what: the activity for the message, such as ``training``.
        setting: name of the batch size in the configuration or on the command line.
        batch_size: the batch size; None if the caller already halves batches until they fit, so
            that another value cannot help.
        keep: whether the optimiser must see batches of the same size, so that the advice adds
            gradient accumulation to a smaller batch.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        memory = "main" if _is_main_memory(error) else "GPU"
        at = "even with a single sentence" if batch_size is None else f"at {setting}: {batch_size}"
        advice = "a smaller encoder, shorter sentences (max_length) or a device with more memory"
        if batch_size is not None and batch_size > 1:
            advice = _advise_smaller_batch(setting, batch_size, keep)
        raise UserError(f"{what} ran out of {memory} memory {at}; try {advice}") from error


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error says that memory could not be allocated, on a GPU or the CPU."""
    class_names = {kind.__name__ for kind in type(error).__mro__}
    if "OutOfMemoryError" in class_names or _is_main_memory(error):
        return True
    return any(message in str(error) for message in GPU_MEMORY_MESSAGES)


def _is_main_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError):
        return True
    return any(message in str(error) for message in MAIN_MEMORY_MESSAGES)


def _advise_smaller_batch(setting: str, batch_size: int, keep: bool) -> str:
    """Return the advice to halve batches; see :func:`out_of_memory_advice` for ``keep``."""
    smaller = batch_size // 2
    if not keep:
        return f"{setting}: {smaller}"
    while batch_size % smaller:
        smaller -= 1
    accumulation = batch_size // smaller
    return f"{setting}: {smaller} with accumulation: {accumulation} (the same optimiser step)"
