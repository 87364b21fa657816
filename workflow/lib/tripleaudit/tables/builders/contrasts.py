"""``contrasts``: every comparison of the papers and every pair of systems, with difference,
interval and p-value.
"""

from collections.abc import Mapping
from typing import Any

from tripleaudit.core.descriptors import TableSpec
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, MIN_CASES, Cell, Row, Table, subject
from tripleaudit.tables.contrasts import AT_LEAST, FEW, OPEN, SIDE_KEYS, SYSTEMS, contrasts
from tripleaudit.tables.frames import doubled_index
from tripleaudit.tables.inputs import TableInputs

OUTCOMES_NOTE = (
    "Outcome: shown where the 95 % interval leaves 0 out and p is below 0.05; "
    f"{FEW}: fewer than {MIN_CASES} on one side; "
    f"{OPEN}: a training was still rising (\u2020) or may have been (\u00a7); "
    f"{AT_LEAST}: it was, and twice the epochs show a difference of the same sign."
)


def contrast_table(inputs: TableInputs) -> Table:
    """Build from the per-sentence counts; the frame has pairs of systems on the other test sets
    as well.
    """
    files = inputs.files.get("doubled", [])
    doubles = doubled_index(inputs.scores, files) if files else None
    frame = contrasts(inputs.scores, inputs.matching, doubles)
    rows = [row for row in frame.to_dict("records") if _is_printed(row)]
    several_corpora = len({row["corpus"] for row in rows}) > 1
    return inputs.table(
        "Differences of F1 (percentage points), second minus first.",
        ["First", "Second", "Difference", "p", "Cases", *["Doubled"] * bool(files), "Outcome"],
        [_row(row, inputs, several_corpora, bool(files)) for row in rows],
        ("System", "Contrast"),
        "Difference: with its 95 % interval over test sentences and, with several seeds, runs. Sentences are "
        "paired where both sides read the same ones. p: of the paired randomisation test, Holm-corrected over the "
        "systems of a contrast, or over the pairs of a test set; baselines are not counted.",
        "Sentences with variants count once for each variant in \u201coriginal to augmented\u201d.",
        OUTCOMES_NOTE,
        bool(files) and "Doubled: the difference after twice the epochs, with the first seed.",
        "The frame contrasts.parquet also has the pairs of systems on the other test sets.",
        GAPS,
    )


def _is_printed(row: Mapping[str, Any]) -> bool:
    """Leave out pairs with baselines, and pairs of systems on other test sets than the original
    one.
    """
    if row["contrast"] != SYSTEMS:
        return True
    test_set = (row["protocol_first"], row["training_first"], row["testing_first"])
    return (
        test_set == ("original", "nz", "nz")
        and not {row["extractor_first"], row["extractor_second"]} & BASELINES.keys()
    )


def _row(
    row: Mapping[str, Any], inputs: TableInputs, several_corpora: bool, has_doubles: bool
) -> Row:
    digits = inputs.digits(1)
    sides = [subject({"corpus": row["corpus"], **_keys(row, side)}, matching=row["matching"], metric="f1")
             for side in ("first", "second")]  # fmt: skip
    for side, of in zip(("first", "second"), sides, strict=True):
        of["stratum"] = row[f"stratum_{side}"]
    cells = [
        Cell(100 * row[side], digits, of=of)
        for side, of in zip(("first", "second"), sides, strict=True)
    ]
    difference = {
        "low": _percent(row["low"]),
        "high": _percent(row["high"]),
        "mark": row["mark"],
        "of": sides[1],
    }
    cells.append(
        Cell(100 * row["difference"], digits, cases=row["cases"], seeds=row["seeds"], **difference)
    )
    p_value = row["p"] if row["p_holm"] is None or row["p_holm"] != row["p_holm"] else row["p_holm"]
    cells.append(Cell(None if p_value is None or p_value != p_value else p_value, 4))
    cells.append(Cell(row["cases"], 0))
    if has_doubles:
        low, high = _percent(row["low_doubled"]), _percent(row["high_doubled"])
        cells.append(Cell(_percent(row["difference_doubled"]), digits, low=low, high=high))
    cells.append(Cell(text=row["outcome"]))
    return Row(_label(row, several_corpora), cells, row["contrast"])


def _keys(row: Mapping[str, Any], side: str) -> dict[str, str]:
    return {key: row[f"{key}_{side}"] for key in SIDE_KEYS if key != "stratum"}


def _label(row: Mapping[str, Any], several_corpora: bool) -> str:
    first, second = (
        labels.extractor(row[f"extractor_{side}"], row[f"noise_{side}"])
        for side in ("first", "second")
    )
    name = (
        first
        if row["extractor_first"] == row["extractor_second"] and row["contrast"] != SYSTEMS
        else f"{first} \u2192 {second}"
    )
    return f"{name} ({labels.corpus(row['corpus'])})" if several_corpora else name


def _percent(value: float | None) -> float | None:
    return None if value is None or value != value else 100 * value


CONTRASTS = TableSpec(
    name="contrasts",
    order=14.4,
    build=contrast_table,
    possible=lambda study: study.compared,
    question="Which differences are shown, between conditions and between systems?",
    overview=None,
)
