"""From the files of a collection to finished blocks and a manifest, in one or many jobs."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from tripleaudit.collection import pipeline
from tripleaudit.collection.addresses import TextFile, text_files
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
from tripleaudit.collection.workers import extract_with_workers
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import sha256
from tripleaudit.core.progress import Progress
from tripleaudit.core.provenance import digest
from tripleaudit.extractors.registry import saved_extractor_name
from tripleaudit.extractors.spec import EXTRACTORS

logger = logging.getLogger(__name__)

MAX_ROWS_IN_PROCESS = 1000  # for which no other process is worth its start


@dataclass(frozen=True)
class Collection:
    """A text collection and the models that process it.

    Attributes:
        files: paths, folders, patterns and addresses.
        target: folder of the result.
        models: the extractor and the classifier before it.
        reading: how rows are read.
        write: ``all`` rows, or those with ``triples``.
        code: digest of the code that decides the triples.
        deciding: the settings of a system that decide its answers.
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
        models, system = (
            {"extractor": self.models.extractor, "gate": self.models.gate},
            self.models.system,
        )
        files = [] if system is None else [file for file in (*system.files, system.train) if file]
        extracting = system and digest(
            [system.kind, self.deciding, {Path(file).name: sha256(file) for file in files}]
        )
        return {
            **{
                role: folder and sha256(Path(folder) / "model.safetensors")
                for role, folder in models.items()
            },
            **({"system": extracting} if extracting else {}),
            "threshold": self.models.threshold if self.models.gate else None,
            "write": self.write,
            "reading": asdict(self.reading),
            "code": self.code,
        }


def run_collection(
    collection: Collection, workers: int = 1, *, replace: bool = False
) -> dict[str, Any]:
    """Extract a collection, going on from the blocks that are finished; return its manifest.

    Args:
        collection: the texts and the models.
        workers: processes that hold the models; few rows are extracted in this process.
        replace: make blocks of another configuration again instead of refusing the folder.

    Raises:
        UserError: a file, a model or the folder is not usable; raised before any model is loaded.
    """
    model_names(collection.models)
    settings = collection.settings()
    if not replace:
        check_settings(collection.target, read_state(collection.target).get("settings"), settings)
    division = divide_collection(collection.files, collection.reading, collection.target)
    write_state(collection.target, {"settings": settings, "files": division})
    finished = extract_part(collection, division, workers=workers)
    return finish_collection(collection, division, finished)


def divide_collection(entries: Sequence[str], reading: Reading, target: Target) -> dict[str, Any]:
    """Divide files of a collection into blocks.

    Returns file name -> size, time of change and blocks.

    Files that have not changed since the last division are not read again.

    Args:
        entries: paths, folders, patterns and addresses.
        reading: how rows are read.
        target: folder of the result, which keeps the division for the next run.

    Raises:
        UserError: a file or the folder is not usable, or there are no lines.
    """
    state = read_state(target)
    files = text_files(entries)
    division = divide_files(files, reading, state.get("files", {}))
    if not blocks_of(division):
        others = f" and {len(files) - 1} more" if len(files) > 1 else ""
        raise UserError(f"{files[0].name}{others}: no lines; expected at least one")
    write_state(target, {**state, "files": division})
    return division


def extract_part(
    collection: Collection,
    division: Mapping[str, Any],
    part: int = 1,
    parts: int = 1,
    workers: int = 1,
) -> dict[str, dict[str, Any]]:
    """Extract the blocks of one of several equal parts that are not finished yet.

    Args:
        division: of :func:`divide_collection`.
        part: number of the part, from 1.
        parts: into which the blocks are divided; each is a contiguous run of blocks.
        workers: processes that hold the models.

    Returns:
        block name -> what the manifest lists of the block, for every block of the part.
    """
    model_names(collection.models)
    settings = collection.settings()
    blocks = blocks_of(division)
    first, end = len(blocks) * (part - 1) // parts, len(blocks) * part // parts
    names = {block_name(block, settings): block for block in blocks[first:end]}
    finished = finished_blocks(collection.target, list(names))
    missing = [block for name, block in names.items() if name not in finished]
    if not missing:
        return finished
    if finished:
        logger.info("%d of %d blocks are finished already", len(finished), len(names))
    files = {
        file.name: file for file in text_files(list(dict.fromkeys(block.file for block in missing)))
    }
    work = [
        (files[name], list(group)) for name, group in groupby(missing, key=lambda block: block.file)
    ]
    rows = sum(block.rows for block in missing)
    with Progress(collection.name, rows, "rows", log=logger) as bar:
        for facts in _extract(
            collection, settings, work, workers if rows > MAX_ROWS_IN_PROCESS else 1
        ):
            finished[facts.pop("name")] = facts
            bar.add(facts["block"]["rows"])
    return finished


def finish_collection(
    collection: Collection, division: Mapping[str, Any], finished: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Write the manifest of a complete collection, remove other blocks, return the manifest.

    Args:
        finished: what is known of the blocks; by default they are read.

    Raises:
        UserError: a block is missing.
    """
    target, settings = collection.target, collection.settings()
    names = [block_name(block, settings) for block in blocks_of(division)]
    if finished is None:
        finished = finished_blocks(target, names)
    if missing := [name for name in names if name not in finished]:
        raise UserError(
            f"{target.location}: {len(missing)} of {len(names)} blocks are missing, the first is {missing[0]}; "
            "extract all parts first"
        )
    write_state(target, {"settings": settings, "files": dict(division)})
    remove_others(target, names)
    facts = [finished[name] for name in names]
    manifest = write_manifest(
        target, collection.name, facts, settings, **model_names(collection.models)
    )
    counts = manifest["counts"]
    logger.info(
        "%s: %d sentences, %d triples", collection.name, counts["sentences"], counts["triples"]
    )
    return manifest


def _extract(
    collection: Collection,
    settings: dict[str, Any],
    work: Sequence[tuple[TextFile, Sequence[Block]]],
    workers: int,
) -> Iterator[dict[str, Any]]:
    """Yield the facts about blocks as they are finished, in this process or in several."""
    blocks = pipeline.read(work, collection.reading)
    if workers > 1:
        yield from extract_with_workers(
            blocks, workers, collection.models, collection.target, settings
        )
        return
    log = logging.getLogger("tripleaudit.extractors")
    level = log.level  # raised by the extractor
    try:
        extractor = pipeline.BlockExtractor(collection.models, collection.target, settings)
        for block in blocks:
            yield extractor.extract(block)
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
        raise UserError(
            f"{models.extractor}: holds the classifier {extractor}, expected an extractor"
        )
    if gate and gate not in classifiers:
        raise UserError(
            f"{models.gate}: holds the extractor {gate}, expected a zero-cardinality classifier"
        )
    return {"extractor": extractor, "gate": gate}


def divide_files(
    files: Sequence[TextFile], reading: Reading, known: Mapping[str, Any]
) -> dict[str, Any]:
    """Return name -> size, time of change and blocks; only files that may have changed are read."""
    division = {}
    for file in files:
        version = {"size": file.size, "changed": file.changed, "version": digest(asdict(reading))}
        last = known.get(file.name, {})
        unchanged = version.items() <= last.items()
        division[file.name] = (
            last if unchanged else version | {"blocks": list(map(asdict, divide(file, reading)))}
        )
    return division


def blocks_of(division: Mapping[str, Any]) -> list[Block]:
    """Return the blocks of all files of a division."""
    return [Block(**block) for file in division.values() for block in file["blocks"]]
