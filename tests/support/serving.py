"""A server of HTTP on a free port of this machine for as long as a test needs it."""

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """Takes many connections at once; clients that go away are part of the game."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), type("Quiet", (handler,), {"log_message": lambda *_: None}))
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)

    def handle_error(self, request: object, client_address: object) -> None:
        pass

    def stop(self) -> None:
        self.shutdown()
        self.server_close()


@contextlib.contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve by ``do_GET`` and ``do_POST`` of a handler; yields the address."""
    server = Server(handler)
    server.thread.start()
    try:
        yield server.url
    finally:
        server.stop()
