"""``contamination``: loss of a system when names in the test sentences are replaced.

The ids of augmented sentences name the sentence whose variants they are. The difference of F1 is
taken over these pairs: a sentence is drawn, or exchanged, with all its variants.
"""

from collections.abc import Mapping
from typing import Any

from tripleaudit.protocols.variants import variants_of
from tripleaudit.scoring.bootstrap import Interval
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Table, of_frame
from tripleaudit.tables.contrasts import SIDE_KEYS, contrasts
from tripleaudit.tables.grid import extracts, row_notes
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TableSpec
from tripleaudit.tables.tidy import RunKey, run_of

CONTRAST = "original to augmented"
REARRANGED = "rearranged"
DIFFERENCE = "Difference"
NOTES = (
    "Difference: original minus augmented in percentage points, with the 95 % bootstrap interval over "
    "original test sentences, each drawn with all its variants. p: of the paired randomisation test, "
    "Holm-corrected over the systems of a corpus, with and without Entity Noising, as in the table of "
    "contrasts; baselines are not tested.",
    "A system that has memorised the triples of the benchmark, from its training set or from pretraining, "
    "loses where names are replaced; so does one that finds the new sentences stranger. The difference alone "
    "does not distinguish the two (docs/explanation/methods.md): compare it with the memorising baseline, "
    "which knows nothing else, and between systems.",
)
REARRANGED_NOTE = (
    "Rearranged: F1 of systems without training on the rearranged test set, most of whose sentences "
    "come from the benchmark's training set; these are other sentences, so there is no pair."
)


def contamination(study: TableInputs) -> Table:
    """Build from the contrast of the original and the augmented test set."""
    import pandas as pd

    losses = losses_of(study)
    order = labels.ordered({run.extractor for run in losses}, labels.rte_order())
    runs = sorted(losses, key=lambda run: (run.corpus, order.index(run.extractor)))
    rearranged = {run: _rearranged(study, run) for run in runs}
    has_rearranged = any(rearranged.values())
    rows = []
    for run in runs:
        row = loss_cells(study, run, losses[run])
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


def losses_of(study: TableInputs) -> dict[RunKey, dict[str, Any]]:
    """Return the contrast with the augmented test set of each run on the original one.

    A sentence counts as often as it has variants; a sentence without a variant is left out.

    Raises:
        UserError: an augmented sentence is of no test sentence.
    """
    scores = study.scores
    losses = {}
    for row in contrasts(scores, study.matching, names=[CONTRAST]).to_dict("records"):
        keys = {key: row[f"{key}_first"] for key in SIDE_KEYS}
        run = run_of({"corpus": row["corpus"], **keys})
        if run.noise != "none" or not extracts(run.extractor) or run.extractor in scores.partial:
            continue
        # refuses augmented sentences that are of no test sentence
        variants_of(scores.ids(run), scores.ids(_augmented(run)), run.corpus)
        if row["paired"]:
            losses[run] = row
    return losses


def loss_cells(study: TableInputs, run: RunKey, row: Mapping[str, Any]) -> dict[str, Cell]:
    """Return F1 on both test sets, their difference and its p-value, by column.

    Args:
        study: of the table.
        run: on the original test set.
        row: of the frame of contrasts.
    """
    original, augmented = (
        study.scores.cell(side, "f1", matching=study.matching) for side in (run, _augmented(run))
    )
    interval = None
    if row["low"] is not None and row["low"] == row["low"]:
        interval = Interval(-row["high"] + 0.0, -row["low"] + 0.0)  # no -0.0
    mark = row["mark"]
    loss = Cell.mean(
        [-row["difference"] + 0.0], interval, mark=mark, cases=row["cases"], of=original.of
    )
    p_value = row["p_holm"]
    is_tested = p_value is not None and p_value == p_value
    p_cell = Cell(p_value, 4, mark=mark, of=original.of) if is_tested else Cell()
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
