"""Ray: joined at its address, or started on this machine for one run; what it lacks and how it dies, in a sentence."""

import contextlib
import functools
import logging
import math
import os
import secrets
import select
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from tripleaudit.errors import UserError
from tripleaudit.machine.devices import environment

STORE = 1 << 29  # bytes that blocks between two stages may take on this machine
# CPUs that Ray sets aside for a process that keeps one busy, and for one that does not: as many workers as there are
# CPUs leave room for the rest. They differ, so that no two stages become one
BUSY, LIGHT = 0.75, 0.25
REACHED = 20  # seconds within which a cluster has to answer
FOLDER = "tripleaudit-ray"
DIED = (
    "error: Ray's daemon on this machine (the raylet) died, killed or out of memory; all finished blocks stand, and "
    "the same command goes on from them. What it said last is in {log}, until the next run\n"
)
# what processes on other machines need of this one's environment
ELSEWHERE = ("PYTHONPATH", "TRIPLEAUDIT_PLUGINS", "AWS_ENDPOINT_URL", "HF_HUB_OFFLINE")
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
}


@dataclass(frozen=True)
class Cluster:
    """Where the pipeline runs.

    Attributes:
        workers: processes that hold the models.
        gpus: of each of them: 1, a share such as 0.25, or 0 for a CPU.
        address: of a Ray cluster; None starts one on this machine for as long as the run takes.
    """

    workers: int = 1
    gpus: float = 0.0
    address: str | None = field(default_factory=lambda: os.environ.get("RAY_ADDRESS") or None)

    @property
    def cpus(self) -> float:
        """CPUs without which a stage would wait for ever."""
        return self.workers * BUSY + LIGHT


@contextlib.contextmanager
def connected(cluster: Cluster) -> Iterator[None]:
    """Join a Ray cluster, or start one on this machine that ends with the block and leaves nothing behind.

    Raises:
        UserError: the cluster does not answer, or lacks what was asked for.
    """
    with _settings_of_ray(cluster), contextlib.ExitStack() as ending:
        import ray

        folder = None
        start = functools.partial(ray.init, log_to_driver=True, logging_level=logging.ERROR)
        if ray.is_initialized():
            pass
        elif cluster.address:
            ending.callback(ray.shutdown)
            try:
                _reach(cluster.address)
                variables = {name: os.environ[name] for name in ELSEWHERE if name in os.environ}
                start(address=cluster.address, runtime_env={"env_vars": variables})
            except (OSError, RuntimeError, ValueError) as error:
                said = str(error).splitlines()[0]
                raise UserError(f"RAY_ADDRESS {cluster.address}: no Ray cluster answers there ({said})") from error
        else:
            folder = _own_folder()
            ending.callback(shutil.rmtree, folder, ignore_errors=True)
            ending.callback(ray.shutdown)
            start(
                address="local",
                num_cpus=math.ceil(cluster.cpus),
                object_store_memory=STORE,
                include_dashboard=False,
                _temp_dir=str(folder),
            )
        check_resources(cluster)
        with _watched(folder):
            yield


@contextlib.contextmanager
def _watched(folder: Path | None) -> Iterator[None]:
    """End this process with one sentence when the daemon of its own Ray dies, before Ray ends it with a dump."""
    from ray._private import worker

    if folder is None or not hasattr(os, "pidfd_open"):
        yield
        return
    daemon, over = os.pidfd_open(worker._global_node.all_processes["raylet"][0].process.pid), threading.Event()

    def watch() -> None:
        select.select([daemon], [], [])
        os.close(daemon)
        if not over.is_set():
            sys.stderr.write(DIED.format(log=folder / "session_latest" / "logs" / "raylet.out"))
            sys.stderr.flush()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _reach(address: str) -> None:
    """Raise OSError if nobody listens at an address, which Ray would find out after minutes."""
    parsed = urlsplit(address if "://" in address else f"//{address}")
    if parsed.port:
        socket.create_connection((parsed.hostname, parsed.port), timeout=REACHED).close()


def _settings_of_ray(cluster: Cluster) -> contextlib.AbstractContextManager[None]:
    """Let Ray be quiet, report nothing to anybody, and obey nobody but this process."""
    names = {name: value for name, value in QUIET.items() if name not in os.environ}
    if not cluster.address and "RAY_AUTH_TOKEN" not in os.environ:
        names |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": _token()}
    return environment(names)


@functools.cache
def _token() -> str:
    return secrets.token_hex(32)  # Ray reads it once in a process


def check_resources(cluster: Cluster) -> None:
    """Refuse a cluster on which the pipeline would wait for ever.

    Raises:
        UserError: it has fewer GPUs, or CPUs, than the workers take.
    """
    import ray

    there = ray.cluster_resources()
    for resource, needed in (("GPU", cluster.workers * cluster.gpus), ("CPU", cluster.cpus)):
        if there.get(resource, 0) < needed:
            raise UserError(
                f"{cluster.workers} workers need {needed:g} {resource}s, but the Ray cluster has "
                f"{there.get(resource, 0):g}; expected fewer --workers, a smaller --gpus, or a larger cluster"
            )


def _own_folder() -> Path:
    """Return a new folder for Ray's sockets and logs; those of processes that were killed are removed."""
    root = Path("/tmp" if Path("/tmp").is_dir() else tempfile.gettempdir())  # names of sockets may not be long
    for old in root.glob(f"{FOLDER}-*-*"):
        with contextlib.suppress(ValueError, PermissionError):
            try:
                os.kill(int(old.name.split("-")[2]), 0)
            except ProcessLookupError:
                shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{FOLDER}-{os.getpid()}-", dir=root))
