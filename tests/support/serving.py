"""Servers of HTTP on a free port of this machine for as long as a test needs them."""

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Server(ThreadingHTTPServer):
    """Takes many connections at once; clients that go away are part of the game."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(
            ("127.0.0.1", 0), type("Quiet", (handler,), {"log_message": lambda *_: None})
        )
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


@dataclass
class Service:
    """A system by ``address``: it answers with what is ``said`` of a text: triples, or a status.

    With status 200 it answers with no JSON, but the key.

    Attributes:
        requests: ``(row, Authorization)`` of every request.
    """

    said: dict[str, Any]
    url: str = ""
    requests: list[tuple[dict, str | None]] = field(default_factory=list)


@contextlib.contextmanager
def answering(said: dict[str, Any]) -> Iterator[Service]:
    """Run a :class:`Service`."""
    service = Service(said)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            row = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            service.requests.append((row, self.headers.get("Authorization")))
            said = service.said.get(row["text"], [])
            self.send_response(said if isinstance(said, int) else 200)
            self.end_headers()
            text = " ".join(
                ["no JSON", *self.headers.get_all("Authorization", [])]
            )  # as pages for debugging do
            self.wfile.write(
                text.encode() if said == 200 else json.dumps({"triples": said}).encode()
            )

    with serving(Handler) as service.url:
        yield service


@dataclass
class WebServer:
    """Serves ``files`` by path, well and badly, as public servers do.

    Each path may have a list of faults, one used up at each request, in this order.

    Faults: a status code; ``"truncate"`` announces everything and sends half; ``"drop"`` closes
    without an answer; ``"change"`` flips one byte; ``"stall"`` sends half and waits until the other
    side goes away; ``"redirect URL"``.
    """

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, list[int | str]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def serve(self, path: str, content: bytes, *faults: int | str) -> str:
        """Offer ``content`` and return its URL."""
        self.files[path], self.faults[path] = content, list(faults)
        return f"{self.url}/{path}"


@contextlib.contextmanager
def web_server() -> Iterator[WebServer]:
    """Run a :class:`WebServer` on a free port of this machine."""
    state = WebServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.lstrip("/").partition("?")[0]
            state.requests.append(path)
            fault = state.faults[path].pop(0) if state.faults.get(path) else None
            content = state.files.get(path)
            if content is None:
                self.send_error(404)
            elif isinstance(fault, int):
                self.send_error(fault)
            elif fault == "drop":
                self.close_connection = True
                self.connection.close()
            elif isinstance(fault, str) and fault.startswith("redirect "):
                self.send_response(302)
                self.send_header("Location", fault.split(" ", 1)[1])
                self.end_headers()
            else:
                if fault == "change":
                    content = bytes([content[0] ^ 1]) + content[1:]
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(
                    content[: len(content) // 2] if fault in ("truncate", "stall") else content
                )
                if fault == "stall":
                    with contextlib.suppress(OSError):
                        self.connection.recv(1)

        do_HEAD = do_GET  # of stores, whose clients ask so first

    with serving(Handler) as state.url:
        yield state
