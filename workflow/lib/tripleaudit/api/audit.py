"""How much of a test set its training set gives away."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tripleaudit.api.check import readable_leakage
from tripleaudit.api.results import Result, Share
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.readers.given import given
from tripleaudit.protocols import random_splits as random_
from tripleaudit.protocols.leakage import leakage
from tripleaudit.protocols.strata import audit_corpus
from tripleaudit.tables.labels import TYPES
from tripleaudit.tables.render.escape import clean

if TYPE_CHECKING:
    from tripleaudit.tables.cells import Table


class AuditResult(Result):
    """What training gives away of a test set.

    Attributes:
        sentences, zero_triple_sentences, triples: of the test set, triples once a sentence.
        train: the same of the training set, and its relations.
        triple_types: test triples by what training has of them.
        strata: test sentences with triples by the types of these.
        unseen_relations: relations that training lacks, with their test triples.
        duplicates: triples repeated inside a test sentence.
        missing_entities: mentions that are not in their test sentence.
        leakage: test sentences, triples and entities that are in training
            (:func:`tripleaudit.protocols.leakage.leakage`).
        random_splits: what random splits of the same sizes have of unseen triples
            (:class:`tripleaudit.protocols.random_splits.RandomSplits`), None where none was asked for.
    """

    def __init__(self, value: dict[str, Any]) -> None:
        super().__init__(value)
        self.sentences: int = value["sentences"]
        self.zero_triple_sentences: int = value["zero_triple_sentences"]
        self.triples: int = value["triples"]
        self.train: dict[str, int] = value["train"]
        self.triple_types = {name: Share(**part) for name, part in value["triple_types"].items()}
        self.strata = {name: Share(**part) for name, part in value["strata"].items()}
        self.unseen_relations: dict[str, int] = value["unseen_relations"]
        self.duplicates: int = value["duplicates"]
        self.missing_entities: int = value["missing_entities"]
        self.leakage: dict[str, Any] = value["leakage"]
        self.random_splits: dict[str, Any] | None = value.get("random_splits")

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"part": part, "name": name, "count": one.count, "share": one.share}
            for part in ("triple_types", "strata")
            for name, one in getattr(self, part).items()
        ]

    def tables(self) -> "list[Table]":
        from tripleaudit.tables.cells import Cell, Column, Row, Table

        groups = {"triple_types": "Test triples by type", "strata": "Test sentences by stratum"}
        rows = [
            Row(
                TYPES[row["name"]],
                (Cell(row["count"], digits=0), Cell(100 * row["share"], digits=2)),
                groups[row["part"]],
            )
            for row in self.rows()
        ]
        notes = [line for line in _notes(self.to_json()) if line and not line.startswith(" ")]  # without examples
        caption = f"{self.sentences} test sentences against {self.train['sentences']} training sentences"
        return [Table("audit", caption, [Column("Count"), Column("Share, %")], rows, notes=notes)]

    def __str__(self) -> str:
        return _readable(self.to_json())


def audit(
    train: Any,
    test: Any,
    valid: Any = None,
    *,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    random_splits: int = 0,
    seed: int = 0,
) -> AuditResult:
    """Audit a test set against its training set: triple types, strata, cardinality, leakage.

    Args:
        train, test: paths to corpora of any format, data frames, or rows with ``text`` and ``triples``.
        valid: the same, held out with the test set in random splits.
        format: of files; ``auto`` tells it from their content.
        columns: ``{role: column}`` where columns have other names than usual.
        random_splits: so many random splits of all these sentences are looked at, drawn with ``seed``.

    Raises:
        UserError: something cannot be read.
    """
    corpora = [
        read_corpus(given(data, name, texts=True), format=format, columns=columns)
        for name, data in (("train", train), ("test", test), ("valid", valid))
        if data is not None
    ]
    value = audit_corpus(corpora[0].sentences, corpora[1].sentences)
    # Reading removes repetitions, so that only the reader's report still knows of them.
    value["duplicates"] = corpora[1].report.duplicates
    value["missing_entities"] = corpora[1].report.found.get("missing", 0)
    value["leakage"] = leakage(corpora[0].sentences, corpora[1].sentences)
    if random_splits:
        held = corpora[2].sentences if len(corpora) > 2 else ()
        drawn = random_.random_splits(corpora[0].sentences, held, corpora[1].sentences, random_splits, seed)
        value["random_splits"] = asdict(drawn)
    return AuditResult(value)


def _readable(value: dict) -> str:
    train = value["train"]
    with_triples = value["sentences"] - value["zero_triple_sentences"]
    lines = [
        f"{'':<28}{'Training':>10}{'Test':>10}",
        f"{'Sentences':<28}{train['sentences']:>10}{value['sentences']:>10}",
        f"{'  with zero triples':<28}{train['zero_triple_sentences']:>10}{value['zero_triple_sentences']:>10}",
        f"{'Triples (once a sentence)':<28}{train['triples']:>10}{value['triples']:>10}",
        "",
        f"{'Test triples by type':<28}{'Count':>10}{'Share':>10}",
        *_shares(value["triple_types"]),
        "",
        f"{'Test sentences by stratum':<28}{'Count':>10}{'Share':>10}",
        *_shares(value["strata"]),
        f"{'  Total with triples':<28}{with_triples:>10}",
        "",
        *_notes(value),
    ]
    return "\n".join(lines)


def _shares(parts: dict[str, dict[str, float]]) -> list[str]:
    return [f"{'  ' + TYPES[name]:<28}{part['count']:>10}{100 * part['share']:>8.2f} %" for name, part in parts.items()]


def _notes(value: dict[str, Any]) -> list[str]:
    lines = [
        f"Triples repeated inside a test sentence: {value['duplicates']}",
        f"Entity mentions that are not in their test sentence: {value['missing_entities']}",
    ]
    unseen = value["unseen_relations"]
    if unseen:
        names = ", ".join(f"{clean(name)} ({count})" for name, count in unseen.items())
        lines.append(f"Relations that training lacks, with their test triples: {names}")
    else:
        lines.append("Relations that training lacks: none")
    if drawn := value.get("random_splits"):
        lines.append(
            f"Random splits of the same sizes ({drawn['trials']} trials): {100 * drawn['mean']:.2f} % of the test "
            f"triples are unseen in the mean, {100 * drawn['most']:.2f} % at most; in this split "
            f"{100 * value['triple_types']['unseen']['share']:.2f} %"
        )
    return [*lines, "", *readable_leakage(value["leakage"], "Test sentences that are in training")]
