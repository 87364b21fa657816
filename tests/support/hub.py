"""A stand-in of the hub's API on this machine, as far as pushing in one commit goes: it keeps what it is given."""

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FakeHub:
    """A hub behind ``url``.

    Attributes:
        repositories: name -> {path: bytes} of the last commit.
        asked: ``METHOD path`` of every request.
        tokens: what the requests had in ``Authorization``.
        refuses: status that every request is answered with, 0 for none.
    """

    def __init__(self) -> None:
        self.repositories: dict[str, dict[str, bytes]] = {}
        self.private: dict[str, bool] = {}
        self.asked: list[str] = []
        self.tokens: set[str | None] = set()
        self.refuses = 0

    def __enter__(self) -> "FakeHub":
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.headers.get("Transfer-Encoding") == "chunked":
                    while size := int(self.rfile.readline(), 16):
                        body += self.rfile.read(size)
                        self.rfile.readline()
                hub.tokens.add(self.headers.get("Authorization"))
                status, value = (hub.refuses, {"error": "no"}) if hub.refuses else hub.post(self.path, body)
                self.say(status, value)

            def do_GET(self) -> None:
                hub.asked.append(f"GET {self.path}")
                self.say(404, {"error": "no such thing"})

            do_HEAD = do_GET

            def say(self, status: int, value: object) -> None:
                content = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            def log_message(self, *arguments) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self.server.shutdown()
        self.server.server_close()

    def post(self, path: str, body: bytes) -> tuple[int, object]:
        """Answer one request as the hub does."""
        path = path.partition("?")[0]
        self.asked.append(f"POST {path}")
        if path == "/api/repos/create":
            asked = json.loads(body)
            name = "/".join(filter(None, (asked.get("organization"), asked["name"])))
            self.repositories.setdefault(name, {})
            self.private[name] = asked.get("visibility") == "private"
            return 200, {"url": f"{self.url}/{name}", "name": name, "id": name}
        if path == "/api/validate-yaml":
            return 200, {"errors": [], "warnings": []}
        parts = path.split("/")  # "", api, models or datasets, owner, name, what, revision
        name = "/".join(parts[3:5])
        if parts[5] == "preupload":
            names = [file["path"] for file in json.loads(body)["files"]]
            return 200, {"files": [{"path": each, "uploadMode": "regular", "shouldIgnore": False} for each in names]}
        if parts[5] == "commit":
            for row in map(json.loads, body.splitlines()):
                if row["key"] == "file":
                    self.repositories[name][row["value"]["path"]] = base64.b64decode(row["value"]["content"])
            url = f"{self.url}/datasets/{name}/commit/1"
            return 200, {"success": True, "commitUrl": url, "commitOid": "1" * 40}
        return 404, {"error": path}
