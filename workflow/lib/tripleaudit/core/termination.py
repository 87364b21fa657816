"""SIGTERM in programs whose handler waits for a lock that their own main thread holds."""

import signal
import threading
from types import FrameType


def handle_sigterm_in_thread() -> None:
    """Let a thread of its own call the present handler of SIGTERM.

    Python calls handlers in the main thread. Snakemake's handler waits for a lock that this thread
    holds while it selects jobs, so that a SIGTERM at that moment would stop Snakemake for ever.
    """
    handler = signal.getsignal(signal.SIGTERM)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        return

    def start_handler(number: int, frame: FrameType | None) -> None:
        threading.Thread(target=handler, args=(number, frame), daemon=True).start()

    signal.signal(signal.SIGTERM, start_handler)
