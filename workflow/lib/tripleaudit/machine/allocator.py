"""How the C library hands out memory to processes that compute with PyTorch on a CPU.

By default glibc asks the operating system for every large block anew and gives it back at once. A training step makes
the same large temporaries again and again, and each time the system clears their pages first: up to a tenth of a step
goes into that. Kept blocks are used again instead; the process is as large as its peak until it ends, as it would be
with a caching allocator of a GPU.
"""

import ctypes
import os
import platform

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # of mallopt(3)
VARIABLES = ("MALLOC_MMAP_MAX_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES", "LD_PRELOAD")


def keep_freed_memory() -> bool:
    """Keep freed blocks in the process; False where the C library is another one or the user has set its behaviour."""
    if platform.libc_ver()[0] != "glibc" or any(os.environ.get(name) for name in VARIABLES):
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(M_MMAP_MAX, 0) and mallopt(M_TRIM_THRESHOLD, 2**31 - 1))
