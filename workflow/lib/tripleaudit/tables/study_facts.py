"""Facts of trainings and systems: marks of scores, encoders, names in papers, unread answers."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.protocols.spec import PROTOCOLS
from tripleaudit.scoring.scores import Run, run_keys, split_two_step, two_step_name
from tripleaudit.training.convergence import RISING, verdict

UNFINISHED: Final = "†"
"""Trainings that, taken together, still rose when they ended."""
UNEQUAL: Final = "‡"
"""NZ and WZ trainings that saw unequal numbers of sentences with triples."""
UNSETTLED: Final = "§"
"""Trainings with too few evaluations to know whether they still rose."""
MARKS: Final = (UNFINISHED, UNEQUAL, UNSETTLED)
"""Marks of trainings."""
UNREAD: Final = "¶"
"""Mark of a language model of which more than half of the answers are unread."""
UNREAD_STATUSES: Final = ("truncated", "refused", "failed")
UNKNOWN: Final = "not recorded"
MAX_BUDGET_RATIO: Final = 1.1
"""By how much the budgets of an NZ and a WZ training may differ without a mark."""
UNSEEN_COUNTS: Final = ("zero", "dropped_zero", "lost_sentences", "dropped_long")
"""Counts of training sentences that are not seen, or without triples."""
TRAINING_KEYS: Final = ("corpus", "protocol", "training", "extractor", "noise")

Fact = Mapping[str, Any]
TrainingId = tuple[str, ...]
"""The values of :data:`TRAINING_KEYS`."""


class UnreadAnswers(NamedTuple):
    """How many answers of one system about one test set were truncated, refused or unreadable.

    Attributes:
        unread: these answers.
        answers: all answers.
    """

    unread: int
    answers: int

    @property
    def most(self) -> bool:
        """Whether more than half of the answers are unread, so that the row cannot be ranked."""
        return 2 * self.unread > self.answers


class StudyFacts:
    """Facts of the trainings and systems of a study.

    Args:
        rows: of ``trainings.json`` and ``systems.json``.

    Attributes:
        marks: marks of each training, :data:`MARKS`.
    """

    def __init__(self, rows: Iterable[Fact] = ()) -> None:
        self.rows: list[Fact] = list(rows)
        self.marks = marks_of(self.rows)

    @property
    def systems(self) -> list[Fact]:
        """Facts of systems without training, for each test set."""
        return [fact for fact in self.rows if "system" in fact]

    @property
    def untrained(self) -> set[str]:
        """Names of systems without training."""
        return {fact["system"] for fact in self.systems}

    @property
    def partial(self) -> set[str]:
        """Systems that were queried about a part of each test set, and cannot be compared."""
        return {fact["system"] for fact in self.systems if fact["queried"] < fact["of"]}

    @cached_property
    def trainings(self) -> dict[TrainingId, list[Fact]]:
        """The facts of each training, of all seeds."""
        return trainings_of(self.rows)

    @cached_property
    def unread(self) -> dict[tuple[str, str, str], UnreadAnswers]:
        """``(system, corpus, protocol)`` -> unread answers of a language model."""
        counts = {}
        for fact in self.systems:
            unread = count_unread(fact)
            if unread is not None:
                keys = fact["keys"]
                counts[fact["system"], keys["corpus"], keys["protocol"]] = unread
        return counts

    def training_mark(self, keys: Mapping[str, Any]) -> str:
        """Return the marks of the trainings behind a run."""
        marks = "".join(self.marks.get(training, "") for training in self._behind_run(keys))
        return "".join(mark for mark in MARKS if mark in marks)

    def trainings_behind(self, keys: Mapping[str, Any]) -> list[Fact]:
        """Return the facts of the trainings behind a run, of all seeds."""
        facts: list[Fact] = []
        for training in sorted(self._behind_run(keys)):
            facts += self.trainings.get(training, [])
        return facts

    def keys_in_paper(self, keys: Mapping[str, Any]) -> Run:
        """Return the keys of a run with the papers' extractor and noise setting of its training.

        A system with stored predictions may have any name; the provenance of its training says
        which extractor it is.
        """
        run = run_keys(keys)
        classifier, name = split_two_step(run["extractor"])
        facts = self.trainings_behind({**run, "extractor": name})
        if not facts or facts[0].get("extractor") not in EXTRACTORS:
            return run
        extractor = facts[0]["extractor"]
        noise = "noising" if facts[0].get("noise_probability") else run["noise"]
        if classifier:
            extractor = two_step_name(classifier, extractor)
        return {**run, "extractor": extractor, "noise": noise}

    def _behind_run(self, keys: Mapping[str, Any]) -> set[TrainingId]:
        """Return the trainings behind a run, those of both steps for two-step extraction."""
        run = run_keys(keys)
        classifier, extractor = split_two_step(run["extractor"])
        trainings = self._behind_extractor({**run, "extractor": extractor})
        if classifier:
            gate = {**run, "training": "wz", "extractor": classifier, "noise": "none"}
            trainings |= self._behind_extractor(gate)
        return trainings

    def _behind_extractor(self, run: Run) -> set[TrainingId]:
        """Return the trainings behind a run of one step.

        Test sets without a training set of their own (augmented sentences, texts with GREScores)
        belong to a training on the original split; a data set with GREScores may have another name
        than its corpus.
        """
        training = training_id(run)
        if training in self.marks or has_training_set(run["protocol"]):
            return {training}
        original = training_id({**run, "protocol": "original", "training": run["training"] or "nz"})
        if run["corpus"] in {corpus for corpus, *_ in self.marks}:
            return {original}
        return {known for known in self.marks if known[1:] == original[1:]}


def read_facts(paths: Iterable[str | Path]) -> StudyFacts:
    """Read the facts of trainings and systems.

    Raises:
        UserError: a file is missing or is something else.
    """
    facts: list[Fact] = []
    for path in paths:
        content = read_json(path)
        rows = content if isinstance(content, list) else [content]
        if not all(map(_is_fact, rows)):
            raise UserError(
                f"{path}: not the facts of trainings and systems that this version writes; make it again"
            )
        facts += rows
    return StudyFacts(facts)


def _is_fact(row: Any) -> bool:
    return isinstance(row, dict) and ("system" not in row or "queried" in row)


def training_id(keys: Mapping[str, Any]) -> TrainingId:
    """Return the values of :data:`TRAINING_KEYS`."""
    run = run_keys(keys)
    return tuple(run[name] for name in TRAINING_KEYS)


def has_training_set(protocol: str) -> bool:
    """Return whether a protocol has a training set of its own."""
    return any(spec.train and spec.means(protocol) for spec in PROTOCOLS.values())


def trainings_of(facts: Iterable[Fact]) -> dict[TrainingId, list[Fact]]:
    """Return the facts of each training; seeds together."""
    trainings: dict[TrainingId, list[Fact]] = {}
    for fact in facts:
        if "convergence" in fact:
            trainings.setdefault(training_id(fact.get("keys", {})), []).append(fact)
    return trainings


def marks_of(facts: Sequence[Fact]) -> dict[TrainingId, str]:
    """Return the marks of each training."""
    marks = dict.fromkeys(trainings_of(facts), "")
    evaluated = trainings_of(fact for fact in facts if fact.get("convergence"))
    mark_of_verdict = {RISING: UNFINISHED, None: UNSETTLED}
    for training, seeds in evaluated.items():
        marks[training] += mark_of_verdict.get(ended(seeds), "")
    budgets = training_budgets(facts)
    for training, budget in budgets.items():
        keys = dict(zip(TRAINING_KEYS, training, strict=True))
        other_setting = "wz" if keys["training"] == "nz" else "nz"
        other = budgets.get(training_id({**keys, "training": other_setting}))
        if other is not None and max(budget, other) > MAX_BUDGET_RATIO * min(budget, other):
            marks[training] = marks.get(training, "") + UNEQUAL
    return marks


def training_budgets(facts: Iterable[Fact]) -> dict[TrainingId, float]:
    """Return how many sentences with triples a training saw, times epochs; means over seeds."""
    budgets: dict[TrainingId, list[float]] = {}
    for fact in facts:
        counts, epochs = fact.get("counts") or {}, fact.get("epochs")
        if epochs and "sentences" in counts:
            unseen = sum(counts.get(name, 0) for name in UNSEEN_COUNTS)
            seen = epochs * (counts["sentences"] - unseen)
            budgets.setdefault(training_id(fact.get("keys", {})), []).append(seen)
    return {training: fmean(seeds) for training, seeds in budgets.items()}


def ended(facts: Sequence[Fact]) -> str | None:
    """Return how the trainings of all seeds ended; None for too few evaluations."""
    doubled = [fact["doubled"] for fact in facts if fact.get("doubled")]
    evaluations = [fact["convergence"] or {} for fact in facts]
    return verdict(evaluations, doubled[0] if doubled else None)


def describe_encoder(fact: Fact) -> str:
    """Return an encoder in words, such as ``minilm (6 layers, 22.6 million parameters)``.

    Args:
        fact: of a training (:func:`tripleaudit.systems.facts.training_fact`).
    """
    encoder = fact.get("encoder")
    if not encoder:
        return UNKNOWN
    size = f"{encoder['parameters'] / 1e6:.1f} million parameters"
    return f"{encoder['name']} ({encoder['layers']} layers, {size})"


def count_unread(fact: Fact) -> UnreadAnswers | None:
    """Return the unread answers of a system by its facts; None for other systems."""
    if not fact.get("answers"):
        return None
    return UnreadAnswers(fact.get("unreadable", 0) + fact.get("truncated", 0), fact["answers"])
