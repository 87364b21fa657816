"""Program that ends the processes of a job when the job itself is gone.

It runs as a script of its own, without the package, and waits for its standard input: a byte means
that the job has ended its processes itself. The end of the input without a byte means that the job
was killed (``kill -9``, the out-of-memory killer, a scheduler), because the kernel then closes its
end of the pipe; all processes of the group are killed.
"""

import contextlib
import os
import signal
import sys


def watch(group: int) -> None:
    """Wait for the job, and kill a process group unless the job has released it."""
    if sys.stdin.buffer.read(1):
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    watch(int(sys.argv[1]))
