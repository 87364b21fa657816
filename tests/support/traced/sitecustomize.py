"""Python imports this first where its folder is on ``PYTHONPATH``: each command then writes down what it used.

``$TRIPLEAUDIT_TRACE`` gets one JSON file for each process: its arguments, the modules of the package that it had
imported at its end, and the data files of the package that it had opened.
"""

import atexit
import json
import os
import sys

FOLDER = os.environ.get("TRIPLEAUDIT_TRACE")
opened: set[str] = set()


def _note(event: str, arguments: tuple) -> None:
    if event == "open" and isinstance(arguments[0], str) and "/tripleaudit/data/" in arguments[0]:
        opened.add(arguments[0].partition("/tripleaudit/data/")[2])


def _write() -> None:
    if sys.argv and sys.argv[0].endswith("tripleaudit/__main__.py"):
        used = sorted(name for name in sys.modules if name.split(".")[0] == "tripleaudit")
        with open(f"{FOLDER}/{os.getpid()}.json", "w") as stream:
            json.dump({"arguments": sys.argv[1:], "modules": used, "data": sorted(opened)}, stream)


if FOLDER:
    sys.addaudithook(_note)
    atexit.register(_write)
