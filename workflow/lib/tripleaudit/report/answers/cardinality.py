"""Answers of the tables about sentences with nothing to extract, and about the time that trainings take."""

import statistics
from collections import defaultdict

from tripleaudit.report.answers._words import NOT_MEASURED, Pair, contrast, sentences
from tripleaudit.report.answers.generalisation import base_runs
from tripleaudit.scoring.run import split_two_step
from tripleaudit.scoring.scores import CLASSIFICATION
from tripleaudit.tables import labels
from tripleaudit.tables.grid import is_extractor
from tripleaudit.tables.index import RunKey
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import number


def end_to_end(inputs: TableInputs) -> str:
    runs = [run for run in base_runs(inputs) if run.noise == "none"]
    first = contrast(
        [Pair(_name(run, runs), _f1(inputs, run), _f1(inputs, run._replace(testing="wz"))) for run in runs],
        "on sentences with triples",
        "when sentences without triples are added to the test",
    )
    trained = [run._replace(training="wz", testing="wz") for run in runs]
    pairs = [Pair(_name(run, runs), _f1(inputs, run._replace(training="nz")), _f1(inputs, run)) for run in trained]
    if any(pair.second.value is not None for pair in pairs):
        second = contrast(pairs, "trained without zero-triple sentences", "trained with them")
        return sentences(first, "On that test, " + second[0].lower() * (second[0] == "F") + second[1:])
    return first


def zcc(inputs: TableInputs) -> str:
    found = []
    for run in inputs.scores.runs:
        if CLASSIFICATION in inputs.scores.matchings(run):
            cell = inputs.scores.cell(run, "f1", matching=CLASSIFICATION)
            if cell.value is not None:
                found.append((cell.value, f"{labels.extractor(run.extractor)} on {labels.corpus(run.corpus)}", run))
    if not found:
        return NOT_MEASURED
    value, name, run = max(found, key=lambda item: item[:2])
    recall = inputs.scores.cell(run, "recall", matching=CLASSIFICATION)
    lost = "" if recall.value is None else f"; it lets {recall.shown} % of the sentences with triples through"
    lowest = f", the lowest {number(min(found, key=lambda item: item[:2])[0], 1)} %" if len(found) > 1 else ""
    best = f"The best F1 on the class “has triples” is {number(value, 1)} % ({name}){lowest}"
    return f"{best}{lost}."


def two_step(inputs: TableInputs) -> str:
    runs = [run for run in inputs.scores.runs if split_two_step(run.extractor)[0] and run.noise == "none"]
    pairs = []
    for run in runs:
        gate, extractor = split_two_step(run.extractor)
        alone = run._replace(training="wz", extractor=extractor)
        name = f"{_name(alone, runs)} behind {labels.extractor(gate)}"
        pairs.append(Pair(name, _f1(inputs, alone), _f1(inputs, run)))
    return contrast(pairs, "end to end, trained with zero-triple sentences,", "in two steps")


def training_time(inputs: TableInputs) -> str:
    minutes: dict[str, list[float]] = defaultdict(list)
    devices = set()
    for fact in inputs.runs:
        keys = fact.get("keys", {})
        if is_extractor(keys.get("extractor", "")) and fact.get("seconds_per_epoch") is not None:
            minutes[keys["extractor"]].append(fact["seconds_per_epoch"] / 60)
            devices.add(labels.device(str(fact.get("device"))))
    if not minutes:
        return NOT_MEASURED
    means = {name: statistics.fmean(values) for name, values in minutes.items()}
    slow, fast = max(means, key=means.get), min(means, key=means.get)
    where = f"on {', '.join(sorted(devices))}"
    if slow == fast:
        return f"An epoch of {labels.extractor(slow)} takes {number(means[slow], 2)} minutes in the mean, {where}."
    return (
        f"In the mean, an epoch takes from {number(means[fast], 2)} minutes ({labels.extractor(fast)}) to "
        f"{number(means[slow], 2)} minutes ({labels.extractor(slow)}), {where}."
    )


def _f1(inputs: TableInputs, run: RunKey):
    return inputs.scores.cell(run, "f1", matching=inputs.matching)


def _name(run: RunKey, among: list[RunKey]) -> str:
    name = labels.extractor(run.extractor)
    return name if len({one.corpus for one in among}) == 1 else f"{name} on {labels.corpus(run.corpus)}"


ANSWERS = {
    "end-to-end": ("Does an extractor know when there is nothing to extract?", end_to_end),
    "zcc": ("Can a classifier tell the sentences that have triples from those that have none?", zcc),
    "two-step": ("Does a classifier before the extractor beat training it with zero-triple sentences?", two_step),
    "training-time": ("How long does a training take, with and without zero-triple sentences?", training_time),
}
