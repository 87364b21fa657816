"""The tables about the data sets, from their audits (rte-generalization, tables 1, 6, 7; zero-cardinality, table 2)."""

from collections.abc import Callable, Iterator
from typing import Any

from tripleaudit.descriptors import TableSpec
from tripleaudit.protocols.strata import STRATA
from tripleaudit.protocols.types import TRIPLE_TYPES
from tripleaudit.tables import labels, reported
from tripleaudit.tables.cells import Cell, Column, Row, Table, about, chosen, gaps_note, number, reported_note
from tripleaudit.tables.gates import NOT_MEASURED, several
from tripleaudit.tables.inputs import TableInputs

READS = (
    "data/reported/rte_eval.csv",
    "data/reported/zero_cardinality.csv",
)

COUNTING = (
    "A triple counts once in each sentence that holds it; types compare strings (with case) to the triples of the "
    "protocol's training set."
)
VARIANTS = {
    "entirely_seen": "entirely seen only",
    "partially_seen": "partially seen only",
    "unseen": "unseen only",
    "others": "mixed types",
    "total": "total",
}
CARDINALITY_ROWS = {
    "sentences_with_triples": ("Sentences with triples", "sentences_with_triples"),
    "triples": ("Triples in these sentences", "triples"),
    "zero_triple_sentences": ("Sentences with zero triples", "sentences_without_triples"),
}
TEST_TRIPLES = "Test triples"
PAPER_SPLITS = {"train": "train", "valid": "validation", "test": "test"}
Audit = dict[str, Any]


def triple_types(inputs: TableInputs) -> Table:
    """Percent of test triples by type, and their number."""
    rows = [
        _row(
            inputs,
            f"{labels.TYPES[kind]} (%)",
            lambda audit, kind=kind: 100 * audit["triple_types"][kind]["share"],
            stratum="all",
            paper=(1, f"{kind}_pct", "test triples"),
            digits=inputs.digits(2),
        )
        for kind in TRIPLE_TYPES
    ]
    rows.append(_row(inputs, TEST_TRIPLES, lambda audit: audit["triples"], stratum="all"))
    return _table(inputs, "triple-types", "Triple types of the test sets.", rows, "Triple type", COUNTING)


def split_sizes(inputs: TableInputs) -> Table:
    """Sentences of each split. The augmented protocol is a test set only: its other cells are gaps."""

    def size(audit: Audit, split: str) -> int | None:
        own = audit["keys"]["protocol"] != "augmented" or split == "test"
        return audit["splits"].get(split, {}).get("sentences") if own else None

    rows = [
        _row(
            inputs,
            label,
            lambda audit, split=split: size(audit, split),
            stratum="all" if split == "test" else "",
            paper=(6, "instances", split),
        )
        for split, label in labels.SPLITS.items()
    ]
    note = "The augmented protocol has a test set only; its extractors are those of the original training set."
    augmented = any(protocol == "augmented" for _, protocol in inputs.audits)
    caption = "Sentences with triples in each split."
    return _table(inputs, "split-sizes", caption, rows, "Split", augmented and note)


def strata_sizes(inputs: TableInputs) -> Table:
    """Test sentences in each stratum, those of mixed types, and their sum."""

    def count(audit: Audit, name: str) -> int:
        return sum(audit["strata"][kind]["count"] for kind in (STRATA if name == "total" else (name,)))

    rows = [
        _row(
            inputs,
            labels.TYPES.get(name, "Total"),
            lambda audit, name=name: count(audit, name),
            stratum="all" if name == "total" else name,
            paper=(7, "test instances", VARIANTS[name]),
        )
        for name in (*STRATA, "total")
    ]
    caption = "Test sentences by stratum: all triples of one type, or else others."
    notes = (COUNTING, "Sentences with zero triples are in no stratum.")
    return _table(inputs, "strata-sizes", caption, rows, "Stratum", *notes)


def cardinality_sizes(inputs: TableInputs) -> Table:
    """Sentences with and without triples in each split of the original protocol, with its WZ splits."""
    audits = {corpus: audit for (corpus, protocol), audit in inputs.audits.items() if protocol == "original"}
    columns = [(corpus, split) for corpus in labels.corpora(audits) for split in labels.SPLITS]
    rows = []
    for name, (label, metric) in CARDINALITY_ROWS.items():
        cells = []
        for corpus, split in columns:
            # Without a WZ set the splits themselves are what there is.
            sizes = (audits[corpus].get("cardinality") or audits[corpus].get("splits") or {}).get(split, {})
            paper = reported.cardinality(2, corpus, PAPER_SPLITS[split], metric)
            zero = name == "zero_triple_sentences"
            of = about(corpus, "original", *(("zero", "wz") if zero else ())) if split == "test" else None
            cells.append(Cell(sizes.get(name), 0, reported=paper, of=of))
        rows.append(Row(label, tuple(cells)))
    caption = "Sentences with triples and with zero triples in each split."
    paper = (
        "The paper counts the triples of the NYT24* validation set with, and of its test set without, repetitions "
        "inside a sentence."
    )
    notes = (
        "A triple counts once in each sentence that holds it.",
        not reported.CARDINALITY_DATASETS.keys().isdisjoint(audits) and paper,
    )
    heads = [Column(labels.SPLITS[split], labels.corpus(corpus)) for corpus, split in columns]
    return _table(inputs, "cardinality-sizes", caption, rows, "", *notes, columns=heads)


def _audits(inputs: TableInputs) -> list[tuple[str, str]]:
    """Return ``(corpus, protocol)`` of every audit, in the papers' order: the columns."""
    return [
        (corpus, protocol)
        for corpus in labels.corpora(corpus for corpus, _ in inputs.audits)
        for protocol in labels.ordered((p for c, p in inputs.audits if c == corpus), labels.protocol_order())
    ]


def _row(
    inputs: TableInputs,
    label: str,
    value: Callable[[Audit], float | None],
    *,
    stratum: str,
    paper: tuple[int, str, str] | None = None,
    digits: int = 0,
) -> Row:
    """Return the row of one number of each audit.

    Args:
        inputs, label: of the table and the row.
        value: of an audit.
        stratum: the test sentences that the row is about; empty for other sentences.
        paper: number of the paper's table, metric and variant beside which it stands.
        digits: decimals shown.
    """
    cells = []
    for corpus, protocol in _audits(inputs):
        printed = paper and reported.rte(paper[0], corpus, protocol, paper[1], variant=paper[2])
        of = about(corpus, protocol, stratum) if stratum else None
        cells.append(Cell(value(inputs.audits[corpus, protocol]), digits, reported=printed, of=of))
    return Row(label, tuple(cells))


def _table(
    inputs: TableInputs,
    name: str,
    caption: str,
    rows: list[Row],
    header: str,
    *notes,
    columns: list[Column] | None = None,
) -> Table:
    """Return a table; without columns, those of the audits."""
    heads = [Column(labels.protocol(protocol), labels.corpus(corpus)) for corpus, protocol in _audits(inputs)]
    cells = [cell for row in rows for cell in row.cells]
    every = chosen(*notes, reported_note(cells), gaps_note(cells))
    return Table(name, inputs.caption(caption), heads if columns is None else columns, rows, header, notes=every)


def _originals(table: Table) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each corpus and the values of its original protocol by row, those that were measured."""
    for place, column in enumerate(table.columns):
        if column.label == labels.protocol("original"):
            values = {row.label: row.cells[place].value for row in table.rows}
            yield column.group, {label: value for label, value in values.items() if value is not None}


def _answer(found: list[str], sentence: str) -> str:
    return sentence.format(several(found)) if found else NOT_MEASURED


def answer_types(table: Table, inputs: TableInputs) -> str:
    found = []
    for corpus, values in _originals(table):
        if values.get(TEST_TRIPLES):
            seen, partly, unseen = (f"{number(values[f'{labels.TYPES[kind]} (%)'], 1)} %" for kind in TRIPLE_TYPES)
            found.append(f"{corpus}: {seen} entirely, {partly} partially and {unseen} not at all")
    return _answer(found, "Of the test triples, training has seen — {}.")


def answer_sizes(table: Table, inputs: TableInputs) -> str:
    found = [
        f"{corpus} {' / '.join(f'{size:,}' for size in sizes.values())}" for corpus, sizes in _originals(table) if sizes
    ]
    others = len({column.label for column in table.columns} - {labels.protocol("original")})
    further = "one further protocol" if others == 1 else f"{others} further protocols"
    more = f"; the table adds the sizes after {further}" if others else ""
    sentence = "The original splits have (sentences with triples for training / validation / test): {}"
    return _answer(found, f"{sentence}{more}.")


def answer_strata(table: Table, inputs: TableInputs) -> str:
    seen, unseen = labels.TYPES["entirely_seen"], labels.TYPES["unseen"]
    found = [
        f"{corpus} {sizes[seen]:,} sentences whose triples are all entirely seen and {sizes[unseen]:,} whose triples "
        "are all unseen"
        for corpus, sizes in _originals(table)
        if unseen in sizes
    ]
    return _answer(found, "Type F1 rests, in the original test sets, on — {}.")


def answer_cardinality(table: Table, inputs: TableInputs) -> str:
    found = []
    for corpus in dict.fromkeys(column.group for column in table.columns):
        some, _, zero = (
            table.cell(label, labels.SPLITS["test"], column_group=corpus).value or 0
            for label, _ in CARDINALITY_ROWS.values()
        )
        if some + zero:
            found.append(f"{corpus} {number(100 * zero / (some + zero), 1)} % ({zero:,} of {some + zero:,})")
    return _answer(found, "Of the test sentences, these have nothing to extract: {}.")


AUGMENTED, ORIGINAL = "augmented", "Original"


def augmented_example(inputs: TableInputs) -> Table:
    """Build from the audits of augmented sets: a test sentence and its variants, with triples and their types."""
    rows = []
    for (corpus, protocol), audit in inputs.audits.items():
        for shown in audit.get("example", ()) if protocol == AUGMENTED else ():
            triples = "; ".join(
                f"({', '.join(parts)}): {labels.TYPES[kind].lower()}" for *parts, kind in shown["triples"]
            )
            cells = (Cell(text=shown["text"]), Cell(text=triples))
            rows.append(Row(shown["name"] or ORIGINAL, cells, labels.corpus(corpus)))
    return Table(
        "augmented-example",
        inputs.caption("A test sentence and its augmented variants."),
        [Column("Sentence"), Column("Gold triples")],
        rows,
        row_header="Variant",
        group_header="Corpus",
        notes=(
            "The first test sentence whose variants all differ from it and from one another.",
            "In ss, su, us and uu the first letter is that of subjects, the second of objects: seen (s) or unseen (u) "
            "in training. The types are those of whole triples.",
        ),
    )


def answer_example(table: Table, inputs: TableInputs) -> str:
    if not table.rows:
        return "No sentence has variants that all differ." if inputs.audits else NOT_MEASURED
    sides = [[row.cells[1].text or "" for row in table.rows if (row.label == ORIGINAL) is own] for own in (True, False)]
    kind = labels.TYPES["entirely_seen"].lower()
    seen, among = (f"{each.count(f'): {kind}')} of the {each.count('): ')} triples" for each in map(" ".join, sides))
    return f"Training has entirely seen {seen} of the sentence, and {among} of its variants."


TRIPLE_TYPES_TABLE = TableSpec(
    name="triple-types",
    order=30,
    build=triple_types,
    needs="audits",
    possible=lambda study: bool(study.corpora),
    question="How much of each test set was already in its training set?",
    answer=answer_types,
)
SPLIT_SIZES = TableSpec(
    name="split-sizes",
    order=31,
    build=split_sizes,
    needs="audits",
    possible=lambda study: bool(study.corpora),
    question="How large are the training, validation and test sets of each protocol?",
    answer=answer_sizes,
)
STRATA_SIZES = TableSpec(
    name="strata-sizes",
    order=32,
    build=strata_sizes,
    needs="audits",
    possible=lambda study: bool(study.corpora),
    question="How many test sentences does each kind of triple rest on?",
    answer=answer_strata,
)
CARDINALITY_SIZES = TableSpec(
    name="cardinality-sizes",
    order=33,
    build=cardinality_sizes,
    needs="audits",
    possible=lambda study: bool(study.corpora) and "wz" in study.settings,
    question="How many sentences have no triple at all?",
    answer=answer_cardinality,
)
AUGMENTED_EXAMPLE = TableSpec(
    name="augmented-example",
    order=34,
    build=augmented_example,
    needs="audits",
    possible=lambda study: bool(study.corpora) and AUGMENTED in study.protocols,
    question="What does a test sentence look like where its names are replaced?",
    answer=answer_example,
    glance=None,
)
