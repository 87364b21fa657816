"""Scores of predictions with intervals, in parts, and why they may be low."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from tripleaudit.api.results import Result, Scores
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.readers.given import given
from tripleaudit.errors import UserError
from tripleaudit.protocols.strata import STRATA, stratify
from tripleaudit.protocols.types import SeenTriples
from tripleaudit.scoring.matching import applicable, check_matching, sentence_counts, untyped
from tripleaudit.scoring.metrics import in_stratum, micro
from tripleaudit.scoring.parts import by_cardinality, by_relation, described
from tripleaudit.scoring.relation_names import renamed
from tripleaudit.scoring.sides import load_pair
from tripleaudit.scoring.why import hints
from tripleaudit.tables.labels import TYPES
from tripleaudit.tables.render.escape import clean

if TYPE_CHECKING:
    from tripleaudit.tables.cells import Table

SHOWN = 10
HEADINGS = {"strata": "Stratum", "cardinality": "Gold triples", "relations": "Relation"}


class ScoreResult(Result):
    """What predictions score.

    Attributes:
        matching: the rule by which a triple is correct.
        sentences: how many were scored.
        micro: over all sentences; ``precision``, ``recall`` and ``f1`` are its own.
        strata: by whether training has the gold triples; empty without a training set.
        cardinality: by the number of gold triples.
        relations: by relation, frequent ones first.
        hints: why a score may be low for another reason than the extractor.
    """

    def __init__(self, value: dict[str, Any]) -> None:
        super().__init__(value)
        self.matching: str = value["matching"]
        self.sentences: int = value["sentences"]
        self.micro = Scores(**value["micro"])
        self.strata, self.cardinality, self.relations = (
            {name: Scores(**scores) for name, scores in value[part].items()} for part in HEADINGS
        )
        self.hints: list[str] = value["hints"]

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
        parts = {"all": {"all": self.micro}, **{part: getattr(self, part) for part in HEADINGS}}
        return [
            {"part": part, "name": name, **scores.row()}
            for part, found in parts.items()
            for name, scores in found.items()
        ]

    def tables(self) -> "list[Table]":
        from tripleaudit.tables.cells import Cell, Column, Row, Table

        columns = [Column(name) for name in ("Sentences", "Precision", "Recall", "F1", "Correct", "Predicted", "Gold")]
        rows = []
        for row in self.rows()[: -len(self.relations) + SHOWN if len(self.relations) > SHOWN else None]:
            scores = [
                Cell(_percent(row[name]), low=_percent(row[f"{name}_low"]), high=_percent(row[f"{name}_high"]))
                for name in ("precision", "recall", "f1")
            ]
            counts = [Cell(row[name], digits=0) for name in ("sentences", "correct", "predicted", "gold")]
            label = _label(row["name"]) if row["part"] in ("all", "strata") else row["name"]
            rows.append(Row(label, (counts[0], *scores, *counts[1:]), HEADINGS.get(row["part"], "")))
        notes = [f"Matching: {self.matching}; 95 % intervals over sentences.", *self.hints]
        return [Table("score", "Scores in percent", columns, rows, notes=notes)]

    def __str__(self) -> str:
        value = self.to_json()
        lines = [
            f"Matching: {value['matching']}; triples are sets within a sentence; 95 % intervals over sentences.",
            "",
        ]
        if "map" in value:
            lines[1:1] = [
                f"{value['renamed']} predicted triples are renamed by a map of {len(value['map'])} relations."
            ]
        lines += [*_part("", {"all": value["micro"]}), *(f"Note: {clean(hint)}" for hint in value["hints"])]
        if value["strata"]:
            lines += ["", *_part("Stratum", value["strata"])]
        lines += ["", *_part("Gold triples", value["cardinality"])]
        relations = value["relations"]
        lines += ["", *_part("Relation", {clean(name): relations[name] for name in list(relations)[:SHOWN]})]
        if len(relations) > SHOWN:
            lines.append(f"… and {len(relations) - SHOWN} more relations (--json has all)")
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
    """Score predicted triples against gold triples, in all and by relation, cardinality and stratum.

    Args:
        gold: a path to a corpus of any format or to stored predictions with ``truth``; a data frame; rows with ``text``
            and ``triples``; or of each sentence the list of its triples (subject, relation, object).
        predictions: the same, matched by id or by text; lists of triples by their order. May be the path of ``gold``.
        train: training set; adds the scores by stratum.
        matching: a name of :data:`~tripleaudit.descriptors.MATCHINGS`.
        format: of files; ``auto`` tells it from their content.
        columns: ``{role: column}`` where columns have other names than usual.
        predicted_columns: the same of ``predictions`` alone.
        predicted_format: of ``predictions`` alone.
        missing: ``empty`` takes sentences without a prediction as without triples.
        relations: predicted relation -> the one of the gold that it stands for; others stay as they are.
        bootstrap: resamples of the intervals; 0: none.
        seed: of the resampling.

    Raises:
        UserError: something cannot be read, the sides do not belong together, or the rule does not apply.
    """
    matching = check_matching(matching)
    sides = given(gold, "gold"), given(predictions, "predictions")
    right, guess = load_pair(*sides, format, columns, predicted_columns, predicted_format, missing)
    guess, count = renamed(guess, relations or {})
    seen = None if train is None else read_corpus(given(train, "train"), format=format, columns=columns).sentences
    if matching not in applicable(right, guess):
        raise UserError(
            f"--matching {matching}: compares types of entities, but {untyped(right, guess)}; expected files that say "
            "them (docs/formats.md has which formats do)"
        )
    counts = sentence_counts(right, guess, matching)
    strata = stratify(right, SeenTriples(seen)) if seen is not None else []
    parts = {
        "strata": {name: counts[in_stratum(strata, name)] for name in STRATA if seen is not None},
        "cardinality": by_cardinality(counts),
        "relations": by_relation(right, guess, matching),
    }
    return ScoreResult(
        {
            "matching": matching,
            **({"map": dict(relations), "renamed": count} if relations else {}),
            "sentences": len(right),
            "micro": described(counts, bootstrap, seed),
            **{
                part: {name: described(rows, bootstrap, seed) for name, rows in found.items()}
                for part, found in parts.items()
            },
            "hints": hints(right, guess, micro(counts), matching),
        }
    )


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _label(name: str) -> str:
    return TYPES.get(name, name.capitalize())


def _part(title: str, scores: dict[str, dict[str, Any]]) -> list[str]:
    width = max([16, *(len(name) + 2 for name in scores)])
    head = f"{'Sentences':>9}{'Precision':>22}{'Recall':>22}{'F1':>22}{'Correct':>9}{'Predicted':>11}{'Gold':>7}"
    lines = [f"{title:<{width}}{head}"]
    for name, score in scores.items():
        shown = _label(name) if title in ("", "Stratum") else name
        cells = "".join(f"{_cell(score, metric):>22}" for metric in ("precision", "recall", "f1"))
        lines.append(
            f"{shown:<{width}}{score['sentences']:>9}{cells}{score['correct']:>9}{score['predicted']:>11}{score['gold']:>7}"
        )
    return lines


def _cell(score: dict[str, Any], metric: str) -> str:
    if not score["gold"] and (metric != "precision" or not score["predicted"]):
        return "–"
    bounds = score["intervals"].get(metric)
    interval = f" [{100 * bounds[0]:.1f}, {100 * bounds[1]:.1f}]" if bounds else ""
    return f"{100 * score[metric]:.2f}{interval}"
