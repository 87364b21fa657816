"""One GenRES table: the data sets of one level side by side, a row for each system (GenRES, tables 2 to 4)."""

from tripleaudit.tables.builders import _gre
from tripleaudit.tables.index import RunKey
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Column, Row, Table


def build_level(name: str, level: str, inputs: TableInputs) -> Table:
    """Build the table of one level from GREScores; systems that a data set lacks have gaps there."""
    runs = _gre.runs_of(inputs, level)
    corpora = inputs.names("corpora", [run.corpus for run in runs], tuple(_gre.DATASETS))
    metrics = [*_gre.SIZES, *_gre.SCORES, _gre.COVERAGE]
    mode = _gre.mode_of(inputs, runs)
    metrics += [m for m in _gre.ANSWERS if any(inputs.scores.values(run, "all", mode, m.metric) for run in runs)]
    rows: dict[tuple, dict[str, RunKey]] = {}
    for run in sorted(runs, key=_gre.system_order):
        rows.setdefault((_gre.system_order(run), _gre.label_of(run)), {})[run.corpus] = run
    table_rows = []
    for (_, label), by_corpus in rows.items():
        cells = [
            _gre.measured_or_reported(
                _gre.cell_of(inputs, by_corpus.get(corpus), metric, mode),
                _gre.reported_value(by_corpus[corpus], metric) if corpus in by_corpus else None,
            )
            for corpus in corpora
            for metric in metrics
        ]
        table_rows.append(Row(label, tuple(cells)))
    return Table(
        name,
        inputs.caption(f"GREScores of generative extraction, {level} level."),
        [Column(metric.label, _gre.dataset(corpus)) for corpus in corpora for metric in metrics],
        table_rows,
        row_header="System",
        group_header="Data set",
        notes=_gre.notes_of(
            (c for row in table_rows for c in row.cells),
            _gre.SCORES_NOTE,
            _gre.MODE_NOTES[mode],
            _gre.ANSWERS_NOTE if any(metric in metrics for metric in _gre.ANSWERS) else "",
        ),
    )
