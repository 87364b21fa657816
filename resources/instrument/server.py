"""Serve the scripted models by the OpenAI protocol: ``python resources/instrument/server.py
[STUDY_FOLDER]``.
"""

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from instrument import Needle, answer, embed, study_parser

PORT = 8765


def read_needles(study: Path) -> list[Needle]:
    """Return the needles of a study, none before they are made."""
    path = study / "needles/corpus/needles.jsonl"
    if not path.is_file():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Needle(row["id"], row["type"], row["paragraph"], row["name"], row["keywords"])
        for row in rows
    ]


def reply(path: str, body: dict[str, Any], study: Path) -> dict[str, Any]:
    """Return the response to a request."""
    if path.endswith("/embeddings"):
        rows = [
            {"index": index, "embedding": embed(text)} for index, text in enumerate(body["input"])
        ]
        return {
            "model": body["model"],
            "data": rows,
            "usage": {"prompt_tokens": len(rows), "total_tokens": len(rows)},
        }
    text = answer(body, read_needles(study))
    prompt_tokens = sum(len(message["content"]) for message in body["messages"]) // 4
    return {
        "model": body["model"],
        "created": int(time.time()),
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": len(text) // 4},
    }


def serve(study: Path, port: int) -> None:
    """Answer requests until the program is stopped."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = json.dumps(reply(self.path, body, study)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    parser = study_parser(__doc__)
    parser.add_argument("--port", type=int, default=PORT)
    args = parser.parse_args()
    serve(args.study, args.port)
