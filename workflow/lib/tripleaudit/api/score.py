"""Scores of predictions with intervals, in parts, and why they may be low."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

from tripleaudit.api.results import Result, Scores
from tripleaudit.core.errors import UserError
from tripleaudit.core.memory import paused_collection
from tripleaudit.core.wording import counted
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.readers.given import given
from tripleaudit.protocols.strata import STRATA, stratify
from tripleaudit.protocols.types import SeenTriples
from tripleaudit.protocols.variants import originals_of
from tripleaudit.scoring.bootstrap import METRICS
from tripleaudit.scoring.breakdown import PARTS, break_down, has_mentions, has_scores
from tripleaudit.scoring.elements import ign_scores
from tripleaudit.scoring.matching import applicable, check_matching, sentence_counts, untyped
from tripleaudit.scoring.metrics import in_stratum, micro
from tripleaudit.scoring.parts import Part, by_cardinality, by_relation, described, select
from tripleaudit.scoring.relation_names import renamed
from tripleaudit.scoring.sides import load_pair
from tripleaudit.scoring.why import hints
from tripleaudit.tables.cells import Cell, Column, Row, Table
from tripleaudit.tables.labels import TYPES

COLUMNS = tuple(
    Column(label)
    for label in ("Sentences", "Precision", "Recall", "F1", "Correct", "Predicted", "Gold")
)


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
    overlap: dict[str, Scores] = {}
    """By the classes Normal, SEO and EPO, which may share sentences; as ``by`` asks."""
    elements: dict[str, Scores] = {}
    """Of the ``entities`` and of the ``relations`` of each sentence alone, and of triples with any
    name of their entities (``mentions``); as ``by`` asks.
    """
    thresholds: dict[str, Scores] = {}
    """Of predicted triples with at least some score; as ``by`` asks."""
    ign: dict[str, float] = {}
    """Ign ``precision``, ``recall`` and ``f1``, without the triples of training, and how many
    correct triples are ``known`` from it; as ``by`` asks.
    """
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
        parts = {
            "all": {"all": self.micro},
            "strata": self.strata,
            "cardinality": self.cardinality,
            "overlap": self.overlap,
            "elements": self.elements,
            "thresholds": self.thresholds,
        }
        return [
            {"part": part, "name": name, **scores.row()}
            for part, found in (parts | {"relations": self.relations}).items()
            for name, scores in found.items()
        ]

    def notes(self) -> list[str]:
        notes = [f"Note: {hint}" for hint in self.hints]
        if self.map:
            size = len(self.map)
            notes.insert(
                0,
                f"{counted(self.renamed, 'predicted triple{s} {were}')} renamed by the map of "
                f"{counted(size, 'relation{s}')}.",
            )
        if self.ign:
            precision, recall, f1 = (100 * self.ign[name] for name in METRICS)
            known = round(self.ign["known"])
            notes.insert(
                0,
                f"Ign F1 {f1:.2f} (precision {precision:.2f}, recall {recall:.2f}): precision leaves "
                f"out {counted(known, 'correct triple{s} that {are}')} in the training set.",
            )
        return notes

    def tables(self) -> list[Table]:
        rows = [_row("All", self.micro)]
        rows += [_row(TYPES[name], part, "Stratum") for name, part in self.strata.items()]
        rows += [_row(name, part, "Gold triples") for name, part in self.cardinality.items()]
        rows += [_row(name, part, "Overlap") for name, part in self.overlap.items()]
        rows += [_row(name.title(), part, "Part") for name, part in self.elements.items()]
        rows += [_row(name, part, "Score at least") for name, part in self.thresholds.items()]
        rows += [_row(name, part, "Relation") for name, part in self.relations.items()]
        caption = (
            f"Matching: {self.matching}; repeated triples of a sentence count once; "
            "95 % intervals over sentences."
        )
        return [Table("score", caption, COLUMNS, rows, notes=self.notes())]


@paused_collection()
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
    by: Sequence[str] | str = (),
    bootstrap: int = 1000,
    seed: int = 0,
) -> ScoreResult:
    """Score predicted against gold triples, overall and by relation, cardinality and stratum.

    Args:
        gold: a path to a corpus of any format or to stored predictions with ``truth``; a data
            frame; rows with ``text`` and ``triples``; or of each sentence the list of its triples
            (subject, relation, object).
        predictions: the same, matched by id or by text; lists of triples by their order. May be the
            path of ``gold``.
        train: training set; adds the scores by stratum.
        matching: a name of :data:`~tripleaudit.scoring.spec.MATCHINGS`.
        format: of files; ``auto`` recognises it by its content.
        columns: ``{role: column}`` where columns have other names than usual.
        predicted_columns: the same of ``predictions`` alone.
        predicted_format: of ``predictions`` alone.
        missing: ``empty`` takes sentences without a prediction as without triples.
        relations: predicted relation -> the one of the gold that it stands for; others stay as they
            are.
        by: further scores, of :data:`~tripleaudit.scoring.breakdown.PARTS`: ``overlap`` (Normal,
            SEO and EPO sentences), ``entities`` and ``relations`` (of triples, alone), ``mentions``
            (any name of an entity counts, in documents with annotated mentions), ``triples``
            (number of gold triples, which is always there), ``ign`` (without triples of the
            training set), ``thresholds`` (predicted triples by their scores).
        bootstrap: resamples of the intervals; 0: none.
        seed: of the resampling.

    Raises:
        UserError: something cannot be read, the sides do not belong together, or the rule does not
            apply.
    """
    matching = check_matching(matching)
    by = [by] if isinstance(by, str) else by
    _check_parts(by, train)
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
            f"--matching {matching}: compares types of entities, but {untyped(right, guess)}; use files that "
            "contain them (docs/reference/formats.md has which formats do)"
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
    _check_sentences(by, right, guess)
    parts |= break_down(right, guess, counts, matching, by)
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
        **({"ign": asdict(ign_scores(right, guess, seen or [], matching))} if "ign" in by else {}),
        hints=hints(right, guess, micro(counts), matching),
    )


def _check_parts(by: Sequence[str], train: Any) -> None:
    """Refuse parts that do not exist or that need a training set."""
    for name in by:
        if name not in PARTS:
            raise UserError(f"--by: unknown part {name!r}; expected some of {', '.join(PARTS)}")
    if "ign" in by and train is None:
        raise UserError("--by ign: needs the triples of training; add --train TRAIN")


def _check_sentences(
    by: Sequence[str], gold: Sequence[Sentence], predictions: Sequence[Sentence]
) -> None:
    """Refuse parts that the sentences do not have."""
    if "mentions" in by and not has_mentions(gold):
        raise UserError(
            "--by mentions: the gold file does not say which names are of one entity; expected a format that does, "
            "such as docred or pubtator"
        )
    if "thresholds" in by and not has_scores(predictions):
        raise UserError(
            "--by thresholds: no predicted triple has a score; expected predictions with 'score'"
        )


def _row(label: str, scores: Scores, group: str = "") -> Row:
    """Return the scores of some sentences as a row of a table."""
    values = scores.row()
    metrics = [
        _score_cell(values[metric], values[f"{metric}_low"], values[f"{metric}_high"])
        for metric in METRICS
    ]
    counts = [Cell(count, digits=0) for count in (scores.correct, scores.predicted, scores.gold)]
    return Row(label, [Cell(scores.sentences, digits=0), *metrics, *counts], group)


def _score_cell(value: float | None, low: float | None, high: float | None) -> Cell:
    """Return a score in percent with two decimals, its interval with one."""
    if value is None:
        return Cell()
    text = f"{100 * value:.2f}"
    if low is None or high is None:
        return Cell(100 * value, text=text)
    return Cell(100 * value, text=text, low=100 * low, high=100 * high)
