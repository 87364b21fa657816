"""The stages of the pipeline, as its processes run them: read, tokenise, extract, write. A row between two is a block.

Rows hold ``facts`` (JSON) and ``rows`` (an Arrow table as bytes), so that no engine divides or joins blocks.
"""

import json
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tripleaudit.collection.addresses import TextFile
from tripleaudit.collection.finished import ROW, Target, block_name, write_block
from tripleaudit.collection.reading import Block, Reading, read_blocks
from tripleaudit.corpora.model import Sentence
from tripleaudit.extractors.alignment import Alignment
from tripleaudit.machine import memory
from tripleaudit.machine.clock import Clock
from tripleaudit.scoring.gate import THRESHOLD

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
    threshold: float = THRESHOLD
    gpu: str = "0"
    threads: int = 1
    system: System | None = None

    @property
    def first(self) -> str:
        """Folder of the first model that reads a sentence; empty where there is none."""
        return self.gate or self.extractor


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
            with clock_of(facts).timed("other"):
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
            with clock_of(facts).timed("tokenisation"):
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
        extractor = load_extractor(models.extractor).to(where) if models.system is None else AskedSystem(models.system)
        self.stream = Stream(extractor, gate, batch_size=models.batch_size, threshold=models.threshold)
        self.start: tuple[float, float] | None = (time.perf_counter() - began, time.process_time() - cpu)

    def __call__(self, batch: pa.Table) -> Iterator[pa.Table]:
        from tripleaudit.training.stream import Account

        for facts, table in unpacked(batch):
            account = Account(clock=clock_of(facts))
            earlier = _sums(account.clock)
            whole = Clock()
            with whole.timed("extract"):
                texts = table["text"].to_pylist()
                window = list(map(Sentence, table["id"].to_pylist(), texts))
                known = dict(zip(texts, tokens_of(table), strict=True)) if "input_ids" in table.column_names else None
                self.stream.account = account
                with memory.out_of_memory_advice("extraction", "batch_size", self.stream.batch_size):
                    extracted = list(self.stream.predict(window, known))
                facts["counts"] |= {key: account.counts[key] for key in COUNTED}
                facts |= {"relations": dict(sorted(account.relations.items())), "device": self.device}
                facts["money"] = getattr(self.stream.model, "money", 0.0)
                found = predictions(facts["block"]["file"], table["line"], extracted)
            of_models = [after - before for after, before in zip(_sums(account.clock), earlier, strict=True)]
            others = [all_ - own for all_, own in zip(_sums(whole), of_models, strict=True)]
            account.clock.add("other", *others)
            account.clock.add("start", *(self.start or (0.0, 0.0)))
            self.start = None  # once, however many blocks follow
            facts["peak_mb"] = memory.peak_mb(shared=False)
            yield row(facts, found)


class AskedSystem:
    """A system of a study, in the form of an extractor that reads texts.

    Attributes:
        money: that the last answers cost.
    """

    aligner = None

    def __init__(self, system: System):
        from tripleaudit.corpora.store import load_sentences

        self.system, self.money = system, 0.0
        self.train = load_sentences(system.train) if system.train else []

    def extract(self, texts: Sequence[str], batch_size: int, ids: Sequence[str], known: object) -> list[Sentence]:
        """Return sentences with the triples that the system says of them; equal texts are asked about once.

        Raises:
            UserError: the system does not answer all of them.
        """
        from tripleaudit.descriptors import SYSTEM_KINDS
        from tripleaudit.systems.queries import Query, ask

        system, self.money = self.system, 0.0
        relations = dict.fromkeys(sorted({triple.relation for each in self.train for triple in each.triples}), "")
        asked = Query(
            system.name,
            system.settings,
            [Sentence(str(number), text) for number, text in enumerate(dict.fromkeys(texts))],
            {**relations, **system.job.get("relations", {})},
            self.train,
            {**system.job, "files": list(system.files)},
        )
        answered = ask(SYSTEM_KINDS.need(system.kind), asked)
        self.money = float(answered.facts.get("money") or 0.0)
        found = {each.text: tuple(each.triples) for each in answered.sentences}
        return [Sentence(id_, text, found[text]) for id_, text in zip(ids, texts, strict=True)]


def clock_of(facts: dict[str, Any]) -> Clock:
    """The clock of the work on a block, which writes into the facts about it."""
    return Clock(facts["seconds"], facts["cpu_seconds"])


def _sums(clock: Clock) -> tuple[float, float]:
    return sum(clock.seconds.values()), sum(clock.cpu_seconds.values())


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
        with clock_of(facts).timed("other"):
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


def _quiet() -> None:
    logging.getLogger("tripleaudit.extractors").setLevel(logging.ERROR)  # it would log every block
