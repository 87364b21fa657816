"""What a collection costs, computed from what a measured one of another size took, or a sample of it.

Per sentence: o seconds of reading and writing, t of tokenisation, g of the gate, e of the extractor (of a sentence that
it reads), and p the share that the gate lets through. All processes together take for n sentences

    T(n) = n (o + t + g + p e) + s        with the gate
    T(n) = n (o + t + e) + s              without

with s seconds for their start. By the clock, W workers on CPUs, which tokenise and write for themselves, take
n (o + t + g + p e) / W + s. Beside workers on GPUs the other stages have processes of their own, on C CPUs, and the
slower side counts:

    D(n) = n max((g + p e) / W, (o + t) / C) + s
"""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tripleaudit.collection import engine
from tripleaudit.collection.addresses import TextFile, text_files
from tripleaudit.collection.blocks import Block, Columns, Reading
from tripleaudit.collection.finished import Target, block_name, finished_blocks, read_state
from tripleaudit.collection.reading import read_blocks
from tripleaudit.errors import UserError

PLACES = 10  # of a collection that a sample is taken from


@dataclass(frozen=True)
class Rates:
    """Seconds per sentence of each part of the work, the gate's share, and what a run costs besides.

    Attributes:
        other: reading, handing on, compression and writing.
        tokenisation: of every sentence.
        gate: the classifier, of every sentence; 0 without one.
        extraction: the extractor and its decoding, of a sentence that reaches it.
        share: of the sentences that reach the extractor.
        start: seconds of the workers before their first sentence.
        bytes: written per sentence.
        peak_mb: most memory of a process.
    """

    other: float
    tokenisation: float
    gate: float
    extraction: float
    share: float
    start: float
    bytes: float
    peak_mb: float

    @property
    def models(self) -> float:
        """Seconds per sentence inside the models."""
        return self.gate + self.share * self.extraction

    @property
    def sentence(self) -> float:
        """Seconds per sentence."""
        return self.other + self.tokenisation + self.models

    def on_gpu(self, rate: float) -> "Rates":
        """Return the rates with models that each read so many sentences a second; the CPUs' parts stay as they are."""
        return replace(self, gate=1 / rate if self.gate else 0.0, extraction=1 / rate)

    def hours(self, sentences: float) -> float:
        """Return the hours of all processes together."""
        return (sentences * self.sentence + self.start) / 3600

    def elapsed(self, sentences: float, workers: int = 1, cpus: int = 0) -> float:
        """Return the hours by the clock of so many workers; with CPUs beside them, which read, tokenise and write."""
        slower = self.sentence / workers
        if cpus:
            slower = max(self.models / workers, (self.other + self.tokenisation) / cpus)
        return (sentences * slower + self.start) / 3600

    def feeders(self) -> float:
        """Return how many CPUs read, tokenise and write as fast as one worker extracts."""
        return (self.other + self.tokenisation) / self.models if self.models else 0.0


def rates(measured: Mapping[str, Any], clock: str = "seconds") -> Rates:
    """Return the rates of a measured collection (its manifest).

    Args:
        measured: the manifest.
        clock: ``seconds`` by the clock, or ``cpu_seconds`` of the CPU, which other programs on the machine do not
            lengthen.

    Raises:
        UserError: it has no sentences, or is no manifest.
    """
    try:
        counts, seconds = measured["counts"], measured[clock]
        sentences, read = counts["sentences"], counts["let_through"]
        if not sentences:
            raise UserError("the measured collection has no sentences; expected one to compute rates from")
        return Rates(
            other=seconds["other"] / sentences,
            tokenisation=seconds.get("tokenisation", 0.0) / sentences,
            gate=seconds.get("gate", 0.0) / sentences,
            extraction=seconds.get("extraction", 0.0) / max(read, 1),
            share=read / sentences,
            start=seconds["start"],
            bytes=measured["bytes"] / sentences,
            peak_mb=measured["peak_mb"],
        )
    except (KeyError, TypeError) as error:
        raise UserError(f"not the manifest of a collection: {error} is missing") from error


def ungated(gated: Rates) -> Rates:
    """Return the rates without the gate, as they follow from those with it."""
    return replace(gated, gate=0.0, share=1.0)


def parts_table(named: Mapping[str, Rates]) -> str:
    """Return microseconds per sentence by part, as Markdown; one column for each measurement."""
    rows = {
        "reading, handing on, writing": lambda r: r.other,
        "tokenisation": lambda r: r.tokenisation,
        "gate": lambda r: r.gate,
        "extractor, of a sentence that it reads": lambda r: r.extraction,
        "extractor, of a sentence": lambda r: r.share * r.extraction,
        "**all**": lambda r: r.sentence,
    }
    lines = [f"| µs a sentence | {' | '.join(named)} |", "|---|" + "---:|" * len(named)]
    lines += [
        f"| {label} | {' | '.join(f'{1e6 * part(each):.0f}' for each in named.values())} |"
        for label, part in rows.items()
    ]
    lines.append(f"| sentences a second | {' | '.join(f'{1 / each.sentence:,.0f}' for each in named.values())} |")
    lines.append(f"| share let through | {' | '.join(f'{100 * each.share:.1f} %' for each in named.values())} |")
    lines.append(f"| start of the workers, s | {' | '.join(f'{each.start:.1f}' for each in named.values())} |")
    lines.append(f"| bytes written a sentence | {' | '.join(f'{each.bytes:.0f}' for each in named.values())} |")
    lines.append(f"| most memory of a process, MB | {' | '.join(f'{each.peak_mb:.0f}' for each in named.values())} |")
    return "\n".join(lines)


def size_table(
    gated: Rates, without: Rates, sentences: Sequence[float], gpu_rates: Sequence[float] = (), price: float = 0.0
) -> str:
    """Return the hours of collections of several sizes, with and without the gate, as Markdown.

    Args:
        gated, without: measured rates.
        sentences: sizes.
        gpu_rates: sentences a second that a model reads on one GPU; three columns for each.
        price: of an hour of a machine with that GPU; 0 leaves money out.
    """
    heads = ["sentences", "output, GB", "CPU hours, gate", "CPU hours, no gate"]
    for rate in gpu_rates:
        heads += [f"{part} at {rate:,.0f}/s" for part in ("GPU hours, gate", "GPU hours, no gate", "CPUs a GPU")]
        heads += [f"money at {rate:,.0f}/s"] * bool(price)
    lines = [f"| {' | '.join(heads)} |", "|" + "---:|" * len(heads)]
    for size in sentences:
        cells = [f"{size:,.0f}", f"{size * gated.bytes / 1e9:,.1f}", *(_hours(r.hours(size)) for r in (gated, without))]
        for rate in gpu_rates:
            first, second = gated.on_gpu(rate), without.on_gpu(rate)
            cells += [_hours((size * each.models + each.start) / 3600) for each in (first, second)]
            cells.append(f"{first.feeders():.1f}")
            cells += [f"{price * (size * first.models + first.start) / 3600:,.2f}"] * bool(price)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def worth(gated: Rates, without: Rates) -> str:
    """Say what the gate saves, and from which share of rejected sentences on it does."""
    first, second = 1e6 * gated.models, 1e6 * without.models
    change = f"the gate {'saves' if first < second else 'adds'} {100 * abs(1 - first / second):.0f} % there"
    text = f"The models take {first:.0f} µs a sentence with the gate and {second:.0f} µs without: {change}."
    most = (without.extraction - gated.gate) / gated.extraction if gated.extraction else 0.0
    if most <= 0:
        return f"{text} It costs as much as the extractor: only a gate with a smaller encoder can save time."
    return f"{text} It saves time where it lets through less than {100 * min(most, 1.0):.0f} % of the sentences."


def _hours(value: float) -> str:
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def forecast(collection: engine.Collection, cluster: engine.Cluster, sample: int, price: float = 0.0) -> Iterator[str]:
    """Yield lines about rows, hours and money of what is still to be done; nothing is written.

    Args:
        collection, cluster: what is to run, and where.
        sample: sentences that are extracted, taken from all over the collection.
        price: of an hour of one worker.

    Raises:
        UserError: a file, a model or the folder is not as it has to be.
    """
    engine.model_names(collection.models)
    settings, files = collection.settings(), text_files(collection.files)
    state = read_state(collection.target)
    with engine.started(cluster) as started:
        blocks = engine.blocks_in(engine.divided(files, collection.reading, state.get("files", {}), started))
    names = {block_name(block, settings): block for block in blocks}
    done = finished_blocks(collection.target, list(names), state.get("digests", {}))
    left = [block for name, block in names.items() if name not in done]
    rows = sum(block.rows for block in left)
    every = sum(block.rows for block in blocks)
    yield f"{len(blocks)} blocks with {every:,} rows; {len(left)} with {rows:,} are to be made"
    if not left:
        return
    with tempfile.TemporaryDirectory() as folder:
        picked = list(_sampled({file.name: file for file in files}, left, collection.reading, sample))
        text = Path(folder, "sample.jsonl")
        text.write_text("".join(json.dumps({"text": each}) + "\n" for each in picked), encoding="utf-8")
        reading = replace(collection.reading, size=max(len(picked), 1), columns=Columns())
        tried = replace(collection, files=[str(text)], target=Target(f"{folder}/out"), reading=reading)
        measured = engine.run_here(tried)
    found = rates(measured)
    hours = found.elapsed(rows, cluster.workers, cluster.tokenisers if cluster.gpus else 0)
    device = " and ".join(measured["device"])
    yield f"{1 / found.sentence:,.0f} sentences a second of one process on {device}, from {len(picked):,} of them"
    size = rows * found.bytes / 1e9
    yield f"{100 * found.share:.0f} % are let through to the extractor; about {size:,.2f} GB are written"
    beside = f" and {cluster.tokenisers} tokenisers" if cluster.gpus else ""
    yield f"{hours:,.2f} hours with {cluster.workers} workers{beside} on such machines"
    money = price * hours * cluster.workers
    asked = measured["money"] / measured["counts"]["sentences"] * rows
    if price or asked:
        yield f"money: {money:,.2f} for the workers, {asked:,.2f} for answers"


def _sampled(files: dict[str, TextFile], left: Sequence[Block], reading: Reading, sample: int) -> Iterator[str]:
    step = max(1, len(left) // PLACES)
    chosen = left[::step][:PLACES]
    for block in chosen:
        (found,) = read_blocks(files[block.file], [block], reading)
        yield from (line.text for line in found.lines[: -(-sample // len(chosen))])
