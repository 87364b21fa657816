"""Estimated times of trainings as text: a summary by extractor, and a list of all trainings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tripleaudit.core.wording import counted
from tripleaudit.study.training_times import TrainingTime

GAP: Final = "  "
MISSING: Final = "–"
AT_LEAST: Final = "> "


@dataclass
class Sum:
    """Time of some trainings on one device.

    Attributes:
        hours: sum over the measured trainings.
        measured: number of groups of trainings with a measurement.
        is_lower_bound: whether a training has no measurement, or only one of its steps.
    """

    hours: float = 0.0
    measured: int = 0
    is_lower_bound: bool = False

    def add(self, estimate: Mapping[str, Any] | None, unit: str) -> None:
        """Add the estimate of one group of trainings; None if it was not measured."""
        if estimate is None:
            self.is_lower_bound = True
            return
        self.hours += estimate[unit]
        self.measured += 1
        self.is_lower_bound |= estimate["lower_bound"]

    def __str__(self) -> str:
        if not self.measured:
            return MISSING
        return (AT_LEAST if self.is_lower_bound else "") + duration(self.hours)


def summary_lines(times: Sequence[TrainingTime], encoder: str) -> Iterator[str]:
    """Yield the times by extractor and device with their totals.

    Args:
        times: the estimates.
        encoder: name of the study's encoder.
    """
    measured = [time for time in times if time.estimates]
    known = [time for time in measured if time.sentences is not None]
    unknown = [time for time in measured if time.sentences is None]
    if known:
        yield "time of the trainings, one after the other:"
        yield from _table(known, "hours")
    if unknown:
        yield (
            "time of the trainings for each 1,000 training sentences (their number is not known "
            "before the corpora are prepared):"
        )
        yield from _table(unknown, "hours_per_1000_sentences")
    yield from _notes(times, encoder)


def _table(times: Sequence[TrainingTime], unit: str) -> Iterator[str]:
    """Yield aligned lines: a row for each extractor, the total last."""
    devices = _devices(times)
    rows = [["", "trainings", *devices]]
    groups: dict[str, list[TrainingTime]] = {}
    for time in times:
        groups.setdefault(_system(time), []).append(time)
    for name, members in {**groups, "total": list(times)}.items():
        sums = [_sum(members, device, unit) for device in devices]
        rows.append([name, str(sum(time.seeds for time in members)), *map(str, sums)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for label, *cells in rows:
        aligned = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        yield GAP + GAP.join([label.ljust(widths[0]), *aligned]).rstrip()


def _devices(times: Sequence[TrainingTime]) -> list[str]:
    devices = (estimate["device"] for time in times for estimate in time.estimates)
    return list(dict.fromkeys(devices))


def _sum(times: Sequence[TrainingTime], device: str, unit: str) -> Sum:
    total = Sum()
    for time in times:
        total.add(_estimate_on(time, device), unit)
    return total


def _estimate_on(time: TrainingTime, device: str) -> Mapping[str, Any] | None:
    """Return the estimate for a device: of whole trainings, else of their steps alone."""
    estimates = [estimate for estimate in time.estimates if estimate["device"] == device]
    whole = [estimate for estimate in estimates if not estimate["lower_bound"]]
    return next(iter(whole or estimates), None)


def _notes(times: Sequence[TrainingTime], encoder: str) -> Iterator[str]:
    """Yield what the times rest on."""
    for device in _devices(times):
        used = [estimate for time in times if (estimate := _estimate_on(time, device))]
        conditions = dict.fromkeys(_conditions(estimate["measured"]) for estimate in used)
        yield f"  {device}: measured with {'; with '.join(conditions)}"
        yield from _other_layers(device, used, encoder)
    sums = [_sum(times, device, "hours_per_1000_sentences") for device in _devices(times)]
    if any(total.is_lower_bound for total in sums):
        yield f"  {AT_LEAST.strip()}: at least; some trainings have no measurement with validation"
    if any(time.at_most for time in times):
        yield "  numbers of sentences and epochs are upper limits"
    if any(
        estimate["measured"]["encoder"] != encoder for time in times for estimate in time.estimates
    ):
        yield f"  not measured with {encoder}, which may take several times as long"
    yield from _unmeasured(times)
    yield "  --all lists each training (docs/howto/run-times.md)"


def _other_layers(
    device: str, estimates: Sequence[Mapping[str, Any]], encoder: str
) -> Iterator[str]:
    """Yield what it means that an encoder was measured with another number of layers."""
    measured = [estimate["measured"] for estimate in estimates]
    pairs = {
        (each["layers"], each["study_layers"])
        for each in measured
        if each["encoder"] == encoder and each["layers"] != each["study_layers"]
    }
    for layers, wanted in sorted(pairs):
        ratio = f"about {wanted / layers:.1f} times as long" if wanted > layers else "less time"
        yield f"  {device}: not measured with {wanted} layers, which may take {ratio}"


def _conditions(measured: Mapping[str, Any]) -> str:
    return f"{measured['encoder']}, {measured['layers']} layers, {measured['note']}"


def _unmeasured(times: Sequence[TrainingTime]) -> Iterator[str]:
    unmeasured = list(dict.fromkeys(time.extractor for time in times if not time.estimates))
    if unmeasured:
        yield f"  never measured: {', '.join(unmeasured)}"


def all_lines(times: Sequence[TrainingTime], encoder: str) -> Iterator[str]:
    """Yield all estimates of each training; trainings without a measurement come last.

    Args:
        times: the estimates.
        encoder: name of the study's encoder.
    """
    yield "time of each training (docs/howto/run-times.md):"
    for time in times:
        if time.estimates:
            seeds = counted(time.seeds, "seed{s}")
            yield f"  {_system(time)} on {time.corpus}, {time.trainset}, {seeds} ({_extent(time)})"
            for estimate in time.estimates:
                yield f"    {_describe(estimate, encoder)}"
    yield from _unmeasured(times)


def _system(time: TrainingTime) -> str:
    return time.extractor + (" with Entity Noising" if time.noise == "noising" else "")


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
        amount = f"about {duration(estimate['hours'])}"
    text = f"{amount} on {estimate['device']} (measured with {measured['conditions']})"
    if measured["encoder"] != encoder:
        text += f"; not measured with {encoder}, which may take several times as long"
    return text


def duration(hours: float) -> str:
    """Return a time in hours, or in minutes below one hour."""
    if hours >= 1:
        return f"{hours:.1f} hours"
    minutes = max(1, round(60 * hours))
    return counted(minutes, "minute{s}")
