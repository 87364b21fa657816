"""A finished collection: one Parquet file with facts for each block, and one manifest.

The name of a block's file follows from its location, its content and the settings, and the file
appears whole or not at all. So a block is finished if its file is there, and made twice it is the
same file: whatever dies, no row is lost or doubled.
"""

import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
from pyarrow import fs

from tripleaudit.collection.addresses import explained, is_remote, store
from tripleaudit.collection.reading import Block
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import MANIFEST, atomic_write
from tripleaudit.core.provenance import digest

SPAN = pa.struct(
    [("start", pa.int64()), ("end", pa.int64()), ("text", pa.string()), ("type", pa.string())]
)
TRIPLE = pa.struct(
    [("subject", SPAN), ("relation", pa.string()), ("object", SPAN), ("score", pa.float64())]
)
ROW = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("triples", pa.list_(TRIPLE)),
        ("source", pa.string()),
        ("line", pa.int64()),
        ("gate", pa.float64()),
    ]
)
FACTS = b"tripleaudit"  # key of a file's metadata under which the facts about its block stand
STATE = "_state.json"  # settings and blocks of the last run
MADE = re.compile(
    r".*-\d{9,}-[0-9a-f]{16}\.parquet(\..*)?"
)  # files of blocks, and beginnings of them
BLOCKS = "blocks"  # folder of the Parquet files
SUMS = ("counts", "relations", "seconds")


@dataclass(frozen=True)
class Target:
    """The folder of a finished collection, of this machine or a store."""

    location: str

    def path(self, name: str) -> str:
        return f"{self.location.rstrip('/')}/{name}"

    def names(self) -> set[str]:
        """Return the files of blocks that are there."""
        system, path = store(self.path(BLOCKS))
        with explained(self.location):
            files = system.get_file_info(fs.FileSelector(path, allow_not_found=True))
        return {f"{BLOCKS}/{item.base_name}" for item in files}

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file, None where it is missing."""
        system, path = store(self.path(name))
        with explained(self.path(name)):
            if system.get_file_info(path).type != fs.FileType.File:
                return None
            with system.open_input_stream(path) as stream:
                return stream.read()

    def write(self, name: str, data: bytes) -> None:
        """Write a file that appears whole or not at all.

        Raises:
            UserError: the disk is full, or the location cannot be written.
        """
        if not is_remote(self.location):
            with atomic_write(self.path(name), "wb") as stream:
                stream.write(data)
            return
        system, path = store(self.path(name))
        with explained(self.path(name)), system.open_output_stream(path) as stream:
            stream.write(data)  # stores show an object when it is closed

    def remove(self, name: str) -> None:
        system, path = store(self.path(name))
        with explained(self.path(name)):
            system.delete_file(path)


def block_name(block: Block, settings: Mapping[str, Any]) -> str:
    """Return the name of a block's file without suffix: file, first row and content key.

    At which byte it begins does not, and would change with the length of any line before it.
    """
    stem = re.sub(r"[^\w.-]+", "_", block.file.rpartition("/")[2])[-60:]
    content = [block.file, block.first, block.rows, block.sha256]
    return f"{stem}-{block.first:09d}-{digest([content, settings])[:16]}"


def block_file(name: str) -> str:
    """Return the file of a block."""
    return f"{BLOCKS}/{name}.parquet"


def write_block(
    target: Target, name: str, table: pa.Table, facts: dict[str, Any]
) -> dict[str, Any]:
    """Write a block; returns what the manifest lists of it, with the facts."""
    table = table.replace_schema_metadata({FACTS: json.dumps(facts).encode()})
    sink = io.BytesIO()
    parquet.write_table(table, sink, compression="zstd")
    file, data = block_file(name), sink.getvalue()
    target.write(file, data)
    return {**facts, "file": file, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def finished_blocks(target: Target, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return name -> what the manifest lists, of the blocks that are there and whole."""

    def listed(name: str) -> dict[str, Any] | None:
        file = block_file(name)
        data = target.read(file)
        try:
            facts = json.loads(parquet.read_metadata(io.BytesIO(data or b"")).metadata[FACTS])
        except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
            return None
        return {
            **facts,
            "file": file,
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }

    there = target.names()
    names = [name for name in names if block_file(name) in there]
    with ThreadPoolExecutor(8) as pool:
        blocks = dict(zip(names, pool.map(listed, names), strict=True))
    return {name: facts for name, facts in blocks.items() if facts is not None}


def remove_others(target: Target, names: Sequence[str]) -> None:
    """Remove files of blocks that are no longer part of the collection, and beginnings of files."""
    for name in target.names() - set(map(block_file, names)):
        if MADE.fullmatch(name):
            target.remove(name)


def read_state(target: Target) -> dict[str, Any]:
    """Return what an earlier run left about the collection."""
    try:
        state = json.loads(target.read(STATE) or b"{}")
    except ValueError:
        state = {}
    return state if isinstance(state, dict) else {}


def write_state(target: Target, state: Mapping[str, Any]) -> None:
    """Keep settings and blocks for the next run."""
    target.write(STATE, json.dumps(state).encode())


def check_settings(target: Target, old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> None:
    """Refuse a folder that holds blocks of another configuration.

    Raises:
        UserError: it does; the message names what differs.
    """
    if old is None or old == new or not target.names():
        return
    before, now = _flat(old), _flat(new)
    differing = [key for key in sorted({*before, *now}) if before.get(key) != now.get(key)]
    said = ", ".join(
        f"{key} {_short(before.get(key))} (now {_short(now.get(key))})" for key in differing
    )
    raise UserError(
        f"{target.location}: holds a collection that was made with {said}; expected another --out, or --replace to "
        "make its blocks again"
    )


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    reading = {f"reading {key}": value for key, value in settings.get("reading", {}).items()}
    return {**settings, **reading, "reading": None}


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f"{text[:12]}…" if len(text) > 24 else text


def write_manifest(
    target: Target,
    name: str,
    blocks: Sequence[Mapping[str, Any]],
    settings: Mapping[str, Any],
    **more: Any,
) -> dict[str, Any]:
    """Write the manifest of a finished collection: digests of blocks and sums of their facts."""
    sums: dict[str, Counter] = {key: Counter() for key in SUMS}
    for facts in blocks:
        for key, counter in sums.items():
            counter.update(facts[key])
    manifest = {
        "collection": name,
        **more,
        "settings": dict(settings),
        "device": sorted({facts["device"] for facts in blocks}),
        "rows": sum(facts["rows"] for facts in blocks),
        "money": round(sum(facts.get("money", 0.0) for facts in blocks), 6),
        "bytes": sum(facts["bytes"] for facts in blocks),
        "counts": dict(sums["counts"]),
        "relations": dict(sorted(sums["relations"].items(), key=lambda item: (-item[1], item[0]))),
        "seconds": {part: round(value, 3) for part, value in sums["seconds"].items()},
        "peak_mb": max((facts["peak_mb"] for facts in blocks), default=0.0),
        "blocks": [
            {key: facts[key] for key in ("file", "sha256", "bytes", "rows", "peak_mb")}
            | {
                "source": facts["block"]["file"],
                "first": facts["block"]["first"],
                "lines": facts["block"]["rows"],
            }
            for facts in blocks
        ],
    }
    target.write(MANIFEST, (json.dumps(manifest, ensure_ascii=False, indent=2) + "\n").encode())
    return manifest


def folder_of(out: str) -> Target:
    """Return the folder of an ``--out``, absolute so that any process finds it."""
    return Target(out if is_remote(out) else str(Path(out).absolute()))
