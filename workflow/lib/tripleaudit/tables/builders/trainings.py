"""``trainings``: settings of each training, and its state at the end."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, Final

from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Table, of_frame, subject
from tripleaudit.tables.grid import is_extractor
from tripleaudit.tables.inputs import UNFINISHED, UNSETTLED, TableInputs
from tripleaudit.tables.loading import ended, trainings_of
from tripleaudit.tables.spec import TableSpec
from tripleaudit.tables.system_notes import UNKNOWN, describe_encoder
from tripleaudit.tables.tidy import RunKey
from tripleaudit.training.convergence import CONVERGED, FEWEST, FLAT, MARGIN, RISE, RISING, pace

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

    facts_by_run = trainings_of(study.runs)
    runs = _sort_runs(facts_by_run)
    index = [(_training_set(run), labels.extractor(run.extractor, run.noise)) for run in runs]
    frame = pd.DataFrame(
        [_row(run, facts_by_run[run]) for run in runs],
        index=pd.MultiIndex.from_tuples(index, names=["Training set", "System"]),
        columns=list(COLUMNS),
    )
    caption = "How each system was trained, and how far it had come when its training ended."
    return of_frame(frame, caption, _notes(facts_by_run))


def _sort_runs(runs: Iterable[RunKey]) -> list[RunKey]:
    """Return runs in the papers' order of corpora, protocols and extractors."""
    runs = list(runs)
    corpora = labels.corpora(run.corpus for run in runs)
    names = labels.ordered((run.extractor for run in runs), labels.rte_order())
    protocols = labels.ordered((run.protocol for run in runs), labels.protocol_order())

    def rank(run: RunKey) -> tuple[Any, ...]:
        corpus, protocol = corpora.index(run.corpus), protocols.index(run.protocol)
        return corpus, protocol, run.training, names.index(run.extractor), run.noise

    return sorted(runs, key=rank)


def _training_set(run: RunKey) -> str:
    setting = labels.SETTINGS[run.training]
    return f"{labels.corpus(run.corpus)}, {labels.protocol(run.protocol)}, {setting}"


def _notes(facts_by_run: Mapping[RunKey, Sequence[Mapping[str, Any]]]) -> list[str]:
    facts = [fact for seeds in facts_by_run.values() for fact in seeds]
    doubled = [fact["doubled"] for fact in facts if fact.get("doubled")]
    notes = [NOTES["pace"]]
    if doubled:
        notes.append(NOTES["doubled"])
    if any(gain.get("earlier") for gain in doubled):
        notes.append(NOTES["earlier"])
    notes += [NOTES["rates"], *_noising_notes(facts_by_run)]
    notes += [NOTES["layout"], NOTES["lost"], NOTES["best"]]
    if len(facts) > len(facts_by_run):
        notes.append(NOTES["seeds"])
    return [*notes, GAPS]


def _noising_notes(trainings: Mapping[RunKey, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Return a note for each training set with sentences that Entity Noising never changes."""
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


def _row(run: RunKey, facts: Sequence[Mapping[str, Any]]) -> dict[str, Cell]:
    """Return the cells of trainings by column.

    The cell of the seeds carries their subject, for the report's matrix.
    """
    settings: Mapping[str, Any] = facts[0].get("settings") or {}
    encoders = dict.fromkeys(describe_encoder(fact) for fact in facts)
    layouts = dict.fromkeys(fact.get("layout") or UNKNOWN for fact in facts)
    extracts = is_extractor(facts[0].get("extractor") or run.extractor)
    devices = {labels.device(str(fact["device"])) for fact in facts}
    lost = [_lost_share(fact.get("counts") or {}) for fact in facts]
    batch = settings.get("batch_size")
    if batch is not None:
        batch *= settings.get("accumulation", 1)
    seconds = _mean(fact.get("seconds") for fact in facts)
    cells = {
        "Encoder": Cell(text=", ".join(encoders)),
        "Layout": Cell(text=", ".join(layouts)) if extracts else Cell(),
        "Seeds": Cell(len(facts), 0, of=subject(run._asdict())),
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
