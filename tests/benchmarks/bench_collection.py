"""Extraction from a large synthetic collection: speed with and without the gate, memory by shard, cost of a shard.

``python -m tests.benchmarks.bench_collection --sentences 1000000 --shards 10`` writes the sentences with the demo
corpus's generator, trains a tiny extractor and classifier on the demo corpus, extracts shard by shard as the workflow
does, one process after the other, and writes the lists of shards and ``collection.md``, from which ``docs/scale.md``
is computed. It fails if a larger shard takes more memory than a smaller one.
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

from tripleaudit.collection import cost
from tripleaudit.collection.files import collection_files
from tripleaudit.collection.index import build_index, shard_names, write_index
from tripleaudit.collection.join import join_shards
from tripleaudit.files import atomic_write, read_json, read_jsonl

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "resources" / "demo"
SHARE = 0.25  # of the sentences that state triples
DIFFERENT = 100_000  # sentences that are written before they recur
SLACK = 1.1  # the largest shard may take this many times the memory of the smallest one
TRAINING = {"batch_size": 32, "encoder_learning_rate": 2e-3, "head_learning_rate": 2e-3, "warmup": 0.1}
WIDTH = 64


def main(arguments: Sequence[str] = ()) -> int:
    """Measure and write; 1 if memory grows with the size of a shard."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=8_000)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--ungated", type=int, default=4_000, help="sentences of the run without the gate")
    parser.add_argument(
        "--small", type=int, default=4_000, help="sentences of the small shard whose memory is compared"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "benchmarks" / "collection")
    options = parser.parse_args(list(arguments))
    options.out.mkdir(parents=True, exist_ok=True)
    text = options.out / "sentences.txt"
    write_sentences(text, options.sentences)
    models = options.out / "models"
    if not (models / "zcc" / "model.safetensors").exists():
        train(models)
    gated = extract(text, options.out / "gated", models, options.shards, gate=True)
    small = options.out / "small.txt"
    copy_lines(text, small, options.small)
    little = extract(small, options.out / "small", models, 1, gate=True)
    copy_lines(text, options.out / "ungated.txt", options.ungated)
    ungated = extract(options.out / "ungated.txt", options.out / "ungated", models, 1, gate=False)
    lines = report(gated, little, ungated)
    with atomic_write(options.out / "collection.md") as file:
        file.write(lines)
    print(lines)
    return int(gated["peak_mb"] > SLACK * little["peak_mb"])


# Sentences


def sentences(seed: int = 0) -> Iterator[str]:
    """Yield sentences of the demo corpus's world without end; about a quarter of them state triples."""
    sys.path.insert(0, str(DEMO.parent))
    from generator import SEED, World
    from generator.compose import Composer
    from generator.generator import Shape, hold_out, rank_facts
    from generator.zero import ZeroWriter

    world, shape = World(SEED), Shape()
    weights = rank_facts(world, SEED, shape)
    common, _, _ = hold_out(weights, SEED, shape)
    composer, writer = Composer(world, common), ZeroWriter(world, weights)
    facts, sums = list(common), list(accumulate(common.values()))
    rng = random.Random(f"collection-{seed}")
    while True:
        if rng.random() < SHARE:
            anchor = rng.choices(facts, cum_weights=sums)[0]
            draft = composer.compose(anchor, rng.choices((1, 2, 3, 4, 5), shape.counts)[0], rng)
        else:
            draft = writer.write(rng)[1]
        yield draft.finish("").text


def write_sentences(path: Path, count: int) -> None:
    """Write sentences, one a line; from ``DIFFERENT`` on they recur, far beyond the window that would notice."""
    own = [f"{text}\n" for text in islice(sentences(), min(count, DIFFERENT))]
    with atomic_write(path) as file:
        file.writelines(islice(cycle(own), count))


def copy_lines(source: Path, target: Path, count: int) -> None:
    """Write the first lines of a file."""
    with open(source, encoding="utf-8") as lines, atomic_write(target) as file:
        file.writelines(islice(lines, count))


# Models


def train(folder: Path) -> None:
    """Train CasRel on sentences with triples and the binary classifier on all, on a one-layer encoder."""
    encoder = tiny_encoder(folder / "encoder")
    for name, files, settings in (
        ("casrel", ["train"], {"epochs": 8, "model": {"prior": 0.01}}),
        ("zcc", ["train", "train_zero"], {"epochs": 2}),
    ):
        command = [
            sys.executable, "-m", "tripleaudit", "train", "--train", str(DEMO / f"{files[0]}.jsonl"),
            *(part for more in files[1:] for part in ("--train-zero", str(DEMO / f"{more}.jsonl"))),
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

    texts = [row["text"] for name in ("train", "train_zero") for _, row in read_jsonl(DEMO / f"{name}.jsonl")]
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


def extract(text: Path, folder: Path, models: Path, shards: int, gate: bool) -> dict:
    """Extract every shard in a process of its own, as the workflow's jobs do; returns the joined list.

    Shards of an earlier run on the same text are kept, so that a long measurement may be stopped and taken up again.
    """
    began = time.process_time()
    index = build_index(collection_files([str(text)]), shards)
    indexed = time.process_time() - began
    if not (folder / "index.json").exists() or read_json(folder / "index.json") != index:
        shutil.rmtree(folder, ignore_errors=True)
        write_index(folder / "index.json", index)
    facts = []
    for name in shard_names(shards):
        facts.append(folder / f"{name}.json")
        if facts[-1].exists():
            continue
        command = [
            sys.executable, "-m", "tripleaudit", "collection", "extract", "--index", str(folder / "index.json"),
            "--shard", name, "--model", str(models / "casrel"), "--threads", "1", "--gpu", "0",
            *(["--gate", str(models / "zcc")] if gate else []),
            "--out", str(folder / f"{name}.jsonl.gz"), "--facts", str(folder / f"{name}.json"),
        ]  # fmt: skip
        began = time.perf_counter()
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        one = read_json(facts[-1])
        print(
            f"{folder.name} {name}: {one['counts']['sentences']} sentences, {one['counts']['let_through']} let through,"
            f" {one['counts']['triples']} triples, {time.perf_counter() - began:.1f} s, peak {one['peak_mb']:.0f} MB",
            flush=True,
        )
    print(f"{folder.name}: index in {indexed:.2f} s of CPU time", flush=True)
    return join_shards(folder.name, facts, folder / "shards.json")


def report(gated: dict, little: dict, ungated: dict) -> str:
    """What was measured, as Markdown; CPU time, because other programs may run beside."""
    named = {
        "with gate": cost.rates(gated, "cpu_seconds"),
        "without": cost.rates(ungated, "cpu_seconds"),
    }
    counts = gated["counts"]
    peaks = sorted(shard["peak_mb"] for shard in gated["shards"])
    shard = counts["sentences"] // len(gated["shards"])
    lost = shard * named["with gate"].sentence + named["with gate"].start
    return "\n".join(
        [
            f"{counts['sentences']:,} sentences in {len(gated['shards'])} shards: {counts['let_through']:,} let"
            f" through, {counts['with_triples']:,} with triples, {counts['triples']:,} triples.",
            "",
            cost.parts_table(named),
            "",
            f"Peak memory of a shard of {shard:,} sentences: {peaks[0]:.0f} to {peaks[-1]:.0f} MB; of"
            f" {little['counts']['sentences']:,} sentences: {little['peak_mb']:.0f} MB.",
            f"One lost shard costs {lost:.0f} s of one core, of which {named['with gate'].start:.1f} s are its start.",
            "",
            cost.size_table(named["with gate"], named["without"], [1e6, 1e7, 1e8, 1e9], 100_000),
            "",
            cost.worth(named["with gate"], named["without"]),
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
