"""Estimated times of a study's trainings, scaled from times that this project measured.

``data/run_times.yaml`` has the measurements. Nothing is said about an extractor without one.
"""

import functools
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tripleaudit.core.shipped import PACKAGE
from tripleaudit.core.wording import counted
from tripleaudit.core.yaml_files import read_yaml
from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.study.runs import TrainingRun
from tripleaudit.study.study import Study

RUN_TIMES: Final = PACKAGE / "data" / "run_times.yaml"


@dataclass(frozen=True)
class Measurement:
    """A measured time of training.

    Attributes:
        extractor, encoder, layers, device: what was trained, and where.
        batch_size: sentences of a batch; None if not recorded.
        setting: cardinality setting of the training set; None where times are not kept by it.
        seconds: for 1,000 sentences and one epoch.
        kind: key of the measurements of the file.
        note: what the time includes.
    """

    extractor: str
    encoder: str
    layers: int
    device: str
    batch_size: int | None
    setting: str | None
    seconds: float
    kind: str
    note: str

    @property
    def conditions(self) -> str:
        """What was measured, for people."""
        batch = "" if self.batch_size is None else f", batch {self.batch_size}"
        return f"{self.encoder}, {self.layers} layers{batch}; {self.note}"


@dataclass(frozen=True)
class TrainingTime:
    """Trainings that differ in their seed alone, with an estimate for each kind of measurement.

    Attributes:
        corpus, trainset, extractor, noise: what is trained.
        seeds: number of trainings.
        sentences: number of training sentences; None if unknown before the study prepares them.
        at_most: whether fewer sentences or epochs are possible (zero-triple sentences that are left
            out, early stopping).
        epochs: of all seeds together, those of trainings with twice the epochs included.
        estimates: ``{"device", "hours", "measured"}``; hours is None without ``sentences``.
    """

    corpus: str
    trainset: str
    extractor: str
    noise: str
    seeds: int
    sentences: int | None
    at_most: bool
    epochs: float
    estimates: list[dict[str, Any]]


@functools.cache
def measurements() -> tuple[Measurement, ...]:
    """Return all measured times."""
    content = read_yaml(RUN_TIMES)
    notes = {kind: entry["note"] for kind, entry in content["measurements"].items()}
    names = ("extractor", "encoder", "layers", "device", "batch_size", "setting", "seconds", "kind")
    rows = (dict(zip(names, row, strict=True)) for row in content["rows"])
    return tuple(Measurement(**row, note=notes[row["kind"]]) for row in rows)


def training_times(study: Study) -> list[TrainingTime]:
    """Return the estimated times of all trainings of a study."""
    groups: dict[tuple[str, str, str, str], list[TrainingRun]] = {}
    for run in study.runs.trained:
        groups.setdefault((run.corpus, run.trainset, run.extractor, run.noise), []).append(run)
    return [_time_of_group(study, runs) for runs in groups.values()]


def _time_of_group(study: Study, runs: list[TrainingRun]) -> TrainingTime:
    run = runs[0]
    settings = study.trainings.loop_settings(run.corpus, run.extractor)
    sentences, at_most = _training_sentences(study, run)
    epochs = float(settings.epochs)
    if settings.max_steps and sentences:
        epochs = settings.max_steps * settings.batch_size * settings.accumulation / sentences
    doubled = sum(other in study.runs.doubled for other in runs)
    total = epochs * (len(runs) + 2 * doubled)
    estimates = []
    for row in _closest_rows(study, run, settings.batch_size):
        hours = None if sentences is None else row.seconds * sentences / 1000 * total / 3600
        measured = {"seconds": row.seconds, "conditions": row.conditions, "encoder": row.encoder}
        estimates.append({"device": row.device, "hours": hours, "measured": measured})
    return TrainingTime(
        corpus=run.corpus,
        trainset=run.trainset,
        extractor=run.extractor,
        noise=run.noise,
        seeds=len(runs),
        sentences=sentences,
        at_most=at_most or settings.patience > 0,
        epochs=total,
        estimates=estimates,
    )


def _training_sentences(study: Study, run: TrainingRun) -> tuple[int | None, bool]:
    """Return the number of training sentences, and whether it may be smaller."""
    file = Path(study.protocol_sets.set_file(run.corpus, run.protocol, run.setting, "train"))
    if file.is_file():
        with file.open("rb") as stream:
            return sum(1 for line in stream if line.strip()), False
    return study.data.sizes(run.corpus).get("train"), run.setting == "nz"


def _closest_rows(study: Study, run: TrainingRun, batch_size: int) -> list[Measurement]:
    """Return of each kind of measurement the row whose conditions are closest to a training."""
    spec = EXTRACTORS.get(run.extractor)
    names = {run.extractor, spec.base if spec else ""}
    encoder = study.typed.encoder

    def distance(row: Measurement) -> tuple[bool, float, bool, float]:
        layers = math.inf if encoder.layers is None else encoder.layers
        layer_distance = -row.layers if layers == math.inf else abs(row.layers - layers)
        batch_ratio = (row.batch_size or batch_size) / batch_size
        has_other_setting = row.setting not in (None, run.setting)
        return (
            row.encoder != encoder.model,
            layer_distance,
            has_other_setting,
            abs(math.log(batch_ratio)),
        )

    rows = [row for row in measurements() if row.extractor in names]
    kinds = dict.fromkeys(row.kind for row in rows)
    return [min((row for row in rows if row.kind == kind), key=distance) for kind in kinds]


def to_json(times: list[TrainingTime]) -> list[dict[str, Any]]:
    """Return the estimates as JSON values."""
    return [asdict(time) for time in times]


def as_lines(times: list[TrainingTime], encoder: str) -> Iterator[str]:
    """Yield the estimates as lines of text; trainings without a measurement come last.

    Args:
        times: the estimates.
        encoder: name of the study's encoder.
    """
    yield "time of the trainings, one after the other (docs/howto/run-times.md):"
    for time in times:
        if time.estimates:
            yield f"  {_name(time)} ({_extent(time)})"
            for estimate in time.estimates:
                yield f"    {_describe(estimate, encoder)}"
    unmeasured = list(dict.fromkeys(time.extractor for time in times if not time.estimates))
    if unmeasured:
        yield f"  never measured: {', '.join(unmeasured)}"


def _name(time: TrainingTime) -> str:
    noise = " with Entity Noising" if time.noise == "noising" else ""
    return f"{time.extractor}{noise} on {time.corpus}, {time.trainset}, {counted(time.seeds, 'seed{s}')}"


def _extent(time: TrainingTime) -> str:
    epochs = f"{time.epochs:g} epochs in all"
    if time.sentences is None:
        return f"number of sentences not known yet, {epochs}"
    return f"{'up to ' if time.at_most else ''}{time.sentences} sentences, {epochs}"


def _describe(estimate: Mapping[str, Any], encoder: str) -> str:
    measured = estimate["measured"]
    if estimate["hours"] is None:
        amount = f"{measured['seconds']:g} seconds for 1,000 sentences and an epoch"
    else:
        amount = f"about {_duration(estimate['hours'])}"
    text = f"{amount} on {estimate['device']} (measured with {measured['conditions']})"
    if measured["encoder"] != encoder:
        text += f"; not measured with {encoder}, which may take several times as long"
    return text


def _duration(hours: float) -> str:
    """Return a time in hours, or in minutes below one hour."""
    if hours >= 1:
        return f"{hours:.1f} hours"
    minutes = max(1, round(60 * hours))
    return counted(minutes, "minute{s}")
