"""``completion``: what language models name of the hidden half of test sentences, and of the same with other names."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tripleaudit.descriptors import TableSpec
from tripleaudit.scoring.bootstrap import difference_intervals, intervals
from tripleaudit.scoring.significance import holm, randomisation_test
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Column, Row, Table, number
from tripleaudit.tables.gates import FEW, NOT_MEASURED
from tripleaudit.tables.inputs import TableInputs

SHARE = "recall"  # of counts (right, queried, queried)
EMITTED, KNOWN = "Emitted", "Training set"
COLUMNS = (
    *(Column("Sentences"), Column("Triples")),
    *(Column(label, EMITTED) for label in ("Original", "Augmented", "Difference", "p")),
    *(Column(label, KNOWN) for label in ("Original", "Augmented")),
)


def counts_of(facts: Mapping[str, Any], kind: str) -> np.ndarray:
    """Return counts ``[2, sentences, 3]`` of triples right, queried and queried: originals, then variants.

    A triple counts as often as it has a variant on both sides (:mod:`tripleaudit.systems.completion`).

    Args:
        facts: of one language model on one corpus.
        kind: ``emitted`` or ``known``.
    """
    rows = []
    for row in facts["rows"]:
        own = {each["number"]: each[kind] for each in row["triples"]}
        pairs = [(own[each["number"]], each[kind]) for variant in row["variants"] for each in variant["triples"]]
        rows.append([[sum(pair[side] for pair in pairs), len(pairs), len(pairs)] for side in (0, 1)])
    return np.array(rows).reshape(-1, 2, 3).transpose(1, 0, 2)


def _share(counts: np.ndarray) -> list[float]:
    """Return the share of triples that are right, nothing where none was queried."""
    right, queried, _ = counts.sum(axis=0)
    return [float(right / queried)] if queried else []


def _cell(counts: np.ndarray) -> Cell:
    return Cell.mean(_share(counts), (intervals(counts) or {}).get(SHARE), cases=len(counts))


def completion(inputs: TableInputs) -> Table:
    """Build from the outcomes of the completion probe."""
    probed = [(fact["keys"], fact["completion"]) for fact in inputs.runs if "completion" in fact and not fact["failed"]]
    emitted = [counts_of(facts, "emitted") for _, facts in probed]
    triples = [sum(len(row["triples"]) for row in facts["rows"]) for _, facts in probed]
    tests = [randomisation_test(*of, metric=SHARE) if any_ else 1.0 for of, any_ in zip(emitted, triples, strict=True)]
    rows = []
    for (keys, facts), of, queried, p in zip(probed, emitted, triples, holm(tests), strict=True):
        change = [first - second for first, second in zip(*map(_share, of), strict=True)]
        bound = (difference_intervals(of[1], of[0]) or {}).get(SHARE)
        gain = Cell.mean(change, bound, cases=len(facts["rows"])) if change else Cell()
        cells = [Cell(len(facts["rows"]), 0), Cell(queried, 0), *map(_cell, of), gain]
        cells += [Cell(p if queried else None, 4), *map(_cell, counts_of(facts, "known"))]
        rows.append(Row(labels.extractor(keys["extractor"]), cells, labels.corpus(keys["corpus"])))
    return inputs.table(
        "Triples (%) that a language model names when the half with one of their entities is hidden.",
        COLUMNS,
        rows,
        ("System", "Corpus"),
        "A system is shown the first half of a sentence and the relations of the corpus. Of a triple that counts, "
        "one entity is shown and the name of the other is not; it is emitted if all three strings are right.",
        "Augmented: the same triples of the same sentences with other names, each as often as it has a variant in "
        "which both names are others and one is hidden, too. Nobody has memorised these, so the difference is the "
        "evidence, in percentage points with the 95 % bootstrap interval over sentences; p: of the paired "
        "randomisation test, Holm-corrected over the rows.",
        f"{KNOWN}: the same triples completed by what most training sentences have with the shown entity and "
        "the gold relation.",
        *(_left_out(*each) for each in probed),
        *_failed(inputs),
        GAPS,
    )


def _left_out(keys: Mapping[str, str], facts: Mapping[str, Any]) -> str:
    why = ", ".join(f"{count} {reason}" for reason, count in facts["why"].items() if count)
    queried = len(facts["rows"])
    rest = f"; of the others it was queried about {queried}" * (queried < facts["of"] - facts["left_out"])
    left = f"{facts['left_out']} of {facts['of']} test sentences are left out, which have no triple to ask for"
    who = f"{labels.extractor(keys['extractor'])} ({labels.corpus(keys['corpus'])})"
    return f"{who}: {left}{f' (triples: {why})' * bool(why)}{rest}."


def _failed(inputs: TableInputs) -> Iterable[str]:
    for fact in inputs.runs:
        if "completion" in fact and fact["failed"]:
            yield f"{fact['keys']['extractor']} ({labels.corpus(fact['keys']['corpus'])}) has no row: {fact['failed']}."


def answer_completion(table: Table, inputs: TableInputs) -> str:
    rows = [row for row in table.rows if row.cells[1].value]
    if not rows:
        return NOT_MEASURED
    row = max(rows, key=lambda row: row.cells[4].value or 0)
    name, (sizes, _, *shares, gap, _, looked_up, _) = row.label, row.cells
    original, variants, looked = (number(cell.value, 1) for cell in (*shares, looked_up))
    stated = (
        f"Of triples with one name hidden, {name} completes {original} %, and {variants} % where names are replaced; a "
        f"lookup of the training set completes {looked} %."
    )
    if sizes.value < FEW:
        return f"{stated} The sentences are {sizes.value}; a conclusion takes {FEW}."
    if gap.low is not None and gap.low > 0:
        return (
            f"{stated} It knows names of the benchmark that the shown half does not give, memorised or from elsewhere."
        )
    return f"{stated} Nothing shows that it knows the hidden half; that it does not know it is not shown either."


COMPLETION = TableSpec(
    name="completion",
    order=4.2,
    build=completion,
    needs="completion",
    possible=lambda study: bool(study.systems.probe.runs),
    question="Does a language model name what stands in the half of a test sentence that it is not shown?",
    answer=answer_completion,
    overview=None,
)
