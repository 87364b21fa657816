"""``leakage``: what the splits of a corpus share, and what was left out or changed when they
were read.
"""

import statistics

from tripleaudit.core.descriptors import TableSpec
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.units import design_effect
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Column, Row, Table
from tripleaudit.tables.inputs import TableInputs

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


def leakage(inputs: TableInputs) -> Table:
    """Build from the audits of all protocols; warn of test sentences that are in training."""
    rows, warnings, remarks = [], [], []
    for corpus in labels.corpora(corpus for corpus, _ in inputs.audits):
        for protocol in labels.ordered(
            (p for c, p in inputs.audits if c == corpus), labels.protocol_order()
        ):
            audit = inputs.audits[corpus, protocol]
            where = f"{labels.corpus(corpus)}, {labels.protocol(protocol)}"
            for shared in audit.get("leakage", ()):
                found, size = shared["sentences"], audit["splits"][shared["into"]]["sentences"]
                cells = [Cell(found[kind], 0) for kind in KINDS]
                cells += [
                    Cell(100 * shared[part]["share"], inputs.digits(1))
                    for part in ("triples", "entities")
                ]
                label = BETWEEN.format(labels.SPLITS[shared["from"]], labels.SPLITS[shared["into"]])
                cells.insert(3, Cell(100 * found["share"], inputs.digits(1)))
                cells += (
                    _dependence(inputs, corpus, protocol) if label == TO_TEST else (Cell(), Cell())
                )
                rows.append(Row(label, cells, where))
                same = found["equal"] + found["normalised"]
                if label == TO_TEST and same:
                    example = next(one for one in shared["examples"] if one["kind"] != "near")
                    warnings.append(
                        f"{same} of {size} test sentences of {where} are in training, up to case and punctuation, such "
                        f"as {example['test']}: {example['test_text'][:80]!r}. Scores on them say what is remembered."
                    )
            remarks += [f"{labels.corpus(corpus)}, {text}." for text in audit.get("remarks", ())]
    heads = [
        *(Column(label, "Sentences") for label in KINDS.values()),
        Column("Share (%)", "Sentences"),
    ]
    return inputs.table(
        "What splits share, and what was left out or changed when they were read.",
        [*heads, "Triples (%)", "Entities (%)", "Groups", "Design effect"],
        rows,
        ("Splits", "Sets"),
        NOTE,
        DEPENDENCE_NOTE,
        GAPS,
        *remarks,
        warnings=(*warnings, *remarks),
    )


def _dependence(inputs: TableInputs, corpus: str, protocol: str) -> tuple[Cell, Cell]:
    """Return the number of groups of test sentences that share gold triples, and the design
    effect of F1.
    """
    groups = inputs.audits[corpus, protocol].get("groups")
    test_set = (corpus, protocol, "nz", "nz")
    systems = [
        run
        for run in inputs.scores.counts
        if run[:4] == test_set and run.extractor not in BASELINES
    ]
    effects = [
        design_effect(counts.of(inputs.matching), counts.groups or counts.ids)
        for run in systems
        for counts in inputs.scores.counts[run].values()
        if inputs.matching in counts.counts
    ]
    known = [effect for effect in effects if effect is not None]
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
