"""How much of a test set its training set gives away."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tripleaudit.api.check import readable_leakage
from tripleaudit.api.results import Result, Share
from tripleaudit.core.memory import paused_collection
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.readers.given import given
from tripleaudit.protocols import random_splits as random_
from tripleaudit.protocols.leakage import leakage
from tripleaudit.protocols.strata import audit_corpus
from tripleaudit.tables.labels import TYPES
from tripleaudit.tables.render.escape import clean


class AuditResult(Result):
    """What training gives away of a test set."""

    sentences: int
    zero_triple_sentences: int
    triples: int
    """Triples of the test set, each counted once per sentence."""
    train: dict[str, int]
    """The same three of the training set, and its relations."""
    triple_types: dict[str, Share]
    """Test triples by what training has of them."""
    strata: dict[str, Share]
    """Test sentences with triples by the types of these."""
    unseen_relations: dict[str, int]
    """Relations that training lacks, with their test triples."""
    duplicates: int
    """Triples repeated inside a test sentence."""
    missing_entities: int
    """Mentions that are not in their test sentence."""
    leakage: dict[str, Any]
    """Test sentences, triples and entities that are in training
    (:func:`tripleaudit.protocols.leakage.leakage`).
    """
    random_splits: dict[str, Any] | None = None
    """What random splits of the same sizes have of unseen triples
    (:class:`tripleaudit.protocols.random_splits.RandomSplits`), None where none was asked for."""

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"part": part, "name": name, "count": one.count, "share": one.share}
            for part, found in (("triple_types", self.triple_types), ("strata", self.strata))
            for name, one in found.items()
        ]

    def notes(self) -> list[str]:
        unseen = ", ".join(
            f"{clean(name)} ({count})" for name, count in self.unseen_relations.items()
        )
        lines = [
            f"Triples repeated inside a test sentence: {self.duplicates}",
            f"Entity mentions that are not in their test sentence: {self.missing_entities}",
            f"Relations that training lacks, with their test triples: {unseen}"
            if unseen
            else "Relations that training lacks: none",
        ]
        if drawn := self.random_splits:
            lines.append(
                f"Random splits of the same sizes ({drawn['trials']} trials): {100 * drawn['mean']:.2f} % of the test "
                f"triples are unseen in the mean, {100 * drawn['most']:.2f} % at most; in this split "
                f"{100 * self.triple_types['unseen'].share:.2f} %"
            )
        return lines

    def __str__(self) -> str:
        counts = (
            ("Sentences", "sentences"),
            ("  with zero triples", "zero_triple_sentences"),
            ("Triples (without repeats)", "triples"),
        )
        return "\n".join(
            [
                f"{'':<28}{'Training':>10}{'Test':>10}",
                *(
                    f"{title:<28}{self.train[name]:>10}{getattr(self, name):>10}"
                    for title, name in counts
                ),
                "",
                f"{'Test triples by type':<28}{'Count':>10}{'Share':>10}",
                *_shares(self.triple_types),
                "",
                f"{'Test sentences by stratum':<28}{'Count':>10}{'Share':>10}",
                *_shares(self.strata),
                f"{'  Total with triples':<28}{self.sentences - self.zero_triple_sentences:>10}",
                "",
                *self.notes(),
                "",
                *readable_leakage(self.leakage, "Test sentences similar to a training sentence"),
            ]
        )


@paused_collection()
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
        train, test: paths to corpora of any format, data frames, or rows with ``text`` and
        ``triples``. valid: the same, held out with the test set in random splits. format: of files;
        ``auto`` recognises it by its content. columns: ``{role: column}`` where columns have other
        names than usual. random_splits: so many random splits of all these sentences are looked at,
        drawn with ``seed``.

    Raises:
        UserError: something cannot be read.
    """
    corpora = [
        read_corpus(given(data, name, texts=True), format=format, columns=columns)
        for name, data in (("train", train), ("test", test), ("valid", valid))
        if data is not None
    ]
    train_set, test_set, *held = corpora
    value = audit_corpus(train_set.sentences, test_set.sentences)
    # Reading removes repetitions, so that only the reader's report still knows of them.
    value["duplicates"] = test_set.report.duplicates
    value["missing_entities"] = test_set.report.found.get("missing", 0)
    value["leakage"] = leakage(train_set.sentences, test_set.sentences)
    if random_splits:
        others = held[0].sentences if held else ()
        drawn = random_.random_splits(
            train_set.sentences, others, test_set.sentences, random_splits, seed
        )
        value["random_splits"] = asdict(drawn)
    return AuditResult(**value)


def _shares(parts: Mapping[str, Share]) -> list[str]:
    return [
        f"{'  ' + TYPES[name]:<28}{part.count:>10}{100 * part.share:>8.2f} %"
        for name, part in parts.items()
    ]
