"""``leakage``: overlap of the splits of a corpus, and changes that reading made."""

import statistics
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.scores import RUN_KEYS
from tripleaudit.scoring.units import design_effect
from tripleaudit.tables import labels
from tripleaudit.tables.audit_table import sort_audits
from tripleaudit.tables.cells import GAPS, Cell, Table, of_frame
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec

BETWEEN = "{} \u2192 {}"
TO_TEST = BETWEEN.format(labels.SPLITS["train"], labels.SPLITS["test"])
KINDS = {"equal": "Equal", "normalised": "Case, punctuation", "near": "Near"}
NOTE = (
    "Sentences of the second split that the first one has, letter by letter, up to case and punctuation, or with at "
    "least 80 % of their words; each counts once. Triples and entities: the share of different ones that the first has."
)
DEPENDENCE_NOTE = (
    "Groups: of test sentences that share a gold triple, directly or through other sentences. Design effect: the "
    "variance of F1 where whole groups are drawn, divided by that where single sentences are (median over the study's "
    "systems). Above 1, intervals over sentences are too narrow by its square root; `scoring: {unit: shared-triple}` "
    "draws groups."
)


COLUMNS = (
    *(("Sentences", label) for label in KINDS.values()),
    ("Sentences", "Share (%)"),
    ("", "Triples (%)"),
    ("", "Entities (%)"),
    ("", "Groups"),
    ("", "Design effect"),
)


def leakage(study: TableInputs) -> Table:
    """Build from the audits of all protocols; warn of test sentences that are in training."""
    import pandas as pd

    index, rows, warnings, remarks = [], [], [], []
    for corpus, protocol in sort_audits(study.audits):
        audit = study.audits[corpus, protocol]
        test_set = f"{labels.corpus(corpus)}, {labels.protocol(protocol)}"
        for shared in audit.get("leakage", ()):
            splits = BETWEEN.format(labels.SPLITS[shared["from"]], labels.SPLITS[shared["into"]])
            cells = shared_cells(shared, study.digits(1))
            if splits == TO_TEST:
                cells += _dependence(study, corpus, protocol)
                warnings += leakage_warnings(shared, audit, test_set)
            else:
                cells += [Cell(), Cell()]
            index.append((test_set, splits))
            rows.append(cells)
        remarks += [f"{labels.corpus(corpus)}, {text}." for text in audit.get("remarks", ())]
    frame = pd.DataFrame(
        rows,
        index=pd.MultiIndex.from_tuples(index, names=["Sets", "Splits"]),
        columns=pd.MultiIndex.from_tuples(COLUMNS),
    )
    caption = "What splits share, and what was left out or changed when they were read."
    table = of_frame(frame, caption, [NOTE, DEPENDENCE_NOTE, GAPS, *remarks])
    return replace(table, warnings=(*warnings, *remarks))


def shared_cells(shared: Mapping[str, Any], digits: int) -> list[Cell]:
    """Return the cells on what two splits share: sentences, triples and entities.

    Args:
        shared: of :mod:`tripleaudit.protocols.leakage`, with shares as fractions.
        digits: decimals of percentages.
    """
    sentences = shared["sentences"]
    shares = (sentences["share"], shared["triples"]["share"], shared["entities"]["share"])
    counts = [Cell(sentences[kind], 0) for kind in KINDS]
    return counts + [Cell(100 * share, digits) for share in shares]


def leakage_warnings(
    shared: Mapping[str, Any], audit: Mapping[str, Any], test_set: str
) -> list[str]:
    """Return a warning of test sentences that are in training, none where there are none."""
    same = shared["sentences"]["equal"] + shared["sentences"]["normalised"]
    if not same:
        return []
    size = audit["splits"][shared["into"]]["sentences"]
    example = next(pair for pair in shared["examples"] if pair["kind"] != "near")
    return [
        f"{same} of {size} test sentences of {test_set} are in training, up to case and punctuation, such "
        f"as {example['test']}: {example['test_text'][:80]!r}. Scores on them say what is remembered."
    ]


def _dependence(inputs: TableInputs, corpus: str, protocol: str) -> tuple[Cell, Cell]:
    """Return the number of groups of test sentences with shared triples, and the design effect."""
    groups = inputs.audits[corpus, protocol].get("groups")
    test_set = {"corpus": corpus, "protocol": protocol, "training": "nz", "testing": "nz"}
    known = []
    for run_id, by_seed in inputs.frames.counts.items():
        run = dict(zip(RUN_KEYS, run_id, strict=True))
        if not test_set.items() <= run.items() or run["extractor"] in BASELINES:
            continue
        for counts in by_seed.values():
            if inputs.matching not in counts.counts:
                continue
            effect = design_effect(counts.of(inputs.matching), counts.groups or counts.ids)
            if effect is not None:
                known.append(effect)
    return Cell(groups, 0), Cell(statistics.median(known) if known else None, 2)


LEAKAGE = TableSpec(
    name="leakage",
    order=35,
    build=leakage,
    needs="audits",
    possible=lambda study: bool(study.corpora),
    question="What do the splits share, and was anything left out when they were read?",
    overview=None,
)
