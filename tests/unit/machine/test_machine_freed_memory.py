"""Freed memory is kept for the next use, unless the user has set how memory is handed out."""

import os
import platform
import subprocess
import sys

import pytest

CODE = """
import resource, numpy as np
from tripleaudit.machine.memory import keep_freed_memory
kept = keep_freed_memory()
np.ones(2**23)  # 64 MiB, more than glibc ever keeps by default
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    np.ones(2**23)
print(int(kept), resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def kept_and_faults(**variables: str) -> tuple[int, int]:
    """What ``keep_freed_memory`` returned, and pages that the system cleared for five more large arrays."""
    clean = {key: value for key, value in os.environ.items() if key not in ("GLIBC_TUNABLES", "LD_PRELOAD")}
    clean = {key: value for key, value in clean.items() if not key.startswith("MALLOC_")}
    environment = {**clean, "OMP_NUM_THREADS": "1", "NUMPY_MADVISE_HUGEPAGE": "0", **variables}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    return tuple(map(int, done.stdout.split()))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be set so")
def test_large_arrays_use_the_memory_of_freed_ones():
    kept, faults = kept_and_faults()
    assert kept == 1
    assert faults < 1000
    kept, faults = kept_and_faults(MALLOC_TRIM_THRESHOLD_="131072")
    assert kept == 0
    assert faults > 50_000
