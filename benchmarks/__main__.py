"""Measure speed and memory of all extractors, and run the other benchmarks: ``python -m benchmarks
--help``.

Writes ``extractors.csv`` and ``extractors.md``. Ratios are seconds of the extractor by seconds of
the bare encoder on the same padded batches, measured in turn: the median of the rounds, the lowest
and the highest.
"""

import argparse
import concurrent.futures
import importlib
import multiprocessing
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

from tripleaudit.core.errors import UserError
from tripleaudit.core.shipped import DATA
from tripleaudit.extractors.registry import extractor_names

from .speed import Measurement, Task, results_folder, run, table, threads_at_hand, write_results

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = (
    "extractor", "relations", "phase", "batch", "ratio", "ratio_low", "ratio_high", "sentences_per_second", "peak_mb",
)  # fmt: skip
TRAIN_GOALS = {
    "casrel": 1.3, "tdeer": 1.3, "birte": 1.4, "prgc": 1.6, "pfn": 2.0, "tplinker": 2.5, "ptrnet": 3.0, "grte": 6.0,
    "onerel": 7.0,
}  # fmt: skip
PREDICT_GOALS = {
    "casrel": 1.5, "tdeer": 1.5, "birte": 1.5, "prgc": 1.5, "ptrnet": 2.0, "pfn": 2.0, "tplinker": 3.0, "grte": 3.0,
    "onerel": 3.0,
}  # fmt: skip
MEMORY_GOALS = {
    "birte": 1600,
    "prgc": 2100,
    "onerel": 3500,
    "grte": 3200,
    "tplinker": 1700,
    "pfn": 5900,
}
PRESET = "webnlg"  # whose batch and model settings are measured


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write; 1 if an extractor failed or another benchmark did not hold its bound."""
    options = parsed(arguments)
    parts = options.only or parts_at_hand()
    failed = measure_extractors(options) if "extractors" in parts else []
    failed += [part for part in parts if part != "extractors" and not holds(part)]
    print(f"results: {options.out}")
    if failed:
        print(f"failed: {', '.join(dict.fromkeys(failed))}", file=sys.stderr)
    return int(bool(failed))


def measure_extractors(options: argparse.Namespace) -> list[str]:
    """Measure the extractors and write the results; returns the names of those that failed."""
    gpu = has_gpu() and not options.cpu
    failed = []
    measured: list[Measurement] = []
    with tempfile.TemporaryDirectory() as folder:
        encoder = base_sized(Path(folder)) if gpu else minilm()
        for name in options.extractor or extractor_names():
            for relations in options.relations:
                try:
                    rows = in_fresh_process(task(options, name, relations, encoder, gpu))
                except Exception as error:  # the others are still measured
                    failed.append(name)
                    print(
                        f"{name}, {relations} relations: failed: {type(error).__name__}: {error}",
                        file=sys.stderr,
                    )
                    continue
                measured += rows
                for row in rows:
                    print(", ".join(f"{key} {getattr(row, key)}" for key in COLUMNS), flush=True)
                write(measured, options, gpu)
    for line in missed(measured, gpu):
        print(line)
    return failed


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--only", nargs="+", choices=parts_at_hand(), help="only these parts of the benchmarks"
    )
    parser.add_argument(
        "--extractor", action="append", choices=extractor_names(), help="only this one (repeatable)"
    )
    parser.add_argument(
        "--relations", type=int, nargs="+", default=[24, 216], help="numbers of relations"
    )
    parser.add_argument("--batches", type=int, default=3, help="batches of each phase")
    parser.add_argument("--rounds", type=int, default=3, help="how often all batches are timed")
    parser.add_argument(
        "--warm-up", type=int, default=24, help="training steps before anything is timed"
    )
    parser.add_argument(
        "--training-batch", type=int, help="sentences; as in the preset, on a GPU 32"
    )
    parser.add_argument("--prediction-batch", type=int, default=32, help="sentences")
    parser.add_argument("--threads", type=int, default=threads_at_hand(), help="CPU threads")
    parser.add_argument("--cpu", action="store_true", help="use no GPU")
    parser.add_argument(
        "--synthetic", action="store_true", help="synthetic sentences even where WebNLG is at hand"
    )
    parser.add_argument("--out", type=Path, default=results_folder(), help="folder")
    options = parser.parse_args(arguments)
    for name in ("batches", "rounds", "prediction_batch", "threads"):
        if getattr(options, name) < 1:
            parser.error(
                f"--{name.replace('_', '-')} is {getattr(options, name)}, expected at least 1"
            )
    return options


def task(options: argparse.Namespace, name: str, relations: int, encoder: Path, gpu: bool) -> Task:
    """Say what one process measures."""
    data = None if options.synthetic else webnlg()
    official = yaml.safe_load((DATA / "presets.yaml").read_text())["presets"][name][PRESET]
    return Task(
        name,
        relations,
        str(encoder),
        str(data) if data else None,
        options.training_batch or (32 if gpu else official["batch_size"]),
        options.prediction_batch,
        options.batches,
        options.rounds,
        options.warm_up,
        options.threads,
        gpu,
        (TRAIN_GOALS.get(name), PREDICT_GOALS.get(name)),
        official.get("model", {}),
    )


def in_fresh_process(what: Task) -> list[Measurement]:
    """Measure in a process of its own, so that its peak memory is that of one extractor."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(run, what).result()


def webnlg() -> Path | None:
    """The training sentences of WebNLG, where they are at hand."""
    folder = Path(os.environ.get("TRIPLEAUDIT_DATA", ROOT.parent / "shared" / "data"))
    file = folder / "webnlg" / "train_triples.json"
    return file if file.is_file() else None


def minilm() -> Path:
    """Return the folder of the MiniLM encoder, which is not fetched here.

    Raises:
        UserError: it is not there.
    """
    path = Path(os.environ.get("TRIPLEAUDIT_BENCH_ENCODER", "resources/downloads/minilm"))
    if not path.is_dir():
        raise UserError(
            f"{path}: no encoder; fetch it: tripleaudit fetch --model minilm --out resources/downloads/minilm"
        )
    return path.absolute()


def base_sized(folder: Path) -> Path:
    """A random encoder of BERT-base shapes with MiniLM's tokenizer."""
    from transformers import AutoTokenizer, BertConfig, BertModel

    tokenizer = AutoTokenizer.from_pretrained(minilm())
    tokenizer.save_pretrained(folder)
    BertModel(BertConfig(vocab_size=len(tokenizer))).save_pretrained(folder)
    return folder


def has_gpu() -> bool:
    """Whether PyTorch sees a GPU."""
    import torch

    return torch.cuda.is_available()


# Results


def goal(row: Measurement) -> float | None:
    """The highest ratio that a phase should have."""
    return (TRAIN_GOALS if row.phase == "train" else PREDICT_GOALS).get(row.extractor)


def missed(rows: Sequence[Measurement], gpu: bool) -> list[str]:
    """One line for each goal that is missed."""
    lines = []
    for row in rows:
        where = f"{row.extractor}, {row.phase}, {row.relations} relations"
        if goal(row) is not None and row.ratio > goal(row):
            lines.append(
                f"missed: {where}: {row.ratio} times the encoder, goal {goal(row)}{dominating(row)}"
            )
        most = MEMORY_GOALS.get(row.extractor)
        if not gpu and row.phase == "train" and most and row.peak_mb > most:
            lines.append(f"missed: {where}: peak {row.peak_mb:.0f} MB, goal {most}")
    return lines


def dominating(row: Measurement) -> str:
    """What takes the time, as the profiler saw it."""
    if not row.shares:
        return ""
    largest = ", ".join(f"{kind} {share:.0%}" for kind, share in row.shares[:3])
    return (
        f"; the encoder's own time is {1 / row.ratio:.0%} of it; by operators: {largest} "
        f"({row.calls} operator calls for a batch)"
    )


def write(rows: Sequence[Measurement], options: argparse.Namespace, gpu: bool) -> None:
    """Write both files; called after each extractor, so that a stopped run leaves what it
    measured.
    """
    write_results(options.out / "extractors", COLUMNS, rows, markdown(rows, options, gpu))


def markdown(rows: Sequence[Measurement], options: argparse.Namespace, gpu: bool) -> str:
    """The table with its goals, and how it was measured."""
    import torch

    device = (
        torch.cuda.get_device_name()
        if gpu
        else f"{platform.machine()} CPU, {options.threads} threads"
    )
    encoder = "BERT-base shapes, bfloat16" if gpu else "MiniLM (6 layers, width 384), float32"
    data = "synthetic sentences" if options.synthetic or webnlg() is None else "WebNLG"
    heads = [
        "extractor", "relations", "phase", "batch", "ratio", "low to high", "goal", "met", "sentences/s", "peak MB",
        "peak goal", "triples/sentence (gold)",
    ]  # fmt: skip
    lines = [
        "# Extractors next to the bare encoder",
        "",
        f"{device}; PyTorch {torch.__version__}; {encoder}; {data}; {options.batches} batches, {options.rounds} rounds,"
        f" {options.warm_up} training steps before; training batch and model settings of the preset {PRESET}.",
        "",
        "`ratio`: seconds by those of the bare encoder's own step (`train`) or forward pass (`predict`) on the same"
        " padded batches, in turn; median of the rounds, lowest and highest. Memory is"
        + (" what PyTorch held on the GPU." if gpu else " that of the whole process."),
        "",
    ]
    cells = []
    for row in rows:
        wanted, most = (
            goal(row),
            MEMORY_GOALS.get(row.extractor) if row.phase == "train" and not gpu else None,
        )
        kept = (wanted is None or row.ratio <= wanted) and (most is None or row.peak_mb <= most)
        counts = "" if row.predicted is None else f"{row.predicted} ({row.gold})"
        cells.append([
            row.extractor, row.relations, row.phase, row.batch, f"{row.ratio:.2f}",
            f"{row.ratio_low:.2f} to {row.ratio_high:.2f}", "" if wanted is None else wanted, "yes" if kept else "no",
            f"{row.sentences_per_second:.1f}", f"{row.peak_mb:.0f}", most or "", counts,
        ])  # fmt: skip
    lines += table(heads, cells)
    lines += (
        ["", *(f"- {line}" for line in missed(rows, gpu))]
        if missed(rows, gpu)
        else ["", "No goal is missed."]
    )
    return "\n".join(lines) + "\n"


def parts_at_hand() -> list[str]:
    """``extractors``, and what ``bench_*.py`` next to this file measure."""
    return [
        "extractors",
        *sorted(file.stem[len("bench_") :] for file in Path(__file__).parent.glob("bench_*.py")),
    ]


def holds(part: str) -> bool:
    """Run ``main`` of another benchmark; whether it held its bounds."""
    print(f"{part}:", flush=True)
    return not importlib.import_module(f"{__package__}.bench_{part}").main()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"error: {error}")
