"""``clue-words``: words with the largest weight in classifiers (zero-cardinality, table 1)."""

from collections import Counter

from tripleaudit.core.files import read_json
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Row, Table
from tripleaudit.tables.frame_table import frame_of_rows, of_frame
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec

SIDES = {"passed": "accepted", "rejected": "rejected"}
TOP = 10  # words of a group that are shown


def build(inputs: TableInputs) -> Table:
    """Build from the curves of the classifiers, whose seeds are counted together."""
    counted: dict[tuple[str, str, str], dict[str, Counter]] = {}
    for path in inputs.files.get("curves", []):
        curve = read_json(path)
        for side, words in curve["clues"].items():
            found = counted.setdefault(
                (curve["keys"]["corpus"], curve["keys"]["extractor"], side), {}
            )
            for word, (number_of, positive, named) in words.items():
                counts = found.setdefault(word, Counter())
                counts.update(sentences=number_of, positive=positive, named=named)
    rows = []
    for corpus in labels.corpora(corpus for corpus, _, _ in counted):
        for classifier in labels.ordered(
            (one for own, one, _ in counted if own == corpus), labels.cardinality_order()
        ):
            for side, word in SIDES.items():
                found = counted.get((corpus, classifier, side), {})
                group = f"{labels.corpus(corpus)}, {labels.extractor(classifier)}: {word}"
                total = sum(found.values(), Counter())
                top = sorted(found.items(), key=lambda item: (-item[1]["sentences"], item[0]))[:TOP]
                rows += [
                    _row(inputs, f"“{one}”", counts, total, side, group) for one, counts in top
                ]
                if total:
                    rows.append(_row(inputs, f"all {len(found)} words", total, total, side, group))
    frame = frame_of_rows(
        rows,
        ["Sentences", "Share (%)", "With triples (%)", "In a name (%)"],
        ("Word", "Classifier"),
    )
    notes = [
        "The word of a sentence whose masking moves the classifier's log odds most, in at most 500 sentences of a "
        "test set, seeds together; the most frequent ones. Accepted: masking the word lowers the odds "
        "of a sentence that passes the classifier; rejected: it raises those of another. With triples: of "
        "these sentences, those that have triples in the gold data. In a name: those where the word is part of a "
        "gold entity; of rejected sentences it is not counted. What a classifier depends on is not yet what states "
        "a relation.",
        GAPS,
    ]
    return of_frame(
        frame,
        "Clue words: the word of a sentence that the classifier's decision depends on most.",
        notes,
    )


def _row(
    inputs: TableInputs, label: str, counts: Counter, total: Counter, side: str, group: str
) -> Row:
    size, digits = counts["sentences"], inputs.digits(1)
    share = Cell(100 * size / total["sentences"], digits)
    named = Cell(100 * counts["named"] / size, digits) if side == "passed" else Cell()
    return Row(
        label, (Cell(size, 0), share, Cell(100 * counts["positive"] / size, digits), named), group
    )


SPEC = TableSpec(
    name="clue-words",
    order=12.5,
    build=build,
    needs="classifiers",
    possible=lambda study: bool(study.classifiers),
    question="On which words does the zero-cardinality classifier depend?",
    overview=None,
)
