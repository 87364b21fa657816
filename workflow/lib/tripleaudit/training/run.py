"""One training from files to a saved extractor, with history and provenance next to it."""

import contextlib
import importlib
import json
import logging
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from inspect import getfile
from pathlib import Path
from typing import Any

import torch

from tripleaudit.core import code, outputs, storage
from tripleaudit.core.devices import share
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import atomic_write, sha256, write_json, write_jsonl
from tripleaudit.core.locks import folder_lock
from tripleaudit.core.model_folders import WEIGHTS, WEIGHTS_DIGEST
from tripleaudit.core.provenance import digest, provenance
from tripleaudit.corpora.model import Sentence
from tripleaudit.extractors.alignment import choose_words
from tripleaudit.extractors.base import Extractor
from tripleaudit.extractors.registry import resolve
from tripleaudit.extractors.type_learning import learn_types
from tripleaudit.protocols.noising import EntityNoising
from tripleaudit.scoring.matching import check_matching
from tripleaudit.scoring.spec import MATCHINGS
from tripleaudit.training.card import model_card
from tripleaudit.training.convergence import convergence
from tripleaudit.training.data import TrainingSentences
from tripleaudit.training.session import report_unknown_relations
from tripleaudit.training.settings import LoopSettings, TrainingSettings
from tripleaudit.training.trackers import NONE, reporting
from tripleaudit.training.trainer import ExtractorTrainer, Validate, train_extractor

logger = logging.getLogger(__name__)

CHECKPOINTS = "checkpoints"

Score = Callable[[Sequence[Sentence], Sequence[Sentence]], dict[str, float]]


def loop_settings(settings: TrainingSettings, extractor: type[Extractor]) -> LoopSettings:
    """Return the settings of a training loop, with the official ones of its extractor as defaults.

    Raises:
        UserError: a default does not fit, or two settings do not go together.
    """
    named = {}
    for name in settings.model_fields_set & LoopSettings.model_fields.keys():
        named[name] = getattr(settings, name)
    loop = LoopSettings.checked({**extractor.settings.training_defaults, **named}, "training")
    counts_instances = extractor.instance_count.__func__ is not Extractor.instance_count.__func__
    if loop.unit == "instances" and not counts_instances:
        raise UserError(
            f"training/unit: {extractor.name} makes one instance of a sentence; instances are for tdeer and prgc"
        )
    return loop.doubled() if settings.double else loop


def train_to(
    out: Path,
    *,
    name: str,
    train: Sequence[Sentence],
    valid: Sequence[Sentence],
    encoder: Path,
    settings: TrainingSettings,
    seed: int,
    score: Score,
    inputs: Mapping[str, Path],
    on: Callable[[], AbstractContextManager[torch.device]] = lambda: contextlib.nullcontext(
        torch.device("cpu")
    ),
) -> ExtractorTrainer:
    """Train an extractor or classifier and save it to ``out``.

    Writes ``model.safetensors``, ``config.json``, the tokenizer, ``history.jsonl`` and
    ``provenance.json``; of a training of twice the epochs (``double``) only the last two.
    Checkpoints lie in ``out/checkpoints`` until the model is saved; ``out/.lock`` keeps others out
    meanwhile.

    Args:
        name: of the extractor, such as ``casrel`` or ``zcc-binary``.
        train, valid: the splits; all relations of ``train`` are learnt, in alphabetical order.
        settings: of the training; the official ones of the extractor fill what they leave open.
        score: compares gold and predicted sentences of the validation set, ``{"f1": …}``.
        inputs: role -> file, for the provenance.
        on: takes the device, when all that the host does before is done, and gives it back.

    Raises:
        UserError: bad settings, data or encoder; all are checked before training starts. Or another
            process trains into ``out``.
    """
    start = time.monotonic()
    extractor, implied = resolve(name)
    loop = loop_settings(settings, extractor)
    own = {**implied, **settings.model}
    if loop.report_to != NONE:
        importlib.import_module(loop.report_to)  # is it installed?
    relations = sorted({triple.relation for sentence in train for triple in sentence.triples})
    if not relations:
        raise UserError(
            "the training set has no triples; expected at least one sentence with a triple"
        )
    if own.get("words", "auto") == "auto":
        own["words"] = choose_words(train)
    torch.manual_seed(seed)
    model = extractor.from_encoder(encoder, relations, settings.encoder_layers, **own)
    noise = None
    if settings.noising is not None:
        noise = EntityNoising(train, model.aligner.token_counts, settings.noising, seed)
    dataset = TrainingSentences(train, model, noise)
    report_unknown_relations(valid, relations, "validation")
    rule = MATCHINGS[check_matching(loop.matching)]
    fingerprint = {
        "extractor": name,
        "settings": digest(settings.affecting()),
        "seed": seed,
        "inputs": {role: sha256(path) for role, path in sorted(inputs.items())},
        "encoder": sha256(encoder / "model.safetensors"),
        "code": code.digest_of(
            "commands.train", files=filter(None, [Path(getfile(extractor)).resolve(), rule.file])
        ),
    }
    encoder_facts = describe_encoder(encoder, model)
    claim = partial(outputs.claim, f"train {out}", json.dumps(fingerprint, sort_keys=True))
    claim()  # before the wait: a training that outlived its Snakemake and has other settings must not end here
    with folder_lock(out):
        claim()  # an equal one that ended meanwhile has released it
        validate = validation(model, valid, loop, score) if valid else None
        shown = {"extractor": name, "seed": seed, **loop.full()}
        with on() as device, reporting(loop.report_to, out, shown) as report:
            result = train_extractor(
                model,
                dataset,
                loop,
                seed=seed,
                folder=out / CHECKPOINTS,
                validate=validate,
                fingerprint=fingerprint,
                device=device,
                report=report,
            )
            types: dict[str, Any] = {}
            if model.kind == "extractor":
                types = learn_types(model, train, batch_size=loop.evaluation_batch_size, seed=seed)
            model.cpu()
        counts = dict(dataset.counts)
        if noise is not None:
            counts |= {f"noise_{key}": value for key, value in noise.counts.items()}
        made = provenance(
            command="train",
            inputs={**inputs, "encoder": encoder / "model.safetensors"},
            settings=settings.given(),
            seed=seed,
            device=torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
            seconds=time.monotonic() - start,
        )
        facts = {
            "settings": loop.full(),
            "layout": model.config.layout,
            "words": model.config.words,
            "counts": counts,
        }
        if types:
            facts["entity_types"] = types
        if model.encoder_bf16:
            facts["encoder_precision"] = "bf16"
        record = {**made, "extractor": name, "encoder": encoder_facts, "relations": len(relations)}
        record["training"] = facts | _facts(result)
        _save(out, None if settings.double else model, result.history, record)
        shutil.rmtree(out / CHECKPOINTS)
        return result


def describe_encoder(folder: Path, model: Extractor) -> dict[str, Any]:
    """Return the name, layers and parameters of the encoder that a training starts from.

    Args:
        folder: of the pre-trained encoder; its name is the encoder's name.
        model: the untrained extractor. The parameters are those of its encoder, after layers and
            pooler that it does not use have been removed, and before rows of the embedding that do
            not occur are removed.
    """
    return {
        "name": Path(folder).resolve().name,
        "layers": model.encoder.config.num_hidden_layers,
        "parameters": sum(parameter.numel() for parameter in model.encoder.parameters()),
    }


def validation(
    model: Extractor, valid: Sequence[Sentence], settings: LoopSettings, score: Score
) -> Validate:
    """Return the function that scores a model on the validation set; texts are aligned once."""
    texts = [sentence.text for sentence in valid]
    alignments = model.aligner.aligned(texts)

    def validate(extractor: Extractor) -> dict[str, float]:
        if extractor.kind == "classifier":
            return extractor.evaluate(valid, alignments, settings.evaluation_batch_size)
        predicted = extractor.extract(texts, settings.evaluation_batch_size, alignments=alignments)
        scores = score(valid, predicted)
        if settings.select_by == "f1+entities":
            scores["entity_f1"] = entity_f1(valid, predicted)
        return scores

    return validate


def entity_f1(gold: Sequence[Sentence], predicted: Sequence[Sentence]) -> float:
    """F1 of the entities of triples, as strings, each counted once per sentence."""
    correct = total = 0
    for both in zip(gold, predicted, strict=True):
        own, other = (
            {span.text for triple in sentence.triples for span in (triple.subject, triple.object)}
            for sentence in both
        )
        correct, total = correct + len(own & other), total + len(own) + len(other)
    return 2 * correct / max(1, total)


def _facts(result: ExtractorTrainer) -> dict[str, Any]:
    progress = result.progress
    return {
        "steps": result.step,
        "epochs": result.epoch,
        "best_epoch": progress.best_epoch,
        "best_step": progress.best_step,
        "best_f1": result.best_f1,
        "convergence": convergence(result.history, progress.stopped),
        "seconds": round(progress.training_seconds, 3),
        "seconds_per_epoch": round(progress.training_seconds / max(result.epoch, 1e-9), 3),
        "validation_seconds": round(progress.validation_seconds, 3),
        "gpu_share": share(),
    }


def _save(
    out: Path, model: Extractor | None, history: list[dict[str, Any]], record: Mapping[str, Any]
) -> None:
    """Write everything to a folder inside ``out`` first, so that the model appears whole."""
    fresh = out / CHECKPOINTS / "final"
    with storage.whole_folder(fresh):
        fresh.mkdir(parents=True, exist_ok=True)
        if model is not None:
            model.save_pretrained(fresh)
            with atomic_write(fresh / "README.md") as stream:
                stream.write(model_card(record, model.kind, model.config.relations))
            record = {**record, WEIGHTS_DIGEST: sha256(fresh / WEIGHTS)}
    write_jsonl(fresh / "history.jsonl", history)
    write_json(fresh / "provenance.json", record)
    storage.publish(fresh, out)
