"""The tables about recall of seen triples and about other test sets (rte-generalization, tables 2 to 5)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from tripleaudit.descriptors import Headline, TableSpec
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.tables import labels, reported
from tripleaudit.tables.cells import Cell, Table
from tripleaudit.tables.gates import (
    FEW,
    NOT_MEASURED,
    bounded,
    contrast,
    not_beaten,
    pairs_of,
    sentences,
    several,
)
from tripleaudit.tables.grid import (
    PERCENT,
    PRF,
    Reported,
    ScoreColumn,
    ScoreRow,
    extractor_rows,
    row_notes,
    score_grid,
    score_table,
)
from tripleaudit.tables.inputs import RunKey, TableInputs, mean_difference, run_of

READS = ("data/reported/rte_eval.csv",)

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
    rows = extractor_rows(inputs, (only,), base)
    grid = score_grid(inputs, rows, columns, reported=reported_in(paper), **PERCENT)
    noised = any(row.run.noise == "noising" for row in rows)
    more = [STRATA_NOTE if strata else "", NOISE_NOTE if noised else "", *row_notes(inputs, rows, "original", only)]
    heads = ("Method", "Corpus")
    return score_table(name, inputs.caption(caption), rows, columns, grid, inputs.matching, *more, heads=heads)


def sifted(inputs: TableInputs) -> Table:
    """One row for each extractor, protocol and noise setting; columns are grouped by corpus.

    Rows with noising carry the change against the row without; the paper prints these rows only, and of the others
    those of the original split.
    """
    found = sorted({run.protocol for run in inputs.scores.runs if run.protocol.startswith("sift-")})
    protocols = labels.ordered({"original", *found}, labels.protocol_order())
    wide = extractor_rows(inputs, found)
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
    grid = score_grid(inputs, rows, columns, reported=_reported_sifted, **PERCENT)
    for row, cells in zip(rows, grid, strict=True):
        if row.run.noise == "noising":
            cells[:] = [_with_change(inputs, row, *pair) for pair in zip(columns, cells, strict=True)]
    noised = any(row.run.noise == "noising" for row in rows)
    return score_table(
        "sifted",
        inputs.caption("F1 and type F1 (%) on the original and the overlap-sifted data sets."),
        rows,
        columns,
        grid,
        inputs.matching,
        STRATA_NOTE,
        "+EN: trained with Entity Noising; in parentheses the change against the row without." if noised else "",
        "The mark for the winner compares all methods on one data set." if len(rows) > 1 else "",
        *row_notes(inputs, rows, *protocols),
        heads=("Data set", "Method"),
    )


def _reported_sifted(row: ScoreRow, column: ScoreColumn) -> str | None:
    # The rows without noising are printed for the original split alone, in table 3.
    return reported_in(4 if row.run.noise == "noising" else 3)(row, column)


def _with_change(inputs: TableInputs, row: ScoreRow, column: ScoreColumn, cell: Cell) -> Cell:
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
    change = mean_difference(noised, baseline).value
    mark = cell.mark
    if change is not None:  # the change rests on both trainings
        mark = "".join(dict.fromkeys(mark + inputs.scores.mark(run._replace(noise="none"))))
    return replace(cell, change=change, reported_change=paper, mark=mark)


SEEN: Final = "entirely_seen"
BEYOND: Final = ("partially_seen", "unseen")  # triples that looking up cannot know
ON: Final = {
    SEEN: "on entirely seen triples",
    "partially_seen": "on partially seen triples",
    "unseen": "on unseen triples",
    "+".join(BEYOND): "on partially seen and unseen triples together",
}


def answer_types(table: Table, inputs: TableInputs) -> str:
    """Say what systems find beyond what looking up can know, what they lose there, and what Entity Noising changes."""
    cells = table.find()
    corpora = dict.fromkeys(cell.of["corpus"] for cell in cells)
    alike: dict[tuple[str, ...], list[Cell]] = {}  # corpora on whose test sets the same can be told
    for corpus in corpora:
        own = [cell for cell in cells if cell.of["corpus"] == corpus]
        strata, pooled = _strata_beyond(own, inputs)
        alike.setdefault(strata, []).extend([*own, *pooled])
    found = [each for strata, own in alike.items() for each in _told_beyond(own, strata, inputs)]
    return sentences(*dict.fromkeys(found)) if found else NOT_MEASURED


def _strata_beyond(cells: Sequence[Cell], inputs: TableInputs) -> tuple[tuple[str, ...], list[Cell]]:
    """Return the strata to hold against entirely seen triples, and their cells where two are taken together.

    They are where one of them has too few sentences, if per-sentence counts are at hand.
    """
    few = [cell for cell in cells if cell.of["stratum"] in BEYOND and cell.cases is not None and cell.cases < FEW]
    if not few:
        return BEYOND, []
    runs = dict.fromkeys((run_of(cell.of), cell.of["matching"]) for cell in cells)
    pooled = [inputs.scores.pooled(run, BEYOND, matching=matching) for run, matching in runs]
    pooled = [cell for cell in pooled if cell.value is not None]
    return (("+".join(BEYOND),), pooled) if pooled else (BEYOND, [])


def _told_beyond(cells: Sequence[Cell], strata: Sequence[str], inputs: TableInputs) -> list[str]:
    """Return sentences about the systems of some corpora, on triples of the strata and entirely seen ones."""
    told, noised = [], []
    for stratum in strata:
        beyond = {"stratum": stratum}
        pairs = pairs_of(cells, {"stratum": SEEN}, beyond, corpora=inputs.corpora)
        told += [contrast(pairs, ON[SEEN], ON[stratum])] if pairs else []
        pairs = pairs_of(cells, beyond, {**beyond, "noise": "noising"}, corpora=inputs.corpora)
        pairs = [pair._replace(name=f"{pair.name}+EN") for pair in pairs]
        noised += [contrast(pairs, "without Entity Noising", "with it", f"F1 {ON[stratum]}")] if pairs else []
    together = ""
    if len(strata) == 1:
        sizes = {name: [cell.cases for cell in cells if cell.of["stratum"] == name and cell.cases] for name in BEYOND}
        counted = " and ".join(str(min(each, default=0)) for each in sizes.values())
        together = (
            f"Partially seen and unseen triples are taken together: alone they have {counted} test sentences, and it "
            f"takes {FEW}."
        )
    return [each for each in (*_found_beyond(cells, strata, inputs), together, *told, *noised) if each]


def _found_beyond(cells: Sequence[Cell], strata: Sequence[str], inputs: TableInputs) -> Iterable[str]:
    """Say what the systems find of the triples that looking up cannot know, beside what looking up finds."""
    for stratum in strata:
        here = {"stratum": stratum}
        pairs = pairs_of(cells, here, here, corpora=inputs.corpora)
        pairs = [pair for pair in pairs if pair.first.cases is None or pair.first.cases >= FEW]
        known = [pair for pair in pairs if pair.floors[0].value is not None]
        if not known:
            continue
        beyond = [pair for pair in known if not not_beaten(pair.first, pair.floors[0])]
        floors = dict.fromkeys(f"{pair.floors[0].shown} %" for pair in known)
        where = f"{ON[stratum]}, where looking up has {several(list(floors))}"
        if len(known) == 1:
            (pair,) = known
            verb = "finds more than looking up" if beyond else "finds no more than looking up"
            yield f"{pair.name} {verb} {ON[stratum]}: F1 is {bounded(pair.first)}, against {next(iter(floors))}."
        elif not beyond:
            yield f"None of {len(known)} systems finds more than looking up {where}."
        else:
            most = max(beyond, key=lambda pair: pair.first.value)
            yield (
                f"{len(beyond)} of {len(known)} systems find more than looking up {where}; most {most.name}: F1 "
                f"{bounded(most.first)}."
            )


def answer_rearranged(table: Table, inputs: TableInputs) -> str:
    pairs = pairs_of(
        table.find(metric="f1", stratum="all"),
        {"protocol": "original"},
        {"protocol": "rearranged"},
        corpora=inputs.corpora,
    )
    return contrast(pairs, "on the original split", "on the rearranged split")


def answer_augmented(table: Table, inputs: TableInputs) -> str:
    """The table has the scores on the augmented test set alone; those on the original one are looked up."""
    cells = table.find(metric="f1")
    originals = f1_elsewhere(inputs, cells, protocol="original")
    pairs = pairs_of([*originals, *cells], {"protocol": "original"}, {"protocol": "augmented"}, corpora=inputs.corpora)
    return contrast(pairs, "on the original split", "on the augmented test set")


def answer_sifted(table: Table, inputs: TableInputs) -> str:
    cells, original = table.find(metric="f1", stratum="all"), {"protocol": "original"}
    sifted = labels.ordered({cell.of["protocol"] for cell in cells} - {"original"}, labels.protocol_order())
    found = [
        (pair, name)
        for name in sifted
        for pair in pairs_of(cells, original, {"protocol": name}, corpora=inputs.corpora)
    ]
    systems = [pair.name for pair in pairs_of(cells, original, original, corpora=inputs.corpora)]
    found.sort(key=lambda one: systems.index(one[0].name))
    pairs = [pair._replace(name=f"{pair.name} ({labels.protocol(name)})") for pair, name in found]
    return contrast(pairs, "on the original split", "on the overlap-sifted split")


def f1_elsewhere(inputs: TableInputs, cells: Iterable[Cell], **elsewhere: str) -> list[Cell]:
    """Return the F1 in percent of the systems of some cells, and of baselines beside them, under another condition."""
    found: dict[RunKey, str] = {}
    for cell in cells:
        run = run_of(cell.of)._replace(**elsewhere)
        found |= {run._replace(extractor=name): cell.of["matching"] for name in (run.extractor, *BASELINES)}
    return [inputs.scores.cell(run, "f1", matching=matching) for run, matching in found.items()]


TYPE_F1 = TableSpec(
    name="type-f1",
    order=0,
    build=type_f1,
    possible=lambda study: study.compared,
    question="Does an extractor generalise, or does it recall triples that it was trained on?",
    answer=answer_types,
    glance=(Headline("all", {"stratum": "all"}), Headline("unseen", {"stratum": "unseen"})),
)
REARRANGED = TableSpec(
    name="rearranged",
    order=1,
    build=rearranged,
    possible=lambda study: study.compared and "rearranged-nz" in study.trainsets,
    question="What is left of the scores when the split is rearranged to hold more unseen triples?",
    answer=answer_rearranged,
    glance=(Headline("F1", {"protocol": "rearranged", "metric": "f1", "stratum": "all"}),),
)
SIFTED = TableSpec(
    name="sifted",
    order=2,
    build=sifted,
    possible=lambda study: study.compared and any(name.startswith("sift-") for name in study.trainsets),
    question="What is left of the scores when test triples that overlap with training are sifted out?",
    answer=answer_sifted,
    glance=(Headline("F1", {"protocol": "sift-*", "metric": "f1", "stratum": "all"}),),
)
AUGMENTED = TableSpec(
    name="augmented",
    order=3,
    build=augmented,
    possible=lambda study: study.compared and "augmented" in study.protocols,
    question="What is left of the scores when entities of the test set are replaced by new ones?",
    answer=answer_augmented,
    glance=(Headline("F1", {"metric": "f1"}),),
)
