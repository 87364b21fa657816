"""The tables of MINEA about needles (tables 3 to 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tripleaudit.core.files import read_jsonl
from tripleaudit.scoring.scores import Run, run_id
from tripleaudit.scoring.significance import MIN_CASES
from tripleaudit.tables.cells import (
    GAP,
    SMALL,
    Cell,
    Row,
    Table,
    frame_of_rows,
    number,
    of_frame,
    subject,
)
from tripleaudit.tables.grid import FRACTION, Keys, make_row, row_frame, score_frame
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import OverviewColumn, TableSpec

if TYPE_CHECKING:
    import pandas as pd

SMALL_NOTE = f"{SMALL}: of fewer than {MIN_CASES} needles, which is too few for a conclusion."
RATES = ("minea", "minea_any", "rate")
COUNTS = ("needles", "found")
ORIGINS = ("given", "wanted", "generated", "from_templates", "infused", "discovered_types")
ANY_CRITERION, FALSE_POSITIVES = ("", "Any criterion"), ("", "False positives")
STATUSES = ("ok", "repaired", "truncated", "empty", "refused", "failed")
CRITERIA_NOTE = (
    "n: an extracted entity has the needle's name; ns: the name stands anywhere in the extraction; k(t): an entity has "
    "at least the share t of the needle's keywords; llm: a model points at the entity."
)
WILSON = "[low, high] is the 95 % Wilson interval over needles."
MINEA_INTERVAL = (
    f"{WILSON} That of MINEA reaches down to criteria chosen on other needles: the best of several rates lies too "
    "high, by .1 to .2 with fewer than ten needles a type."
)


def runs_of(study: TableInputs, protocol: str) -> list[Run]:
    """Return the runs of one measurement by corpus and name."""
    runs = study.runs[study.runs["protocol"] == protocol]
    return runs.sort_values(["corpus", "extractor"], kind="stable").to_dict("records")


def model_label(run: Run, runs: Sequence[Run]) -> str:
    """The model's name, with the corpus where there are several."""
    corpora = {other["corpus"] for other in runs}
    return run["extractor"] if len(corpora) == 1 else f"{run['extractor']}, {run['corpus']}"


def group_of(run: Run, runs: Sequence[Run]) -> str:
    """The heading of a model's rows, where there are several models."""
    return model_label(run, runs) if len(runs) > 1 else ""


def strata_of(study: TableInputs, run: Run, metric: str) -> list[str]:
    """Return the strata that a run has a value for, in their order in the scores file."""
    measured = study.frames.measured.get(run_id(run), [])
    return [stratum for stratum, *rest in measured if rest == ["", metric]]


def needle_columns(*columns: tuple[str, str, str], group: str = "", **keys: str) -> pd.DataFrame:
    """Return a column frame.

    Args:
        columns: label, metric and criterion (empty for counts) of each column.
        group: heading of the columns.
        keys: that replace those of the rows, such as ``protocol``.
    """
    import pandas as pd

    frame = pd.DataFrame(columns, columns=["column", "metric", "matching"])
    return frame.assign(column_group=group, **keys)


def stratum_rows(study: TableInputs, runs: Sequence[Run]) -> pd.DataFrame:
    """Return a row for each model and each stratum of its needles."""
    rows = []
    strata = []
    for run in runs:
        for stratum in strata_of(study, run, "needles"):
            rows.append(make_row(stratum, run, "", group_of(run, runs)))
            strata.append(stratum)
    return row_frame(rows).assign(stratum=strata)


def needle_frame(
    study: TableInputs, rows: pd.DataFrame, columns: pd.DataFrame, heads: tuple[str, str]
) -> pd.DataFrame:
    """Return the cells of rows and columns; rates of few needles are marked.

    Args:
        study: what the table is made from.
        rows: a row frame with the stratum of the needles.
        columns: see :func:`needle_columns`.
        heads: of the columns with the labels of rows and of their groups.
    """
    return score_frame(
        study, rows, columns, heads=heads, unit=FRACTION, change=_mark_few, mark_winners=False
    )


def _mark_few(keys: Keys, cell: Cell) -> Cell:
    if keys["metric"] in COUNTS:
        return replace(cell, digits=0)
    has_few = cell.cases is not None and cell.cases < MIN_CASES
    if keys["metric"] in RATES and has_few:
        return replace(cell, mark=cell.mark + SMALL)
    return cell


def criterion_label(name: str) -> str:
    """``k0.5`` as ``k(0.5)``."""
    return f"k({name[1:]})" if name.startswith("k") else name


def coverage_note(study: TableInputs, runs: Sequence[Run]) -> str:
    """Return a note on the share of calls with a readable answer, by model; empty without calls."""
    parts = []
    for run in runs:
        calls = {**run, "protocol": "calls"}
        coverage = study.frames.mean(calls, "coverage")
        if coverage is None:
            continue
        counts = {status: study.frames.mean(calls, f"status:{status}") for status in STATUSES}
        listed = ", ".join(f"{int(count)} {status}" for status, count in counts.items() if count)
        judgements = _unreadable_judgements(study, calls)
        parts.append(f"{run['extractor']} {100 * coverage:.1f} % ({listed}){judgements}")
    if not parts:
        return ""
    return f"Coverage, the share of calls with a readable answer: {'; '.join(parts)}."


def _unreadable_judgements(study: TableInputs, calls: Run) -> str:
    """Return a note on unreadable verdicts of the judge; empty without such."""
    unreadable = study.frames.mean(calls, "judge_unreadable", matching="llm")
    questions = study.frames.mean(calls, "judge_questions", matching="llm")
    if not unreadable:
        return ""
    return f", {int(unreadable)} of {int(questions or 0)} verdicts of its judge unreadable"


def minea(study: TableInputs) -> Table:
    """Build from the scores of the criteria; a group of rows for each model and group of types."""
    import pandas as pd

    runs = runs_of(study, "needles")
    rows = stratum_rows(study, runs)
    labels = rows["row"].astype(str).replace("all", "Overall").str.replace("group:", "Group ")
    measured = needle_columns(
        ("MINEA", "minea", "max"), ("Needles", "needles", ""), ("Any criterion", "minea_any", "any")
    )
    untouched = needle_columns(("False positives", "minea", "max"), protocol="needles-untouched")
    columns = pd.concat([measured, untouched], ignore_index=True)
    frame = needle_frame(study, rows.assign(row=labels), columns, ("Entity type", "Model"))
    for name in (ANY_CRITERION, FALSE_POSITIVES):
        frame[name] = [replace(cell, low=None, high=None) for cell in frame[name]]
    notes = [
        "MINEA of a type is the greatest rate of its criteria; groups and the overall score weigh types by their "
        "needles. “Any criterion” counts needles that at least one criterion finds."
    ]
    if any(cell.value is not None for cell in frame[FALSE_POSITIVES]):
        notes.append("False positives: the best criterion, on the same documents without needles.")
    notes.append(_displaced_note(study, runs))
    if runs:
        notes.append(_origins(study, runs[0]))
    notes += [MINEA_INTERVAL, SMALL_NOTE, coverage_note(study, runs)]
    caption = (
        "MINEA: share of infused needles that the best criterion finds, by entity type and overall."
    )
    return of_frame(frame, caption, notes)


def _displaced_note(study: TableInputs, runs: Sequence[Run]) -> str:
    """Return a note on names that are lost with needles; empty where it was not measured."""
    displaced = []
    for run in runs:
        share = study.frames.mean(run, "displaced", matching="n")
        if share is not None:
            displaced.append(f"{run['extractor']} {100 * share:.1f} %")
    if not displaced:
        return ""
    return f"Names found in the untouched documents that the needles displaced: {'; '.join(displaced)}."


def _origins(study: TableInputs, run: Run) -> str:
    """Return a note on the origin of the needles, which are the same for all models."""
    origins = {**run, "protocol": "origins"}
    counts = {}
    for name in ORIGINS:
        count = study.frames.mean(origins, name)
        counts[name] = None if count is None else number(count, 0)
    if counts["infused"] is None:
        return ""
    if counts["given"] is not None:
        return f"Needles: {counts['given']} from a file, {counts['infused']} infused."
    note = (
        f"Needles: {counts['wanted']} wanted, {counts['generated']} invented by the generating model, "
        f"{counts['from_templates']} from templates, {counts['infused']} infused."
    )
    if counts["discovered_types"] is None:
        return note
    types = counts["discovered_types"]
    return f"{note} Types that it named as fitting the documents: {types}."


def needle_criteria(study: TableInputs) -> Table:
    """Build from the scores of the criteria."""
    import pandas as pd

    runs = runs_of(study, "needles")
    rows = stratum_rows(study, runs)
    rows = rows[~rows["stratum"].astype(str).str.startswith("group:")]
    rows = rows.assign(row=rows["row"].replace("all", "All needles"))
    cells = study.frames.select_cells(metric="rate", protocol="needles")
    criteria = cells.sort_values(["corpus", "extractor"], kind="stable")["matching"].unique()
    rates = needle_columns(
        *((criterion_label(criterion), "rate", criterion) for criterion in criteria),
        group="Criterion",
    )
    columns = pd.concat([rates, needle_columns(("Needles", "needles", ""))], ignore_index=True)
    frame = needle_frame(study, rows, columns, ("Entity type", "Model"))
    for position, stratum in enumerate(rows["stratum"]):
        if stratum != "all":
            _mark_best(frame, position, len(criteria))
    notes = [
        CRITERIA_NOTE,
        "Bold: the type's best criterion, whose rate is its MINEA.",
        WILSON,
        SMALL_NOTE,
        coverage_note(study, runs),
    ]
    caption = "Criteria by which needles are found: share of the needles of each entity type."
    return of_frame(frame, caption, notes)


def _mark_best(frame: pd.DataFrame, row: int, columns: int) -> None:
    """Mark the greatest rates of a row, if anything was found.

    Args:
        frame: of cells.
        row: its position.
        columns: number of rates, which come first.
    """
    cells = [frame.iat[row, column] for column in range(columns)]
    best = max((cell.value for cell in cells if cell.value), default=None)
    for column, cell in enumerate(cells):
        if best is not None and cell.value == best:
            frame.iat[row, column] = replace(cell, bold=True)


SHOWN = 12


def needle_example(inputs: TableInputs) -> Table:
    """Build from the criteria of each needle (files of the kind ``criteria``).

    Needles whose criteria disagree come first; of each file, the first :data:`SHOWN` needles are
    shown.
    """
    criteria = ("n", "ns", "k0.5", "k0.6", "k0.7", "llm")
    rows: list[Row] = []
    total = 0
    known = {run["extractor"]: subject(run) for run in runs_of(inputs, "needles")}
    for path in inputs.files.get("criteria", []):
        found = [row for _, row in read_jsonl(path)]
        total += len(found)
        found.sort(key=lambda row: -len({bool(row.get(criterion)) for criterion in criteria}))
        group = path.parent.name if len(inputs.files["criteria"]) > 1 else ""
        for row in found[:SHOWN]:
            of = (
                {**known[path.parent.name], "stratum": str(row["type"])}
                if path.parent.name in known
                else None
            )
            cells = [
                Cell(text=GAP)
                if row.get(criterion) is None
                else Cell(float(bool(row[criterion])), 0, of=of)
                for criterion in criteria
            ]
            rows.append(Row(f"{row['type']}: {row['name']}", cells, group))
    frame = frame_of_rows(
        rows,
        [("Criterion", criterion_label(criterion)) for criterion in criteria],
        ("Needle", "Model"),
    )
    notes = [
        CRITERIA_NOTE,
        total > len(rows)
        and f"{len(rows)} of {total} needles, those whose criteria disagree first.",
        f"{GAP}: not queried.",
    ]
    return of_frame(frame, "Criteria of single needles: 1 where the needle counts as found.", notes)


def llm_comparison(study: TableInputs) -> Table:
    """Build from the overall scores of every model."""
    import pandas as pd

    runs = runs_of(study, "needles")
    rows = row_frame(make_row(model_label(run, runs), run, "") for run in runs)
    of_needles = needle_columns(
        ("MINEA", "minea", "max"), ("Found", "found", "max"), ("Needles", "needles", "")
    )
    of_calls = needle_columns(("Coverage", "coverage", ""), protocol="calls")
    columns = pd.concat([of_needles, of_calls], ignore_index=True)
    frame = needle_frame(study, rows.assign(stratum="all"), columns, ("Model", ""))
    notes = [
        "Found: needles that the best criterion of their type finds. All models extract the same documents with the "
        "same needles, prompts and limits.",
        MINEA_INTERVAL,
        SMALL_NOTE,
        coverage_note(study, runs),
    ]
    return of_frame(frame, "Language models compared by MINEA, all needles together.", notes)


about_needles = partial(
    TableSpec, needs="needles", possible=lambda study: bool(study.needles.models)
)
MINEA = about_needles(
    name="minea",
    order=24,
    build=minea,
    question="How many entities of a document does a model find, measured by needles put into it?",
    overview=(OverviewColumn("MINEA", {"stratum": "all", "metric": "minea"}),),
)
NEEDLE_CRITERIA = about_needles(
    name="needle-criteria",
    order=25,
    build=needle_criteria,
    question="How much does the rule for “found” decide about the result?",
    overview=None,
)
NEEDLE_EXAMPLE = about_needles(
    name="needle-example",
    order=26,
    build=needle_example,
    question="What does a needle look like, and what was made of it?",
    overview=None,
)
LLM_COMPARISON = about_needles(
    name="llm-comparison",
    order=29,
    build=llm_comparison,
    question="How do language models compare with one another?",
    overview=None,
)
