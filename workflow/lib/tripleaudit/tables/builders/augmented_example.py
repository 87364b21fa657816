"""``augmented-example``: a test sentence and its variants (rte-generalization, figure 2)."""

from collections.abc import Iterable

from tripleaudit.tables import labels
from tripleaudit.tables.audit_table import AUGMENTED
from tripleaudit.tables.cells import Table, of_frame
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec

NOTES = (
    "The first test sentence whose variants all differ from it and from one another.",
    "In ss, su, us and uu the first letter is that of subjects, the second of objects: seen (s) or unseen (u) "
    "in training. The types are those of whole triples.",
)


def augmented_example(study: TableInputs) -> Table:
    """A test sentence of each corpus and its variants, with triples and their types."""
    import pandas as pd

    index, texts = [], []
    for (corpus, protocol), audit in study.audits.items():
        if protocol == AUGMENTED:
            for variant in audit.get("example", ()):
                index.append((labels.corpus(corpus), variant["name"] or "Original"))
                texts.append((variant["text"], describe_triples(variant["triples"])))
    rows = pd.MultiIndex.from_tuples(index, names=["Corpus", "Variant"])
    frame = pd.DataFrame(texts, index=rows, columns=["Sentence", "Gold triples"])
    return of_frame(frame, "A test sentence and its augmented variants.", NOTES)


def describe_triples(triples: Iterable[list[str]]) -> str:
    """Return triples and their types in words."""
    described = []
    for subject, relation, object_, kind in triples:
        described.append(f"({subject}, {relation}, {object_}): {labels.TYPES[kind].lower()}")
    return "; ".join(described)


AUGMENTED_EXAMPLE = TableSpec(
    name="augmented-example",
    order=34,
    build=augmented_example,
    needs="audits",
    possible=lambda study: bool(study.corpora) and AUGMENTED in study.protocols,
    question="What does a test sentence look like where its names are replaced?",
    overview=None,
)
