"""A headless Chromium over the DevTools protocol: enough to load a page from disk, press keys
and read errors.
"""

import base64
import contextlib
import json
import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update"
FLAGS += " --disable-sync --disable-extensions --no-first-run --remote-debugging-port=0 --window-size=1400,1000"
KEYS = {"Tab": 9, "Enter": 13, "Space": 32, "End": 35}
KEYS |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


def binary() -> str | None:
    """The path of an installed Chromium, else None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """A page of the browser: events are kept, every command waits for its answer."""

    def __init__(self, address: str) -> None:
        self._socket = connect(address, max_size=None)
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=30))
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def evaluate(self, script: str) -> Any:
        """Run a script in the page and return its value."""
        result = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def rest(self, milliseconds: int) -> None:
        """Give the page so much time."""
        self.evaluate(f"new Promise(done => setTimeout(done, {milliseconds}))")

    def open(self, path: Path) -> None:
        """Load a file and wait until its scripts have run."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self._load("Page.navigate", url=path.resolve().as_uri())

    def reload(self) -> None:
        """Load the page again and wait until its scripts have run."""
        self._load("Page.reload")

    def _load(self, method: str, **params: Any) -> None:
        self.evaluate("window.left = true")
        self.call(method, **params)
        deadline = time.monotonic() + 30
        while self.evaluate("Boolean(window.left) || document.readyState != 'complete'"):
            assert time.monotonic() < deadline, "the page did not load"
            time.sleep(0.05)

    def press(self, *keys: str) -> None:
        """Press keys one after the other: names in ``KEYS``, or text to type."""
        for key in keys:
            if key in KEYS:
                text = {"Enter": "\r", "Space": " "}.get(key, "")
                code = {
                    "windowsVirtualKeyCode": KEYS[key],
                    "key": " " if key == "Space" else key,
                    "code": key,
                }
                self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **code)
                self.call("Input.dispatchKeyEvent", type="keyUp", **code)
            else:
                self.call("Input.insertText", text=key)

    def problems(self) -> list[str]:
        """Errors and warnings of the console, and exceptions, so far."""
        self.rest(50)
        found = []
        for event in self.events:
            params = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                found.append(json.dumps(params["exceptionDetails"]))
            if event["method"] == "Runtime.consoleAPICalled" and params["type"] in (
                "error",
                "warning",
                "assert",
            ):
                found.append(json.dumps(params["args"]))
            if event["method"] == "Log.entryAdded" and params["entry"]["level"] in (
                "error",
                "warning",
            ):
                found.append(params["entry"]["text"])
        return found

    def requests(self) -> list[str]:
        """The addresses that the page asked for."""
        sent = (event for event in self.events if event["method"] == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in sent]

    def screenshot(
        self, path: Path, height: int = 1000, width: int = 1400, scheme: str = "light"
    ) -> None:
        """Write what is seen from the top of the view, ``height`` pixels of it, as PNG."""
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        path.write_bytes(
            base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        )

    def close(self) -> None:
        self._socket.close()


@contextlib.contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """Start a Chromium with its profile in ``folder`` and yield its first page."""
    log = folder / "chromium.log"
    environment = {**os.environ, "HOME": str(folder), "DBUS_SESSION_BUS_ADDRESS": "disabled:"}
    command = [binary(), *FLAGS.split(), f"--user-data-dir={folder / 'profile'}", "about:blank"]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream, env=environment)
    try:
        page = Page(_page_address(folder / "profile" / "DevToolsActivePort", process, log))
        yield page
        page.close()
    finally:
        process.kill()
        process.wait()


def _page_address(port_file: Path, process: subprocess.Popen, log: Path) -> str:
    deadline = time.monotonic() + 60
    while not (port_file.exists() and "\n" in port_file.read_text()):
        assert process.poll() is None, log.read_text()[-2000:]
        assert time.monotonic() < deadline, "Chromium did not start"
        time.sleep(0.05)
    with urllib.request.urlopen(
        f"http://127.0.0.1:{port_file.read_text().splitlines()[0]}/json/list"
    ) as targets:
        return next(
            one["webSocketDebuggerUrl"] for one in json.load(targets) if one["type"] == "page"
        )
