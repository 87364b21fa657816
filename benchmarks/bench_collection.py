"""Extraction from a large synthetic collection: speed with and without the gate, memory, what an
added file costs.

``python -m benchmarks.bench_collection --sentences 1000000`` writes the sentences with the demo
corpus's generator, trains a tiny extractor and classifier on the demo corpus, extracts as the
workflow does, and writes ``collection.md``, from which ``docs/howto/collections.md`` is computed. A run that
was stopped goes on from its finished blocks. It fails if a row is missing or doubled, or if the
larger run takes more memory than the smaller one.

``--repeats 3`` instead compares one worker with two, in turn, so many times: sentences a second by
the clock, and CPU time, from which follows how fast both would be on two cores of their own.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate, cycle, islice
from pathlib import Path
from statistics import median

import psutil

from tripleaudit.core.files import atomic_write, read_json, read_jsonl

from .speed import results_folder

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "resources" / "demo"
SHARE = 0.25  # of the sentences that state triples
DIFFERENT = 100_000  # sentences that are written before they recur
SLACK = 1.1  # the larger run may take this many times the memory of the smaller one
TRAINING = {
    "batch_size": 32,
    "encoder_learning_rate": 2e-3,
    "head_learning_rate": 2e-3,
    "warmup": 0.1,
}
WIDTH = 64


def main(arguments: Sequence[str] = ()) -> int:
    """Measure and write; 1 if rows are missing or memory grows with the size of a collection."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=12_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--block", type=int, default=2_000)
    parser.add_argument(
        "--single_step", type=int, default=4_000, help="sentences of the run without the gate"
    )
    parser.add_argument(
        "--small", type=int, default=4_000, help="sentences of the run whose memory is compared"
    )
    parser.add_argument("--out", type=Path, default=results_folder() / "collection")
    parser.add_argument(
        "--repeats", type=int, default=0, help="compare one worker with two, so many times"
    )
    options = parser.parse_args(list(arguments))
    models = models_in(options.out)
    if options.repeats:
        print(scaling(options.out, models, options.sentences, options.block, options.repeats))
        return 0
    for name, count in (
        ("sentences", options.sentences),
        ("small", options.small),
        ("single_step", options.single_step),
    ):
        write_sentences(options.out / f"{name}.txt", count)
    two_step = extract(options.out, "sentences", models, options.workers, options.block)
    little = extract(options.out, "small", models, options.workers, options.block)
    single_step = extract(
        options.out, "single_step", models, options.workers, options.block, gate=False
    )
    lines = report(two_step, little, single_step)
    with atomic_write(options.out / "collection.md") as file:
        file.write(lines)
    print(lines)
    return int(
        two_step["peak_mb"] > SLACK * little["peak_mb"]
        or not complete(options.out / "sentences", options.sentences)
    )


# Sentences


def sentences(seed: int = 0) -> Iterator[str]:
    """Yield sentences of the demo corpus's world without end; about a quarter of them state
    triples.
    """
    sys.path.insert(0, str(DEMO.parent))
    from generator import SEED, World
    from generator.compose import Composer
    from generator.generator import Shape, hold_out, keep, rank_facts
    from generator.zero import ZeroWriter

    world, shape = World(SEED), Shape()
    everything = keep(world, shape.relations)
    weights = rank_facts(world, SEED, shape)
    common, _, _ = hold_out(weights, SEED, shape)
    composer, writer = Composer(world, common), ZeroWriter(world, weights, everything)
    facts, sums = list(common), list(accumulate(common.values()))
    rng = random.Random(f"collection-{seed}")
    while True:
        if rng.random() < SHARE:
            anchor = rng.choices(facts, cum_weights=sums)[0]
            draft = composer.compose(
                anchor, rng.choices(range(1, len(shape.counts) + 1), shape.counts)[0], rng
            )
        else:
            draft = writer.write(rng)[1]
        yield draft.finish("").text


def write_sentences(path: Path, count: int) -> None:
    """Write sentences, one a line; from ``DIFFERENT`` on they recur, far beyond the window that
    would notice.
    """
    own = [f"{text}\n" for text in islice(sentences(), min(count, DIFFERENT))]
    with atomic_write(path) as file:
        file.writelines(islice(cycle(own), count))


# Models


def models_in(out: Path) -> Path:
    """Return the folder with the trained extractor and classifier, which are trained once."""
    if not (out / "models" / "zcc" / "model.safetensors").exists():
        train(out / "models")
    return out / "models"


def train(folder: Path) -> None:
    """Train CasRel on sentences with triples and the binary classifier on all, on a one-layer
    encoder.
    """
    encoder = tiny_encoder(folder / "encoder")
    for name, files, settings in (
        ("casrel", ["train"], {"epochs": 8, "model": {"prior": 0.01}}),
        ("zcc", ["train", "train_zero"], {"epochs": 2}),
    ):
        joined = folder / f"{name}.jsonl"
        joined.write_text(
            "".join((DEMO / f"{file}.jsonl").read_text(encoding="utf-8") for file in files)
        )
        command = [
            sys.executable, "-m", "tripleaudit", "train", "--train", str(joined),
            "--valid", str(DEMO / "valid.jsonl"), "--encoder", str(encoder),
            "--extractor", name if name == "casrel" else "zcc-binary",
            "--settings", json.dumps({**TRAINING, **settings, "evaluate_every": settings["epochs"]}),
            "--seed", "1", "--threads", "1", "--gpu", "0", "--out", str(folder / name),
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True)


def tiny_encoder(folder: Path) -> Path:
    """A random one-layer BERT with a WordPiece vocabulary of the demo corpus."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    texts = [
        row["text"]
        for name in ("train", "train_zero")
        for _, row in read_jsonl(DEMO / f"{name}.jsonl")
    ]
    trainer = BertWordPieceTokenizer(lowercase=True)
    trainer.train_from_iterator(texts, vocab_size=3000, min_frequency=2, show_progress=False)
    folder.mkdir(parents=True, exist_ok=True)
    trainer.save_model(str(folder))
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=True)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=4,
        intermediate_size=2 * WIDTH, max_position_embeddings=128,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    return folder


# Extraction


def command(
    out: Path, name: str, models: Path, workers: int, block: int, gate: bool = True
) -> list[str]:
    """What extracts ``<name>.txt`` into the folder of that name."""
    return [
        sys.executable, "-m", "tripleaudit", "collection", "run", str(out / f"{name}.txt"), "--gpu", "0",
        "--model", str(models / "casrel"), *(["--gate", str(models / "zcc")] if gate else []),
        "--workers", str(workers), "--block", str(block), "--out", str(out / name),
    ]  # fmt: skip


def extract(
    out: Path, name: str, models: Path, workers: int, block: int, gate: bool = True
) -> dict:
    """Extract in a process of its own, going on from what an earlier one finished; returns the
    manifest.
    """
    began = time.perf_counter()
    subprocess.run(command(out, name, models, workers, block, gate), check=True)
    manifest = read_json(out / name / "collection.json")
    print(
        f"{name}: {manifest['rows']} rows, {time.perf_counter() - began:.0f} s by the clock",
        flush=True,
    )
    return manifest


# One worker and two


CORES = 2


def scaling(out: Path, models: Path, count: int, block: int, repeats: int) -> str:
    """Measure one worker and two in turn; returns a Markdown table with the medians."""
    write_sentences(out / "scaling.txt", count)
    found: dict[int, list[dict[str, float]]] = {1: [], 2: []}
    for number in range(repeats):
        for workers in found if number % 2 else reversed(found):
            found[workers].append(watched(out, models, workers, block))
            print(workers, found[workers][-1], flush=True)
    one, two = (
        {key: median(each[key] for each in runs) for key in runs[0]} for runs in found.values()
    )
    lines = ["| | 1 worker | 2 workers | ratio |", "|---|---:|---:|---:|"]
    for key in one:
        form = ",.0f" if one[key] > 1000 else ",.1f"
        lines.append(
            f"| {key} | {one[key]:{form}} | {two[key]:{form}} | {two[key] / one[key]:.2f} |"
        )
    return "\n".join(lines)


def watched(out: Path, models: Path, workers: int, block: int) -> dict[str, float]:
    """Extract, from each worker's first block to the last one of all: sentences a second, and CPU
    time of processes.

    On cores of its own a run takes as long as its busiest worker, or as all processes together on
    ``CORES`` cores.
    """
    shutil.rmtree(out / "scaling", ignore_errors=True)
    running = psutil.Popen(command(out, "scaling", models, workers, block))
    samples: list[tuple[float, dict[tuple[int, bool], float]]] = []
    while running.poll() is None:
        samples.append((time.time(), cpu_times(running)))
        time.sleep(0.2)
    if running.returncode:
        raise SystemExit(running.returncode)
    made = sorted(path.stat().st_mtime for path in (out / "scaling" / "blocks").iterdir())
    begin, end = made[workers - 1], made[-1]
    first = min(samples, key=lambda sample: abs(sample[0] - begin))[1]
    last = min(samples, key=lambda sample: abs(sample[0] - end))[1]
    spent = {process: seconds - first.get(process, 0.0) for process, seconds in last.items()}
    sentences = (len(made) - workers) * block
    models_ = [seconds for (_, holds), seconds in spent.items() if holds]
    alone = max(sum(models_) / workers, sum(spent.values()) / CORES)
    return {
        "sentences a second by the clock": sentences / (end - begin),
        "cores that it got": sum(spent.values()) / (end - begin),
        "µs of CPU a sentence, workers": 1e6 * sum(models_) / sentences,
        "µs of CPU a sentence, reading": 1e6 * (sum(spent.values()) - sum(models_)) / sentences,
        f"sentences a second on {CORES} cores of its own": sentences / alone,
    }


def cpu_times(process: psutil.Process) -> dict[tuple[int, bool], float]:
    """CPU seconds of a process and all below it; True marks those that hold the models."""
    found = {}
    for each in [process, *process.children(recursive=True)]:
        try:
            times = each.cpu_times()
            found[each.pid, "multiprocessing.spawn" in " ".join(each.cmdline())] = (
                times.user + times.system
            )
        except psutil.Error:
            continue
    return found


def complete(folder: Path, sentences: int) -> bool:
    """Whether every line is in the output once."""
    return [row["line"] for _, row in read_jsonl(folder)] == list(range(1, sentences + 1))


def parts_table(measured: dict[str, dict]) -> list[str]:
    """Microseconds a sentence of one process by part of the work, as Markdown; a column for each
    manifest.
    """
    lines = [f"| µs a sentence | {' | '.join(measured)} |", "|---|" + "---:|" * len(measured)]
    counts = [each["counts"] for each in measured.values()]
    for part in ("other", "tokenisation", "gate", "extraction"):
        spent = [each["seconds"].get(part, 0.0) for each in measured.values()]
        cells = (
            f"{1e6 * value / each['sentences']:.0f}"
            for value, each in zip(spent, counts, strict=True)
        )
        lines.append(f"| {part} | {' | '.join(cells)} |")
    shares = (f"{100 * each['let_through'] / each['sentences']:.1f} %" for each in counts)
    return [*lines, f"| share that passes | {' | '.join(shares)} |"]


def report(two_step: dict, little: dict, single_step: dict) -> str:
    """What was measured, as Markdown."""
    counts = two_step["counts"]
    peaks = [block["peak_mb"] for block in two_step["blocks"]]
    return "\n".join(
        [
            f"{counts['sentences']:,} sentences in {len(two_step['blocks'])} blocks: {counts['let_through']:,} let"
            f" through, {counts['with_triples']:,} with triples, {counts['triples']:,} triples.",
            "",
            *parts_table({"with gate": two_step, "without": single_step}),
            "",
            f"Most memory of a worker: {min(peaks):.0f} to {max(peaks):.0f} MB from its first block to its last; of"
            f" {little['counts']['sentences']:,} sentences: {little['peak_mb']:.0f} MB.",
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
