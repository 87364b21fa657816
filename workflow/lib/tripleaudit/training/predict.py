"""Prediction of several test sets in one process: one model, equal texts once."""

import logging
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from tripleaudit.core import memory
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import write_json, write_jsonl
from tripleaudit.core.provenance import provenance
from tripleaudit.corpora.store import load_set, save_sentences
from tripleaudit.extractors.base import Extractor
from tripleaudit.extractors.registry import load_extractor
from tripleaudit.training.session import report_unknown_relations

logger = logging.getLogger(__name__)


def load_gate(folder: Path) -> Extractor:
    """Load a zero-cardinality classifier.

    Raises:
        UserError: the folder holds no classifier.
    """
    gate = load_extractor(folder)
    if gate.kind != "classifier":
        raise UserError(
            f"{folder}: holds the extractor {gate.name}, expected a zero-cardinality classifier"
        )
    return gate


def predict_files(
    model: Extractor,
    folder: Path,
    files: Sequence[tuple[Path, Path]],
    batch_size: int = 32,
    schema_of_test: bool = False,
) -> None:
    """Predict stored sentences, each test set with a sidecar ``<out>.provenance.json``.

    Of a classifier clue words are stored, too (:meth:`~tripleaudit.extractors.zcc.ZCC.clues`);
    finding them is not part of the time.

    Args:
        model: loaded from ``folder``, which the sidecar names.
        files: test sets, and where the predictions of each go.
        schema_of_test: ask for the relations of the sets' triples, and no others
            (:meth:`Extractor.set_schema`).
    """
    start = time.monotonic()
    sets = [load_set(path) for path, _ in files]
    if schema_of_test:
        model.set_schema(
            sorted(
                {
                    triple.relation
                    for each in sets
                    for sentence in each
                    for triple in sentence.triples
                }
            )
        )
    for (path, _), sentences in zip(files, sets, strict=True):
        report_unknown_relations(sentences, model.config.relations, path.name)
    texts, ids = ([getattr(each, name) for own in sets for each in own] for name in ("text", "id"))
    predicted: Iterator[Any]
    if model.kind == "classifier":
        scores = zip(ids, model.decide(texts, batch_size), strict=True)
        predicted = iter([{"id": id_, "score": score} for id_, score in scores])
    else:
        predicted = iter(model.extract(texts, batch_size, ids))
    seconds = time.monotonic() - start
    logger.info("predicted %d sentences in %.1f s", len(texts), seconds)
    took = {"sentences": len(texts), "peak_mb": memory.peak_mb()}
    for (path, target), sentences in zip(files, sets, strict=True):
        result = list(islice(predicted, len(sentences)))
        record = provenance(
            command="predict",
            inputs={"data": path, "model": folder / "model.safetensors"},
            settings={
                "batch_size": batch_size,
                **({"schema": model.config.relations} if schema_of_test else {}),
            },
            seed=None,
            device=str(model.device),
            seconds=seconds,
        )
        write_json(
            target.with_name(target.name + ".provenance.json"),
            {"extractor": model.name, **record, **took},
        )
        if model.kind == "classifier":
            found = model.clues([sentence.text for sentence in sentences], batch_size)
            rows = zip(result, sentences, strict=True)
            write_jsonl(
                target,
                ({**row, "clue": found[s.text]} if s.text in found else row for row, s in rows),
            )
        else:
            save_sentences(target, result)
