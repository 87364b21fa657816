"""Tables of scores: rows are extractors, columns are metrics; every cell is looked up in the
same way.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from tripleaudit.core.descriptors import MATCHINGS
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.bootstrap import FEWEST
from tripleaudit.tables import labels
from tripleaudit.tables.cells import GAPS, REPORTED, Cell, Column, Row, Table
from tripleaudit.tables.inputs import UNEQUAL, UNFINISHED, UNSETTLED, RunKey, TableInputs
from tripleaudit.tables.unread_answers import UNREAD
from tripleaudit.training.convergence import MARGIN, RISE

PERCENT: dict[str, Any] = {"scale": 100, "digits": 1}
FRACTION: dict[str, Any] = {"scale": 1, "digits": 3}
WHY = "finds next to nothing by exact matching"
LAST_WORDS_ONLY = (
    "pfn-star"  # exact matching says nothing about an extractor of the entities' last words
)
SETS_NOTE = (
    "Triples are sets within a sentence. A sentence without predictions misses all its gold triples; a score whose "
    "denominator is zero is 0."
)
STRATA_NOTE = (
    "Entire, Partial and Unseen are type F1: F1 over the test sentences whose triples are all entirely seen, partially "
    "seen or unseen in training."
)
NO_TRAINING_SET = "No training set was given, so that seen and unseen triples are not told apart."
NOISE_NOTE = "+EN: trained with Entity Noising."
ONE_SEED = (
    "With one seed a row, its interval and its mark speak of this trained model; another training of the same system "
    "may differ by more."
)
PRF = (("precision", "Prec."), ("recall", "Rec."), ("f1", "F1"))


@dataclass(frozen=True)
class ScoreRow:
    """A row of one run (or of the run that ``ScoreColumn.of`` makes of it) under one matching
    rule.
    """

    label: str
    run: RunKey
    matching: str
    group: str = ""
    contest: str = ""
    """Rows with the same contest compete for the winner's mark; empty for the row's group."""


@dataclass(frozen=True)
class ScoreColumn:
    """A column of one metric in one stratum.

    Attributes:
        of: turns the row's run into the run of this column.
        cell: the number of a row instead, where it is no score, as a difference of two.
    """

    label: str
    metric: str = "f1"
    stratum: str = "all"
    group: str = ""
    of: Callable[[RunKey], RunKey] = field(default=lambda run: run)
    cell: "Callable[[ScoreRow, ScoreColumn], Cell] | None" = None


Reported = Callable[[ScoreRow, ScoreColumn], str | None]


def score_table(
    inputs: TableInputs,
    caption: str,
    rows: Sequence[ScoreRow],
    columns: Sequence[ScoreColumn],
    *more: str,
    heads: tuple[str, str],
    ruled: bool = True,
    unit: dict[str, Any] = PERCENT,
    reported: Reported = lambda row, column: None,
    change: Callable[[ScoreRow, ScoreColumn, Cell], Cell] = lambda row, column, cell: cell,
) -> Table:
    """Return a table of scores, winners marked within each contest; baselines take part in none.

    Args:
        inputs: of the table, whose options may say other digits.
        more: further notes.
        heads: of the columns with the labels of rows and of their groups.
        ruled: whether the notes explain the rule of matching.
        unit: of scores, :data:`PERCENT` or :data:`FRACTION`.
        reported: looks up what a paper prints.
        change: of a cell, what is shown instead.
    """
    scale, digits = unit["scale"], inputs.digits(unit["digits"])

    def measure(row: ScoreRow, column: ScoreColumn) -> Cell:
        if column.cell is not None:
            return column.cell(row, column)
        cell = inputs.scores.cell(
            column.of(row.run),
            column.metric,
            stratum=column.stratum,
            matching=row.matching,
            scale=scale,
            digits=digits,
        )
        return replace(cell, reported=reported(row_in_paper(inputs, row, column), column))

    grid = [[measure(row, column) for column in columns] for row in rows]
    mark_winners(inputs, rows, columns, grid)
    table_rows = []
    for row, cells in zip(rows, grid, strict=True):
        pairs = zip(columns, cells, strict=True)
        changed = [change(row, column, cell) for column, cell in pairs]
        table_rows.append(Row(row.label, changed, row.group))
    cells = [cell for row in table_rows for cell in row.cells]
    return inputs.table(
        caption,
        [Column(column.label, column.group) for column in columns],
        table_rows,
        heads,
        *notes(cells, inputs.matching if ruled else None),
        *more,
        REPORTED,
        GAPS,
    )


def mark_winners(
    inputs: TableInputs,
    rows: Sequence[ScoreRow],
    columns: Sequence[ScoreColumn],
    grid: list[list[Cell]],
) -> None:
    """Make the cells bold that win their column of a contest."""
    for members in contests_of(inputs, rows, grid):
        for position, column in enumerate(columns):
            if column.cell is not None:
                continue
            row_of_run = {column.of(rows[number].run): number for number in members}
            best = inputs.scores.winner(
                list(row_of_run),
                column.metric,
                stratum=column.stratum,
                matching=rows[members[0]].matching,
            )
            if best is not None:
                cells = grid[row_of_run[best]]
                cells[position] = replace(cells[position], bold=True)


def contests_of(
    inputs: TableInputs, rows: Sequence[ScoreRow], grid: Sequence[Sequence[Cell]]
) -> list[list[int]]:
    """Return the positions of rows that compete with one another.

    Baselines, systems that were queried about a part of the test set, and models with mostly unread
    answers do not compete.
    """
    contests: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        is_baseline = row.run.extractor in BASELINES
        is_partial = row.run.extractor in inputs.scores.partial
        is_unread = any(UNREAD in cell.mark for cell in grid[number])
        if not (is_baseline or is_partial or is_unread):
            contests.setdefault(row.contest or row.group, []).append(number)
    return list(contests.values())


def row_in_paper(inputs: TableInputs, row: ScoreRow, column: ScoreColumn) -> ScoreRow:
    """Return a row with the extractor and the noise setting under which the papers print the
    values of its training.
    """
    run = inputs.scores.as_in_paper(column.of(row.run))
    return replace(row, run=row.run._replace(extractor=run.extractor, noise=run.noise))


def extractor_rows(
    inputs: TableInputs, protocols: Sequence[str], base: str = "original"
) -> list[ScoreRow]:
    """Return one row for each corpus, extractor (or baseline) and noise setting, for corpora with
    scores on a protocol.

    A corpus without any of the protocols is left out; the rows' runs are on the protocol ``base``.
    """
    measured = [
        run
        for run in inputs.scores.runs
        if extracts(run.extractor) and run.extractor != LAST_WORDS_ONLY
    ]
    covered = labels.corpora(run.corpus for run in measured if run.protocol in protocols)
    shown_protocols = ("original", *protocols)
    systems = {
        (run.corpus, run.extractor, run.noise)
        for run in measured
        if run.protocol in shown_protocols
    }
    for fact in inputs.systems:
        if fact["failed"] and fact["keys"]["protocol"] in shown_protocols:
            systems.add((fact["keys"]["corpus"], fact["system"], "none"))
    systems = {system for system in systems if system[0] in covered}
    extractors = labels.ordered((name for _, name, _ in systems), labels.rte_order())
    noises = labels.ordered((noise for *_, noise in systems), ("none", "noising"))
    rows = []
    for corpus, extractor, noise in product(covered, extractors, noises):
        if (corpus, extractor, noise) in systems:
            run = RunKey(corpus, base, "nz", "nz", extractor, noise)
            label = labels.extractor(extractor, noise)
            rows.append(ScoreRow(label, run, inputs.matching, labels.corpus(corpus)))
    return rows


def is_extractor(name: str) -> bool:
    """Whether a name of the scores file is an extractor alone: no classifier, no two-step
    extraction, no baseline.
    """
    return not name.startswith("zcc-") and name not in BASELINES


def extracts(name: str) -> bool:
    """Whether a name of the scores file is an extractor alone, or a baseline that stands next to
    extractors.
    """
    return is_extractor(name) or (name in BASELINES and not BASELINES[name].classifier)


def row_notes(inputs: TableInputs, rows: Iterable[ScoreRow], *protocols: str) -> list[str]:
    """Return the notes on baselines and on systems without training among a table's rows, and those
    that failed.

    A system that failed on the test sets of the protocols may have no row.
    """
    rows = list(rows)
    names = dict.fromkeys(row.run.extractor for row in rows)
    corpora = {row.run.corpus for row in rows}
    found = [BASELINES[name].note for name in names if name in BASELINES]
    if found:
        found.append("Baselines are not compared with the other rows.")

    def concerns_rows(fact: Mapping[str, Any]) -> bool:
        is_lost = fact["failed"] and (fact["keys"]["corpus"] in corpora or not corpora)
        return fact["system"] in names or bool(is_lost)

    facts = [
        fact
        for fact in inputs.systems
        if concerns_rows(fact) and fact["keys"]["protocol"] in protocols
    ]
    shown = dict.fromkeys(fact["system"] for fact in facts if not fact["failed"])
    if shown:
        strata = "; seen and unseen are counted by its training set"
        counted = strata if inputs.scores.has_strata else ""
        found.append(f"Not trained by this study: {', '.join(shown)}{counted}.")
    trained = {fact["keys"]["extractor"] for fact in inputs.runs if "convergence" in fact}
    if not trained.isdisjoint(shown):
        found.append(
            "Stored outputs of one training: another training of the same system may differ by more."
        )
    for fact in facts:
        found += system_notes(inputs, fact)
    return found


def system_notes(inputs: TableInputs, fact: Mapping[str, Any]) -> list[str]:
    """Return the notes on one system without training and one test set.

    Args:
        inputs: of the table.
        fact: of the system.
    """
    corpus, protocol = fact["keys"]["corpus"], fact["keys"]["protocol"]
    where = f"{fact['system']} ({labels.corpus(corpus)}, {labels.protocol(protocol)})"
    found = []
    if fact["queried"] < fact["of"]:
        found.append(
            f"{where} was queried about {fact['queried']} of {fact['of']} sentences; its scores are about these "
            "alone and are not compared with other rows."
        )
    if fact["failed"]:
        return [*found, f"{where} has no scores: {fact['failed']}."]
    reasons = inputs.reasons.get((fact["system"], corpus, protocol))
    if reasons:
        found.append(f"{where} {WHY}: {reasons}.")
    if fact.get("names"):
        renamed = f"{fact['renamed']} of {fact['triples']} triples have their relation"
        found.append(f"{where}: {renamed} by a map of {fact['names']} names.")
    if fact["not_in_text"]:
        otherwise = fact.get("written_otherwise", 0)
        but = f" ({otherwise} of them but for case, blanks or punctuation)" if otherwise else ""
        found.append(
            f"{where}: {fact['not_in_text']} of {fact['triples']} triples name something that is not in the "
            f"sentence{but}; they have no offsets there and count as predicted."
        )
    return found


def mark_notes(shown: str) -> list[str]:
    """Return the notes that explain the marks of trainings in what is shown."""
    said = {
        UNEQUAL: "the trainings without and with zero-triple sentences saw unequal numbers of sentences with triples, "
        "so that their difference may come from that alone.",
        UNFINISHED: f"the training was still rising when it ended: over its last half validation F1 rose by more than "
        f"{100 * RISE:g} points in each tenth of it, or may have (slope plus one standard error), or twice the epochs "
        f"gained {100 * MARGIN:g} or more. Such values say how fast a system learns, not how far it comes.",
        UNSETTLED: "too few evaluations of the training to know whether it was still rising.",
        UNREAD: "more than half of the model's answers were truncated, refused or could not be read; its values are no "
        "measure of the model, and it is not ranked.",
    }
    return [f"{mark}: {text}" for mark, text in said.items() if mark in shown]


def notes(cells: Iterable[Cell], matching: str | None) -> list[str]:
    """Return the notes that every table of scores needs."""
    measured = [cell for cell in cells if cell.value is not None]
    found = [MATCHINGS[matching].note, SETS_NOTE] if matching else []
    seeds = sorted({cell.seeds for cell in measured if cell.seeds})
    single = not seeds or seeds[0] == 1
    also = (
        ""
        if not seeds or seeds[-1] == 1
        else " and, where there are several,"
        if single
        else " and"
    )
    if seeds:
        number = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
        spread = (
            "" if seeds == [1] else "s; values are means ± sample standard deviations over seeds"
        )
        found.append(f"Trained with {number} seed{spread}.")
    found.append(
        f"[low, high] is the 95 % bootstrap interval over test sentences{also and f'{also} trained runs'} (Wilson's "
        f"at 0 and 100 %; none under {FEWEST} sentences)."
    )
    if any(cell.bold for cell in measured):
        found.append(
            "Bold: significantly better than every other row of its group (randomisation over "
            f"sentences{also and f'{also} runs'}, Holm-corrected, p < 0.05)."
        )
    found += mark_notes("".join(cell.mark for cell in measured))
    if 2 in seeds:
        found.append(
            "Two runs hardly show how far runs differ, so their intervals are wide; three seeds say more."
        )
    if seeds and single:
        found.append(ONE_SEED)
    return found


# scores by kind of triple, which several tables show


def prf_columns(
    group: str = "", of: Callable[[RunKey], RunKey] = lambda run: run
) -> list[ScoreColumn]:
    """Return the columns Prec., Rec. and F1."""
    return [ScoreColumn(label, metric, group=group, of=of) for metric, label in PRF]


def strata_columns(
    group: str = "", of: Callable[[RunKey], RunKey] = lambda run: run, full: bool = True
) -> list:
    """Return the columns Prec., Rec. (with ``full``), F1, Entire, Partial and Unseen."""
    columns = prf_columns(group, of)[0 if full else -1 :]
    return columns + [
        ScoreColumn(label, "f1", stratum, group, of)
        for stratum, label in labels.SHORT_TYPES.items()
    ]


def compared(
    inputs: TableInputs,
    caption: str,
    columns: Sequence[ScoreColumn],
    printed: Reported,
    only: str = "original",
) -> Table:
    """One row for each corpus, extractor and noise setting, of the corpora that have scores on the
    protocol ``only``.

    Rows are runs on the original split, which columns may replace; the augmented test set has no
    strata.
    """
    augmented = only == "augmented"
    rows = extractor_rows(inputs, (only,), only if augmented else "original")
    more = [
        "" if augmented else STRATA_NOTE,
        NOISE_NOTE * any(row.run.noise == "noising" for row in rows),
    ]
    if not augmented and not inputs.scores.has_strata:
        columns = [column for column in columns if column.stratum == "all"]
        more = [NO_TRAINING_SET]
    more += row_notes(inputs, rows, "original", only)
    heads = ("Method", "Corpus")
    return score_table(inputs, caption, rows, columns, *more, heads=heads, reported=printed)
