"""Program that ends the processes of a job when the job itself is gone.

It runs as a script of its own, without the package, as the leader of a process group that the job's
other processes join. It waits for its standard input, whose other end the job alone holds open. When
the job ends in any way, also by ``kill -9``, the out-of-memory killer or a scheduler, the kernel
closes that end, and all processes of the group are killed.
"""

import os
import signal
import sys

if __name__ == "__main__":
    sys.stdin.buffer.read()
    os.killpg(os.getpid(), signal.SIGKILL)
