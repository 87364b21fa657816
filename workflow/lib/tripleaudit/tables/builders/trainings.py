"""``trainings``: with which settings each extractor and classifier was trained, and how far it
had come at its end.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, Final

from tripleaudit.core.descriptors import TableSpec
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Row, Table, subject
from tripleaudit.tables.encoders import UNKNOWN, describe_encoder
from tripleaudit.tables.inputs import UNFINISHED, UNSETTLED, RunKey, TableInputs
from tripleaudit.tables.loading import ended, trainings_of
from tripleaudit.training.convergence import CONVERGED, FEWEST, FLAT, MARGIN, RISE, RISING, pace

COLUMNS: Final = (
    *(
        "Encoder",
        "Layout",
        "Seeds",
        "Lost",
        "Epochs",
        "Batch",
        "Encoder rate",
        "Head rate",
        "Best step",
        "Steps",
        "Validation F1",
        "Slope",
    ),
    *("Bound", "Doubled", "Ended", "Minutes", "Device"),
)
VERDICTS: Final = {
    CONVERGED: "converged",
    FLAT: "flat",
    RISING: f"still rising {UNFINISHED}",
    None: f"not known {UNSETTLED}",
}


def trainings(inputs: TableInputs) -> Table:
    """Build from the facts of the trainings, a row for those that differ in their seed alone;
    means over seeds.
    """
    found = trainings_of(inputs.runs)
    corpora = labels.corpora(run.corpus for run in found)
    names = labels.ordered((run.extractor for run in found), labels.rte_order())
    protocols = labels.ordered((run.protocol for run in found), labels.protocol_order())

    def rank(run: RunKey) -> tuple:
        corpus, protocol = corpora.index(run.corpus), protocols.index(run.protocol)
        return corpus, protocol, run.training, names.index(run.extractor), run.noise

    doubled = [fact["doubled"] for each in found.values() for fact in each if fact.get("doubled")]
    return inputs.table(
        "How each system was trained, and how far it had come when its training ended.",
        COLUMNS,
        [_row(run, found[run]) for run in sorted(found, key=rank)],
        ("System", "Training set"),
        "Slope: by how many points validation F1 rose in a tenth of the training, over its last half; Bound: that "
        f"plus one standard error. Ended: flat where the bound is {100 * RISE:g} or less, or early stopping saw "
        f"{FEWEST} evaluations without a new best; still rising where it may be more. A schedule that ends at zero "
        f"flattens any training; not known: under {FEWEST} evaluations.",
        bool(doubled)
        and "Doubled: what twice the epochs gained in validation F1, in points, with the first seed, and its "
        f"paired 90 % interval; converged: the upper end is below {100 * MARGIN:g}.",
        any(each.get("earlier") for each in doubled)
        and "Doubled stands for trainings of the same data, encoder and settings that ran before, perhaps on "
        "another machine.",
        "Rates: the highest ones, of the encoder and of what stands on it. Batch: sentences, or instances, of an "
        "update.",
        *_noising_notes(found),
        "Layout: where the extractor reads an entity's end (docs/explanation/differences.md).",
        "Lost: gold triples (%) that the training cannot represent: entities without a position in the text or beyond "
        "the longest input, and entities that no tokens or words of the extractor fit.",
        "Best step: of the weights that are used. Minutes: the whole training with its validations.",
        any(len(each) > 1 for each in found.values())
        and "Means over seeds; the mean slope decides, with 0 where early stopping ended a training, and how many of "
        "the trainings would be flat alone is stated where they differ.",
        GAPS,
    )


def _noising_notes(trainings: Mapping[RunKey, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Return a note on the sentences that Entity Noising never changes, for each training set
    that has some.
    """
    notes: dict[str, None] = {}
    for run, facts in trainings.items():
        counts = facts[0].get("counts") or {}
        excluded, probability = counts.get("noise_nested"), facts[0].get("noise_probability")
        if not excluded or probability is None:
            continue
        with_triples = counts["sentences"] - counts.get("zero", 0)
        effective = probability * (1 - excluded / with_triples)
        where = f"{labels.corpus(run.corpus)}, {labels.protocol(run.protocol)}"
        notes[
            f"Entity Noising ({where}) never changes sentences with overlapping entities, "
            f"{excluded} of {with_triples}; its probability of {probability:g} is {effective:.4f} "
            "over all sentences with triples."
        ] = None
    return list(notes)


def _row(run: RunKey, facts: Sequence[Mapping[str, Any]]) -> Row:
    """Return the row of trainings; the cell of the seeds carries their subject, for the report's
    matrix.
    """
    where = f"{labels.corpus(run.corpus)}, {labels.protocol(run.protocol)}, {labels.SETTINGS[run.training]}"
    encoders = dict.fromkeys(map(describe_encoder, facts))
    seeds = Cell(len(facts), 0, of=subject(run._asdict()))
    layouts = dict.fromkeys(fact.get("layout") or UNKNOWN for fact in facts)
    cells = [Cell(text=", ".join(encoders)), Cell(text=", ".join(layouts)), seeds, *_cells(facts)]
    return Row(labels.extractor(run.extractor, run.noise), cells, where)


def _cells(facts: Sequence[Mapping[str, Any]]) -> Iterable[Cell]:
    evaluated = [fact["convergence"] or {} for fact in facts]
    settings: Mapping[str, Any] = facts[0].get("settings") or {}
    yield _percent(_mean(_lost_share(fact.get("counts") or {}) for fact in facts), 1)
    yield Cell(_mean(fact.get("epochs") for fact in facts), 1)
    batch = settings.get("batch_size")
    yield Cell(None if batch is None else batch * settings.get("accumulation", 1), 0)
    for name in ("encoder_learning_rate", "head_learning_rate"):
        yield Cell(text=f"{settings[name]:g}") if name in settings else Cell()
    yield Cell(_mean(each.get("best_step") for each in evaluated), 0)
    yield Cell(_mean(fact.get("steps") for fact in facts), 0)
    yield _percent(_mean(fact.get("best_f1") for fact in facts), 1)
    slope, error = (
        (None, None) if any(each.get("error") is None for each in evaluated) else pace(evaluated)
    )
    yield _percent(slope, 2)
    yield _percent(None if slope is None else slope + error, 2)
    twice = next((fact["doubled"] for fact in facts if fact.get("doubled")), None)
    gain, low, high = (
        None if twice is None else twice.get(name) for name in ("gain", "low", "high")
    )
    yield replace(_percent(gain, 2), low=_points(low), high=_points(high))
    flat = [each.get("flat") for each in evaluated]
    alone = f", {flat.count(True)} of {len(flat)} flat alone" if len(set(flat)) > 1 else ""
    yield Cell(text=VERDICTS[ended(facts)] + alone)
    seconds = _mean(fact.get("seconds") for fact in facts)
    yield Cell(None if seconds is None else seconds / 60, 1)
    yield Cell(text=", ".join(sorted({labels.device(str(fact["device"])) for fact in facts})))


def _points(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _lost_share(counts: Mapping[str, int]) -> float | None:
    """Return the share of the gold triples that a training cannot represent, None where they
    were not counted.
    """
    if not counts.get("triples"):
        return None
    return (counts["lost_triples"] + counts["unwritable_triples"]) / counts["triples"]


def _percent(value: float | None, digits: int) -> Cell:
    return Cell(_points(value), digits)


def _mean(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else fmean(value for value in known if value is not None)


TRAININGS = TableSpec(
    name="trainings",
    order=14.6,
    build=trainings,
    needs="runs",
    possible=lambda study: bool(study.report.trainings),
    question="How was each system trained, and was its training long enough?",
)
