"""``contamination``: loss of a system when names in the test sentences are replaced.

The ids of augmented sentences name the sentence whose variants they are. The difference of F1 is
taken over these pairs: a sentence is drawn, or exchanged, with all its variants.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tripleaudit.protocols.variants import variants_of
from tripleaudit.scoring.bootstrap import Interval
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, Cell, Table, of_frame
from tripleaudit.tables.contrasts import SIDE_KEYS, contrasts
from tripleaudit.tables.grid import extracts, row_notes, score_cells
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.result_frames import CELL_KEYS
from tripleaudit.tables.spec import TableSpec

if TYPE_CHECKING:
    import pandas as pd

CONTRAST = "original to augmented"
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
    original = losses.assign(matching=study.matching, metric="f1", stratum="all")
    cells = {
        "Original": score_cells(study, original),
        "Augmented": score_cells(study, original.assign(protocol="augmented")),
        DIFFERENCE: [_loss_cell(row) for row in original.to_dict("records")],
        "p": [_p_cell(row) for row in original.to_dict("records")],
    }
    notes = [*NOTES]
    rearranged = score_cells(study, original.assign(protocol="rearranged"))
    is_untrained = losses["extractor"].isin(study.facts.untrained)
    has_rearranged = [
        untrained and cell.value is not None
        for untrained, cell in zip(is_untrained, rearranged, strict=True)
    ]
    if any(has_rearranged):
        cells["Rearranged"] = [
            cell if is_shown else Cell()
            for cell, is_shown in zip(rearranged, has_rearranged, strict=True)
        ]
        notes.append(REARRANGED_NOTE)
    index = [losses["corpus"].map(labels.corpus), losses["extractor"].map(labels.extractor)]
    frame = pd.DataFrame(
        cells, index=pd.MultiIndex.from_arrays(index, names=["Corpus", "System"]), dtype=object
    )
    one_run_per_corpus = losses.drop_duplicates("corpus", keep="last").to_dict("records")
    missing = sum(_sentences_without_variants(study, run) for run in one_run_per_corpus)
    if missing > 0:
        notes.append(
            f"Difference: of the {missing} test sentences without a variant nothing is in it."
        )
    notes += [GAPS, *row_notes(study, losses, "original", "augmented")]
    caption = "F1 (%) on original test sentences and on the same sentences with other names."
    return of_frame(frame, caption, notes)


def losses_of(study: TableInputs) -> pd.DataFrame:
    """Return the contrasts of the original and the augmented test set, with the keys of the runs.

    A sentence counts as often as it has variants; a sentence without a variant is left out.

    Raises:
        UserError: an augmented sentence is of no test sentence.
    """
    losses = contrasts(study.frames, study.matching, names=[CONTRAST])
    for key in SIDE_KEYS:
        losses[key] = losses[f"{key}_first"]
    is_partial = losses["extractor"].isin(study.facts.partial)
    losses = losses[(losses["noise"] == "none") & losses["extractor"].map(extracts) & ~is_partial]
    for run in losses.to_dict("records"):
        _variants(study, run)  # refuses augmented sentences that are of no test sentence
    order = labels.ordered(losses["extractor"], labels.rte_order())
    losses = losses[losses["paired"].astype(bool)]
    return losses.sort_values(
        ["corpus", "extractor"],
        key=lambda column: column.map(order.index) if column.name == "extractor" else column,
        kind="stable",
    )


def _loss_cell(row: Mapping[str, Any]) -> Cell:
    """Return the original minus the augmented F1 of a row of the frame of contrasts."""
    interval = None
    if row["low"] is not None and row["low"] == row["low"]:
        interval = Interval(-row["high"] + 0.0, -row["low"] + 0.0)  # no -0.0
    return Cell.mean(
        [-row["difference"] + 0.0],
        interval,
        mark=row["mark"],
        cases=row["cases"],
        of={key: row[key] for key in CELL_KEYS},
    )


def _p_cell(row: Mapping[str, Any]) -> Cell:
    """Return the p-value that decides a contrast; a gap for baselines, which are not tested."""
    p_value = row["p_holm"]
    if p_value is None or p_value != p_value:
        return Cell()
    return Cell(p_value, 4, mark=row["mark"], of={key: row[key] for key in CELL_KEYS})


def _variants(study: TableInputs, run: Mapping[str, Any]) -> list[list[int]]:
    """Return the variants of each original sentence of a run."""
    augmented = study.frames.sentence_ids({**run, "protocol": "augmented"})
    return variants_of(study.frames.sentence_ids(run), augmented, run["corpus"])


def _sentences_without_variants(study: TableInputs, run: Mapping[str, Any]) -> int:
    return sum(not group for group in _variants(study, run))


CONTAMINATION = TableSpec(
    name="contamination",
    order=4,
    build=contamination,
    possible=lambda study: study.compared and "augmented" in study.protocols,
    question="Has a system memorised the benchmark's triples?",
)
