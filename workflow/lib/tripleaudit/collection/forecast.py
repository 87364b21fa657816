"""What a run of a collection will take, from a sample of it that is extracted here and thrown away."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tripleaudit.collection import cost, engine
from tripleaudit.collection.addresses import TextFile, text_files
from tripleaudit.collection.blocks import Block, Columns, Reading
from tripleaudit.collection.finished import Target, block_name, finished_blocks, read_state
from tripleaudit.collection.reading import read_blocks

PLACES = 10  # of the collection that the sample is taken from


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
        blocks = engine.divided(files, collection.reading, state.get("files", {}), started)
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
    found = cost.rates(measured)
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
