"""``completion``: what language models name of the hidden half of test sentences, beside the same with other names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
LABELS = {"emitted": "Emitted", "known": "Training set"}


@dataclass(frozen=True)
class Probe:
    """The outcome of one language model on one corpus (:mod:`tripleaudit.systems.completion`).

    Attributes:
        keys: of the row.
        facts: counts, and what it took.
        counts: ``emitted`` or ``known`` -> counts ``[2, sentences, 3]`` of triples right, queried and queried, of
            the originals and of their variants: a triple counts as often as it has a variant on both sides.
        triples: distinct ones that were queried.
    """

    keys: Mapping[str, str]
    facts: Mapping[str, Any]
    counts: Mapping[str, np.ndarray]
    triples: int

    @property
    def name(self) -> str:
        return labels.extractor(self.keys["extractor"])

    @property
    def sentences(self) -> int:
        return len(self.facts["rows"])

    def share(self, kind: str, side: int) -> float | None:
        """Return the share as a fraction, None where nothing was queried."""
        right, queried, _ = self.counts[kind][side].sum(axis=0)
        return float(right / queried) if queried else None

    def difference(self, kind: str) -> Cell:
        """Return the share of originals minus that of variants in points, with its interval over sentences."""
        original, variants = (self.share(kind, side) for side in (0, 1))
        if original is None or variants is None:
            return Cell()
        bound = (difference_intervals(self.counts[kind][1], self.counts[kind][0]) or {}).get(SHARE)
        return Cell.mean([original - variants], bound, cases=self.sentences)


def probes(inputs: TableInputs) -> list[Probe]:
    """Return what was probed and did not fail, in the order of the study."""
    found = [fact for fact in inputs.runs if "completion" in fact and not fact["failed"]]
    return [_probe(fact["keys"], fact["completion"]) for fact in found]


def _probe(keys: Mapping[str, str], facts: Mapping[str, Any]) -> Probe:
    counts = {kind: np.array([_pairs(row, kind) for row in facts["rows"]]).reshape(-1, 2, 3) for kind in LABELS}
    triples = sum(len(row["triples"]) for row in facts["rows"])
    return Probe(keys, facts, {kind: rows.transpose(1, 0, 2) for kind, rows in counts.items()}, triples)


def _pairs(row: Mapping[str, Any], kind: str) -> list[list[int]]:
    """Return the counts of a sentence and of its variants, over the triples that both have hidden."""
    own = {each["number"]: each[kind] for each in row["triples"]}
    pairs = [(own[each["number"]], each[kind]) for variant in row["variants"] for each in variant["triples"]]
    return [[sum(pair[side] for pair in pairs), len(pairs), len(pairs)] for side in (0, 1)]


def completion(inputs: TableInputs) -> Table:
    """Build from the outcomes of the completion probe."""
    found = probes(inputs)
    tests = [randomisation_test(*probe.counts["emitted"], metric=SHARE) if probe.triples else 1.0 for probe in found]
    rows = []
    for probe, p in zip(found, holm(tests), strict=True):
        cells = [Cell(probe.sentences, 0), Cell(probe.triples, 0)]
        for kind in LABELS:
            for side in (0, 1):
                share = probe.share(kind, side)
                bound = (intervals(probe.counts[kind][side]) or {}).get(SHARE)
                cells.append(Cell.mean([] if share is None else [share], bound, cases=probe.sentences))
            if kind == "emitted":
                cells += [probe.difference(kind), Cell(p if probe.triples else None, 4)]
        rows.append(Row(probe.name, cells, labels.corpus(probe.keys["corpus"])))
    emitted, known = LABELS.values()
    columns = [Column("Sentences"), Column("Triples")]
    columns += [Column(label, emitted) for label in ("Original", "Augmented", "Difference", "p")]
    columns += [Column(label, known) for label in ("Original", "Augmented")]
    return inputs.table(
        "Triples (%) that a language model names when the half with one of their entities is hidden.",
        columns,
        rows,
        ("System", "Corpus"),
        "A system is shown the first half of a sentence and the relations of the corpus. Of a triple that counts, "
        "one entity is shown and the name of the other is not; it is emitted if all three strings are right.",
        "Augmented: the same triples of the same sentences with other names, each as often as it has a variant in "
        "which both names are others and one is hidden, too. Nobody has memorised these, so the difference is the "
        "evidence, in percentage points with the 95 % bootstrap interval over sentences; p: of the paired "
        "randomisation test, Holm-corrected over the rows.",
        f"{known}: the same triples completed by what most training sentences have beside the shown entity and "
        "the gold relation.",
        *(_left_out(probe) for probe in found),
        *_failed(inputs),
        GAPS,
    )


def _left_out(probe: Probe) -> str:
    why = ", ".join(f"{count} {reason}" for reason, count in probe.facts["why"].items() if count)
    some = probe.sentences < probe.facts["of"] - probe.facts["left_out"]
    return (
        f"{probe.name} ({labels.corpus(probe.keys['corpus'])}): {probe.facts['left_out']} of {probe.facts['of']} test "
        f"sentences are left out, which have no triple to ask for" + (f" (triples: {why})" if why else "")
        + (f"; of the others it was queried about {probe.sentences}." if some else ".")
    )  # fmt: skip


def _failed(inputs: TableInputs) -> Iterable[str]:
    for fact in inputs.runs:
        if "completion" in fact and fact["failed"]:
            yield f"{fact['keys']['extractor']} ({labels.corpus(fact['keys']['corpus'])}) has no row: {fact['failed']}."


def answer_completion(table: Table, inputs: TableInputs) -> str:
    emitted, known = LABELS.values()
    rows = [(row.label, dict(zip(table.columns, row.cells, strict=True))) for row in table.rows]
    rows = [(name, cells) for name, cells in rows if cells[Column("Triples")].value]
    if not rows:
        return NOT_MEASURED
    name, cells = max(rows, key=lambda row: row[1][Column("Difference", emitted)].value or 0)
    shares = (
        cells[column]
        for column in (Column("Original", emitted), Column("Augmented", emitted), Column("Original", known))
    )
    original, variants, looked_up = (number(cell.value, 1) for cell in shares)
    sizes, gap = cells[Column("Sentences")].value, cells[Column("Difference", emitted)]
    stated = (
        f"Of triples with one name hidden, {name} completes {original} %, and {variants} % where names are replaced; a "
        f"lookup of the training set completes {looked_up} %."
    )
    if sizes < FEW:
        return f"{stated} The sentences are {sizes}; a conclusion takes {FEW}."
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
    glance=None,
)
