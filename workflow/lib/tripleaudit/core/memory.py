"""Main memory and GPU memory: keeping freed blocks, and advice when it runs out; no torch."""

import contextlib
import ctypes
import gc
import os
import platform
import sys
from collections.abc import Iterator

from tripleaudit.core.errors import UserError

# PyTorch has a class of its own for GPUs alone; on the CPU the allocator's words are all there is.
CPU = (
    "DefaultCPUAllocator",
    "not enough memory: you tried to allocate",
    "Storage size calculation overflowed",
)
# what CUDA's libraries say where another program holds the memory
GPU = ("CUDA error: out of memory", "_STATUS_ALLOC_FAILED", "_STATUS_NOT_INITIALIZED")

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # of mallopt(3)
VARIABLES = (
    "MALLOC_MMAP_MAX_",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TRIM_THRESHOLD_",
    "GLIBC_TUNABLES",
    "LD_PRELOAD",
)


@contextlib.contextmanager
def paused_collection() -> Iterator[None]:
    """Pause Python's search for unreachable cycles inside the block, or in a decorated function.

    Python searches all objects again and again while millions of them are made, as the sentences
    of a corpus, which takes a fifth of the time and finds nothing.
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
        children: ask about ended children.
    """
    import resource

    used = resource.getrusage(
        resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
    ).ru_maxrss
    return round(used * (1 if sys.platform == "darwin" else 2**10) / 1e6, 1)


def keep_freed_memory() -> bool:
    """Keep freed blocks in the process; return False if the C library or the user forbids it.

    By default glibc gives large blocks back at once, and the system clears their pages again for
    each of the same temporaries of a training step: up to a tenth of it. The process stays as large
    as its peak.
    """
    if platform.libc_ver()[0] != "glibc" or any(os.environ.get(name) for name in VARIABLES):
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(M_MMAP_MAX, 0) and mallopt(M_TRIM_THRESHOLD, 2**31 - 1))


@contextlib.contextmanager
def out_of_memory_advice(
    what: str, setting: str, batch_size: int | None, *, keep: bool = False
) -> Iterator[None]:
    """Turn running out of memory inside the block into a :class:`UserError` with advice.

    Args:
        what: is being done, such as ``training``.
        setting: name of the batch size in the configuration or on the command line.
        batch_size: its value now; None where batches are halved until they fit, so that no other
            value would help.
        keep: a smaller batch would change the result, so name the accumulation that keeps it as it
            is.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        advice = "a smaller encoder, shorter sentences (max_length) or a device with more memory"
        if batch_size is not None and batch_size > 1:
            smaller = next(
                n for n in range(batch_size // 2, 0, -1) if not keep or batch_size % n == 0
            )
            kept = (
                f" with accumulation: {batch_size // smaller} (the same optimiser step)"
                if keep
                else ""
            )
            advice = f"{setting}: {smaller}{kept}"
        where = (
            "even with a single sentence" if batch_size is None else f"at {setting}: {batch_size}"
        )
        kind = (
            "main"
            if isinstance(error, MemoryError) or any(words in str(error) for words in CPU)
            else "GPU"
        )
        raise UserError(f"{what} ran out of {kind} memory {where}; try {advice}") from error


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory could not be allocated, on a GPU or the CPU."""
    if isinstance(error, MemoryError):
        return True
    names = {kind.__name__ for kind in type(error).__mro__}
    return "OutOfMemoryError" in names or any(words in str(error) for words in (*CPU, *GPU))
