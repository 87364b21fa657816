"""Estimated times of a study's trainings, scaled from times that this project measured.

``data/run_times.yaml`` has the measurements. Nothing is said about an extractor without one.
"""

import functools
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tripleaudit.core.shipped import PACKAGE
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
        lower_bound: whether it leaves out parts of a training, such as validation.
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
    lower_bound: bool

    @property
    def conditions(self) -> str:
        """What was measured, in words."""
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
        estimates: ``{"device", "hours", "hours_per_1000_sentences", "lower_bound", "measured"}``;
            hours is None without ``sentences``. ``measured`` has the conditions of the
            measurement, and with ``study_layers`` the layers of the study's encoder.
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
    kinds = content["measurements"]
    names = ("extractor", "encoder", "layers", "device", "batch_size", "setting", "seconds", "kind")
    rows = (dict(zip(names, row, strict=True)) for row in content["rows"])
    return tuple(
        Measurement(
            **row,
            note=kinds[row["kind"]]["note"],
            lower_bound=kinds[row["kind"]].get("lower_bound", False),
        )
        for row in rows
    )


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
        rate = row.seconds * total / 3600
        measured = {
            "seconds": row.seconds,
            "conditions": row.conditions,
            "encoder": row.encoder,
            "layers": row.layers,
            "study_layers": _layers(study),
            "note": row.note,
        }
        estimates.append(
            {
                "device": row.device,
                "hours": None if sentences is None else rate * sentences / 1000,
                "hours_per_1000_sentences": rate,
                "lower_bound": row.lower_bound,
                "measured": measured,
            }
        )
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


def _layers(study: Study) -> int | None:
    """Return the layers of the study's encoder; all measured ones where the study names none."""
    encoder = study.typed.encoder
    if encoder.layers is not None:
        return encoder.layers
    return max((row.layers for row in measurements() if row.encoder == encoder.model), default=None)


def _training_sentences(study: Study, run: TrainingRun) -> tuple[int | None, bool]:
    """Return the number of training sentences, and whether it may be smaller."""
    file = Path(study.protocol_sets.set_file(run.corpus, run.protocol, run.setting, "train"))
    if file.is_file():
        with file.open("rb") as stream:
            return sum(1 for line in stream if line.strip()), False
    known = study.data.sizes(run.corpus).get("train")
    if known is None:
        return study.data.largest_sizes(run.corpus).get("train"), True
    return known, run.setting == "nz"


def _closest_rows(study: Study, run: TrainingRun, batch_size: int) -> list[Measurement]:
    """Return of each kind of measurement the row whose conditions are closest to a training."""
    spec = EXTRACTORS.get(run.extractor)
    names = {run.extractor, spec.base if spec else ""}
    encoder = study.typed.encoder
    layers = _layers(study)

    def distance(row: Measurement) -> tuple[bool, float, bool, float]:
        layer_distance = -row.layers if layers is None else abs(row.layers - layers)
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
