"""An HTTP server on this machine that serves files well and badly, as public servers do."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from support.serving import serving


@dataclass
class WebServer:
    """``files`` by path. Each path may have a list of faults, one used up at each request, in this order.

    Faults: a status code; ``"truncate"`` announces everything and sends half; ``"drop"`` closes without an answer;
    ``"change"`` flips one byte; ``"stall"`` sends half and waits until the other side goes away; ``"redirect URL"``.
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
                self.wfile.write(content[: len(content) // 2] if fault in ("truncate", "stall") else content)
                if fault == "stall":
                    with contextlib.suppress(OSError):
                        self.connection.recv(1)

        do_HEAD = do_GET  # of stores, whose clients ask so first

    with serving(Handler) as state.url:
        yield state
