"""Groups of processes that end with the job that started them."""

import contextlib
import subprocess
import sys

from tripleaudit.core import watcher


class WatchedGroup:
    """A process group that is killed when this process ends in any way before :meth:`release`.

    Works on every system with POSIX process groups: a small program waits at the other end of a
    pipe that this process alone holds open (:mod:`tripleaudit.core.watcher`).

    Args:
        group: id of the group, which is that of the process that was started as its leader.
    """

    def __init__(self, group: int) -> None:
        self._watcher = subprocess.Popen(
            [sys.executable, "-I", "-S", watcher.__file__, str(group)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def release(self) -> None:
        """Stop watching the group, which has ended or is ended by the caller."""
        with contextlib.suppress(OSError):
            self._watcher.communicate(b".")
