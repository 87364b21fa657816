"""Snakemake and the jobs of a study as forks of one process that has imported what they import.

A job takes 0.1 s in place of 4, a dry-run half of its time. Rules and Snakemake stay as they are:
``warm/sitecustomize.py`` hands ``tripleaudit …`` and ``snakemake …`` over by a Unix socket, and
ends with the status of the fork that ran it. A fork imports the package itself, so a copy of the
project that a test has changed runs its own code.
"""

import atexit
import contextlib
import importlib
import json
import os
import pkgutil
import re
import runpy
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from functools import cache
from pathlib import Path

LARGE = (
    "torch",
    "transformers.modeling_utils",
    "transformers.models.bert.modeling_bert",
    "tokenizers",
)
LARGE += (
    "safetensors.torch",
    "scipy.sparse",
    "yaml",
    "pydantic",
    "snakemake.cli",
    "snakemake.report",
    "pandas",
    "altair",
    "openai",
)
LARGE += tuple(
    info.name for info in pkgutil.iter_modules() if re.match("snakemake_[a-z]+_plugin_", info.name)
)


@cache
def warm() -> dict[str, str]:
    """The environment in which jobs of this test process are forked; its server starts at the
    first call.
    """
    address = str(Path(tempfile.mkdtemp(prefix="warm-")) / "jobs")
    command, environment = [sys.executable, __file__, address], {**os.environ, **SETTINGS}
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, env=environment, start_new_session=True
    )
    deadline = time.monotonic() + MAX_START
    while not Path(address).exists() and server.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)  # jobs that started before would import for themselves
    _servers.append(server)  # its standard input closes with this process, and it ends
    return {"TRIPLEAUDIT_WARM": address, "PYTHONPATH": str(Path(__file__).parent / "warm")}


SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "TRIPLEAUDIT_QUIET": "0",
}
MAX_START = 300  # seconds
_servers: list[subprocess.Popen] = []


def serve(address: str) -> None:
    """Answer requests at ``address`` until standard input ends."""
    for name in LARGE:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{address}.new")
        server.listen(8)
        os.rename(f"{address}.new", address)  # jobs that start before this import for themselves
        while sys.stdin not in select.select([server, sys.stdin], [], [])[0]:
            client, _ = server.accept()
            size, files, _, _ = socket.recv_fds(client, 8, 3)
            request = client.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
            child = os.fork()
            if child == 0:
                server.close()
                _run(files, *json.loads(request))
            for file in files:
                os.close(file)
            threading.Thread(target=_report, args=(client, child), daemon=True).start()
    shutil.rmtree(Path(address).parent)


def _report(client: socket.socket, child: int) -> None:
    """Send the status of a fork to the job that waits for it."""
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with client, contextlib.suppress(OSError):
        client.sendall(bytes([status if status >= 0 else 128 - status]))


def _run(
    files: list[int], module: str, arguments: list[str], folder: str, environment: dict[str, str]
) -> None:
    """Be the process: its standard streams, folder, environment and arguments; never returns."""
    status = 1
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:0] = ["", *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
        sys.argv = [module, *arguments]
        if module == "tripleaudit" and (folder := environment.get("TRIPLEAUDIT_TRACE")):
            _trace(folder, arguments)
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _trace(folder: str, arguments: list[str]) -> None:
    """Write into a folder what the command used at its end: modules of the package, and the data
    files of it.
    """
    opened: set[str] = set()

    def note(event: str, given: tuple) -> None:
        if event == "open" and isinstance(given[0], str) and "/tripleaudit/data/" in given[0]:
            opened.add(given[0].partition("/tripleaudit/data/")[2])

    def write() -> None:
        used = sorted(name for name in sys.modules if name.split(".")[0] == "tripleaudit")
        found = {"arguments": arguments, "modules": used, "data": sorted(opened)}
        Path(folder, f"{os.getpid()}.json").write_text(json.dumps(found), encoding="utf-8")

    sys.addaudithook(note)
    atexit.register(write)


if __name__ == "__main__":
    serve(sys.argv[1])
