"""A local service that answers as the systems by ``address`` do."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Answering:
    """Answers with what is ``said`` of a text: triples, or a status; with status 200, with no JSON, but the key.

    Attributes:
        requests: ``(row, Authorization)`` of every request.
        url: of the service, while it runs.
    """

    def __init__(self, said: dict[str, Any]) -> None:
        self.said, self.requests = said, []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                row = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((row, self.headers.get("Authorization")))
                said = outer.said.get(row["text"], [])
                self.send_response(said if isinstance(said, int) else 200)
                self.end_headers()
                text = " ".join(["no JSON", *self.headers.get_all("Authorization", [])])  # as pages for debugging do
                self.wfile.write(text.encode() if said == 200 else json.dumps({"triples": said}).encode())

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> "Answering":
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
