"""``trainings``: with which settings each extractor and classifier was trained, and how far it had come at its end."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from tripleaudit.descriptors import TableSpec
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Cell, Column, Row, Table, about, chosen, gaps_note
from tripleaudit.tables.gates import NOT_MEASURED
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.loading import ended
from tripleaudit.training.convergence import CONVERGED, FEWEST, FLAT, MARGIN, RISE, RISING, pace

COLUMNS: Final = (
    "Seeds",
    "Epochs",
    "Batch",
    "Encoder rate",
    "Head rate",
    "Best step",
    "Steps",
    "Validation F1",
    "Slope",
    "Bound",
    "Doubled",
    "Ended",
    "Minutes",
    "Device",
)
VERDICTS: Final = {CONVERGED: "converged", FLAT: "flat", RISING: "still rising", None: "not known"}


def grouped(facts: Iterable[Mapping[str, Any]]) -> dict[tuple[str, ...], list[Mapping[str, Any]]]:
    """Return ``(corpus, protocol, training setting, extractor, noise)`` -> the facts of its trainings."""
    found: dict[tuple[str, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for fact in facts:
        if "convergence" in fact:
            keys = {"noise": "none", **fact["keys"]}
            found[tuple(keys[name] for name in ("corpus", "protocol", "training", "extractor", "noise"))].append(fact)
    return found


def trainings(inputs: TableInputs) -> Table:
    """Build from the facts of the trainings, a row for those that differ in their seed alone; means over seeds."""
    found = grouped(inputs.runs)
    corpora = labels.corpora({key[0] for key in found})
    names = labels.ordered({key[3] for key in found}, labels.rte_order())
    protocols = labels.ordered({key[1] for key in found}, labels.protocol_order())
    order = sorted(
        found, key=lambda key: (corpora.index(key[0]), protocols.index(key[1]), key[2], names.index(key[3]), key[4])
    )
    rows = [_row(key, found[key]) for key in order]
    cells = [cell for row in rows for cell in row.cells]
    doubled = any(fact.get("doubled") for each in found.values() for fact in each)
    return Table(
        "trainings",
        inputs.caption("How each system was trained, and how far it had come when its training ended."),
        [Column(label) for label in COLUMNS],
        rows,
        row_header="System",
        group_header="Training set",
        notes=chosen(
            "Slope: by how many points validation F1 rose in a tenth of the training, over its last half; Bound: that "
            f"plus one standard error. Ended: flat where the bound is {100 * RISE:g} or less, or early stopping saw "
            f"{FEWEST} evaluations without a new best; still rising where it may be more. A schedule that ends at zero "
            f"flattens any training; not known: under {FEWEST} evaluations.",
            doubled
            and "Doubled: what twice the epochs gained in validation F1, in points, with the first seed; converged: "
            f"less than {100 * MARGIN:g}.",
            "Rates: the highest ones, of the encoder and of what stands on it. Batch: sentences, or instances, of an "
            "update.",
            "Best step: of the weights that are used. Minutes: the whole training with its validations.",
            any(len(each) > 1 for each in found.values())
            and "Means over seeds; the mean slope decides, and how many of the trainings would be flat alone is told "
            "where they differ.",
            gaps_note(cells),
        ),
    )


def _row(key: Sequence[str], facts: Sequence[Mapping[str, Any]]) -> Row:
    """Return the row of trainings; its first cell says whose it is, for the report's matrix."""
    corpus, protocol, setting, extractor, noise = key
    of = {**about(corpus, protocol, testing=""), "training": setting, "extractor": extractor, "noise": noise}
    where = f"{labels.corpus(corpus)}, {labels.protocol(protocol)}, {labels.SETTINGS[setting]}"
    return Row(labels.extractor(extractor, noise), (Cell(len(facts), 0, of=of), *_cells(facts)), where)


def _cells(facts: Sequence[Mapping[str, Any]]) -> Iterable[Cell]:
    came_to = [fact["convergence"] or {} for fact in facts]
    settings: Mapping[str, Any] = facts[0].get("settings") or {}
    yield Cell(_mean(fact.get("epochs") for fact in facts), 1)
    batch = settings.get("batch_size")
    yield Cell(None if batch is None else batch * settings.get("accumulation", 1), 0)
    for name in ("encoder_learning_rate", "head_learning_rate"):
        yield Cell(text=f"{settings[name]:g}") if name in settings else Cell()
    yield Cell(_mean(each.get("best_step") for each in came_to), 0)
    yield Cell(_mean(fact.get("steps") for fact in facts), 0)
    yield _percent(_mean(fact.get("best_f1") for fact in facts), 1)
    slope, error = (None, None) if any(each.get("error") is None for each in came_to) else pace(came_to)
    yield _percent(slope, 2)
    yield _percent(None if slope is None else slope + error, 2)
    twice = next((fact["doubled"] for fact in facts if fact.get("doubled")), None)
    yield _percent(None if twice is None else twice["gain"], 2)
    flat = [each.get("flat") for each in came_to]
    alone = f", {flat.count(True)} of {len(flat)} flat alone" if len(set(flat)) > 1 else ""
    yield Cell(text=VERDICTS[ended(facts)] + alone)
    seconds = _mean(fact.get("seconds") for fact in facts)
    yield Cell(None if seconds is None else seconds / 60, 1)
    yield Cell(text=", ".join(sorted({labels.device(str(fact["device"])) for fact in facts})))


def _percent(value: float | None, digits: int) -> Cell:
    return Cell(None if value is None else 100 * value, digits)


def _mean(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else fmean(value for value in known if value is not None)


def answer(table: Table, inputs: TableInputs) -> str:
    """Say how many kinds of trainings had ended how; a row of the table is one kind, of several seeds."""
    verdicts = [ended(each) for each in grouped(inputs.runs).values()]
    if not verdicts:
        return NOT_MEASURED
    margin = f"{100 * MARGIN:g} point" + "s" * (MARGIN != 0.01)
    said = {
        CONVERGED: f"converged (twice the epochs gain less than {margin})",
        FLAT: "flat at the end, which a longer training alone can prove",
        RISING: "still rising (†), which takes more epochs",
        None: f"evaluated too rarely to know (§), which takes {FEWEST} evaluations",
    }
    parts = [f"{verdicts.count(how)} {text}" for how, text in said.items() if how in verdicts]
    plural = "kind of training was" if len(verdicts) == 1 else "kinds of training"
    colon = " " if len(verdicts) == 1 else ": "
    return f"Of {len(verdicts)} {plural}{colon}{'; '.join(parts)}."


TRAININGS = TableSpec(
    name="trainings",
    order=14.6,
    build=trainings,
    needs="runs",
    possible=lambda study: bool(study.report.trainings),
    question="How was each system trained, and was its training long enough?",
    answer=answer,
)
