"""``contamination``: what a system loses when names in the sentences that it is tested on are replaced.

The ids of augmented sentences say whose variants they are. The difference of F1 is taken over these pairs: a sentence
is drawn, or exchanged, with all its variants.
"""

from collections.abc import Iterator

import numpy as np

from tripleaudit.descriptors import TableSpec
from tripleaudit.protocols.variants import variants_of
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.difference import between, grouped_variants
from tripleaudit.scoring.significance import holm
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Row, Table
from tripleaudit.tables.gates import NOT_MEASURED, doubt_of_training, sentences
from tripleaudit.tables.grid import ScoreRow, extracts, row_notes
from tripleaudit.tables.inputs import UNEQUAL, RunKey, TableInputs

REARRANGED = "rearranged"
DIFFERENCE = "Difference"


def pairs(inputs: TableInputs) -> Iterator[tuple[RunKey, np.ndarray, np.ndarray]]:
    """Yield each run on the original test set with its counts ``[sentences, runs, 3]`` there, as often as a sentence
    has variants, and those on its augmented variants together; a sentence without a variant is left out.

    Raises:
        UserError: an augmented sentence is of no test sentence.
    """
    for run in inputs.scores.runs:
        alone = extracts(run.extractor) and run.extractor not in inputs.scores.partial
        if run[1:4] != ("original", "nz", "nz") or run.noise != "none" or not alone:
            continue
        first, second = (inputs.scores.stacked(one, inputs.matching) for one in (run, _augmented(run)))
        if first is None or second is None or first.shape[1:] != second.shape[1:]:
            continue
        ids, others = inputs.scores.ids(run), inputs.scores.ids(_augmented(run))
        variants_of(ids, others, run.corpus)  # refuses what is none
        if both := grouped_variants(first, second, ids, others):
            yield run, *both


def contamination(inputs: TableInputs) -> Table:
    """Build from per-sentence counts on the original and the augmented test set."""
    found = {run: between(second, first, shared=True) for run, first, second in pairs(inputs)}
    corrected = dict(zip(found, holm([test.p or 0.0 for test in found.values()]), strict=True))
    order = labels.ordered({run.extractor for run in found}, labels.rte_order())
    runs = sorted(found, key=lambda run: (run.corpus, order.index(run.extractor)))
    rows, again = [], any(_rearranged(inputs, run) for run in runs)
    for run in runs:
        test = found[run]
        f1 = [inputs.scores.cell(one, "f1", matching=inputs.matching) for one in (run, _augmented(run))]
        # one training on two test sets: its budget is the same
        mark = "".join(dict.fromkeys((f1[0].mark + f1[1].mark).replace(UNEQUAL, "")))
        interval = (test.bounds or {}).get("f1")
        change = Cell.mean([test.change()], interval, mark=mark, cases=test.sentences, of=f1[0].of)
        cells = [*f1, change, Cell(corrected[run], 4, mark=mark, of=f1[0].of)]
        rows.append(Row(labels.extractor(run.extractor), cells, labels.corpus(run.corpus)))
        if again:
            cells.append(_rearranged(inputs, run) or Cell())
    first = {run.corpus: run for run in runs}.values()
    missing = sum(len(inputs.scores.ids(run)) - found[run].sentences for run in first)
    return inputs.table(
        "F1 (%) on original test sentences and on the same sentences with other names.",
        ["Original", "Augmented", DIFFERENCE, "p", *["Rearranged"] * again],
        rows,
        ("System", "Corpus"),
        "Difference: original minus augmented in percentage points, with the 95 % bootstrap interval over "
        "original test sentences, each drawn with all its variants. p: of the paired randomisation test, "
        "Holm-corrected over the rows.",
        "A system that has memorised the triples of the benchmark, from its training set or from pretraining, "
        "loses where names are replaced; so does one that finds the new sentences stranger. The difference alone "
        "does not distinguish the two (docs/methods.md): compare it with the memorising baseline, which knows "
        "nothing else, and between systems.",
        again
        and "Rearranged: F1 of systems without training on the rearranged test set, most of whose sentences "
        "come from the benchmark's training set; these are other sentences, so there is no pair.",
        missing > 0 and f"Difference: of the {missing} test sentences without a variant nothing is in it.",
        GAPS,
        *row_notes(inputs, [ScoreRow("", run, inputs.matching) for run in runs], "original", "augmented"),
    )


def _augmented(run: RunKey) -> RunKey:
    return run._replace(protocol="augmented")


def _rearranged(inputs: TableInputs, run: RunKey) -> Cell | None:
    if run.extractor not in inputs.untrained:
        return None
    cell = inputs.scores.cell(run._replace(protocol=REARRANGED), "f1", matching=inputs.matching)
    return cell if cell.value is not None else None


def answer_contamination(table: Table, inputs: TableInputs) -> str:
    cells = table.find(DIFFERENCE)
    found = [cell for cell in cells if cell.of["extractor"] not in BASELINES]
    if not found:
        return NOT_MEASURED
    tested = [inputs.scores.between(cell.of, {**cell.of, "protocol": "augmented"}) for cell in found]
    lost = [cell for cell, test in zip(found, tested, strict=True) if test is None or (test.shown and cell.value > 0)]
    worst = max(lost or found, key=lambda cell: cell.value)
    name, loss = labels.extractor(worst.of["extractor"]), worst.shown
    if not lost:
        most = f"{name}'s, {loss} points {worst.interval}".rstrip()
        return sentences(f"With names replaced, no loss is shown: the greatest is {most}.", doubt_of_training(found))
    most = " most" * (len(lost) > 1)
    stated = f"With names replaced, {name} loses{most}: {loss} points of F1 {worst.interval}".rstrip() + "."
    known = [
        f"The memorising baseline loses {cell.shown} points." for cell in cells if cell.of["extractor"] == "memorise"
    ]
    return sentences(stated, doubt_of_training(found), *known[:1])


CONTAMINATION = TableSpec(
    name="contamination",
    order=4,
    build=contamination,
    possible=lambda study: study.compared and "augmented" in study.protocols,
    question="Has a system memorised the benchmark's triples?",
    answer=answer_contamination,
)
