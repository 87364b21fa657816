"""The tables about the data sets, from their audits (rte-generalization, tables 1, 6, 7;
zero-cardinality, table 2).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tripleaudit.core.descriptors import TableSpec
from tripleaudit.protocols.strata import STRATA
from tripleaudit.protocols.types import TRIPLE_TYPES
from tripleaudit.tables import labels, reported
from tripleaudit.tables.cells import GAPS, REPORTED, Cell, Column, Row, Table, about
from tripleaudit.tables.inputs import TableInputs

READS = ("data/reported/rte_eval.csv", "data/reported/zero_cardinality.csv")

COUNTING = (
    "A triple counts once in each sentence that holds it; types compare strings (with case) to the triples of the "
    "protocol's training set."
)
VARIANTS = {
    "entirely_seen": "entirely seen only",
    "partially_seen": "partially seen only",
    "unseen": "unseen only",
    "others": "mixed types",
    "all": "total",
}
CARDINALITY_ROWS = {
    "sentences_with_triples": ("Sentences with triples", "sentences_with_triples"),
    "triples": ("Triples in these sentences", "triples"),
    "zero_triple_sentences": ("Sentences with zero triples", "sentences_without_triples"),
}
TEST_TRIPLES = "Test triples"
PAPER_SPLITS = {"train": "train", "valid": "validation", "test": "test"}
AUGMENTED, ORIGINAL = "augmented", "Original"
Audit = dict[str, Any]
Quantity = tuple[str, Callable[..., float | None], str, tuple[int, str, str] | None]
"""A row: its label; its number of an audit; the stratum of test sentences that it is about, empty for other sentences;
number of the paper's table, metric and variant next to which it stands."""


def triple_types(inputs: TableInputs) -> Table:
    """Percent of test triples by type, and their number."""
    rows: list[Quantity] = [
        (
            f"{labels.TYPES[kind]} (%)",
            lambda audit, kind=kind: 100 * audit["triple_types"][kind]["share"],
            "all",
            (1, f"{kind}_pct", "test triples"),
        )
        for kind in TRIPLE_TYPES
    ]
    rows.append((TEST_TRIPLES, lambda audit: audit["triples"], "all", None))
    digits = [inputs.digits(2)] * len(TRIPLE_TYPES) + [0]
    return _table(
        inputs, "Triple types of the test sets.", "Triple type", rows, COUNTING, digits=digits
    )


def split_sizes(inputs: TableInputs) -> Table:
    """Sentences of each split. The augmented protocol is a test set only: its other cells are
    gaps.
    """

    def size(audit: Audit, split: str) -> int | None:
        own = audit["keys"]["protocol"] != AUGMENTED or split == "test"
        return audit["splits"].get(split, {}).get("sentences") if own else None

    rows: list[Quantity] = [
        (
            label,
            partial(size, split=split),
            "all" if split == "test" else "",
            (6, "instances", split),
        )
        for split, label in labels.SPLITS.items()
    ]
    note = "The augmented protocol has a test set only; its extractors are those of the original training set."
    augmented = any(protocol == AUGMENTED for _, protocol in inputs.audits)
    return _table(
        inputs, "Sentences with triples in each split.", "Split", rows, augmented and note
    )


def strata_sizes(inputs: TableInputs) -> Table:
    """Test sentences in each stratum, those of mixed types, and their sum."""

    def count(audit: Audit, name: str) -> int:
        return sum(
            audit["strata"][kind]["count"] for kind in (STRATA if name == "all" else (name,))
        )

    rows: list[Quantity] = [
        (
            labels.TYPES.get(name, "Total"),
            partial(count, name=name),
            name,
            (7, "test instances", VARIANTS[name]),
        )
        for name in (*STRATA, "all")
    ]
    caption = "Test sentences by stratum: all triples of one type, or else others."
    return _table(
        inputs, caption, "Stratum", rows, COUNTING, "Sentences with zero triples are in no stratum."
    )


def cardinality_sizes(inputs: TableInputs) -> Table:
    """Sentences with and without triples in each split of the original protocol, with its WZ
    splits.
    """
    audits = {
        corpus: audit
        for (corpus, protocol), audit in inputs.audits.items()
        if protocol == "original"
    }
    columns = [(corpus, split) for corpus in labels.corpora(audits) for split in labels.SPLITS]

    def cell(name: str, metric: str, corpus: str, split: str) -> Cell:
        # Without a WZ set the splits themselves are what there is.
        sizes = (audits[corpus].get("cardinality") or audits[corpus].get("splits") or {}).get(
            split, {}
        )
        paper = reported.cardinality(2, corpus, PAPER_SPLITS[split], metric)
        zero = ("zero", "wz") if name == "zero_triple_sentences" else ()
        of = about(corpus, "original", *zero) if split == "test" else None
        return Cell(sizes.get(name), 0, reported=paper, of=of)

    return inputs.table(
        "Sentences with triples and with zero triples in each split.",
        [Column(labels.SPLITS[split], labels.corpus(corpus)) for corpus, split in columns],
        [
            Row(label, [cell(name, metric, *column) for column in columns])
            for name, (label, metric) in CARDINALITY_ROWS.items()
        ],
        ("", ""),
        "A triple counts once in each sentence that holds it.",
        not reported.CARDINALITY_DATASETS.keys().isdisjoint(audits)
        and "The paper counts the triples of the NYT24* validation set with, and of its test set without, repetitions "
        "inside a sentence.",
        REPORTED,
        GAPS,
    )


def _table(
    inputs: TableInputs,
    caption: str,
    head: str,
    rows: list[Quantity],
    *notes: str | bool,
    digits: Sequence[int] = (0, 0, 0, 0, 0),
) -> Table:
    """Return a table with a column for each audit, in the papers' order."""
    audits = [
        (corpus, protocol)
        for corpus in labels.corpora(corpus for corpus, _ in inputs.audits)
        for protocol in labels.ordered(
            (p for c, p in inputs.audits if c == corpus), labels.protocol_order()
        )
    ]

    def cell(audit: tuple[str, str], row: Quantity, shown: int) -> Cell:
        _, value, stratum, paper = row
        printed = paper and reported.rte(paper[0], *audit, paper[1], variant=paper[2])
        of = about(*audit, stratum) if stratum else None
        return Cell(value(inputs.audits[audit]), shown, reported=printed, of=of)

    found = [
        Row(row[0], [cell(audit, row, shown) for audit in audits])
        for row, shown in zip(rows, digits, strict=False)
    ]
    columns = [
        Column(labels.protocol(protocol), labels.corpus(corpus)) for corpus, protocol in audits
    ]
    return inputs.table(caption, columns, found, (head, ""), *notes, REPORTED, GAPS)


def augmented_example(inputs: TableInputs) -> Table:
    """Build from the audits of augmented sets: a test sentence and its variants, with triples
    and their types.
    """
    rows = []
    for (corpus, protocol), audit in inputs.audits.items():
        for shown in audit.get("example", ()) if protocol == AUGMENTED else ():
            triples = "; ".join(
                f"({', '.join(parts)}): {labels.TYPES[kind].lower()}"
                for *parts, kind in shown["triples"]
            )
            cells = (Cell(text=shown["text"]), Cell(text=triples))
            rows.append(Row(shown["name"] or ORIGINAL, cells, labels.corpus(corpus)))
    return inputs.table(
        "A test sentence and its augmented variants.",
        ["Sentence", "Gold triples"],
        rows,
        ("Variant", "Corpus"),
        "The first test sentence whose variants all differ from it and from one another.",
        "In ss, su, us and uu the first letter is that of subjects, the second of objects: seen (s) or unseen (u) "
        "in training. The types are those of whole triples.",
    )


about_data = partial(TableSpec, needs="audits", possible=lambda study: bool(study.corpora))
TRIPLE_TYPES_TABLE = about_data(
    name="triple-types",
    order=30,
    build=triple_types,
    question="How much of each test set was already in its training set?",
)
SPLIT_SIZES = about_data(
    name="split-sizes",
    order=31,
    build=split_sizes,
    question="How large are the training, validation and test sets of each protocol?",
)
STRATA_SIZES = about_data(
    name="strata-sizes",
    order=32,
    build=strata_sizes,
    question="How many test sentences does each kind of triple rest on?",
)
CARDINALITY_SIZES = about_data(
    name="cardinality-sizes",
    order=33,
    build=cardinality_sizes,
    possible=lambda study: bool(study.corpora) and "wz" in study.settings,
    question="How many sentences have no triple at all?",
)
AUGMENTED_EXAMPLE = about_data(
    name="augmented-example",
    order=34,
    build=augmented_example,
    possible=lambda study: bool(study.corpora) and AUGMENTED in study.protocols,
    question="What does a test sentence look like where its names are replaced?",
    overview=None,
)
