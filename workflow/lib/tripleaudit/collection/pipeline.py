"""The stages of the pipeline, as its processes run them: read, tokenise, extract, write. A row between two is a block.

Rows hold ``facts`` (JSON) and ``rows`` (an Arrow table as bytes), so that no engine divides or joins blocks.
"""

import json
import logging
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tripleaudit.collection.addresses import TextFile
from tripleaudit.collection.blocks import Block, Reading
from tripleaudit.collection.finished import ROW, Target, block_name, write_block
from tripleaudit.collection.reading import read_blocks
from tripleaudit.corpora.model import Sentence
from tripleaudit.extractors.alignment import Alignment
from tripleaudit.machine import memory

TOKENS = ("input_ids", "starts", "ends", "word_ids", "markers")  # of an alignment, in the columns of these names
COUNTED = ("sentences", "let_through", "cut", "with_triples", "triples")


@dataclass(frozen=True)
class System:
    """A system that is asked instead of a trained extractor, as an entry under ``systems`` of a study.

    Attributes:
        name: of the system.
        kind: of :data:`tripleaudit.descriptors.SYSTEM_KINDS`: ``command``, ``python`` …
        settings: its entry.
        job: what decides no answer: threads, budgets, endpoints.
        train: stored sentences whose relations it is told, and which a language model is shown; empty for none.
        files: that its answers depend on.
    """

    name: str
    kind: str
    settings: dict[str, Any]
    job: dict[str, Any]
    train: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Models:
    """What extracts.

    Attributes:
        extractor: folder of the trained extractor; empty where a system extracts.
        gate: folder of the classifier before it, or None.
        batch_size: sentences at a time on a CPU.
        threshold: of the gate.
        gpu: ``0`` for the CPU, ``1`` for the GPU that the process was given.
        threads: of PyTorch on a CPU.
        system: that extracts, None for a trained extractor.
    """

    extractor: str = ""
    gate: str | None = None
    batch_size: int = 64
    threshold: float = 0.5
    gpu: str = "0"
    threads: int = 1
    system: System | None = None

    @property
    def first(self) -> str:
        """Folder of the first model that reads a sentence; empty where there is none."""
        return self.gate or self.extractor


class Clock:
    """Seconds of the parts of the work on a block, by the clock and of this process's CPU time."""

    def __init__(self, facts: dict[str, Any]):
        self.facts = facts

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        began, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.add(part, time.perf_counter() - began, time.process_time() - cpu)

    def add(self, part: str, seconds: float, cpu: float) -> None:
        for key, value in (("seconds", seconds), ("cpu_seconds", cpu)):
            self.facts[key][part] = round(self.facts[key].get(part, 0.0) + value, 6)


def row(facts: dict[str, Any], table: pa.Table | None = None) -> pa.Table:
    """A block between two stages."""
    content = [] if table is None else [("rows", pa.array([_bytes(table)], pa.binary()))]
    return pa.table({"facts": [json.dumps(facts)], **dict(content)})


def _bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def unpacked(batch: pa.Table) -> Iterator[tuple[dict[str, Any], pa.Table]]:
    """Yield facts and table of the blocks in a batch."""
    for facts, rows in zip(batch["facts"], batch["rows"], strict=True):
        yield json.loads(facts.as_py()), pa.ipc.open_stream(rows.as_buffer()).read_all()


# Reading


def task(file: TextFile, blocks: Sequence[Block]) -> str:
    """What one process reads in one go, as JSON."""
    return json.dumps([asdict(file), [block.to_json() for block in blocks]])


def read(batch: pa.Table, reading: Reading) -> Iterator[pa.Table]:
    """Read the blocks of tasks."""
    for each in batch["task"].to_pylist():
        file, blocks = json.loads(each)
        found = read_blocks(TextFile(**file), [Block(**block) for block in blocks], reading)
        for _ in blocks:
            facts: dict[str, Any] = {"seconds": {}, "cpu_seconds": {}}
            with Clock(facts).timed("other"):
                sentences = next(found)
                facts |= {"block": sentences.block.to_json(), "counts": dict(sentences.counts)}
                lines = sentences.lines
                table = pa.table(
                    {
                        "id": pa.array([line.id for line in lines], pa.string()),
                        "text": pa.array([line.text for line in lines], pa.string()),
                        "line": pa.array([line.number for line in lines], pa.int64()),
                    }
                )
            yield row(facts, table)


# Tokenising


class Tokenise:
    """Tokenises blocks for the first model that reads them."""

    def __init__(self, models: Models):
        from tripleaudit.extractors.base import saved_aligner

        _quiet()
        self.aligner = saved_aligner(Path(models.first))

    def __call__(self, batch: pa.Table) -> Iterator[pa.Table]:
        for facts, table in unpacked(batch):
            with Clock(facts).timed("tokenisation"):
                table = with_tokens(table, self.aligner.align(table["text"].to_pylist()))
            yield row(facts, table)


def with_tokens(table: pa.Table, alignments: Sequence[Alignment]) -> pa.Table:
    """Add columns for what an aligner made of the texts."""
    ends = np.cumsum([0, *map(len, alignments)])
    for name in TOKENS:
        parts = [getattr(each, name) for each in alignments]
        if parts and parts[0] is None:
            continue  # no layout with markers
        flat = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
        flat = flat if flat.dtype == bool else flat.astype(np.int32)
        table = table.append_column(name, pa.LargeListArray.from_arrays(pa.array(ends), pa.array(flat)))
    return table.append_column("truncated", pa.array([each.truncated for each in alignments], pa.bool_()))


def tokens_of(table: pa.Table) -> list[Alignment]:
    """Return the alignments that :func:`with_tokens` put into a table."""
    columns: dict[str, np.ndarray | None] = dict.fromkeys(TOKENS)
    ends = np.zeros(1, dtype=np.int64)
    for name in TOKENS:
        if name in table.column_names:
            lists = table[name].combine_chunks()
            ends, flat = np.asarray(lists.offsets), lists.values.to_numpy(zero_copy_only=False)
            columns[name] = flat if flat.dtype == bool else flat.astype(np.int64)
    cut = table["truncated"].to_pylist()
    bounds = ends.tolist()
    return [
        Alignment(*(None if flat is None else flat[start:stop] for flat in columns.values()), truncated=truncated)
        for start, stop, truncated in zip(bounds, bounds[1:], cut, strict=False)
    ]


# Extracting


class Extract:
    """Holds gate and extractor, and extracts blocks."""

    def __init__(self, models: Models):
        began, cpu = time.perf_counter(), time.process_time()
        from tripleaudit.extractors.registry import load_extractor
        from tripleaudit.training.predict import load_gate
        from tripleaudit.training.session import device, set_up
        from tripleaudit.training.stream import Stream

        set_up(models.threads)
        _quiet()
        where = device(models.gpu)
        gate = load_gate(Path(models.gate)).to(where) if models.gate else None
        self.device = str(where)
        if models.system is None:
            extractor = load_extractor(models.extractor).to(where)
            self.stream = Stream(extractor, gate, batch_size=models.batch_size, threshold=models.threshold)
        else:
            self.stream = AskedStream(models, gate)
        self.start: tuple[float, float] | None = (time.perf_counter() - began, time.process_time() - cpu)

    def __call__(self, batch: pa.Table) -> Iterator[pa.Table]:
        from tripleaudit.training.stream import Account

        for facts, table in unpacked(batch):
            clock, account = Clock(facts), Account()
            began, cpu = time.perf_counter(), time.process_time()
            texts = table["text"].to_pylist()
            window = list(map(Sentence, table["id"].to_pylist(), texts))
            known = dict(zip(texts, tokens_of(table), strict=True)) if "input_ids" in table.column_names else None
            self.stream.account = account
            with memory.out_of_memory_advice("extraction", "batch_size", self.stream.batch_size):
                extracted = list(self.stream.predict(window, known))
            facts["counts"] |= {key: account.counts[key] for key in COUNTED}
            facts |= {"relations": dict(sorted(account.relations.items())), "device": self.device}
            facts["money"] = getattr(self.stream, "money", 0.0)
            found = predictions(facts["block"]["file"], table["line"], extracted)
            for part, value in account.seconds.items():
                clock.add(part, value, account.cpu_seconds[part])
            of_models = sum(account.seconds.values()), sum(account.cpu_seconds.values())
            clock.add("other", time.perf_counter() - began - of_models[0], time.process_time() - cpu - of_models[1])
            clock.add("start", *(self.start or (0.0, 0.0)))
            self.start = None  # once, however many blocks follow
            facts["peak_mb"] = peak_mb()
            yield row(facts, found)


class AskedStream:
    """A system of a study behind the gate, in the form of :class:`tripleaudit.training.stream.Stream`.

    Attributes:
        money: that the answers to the last window cost.
    """

    def __init__(self, models: Models, gate: Any):
        from tripleaudit.corpora.store import load_sentences

        self.system, self.gate = models.system, gate
        self.batch_size, self.threshold, self.money = models.batch_size, models.threshold, 0.0
        self.account: Any = None
        self.train = load_sentences(self.system.train) if self.system.train else []

    def predict(self, window: list[Sentence], known: dict[str, Alignment] | None) -> Iterator[Any]:
        """Yield sentences with the triples that the system says of them; equal texts are asked about once.

        Raises:
            UserError: the system does not answer all of them.
        """
        from tripleaudit.training.stream import Extracted

        account, texts = self.account, [each.text for each in window]
        scores: list[float | None] = [None] * len(window)
        if self.gate is not None:
            with account.timed("gate"):
                scores = self.gate.decide(texts, self.batch_size, known)
        passed = {text for text, score in zip(texts, scores, strict=True) if score is None or score > self.threshold}
        with account.timed("extraction"):
            found = self._asked([text for text in dict.fromkeys(texts) if text in passed])
        account.counts.update(sentences=len(window), let_through=sum(text in passed for text in texts), cut=0)
        for sentence, score in zip(window, scores, strict=True):
            triples = found.get(sentence.text, ())
            account.counts.update(with_triples=bool(triples), triples=len(triples))
            account.relations.update(triple.relation for triple in triples)
            yield Extracted(Sentence(sentence.id, sentence.text, triples), score)

    def _asked(self, texts: Sequence[str]) -> dict[str, tuple[Any, ...]]:
        from tripleaudit.descriptors import SYSTEM_KINDS
        from tripleaudit.systems.asked import Asked

        self.money = 0.0
        if not texts:
            return {}
        system = self.system
        relations = dict.fromkeys(sorted({triple.relation for each in self.train for triple in each.triples}), "")
        asked = Asked(
            system.name,
            system.settings,
            [Sentence(str(number), text) for number, text in enumerate(texts)],
            {**relations, **system.job.get("relations", {})},
            self.train,
            {**system.job, "files": list(system.files)},
        )
        answered = SYSTEM_KINDS.need(system.kind).answer(asked)
        self.money = float(answered.facts.get("money") or 0.0)
        return {each.text: tuple(each.triples) for each in answered.sentences}


def predictions(source: str, lines: pa.ChunkedArray, extracted: Sequence[Any]) -> pa.Table:
    """The rows of a block, in the form that is written."""
    sentences = [each.sentence for each in extracted]
    gates = [None if each.gate is None else round(each.gate, 4) for each in extracted]
    return pa.table(
        [
            pa.array([each.id for each in sentences], pa.string()),
            pa.array([each.text for each in sentences], pa.string()),
            pa.array([[triple.to_json() for triple in each.triples] for each in sentences], ROW.field("triples").type),
            pa.array([source] * len(sentences), pa.string()),
            lines.combine_chunks(),
            pa.array(gates, pa.float64()),
        ],
        schema=ROW,
    )


# Writing


def write(batch: pa.Table, target: Target, settings: dict[str, Any]) -> Iterator[pa.Table]:
    """Write blocks; what remains of each are the facts about it."""
    import pyarrow.compute as pc

    for facts, table in unpacked(batch):
        clock = Clock(facts)
        with clock.timed("other"):
            if settings["write"] == "triples":
                table = table.filter(pc.greater(pc.list_value_length(table["triples"]), 0))
            facts["rows"] = table.num_rows
            name = block_name(Block(**facts["block"]), settings)
            listed = write_block(target, name, table, facts)
        yield row({**listed, "name": name})


class ExtractAndWrite:
    """All that follows reading, in one process: on CPUs, where further processes would only take each other's cores."""

    def __init__(self, models: Models, target: Target, settings: dict[str, Any]):
        self.extract, self.target, self.settings = Extract(models), target, settings

    def __call__(self, batch: pa.Table) -> Iterator[pa.Table]:
        for extracted in self.extract(batch):
            yield from write(extracted, self.target, self.settings)


def peak_mb() -> float:
    """Return the most memory that this process has held, megabytes, without what Ray shares among processes."""
    status = Path("/proc/self/status")
    if status.exists():
        kb = {key: int(value) for key, value in re.findall(r"(VmHWM|Rss\w+):\s+(\d+) kB", status.read_text())}
        own = kb["RssAnon"] + kb["RssFile"]
        return round(max(kb["VmHWM"] - kb["RssShmem"], own) * 1024 / 1e6, 1)
    return memory.peak_mb()


def _quiet() -> None:
    logging.getLogger("tripleaudit.extractors").setLevel(logging.ERROR)  # it would log every block
