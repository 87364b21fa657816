"""Hours of the trainings still to do, from those that were finished here. Imports no torch.

A job of a study with ``gpu_share: N`` has the N-th part of a GPU, so an hour of it is the N-th part of a GPU-hour.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import read_json
from tripleaudit.machine.devices import devices
from tripleaudit.plan.study import Run, Study

WORK = ("epochs", "max_steps", "batch_size", "accumulation")  # settings that decide how much work a training is


@dataclass(frozen=True)
class Finished:
    """One training that was done: which one, its wall time, its device (``cpu`` or the GPU's name), the settings that
    were given, all settings, and the sentences that it was trained on."""

    study: str
    run: Run
    seconds: float
    device: str
    given: Mapping[str, Any]
    settings: Mapping[str, Any]
    sentences: int


@dataclass(frozen=True)
class Hours:
    """What the trainings of one extractor still take.

    Attributes:
        to_do, done: trainings.
        hours: of those to do, on one CPU or GPU (or its parts); None where nothing is known.
        unit: ``GPU-hours``, or ``hours`` of the CPU.
        source: in words, what this was extrapolated from.
    """

    extractor: str
    to_do: int
    done: int
    hours: float | None = None
    unit: str = ""
    source: str = ""


def finished(results: Path) -> Iterator[Finished]:
    """Yield the trainings that were done in the studies below ``results``."""
    for path in sorted(results.glob("*/models/*/*/*/*/seed*/provenance.json")):
        study, (corpus, trainset, extractor, noise, seed) = path.parts[-8], path.parts[-6:-1]
        protocol, _, setting = trainset.rpartition("-")
        run = Run(corpus, protocol, setting, extractor, noise, int(seed.removeprefix("seed")))
        try:
            record = read_json(path)
            training = record["training"]
            seconds = float(training["seconds"]) + float(training["validation_seconds"])
            settings, sentences = training["settings"], int(training["counts"]["sentences"])
            yield Finished(study, run, seconds, record["device"], record["settings"], settings, sentences)
        except (UserError, KeyError, TypeError, ValueError):  # cut short, or of another version
            continue


def estimate(study: Study) -> list[Hours]:
    """Return one entry for each extractor and classifier of a study, by the results of all studies next to its own."""
    known = list(finished(Path(study.paths.study).parent))
    own = {each.run: each.given for each in known if each.study == study.name}
    gpu = {"auto": True if devices() else None, 0: False, 1: True}[study.typed.gpu]  # None: it may run elsewhere
    entries = []
    for name in [*study.extractors, *study.classifiers]:
        runs = [run for run in [*study.runs, *study.classifier_runs] if run.extractor == name]
        plans = {run: json.loads(study.trainings.training_json(run)) for run in runs}
        to_do = {run: plan for run, plan in plans.items() if own.get(run) != plan}
        like = [each for each in known if each.run.extractor == name and gpu in (None, each.device != "cpu")]
        took = _extrapolated(study, to_do, like) if to_do and like else ()
        entries.append(Hours(name, len(to_do), len(plans) - len(to_do), *took))
    return entries


def _extrapolated(
    study: Study, to_do: Mapping[Run, Mapping[str, Any]], like: Sequence[Finished]
) -> tuple[float, str, str]:
    """Return hours, unit and source by finished trainings, the mean over the nearest of them."""
    layers = study.typed.encoder.layers
    like = [each for each in like if each.given.get("encoder_layers") == layers] or like
    like = [each for each in like if each.study == study.name] or like
    like = [each for each in like if each.device == like[0].device]  # one for all, so that hours can be added up
    hours, scaled = 0.0, True
    for run, plan in to_do.items():
        sentences = _sentences(study, run, like)
        for each in like:
            planned = _work({**each.settings, **{key: plan[key] for key in WORK if key in plan}}, sentences)
            before = _work(each.settings, each.sentences)
            scaled &= bool(planned and before)
            hours += each.seconds * (planned / before if planned and before else 1) / len(like) / 3600
    where = "the CPU" if like[0].device == "cpu" else like[0].device
    studies = ", ".join(sorted({each.study for each in like}))
    source = f"{len(like)} training{'s' * (len(like) > 1)} of {studies} on {where}, "
    source += "scaled by sentences and epochs" if scaled else "not scaled, as sizes are not known yet"
    return (hours, "hours", source) if where == "the CPU" else (hours / study.typed.gpu_share, "GPU-hours", source)


def _work(settings: Mapping[str, Any], sentences: int) -> float:
    """Sentences that a training is to see; 0 if that is not known."""
    if sentences and settings.get("max_steps"):
        return float(settings["max_steps"]) * settings["batch_size"] * settings.get("accumulation", 1)
    return float(sentences) * settings["epochs"]


def _sentences(study: Study, run: Run, like: Sequence[Finished]) -> int:
    """The size of a training set: of the file, if it is made already, else as another training had it; 0 if unknown."""
    path = Path(study.set_file(run.corpus, run.protocol, run.setting, "train"))
    if path.is_file():
        return sum(map(bool, path.read_text(encoding="utf-8").split("\n")))
    same = (each.sentences for each in like if (each.run.corpus, each.run.trainset) == (run.corpus, run.trainset))
    return next(same, 0)


def as_lines(entries: Sequence[Hours]) -> list[str]:
    """Return the estimate as lines of text, the sums last."""
    lines = ["trainings"] if entries else []
    width = max((len(entry.extractor) for entry in entries), default=0)
    for entry in entries:
        text = f"  {entry.extractor.ljust(width)}  {entry.to_do} to do, {entry.done} done"
        if entry.hours is not None:
            text += f"; about {_hours(entry.hours)} {entry.unit}, from {entry.source}"
        elif entry.to_do:
            text += "; nothing is known: no training of it stands in these results"
        lines.append(text)
    for unit in dict.fromkeys(entry.unit for entry in entries if entry.unit):
        counted = [entry for entry in entries if entry.unit == unit]
        number = sum(entry.to_do for entry in counted)
        take = "1 training takes" if number == 1 else f"{number} trainings take"
        lines.append(f"  {take} about {_hours(sum(entry.hours for entry in counted))} {unit}, one after the other")
    return lines


def _hours(value: float) -> str:
    """Two decimals, or two digits of what is smaller than a tenth."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"
