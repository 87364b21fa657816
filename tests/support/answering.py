"""A local service that answers as the systems by ``address`` do."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from support.serving import serving


@dataclass
class Service:
    """Answers with what is ``said`` of a text: triples, or a status; with status 200, with no JSON, but the key.

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
            text = " ".join(["no JSON", *self.headers.get_all("Authorization", [])])  # as pages for debugging do
            self.wfile.write(text.encode() if said == 200 else json.dumps({"triples": said}).encode())

    with serving(Handler) as service.url:
        yield service
