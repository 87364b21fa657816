"""``end-to-end``: extraction with and without zero-triple sentences (zero-cardinality, table 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tripleaudit.scoring.matching import PRIMARY
from tripleaudit.scoring.scores import Run, run_keys
from tripleaudit.tables import labels, reported
from tripleaudit.tables.cells import Cell, Table
from tripleaudit.tables.grid import (
    FRACTION,
    LAST_WORDS_ONLY,
    PARTIAL,
    Keys,
    concat_columns,
    extracts,
    keys_in_paper,
    make_row,
    row_frame,
    row_notes,
    score_columns,
    score_frame,
    score_table,
    with_parts,
)
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import OverviewColumn, TableSpec

if TYPE_CHECKING:
    import pandas as pd

READS = ("data/reported/zero_cardinality.csv",)

PARTIAL_EXTRACTOR = "pfn"
PARTIAL_NOTE = (
    "PFN*: partial matching, as the paper scores it: entities are compared by their last word. It is not compared with "
    "the other rows."
)
RECALL_NOTE = (
    "Zero-triple sentences can add wrong triples only, so recall is the same for NZ and WZ testing."
)


DROPS_NOTE = (
    "Drop NZ→WZ: F1 tested on NZ minus F1 tested on WZ. Drop NZ/NZ→WZ/WZ: F1 trained and tested on NZ minus F1 "
    "trained and tested on WZ."
)
DROP = "Drop (points)"


def rows_of(
    study: TableInputs, extractors: Sequence[str], base: Run, group: str, contest: str = ""
) -> list[dict[str, str]]:
    """Return one row for each extractor, and ``PFN*`` under partial matching.

    ``PFN*`` is the extractor ``pfn-star`` where the study trains it (then in any table), else,
    behind ``PFN``, the same trainings as ``PFN``, unless the whole table matches partially.

    Args:
        study: what the table is made from.
        extractors: names in the order of the rows.
        base: run of which the extractor is replaced.
        group: heading of the rows.
        contest: of the rows that compete; by default the group.
    """
    rows = []
    has_own_star = LAST_WORDS_ONLY in extractors
    for extractor in extractors:
        label, run = labels.extractor(extractor), {**base, "extractor": extractor}
        partial = make_row(label, run, PARTIAL, group, contest=f"{contest or group} partial")
        if extractor == LAST_WORDS_ONLY:
            rows.append(partial)
            continue
        rows.append(make_row(label, run, study.matching, group, contest))
        if extractor == PARTIAL_EXTRACTOR and study.matching == PRIMARY and not has_own_star:
            rows.append({**partial, "row": f"{label}*"})
    return rows


def printed(keys: Keys, table: int, setting: str, metric: str) -> str | None:
    """Return the paper's value of a row; None if the paper matches by another rule."""
    name, is_partial = keys["extractor"].rpartition("+")[2], keys["matching"] == PARTIAL
    if keys["matching"] not in (PRIMARY, PARTIAL):
        return None
    if (name in (PARTIAL_EXTRACTOR, LAST_WORDS_ONLY)) != is_partial:
        return None
    variant = f"{'partial' if is_partial else 'exact'} entity match"
    return reported.cardinality(table, keys["corpus"], setting, metric, model=name, variant=variant)


def end_to_end(study: TableInputs) -> Table:
    """Build from scores on the original protocol.

    The last two columns are drops of F1 in percentage points: from NZ to WZ testing of the same
    extractor, and, in WZ rows, from the usual evaluation (NZ training and testing) to the realistic
    one (WZ training and testing).
    """
    rows = row_frame(_rows(study))
    columns = concat_columns(
        score_columns(f"Test {label}", testing=testing)
        for testing, label in labels.SETTINGS.items()
    )
    heads = ("Model", "Training")
    frame = score_frame(study, rows, columns, heads=heads, unit=FRACTION, reported=_reported)
    frame[DROP, "NZ→WZ"] = _drops(study, rows)
    frame[DROP, "NZ/NZ→WZ/WZ"] = _realistic_drops(study, rows)
    test_sets = {f"Test {label}": {"testing": name} for name, label in labels.SETTINGS.items()}
    frame = with_parts(study, frame, rows, test_sets)
    more = [f"{labels.SETTINGS_NOTE} {RECALL_NOTE}", DROPS_NOTE]
    if has_partial_rows(rows["row"]):
        more.append(PARTIAL_NOTE)
    more += row_notes(study, rows, "original")
    caption = (
        "End-to-end extraction with and without zero-triple sentences in training and testing."
    )
    return score_table(study, caption, frame, *more)


def has_partial_rows(names: Iterable[str]) -> bool:
    """Return whether some row is matched partially, by the labels of the rows."""
    return any(name.endswith("*") for name in names)


def _rows(study: TableInputs) -> list[dict[str, str]]:
    """Return the rows of each corpus: trained without and with zero-triple sentences, untrained."""
    runs = study.runs
    has_zero = (runs["training"] == "wz") | (runs["testing"] == "wz")
    runs = runs[has_zero & (runs["protocol"] == "original") & runs["extractor"].map(extracts)]
    rows = []
    for corpus in labels.corpora(runs["corpus"]):
        measured = runs.loc[runs["corpus"] == corpus, "extractor"]
        failed = [
            fact["system"]
            for fact in study.facts.systems
            if fact["failed"] and fact["keys"]["corpus"] == corpus
        ]
        names = labels.ordered([*measured, *failed], labels.cardinality_order())
        trained = [name for name in names if name not in study.facts.untrained]
        untrained = [name for name in names if name in study.facts.untrained]
        for training, setting in labels.SETTINGS.items():
            base = run_keys(corpus=corpus, protocol="original", training=training)
            group = f"{labels.corpus(corpus)}, trained {setting}"
            rows += rows_of(study, trained, base, group, f"{corpus} {training}")
        base = run_keys(corpus=corpus, protocol="original", training="nz")
        group = f"{labels.corpus(corpus)}, not trained"
        rows += rows_of(study, untrained, base, group, f"{corpus} nz")
    return rows


def _reported(keys: Keys) -> str | None:
    setting = f"train {keys['training'].upper()} / test {keys['testing'].upper()}"
    return printed(keys, 3, setting, reported.METRICS[keys["metric"]])


def _drops(study: TableInputs, rows: pd.DataFrame) -> list[Cell]:
    """Return F1 tested on NZ minus F1 tested on WZ."""
    f1 = rows.assign(metric="f1", stratum="all")
    drops = study.frames.differences(f1.assign(testing="nz"), f1.assign(testing="wz"))
    cells = []
    for keys, drop in zip(rows.to_dict("records"), drops, strict=True):
        setting = f"train {keys['training'].upper()} / test NZ vs WZ"
        paper = printed(keys_in_paper(study, keys), 3, setting, "F1_drop_points")
        cells.append(replace(drop, reported=paper))
    return cells


def _realistic_drops(study: TableInputs, rows: pd.DataFrame) -> list[Cell]:
    """Return F1 trained and tested on NZ minus F1 trained and tested on WZ, in the WZ rows."""
    f1 = rows.assign(metric="f1", stratum="all")
    usual, realistic = (f1.assign(training=name, testing=name) for name in labels.SETTINGS)
    setting = "train NZ / test NZ vs train WZ / test WZ"
    cells = []
    drops = study.frames.differences(usual, realistic)
    for keys, drop in zip(rows.to_dict("records"), drops, strict=True):
        paper = printed(keys_in_paper(study, keys), 3, setting, "F1_drop_points")
        has_drop = keys["training"] == "wz"
        cells.append(replace(drop, reported=paper) if has_drop else Cell(text=""))
    return cells


TRAINED = {"nz": "without zeros", "wz": "with zeros"}

END_TO_END = TableSpec(
    name="end-to-end",
    order=10,
    build=end_to_end,
    possible=lambda study: study.compared and {"nz", "wz"} <= set(study.settings),
    takes_by=True,
    question="Does an extractor know when there is nothing to extract?",
    overview=tuple(
        OverviewColumn(
            f"trained {TRAINED[setting]}", {"training": setting, "testing": "wz", "metric": "f1"}
        )
        for setting in labels.SETTINGS
    ),
)
