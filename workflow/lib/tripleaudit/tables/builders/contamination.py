"""``contamination``: loss of a system when names in the test sentences are replaced.

The ids of augmented sentences name the sentence whose variants they are. The difference of F1 is
taken over these pairs: a sentence is drawn, or exchanged, with all its variants.
"""

from collections.abc import Mapping

from tripleaudit.protocols.variants import variants_of
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.bootstrap import Interval
from tripleaudit.scoring.difference import Difference
from tripleaudit.scoring.significance import holm
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Table, of_frame, subject
from tripleaudit.tables.grid import extracts, row_notes
from tripleaudit.tables.inputs import UNEQUAL, TableInputs
from tripleaudit.tables.spec import TableSpec
from tripleaudit.tables.tidy import RunKey

REARRANGED = "rearranged"
DIFFERENCE = "Difference"
NOTES = (
    "Difference: original minus augmented in percentage points, with the 95 % bootstrap interval over "
    "original test sentences, each drawn with all its variants. p: of the paired randomisation test, "
    "Holm-corrected over the systems; baselines are not tested.",
    "A system that has memorised the triples of the benchmark, from its training set or from pretraining, "
    "loses where names are replaced; so does one that finds the new sentences stranger. The difference alone "
    "does not distinguish the two (docs/explanation/methods.md): compare it with the memorising baseline, "
    "which knows nothing else, and between systems.",
)
REARRANGED_NOTE = (
    "Rearranged: F1 of systems without training on the rearranged test set, most of whose sentences "
    "come from the benchmark's training set; these are other sentences, so there is no pair."
)


def pairs(inputs: TableInputs) -> dict[RunKey, Difference]:
    """Return the difference of F1, augmented minus original, of each run on the original test set.

    A sentence counts as often as it has variants; a sentence without a variant is left out.

    Raises:
        UserError: an augmented sentence is of no test sentence.
    """
    scores = inputs.scores
    differences = {}
    for run in scores.runs:
        is_original = run[1:4] == ("original", "nz", "nz") and run.noise == "none"
        if not is_original or not extracts(run.extractor) or run.extractor in scores.partial:
            continue
        augmented = _augmented(run)
        sides = [subject(side._asdict(), "all", inputs.matching) for side in (run, augmented)]
        difference = scores.between(*sides)
        if difference is None:
            continue
        # refuses augmented sentences that are of no test sentence
        variants_of(scores.ids(run), scores.ids(augmented), run.corpus)
        if difference.paired:
            differences[run] = difference
    return differences


def contamination(study: TableInputs) -> Table:
    """Build from per-sentence counts on the original and the augmented test set."""
    import pandas as pd

    differences = pairs(study)
    order = labels.ordered({run.extractor for run in differences}, labels.rte_order())
    runs = sorted(differences, key=lambda run: (run.corpus, order.index(run.extractor)))
    p_values = corrected_p_values(differences)
    rearranged = {run: _rearranged(study, run) for run in runs}
    has_rearranged = any(rearranged.values())
    rows = []
    for run in runs:
        row = difference_cells(study, run, differences[run], p_values.get(run))
        rows.append(row | {"Rearranged": rearranged[run] or Cell()})
    columns = ["Original", "Augmented", DIFFERENCE, "p"]
    if has_rearranged:
        columns.append("Rearranged")
    index = [(labels.corpus(run.corpus), labels.extractor(run.extractor)) for run in runs]
    frame = pd.DataFrame(
        rows, index=pd.MultiIndex.from_tuples(index, names=["Corpus", "System"]), columns=columns
    )
    notes = [*NOTES]
    if has_rearranged:
        notes.append(REARRANGED_NOTE)
    one_run_per_corpus = {run.corpus: run for run in runs}.values()
    missing = sum(
        len(study.scores.ids(run)) - _with_variants(study, run) for run in one_run_per_corpus
    )
    if missing > 0:
        notes.append(
            f"Difference: of the {missing} test sentences without a variant nothing is in it."
        )
    notes += [GAPS, *row_notes(study, runs, "original", "augmented")]
    caption = "F1 (%) on original test sentences and on the same sentences with other names."
    return of_frame(frame, caption, notes)


def corrected_p_values(differences: Mapping[RunKey, Difference]) -> dict[RunKey, float]:
    """Return Holm-corrected p-values of the systems; baselines are not tested."""
    systems = [run for run in differences if run.extractor not in BASELINES]
    corrected = holm([differences[run].p or 0.0 for run in systems])
    return dict(zip(systems, corrected, strict=True))


def difference_cells(
    study: TableInputs, run: RunKey, difference: Difference, p_value: float | None
) -> dict[str, Cell]:
    """Return F1 on both test sets and their difference, by column.

    Args:
        study: of the table.
        run: on the original test set.
        difference: augmented minus original.
        p_value: corrected; None for a baseline.
    """
    original, augmented = (
        study.scores.cell(side, "f1", matching=study.matching) for side in (run, _augmented(run))
    )
    # one training on two test sets: its budget is the same
    mark = "".join(dict.fromkeys((original.mark + augmented.mark).replace(UNEQUAL, "")))
    bounds = (difference.bounds or {}).get("f1")
    interval = None
    if bounds is not None:
        interval = Interval(-bounds.high + 0.0, -bounds.low + 0.0)  # no -0.0
    loss = Cell.mean(
        [-difference.change() + 0.0],
        interval,
        mark=mark,
        cases=_with_variants(study, run),
        of=original.of,
    )
    p_cell = Cell() if p_value is None else Cell(p_value, 4, mark=mark, of=original.of)
    return {"Original": original, "Augmented": augmented, DIFFERENCE: loss, "p": p_cell}


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
