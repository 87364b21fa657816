"""One shard of a collection, from lines to triples: what a job of the workflow runs."""

import gzip
import io
import json
import logging
import re
import resource
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tripleaudit.collection.index import read_shard
from tripleaudit.collection.reading import Line, ShardReader
from tripleaudit.corpora.model import Sentence
from tripleaudit.errors import UserError
from tripleaudit.files import atomic_write, write_json
from tripleaudit.machine import memory
from tripleaudit.machine.progress import Progress
from tripleaudit.provenance import provenance

logger = logging.getLogger(__name__)

LEVEL = 3  # of gzip: half the time of the usual 6 or 9, a tenth more bytes


@dataclass(frozen=True)
class Settings:
    """What decides the triples of a shard besides its text and the models; see the configuration section."""

    batch_size: int = 64
    window: int = 4096
    threshold: float = 0.5
    max_chars: int = 10_000
    write: str = "all"
    on_error: str = "stop"


def settings_from(text: str) -> Settings:
    """Read settings from JSON.

    Raises:
        UserError: not JSON, or an unknown name.
    """
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"settings of the extraction: not valid JSON ({error.msg})") from error
    known = [item.name for item in fields(Settings)]
    if not isinstance(values, dict) or set(values) - set(known):
        raise UserError(f"settings of the extraction: expected an object of {', '.join(known)}, got {text}")
    return Settings(**values)


def extract_shard(
    index: Path,
    name: str,
    model: Path,
    gate: Path | None,
    out: Path,
    out_facts: Path,
    settings: Settings,
    *,
    gpu: str = "auto",
    threads: int = 0,
) -> dict[str, Any]:
    """Write the triples of one shard, and the facts about it.

    Args:
        index: of the collection.
        name: of the shard.
        model: folder of a trained extractor.
        gate: folder of a trained zero-cardinality classifier, or None.
        out: JSON lines, gzip: predictions with ``source``, ``line`` and, with a gate, its score as ``gate``.
        out_facts: JSON: counts, triples by relation, seconds by part, peak memory, provenance.
        settings: of the extraction.
        gpu, threads: where it runs.

    Raises:
        UserError: a model or the shard cannot be read, the text changed since it was indexed, or a line is broken.
    """
    began, began_cpu = time.monotonic(), time.process_time()
    shard = read_shard(index, name)
    from tripleaudit.extractors.registry import load_extractor, saved_extractor_name

    for folder in filter(None, (model, gate)):
        saved_extractor_name(folder)
    from tripleaudit.training.predict import load_gate
    from tripleaudit.training.session import device, set_up
    from tripleaudit.training.stream import Stream

    set_up(threads)
    logging.getLogger("tripleaudit.extractors").setLevel(logging.ERROR)  # it would log every window
    where = device(gpu)
    extractor = load_extractor(model).to(where)
    if extractor.kind != "extractor":
        raise UserError(f"{model}: holds the classifier {extractor.name}, expected an extractor")
    classifier = load_gate(gate).to(where) if gate else None
    stream = Stream(
        extractor,
        classifier,
        batch_size=settings.batch_size,
        window=settings.window,
        threshold=settings.threshold,
    )
    loaded, loaded_cpu = time.monotonic(), time.process_time()
    reader = ShardReader(shard, max_chars=settings.max_chars, skip=settings.on_error == "skip")
    rows = written(reader, stream, settings.write == "triples")
    with (
        Progress(name, shard["lines"], "lines", log=logger) as progress,
        memory.out_of_memory_advice("extraction", "batch_size", settings.batch_size),
    ):
        count = write_rows(out, counted(rows, reader, progress))
    ended, ended_cpu = time.monotonic(), time.process_time()
    account = stream.account
    inputs = {"model": model / "model.safetensors", **({"gate": gate / "model.safetensors"} if gate else {})}
    facts = {
        "name": name,
        "file": out.name,
        "rows": count,
        "bytes": out.stat().st_size,
        "sha256": shard["sha256"],
        "counts": {**reader.counts, **{key: account.counts[key] for key in COUNTED}},
        "relations": dict(sorted(account.relations.items())),
        "seconds": parts(loaded - began, ended - loaded, account.seconds),
        "cpu_seconds": parts(loaded_cpu - began_cpu, ended_cpu - loaded_cpu, account.cpu_seconds),
        "peak_mb": peak_mb(),
        "extractor": extractor.name,
        "gate": classifier.name if classifier else None,
        "provenance": provenance(
            command="collection extract",
            inputs=inputs,
            settings=vars(settings),
            seed=None,
            device=str(where),
            seconds=ended - began,
        ),
    }
    write_json(out_facts, facts)
    logger.info(
        "%s: %d sentences, %d let through, %d triples in %.1f s, %.1f sentences a second",
        name, account.counts["sentences"], account.counts["let_through"], account.counts["triples"], ended - loaded,
        account.counts["sentences"] / max(ended - loaded, 1e-9),
    )  # fmt: skip
    return facts


def parts(start: float, every: float, of_models: Mapping[str, float]) -> dict[str, float]:
    """Return seconds before the first sentence, of all sentences, and by part; ``other`` is reading and writing."""
    named = {part: round(value, 3) for part, value in sorted(of_models.items())}
    return {"start": round(start, 3), "all": round(every, 3), **named, "other": round(every - sum(named.values()), 3)}


COUNTED = ("sentences", "let_through", "cut", "with_triples", "triples")


def written(reader: ShardReader, stream: Any, only_triples: bool) -> Iterator[dict[str, Any]]:
    """Yield the rows of a shard: the project's form of predictions, and where each sentence stands."""
    places: list[Line] = []  # of the sentences that the stream has taken and not given back: at most a window

    def sentences() -> Iterator[Sentence]:
        for line in reader:
            places.append(line)
            yield Sentence(line.id, line.text)

    at = 0
    for extracted in stream.extract(sentences()):
        line, at = places[at], at + 1
        if at == len(places):
            places.clear()
            at = 0
        if only_triples and not extracted.sentence.triples:
            continue
        row = {**extracted.sentence.to_json(), "source": line.source, "line": line.number}
        if extracted.gate is not None:
            row["gate"] = round(extracted.gate, 4)
        yield row


def write_rows(path: Path, rows: Iterator[Mapping[str, Any]]) -> int:
    """Write JSON lines through gzip, atomically; equal rows give equal bytes. Returns how many."""
    count = 0
    with (
        atomic_write(path, "wb") as raw,
        gzip.GzipFile("", "wb", LEVEL, raw, mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as text,
    ):
        for row in rows:
            text.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count


def counted(rows: Iterator[Mapping[str, Any]], reader: ShardReader, progress: Progress) -> Iterator[Mapping[str, Any]]:
    """Pass rows on, and tell the progress how many lines are read."""
    for row in rows:
        yield row
        progress.reach(reader.counts["lines"])


def peak_mb() -> float:
    """Return the most memory that this process has held, megabytes."""
    status = Path("/proc/self/status")
    if status.exists():  # of this program alone; what getrusage says may be that of the process which started it
        return round(int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text())[1]) * 1024 / 1e6, 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak * (1 if sys.platform == "darwin" else 1024) / 1e6, 1)
