"""Local language models: a llama.cpp server in its own process, used as any endpoint.

:class:`LocalServer` starts ``python -m tripleaudit.llm.llama`` when it is first needed. That
process ends with its standard input, so it never outlives the process that started it, however that
ended.

One request at a time; what a prompt shares with the one before is not read again. Keys and values
are kept in 8 bits, which llama.cpp reads token by token, and so do its kernels for the shipped
model's weights: an answer depends on its request alone, to the last bit.
"""

import importlib.util
import logging
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

from tripleaudit.core.errors import UserError
from tripleaudit.core.process_groups import WatchedGroup
from tripleaudit.core.shipped import PACKAGE
from tripleaudit.llm.endpoint import CONTEXT

log = logging.getLogger(__name__)
STOP_SECONDS = 10.0


def check_gguf(path: str | Path) -> Path:
    """Return ``path`` if it is a GGUF file.

    Raises:
        UserError: it is missing, or something else.
    """
    path = Path(path)
    if not path.is_file():
        raise UserError(f"{path}: no such file, expected a language model as GGUF")
    with path.open("rb") as stream:
        if stream.read(4) != b"GGUF":
            raise UserError(f"{path}: not a GGUF file (it does not begin with 'GGUF')")
    return path


class LocalServer:
    """Server that starts on first use and runs until :meth:`stop` or the end of this process.

    Args:
        log_file: output of the server; None keeps it in a temporary file.
        context: tokens that prompt and answer may have together; None for
            :data:`.endpoint.CONTEXT`.
    """

    def __init__(
        self,
        gguf: str | Path,
        log_file: str | Path | None = None,
        context: int | None = None,
        threads: int | None = None,
    ) -> None:
        self.gguf, self.log_file = Path(gguf), log_file
        self.context, self.threads = context or CONTEXT, threads or 1
        self._process: subprocess.Popen[str] | None = None
        self._group: WatchedGroup | None = None
        self._log: IO[bytes] | None = None
        self._url = ""

    def start(self) -> str:
        """Start the server if it is not running and return its base URL.

        Raises:
            UserError: the model cannot be served; the message has the server's last words.
            ModuleNotFoundError: xllamacpp is not installed.
        """
        if self._process is not None and self._process.poll() is None:
            return self._url
        check_gguf(self.gguf)
        if importlib.util.find_spec("xllamacpp") is None:
            raise ModuleNotFoundError("No module named 'xllamacpp'", name="xllamacpp")
        began = time.monotonic()
        if self._log is None:
            if self.log_file is not None:
                Path(self.log_file).parent.mkdir(parents=True, exist_ok=True)
            if self.log_file:
                self._log = Path(self.log_file).open("w+b")  # noqa: SIM115
            else:
                self._log = tempfile.TemporaryFile()  # noqa: SIM115
        path = os.pathsep.join(filter(None, [str(PACKAGE.parent), os.environ.get("PYTHONPATH")]))
        # threads that spin while they wait stall a busy machine
        environment = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ, "PYTHONPATH": path}
        self._group = WatchedGroup()
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "tripleaudit.llm.llama",
                self.gguf,
                str(self.context),
                str(self.threads),
            ],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            process_group=self._group.id,  # Ctrl-C reaches us first, and we stop it in order
        )
        assert self._process.stdout is not None  # a pipe
        self._url = self._process.stdout.readline().strip()
        if not self._url:
            self._end()
            self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - 400))
            output = " ".join(self._log.read().decode("utf-8", "replace").split())
            raise UserError(
                f"{self.gguf}: this model cannot be served: {output or 'the server printed nothing'}"
            )
        log.info("local model %s is ready after %.1f s", self.gguf.stem, time.monotonic() - began)
        return self._url

    def stop(self) -> None:
        """Stop the server and wait for its end; without effect if it is not running."""
        self._end()
        if self._log is not None:
            self._log.close()
            self._log = None

    def _end(self) -> None:
        if self._process is not None:
            try:
                self._process.communicate(
                    timeout=STOP_SECONDS
                )  # closes its input, at which it ends
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        if self._group is not None:
            self._group.kill()
            self._group = None


def main(gguf: str, context: str, threads: str) -> None:
    """Serve a model until standard input ends; its base URL is the only line of output."""
    import xllamacpp

    options = xllamacpp.CommonParams()
    options.model.path, options.model_alias = gguf, {Path(gguf).stem}
    options.n_ctx, options.n_parallel = int(context), 1
    options.cache_ram_mib, options.flash_attn_type = 0, 1
    options.cache_type_k = options.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_Q8_0
    options.use_jinja, options.warmup, options.ui = True, False, False
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = int(threads)
    try:
        server = xllamacpp.Server(options)
    except RuntimeError:  # its last words, which say why, are in the log
        sys.exit(1)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()
    os._exit(0)  # whatever is being answered: nobody is there to hear it


if __name__ == "__main__":
    main(*sys.argv[1:])
