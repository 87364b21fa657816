"""Scores of predictions with intervals, in parts, and why they may be low."""

from collections.abc import Mapping
from typing import Any, Literal

from tripleaudit.api.results import Result, Scores
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.readers.given import given
from tripleaudit.protocols.strata import STRATA, stratify
from tripleaudit.protocols.types import SeenTriples
from tripleaudit.protocols.variants import originals_of
from tripleaudit.scoring.bootstrap import METRICS
from tripleaudit.scoring.matching import applicable, check_matching, sentence_counts, untyped
from tripleaudit.scoring.metrics import in_stratum, micro
from tripleaudit.scoring.parts import Part, by_cardinality, by_relation, described, select
from tripleaudit.scoring.relation_names import renamed
from tripleaudit.scoring.sides import load_pair
from tripleaudit.scoring.why import hints
from tripleaudit.tables.labels import TYPES
from tripleaudit.tables.render.escape import clean

SHOWN = 10


class ScoreResult(Result):
    """What predictions score."""

    matching: str
    """The rule by which a triple is correct."""
    map: dict[str, str] = {}
    """Predicted relation -> the one of the gold that it stands for, as given."""
    renamed: int = 0
    """Predicted triples that the map gave another name."""
    sentences: int
    """How many were scored."""
    micro: Scores
    """Over all sentences; ``precision``, ``recall`` and ``f1`` are its own."""
    strata: dict[str, Scores]
    """By whether training has the gold triples; empty without a training set."""
    cardinality: dict[str, Scores]
    """By the number of gold triples."""
    relations: dict[str, Scores]
    """By relation, frequent ones first."""
    hints: list[str]
    """Why a score may be low for another reason than the extractor."""

    @property
    def precision(self) -> float:
        return self.micro.precision

    @property
    def recall(self) -> float:
        return self.micro.recall

    @property
    def f1(self) -> float:
        return self.micro.f1

    def rows(self) -> list[dict[str, Any]]:
        parts = {"all": {"all": self.micro}, "strata": self.strata, "cardinality": self.cardinality}
        return [
            {"part": part, "name": name, **scores.row()}
            for part, found in (parts | {"relations": self.relations}).items()
            for name, scores in found.items()
        ]

    def notes(self) -> list[str]:
        return [f"Matching: {self.matching}; 95 % intervals over sentences.", *self.hints]

    def __str__(self) -> str:
        lines = [
            f"Matching: {self.matching}; triples are sets within a sentence; 95 % intervals over sentences."
        ]
        if self.map:
            lines.append(
                f"{self.renamed} predicted triples are renamed by a map of {len(self.map)} relations."
            )
        lines += [
            "",
            *_part("", {"All": self.micro}),
            *(f"Note: {clean(hint)}" for hint in self.hints),
        ]
        if self.strata:
            lines += [
                "",
                *_part("Stratum", {TYPES[name]: scores for name, scores in self.strata.items()}),
            ]
        lines += ["", *_part("Gold triples", self.cardinality)]
        first = {clean(name): self.relations[name] for name in list(self.relations)[:SHOWN]}
        lines += ["", *_part("Relation", first)]
        if len(self.relations) > SHOWN:
            lines.append(f"… and {len(self.relations) - SHOWN} more relations (--json has all)")
        return "\n".join(lines)


def score(
    gold: Any,
    predictions: Any,
    *,
    train: Any = None,
    matching: str = "exact-string",
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    predicted_columns: Mapping[str, str] | None = None,
    predicted_format: str = "auto",
    missing: Literal["refuse", "empty"] = "refuse",
    relations: Mapping[str, str] | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
) -> ScoreResult:
    """Score predicted triples against gold triples, in all and by relation, cardinality and
    stratum.

    Args:
        gold: a path to a corpus of any format or to stored predictions with ``truth``; a data
            frame; rows with ``text`` and ``triples``; or of each sentence the list of its triples
            (subject, relation, object).
        predictions: the same, matched by id or by text; lists of triples by their order. May be the
            path of ``gold``.
        train: training set; adds the scores by stratum.
        matching: a name of :data:`~tripleaudit.core.descriptors.MATCHINGS`.
        format: of files; ``auto`` recognises it by its content.
        columns: ``{role: column}`` where columns have other names than usual.
        predicted_columns: the same of ``predictions`` alone.
        predicted_format: of ``predictions`` alone.
        missing: ``empty`` takes sentences without a prediction as without triples.
        relations: predicted relation -> the one of the gold that it stands for; others stay as they
            are.
        bootstrap: resamples of the intervals; 0: none.
        seed: of the resampling.

    Raises:
        UserError: something cannot be read, the sides do not belong together, or the rule does not
            apply.
    """
    matching = check_matching(matching)
    sides = given(gold, "gold"), given(predictions, "predictions")
    right, guess = load_pair(*sides, format, columns, predicted_columns, predicted_format, missing)
    guess, count = renamed(guess, relations or {})
    seen = (
        None
        if train is None
        else read_corpus(given(train, "train"), format=format, columns=columns).sentences
    )
    if matching not in applicable(right, guess):
        raise UserError(
            f"--matching {matching}: compares types of entities, but {untyped(right, guess)}; expected files that say "
            "them (docs/reference/formats.md has which formats do)"
        )
    counts = sentence_counts(right, guess, matching)
    strata = stratify(right, SeenTriples(seen)) if seen is not None else []
    relation_parts = by_relation(right, [guess], matching)
    parts = {
        "strata": {
            name: select(counts, in_stratum(strata, name)) for name in STRATA if seen is not None
        },
        "cardinality": by_cardinality(counts),
        "relations": {
            name: Part(part.counts[:, 0], part.positions) for name, part in relation_parts.items()
        },
    }
    units = originals_of([sentence.id for sentence in right])
    value: dict[str, Any] = {
        kind: {
            name: described(part.counts, part.units(units), bootstrap, seed)
            for name, part in found.items()
        }
        for kind, found in parts.items()
    }
    return ScoreResult(
        matching=matching,
        **({"map": dict(relations), "renamed": count} if relations else {}),
        sentences=len(right),
        micro=described(counts, units, bootstrap, seed),
        **value,
        hints=hints(right, guess, micro(counts), matching),
    )


def _part(title: str, parts: Mapping[str, Scores]) -> list[str]:
    width = max([16, *(len(name) + 2 for name in parts)])
    head = f"{'Sentences':>9}{'Precision':>22}{'Recall':>22}{'F1':>22}{'Correct':>9}{'Predicted':>11}{'Gold':>7}"
    lines = [f"{title:<{width}}{head}"]
    for name, scores in parts.items():
        cells = "".join(f"{_cell(scores.row(), metric):>22}" for metric in METRICS)
        counts = f"{scores.correct:>9}{scores.predicted:>11}{scores.gold:>7}"
        lines.append(f"{name:<{width}}{scores.sentences:>9}{cells}{counts}")
    return lines


def _cell(row: Mapping[str, Any], metric: str) -> str:
    if row[metric] is None:
        return "–"
    low, high = row[f"{metric}_low"], row[f"{metric}_high"]
    return f"{100 * row[metric]:.2f}" + (
        "" if low is None else f" [{100 * low:.1f}, {100 * high:.1f}]"
    )
