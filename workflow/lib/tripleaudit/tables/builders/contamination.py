"""``contamination``: what a system loses when names in the sentences that it is tested on are
replaced.

The ids of augmented sentences say whose variants they are. The difference of F1 is taken over these
pairs: a sentence is drawn, or exchanged, with all its variants.
"""

from tripleaudit.core.descriptors import TableSpec
from tripleaudit.protocols.variants import variants_of
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.bootstrap import Interval
from tripleaudit.scoring.difference import Difference
from tripleaudit.scoring.significance import holm
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Row, Table, subject
from tripleaudit.tables.grid import ScoreRow, extracts, row_notes
from tripleaudit.tables.inputs import UNEQUAL, RunKey, TableInputs

REARRANGED = "rearranged"
DIFFERENCE = "Difference"


def pairs(inputs: TableInputs) -> dict[RunKey, Difference]:
    """Return the difference of F1, augmented minus original, of each run on the original test set.

    A sentence counts as often as it has variants; a sentence without a variant is left out.

    Raises:
        UserError: an augmented sentence is of no test sentence.
    """
    found = {}
    for run in inputs.scores.runs:
        alone = extracts(run.extractor) and run.extractor not in inputs.scores.partial
        if run[1:4] != ("original", "nz", "nz") or run.noise != "none" or not alone:
            continue
        sides = [subject(one._asdict(), "all", inputs.matching) for one in (run, _augmented(run))]
        difference = inputs.scores.between(*sides)
        if difference is None:
            continue
        variants_of(
            inputs.scores.ids(run), inputs.scores.ids(_augmented(run)), run.corpus
        )  # refuses foreign ones
        if difference.paired:
            found[run] = difference
    return found


def contamination(inputs: TableInputs) -> Table:
    """Build from per-sentence counts on the original and the augmented test set."""
    found = pairs(inputs)
    systems = [run for run in found if run.extractor not in BASELINES]
    corrected = dict(zip(systems, holm([found[run].p or 0.0 for run in systems]), strict=True))
    order = labels.ordered({run.extractor for run in found}, labels.rte_order())
    runs = sorted(found, key=lambda run: (run.corpus, order.index(run.extractor)))
    rows, again = [], any(_rearranged(inputs, run) for run in runs)
    for run in runs:
        test = found[run]
        f1 = [
            inputs.scores.cell(one, "f1", matching=inputs.matching)
            for one in (run, _augmented(run))
        ]
        # one training on two test sets: its budget is the same
        mark = "".join(dict.fromkeys((f1[0].mark + f1[1].mark).replace(UNEQUAL, "")))
        bound = (test.bounds or {}).get("f1")
        loss = None if bound is None else Interval(-bound.high + 0.0, -bound.low + 0.0)  # no -0.0
        change = Cell.mean(
            [-test.change() + 0.0], loss, mark=mark, cases=_with_variants(inputs, run), of=f1[0].of
        )
        p_value = Cell(corrected[run], 4, mark=mark, of=f1[0].of) if run in corrected else Cell()
        cells = [*f1, change, p_value]
        rows.append(Row(labels.extractor(run.extractor), cells, labels.corpus(run.corpus)))
        if again:
            cells.append(_rearranged(inputs, run) or Cell())
    first = {run.corpus: run for run in runs}.values()
    missing = sum(len(inputs.scores.ids(run)) - _with_variants(inputs, run) for run in first)
    return inputs.table(
        "F1 (%) on original test sentences and on the same sentences with other names.",
        ["Original", "Augmented", DIFFERENCE, "p", *["Rearranged"] * again],
        rows,
        ("System", "Corpus"),
        "Difference: original minus augmented in percentage points, with the 95 % bootstrap interval over "
        "original test sentences, each drawn with all its variants. p: of the paired randomisation test, "
        "Holm-corrected over the systems; baselines are not tested.",
        "A system that has memorised the triples of the benchmark, from its training set or from pretraining, "
        "loses where names are replaced; so does one that finds the new sentences stranger. The difference alone "
        "does not distinguish the two (docs/explanation/methods.md): compare it with the memorising baseline, "
        "which knows nothing else, and between systems.",
        again
        and "Rearranged: F1 of systems without training on the rearranged test set, most of whose sentences "
        "come from the benchmark's training set; these are other sentences, so there is no pair.",
        missing > 0
        and f"Difference: of the {missing} test sentences without a variant nothing is in it.",
        GAPS,
        *row_notes(
            inputs, [ScoreRow("", run, inputs.matching) for run in runs], "original", "augmented"
        ),
    )


def _augmented(run: RunKey) -> RunKey:
    return run._replace(protocol="augmented")


def _with_variants(inputs: TableInputs, run: RunKey) -> int:
    """Return the number of original sentences that have a variant."""
    groups = variants_of(inputs.scores.ids(run), inputs.scores.ids(_augmented(run)))
    return sum(map(bool, groups))


def _rearranged(inputs: TableInputs, run: RunKey) -> Cell | None:
    if run.extractor not in inputs.untrained:
        return None
    cell = inputs.scores.cell(run._replace(protocol=REARRANGED), "f1", matching=inputs.matching)
    return cell if cell.value is not None else None


CONTAMINATION = TableSpec(
    name="contamination",
    order=4,
    build=contamination,
    possible=lambda study: study.compared and "augmented" in study.protocols,
    question="Has a system memorised the benchmark's triples?",
)
