"""The tables of MINEA about needles (tables 3 to 6)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from tripleaudit.core.files import read_jsonl
from tripleaudit.tables.cells import GAP, MIN_CASES, SMALL, Cell, Row, Table, subject
from tripleaudit.tables.frame_table import frame_of_rows, of_frame
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.runs import RunKey
from tripleaudit.tables.spec import Headline, TableSpec

SMALL_NOTE = f"{SMALL}: of fewer than {MIN_CASES} needles, which is too few for a conclusion."
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


def runs_of(inputs: TableInputs, protocol: str) -> list[RunKey]:
    """Return the runs of one measurement by corpus and name."""
    runs = [run for run in inputs.scores.runs if run.protocol == protocol]
    return sorted(runs, key=lambda run: (run.corpus, run.extractor))


def model_label(run: RunKey, runs: Sequence[RunKey]) -> str:
    """The model's name, with the corpus where there are several."""
    return (
        run.extractor
        if len({one.corpus for one in runs}) == 1
        else f"{run.extractor}, {run.corpus}"
    )


def group_of(run: RunKey, runs: Sequence[RunKey]) -> str:
    """The heading of a model's rows, where there are several models."""
    return model_label(run, runs) if len(runs) > 1 else ""


def cell_of(
    inputs: TableInputs, run: RunKey, metric: str, digits: int = 0, *, of: str = "all", by: str = ""
) -> Cell:
    """Return one measured cell as a fraction or a count, of a stratum and by a criterion."""
    return inputs.scores.cell(run, metric, stratum=of, matching=by, scale=1, digits=digits)


def rate_of(inputs: TableInputs, run: RunKey, metric: str, by: str, of: str = "all") -> Cell:
    """Return one measured share of needles, marked where they are too few for a conclusion."""
    cell = cell_of(inputs, run, metric, inputs.digits(3), of=of, by=by)
    return (
        replace(cell, mark=cell.mark + SMALL)
        if cell.cases is not None and cell.cases < MIN_CASES
        else cell
    )


def strata_of(inputs: TableInputs, run: RunKey, metric: str) -> list[str]:
    """Return the strata that a run has a value for, in their order in the scores file."""
    return [
        stratum
        for stratum, rule, name in inputs.scores.measured(run)
        if (rule, name) == ("", metric)
    ]


def criterion_label(name: str) -> str:
    """``k0.5`` as ``k(0.5)``."""
    return f"k({name[1:]})" if name.startswith("k") else name


def coverage_note(inputs: TableInputs, runs: Sequence[RunKey]) -> str:
    """Say what share of the calls brought a readable answer, by model."""
    parts = []
    for run in runs:
        calls = run._replace(protocol="calls")
        if (found := cell_of(inputs, calls, "coverage").value) is not None:
            counts = {
                status: cell_of(inputs, calls, f"status:{status}").value for status in STATUSES
            }
            listed = ", ".join(
                f"{int(number)} {status}" for status, number in counts.items() if number
            )
            parts.append(
                f"{run.extractor} {100 * found:.1f} % ({listed}){_unreadable_judgements(inputs, calls)}"
            )
    return (
        f"Coverage, the share of calls with a readable answer: {'; '.join(parts)}." if parts else ""
    )


def _unreadable_judgements(inputs: TableInputs, calls: RunKey) -> str:
    """Return a note on unreadable verdicts of the judge; empty without such."""
    unreadable = cell_of(inputs, calls, "judge_unreadable", by="llm").value
    questions = cell_of(inputs, calls, "judge_questions", by="llm").value
    if not unreadable:
        return ""
    return f", {int(unreadable)} of {int(questions or 0)} verdicts of its judge unreadable"


def minea(inputs: TableInputs) -> Table:
    """Build from the scores of the criteria; a group of rows for each model and group of types."""
    runs = runs_of(inputs, "needles")
    rows = [
        _row(inputs, run, stratum, group_of(run, runs))
        for run in runs
        for stratum in strata_of(inputs, run, "needles")
    ]
    hidden = [(run.extractor, cell_of(inputs, run, "displaced", by="n").value) for run in runs]
    displaced = [f"{name} {100 * share:.1f} %" for name, share in hidden if share is not None]
    frame = frame_of_rows(
        rows, ["MINEA", "Needles", "Any criterion", "False positives"], ("Entity type", "Model")
    )
    notes = [
        "MINEA of a type is the greatest rate of its criteria; groups and the overall score weigh types by their "
        "needles. “Any criterion” counts needles that at least one criterion finds.",
        any(row.cells[3].value is not None for row in rows)
        and "False positives: the best criterion, on the same documents without needles.",
        bool(displaced)
        and f"Names found in the untouched documents that the needles displaced: {'; '.join(displaced)}.",
        bool(runs) and _origins(inputs, runs[0]),
        MINEA_INTERVAL,
        SMALL_NOTE,
        coverage_note(inputs, runs),
    ]
    return of_frame(
        frame,
        "MINEA: share of infused needles that the best criterion finds, by entity type and overall.",
        notes,
    )


def _origins(inputs: TableInputs, run: RunKey) -> str:
    """Say where the needles came from; they are the same for all models."""
    origins = run._replace(protocol="origins")
    count = {
        name: cell_of(inputs, origins, name).shown for _, _, name in inputs.scores.measured(origins)
    }
    if "infused" not in count:
        return ""
    if "given" in count:
        return f"Needles: {count['given']} from a file, {count['infused']} infused."
    types = f" Types that it named as fitting the documents: {count.get('discovered_types')}."
    return (
        f"Needles: {count.get('wanted')} wanted, {count.get('generated')} invented by the generating model, "
        f"{count.get('from_templates')} from templates, {count['infused']} infused."
    ) + types * ("discovered_types" in count)


def _row(inputs: TableInputs, run: RunKey, stratum: str, group: str) -> Row:
    either, untouched = (
        replace(rate_of(inputs, one, metric, by, stratum), low=None, high=None)
        for one, metric, by in (
            (run, "minea_any", "any"),
            (run._replace(protocol="needles-untouched"), "minea", "max"),
        )
    )
    cells = (
        rate_of(inputs, run, "minea", "max", stratum),
        cell_of(inputs, run, "needles", of=stratum),
        either,
        untouched,
    )
    return Row("Overall" if stratum == "all" else stratum.replace("group:", "Group "), cells, group)


def needle_criteria(inputs: TableInputs) -> Table:
    """Build from the scores of the criteria."""
    runs, rows = runs_of(inputs, "needles"), []
    measured = [one for run in runs for one in inputs.scores.measured(run)]
    criteria = list(
        dict.fromkeys(criterion for _, criterion, metric in measured if metric == "rate")
    )
    for run in runs:
        for stratum in strata_of(inputs, run, "needles"):
            if stratum.startswith("group:"):
                continue
            rates = {
                criterion: rate_of(inputs, run, "rate", criterion, stratum)
                for criterion in criteria
            }
            best = max((cell.value for cell in rates.values() if cell.value), default=None)
            cells = [
                replace(
                    cell,
                    bold=best is not None and cell.value == best and stratum != "all",
                )
                for criterion, cell in rates.items()
            ]
            cells.append(cell_of(inputs, run, "needles", of=stratum))
            rows.append(
                Row("All needles" if stratum == "all" else stratum, cells, group_of(run, runs))
            )
    frame = frame_of_rows(
        rows,
        [*(("Criterion", criterion_label(criterion)) for criterion in criteria), "Needles"],
        ("Entity type", "Model"),
    )
    notes = [
        CRITERIA_NOTE,
        "Bold: the type's best criterion, whose rate is its MINEA.",
        WILSON,
        SMALL_NOTE,
        coverage_note(inputs, runs),
    ]
    return of_frame(
        frame,
        "Criteria by which needles are found: share of the needles of each entity type.",
        notes,
    )


SHOWN = 12


def needle_example(inputs: TableInputs) -> Table:
    """Build from the criteria of each needle (files of the kind ``criteria``).

    Needles whose criteria disagree come first; of each file, the first :data:`SHOWN` needles are
    shown.
    """
    criteria = ("n", "ns", "k0.5", "k0.6", "k0.7", "llm")
    rows: list[Row] = []
    total = 0
    known = {run.extractor: subject(run._asdict()) for run in runs_of(inputs, "needles")}
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


def llm_comparison(inputs: TableInputs) -> Table:
    """Build from the overall scores of every model."""
    digits, runs, rows = inputs.digits(3), runs_of(inputs, "needles"), []
    for run in runs:
        cells = (
            rate_of(inputs, run, "minea", "max"),
            cell_of(inputs, run, "found", by="max"),
            cell_of(inputs, run, "needles"),
            cell_of(inputs, run._replace(protocol="calls"), "coverage", digits),
        )
        rows.append(Row(model_label(run, runs), cells))
    frame = frame_of_rows(rows, ["MINEA", "Found", "Needles", "Coverage"], ("Model", ""))
    notes = [
        "Found: needles that the best criterion of their type finds. All models extract the same documents with the "
        "same needles, prompts and limits.",
        MINEA_INTERVAL,
        SMALL_NOTE,
        coverage_note(inputs, runs),
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
    overview=(Headline("MINEA", {"stratum": "all", "metric": "minea"}),),
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
