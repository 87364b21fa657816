"""Tables of scores: rows are systems, columns are metrics, both of them data frames of keys.

A row frame has ``row_group``, ``row`` and keys of a run; a column frame has ``column_group``,
``column``, ``metric`` and perhaps keys that replace those of the row. Every pair of them is looked
up among the study's cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.bootstrap import FEWEST, METRICS, MIN_UNITS
from tripleaudit.scoring.counts import stack_counts
from tripleaudit.scoring.difference import significant_winner
from tripleaudit.scoring.scores import RUN_KEYS, Run, original_testing, run_id, run_keys
from tripleaudit.scoring.spec import MATCHINGS
from tripleaudit.tables import labels, parts
from tripleaudit.tables.cells import GAPS, REPORTED, Cell, Table, of_frame
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.parts import part_frame
from tripleaudit.tables.result_frames import CELL_KEYS, SHARES, Keys, ResultFrames
from tripleaudit.tables.study_facts import UNEQUAL, UNFINISHED, UNREAD, UNSETTLED
from tripleaudit.training.convergence import MARGIN, RISE

if TYPE_CHECKING:
    import pandas as pd

PERCENT: dict[str, Any] = {"scale": 100, "digits": 1}
FRACTION: dict[str, Any] = {"scale": 1, "digits": 3}
WHY = "finds next to nothing by exact matching"
LAST_WORDS_ONLY = (
    "pfn-star"  # exact matching says nothing about an extractor of the entities' last words
)
PARTIAL: Final = "partial-last"
"""Matching rule of such an extractor."""
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
PRF = {"precision": "Prec.", "recall": "Rec.", "f1": "F1"}
ROW_LABELS: Final = ("row_group", "row")
COLUMN_LABELS: Final = ("column_group", "column")

Reported = Callable[[Keys], str | None]
"""Look-up of what a paper prints for the keys of a cell."""


def score_frame(
    study: TableInputs,
    rows: pd.DataFrame,
    columns: pd.DataFrame,
    *,
    heads: tuple[str, str],
    unit: Mapping[str, Any] = PERCENT,
    reported: Reported = lambda keys: None,
    change: Callable[[Keys, Cell], Cell] = lambda keys, cell: cell,
    mark_winners: bool = True,
) -> pd.DataFrame:
    """Return the cells of rows and columns as a frame with their labels.

    Winners are marked within each contest: rows of one ``contest``, or else of one ``row_group``.
    Columns may have a unit of their own (``scale`` and ``digits``).

    Args:
        study: what the table is made from; its options may set other digits.
        rows: see the module.
        columns: see the module.
        heads: of the columns with the labels of rows and of their groups.
        unit: of scores, :data:`PERCENT` or :data:`FRACTION`.
        reported: looks up what a paper prints.
        change: of a cell, what is shown instead.
        mark_winners: whether rows compete.
    """
    import pandas as pd

    pairs = pair_keys(rows, columns)
    numbers = study.frames.cells_at(pairs)
    pairs = pd.concat([pairs, numbers], axis=1)
    winners = winning_cells(study, pairs) if mark_winners else set()
    cells = []
    for position, keys in enumerate(pairs.to_dict("records")):
        own_unit = {**unit, **keys}
        cell = make_cell(keys, own_unit["scale"], study.digits(own_unit["digits"]))
        printed = reported(keys_in_paper(study, keys))
        cell = replace(cell, reported=printed, bold=position in winners)
        cells.append(change(keys, cell))
    count = len(columns)
    lines = [cells[start : start + count] for start in range(0, len(cells), count or 1)]
    return pd.DataFrame(
        lines if count else [[] for _ in range(len(rows))],
        index=labelled(rows, ROW_LABELS, heads[::-1]),
        columns=labelled(columns, COLUMN_LABELS),
        dtype=object,
    )


def score_cells(
    study: TableInputs, keys: pd.DataFrame, unit: Mapping[str, Any] = PERCENT
) -> list[Cell]:
    """Return the cells of a frame with :data:`~tripleaudit.tables.result_frames.CELL_KEYS`."""
    import pandas as pd

    rows = pd.concat([keys[list(CELL_KEYS)], study.frames.cells_at(keys)], axis=1)
    return [make_cell(row, **unit) for row in rows.to_dict("records")]


def labelled(
    frame: pd.DataFrame, names: tuple[str, str], heads: tuple[str, str] | None = None
) -> pd.MultiIndex:
    """Return groups and labels of a frame of rows or columns as an index."""
    import pandas as pd

    return pd.MultiIndex.from_arrays([frame[name].tolist() for name in names], names=heads)


def pair_keys(rows: pd.DataFrame, columns: pd.DataFrame) -> pd.DataFrame:
    """Return every pair of a row and a column; keys of the column replace those of the row."""
    numbered = rows.assign(row_number=range(len(rows)))
    pairs = numbered.merge(columns, how="cross", suffixes=("", "_replaced"))
    for key in CELL_KEYS:
        if f"{key}_replaced" in pairs:
            replaced = pairs.pop(f"{key}_replaced")
            pairs[key] = replaced.where(replaced.notna(), pairs[key])
    return pairs


def make_cell(keys: Keys, scale: float, digits: int) -> Cell:
    """Return the numbers of a row of :meth:`ResultFrames.cells_at` as a cell."""
    if keys["mean"] != keys["mean"]:
        return Cell(digits=digits)

    def scaled(name: str) -> float | None:
        return None if keys[name] != keys[name] else keys[name] * scale

    has_maximum = keys["low"] == keys["low"] or keys["metric"] in SHARES
    return Cell(
        scaled("mean"),
        digits,
        sd=scaled("sd"),
        low=scaled("low"),
        high=scaled("high"),
        seeds=int(keys["seeds"]),
        cases=None if keys["cases"] != keys["cases"] else int(keys["cases"]),
        mark=keys["mark"],
        of={name: keys[name] for name in CELL_KEYS},
        full=scale if has_maximum else None,
    )


def keys_in_paper(study: TableInputs, keys: Keys) -> Keys:
    """Return keys with the extractor and the noise setting of the papers for a training."""
    return {**keys, **study.facts.keys_in_paper(keys)}


def winning_cells(study: TableInputs, pairs: pd.DataFrame) -> set[int]:
    """Return the positions of the cells that win their column of a contest.

    Baselines, systems that were queried about a part of the test set, and models with mostly
    unreadable answers do not compete; nor do other values than precision, recall and F1.
    """
    if pairs.empty:
        return set()
    unread = pairs["mark"].str.contains(UNREAD).groupby(pairs["row_number"]).transform("any")
    excluded = pairs["extractor"].isin([*BASELINES, *study.facts.partial]) | unread
    excluded |= ~pairs["metric"].isin(METRICS)
    contest = pairs["row_group"]
    if "contest" in pairs:
        contest = pairs["contest"].where(pairs["contest"] != "", contest)
    columns = pairs.groupby("row_number").cumcount()
    winners = set()
    for _, members in pairs[~excluded].groupby([contest, columns], sort=False):
        best = winning_row(study.frames, members)
        if best is not None:
            winners.add(best)
    return winners


def winning_row(frames: ResultFrames, contest: pd.DataFrame) -> int | None:
    """Return the row that beats all others significantly, None without one.

    Runs of different seeds have no winner: a mean over other seeds than the test's would be marked.
    Nor have runs of which a training was still rising, or may have been: their order may change
    with more training.

    Args:
        frames: of the study.
        contest: rows of cells with one stratum, matching rule and metric.
    """
    measured = contest[contest["mean"].notna()]
    marks = "".join(measured["mark"])
    if len(measured) < 2 or UNFINISHED in marks or UNSETTLED in marks:
        return None
    runs = measured.to_dict("records")
    first = runs[0]
    matching, stratum = first["matching"], first["stratum"]
    counts = [frames.counts.get(run_id(run), {}) for run in runs]
    # what is not trained has an empty seed, which fits every seed
    trained_seeds = {frozenset(by_seed) for by_seed in counts if set(by_seed) != {""}}
    seeds, *others = trained_seeds or {frozenset(by_seed) for by_seed in counts}
    sentences = {tuple(frames.sentence_ids(run)) for run in runs}
    if others or not seeds or len(sentences) > 1:
        return None
    units = frames.units(first, stratum)
    stacked = [stack_counts(by_seed, matching, stratum, seeds) for by_seed in counts]
    complete = [system for system in stacked if system is not None]
    if len(complete) < len(runs):
        return None
    best = significant_winner(complete, metric=first["metric"], shared=True, units=units)
    return None if best is None else measured.index[best]


def with_parts(
    study: TableInputs,
    frame: pd.DataFrame,
    rows: pd.DataFrame,
    test_sets: Mapping[str, Mapping[str, str]],
) -> pd.DataFrame:
    """Return a frame of scores with the columns of the option ``by``.

    Args:
        study: what the table is made from.
        frame: of :func:`score_frame`.
        rows: its row frame.
        test_sets: heading -> keys that replace those of the rows.
    """
    import pandas as pd

    if not study.options.get("by"):
        return frame
    return pd.concat([frame, part_frame(study, rows, frame.index, test_sets)], axis=1)


def score_table(
    study: TableInputs, caption: str, frame: pd.DataFrame, *more: str, ruled: bool = True
) -> Table:
    """Return a table of scores with the notes that its cells call for.

    Args:
        study: what the table is made from.
        caption: one or two sentences.
        frame: of :func:`score_frame`, perhaps with further columns.
        more: further notes; empty ones are left out.
        ruled: whether the notes explain the rule of matching.
    """
    cells = [cell for cells in frame.to_numpy() for cell in cells]
    found = notes(cells, study.matching if ruled else None)
    if study.options.get("by"):
        more = (*more, parts.NOTE)
    return of_frame(frame, caption, [*found, *more, REPORTED, GAPS])


def extractor_rows(
    study: TableInputs, protocols: Iterable[str], base: str = "original"
) -> pd.DataFrame:
    """Return a row for each corpus, extractor or baseline, and noise setting, with scores.

    A corpus without any of the protocols is left out; the rows' runs are on the protocol ``base``.
    """
    import pandas as pd

    protocols = list(protocols)
    shown_protocols = ["original", *protocols]
    runs = study.runs
    runs = runs[runs["extractor"].map(extracts) & (runs["extractor"] != LAST_WORDS_ONLY)]
    covered = labels.corpora(runs.loc[runs["protocol"].isin(protocols), "corpus"])
    failed = [
        (fact["keys"]["corpus"], fact["system"], "none")
        for fact in study.facts.systems
        if fact["failed"] and fact["keys"]["protocol"] in shown_protocols
    ]
    names = ["corpus", "extractor", "noise"]
    measured = runs.loc[runs["protocol"].isin(shown_protocols), names]
    systems = pd.concat([measured, pd.DataFrame(failed, columns=names)]).drop_duplicates()
    systems = systems[systems["corpus"].isin(covered)]
    orders = {
        "corpus": covered,
        "extractor": labels.ordered(systems["extractor"], labels.rte_order()),
        "noise": labels.ordered(systems["noise"], ("none", "noising")),
    }
    systems = systems.sort_values(names, key=lambda column: column.map(orders[column.name].index))
    rows = []
    testing = original_testing(study.runs.loc[study.runs["protocol"] == "original", "testing"])
    for keys in systems.to_dict("records"):
        run = run_keys(keys, protocol=base, training="nz", testing=testing)
        label = labels.extractor(run["extractor"], run["noise"])
        rows.append(make_row(label, run, study.matching, labels.corpus(run["corpus"])))
    return row_frame(rows)


def make_row(
    label: str, run: Run, matching: str, group: str = "", contest: str = ""
) -> dict[str, str]:
    """Return a row of a row frame; rows compete within their contest, or else their group."""
    labels_of_row = {"row_group": group, "row": label, "contest": contest}
    return {**labels_of_row, **run, "matching": matching}


def row_frame(rows: Iterable[Mapping[str, str]]) -> pd.DataFrame:
    """Return rows as a row frame."""
    import pandas as pd

    names = [*ROW_LABELS, "contest", *RUN_KEYS, "matching"]
    return pd.DataFrame(list(rows), columns=names, dtype=object)


def is_extractor(name: str) -> bool:
    """Return whether a name of the scores file is an extractor alone.

    Classifiers, two-step extraction and baselines are not.
    """
    return not name.startswith("zcc-") and name not in BASELINES


def extracts(name: str) -> bool:
    """Return whether a name is an extractor alone, or a baseline that extracts."""
    return is_extractor(name) or (name in BASELINES and not BASELINES[name].classifier)


def row_notes(inputs: TableInputs, runs: pd.DataFrame, *protocols: str) -> list[str]:
    """Return the notes on baselines, untrained systems and failed systems among the runs.

    A system that failed on the test sets of the protocols may have no row.
    """
    names = dict.fromkeys(runs["extractor"])
    corpora = set(runs["corpus"])
    found = [BASELINES[name].note for name in names if name in BASELINES]
    if found:
        found.append("Baselines are not compared with the other rows in bold marks and rankings.")

    def concerns_rows(fact: Mapping[str, Any]) -> bool:
        is_lost = fact["failed"] and (fact["keys"]["corpus"] in corpora or not corpora)
        return fact["system"] in names or bool(is_lost)

    facts = [
        fact
        for fact in inputs.facts.systems
        if concerns_rows(fact) and fact["keys"]["protocol"] in protocols
    ]
    shown = dict.fromkeys(fact["system"] for fact in facts if not fact["failed"])
    if shown:
        strata = "; seen and unseen are counted by its training set"
        counted = strata if inputs.frames.has_strata else ""
        found.append(f"Not trained by this study: {', '.join(shown)}{counted}.")
    trained = {fact["keys"]["extractor"] for fact in inputs.facts.rows if "convergence" in fact}
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
        UNREAD: "more than half of the model's answers are unreadable (truncated, refused or not in the requested "
        "form); its values are no measure of the model, and it is not ranked.",
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
        f"at 0 and 100 % and where fewer than {MIN_UNITS} sentences decide a score; none under {FEWEST} sentences)."
    )
    if any(cell.bold for cell in measured):
        found.append(
            "Bold: significantly better than every other compared row on the same test set (randomisation "
            f"over sentences{also and f'{also} runs'}, Holm-corrected over all pairs of these rows, p < 0.05). "
            "Not compared are baselines, systems queried about a part of the test set, and models with mostly "
            "unreadable answers."
        )
    found += mark_notes("".join(cell.mark for cell in measured))
    if 2 in seeds:
        found.append(
            "Two runs hardly show how far runs differ, so their intervals are wide; three seeds say more."
        )
    if seeds and single:
        found.append(ONE_SEED)
    return found


def score_columns(
    group: str = "", *, with_strata: bool = False, only_f1: bool = False, **keys: str
) -> pd.DataFrame:
    """Return the columns Prec., Rec. and F1, and F1 of each kind of triple.

    Args:
        group: heading of the columns.
        with_strata: add Entire, Partial and Unseen.
        only_f1: leave out Prec. and Rec.
        keys: that replace those of the rows, such as ``protocol``.
    """
    import pandas as pd

    metrics = {"f1": PRF["f1"]} if only_f1 else PRF
    columns = [(label, metric, "all") for metric, label in metrics.items()]
    if with_strata:
        columns += [(label, "f1", stratum) for stratum, label in labels.SHORT_TYPES.items()]
    frame = pd.DataFrame(columns, columns=["column", "metric", "stratum"])
    return frame.assign(column_group=group, **keys)


def concat_columns(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return column frames one after the other; none gives a frame without columns."""
    import pandas as pd

    return pd.concat([score_columns().iloc[:0], *parts], ignore_index=True)


def strata_table(
    study: TableInputs,
    caption: str,
    columns: pd.DataFrame,
    printed: Reported,
    only: str = "original",
) -> Table:
    """Return a row for each corpus, extractor and noise setting with scores on ``only``.

    Rows are runs on the original split, which columns may replace; the augmented test set has no
    strata. The option ``by`` adds columns of scores on ``only``.
    """
    is_augmented = only == "augmented"
    rows = extractor_rows(study, (only,), only if is_augmented else "original")
    more = [] if is_augmented else [STRATA_NOTE]
    if (rows["noise"] == "noising").any():
        more.append(NOISE_NOTE)
    if not is_augmented and not study.frames.has_strata:
        columns = columns[columns["stratum"] == "all"]
        more = [NO_TRAINING_SET]
    more += row_notes(study, rows, "original", only)
    frame = score_frame(study, rows, columns, heads=("Method", "Corpus"), reported=printed)
    frame = with_parts(study, frame, rows, {"": {"protocol": only}})
    return score_table(study, caption, frame, *more)
