"""Groups of processes that end with the job that started them."""

import contextlib
import os
import signal
import subprocess
import sys

from tripleaudit.core import watcher


class WatchedGroup:
    """A process group that ends with this process, however this process ends.

    Works on every system with POSIX process groups: the leader of the group is a small program at
    the other end of a pipe that this process alone holds open (:mod:`tripleaudit.core.watcher`). It
    runs before any other process of the group is started, so that none can escape.

    Attributes:
        id: of the group, for the argument ``process_group`` of processes that are to join it.
    """

    def __init__(self) -> None:
        self._leader = subprocess.Popen(
            [sys.executable, "-I", "-S", watcher.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        self.id = self._leader.pid

    def kill(self) -> None:
        """Kill all processes of the group."""
        if self._leader.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.id, signal.SIGKILL)
            self._leader.communicate()
