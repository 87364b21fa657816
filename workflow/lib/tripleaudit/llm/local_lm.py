"""A local language model behind the protocol of every other endpoint: GGUF to safetensors, ``transformers serve``.

Three parts: :func:`convert_gguf` makes a model folder once; :func:`serve` runs the server in the foreground, as the
command ``tripleaudit serve-lm`` does; :class:`LocalServer` starts that command on demand and stops it again. The
server never outlives its user: it stops when told to, when its process gets a signal, and when the process that
started it is gone, however that ended.
"""

import contextlib
import functools
import json
import logging
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tripleaudit.errors import UserError
from tripleaudit.files import atomic_write
from tripleaudit.machine.storage import explained
from tripleaudit.shipped import PACKAGE

log = logging.getLogger(__name__)

MODEL_FILES = ("config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
"""What a converted model consists of; the chat template is one more file, ``chat_template.jinja``."""
START_SECONDS = 300.0
STOP_SECONDS = 10.0


def convert_gguf(gguf: str | Path, folder: str | Path) -> Path:
    """Write the model of a GGUF file as float32 safetensors with its tokenizer and chat template.

    Args:
        gguf: the file; any architecture and quantization that transformers reads.
        folder: where the model goes; files of the same names are replaced.

    Raises:
        UserError: the file is missing or is no GGUF file, or it holds no chat template.
    """
    gguf, folder = Path(gguf), Path(folder)
    if not gguf.is_file():
        raise UserError(f"{gguf}: no such file, expected a language model as GGUF")
    with open(gguf, "rb") as stream:
        if stream.read(4) != b"GGUF":
            raise UserError(f"{gguf}: not a GGUF file (it does not begin with 'GGUF')")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    where = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    with _read_once():
        tokenizer = AutoTokenizer.from_pretrained(**where)
        if not tokenizer.chat_template:
            raise UserError(
                f"{gguf}: this model has no chat template, so it cannot be asked; expected an instruct model"
            )
        model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
    model.hf_quantizer = None  # the weights are plain float32 now; with it, nothing may be saved
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.config.architectures = [type(model).__name__]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with explained(folder), tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as work:
        model.save_pretrained(work, max_shard_size="100GB")
        tokenizer.save_pretrained(work)
        folder.mkdir(exist_ok=True)
        umask = os.umask(0)
        os.umask(umask)
        for path in sorted(Path(work).iterdir()):
            path.chmod(0o666 & ~umask)
            os.replace(path, folder / path.name)
    return folder


@contextlib.contextmanager
def _read_once() -> Iterator[None]:
    """Keep what the GGUF library reads and builds: transformers asks for the header three times and for the table of
    tensor names once for each module, which is most of the time of a conversion."""
    import gguf

    names = ("GGUFReader", "get_tensor_name_map")
    originals = {name: getattr(gguf, name) for name in names if hasattr(gguf, name)}
    try:
        for name, function in originals.items():
            setattr(gguf, name, functools.cache(function))
        yield
    finally:
        for name, function in originals.items():
            setattr(gguf, name, function)


def check_model(folder: str | Path) -> Path:
    """Return ``folder`` if it holds a model that can be served: configuration, safetensors, tokenizer.

    Raises:
        UserError: something is missing.
    """
    folder = Path(folder)
    if not (folder / "config.json").is_file() or not any(folder.glob("*.safetensors")):
        raise UserError(f"{folder}: not a model folder, expected config.json, *.safetensors and a tokenizer")
    if not any((folder / name).is_file() for name in ("tokenizer.json", "tokenizer_config.json", "vocab.json")):
        raise UserError(f"{folder}: the model has no tokenizer; expected tokenizer.json")
    return folder


@dataclass(frozen=True)
class Serving:
    """How a model is served.

    Attributes:
        device: as ``transformers serve --device``.
        seed: of sampling; greedy answers need none.
        threads: CPU threads of the model; None leaves it to the environment.
        until_stdin_closes: stop also when standard input ends, as it does when the process that holds it is gone.
        timeout: seconds until the server must answer.
    """

    device: str = "auto"
    seed: int | None = None
    threads: int | None = None
    until_stdin_closes: bool = False
    timeout: float = START_SECONDS


def serve(
    folder: str | Path,
    name: str,
    url_file: str | Path,
    log_file: str | Path,
    how: Serving,
) -> int:
    """Serve a model in the foreground until a signal arrives, and return the exit status.

    Args:
        folder: the model, see :func:`check_model`.
        name: what requests call the model.
        url_file: gets the base URL (``http://127.0.0.1:<free port>/v1``) once the server answers; removed at the end.
        log_file: output of the server.

    Raises:
        UserError: the model cannot be served; the message has the server's last words.
    """
    folder = check_model(folder).resolve()
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)*", name) or ".." in name.split("/"):
        raise UserError(f"model name {name!r}: expected letters, digits, '.', '-', '_' and '/'")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.set())
    if how.until_stdin_closes:
        threading.Thread(target=_wait_for_end_of_input, args=(stop,), daemon=True).start()
    url_file, log_file = Path(url_file), Path(log_file)
    log_file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tripleaudit-lm-") as work, open(log_file, "wb") as output:
        # the server names models by path: a link makes the path the name, whatever the folder is called
        link = Path(work) / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(folder)
        server = None
        try:
            server, url = _start(work, name, how, output, stop)
            if server is None:
                return 0
            with atomic_write(url_file) as stream:
                stream.write(url)
            log.info("serving %s at %s", name, url)
            while not stop.wait(0.2):
                if server.poll() is not None:
                    raise UserError(
                        f"the language-model server ended with status {server.returncode}: {_tail(log_file)}"
                    )
            return 0
        finally:
            url_file.unlink(missing_ok=True)
            _stop(server)


def _start(
    work: str, name: str, how: Serving, output: IO[bytes], stop: threading.Event
) -> tuple[subprocess.Popen | None, str]:
    """Start the server on a free port and wait until it answers; another port if somebody was faster."""
    log_file, deadline = Path(output.name), time.monotonic() + how.timeout
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    environment.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that spin while they wait stall a busy machine
    if how.threads:
        environment["OMP_NUM_THREADS"] = str(how.threads)
    for _ in range(3):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, "-c", "from transformers.cli.transformers import main; main()", "serve", name]
        command += ["--host", "127.0.0.1", "--port", str(port), "--device", how.device]
        command += ["--default-seed", str(how.seed)] if how.seed is not None else []
        server = subprocess.Popen(
            command,
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=_die_with_parent,
        )
        while server.poll() is None:
            if stop.is_set():
                _stop(server)
                return None, ""
            if _healthy(port):
                return server, f"http://127.0.0.1:{port}/v1"
            if time.monotonic() > deadline:
                _stop(server)
                raise UserError(f"the language-model server did not answer within {how.timeout:g} s: {_tail(log_file)}")
            stop.wait(0.1)
        if "address already in use" not in _tail(log_file, 4000):
            break
    said = _tail(log_file)
    if missing := re.search(r"ModuleNotFoundError: No module named '([\w.]+)'", said):
        raise UserError(
            f"the language-model server: {missing[1]} is not installed; expected what this brings: "
            "pip install 'tripleaudit[serve]'"
        )
    raise UserError(f"the language-model server did not start (status {server.returncode}): {said}")


def _healthy(port: int) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # never through a proxy
    try:
        with opener.open(f"http://127.0.0.1:{port}/health", timeout=2) as response:
            return json.load(response).get("status") == "ok"
    except (OSError, ValueError):
        return False


def _stop(process: subprocess.Popen | None) -> None:
    if process is None or process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _die_with_parent() -> None:
    """In the child: let the kernel end it when its parent is killed without a chance to say so (Linux)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def _wait_for_end_of_input(stop: threading.Event) -> None:
    while not stop.is_set():
        ready, _, _ = select.select([0], [], [], 1.0)
        if ready and not os.read(0, 4096):
            stop.set()


def _tail(path: Path, size: int = 400) -> str:
    """Return the last words of a log on one line."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "(no log)"
    return " ".join(text[-size:].split()) or "(the log is empty)"


class LocalServer:
    """A server that is started when it is first needed and runs until :meth:`stop` or the end of this process.

    Args:
        folder: the model, see :func:`check_model`.
        name: what requests call the model; part of the cache key of their answers.
        log_file: output of the server; None keeps it in a temporary folder.
        device, threads, timeout: see :class:`Serving`.
    """

    def __init__(
        self,
        folder: str | Path,
        name: str,
        log_file: str | Path | None = None,
        device: str = "auto",
        threads: int | None = None,
        timeout: float = START_SECONDS,
    ) -> None:
        self.folder, self.name, self.log_file = Path(folder), name, log_file
        self.device, self.threads, self.timeout = device, threads, timeout
        self._process: subprocess.Popen | None = None
        self._work: tempfile.TemporaryDirectory | None = None
        self._url = ""
        self._lock = threading.Lock()

    def start(self) -> str:
        """Start the server if it is not running and return its base URL.

        Raises:
            UserError: the model cannot be served.
        """
        with self._lock:
            if self._process is not None and self._process.poll() is None:
                return self._url
            check_model(self.folder)
            began = time.monotonic()
            self._work = self._work or tempfile.TemporaryDirectory(prefix="tripleaudit-serve-")
            work = Path(self._work.name)
            url_file, errors = work / "url", work / "errors"
            log_file = Path(self.log_file) if self.log_file else work / "server.log"
            command = [sys.executable, "-m", "tripleaudit", "serve-lm", "--model-dir", str(self.folder)]
            command += ["--name", self.name, "--url-file", str(url_file), "--server-log", str(log_file)]
            command += ["--device", self.device, "--start-timeout", str(self.timeout), "--until-stdin-closes"]
            command += ["--threads", str(self.threads)] if self.threads else []
            path = os.pathsep.join(filter(None, [str(PACKAGE.parent), os.environ.get("PYTHONPATH")]))
            with open(errors, "wb") as stream:
                self._process = subprocess.Popen(
                    command,
                    env={**os.environ, "PYTHONPATH": path},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=stream,
                    start_new_session=True,  # Ctrl-C reaches us first, and we stop it in order
                )
            while not url_file.exists():
                if self._process.poll() is not None:
                    message = _tail(errors, 1000).removeprefix("error: ")
                    raise UserError(f"the local model {self.name} cannot be served: {message}")
                time.sleep(0.1)
            self._url = url_file.read_text(encoding="utf-8").strip()
            log.info("local model %s is ready after %.1f s", self.name, time.monotonic() - began)
            return self._url

    def stop(self) -> None:
        """Stop the server and wait for its end; without effect if it is not running."""
        with self._lock:
            if self._process is not None:
                with contextlib.suppress(OSError):
                    self._process.stdin.close()
                _stop(self._process)
                self._process = None
            if self._work is not None:
                shutil.rmtree(self._work.name, ignore_errors=True)
                self._work.cleanup()
                self._work = None
