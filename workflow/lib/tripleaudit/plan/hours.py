"""Hours of the trainings still to do, from the benchmark files of finished ones, else from steps measured on a GPU.

A job of a study with ``gpu_share: N`` has the N-th part of a GPU, so an hour of it is the N-th part of a GPU-hour.
Imports no torch.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import read_json, read_jsonl
from tripleaudit.machine.devices import devices
from tripleaudit.plan import speeds
from tripleaudit.plan.study import Run, Study
from tripleaudit.sources import registry
from tripleaudit.training.settings import TrainingSettings

WORK = ("epochs", "max_steps", "batch_size", "accumulation")  # settings that decide how much work a training is


@dataclass(frozen=True)
class Finished:
    """One training that was done.

    Attributes:
        study, run: which one.
        seconds: wall time.
        cpu_seconds: of all its cores; the wall time where no benchmark says.
        device: ``cpu`` or the GPU's name.
        share: jobs that could use its GPU side by side.
        asked: the settings that were given, as JSON would have them.
        settings: all settings, defaults filled in.
        sentences: it was trained on.
    """

    study: str
    run: Run
    seconds: float
    cpu_seconds: float
    device: str
    share: int
    asked: Mapping[str, Any]
    settings: Mapping[str, Any]
    sentences: int

    @property
    def work(self) -> float:
        """Sentences that it was planned to see."""
        return _work(self.settings, self.sentences)


@dataclass(frozen=True)
class Hours:
    """What the trainings of one extractor still take.

    Attributes:
        to_do, done: trainings.
        known: those to do that can be extrapolated.
        hours: of GPUs (wall time times GPUs, or their parts) or of CPU cores, as ``unit`` says.
        wall: hours that they take one after the other.
        source: in words, what this was extrapolated from; empty if nothing is known.
        share: trainings that use one GPU side by side.
    """

    extractor: str
    to_do: int
    done: int
    known: int = 0
    hours: float = 0.0
    wall: float = 0.0
    unit: str = ""
    source: str = ""
    share: int = 1


def finished(results: Path) -> list[Finished]:
    """Return all trainings that were done in the studies below ``results``, with their benchmarks."""
    found = []
    for path in sorted(results.glob("*/models/*/*/*/*/seed*/provenance.json")):
        study, (corpus, trainset, extractor, noise, seed) = path.parts[-8], path.parts[-6:-1]
        protocol, _, setting = trainset.rpartition("-")
        try:
            record = read_json(path)
            training = record["training"]
            seconds = float(training["seconds"]) + float(training["validation_seconds"])
            place = results / study / "benchmarks" / "train" / Path(*path.parts[-6:-1])
            benchmark = _benchmark(place.with_name(place.name + ".jsonl"))
            # the benchmark of a training that was resumed knows its last part only
            wall = max(seconds, float(benchmark.get("s") or 0.0))
            found.append(
                Finished(
                    study,
                    Run(corpus, protocol, setting, extractor, noise, int(seed.removeprefix("seed"))),
                    wall,
                    float(benchmark.get("cpu_time") or 0.0) * wall / max(float(benchmark.get("s") or wall), 1e-9)
                    or wall,
                    record["device"],
                    int(training.get("gpu_share", 1)),
                    record["settings"],
                    training["settings"],
                    int(training["counts"]["sentences"]),
                )
            )
        except (UserError, KeyError, TypeError, ValueError):  # cut short, or of another version
            continue
    return found


def estimate(study: Study, results: Path) -> list[Hours]:
    """Return one entry for each extractor and classifier of a study.

    Args:
        results: the folder of all studies; this one is ``results/<study>``.
    """
    known = finished(results)
    own = {each.run: each for each in known if each.study == study.name}
    kind = _device(study.typed.gpu)
    entries = []
    for name in [*study.extractors, *study.classifiers]:
        runs = [run for run in [*study.runs, *study.classifier_runs] if run.extractor == name]
        plans = {
            run: json.loads(study.trainings.training_json(run.corpus, name, run.noise, run.trainset)) for run in runs
        }
        to_do = [run for run in runs if run not in own or own[run].asked != plans[run]]
        like = [each for each in known if each.run.extractor == name and kind in (None, _kind(each.device))]
        if to_do and not like and kind == "gpu":
            entries.append(_measured(study, results, name, to_do, plans))
        else:
            entries.append(_entry(study, results, name, to_do, plans, like))
    return entries


def _entry(
    study: Study,
    results: Path,
    name: str,
    to_do: Sequence[Run],
    plans: Mapping[Run, Mapping[str, Any]],
    like: Sequence[Finished],
) -> Hours:
    done, share = len(plans) - len(to_do), study.typed.gpu_share
    if not to_do or not like:
        return Hours(name, len(to_do), done)
    layers = study.typed.encoder.layers
    like = [each for each in like if each.asked.get("encoder_layers") == layers] or like
    like = [each for each in like if each.study == study.name] or like
    like = [each for each in like if each.device == like[0].device]  # one for all, so that hours can be added up
    wall = cores = 0.0
    scaled = True
    for run in to_do:
        sentences = _sentences(study, results, run, like)
        for each in like:
            planned = _work({**each.settings, **{key: plans[run][key] for key in WORK if key in plans[run]}}, sentences)
            scaled &= bool(planned and each.work)
            factor = (planned / each.work if planned and each.work else 1.0) / len(like) / 3600
            wall += each.seconds * factor
            cores += each.cpu_seconds * factor
    where = "the CPU" if like[0].device == "cpu" else like[0].device
    studies = ", ".join(sorted({each.study for each in like}))
    source = f"{len(like)} training{'s' * (len(like) > 1)} of {studies} on {where}, "
    source += "scaled by sentences and epochs" if scaled else "not scaled, as sizes are not known yet"
    if like[0].device == "cpu":
        return Hours(name, len(to_do), done, len(to_do), cores, wall, "CPU-hours", source)
    if others := sorted({each.share for each in like} - {share}):
        source += f"; measured with gpu_share {', '.join(map(str, others))}, more side by side take longer each"
    return Hours(name, len(to_do), done, len(to_do), wall / share, wall, "GPU-hours", source, share)


def _measured(
    study: Study, results: Path, name: str, to_do: Sequence[Run], plans: Mapping[Run, Mapping[str, Any]]
) -> Hours:
    """Estimate from steps that were measured, where nothing like it was trained."""
    done = len(plans) - len(to_do)
    wall = 0.0
    for run in to_do:
        settings = {**TrainingSettings().full(), **study.trainings.declared(name).defaults, **plans[run]}
        sentences = _sentences(study, results, run, []) or _registered(study, run.corpus)
        took = speeds.seconds(name, study.encoder(run.corpus), settings, sentences) if sentences else None
        if took is None:
            return Hours(name, len(to_do), done)
        wall += took / 3600
    share = study.typed.gpu_share
    return Hours(name, len(to_do), done, len(to_do), wall / share, wall, "GPU-hours", speeds.source(), share)


def _registered(study: Study, corpus: str) -> int:
    """The training sentences that a registered corpus is known to have; 0 if that is not known."""
    section = study.data.section[corpus]
    if section.files is not None:
        return 0
    sizes = registry.corpus(section.registry or corpus).sizes
    limit = section.limit.train if section.limit else None
    return min(sizes.get("train", 0), limit or sizes.get("train", 0))


def _work(settings: Mapping[str, Any], sentences: int) -> float:
    """Sentences that a training is to see; 0 if that is not known."""
    if not sentences:
        return 0.0
    if settings.get("max_steps"):
        return float(settings["max_steps"]) * settings["batch_size"] * settings.get("accumulation", 1)
    return float(sentences) * settings["epochs"]


def _sentences(study: Study, results: Path, run: Run, like: Iterable[Finished]) -> int:
    """The size of a training set: of the file, if it is made already, else as another training had it; 0 if unknown."""
    path = results / study.name / "protocols" / run.corpus / run.protocol / run.setting / "train.jsonl"
    if path.is_file():
        with open(path, "rb") as stream:
            return sum(1 for line in stream if line.strip())
    same = [each for each in like if each.run.corpus == run.corpus and each.run.trainset == run.trainset]
    return same[0].sentences if same else 0


def _benchmark(path: Path) -> Mapping[str, Any]:
    """The last row of a benchmark file; empty if there is none."""
    rows = [row for _, row in read_jsonl(path)] if path.is_file() else []
    return rows[-1] if rows and isinstance(rows[-1], dict) else {}


def _device(gpu: str | int) -> str | None:
    """The kind of device a study runs on: ``cpu``, ``gpu``, or None where that is not known here."""
    if gpu == "auto":
        return "gpu" if devices() else None
    return "gpu" if gpu else "cpu"


def _kind(device: str) -> str:
    return "cpu" if device == "cpu" else "gpu"


def as_json(entries: Sequence[Hours]) -> list[dict[str, Any]]:
    """Return the entries as JSON values."""
    return [asdict(entry) for entry in entries]


def as_lines(entries: Sequence[Hours]) -> list[str]:
    """Return the estimate as lines of text, the sums last."""
    if not entries:
        return []
    width = max(len(entry.extractor) for entry in entries)
    lines = ["trainings"]
    for entry in entries:
        text = f"  {entry.extractor.ljust(width)}  {entry.to_do} to do, {entry.done} done"
        if entry.to_do and entry.source:
            text += f"; about {_hours(entry.hours)} {entry.unit}, from {entry.source}"
        elif entry.to_do:
            text += "; nothing is known: no training of it has a benchmark in these results"
        lines.append(text)
    for unit in ("GPU-hours", "CPU-hours"):
        counted = [entry for entry in entries if entry.unit == unit]
        if counted:
            hours, wall = sum(entry.hours for entry in counted), sum(entry.wall for entry in counted)
            number = sum(entry.to_do for entry in counted)
            take = "1 training takes" if number == 1 else f"{number} trainings take"
            lines.append(f"  {take} about {_hours(hours)} {unit}, {_hours(wall)} hours one after the other")
            share = max(entry.share for entry in counted)
            if share > 1:
                lines.append(f"  {share} side by side on each GPU (gpu_share: {share}; --resources gpu={share} a GPU)")
    unknown = [entry.extractor for entry in entries if entry.to_do and not entry.source]
    if unknown:
        lines.append(f"  not counted, because nothing is known: {', '.join(unknown)}")
    if not any(entry.to_do for entry in entries):
        lines.append("  all trainings are done")
    return lines


def _hours(value: float) -> str:
    """Two decimals, or two digits of what is smaller than a tenth."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"
