"""Tables of scores: rows are extractors, columns are metrics; every cell is looked up in the same way."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tripleaudit.descriptors import MATCHINGS
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.bootstrap import FEWEST
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Cell, Column, Row, Table, chosen, gaps_note, reported_note
from tripleaudit.tables.inputs import UNEQUAL, UNFINISHED, UNSETTLED, RunKey, TableInputs
from tripleaudit.training.convergence import MARGIN, RISE

PERCENT: dict[str, Any] = {"scale": 100, "digits": 1}
FRACTION = {"scale": 1, "digits": 3}
WHY = "finds next to nothing by exact matching"
LAST_WORDS_ONLY = "pfn-star"  # exact matching says nothing about an extractor of the entities' last words
SETS_NOTE = (
    "Triples are sets within a sentence. A sentence without predictions misses all its gold triples; a score whose "
    "denominator is zero is 0."
)
STRATA_NOTE = (
    "Entire, Partial and Unseen are type F1: F1 over the test sentences whose triples are all entirely seen, partially "
    "seen or unseen in training."
)
NOISE_NOTE = "+EN: trained with Entity Noising."
PRF = (("precision", "Prec."), ("recall", "Rec."), ("f1", "F1"))


@dataclass(frozen=True)
class ScoreRow:
    """A row of one run (or of the run that ``ScoreColumn.of`` makes of it) under one matching rule."""

    label: str
    run: RunKey
    matching: str
    group: str = ""
    contest: str = ""
    """Rows with the same contest compete for the winner's mark; empty for the row's group."""


@dataclass(frozen=True)
class ScoreColumn:
    """A column of one metric in one stratum; ``of`` turns the row's run into the run of this column."""

    label: str
    metric: str = "f1"
    stratum: str = "all"
    group: str = ""
    of: Callable[[RunKey], RunKey] = field(default=lambda run: run)


Reported = Callable[[ScoreRow, ScoreColumn], str | None]


def score_grid(
    inputs: TableInputs,
    rows: Sequence[ScoreRow],
    columns: Sequence[ScoreColumn],
    *,
    scale: float,
    digits: int,
    reported: Reported = lambda row, column: None,
) -> list[list[Cell]]:
    """Return the cells ``[rows][columns]``, winners marked within each contest; baselines take part in none.

    Args:
        inputs: of the table, whose options may say other digits.
        scale, digits: of its values, :data:`PERCENT` or :data:`FRACTION`.
        reported: looks up what a paper prints.
    """
    index, digits = inputs.scores, inputs.digits(digits)
    grid = [
        [
            replace(
                index.cell(
                    column.of(row.run),
                    column.metric,
                    stratum=column.stratum,
                    matching=row.matching,
                    scale=scale,
                    digits=digits,
                ),
                reported=reported(row, column),
            )
            for column in columns
        ]
        for row in rows
    ]
    contests: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        if row.run.extractor in BASELINES or row.run.extractor in index.partial:
            continue
        contests.setdefault(row.contest or row.group, []).append(number)
    for members in contests.values():
        for place, column in enumerate(columns):
            runs = {column.of(rows[number].run): number for number in members}
            best = index.winner(list(runs), column.metric, stratum=column.stratum, matching=rows[members[0]].matching)
            if best is not None:
                number = runs[best]
                grid[number][place] = replace(grid[number][place], bold=True)
    return grid


def as_rows(rows: Iterable[ScoreRow], grid: Iterable[Sequence[Cell]]) -> list[Row]:
    """Join row labels and cells."""
    return [Row(row.label, tuple(cells), row.group) for row, cells in zip(rows, grid, strict=True)]


def as_columns(columns: Iterable[ScoreColumn]) -> list[Column]:
    return [Column(column.label, column.group) for column in columns]


def score_table(
    name: str,
    caption: str,
    rows: Sequence[ScoreRow],
    columns: Sequence[ScoreColumn],
    grid: Sequence[Sequence[Cell]],
    matching: str | None,
    *more: str,
    heads: tuple[str, str],
) -> Table:
    """Return a table of nothing but scores with the notes that it needs, and further ones.

    Args:
        heads: of the columns with the labels of rows and of their groups.
    """
    found = notes((cell for cells in grid for cell in cells), matching, *more)
    return Table(name, caption, as_columns(columns), as_rows(rows, grid), *heads, found)


def extractor_rows(inputs: TableInputs, protocols: Sequence[str], base: str = "original") -> list[ScoreRow]:
    """Return one row for each corpus, extractor (or baseline) and noise setting, for corpora with scores on a protocol.

    Args:
        inputs: of the table.
        protocols: those that only this table is about; a corpus without any of them is left out.
        base: protocol of the rows' runs.
    """
    every = [run for run in inputs.scores.runs if extracts(run.extractor) and run.extractor != LAST_WORDS_ONLY]
    covered = {run.corpus for run in every if run.protocol in protocols}
    about = ("original", *protocols)
    known = {(run.corpus, run.extractor, run.noise) for run in every if run.protocol in about}
    lost = [fact["keys"] | {"system": fact["system"]} for fact in inputs.systems if fact["failed"]]
    known |= {(keys["corpus"], keys["system"], "none") for keys in lost if keys["protocol"] in about}
    mine = [one for one in known if one[0] in covered]
    extractors = labels.ordered((name for _, name, _ in mine), labels.rte_order())
    noises = labels.ordered((noise for *_, noise in mine), ("none", "noising"))
    return [
        ScoreRow(
            labels.extractor(extractor, noise),
            RunKey(corpus, base, "nz", "nz", extractor, noise),
            inputs.matching,
            labels.corpus(corpus),
        )
        for corpus in labels.corpora(covered)
        for extractor in extractors
        for noise in noises
        if (corpus, extractor, noise) in known
    ]


def is_extractor(name: str) -> bool:
    """Whether a name of the scores file is an extractor alone: no classifier, no two-step extraction, no baseline."""
    return not name.startswith("zcc-") and name not in BASELINES


def extracts(name: str) -> bool:
    """Whether a name of the scores file is an extractor alone, or a baseline that stands beside extractors."""
    return is_extractor(name) or (name in BASELINES and not BASELINES[name].classifier)


def row_notes(inputs: TableInputs, rows: Iterable[ScoreRow], *protocols: str) -> list[str]:
    """Return the notes on baselines and on systems without training among a table's rows, and those that failed.

    Args:
        rows: of the table; a system that failed may have none.
        protocols: whose test sets the table is about.
    """
    rows = list(rows)
    names, corpora = dict.fromkeys(row.run.extractor for row in rows), {row.run.corpus for row in rows}
    found = [BASELINES[name].note for name in names if name in BASELINES]
    found += ["Baselines are not compared with the other rows."] * bool(found)
    facts = [
        fact
        for fact in inputs.systems
        if (fact["system"] in names or (fact["failed"] and (fact["keys"]["corpus"] in corpora or not corpora)))
        and fact["keys"]["protocol"] in protocols
    ]
    if shown := dict.fromkeys(fact["system"] for fact in facts if not fact["failed"]):
        found.append(f"Not trained by this study: {', '.join(shown)}; seen and unseen are counted by its training set.")
        if any(fact["keys"]["extractor"] in shown for fact in inputs.runs if "convergence" in fact):
            found.append("Stored outputs of one training: another training of the same system may differ by more.")
    for fact in facts:
        where = (
            f"{fact['system']} ({labels.corpus(fact['keys']['corpus'])}, {labels.protocol(fact['keys']['protocol'])})"
        )
        if fact["asked"] < fact["of"]:
            found.append(
                f"{where} was queried about {fact['asked']} of {fact['of']} sentences; its scores are about these "
                "alone and are not compared with other rows."
            )
        if fact["failed"]:
            found.append(f"{where} has no scores: {fact['failed']}.")
            continue
        key = fact["system"], fact["keys"]["corpus"], fact["keys"]["protocol"]
        if key in inputs.reasons:
            found.append(f"{where} {WHY}: {inputs.reasons[key]}.")
        if fact.get("names"):
            found.append(
                f"{where}: {fact['renamed']} of {fact['triples']} triples have their relation by a map of "
                f"{fact['names']} names."
            )
        if fact["not_in_text"]:
            otherwise = fact.get("written_otherwise", 0)
            found.append(
                f"{where}: {fact['not_in_text']} of {fact['triples']} triples name something that is not in the "
                f"sentence{f' ({otherwise} of them but for case, blanks or punctuation)' * bool(otherwise)}; they have "
                "no offsets there and count as predicted."
            )
    return found


def mark_notes(shown: str) -> list[str]:
    """Return the notes that explain the marks of trainings in what is shown."""
    said = {
        UNEQUAL: "the trainings without and with zero-triple sentences saw unequal numbers of sentences with triples, "
        "so their difference is one of budget too.",
        UNFINISHED: f"the training was still rising when it ended: over its last half validation F1 rose by more than "
        f"{100 * RISE:g} points in each tenth of it, or may have (slope plus one standard error), or twice the epochs "
        f"gained {100 * MARGIN:g} or more. Such values say how fast a system learns, not how far it comes.",
        UNSETTLED: "too few evaluations of the training to know whether it was still rising.",
    }
    return [f"{mark}: {text}" for mark, text in said.items() if mark in shown]


def notes(cells: Iterable[Cell], matching: str | None, *more: str) -> tuple[str, ...]:
    """Return the notes that every table of scores needs, and further ones."""
    cells = list(cells)
    measured = [cell for cell in cells if cell.value is not None]
    found = [MATCHINGS[matching].note] if matching else []
    if matching:
        found.append(SETS_NOTE)
    seeds = sorted({cell.seeds for cell in measured if cell.seeds})
    if seeds:
        number = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
        plural = "" if seeds == [1] else "s"
        spread = "" if seeds == [1] else "; values are means ± sample standard deviations over seeds"
        found.append(f"Trained with {number} seed{plural}{spread}.")
    several = bool(seeds) and seeds[0] > 1
    if any(cell.low is not None for cell in measured):
        levels = "sentences and trained runs" if several else "sentences"
        found.append(
            f"[low, high] is the 95 % bootstrap interval over test {levels} (Wilson's at 0 and 100 %; none under "
            f"{FEWEST} sentences)."
        )
    if any(cell.bold for cell in measured):
        levels = "sentences and runs" if several else "sentences"
        found.append(
            f"Bold: significantly better than every other row of its group (randomisation over {levels}, "
            "Holm-corrected, p < 0.05)."
        )
    found += mark_notes("".join(cell.mark for cell in measured))
    if seeds and seeds[0] == 2:
        found.append("Two runs hardly show how far runs differ, so their intervals are wide; three seeds say more.")
    if seeds and not several:
        found.append(
            "With one seed a row, its interval and its mark speak of this trained model; another training of the same "
            "system may differ by more."
        )
    return chosen(*found, *more, reported_note(cells), gaps_note(cells))


# scores by kind of triple, which several tables show


def strata_columns(group: str = "", of: Callable[[RunKey], RunKey] = lambda run: run, full: bool = True) -> list:
    """Return the columns Prec., Rec. (with ``full``), F1, Entire, Partial and Unseen."""
    metrics = PRF if full else [("f1", "F1")]
    columns = [ScoreColumn(label, metric, group=group, of=of) for metric, label in metrics]
    return columns + [ScoreColumn(label, "f1", stratum, group, of) for stratum, label in labels.SHORT_TYPES.items()]


def compared(
    inputs: TableInputs,
    name: str,
    caption: str,
    columns: Sequence[ScoreColumn],
    printed: Reported,
    only: str = "original",
) -> Table:
    """One row for each corpus, extractor and noise setting, of the corpora that have scores on the protocol ``only``.

    Rows are runs on the original split, which columns may replace; the augmented test set has no strata.
    """
    base, strata = ("augmented", False) if only == "augmented" else ("original", True)
    rows = extractor_rows(inputs, (only,), base)
    grid = score_grid(inputs, rows, columns, reported=printed, **PERCENT)
    noised = any(row.run.noise == "noising" for row in rows)
    more = [STRATA_NOTE if strata else "", NOISE_NOTE if noised else "", *row_notes(inputs, rows, "original", only)]
    heads = ("Method", "Corpus")
    return score_table(name, inputs.caption(caption), rows, columns, grid, inputs.matching, *more, heads=heads)
