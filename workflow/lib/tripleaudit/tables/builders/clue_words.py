"""``clue-words``: words with the largest weight in classifiers (zero-cardinality, table 1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tripleaudit.core.files import read_json
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Table, of_frame
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec

if TYPE_CHECKING:
    import pandas as pd

SIDES = {"passed": "accepted", "rejected": "rejected"}
WORD_KEYS = ("corpus", "classifier", "side", "word")
COUNTS = ("sentences", "positive", "named")
TOP = 10  # words of a group that are shown


def build(study: TableInputs) -> Table:
    """Build from the curves of the classifiers, whose seeds are counted together."""
    import pandas as pd

    words = read_words(study.files.get("curves", []))
    index = []
    rows = []
    for corpus in labels.corpora(words["corpus"]):
        classifiers = words.loc[words["corpus"] == corpus, "classifier"]
        for classifier in labels.ordered(classifiers, labels.cardinality_order()):
            of_classifier = words[(words["corpus"] == corpus) & (words["classifier"] == classifier)]
            for side, label in SIDES.items():
                group = f"{labels.corpus(corpus)}, {labels.extractor(classifier)}: {label}"
                of_side = of_classifier[of_classifier["side"] == side]
                for name, counts, total in _shown_words(of_side):
                    index.append((group, name))
                    rows.append(_cells(counts, total, side, study.digits(1)))
    frame = pd.DataFrame(
        rows,
        index=pd.MultiIndex.from_tuples(index, names=["Classifier", "Word"]),
        columns=["Sentences", "Share (%)", "With triples (%)", "In a name (%)"],
        dtype=object,
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
    caption = "Clue words: the word of a sentence that the classifier's decision depends on most."
    return of_frame(frame, caption, notes)


def read_words(paths: Iterable[Path]) -> pd.DataFrame:
    """Return how often each word decides, by corpus, classifier and side; seeds summed.

    Args:
        paths: curves of classifiers.
    """
    import pandas as pd

    rows = []
    for path in paths:
        curve = read_json(path)
        keys = curve["keys"]
        for side, words in curve["clues"].items():
            for word, counts in words.items():
                rows.append((keys["corpus"], keys["extractor"], side, word, *counts))
    frame = pd.DataFrame(rows, columns=[*WORD_KEYS, *COUNTS])
    return frame.groupby(list(WORD_KEYS), as_index=False)[list(COUNTS)].sum()


def _shown_words(words: pd.DataFrame) -> Iterator[tuple[str, Mapping[str, int], Mapping[str, int]]]:
    """Yield label, counts and total counts of the most frequent words, and of all together."""
    if words.empty:
        return
    total = {name: int(words[name].sum()) for name in COUNTS}
    by_frequency = words.sort_values(["sentences", "word"], ascending=[False, True])
    for row in by_frequency.head(TOP).to_dict("records"):
        yield f"“{row['word']}”", {name: int(row[name]) for name in COUNTS}, total
    yield f"all {len(words)} words", total, total


def _cells(
    counts: Mapping[str, int], total: Mapping[str, int], side: str, digits: int
) -> list[Cell]:
    """Return the cells of a word."""
    size = counts["sentences"]
    share = Cell(100 * size / total["sentences"], digits)
    with_triples = Cell(100 * counts["positive"] / size, digits)
    named = Cell(100 * counts["named"] / size, digits) if side == "passed" else Cell()
    return [Cell(size, 0), share, with_triples, named]


SPEC = TableSpec(
    name="clue-words",
    order=12.5,
    build=build,
    needs="classifiers",
    possible=lambda study: bool(study.classifiers),
    question="On which words does the zero-cardinality classifier depend?",
    overview=None,
)
