"""The stages of a block: its sentences are read, extracted and written."""

import functools
import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tripleaudit.collection.addresses import TextFile
from tripleaudit.collection.finished import ROW, Target, block_name, write_block
from tripleaudit.collection.reading import Block, Line, Reading, Sentences, read_blocks
from tripleaudit.core import memory
from tripleaudit.core.clock import Clock
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_sentences
from tripleaudit.scoring.gate import THRESHOLD
from tripleaudit.systems.queries import Query, query_system
from tripleaudit.systems.spec import SYSTEM_KINDS
from tripleaudit.systems.test_set import named_relations

COUNTED = ("sentences", "let_through", "cut", "with_triples", "triples")


@dataclass
class System:
    """A system that extracts in place of a trained extractor, an entry of ``systems``.

    Attributes:
        name: of the system.
        kind: of :data:`tripleaudit.systems.spec.SYSTEM_KINDS`: ``command``, ``python`` …
        settings: its entry.
        job: what decides no answer: threads, budgets, endpoints.
        train: stored sentences whose relations it is given, and which a language model is shown;
            empty for none.
        files: that its answers depend on.
        money: that the last answers cost.
    """

    name: str
    kind: str
    settings: dict[str, Any]
    job: dict[str, Any]
    train: str = ""
    files: tuple[str, ...] = ()
    money: float = field(default=0.0, init=False)
    aligner = None  # it reads texts

    @functools.cached_property
    def examples(self) -> list[Sentence]:
        """The training sentences."""
        return load_sentences(self.train) if self.train else []

    def extract(
        self, texts: Sequence[str], batch_size: int, ids: Sequence[str], known: object
    ) -> list[Sentence]:
        """Return sentences with the system's triples; equal texts are queried once.

        Raises:
            UserError: the system does not answer all of them.
        """
        query = Query(
            self.name,
            self.settings,
            [Sentence(str(number), text) for number, text in enumerate(dict.fromkeys(texts))],
            named_relations(self.examples, self.job),
            self.examples,
            {**self.job, "files": list(self.files)},
        )
        answered = query_system(SYSTEM_KINDS.need(self.kind), query)
        self.money = float(answered.facts.get("money") or 0.0)
        found = {each.text: tuple(each.triples) for each in answered.sentences}
        return [Sentence(id_, text, found[text]) for id_, text in zip(ids, texts, strict=True)]


@dataclass(frozen=True)
class Models:
    """What extracts.

    Attributes:
        extractor: folder of the trained extractor; empty where a system extracts.
        gate: folder of the classifier before it, or None.
        batch_size: sentences at a time on a CPU.
        threshold: of the gate.
        gpu: ``0`` for the CPU, ``auto`` for the GPU of the process if PyTorch can use it, ``1`` to
            insist on it.
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


class ReadBlock(NamedTuple):
    """The sentences of a block, and the seconds that reading them took."""

    sentences: Sentences
    seconds: float


def read(work: Iterable[tuple[TextFile, Sequence[Block]]], reading: Reading) -> Iterator[ReadBlock]:
    """Yield blocks, file by file.

    Args:
        work: files, each with those of its blocks that are to be read, in their order.
    """
    for file, blocks in work:
        began = time.perf_counter()
        for sentences in read_blocks(file, blocks, reading):
            yield ReadBlock(sentences, time.perf_counter() - began)
            began = time.perf_counter()


class BlockExtractor:
    """Holds gate and extractor; extracts blocks and writes them."""

    def __init__(self, models: Models, target: Target, settings: dict[str, Any]):
        began = time.perf_counter()
        from tripleaudit.extractors.registry import load_extractor
        from tripleaudit.training.predict import load_gate
        from tripleaudit.training.session import device, set_up
        from tripleaudit.training.stream import Stream

        set_up(models.threads)
        logging.getLogger("tripleaudit.extractors").setLevel(
            logging.ERROR
        )  # it would log every block
        self.target, self.settings, where = target, settings, device(models.gpu)
        gate = load_gate(Path(models.gate)).to(where) if models.gate else None
        self.device = str(where)
        extractor = models.system or load_extractor(models.extractor).to(where)
        self.stream = Stream(
            extractor, gate, batch_size=models.batch_size, threshold=models.threshold
        )
        self.start = time.perf_counter() - began

    def extract(self, block: ReadBlock) -> dict[str, Any]:
        """Extract and write one block; return what the manifest lists of it."""
        from tripleaudit.training.stream import Account

        account = self.stream.account = Account(clock=Clock({"other": block.seconds}))
        lines = block.sentences.lines
        with (
            account.clock.timed("other"),
            memory.out_of_memory_advice("extraction", "batch_size", self.stream.batch_size),
        ):
            extracted = list(self.stream.predict([Sentence(line.id, line.text) for line in lines]))
            table = predictions(block.sentences.block.file, lines, extracted)
        account.clock.add("start", self.start)
        self.start = 0.0  # counted once, however many blocks follow
        paid = account.counts["let_through"] > 0
        facts = {
            "block": asdict(block.sentences.block),
            "counts": {**block.sentences.counts, **{key: account.counts[key] for key in COUNTED}},
            "relations": dict(sorted(account.relations.items())),
            "seconds": account.clock.seconds,
            "device": self.device,
            "money": getattr(self.stream.model, "money", 0.0) if paid else 0.0,
            "peak_mb": memory.peak_mb(),
        }
        with account.clock.timed("other"):
            if self.settings["write"] == "triples":
                table = table.filter(pc.greater(pc.list_value_length(table["triples"]), 0))
            name = block_name(block.sentences.block, self.settings)
            listed = write_block(self.target, name, table, {**facts, "rows": len(table)})
        return {**listed, "name": name}


def predictions(source: str, lines: Sequence[Line], extracted: Sequence[Any]) -> pa.Table:
    """The rows of a block, in the form that is written."""
    rows = [
        {
            **each.sentence.to_json(),
            "source": source,
            "line": line.number,
            "gate": None if each.gate is None else round(each.gate, 4),
        }
        for line, each in zip(lines, extracted, strict=True)
    ]
    return pa.Table.from_pylist(rows, ROW)
