"""``trainings``: settings of each training, and its state at the end."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from tripleaudit.scoring.scores import run_keys
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Table, of_frame, subject
from tripleaudit.tables.grid import is_extractor
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec
from tripleaudit.tables.study_facts import (
    TRAINING_KEYS,
    UNFINISHED,
    UNKNOWN,
    UNSETTLED,
    Fact,
    describe_encoder,
    ended,
)
from tripleaudit.training.convergence import CONVERGED, FEWEST, FLAT, MARGIN, RISE, RISING, pace

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = (
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
    "Bound",
    "Doubled",
    "Ended",
    "Minutes",
    "Device",
)
VERDICTS: Final = {
    CONVERGED: "converged",
    FLAT: "flat",
    RISING: f"still rising {UNFINISHED}",
    None: f"not known {UNSETTLED}",
}


NOTES: Final = {
    "pace": (
        "Slope: by how many points validation F1 rose in a tenth of the training, over its last half; Bound: that "
        f"plus one standard error. Ended: flat where the bound is {100 * RISE:g} or less, or early stopping saw "
        f"{FEWEST} evaluations without a new best; still rising where it may be more. A schedule that ends at zero "
        f"flattens any training; not known: under {FEWEST} evaluations."
    ),
    "doubled": (
        "Doubled: what twice the epochs gained in validation F1, in points, with the first seed, and its "
        f"paired 90 % interval; converged: the upper end is below {100 * MARGIN:g}."
    ),
    "earlier": (
        "Doubled stands for trainings of the same data, encoder and settings that ran before, perhaps on "
        "another machine."
    ),
    "rates": (
        "Rates: the highest ones, of the encoder and of what stands on it. Batch: sentences, or instances, of an "
        "update."
    ),
    "layout": "Layout: where the extractor reads an entity's end (docs/explanation/differences.md).",
    "lost": (
        "Lost: gold triples (%) that the training cannot represent: entities without a position in the text or beyond "
        "the longest input, and entities that no tokens or words of the extractor fit. Triples whose labels "
        "contradict each other in a layout are not counted here (docs/explanation/differences.md has them). "
        "Classifiers of sentences read no entities and lose no triples."
    ),
    "best": "Best step: of the weights that are used. Minutes: the whole training with its validations.",
    "seeds": (
        "Means over seeds; the mean slope decides, with 0 where early stopping ended a training, and how many of "
        "the trainings would be flat alone is stated where they differ."
    ),
}


def trainings(study: TableInputs) -> Table:
    """Build from the facts of the trainings: a row for all seeds, with means over them."""
    import pandas as pd

    trainings = _sorted_trainings(study)
    rows = trainings.to_dict("records")
    frame = pd.DataFrame(
        [_row(row, row["facts"]) for row in rows],
        index=pd.MultiIndex.from_tuples(
            [
                (_training_set(row), labels.extractor(row["extractor"], row["noise"]))
                for row in rows
            ],
            names=["Training set", "System"],
        ),
        columns=list(COLUMNS),
    )
    caption = "How each system was trained, and how far it had come when its training ended."
    return of_frame(frame, caption, _notes(study.facts.trainings.values()))


def _sorted_trainings(study: TableInputs) -> pd.DataFrame:
    """Return trainings with their facts, in the papers' order of corpora, protocols, extractors."""
    import pandas as pd

    trainings = pd.DataFrame(list(study.facts.trainings), columns=list(TRAINING_KEYS))
    trainings["facts"] = list(study.facts.trainings.values())
    orders = {
        "corpus": labels.corpora(trainings["corpus"]),
        "protocol": labels.ordered(trainings["protocol"], labels.protocol_order()),
        "extractor": labels.ordered(trainings["extractor"], labels.rte_order()),
    }

    def rank(column: pd.Series) -> pd.Series:
        return column.map(orders[column.name].index) if column.name in orders else column

    return trainings.sort_values(list(TRAINING_KEYS), key=rank)


def _training_set(keys: Mapping[str, Any]) -> str:
    corpus, protocol = labels.corpus(keys["corpus"]), labels.protocol(keys["protocol"])
    return f"{corpus}, {protocol}, {labels.SETTINGS[keys['training']]}"


def _notes(trainings: Collection[Sequence[Fact]]) -> list[str]:
    facts = [fact for seeds in trainings for fact in seeds]
    doubled = [fact["doubled"] for fact in facts if fact.get("doubled")]
    notes = [NOTES["pace"]]
    if doubled:
        notes.append(NOTES["doubled"])
    if any(gain.get("earlier") for gain in doubled):
        notes.append(NOTES["earlier"])
    notes += [NOTES["rates"], *_noising_notes(trainings)]
    notes += [NOTES["layout"], NOTES["lost"], NOTES["best"]]
    if len(facts) > len(trainings):
        notes.append(NOTES["seeds"])
    return [*notes, GAPS]


def _noising_notes(trainings: Iterable[Sequence[Fact]]) -> list[str]:
    """Return a note for each training set with sentences that Entity Noising never changes."""
    notes: dict[str, None] = {}
    for facts in trainings:
        keys = facts[0]["keys"]
        counts = facts[0].get("counts") or {}
        excluded, probability = counts.get("noise_nested"), facts[0].get("noise_probability")
        if not excluded or probability is None:
            continue
        with_triples = counts["sentences"] - counts.get("zero", 0)
        effective = probability * (1 - excluded / with_triples)
        where = f"{labels.corpus(keys['corpus'])}, {labels.protocol(keys['protocol'])}"
        notes[
            f"Entity Noising ({where}) never changes sentences with overlapping entities, "
            f"{excluded} of {with_triples}; its probability of {probability:g} is {effective:.4f} "
            "over all sentences with triples."
        ] = None
    return list(notes)


def _row(keys: Mapping[str, Any], facts: Sequence[Fact]) -> dict[str, Cell]:
    """Return the cells of trainings by column.

    The cell of the seeds carries their subject, for the report's matrix.
    """
    settings: Mapping[str, Any] = facts[0].get("settings") or {}
    encoders = dict.fromkeys(describe_encoder(fact) for fact in facts)
    layouts = dict.fromkeys(fact.get("layout") or UNKNOWN for fact in facts)
    extracts = is_extractor(facts[0].get("extractor") or keys["extractor"])
    devices = {labels.device(str(fact["device"])) for fact in facts}
    lost = [_lost_share(fact.get("counts") or {}) for fact in facts]
    batch = settings.get("batch_size")
    if batch is not None:
        batch *= settings.get("accumulation", 1)
    seconds = _mean(fact.get("seconds") for fact in facts)
    cells = {
        "Encoder": Cell(text=", ".join(encoders)),
        "Layout": Cell(text=", ".join(layouts)) if extracts else Cell(),
        "Seeds": Cell(len(facts), 0, of=subject(run_keys(keys))),
        "Lost": _percent(_mean(lost), 1) if extracts else Cell(),
        "Epochs": Cell(_mean(fact.get("epochs") for fact in facts), 1),
        "Batch": Cell(batch, 0),
        "Encoder rate": _rate(settings, "encoder_learning_rate"),
        "Head rate": _rate(settings, "head_learning_rate"),
        "Steps": Cell(_mean(fact.get("steps") for fact in facts), 0),
        "Validation F1": _percent(_mean(fact.get("best_f1") for fact in facts), 1),
        "Minutes": Cell(None if seconds is None else seconds / 60, 1),
        "Device": Cell(text=", ".join(sorted(devices))),
    }
    return cells | _ending(facts)


def _rate(settings: Mapping[str, Any], name: str) -> Cell:
    return Cell(text=f"{settings[name]:g}") if name in settings else Cell()


def _ending(facts: Sequence[Mapping[str, Any]]) -> dict[str, Cell]:
    """Return the cells on how trainings ended, by column."""
    evaluations = [fact["convergence"] or {} for fact in facts]
    slope, bound = None, None
    if all(evaluation.get("error") is not None for evaluation in evaluations):
        slope, error = pace(evaluations)
        bound = slope + error
    doubled = [fact["doubled"] for fact in facts if fact.get("doubled")]
    gain: Mapping[str, Any] = doubled[0] if doubled else {}
    flat = [evaluation.get("flat") for evaluation in evaluations]
    verdict = VERDICTS[ended(facts)]
    if len(set(flat)) > 1:
        verdict += f", {flat.count(True)} of {len(flat)} flat alone"
    return {
        "Best step": Cell(_mean(evaluation.get("best_step") for evaluation in evaluations), 0),
        "Slope": _percent(slope, 2),
        "Bound": _percent(bound, 2),
        "Doubled": replace(
            _percent(gain.get("gain"), 2),
            low=_points(gain.get("low")),
            high=_points(gain.get("high")),
        ),
        "Ended": Cell(text=verdict),
    }


def _points(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _lost_share(counts: Mapping[str, int]) -> float | None:
    """Return the share of gold triples that a training cannot represent; None if not counted."""
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
    possible=lambda study: bool(study.facts.trainings),
    question="How was each system trained, and was its training long enough?",
)
