"""The pipeline on Ray Data: from the files of a collection to finished blocks, on this machine or a cluster."""

import contextlib
import functools
import json
import logging
import math
import os
import secrets
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tripleaudit.collection import pipeline
from tripleaudit.collection.addresses import TextFile, text_files
from tripleaudit.collection.blocks import Block, Reading
from tripleaudit.collection.division import divide, tasks
from tripleaudit.collection.finished import (
    Target,
    block_name,
    check_settings,
    finished_blocks,
    read_state,
    remove_others,
    write_manifest,
    write_state,
)
from tripleaudit.errors import UserError
from tripleaudit.machine.progress import Progress
from tripleaudit.provenance import digest

logger = logging.getLogger(__name__)

FEW = 1000  # rows for which no other process is worth its start
STORE = 1 << 29  # bytes that blocks between two stages may take on this machine
BETWEEN = 1 << 20  # bytes from which on a block is handed on alone
# CPUs that Ray sets aside for a process that keeps one busy, and for one that does not: as many workers as there are
# CPUs leave room for the rest. They differ, so that no two stages become one
BUSY, LIGHT = 0.75, 0.25
AHEAD = {"max_tasks_in_flight_per_actor": 2}  # blocks that wait for a process
REACHED = 20  # seconds within which a cluster has to answer
FOLDER = "tripleaudit-ray"
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
        tokenisers: processes that tokenise for GPUs, at most; on CPUs the workers do it themselves.
        address: of a Ray cluster; None starts one on this machine for as long as the run takes.
    """

    workers: int = 1
    gpus: float = 0.0
    tokenisers: int = 1
    address: str | None = field(default_factory=lambda: os.environ.get("RAY_ADDRESS") or None)

    @property
    def cpus(self) -> float:
        """CPUs without which a stage would wait for ever."""
        beside = BUSY + LIGHT if self.gpus else 0.0
        return self.workers * BUSY + LIGHT + beside


@dataclass(frozen=True)
class Collection:
    """What is to be done.

    Attributes:
        name: of the collection.
        files: paths, folders, patterns and addresses.
        target: folder of the result.
        models: what extracts.
        reading: how rows are read.
        write: ``all`` rows, or those with ``triples``.
        code: digest of the code that decides the triples.
        deciding: of a system's settings, those that decide its answers.
    """

    name: str
    files: Sequence[str]
    target: Target
    models: pipeline.Models
    reading: Reading = Reading()
    write: str = "all"
    code: str = ""
    deciding: Mapping[str, Any] = field(default_factory=dict)

    def settings(self) -> dict[str, Any]:
        """What decides the content of a block besides its text."""
        from tripleaudit.files import sha256

        models, system = {"extractor": self.models.extractor, "gate": self.models.gate}, self.models.system
        files = [] if system is None else [file for file in (*system.files, system.train) if file]
        asked = system and digest([system.kind, self.deciding, {Path(file).name: sha256(file) for file in files}])
        return {
            **{role: folder and sha256(Path(folder) / "model.safetensors") for role, folder in models.items()},
            **({"system": asked} if asked else {}),
            "threshold": self.models.threshold if self.models.gate else None,
            "write": self.write,
            "reading": asdict(self.reading),
            "code": self.code,
        }


def run_collection(collection: Collection, cluster: Cluster, *, replace: bool = False) -> dict[str, Any]:
    """Extract a collection, going on from the blocks that are finished; returns its manifest.

    Args:
        collection: what.
        cluster: where.
        replace: make blocks of another configuration anew instead of refusing the folder.

    Raises:
        UserError: a file, a model, the folder or the cluster is not as it has to be; said before any model is loaded.
    """
    target, began = collection.target, time.monotonic()
    names = model_names(collection.models)
    settings = collection.settings()
    state = read_state(target)
    if not replace:
        check_settings(target, state.get("settings"), settings)
    files = text_files(collection.files)
    with started(cluster) as engine:
        blocks = divided(files, collection.reading, state.get("files", {}), engine)
        if not blocks:
            raise UserError(f"{_some([file.name for file in files])}: no line is there; expected at least one")
        state = {"settings": settings, "files": _remembered(files, blocks, collection.reading), "digests": {}} | {
            key: value for key, value in state.items() if key == "digests"
        }
        write_state(target, state)
        named = {block_name(block, settings): block for block in blocks}
        listed = finished_blocks(target, list(named), state["digests"])
        missing = {name: block for name, block in named.items() if name not in listed}
        if listed and missing:
            logger.info("%d of %d blocks are finished already", len(listed), len(named))
        if missing:
            by_name = {file.name: file for file in files}
            work = [(by_name[group[0].file], group) for group in tasks(list(missing.values()))]
            with Progress(collection.name, sum(block.rows for block in missing.values()), "rows", log=logger) as bar:
                done = 0
                few = sum(block.rows for block in missing.values()) <= FEW and not cluster.address
                extracted = extracted_here if few else engine().extracted
                for facts in extracted(work, collection, settings):
                    listed[facts.pop("name")] = facts
                    done += facts["block"]["rows"]
                    bar.reach(done)
    remove_others(target, list(named))
    facts = [listed[name] for name in named]
    manifest = write_manifest(target, collection.name, facts, settings, **names)
    state["digests"] = {each["file"]: [each["bytes"], each["sha256"]] for each in facts}
    write_state(target, state)
    logger.info(
        "%s: %d sentences, %d triples; %d of %d blocks made in %.1f s",
        collection.name, manifest["counts"]["sentences"], manifest["counts"]["triples"], len(missing), len(named),
        time.monotonic() - began,
    )  # fmt: skip
    return manifest


Work = Sequence[tuple[TextFile, Sequence[Block]]]  # what one process reads in one go


def extracted_here(work: Work, collection: Collection, settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the facts about blocks as they are finished, all stages in this process."""
    import pyarrow as pa

    log = logging.getLogger("tripleaudit.extractors")
    level = log.level  # which the stages raise, in a process that has other work, too
    try:
        extract = pipeline.ExtractAndWrite(collection.models, collection.target, settings)
        for file, blocks in work:
            for batch in pipeline.read(pa.table({"task": [pipeline.task(file, blocks)]}), collection.reading):
                (written,) = extract(batch)
                yield json.loads(written["facts"][0].as_py())
    finally:
        log.setLevel(level)


def run_here(collection: Collection) -> dict[str, Any]:
    """Extract a small collection in this process; returns its manifest."""
    files, settings = text_files(collection.files), collection.settings()
    work = [(file, blocks) for file in files for blocks in tasks(divide(file, collection.reading))]
    facts = list(extracted_here(work, collection, settings))
    return write_manifest(collection.target, collection.name, facts, settings)


def model_names(models: pipeline.Models) -> dict[str, str | None]:
    """Return what the extractor and the gate are.

    Raises:
        UserError: a folder holds no model, or one of the other kind.
    """
    from tripleaudit.descriptors import EXTRACTORS
    from tripleaudit.extractors.registry import saved_extractor_name

    extractor = models.system.name if models.system else saved_extractor_name(models.extractor)
    gate = saved_extractor_name(models.gate) if models.gate else None
    classifiers = {spec.base or name for name, spec in EXTRACTORS.items() if spec.classifier}
    if not models.system and extractor in classifiers:
        raise UserError(f"{models.extractor}: holds the classifier {extractor}, expected an extractor")
    if gate and gate not in classifiers:
        raise UserError(f"{models.gate}: holds the extractor {gate}, expected a zero-cardinality classifier")
    return {"extractor": extractor, "gate": gate}


def divided(files: Sequence[TextFile], reading: Reading, known: Mapping[str, Any], engine: Any) -> list[Block]:
    """Return the blocks of all files; only files that may have changed are read."""
    version = _version(reading)
    stale = []
    for file in files:
        old = known.get(file.name, {})
        if (old.get("size"), old.get("changed"), old.get("version")) != (file.size, file.changed, version):
            stale.append(file)
    small = sum(file.size for file in stale) < LITTLE
    found = dict(
        zip([file.name for file in stale], _all_divided(stale, reading, None if small else engine), strict=True)
    )
    blocks = []
    for file in files:
        blocks += found[file.name] if file.name in found else [Block(**each) for each in known[file.name]["blocks"]]
    return blocks


LITTLE = 1 << 26  # bytes that are divided here, without other processes


def _all_divided(files: Sequence[TextFile], reading: Reading, engine: Any) -> list[list[Block]]:
    if engine is None:
        return [divide(file, reading) for file in files]
    return engine().divided(files, reading)


def _version(reading: Reading) -> str:
    return digest([reading.size, asdict(reading.columns), reading.skip])


def _remembered(files: Sequence[TextFile], blocks: Sequence[Block], reading: Reading) -> dict[str, Any]:
    own: dict[str, list] = {file.name: [] for file in files}
    for block in blocks:
        own[block.file].append(block.to_json())
    version = _version(reading)
    return {
        file.name: {"size": file.size, "changed": file.changed, "version": version, "blocks": own[file.name]}
        for file in files
    }


def _some(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


# Ray


@contextlib.contextmanager
def started(cluster: Cluster) -> Iterator[Any]:
    """Yield what starts or joins Ray when it is first called; in the end all that was started is gone."""
    with contextlib.ExitStack() as stack:
        engines: list[Engine] = []

        def engine() -> Engine:
            if not engines:
                stack.enter_context(connected(cluster))
                engines.append(Engine(cluster))
            return engines[0]

        yield engine


@contextlib.contextmanager
def connected(cluster: Cluster) -> Iterator[None]:
    """Join a Ray cluster, or start one on this machine that ends with the block and leaves nothing behind.

    Raises:
        UserError: the cluster does not answer, or lacks what was asked for.
    """
    with _settings_of_ray(cluster):
        import ray

        if ray.is_initialized():
            check_resources(cluster)
            yield
            return
        yield from _joined(cluster)


def _joined(cluster: Cluster) -> Iterator[None]:
    import ray

    common: dict[str, Any] = {"log_to_driver": True, "logging_level": logging.ERROR}
    folder = None
    try:
        if cluster.address:
            try:
                _reach(cluster.address)
                ray.init(address=cluster.address, runtime_env={"env_vars": _environment()}, **common)
            except (OSError, RuntimeError, ValueError) as error:
                said = str(error).splitlines()[0]
                raise UserError(f"RAY_ADDRESS {cluster.address}: no Ray cluster answers there ({said})") from error
        else:
            folder = _own_folder()
            ray.init(
                address="local",
                num_cpus=math.ceil(cluster.cpus + (cluster.tokenisers - 1) * BUSY * bool(cluster.gpus)),
                object_store_memory=STORE,
                include_dashboard=False,
                _temp_dir=str(folder),
                **common,
            )
        check_resources(cluster)
        yield
    finally:
        ray.shutdown()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _reach(address: str) -> None:
    """Raise OSError if nobody listens at an address, which Ray would find out after minutes."""
    place = urlsplit(address if "://" in address else f"//{address}")
    if place.port:
        socket.create_connection((place.hostname, place.port), timeout=REACHED).close()


@contextlib.contextmanager
def _settings_of_ray(cluster: Cluster) -> Iterator[None]:
    """Let Ray be quiet, report nothing to anybody, and obey nobody but this process."""
    names = {name: value for name, value in QUIET.items() if name not in os.environ}
    if not cluster.address and "RAY_AUTH_TOKEN" not in os.environ:
        names |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": _token()}
    os.environ.update(names)
    try:
        yield
    finally:
        for name in names:
            os.environ.pop(name, None)


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


def _environment() -> dict[str, str]:
    """What processes on other machines need of this one's environment."""
    names = ("PYTHONPATH", "TRIPLEAUDIT_PLUGINS", "AWS_ENDPOINT_URL", "HF_HUB_OFFLINE")
    return {name: os.environ[name] for name in names if name in os.environ}


def _own_folder() -> Path:
    """Return a new folder for Ray's sockets and logs; those of processes that were killed are removed."""
    root = Path("/tmp" if os.path.isdir("/tmp") else tempfile.gettempdir())  # names of sockets may not be long
    for old in root.glob(f"{FOLDER}-*-*"):
        with contextlib.suppress(ValueError, PermissionError):
            try:
                os.kill(int(old.name.split("-")[2]), 0)
            except ProcessLookupError:
                shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{FOLDER}-{os.getpid()}-", dir=root))


class Engine:
    """Runs stages on the Ray cluster that this process is connected to."""

    def __init__(self, cluster: Cluster):
        import ray.data

        self.cluster, self.data = cluster, ray.data
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.target_max_block_size = BETWEEN
        context.target_min_block_size = 1
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # what went wrong is raised

    def divided(self, files: Sequence[TextFile], reading: Reading) -> list[list[Block]]:
        """Divide files into blocks, each in a process of the cluster."""
        import ray

        remote = ray.remote(num_cpus=1, max_retries=-1)(divide)
        with _plainly():
            return ray.get([remote.remote(file, reading) for file in files])

    def extracted(self, work: Work, collection: Collection, settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the facts about blocks as they are finished."""
        from ray.data import ActorPoolStrategy

        gpus, models, write = self.cluster.gpus, collection.models, {"target": collection.target, "settings": settings}
        rows = [{"task": pipeline.task(file, blocks)} for file, blocks in work]
        found = self.data.from_items(rows, override_num_blocks=len(rows))
        found = self._stage(found, pipeline.read, LIGHT, fn_kwargs={"reading": collection.reading})
        workers = {"compute": ActorPoolStrategy(size=self.cluster.workers, **AHEAD), "num_gpus": gpus or None}
        if not gpus:
            extract = pipeline.ExtractAndWrite
            found = self._stage(found, extract, BUSY, fn_constructor_args=(models, *write.values()), **workers)
        else:
            if models.first:
                several = ActorPoolStrategy(min_size=1, max_size=self.cluster.tokenisers, **AHEAD)
                found = self._stage(found, pipeline.Tokenise, BUSY, fn_constructor_args=(models,), compute=several)
            found = self._stage(found, pipeline.Extract, BUSY, fn_constructor_args=(models,), **workers)
            found = self._stage(found, pipeline.write, LIGHT, fn_kwargs=write)
        with _plainly():
            for row in found.iter_rows():
                yield json.loads(row["facts"])

    def _stage(self, found: Any, work: Any, cpus: float, **options: Any) -> Any:
        """Let ``work`` make of each block the next one; whatever dies is tried again, as is Ray Data's way."""
        return found.map_batches(
            work, num_cpus=cpus, batch_format="pyarrow", batch_size=1, zero_copy_batch=True, **options
        )


@contextlib.contextmanager
def _plainly() -> Iterator[None]:
    """Let an error that a process of the cluster told the user stand alone, without the way that it came."""
    try:
        yield
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None and type(cause) is not UserError:
            cause = getattr(cause, "cause", None) or cause.__cause__
        if cause is not None:
            raise UserError(str(cause).splitlines()[0]) from None  # Ray adds advice on itself
        raise
