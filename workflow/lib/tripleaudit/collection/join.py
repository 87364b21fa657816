"""The shards of a collection as one: their list, which makes the folder readable as one file, and their sums."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import SHARDS, read_json, write_json


def join_shards(name: str, facts: Sequence[str | Path], out: str | Path) -> dict[str, Any]:
    """Write ``shards.json`` beside the shards of a collection, from the facts about each of them.

    Args:
        name: of the collection.
        facts: of :func:`tripleaudit.collection.extract.extract_shard`, in the order of the shards.
        out: the ``shards.json``; the shards lie beside it.

    Raises:
        UserError: no shard, facts of another kind, or shards that different models made.
    """
    shards = [read_json(path) for path in facts]
    if not shards:
        raise UserError(f"{out}: expected at least one shard")
    for path, shard in zip(facts, shards, strict=True):
        if not isinstance(shard, dict) or not {"file", "counts", "relations", "seconds", "cpu_seconds"} <= set(shard):
            raise UserError(f"{path}: not the facts about a shard")
    models = {_models(shard) for shard in shards}
    if len(models) > 1:
        raise UserError(f"{out}: {len(models)} different models made these shards; expected one, make them again")
    counts, relations, seconds, cpu_seconds = Counter(), Counter(), Counter(), Counter()
    for shard in shards:
        counts.update(shard["counts"])
        relations.update(shard["relations"])
        seconds.update(shard["seconds"])
        cpu_seconds.update(shard["cpu_seconds"])
    value = {
        "collection": name,
        "extractor": shards[0]["extractor"],
        "gate": shards[0]["gate"],
        "models": shards[0]["provenance"]["inputs"],
        "settings": shards[0]["provenance"]["settings"],
        "device": sorted({shard["provenance"]["device"] for shard in shards}),
        "rows": sum(shard["rows"] for shard in shards),
        "bytes": sum(shard["bytes"] for shard in shards),
        "counts": dict(counts),
        "relations": dict(sorted(relations.items(), key=lambda item: (-item[1], item[0]))),
        "seconds": {part: round(value, 3) for part, value in seconds.items()},
        "cpu_seconds": {part: round(value, 3) for part, value in cpu_seconds.items()},
        "peak_mb": max(shard["peak_mb"] for shard in shards),
        "shards": [
            {key: shard[key] for key in ("file", "rows", "bytes", "peak_mb")}
            | {"sentences": shard["counts"]["sentences"], "seconds": shard["seconds"]["all"]}
            for shard in shards
        ],
    }
    if Path(out).name != SHARDS:
        raise UserError(f"{out}: expected a file called {SHARDS}, which makes a folder readable as one file")
    write_json(out, value)
    return value


def _models(shard: dict[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(f"{role} {item['sha256']}" for role, item in shard["provenance"]["inputs"].items()))
