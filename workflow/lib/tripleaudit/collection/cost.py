"""What is left of a collection costs, computed from what a sample of it took.

By the clock, W workers take n c / W for n sentences of c seconds each, and s for their start.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tripleaudit.collection import engine
from tripleaudit.collection.addresses import text_files
from tripleaudit.collection.finished import Target, block_name, finished_blocks, read_state
from tripleaudit.collection.reading import read_blocks
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import write_jsonl

PIECES = 10  # of a collection that a sample is taken from


def forecast(collection: engine.Collection, workers: int, sample: int) -> Iterator[str]:
    """Yield lines about rows, hours and money of what is still to be done; nothing is written.

    ``sample`` sentences from all over the collection are extracted for it.

    Raises:
        UserError: as :func:`tripleaudit.collection.engine.run_collection`, or the sample has no
            sentences.
    """
    engine.model_names(collection.models)
    settings, files = collection.settings(), text_files(collection.files)
    state = read_state(collection.target)
    blocks = engine.blocks_of(
        engine.divide_files(files, collection.reading, state.get("files", {}))
    )
    names = {block_name(block, settings): block for block in blocks}
    done = finished_blocks(collection.target, list(names))
    left = [block for name, block in names.items() if name not in done]
    rows = sum(block.rows for block in left)
    every = sum(block.rows for block in blocks)
    yield f"{len(blocks)} blocks with {every:,} rows; {len(left)} with {rows:,} are to be made"
    if not left:
        return
    with tempfile.TemporaryDirectory() as folder:
        chosen, by_name = (
            left[:: max(1, len(left) // PIECES)][:PIECES],
            {file.name: file for file in files},
        )
        found = (
            one
            for block in chosen
            for one in read_blocks(by_name[block.file], [block], collection.reading)
        )
        picked = [line.text for one in found for line in one.lines[: -(-sample // len(chosen))]]
        text = Path(folder, "sample.jsonl")
        write_jsonl(text, ({"text": each} for each in picked))
        reading = replace(collection.reading, size=max(len(picked), 1), text="text", id="id")
        tried = replace(
            collection, files=[str(text)], target=Target(f"{folder}/out"), reading=reading
        )
        measured = engine.run_collection(tried)
    counts, device, start = (
        measured["counts"],
        " and ".join(measured["device"]),
        measured["seconds"]["start"],
    )
    if not counts["sentences"]:
        raise UserError("the sample has no sentences; expected some to compute the time from")
    each = (sum(measured["seconds"].values()) - start) / counts["sentences"]
    yield f"{1 / each:,.0f} sentences a second of one process on {device}, from {len(picked):,} of them"
    share, size = (
        counts["let_through"] / counts["sentences"],
        rows * measured["bytes"] / counts["sentences"] / 1e9,
    )
    yield f"{100 * share:.0f} % pass to the extractor; about {size:,.2f} GB are written"
    yield f"{(rows * each / workers + start) / 3600:,.2f} hours with {workers} workers on such machines"
    if answers := measured["money"] / counts["sentences"] * rows:
        yield f"money: {answers:,.2f} for answers"
