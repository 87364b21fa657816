"""Notes on the systems of a table: encoders and layouts, and unread answers of language models."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Cell

UNKNOWN: Final = "not recorded"
PAPER_ENCODER: Final = (
    "The reported values are those of BERT-base (12 layers, 110 million parameters)."
)
PAPER_LAYOUT: Final = (
    "The authors' CasRel and OneRel use the layout marker (docs/explanation/differences.md)."
)


def describe_encoder(fact: Mapping[str, Any]) -> str:
    """Return an encoder in words, such as ``minilm (6 layers, 22.6 million parameters)``.

    Args:
        fact: of a training (:func:`tripleaudit.systems.facts.training_fact`).
    """
    encoder = fact.get("encoder")
    if not encoder:
        return UNKNOWN
    return f"{encoder['name']} ({encoder['layers']} layers, {encoder['parameters'] / 1e6:.1f} million parameters)"


def encoder_notes(scores: Any, cells: Iterable[Cell]) -> list[str]:
    """Return the note that names the encoder of measured values next to reported ones, if any.

    Args:
        scores: the :class:`~tripleaudit.tables.inputs.ScoreIndex` of the table.
        cells: all cells of the table.
    """
    systems = _systems_by(describe_encoder, scores, cells)
    return [f"Encoder of the measured values: {systems}. {PAPER_ENCODER}"] if systems else []


def layout_notes(scores: Any, cells: Iterable[Cell]) -> list[str]:
    """Return the note that names the layout of measured values next to reported ones, if any."""
    systems = _systems_by(lambda fact: fact.get("layout") or UNKNOWN, scores, cells)
    return [f"Layout of the tokens: {systems}. {PAPER_LAYOUT}"] if systems else []


def _systems_by(
    fact_in_words: Callable[[Mapping[str, Any]], str], scores: Any, cells: Iterable[Cell]
) -> str:
    """Return the systems with reported values by a fact of their trainings, as text.

    An example is ``minilm: CasRel, BiRTE; …``.
    """
    systems: dict[str, dict[str, None]] = {}
    for cell in cells:
        if cell.reported is None or cell.value is None or not cell.of:
            continue
        label = labels.extractor(cell.of["extractor"], cell.of["noise"])
        for fact in scores.trainings_behind(cell.of):
            systems.setdefault(fact_in_words(fact), {})[label] = None
    return "; ".join(f"{words}: {', '.join(names)}" for words, names in systems.items())


def name_in_paper(fact: Mapping[str, Any], name: str, noise: str) -> tuple[str, str]:
    """Return the extractor and the noise setting under which a paper prints values of a training.

    A system with stored predictions may have any name; the provenance of its training says which
    extractor it is.

    Args:
        fact: of the training.
        name, noise: of its row.
    """
    extractor = fact.get("extractor")
    if extractor not in EXTRACTORS:
        return name, noise
    return extractor, "noising" if fact.get("noise_probability") else noise


UNREAD: Final = "¶"
"""Mark of a language model of which more than half of the answers were truncated or could not be
read.
"""
UNREAD_STATUSES: Final = ("truncated", "refused", "failed")


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


def count_unread(fact: Mapping[str, Any]) -> UnreadAnswers | None:
    """Return the unread answers of a system by its facts; None for other systems."""
    if not fact.get("answers"):
        return None
    return UnreadAnswers(fact.get("unreadable", 0) + fact.get("truncated", 0), fact["answers"])


def unread_notes(scores: Any, cells: Iterable[Cell]) -> list[str]:
    """Return the note with the number of unread answers of every system in a table, if any.

    Args:
        scores: the :class:`~tripleaudit.tables.inputs.ScoreIndex` of the table.
        cells: all cells of the table.
    """
    counts: dict[str, None] = {}
    for cell in cells:
        found = scores.unread_answers(cell.of) if cell.of and cell.value is not None else None
        if found is not None and found.unread:
            counts[f"{cell.of['extractor']} {found.unread} of {found.answers}"] = None
    if not counts:
        return []
    return [
        f"Answers that were truncated, refused or could not be read: {', '.join(counts)}. Complete triples or entities "
        "of a truncated answer count; other unread answers count as empty."
    ]
