"""The pipeline on Ray Data: from the files of a collection to finished blocks, on this machine or a cluster."""

import contextlib
import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from tripleaudit.collection import pipeline
from tripleaudit.collection.addresses import TextFile, text_files
from tripleaudit.collection.cluster import BUSY, LIGHT, Cluster, connected
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
from tripleaudit.collection.reading import Block, Reading, divide
from tripleaudit.descriptors import EXTRACTORS
from tripleaudit.errors import UserError
from tripleaudit.extractors.registry import saved_extractor_name
from tripleaudit.files import sha256
from tripleaudit.machine.progress import Progress
from tripleaudit.provenance import digest

logger = logging.getLogger(__name__)

FEW = 1000  # rows for which no other process is worth its start
BETWEEN = 1 << 20  # bytes from which on a block is handed on alone
AHEAD = {"max_tasks_in_flight_per_actor": 2}  # blocks that wait for a process


@dataclass(frozen=True)
class Collection:
    """What is to be done.

    Attributes:
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
        models, system = {"extractor": self.models.extractor, "gate": self.models.gate}, self.models.system
        files = [] if system is None else [file for file in (*system.files, system.train) if file]
        extracting = system and digest([system.kind, self.deciding, {Path(file).name: sha256(file) for file in files}])
        return {
            **{role: folder and sha256(Path(folder) / "model.safetensors") for role, folder in models.items()},
            **({"system": extracting} if extracting else {}),
            "threshold": self.models.threshold if self.models.gate else None,
            "write": self.write,
            "reading": asdict(self.reading),
            "code": self.code,
        }


def run_collection(collection: Collection, cluster: Cluster | None, *, replace: bool = False) -> dict[str, Any]:
    """Extract a collection, going on from the blocks that are finished; returns its manifest.

    Args:
        collection: what.
        cluster: where; None for this process, as always for few rows without an address.
        replace: make blocks of another configuration again instead of refusing the folder.

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
    divisions = divided(files, collection.reading, state.get("files", {}))
    blocks = blocks_in(divisions)
    if not blocks:
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        raise UserError(f"{files[0].name}{more}: no line is there; expected at least one")
    named = {block_name(block, settings): block for block in blocks}
    listed = finished_blocks(target, list(named), state.get("digests", {}))
    state = {"settings": settings, "files": divisions, "digests": _digests(listed.values())}
    write_state(target, state)
    missing = [block for name, block in named.items() if name not in listed]
    if listed and missing:
        logger.info("%d of %d blocks are finished already", len(listed), len(named))
    if missing:
        by_name = {file.name: file for file in files}
        work = [(by_name[name], list(own)) for name, own in groupby(missing, key=lambda block: block.file)]
        rows = sum(block.rows for block in missing)
        here = cluster is None or (rows <= FEW and not cluster.address)
        with Progress(collection.name, rows, "rows", log=logger) as bar:
            made = (work, collection, settings)
            for facts in extracted_here(*made) if here else extracted_on(cluster, *made):
                listed[facts.pop("name")] = facts
                bar.add(facts["block"]["rows"])
    remove_others(target, list(named))
    facts = [listed[name] for name in named]
    manifest = write_manifest(target, collection.name, facts, settings, **names)
    write_state(target, {**state, "digests": _digests(facts)})
    logger.info(
        "%s: %d sentences, %d triples; %d of %d blocks made in %.1f s",
        collection.name, manifest["counts"]["sentences"], manifest["counts"]["triples"], len(missing), len(named),
        time.monotonic() - began,
    )  # fmt: skip
    return manifest


def _digests(facts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return file -> size and SHA-256, of blocks that are there: one that is made again has another digest."""
    return {each["file"]: [each["bytes"], each["sha256"]] for each in facts}


Work = Sequence[tuple[TextFile, Sequence[Block]]]  # what one process reads in one go


def extracted_here(work: Work, collection: Collection, settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the facts about blocks as they are finished, all stages in this process."""
    log = logging.getLogger("tripleaudit.extractors")
    level = log.level  # which the stages raise, in a process that has other work, too
    try:
        extract = pipeline.Extract(collection.models, collection.target, settings)
        for task in work:
            for batch in pipeline.read(pipeline.packed(*task), collection.reading):
                for written in extract(batch):
                    yield from (facts for (facts,) in pipeline.unpacked(written))
    finally:
        log.setLevel(level)


def model_names(models: pipeline.Models) -> dict[str, str | None]:
    """Return what the extractor and the gate are.

    Raises:
        UserError: a folder holds no model, or one of the other kind.
    """
    extractor = models.system.name if models.system else saved_extractor_name(models.extractor)
    gate = saved_extractor_name(models.gate) if models.gate else None
    classifiers = {spec.base or name for name, spec in EXTRACTORS.items() if spec.classifier}
    if not models.system and extractor in classifiers:
        raise UserError(f"{models.extractor}: holds the classifier {extractor}, expected an extractor")
    if gate and gate not in classifiers:
        raise UserError(f"{models.gate}: holds the extractor {gate}, expected a zero-cardinality classifier")
    return {"extractor": extractor, "gate": gate}


def divided(files: Sequence[TextFile], reading: Reading, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return name -> size, time of change and blocks of all files; only those that may have changed are read."""
    found = {}
    for file in files:
        sign = {"size": file.size, "changed": file.changed, "version": digest(asdict(reading))}
        found[file.name] = known.get(file.name, {})
        if not sign.items() <= found[file.name].items():
            found[file.name] = {**sign, "blocks": [asdict(block) for block in divide(file, reading)]}
    return found


def blocks_in(files: Mapping[str, Any]) -> list[Block]:
    """Return the blocks of all files that :func:`divided` returned."""
    return [Block(**block) for file in files.values() for block in file["blocks"]]


def extracted_on(
    cluster: Cluster, work: Work, collection: Collection, settings: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the facts about blocks as they are finished on Ray; whatever dies is tried again, as is Ray Data's way."""
    with connected(cluster):
        from ray import data

        context = data.DataContext.get_current()
        context.enable_progress_bars = False
        context.target_max_block_size = BETWEEN
        context.target_min_block_size = 1
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # what went wrong is raised
        stage = {"batch_format": "pyarrow", "batch_size": 1, "zero_copy_batch": True}
        rows = [row for task in work for row in pipeline.packed(*task).to_pylist()]
        found = data.from_items(rows, override_num_blocks=len(rows))
        found = found.map_batches(pipeline.read, fn_kwargs={"reading": collection.reading}, num_cpus=LIGHT, **stage)
        found = found.map_batches(
            pipeline.Extract,
            fn_constructor_args=(collection.models, collection.target, settings),
            compute=data.ActorPoolStrategy(size=cluster.workers, **AHEAD),
            num_cpus=BUSY,
            num_gpus=cluster.gpus or None,
            **stage,
        )
        with _plainly():
            for batch in found.iter_batches(batch_size=1, batch_format="pyarrow"):
                yield from (facts for (facts,) in pipeline.unpacked(batch))


@contextlib.contextmanager
def _plainly() -> Iterator[None]:
    """Let an error that a process of the cluster reported stand alone, without the way that it came."""
    try:
        yield
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None and type(cause) is not UserError:
            cause = getattr(cause, "cause", None) or cause.__cause__
        if cause is not None:
            raise UserError(str(cause).splitlines()[0]) from None  # Ray adds advice on itself
        raise
