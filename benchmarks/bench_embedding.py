"""Processor time of CasRel's training step on a CPU with the embedding rows that can occur, by that
with all rows.

Measured in turn in one process, block of steps by block, on the demo corpus with the demo's
settings and on WebNLG with those of its preset, both with two layers of MiniLM, in a process that
keeps freed memory, as trainings do. Says which goal is missed; fails where rows save nothing.
"""

import csv
import logging
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
import yaml

from tripleaudit.core.files import atomic_write
from tripleaudit.core.shipped import DATA
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_sentences
from tripleaudit.extractors.registry import extractor_class
from tripleaudit.training import trainer
from tripleaudit.training.data import TrainingSentences
from tripleaudit.training.session import set_up
from tripleaudit.training.settings import TrainingSettings
from tripleaudit.training.trainer import ExtractorTrainer

from . import __main__ as extractors
from . import speed

ROOT = Path(__file__).resolve().parents[1]
GOALS = {"demo": 0.75, "webnlg": 0.92}
COLUMNS = (
    "corpus",
    "batch",
    "rows",
    "of",
    "milliseconds",
    "whole_milliseconds",
    "ratio",
    "low",
    "high",
    "goal",
)
LAYERS, BLOCK, BLOCKS = 2, 20, 6


def corpora() -> dict[str, tuple[Sequence[Sentence], Mapping[str, Any]]]:
    """Sentences and settings of each corpus that is at hand."""
    demo = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
    own = {name: value for name, value in demo["training"].items() if name != "max_steps"}
    found = {"demo": (load_sentences(ROOT / "resources" / "demo" / "train.jsonl"), own)}
    if file := extractors.webnlg():
        presets = yaml.safe_load((DATA / "presets.yaml").read_text(encoding="utf-8"))["presets"]
        official = {
            name: value for name, value in presets["casrel"]["webnlg"].items() if name != "model"
        }
        found["webnlg"] = speed.read_sentences(file), official
    return found


def steps(
    sentences: Sequence[Sentence], settings: TrainingSettings, whole: bool
) -> tuple[ExtractorTrainer, Callable]:
    """A training that is about to begin, and a function that takes one step of it."""
    relations = sorted({triple.relation for each in sentences for triple in each.triples})
    torch.manual_seed(0)
    model = extractor_class("casrel").from_encoder(extractors.minilm(), relations, LAYERS)
    rows = {"return_value": None} if whole else {"wraps": trainer.embedding_rows}
    with patch.object(trainer, "embedding_rows", **rows), tempfile.TemporaryDirectory() as folder:
        dataset = TrainingSentences(sentences, model)
        run = ExtractorTrainer(model, dataset, settings, seed=0, folder=Path(folder), validate=None)
    model.train()
    batches = chain.from_iterable(run._batches(epoch, 0) for epoch in range(settings.epochs))

    def step() -> None:
        batch = next(batches)
        if run.rows is not None:
            run.rows.admit(batch["input_ids"], run.optimizer)
        run.update(batch)

    return run, step


def measure(name: str, sentences: Sequence[Sentence], values: Mapping[str, Any]) -> dict[str, Any]:
    """One line of the table."""
    settings = TrainingSettings(
        **{**extractor_class("casrel").settings.training_defaults, **values}
    )
    (run, some), (_, all_) = (steps(sentences, settings, whole) for whole in (False, True))
    seconds: dict[Callable, list[float]] = {some: [], all_: []}
    for block in range(BLOCKS + 1):  # the first one warms up
        for step, own in seconds.items():
            began = time.process_time()
            for _ in range(BLOCK):
                step()
            if block:
                own.append((time.process_time() - began) / BLOCK)
    ratios = [mine / whole for mine, whole in zip(seconds[some], seconds[all_], strict=True)]
    return {
        "corpus": name,
        "batch": settings.batch_size,
        "rows": len(run.rows.ids),
        "of": len(run.rows.positions),
        "milliseconds": round(1000 * statistics.median(seconds[some]), 1),
        "whole_milliseconds": round(1000 * statistics.median(seconds[all_]), 1),
        "ratio": round(statistics.median(ratios), 3),
        "low": round(min(ratios), 3),
        "high": round(max(ratios), 3),
        "goal": GOALS[name],
    }


def main() -> int:
    """Measure, print and write; 1 if rows save nothing."""
    set_up(threads=1, level=logging.WARNING)
    results = [measure(name, *given) for name, given in corpora().items()]
    for result in results:
        missed = "; missed" if result["ratio"] > result["goal"] else ""
        print(", ".join(f"{key} {value}" for key, value in result.items()) + missed)
    with atomic_write(speed.results_folder() / "embedding.csv") as file:
        lines = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        lines.writeheader()
        lines.writerows(results)
    return int(any(result["ratio"] >= 1 for result in results))


if __name__ == "__main__":
    sys.exit(main())
