"""The tables about recall of seen triples and about other test sets (rte-generalization, tables 2 to 5)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from tripleaudit.descriptors import Headline, TableSpec
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.tables import labels, reported
from tripleaudit.tables.cells import Cell, Table
from tripleaudit.tables.evidence import TableInputs
from tripleaudit.tables.gates import Pair, best, contrast
from tripleaudit.tables.grid import (
    PERCENT,
    PRF,
    Reported,
    ScoreColumn,
    ScoreRow,
    as_columns,
    as_rows,
    extractor_rows,
    is_extractor,
    notes,
    row_notes,
    score_grid,
)
from tripleaudit.tables.score_index import RunKey, mean_difference
from tripleaudit.tables.words import sentences

STRATA_NOTE = (
    "Entire, Partial and Unseen are type F1: F1 over the test sentences whose triples are all entirely seen, partially "
    "seen or unseen in training."
)
NOISE_NOTE = "+EN: trained with Entity Noising."


def type_columns(group: str = "", of: Callable[[RunKey], RunKey] = lambda run: run, full: bool = True) -> list:
    """Return the columns Prec., Rec. (with ``full``), F1, Entire, Partial and Unseen."""
    metrics = PRF if full else [("f1", "F1")]
    columns = [ScoreColumn(label, metric, group=group, of=of) for metric, label in metrics]
    return columns + [ScoreColumn(label, "f1", stratum, group, of) for stratum, label in labels.SHORT_TYPES.items()]


def reported_in(table: int) -> Reported:
    """Return the look-up of a cell in one of the tables 3 to 5 of the paper (exact matching only)."""

    def look_up(row: ScoreRow, column: ScoreColumn) -> str | None:
        run = column.of(row.run)
        if row.matching != "exact-string" or run.noise not in reported.EN_VARIANTS:
            return None
        metric = reported.METRICS.get(column.metric if column.stratum == "all" else column.stratum, "")
        return reported.rte(
            table, run.corpus, run.protocol, metric, model=run.extractor, variant=reported.EN_VARIANTS[run.noise]
        )

    return look_up


def type_f1(inputs: TableInputs) -> Table:
    """The original split. The paper's baseline rows of table 2 recur in table 3, which has those with noising too."""
    caption = "F1 and type F1 (%) on the original test sets."
    return _compared(inputs, "type-f1", caption, type_columns(full=False))


def rearranged(inputs: TableInputs) -> Table:
    """Each extractor is trained and tested on either split."""
    columns = type_columns("Original") + type_columns("Rearranged", lambda run: run._replace(protocol="rearranged"))
    caption = "Results (%) on the original and the rearranged data sets."
    return _compared(inputs, "rearranged", caption, columns, "rearranged")


def augmented(inputs: TableInputs) -> Table:
    """Trained on the original split, tested on its augmented test set."""
    columns = [ScoreColumn(label, metric) for metric, label in PRF]
    caption = "Results (%) on the augmented test sets, trained on the original split."
    return _compared(inputs, "augmented", caption, columns, "augmented")


def _compared(
    inputs: TableInputs, name: str, caption: str, columns: Sequence[ScoreColumn], only: str = "original"
) -> Table:
    """One row for each corpus, extractor and noise setting, of the corpora that have scores on the protocol ``only``.

    Rows are runs on the original split, which columns may replace; the augmented test set has no strata.
    """
    base, paper, strata = ("augmented", 5, False) if only == "augmented" else ("original", 3, True)
    rows = extractor_rows(
        inputs,
        (only,),
        labels.rte_order(),
        base=lambda corpus, extractor, noise: RunKey(corpus, base, "nz", "nz", extractor, noise),
    )
    shape = {**PERCENT, "digits": inputs.digits(PERCENT["digits"])}
    grid = score_grid(inputs.scores, rows, columns, reported=reported_in(paper), **shape)
    noised = any(row.run.noise == "noising" for row in rows)
    return Table(
        name,
        inputs.caption(caption),
        as_columns(columns),
        as_rows(rows, grid),
        row_header="Method",
        group_header="Corpus",
        notes=notes(
            (cell for cells in grid for cell in cells),
            inputs.matching,
            STRATA_NOTE if strata else "",
            NOISE_NOTE if noised else "",
            *row_notes(inputs, rows, "original", only),
        ),
    )


def sifted(inputs: TableInputs) -> Table:
    """One row for each extractor, protocol and noise setting; columns are grouped by corpus.

    Rows with noising carry the change against the row without; the paper prints these rows only, and of the others
    those of the original split.
    """
    found = [run.protocol for run in inputs.scores.runs if run.protocol.startswith("sift-")]
    protocols = inputs.names("protocols", ["original", *found], labels.protocol_order())
    wide = extractor_rows(
        inputs,
        [protocol for protocol in protocols if protocol != "original"],
        labels.rte_order(),
        base=lambda corpus, name, noise: RunKey(corpus, "", "nz", "nz", name, noise),
    )
    corpora = list(dict.fromkeys(row.run.corpus for row in wide))
    columns = [
        column
        for corpus in corpora
        for column in type_columns(labels.corpus(corpus), lambda run, corpus=corpus: run._replace(corpus=corpus), False)
    ]
    methods = list(dict.fromkeys((row.run.extractor, row.run.noise) for row in wide))
    rows = [
        ScoreRow(
            labels.extractor(protocol.capitalize(), noise),
            RunKey("", protocol, "nz", "nz", extractor, noise),
            inputs.matching,
            group=labels.extractor(extractor),
            contest=protocol,
        )
        for extractor in dict.fromkeys(extractor for extractor, _ in methods)
        for protocol in protocols
        for noise in (noise for name, noise in methods if name == extractor)
    ]
    shape = {**PERCENT, "digits": inputs.digits(PERCENT["digits"])}
    grid = score_grid(inputs.scores, rows, columns, reported=_reported_sifted, **shape)
    for row, cells in zip(rows, grid, strict=True):
        if row.run.noise == "noising":
            cells[:] = [
                _with_change(inputs, row, column, cell, shape) for column, cell in zip(columns, cells, strict=True)
            ]
    noised = any(row.run.noise == "noising" for row in rows)
    return Table(
        "sifted",
        inputs.caption("F1 and type F1 (%) on the original and the overlap-sifted data sets."),
        as_columns(columns),
        as_rows(rows, grid),
        row_header="Data set",
        group_header="Method",
        notes=notes(
            (cell for cells in grid for cell in cells),
            inputs.matching,
            STRATA_NOTE,
            "+EN: trained with Entity Noising; in parentheses the change against the row without." if noised else "",
            "The mark for the winner compares all methods on one data set." if len(rows) > 1 else "",
            *row_notes(inputs, rows, *protocols),
        ),
    )


def _reported_sifted(row: ScoreRow, column: ScoreColumn) -> str | None:
    # The rows without noising are printed for the original split alone, in table 3.
    return reported_in(4 if row.run.noise == "noising" else 3)(row, column)


def _with_change(inputs: TableInputs, row: ScoreRow, column: ScoreColumn, cell: Cell, shape: dict) -> Cell:
    run = column.of(row.run)
    noised, baseline = (
        inputs.scores.values(run._replace(noise=noise), column.stratum, row.matching, column.metric)
        for noise in ("noising", "none")
    )
    paper = None
    if cell.reported is not None:
        metric = reported.METRICS[column.metric if column.stratum == "all" else column.stratum]
        paper = reported.rte(
            4, run.corpus, run.protocol, metric, model=run.extractor, variant="entity noising minus baseline"
        )
    change = mean_difference(noised, baseline, **shape).value
    mark = cell.mark
    if change is not None:  # the change rests on both trainings
        mark = "".join(dict.fromkeys(mark + inputs.scores.mark(run._replace(noise="none"))))
    return replace(cell, change=change, reported_change=paper, mark=mark)


def base_runs(inputs: TableInputs) -> Iterable[RunKey]:
    """The runs that were trained and tested on the original nz split, as the table's options choose them."""
    runs = [run for run in inputs.scores.runs if is_extractor(run.extractor)]
    corpora = inputs.names("corpora", [run.corpus for run in runs], tuple(labels.CORPORA))
    extractors = inputs.names("extractors", [run.extractor for run in runs], labels.rte_order())
    noises = inputs.names("noises", [run.noise for run in runs], ("none", "noising"))
    known = set(runs)
    for corpus in corpora:
        for extractor in extractors:
            for noise in noises:
                run = RunKey(corpus, "original", "nz", "nz", extractor, noise)
                if run in known:
                    yield run


def f1_of(inputs: TableInputs, run: RunKey, stratum: str = "all") -> Cell:
    """The F1 that answers speak of, in percent."""
    return inputs.scores.cell(run, "f1", stratum=stratum, matching=inputs.matching)


def name_of(run: RunKey, among: Iterable[RunKey]) -> str:
    """An extractor's label, with its corpus where there are several."""
    name = labels.extractor(run.extractor)
    return name if len({one.corpus for one in among}) == 1 else f"{name} on {labels.corpus(run.corpus)}"


def floor_of(inputs: TableInputs, run: RunKey, stratum: str = "all") -> tuple[Cell, str]:
    """Return the best F1 of the baselines beside a run, and the baseline's name in the middle of a sentence."""
    cells = [
        (baseline.label, f1_of(inputs, run._replace(extractor=name, noise="none"), stratum))
        for name, baseline in BASELINES.items()
        if not baseline.classifier
    ]
    name, cell = best(cells)
    return cell, f"the baseline “{name}”"


def pair_of(inputs: TableInputs, name: str, first: RunKey, second: RunKey) -> Pair:
    """Return the F1 of two runs with what baselines reach beside the first."""
    return Pair(name, f1_of(inputs, first), f1_of(inputs, second), *floor_of(inputs, first))


def told_types(inputs: TableInputs) -> str:
    runs = list(base_runs(inputs))
    pairs = [
        Pair(
            name_of(run, runs),
            f1_of(inputs, run, "entirely_seen"),
            f1_of(inputs, run, "unseen"),
            *floor_of(inputs, run, "entirely_seen"),
        )
        for run in runs
        if run.noise == "none"
    ]
    answer = contrast(pairs, "on entirely seen triples", "on unseen triples")
    return sentences(answer, _noising(inputs, runs))


def _against_original(protocol: str, words: str) -> Callable[[TableInputs], str]:
    """Return the answer that compares a protocol with the original split."""

    def told(inputs: TableInputs) -> str:
        runs = list(base_runs(inputs))
        pairs = [
            pair_of(inputs, name_of(run, runs), run, run._replace(protocol=protocol))
            for run in runs
            if run.noise == "none"
        ]
        return contrast(pairs, "on the original split", words)

    return told


def told_sifted(inputs: TableInputs) -> str:
    runs = list(base_runs(inputs))
    found = {run.protocol for run in inputs.scores.runs if run.protocol.startswith("sift-")}
    pairs = [
        pair_of(inputs, f"{name_of(run, runs)} ({labels.protocol(protocol)})", run, run._replace(protocol=protocol))
        for run in runs
        if run.noise == "none"
        for protocol in labels.ordered(found, labels.protocol_order())
    ]
    return contrast(pairs, "on the original split", "on the overlap-sifted split")


def _noising(inputs: TableInputs, runs: list[RunKey]) -> str:
    """What Entity Noising does to unseen triples."""
    pairs = [
        Pair(
            f"{name_of(run, runs)}+EN",
            f1_of(inputs, run._replace(noise="none"), "unseen"),
            f1_of(inputs, run, "unseen"),
        )
        for run in runs
        if run.noise == "noising" and run._replace(noise="none") in runs
    ]
    if not any(pair.first.value is not None and pair.second.value is not None for pair in pairs):
        return ""
    return contrast(pairs, "without Entity Noising", "with it", "F1 on unseen triples")


TYPE_F1 = TableSpec(
    name="type-f1",
    order=0,
    build=type_f1,
    possible=lambda study: study.compared,
    question="Does an extractor generalise, or does it recall triples that it was trained on?",
    answer=told_types,
    glance=(Headline("all", {"stratum": "all"}), Headline("unseen", {"stratum": "unseen"})),
)
REARRANGED = TableSpec(
    name="rearranged",
    order=1,
    build=rearranged,
    possible=lambda study: study.compared and "rearranged-nz" in study.trainsets,
    question="What is left of the scores when the split is rearranged to hold more unseen triples?",
    answer=_against_original("rearranged", "on the rearranged split"),
    glance=(Headline("F1", {"protocol": "rearranged", "metric": "f1", "stratum": "all"}),),
)
SIFTED = TableSpec(
    name="sifted",
    order=2,
    build=sifted,
    possible=lambda study: study.compared and any(name.startswith("sift-") for name in study.trainsets),
    question="What is left of the scores when test triples that overlap with training are sifted out?",
    answer=told_sifted,
    glance=(Headline("F1", {"protocol": "sift-*", "metric": "f1", "stratum": "all"}),),
)
AUGMENTED = TableSpec(
    name="augmented",
    order=3,
    build=augmented,
    possible=lambda study: study.compared and "augmented" in study.protocols,
    question="What is left of the scores when entities of the test set are replaced by new ones?",
    answer=_against_original("augmented", "on the augmented test set"),
    glance=(Headline("F1", {"metric": "f1"}),),
)
