"""``gre-hard-matching``: closed, semi-open and open extraction under hard matching (GenRES, table 1)."""

from tripleaudit.tables.builders import _gre
from tripleaudit.tables.index import RunKey
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.model import Column, Row, Table

NAME = "gre-hard-matching"
ORDER = ("cdr", "nyt10m", "docred", "wiki20m", "wiki80", "tacred")  # the paper's two, then the others
NAMES = {"P": "precision", "R": "recall", "F1": "f1"}
PAPER = {"P": "precision", "R": "recall", "F1": "F1"}


def build(inputs: TableInputs) -> Table:
    """Build from GREScores: for each data set the ground truth, then systems by setting; micro and published scores.

    The ground truth matches itself, so its cells show sizes only.
    """
    runs = _gre.runs_of(inputs)
    corpora = inputs.names("corpora", [run.corpus for run in runs], ORDER)
    mode = _gre.mode_of(inputs, runs)
    # The plain metric names are those of the mode; the other rule has a prefix.
    micro, macro = ("micro_", "") if mode == "official" else ("", "official_")
    columns = [
        *((metric, "") for metric in (*_gre.SIZES, _gre.COVERAGE)),
        *((_gre.Metric(label, micro + name), "Micro, all texts") for label, name in NAMES.items()),
        *((_gre.Metric(label, macro + name, paper=PAPER[label]), "As published") for label, name in NAMES.items()),
    ]
    rows = []
    for corpus in corpora:
        for run in sorted((run for run in runs if run.corpus == corpus), key=_order):
            gold = run.extractor == _gre.GROUND_TRUTH
            cells = []
            for metric, group in columns:
                shown = None if gold and group else run
                value = None if gold and group else _gre.reported_strategy(run, metric)
                cells.append(_gre.measured_or_reported(_gre.cell_of(inputs, shown, metric, mode), value))
            rows.append(Row(_label(run), tuple(cells), _gre.dataset(corpus)))
    return Table(
        NAME,
        inputs.caption("Extraction strategies under hard matching (%)."),
        [Column(metric.label, group) for metric, group in columns],
        rows,
        row_header="Setting",
        group_header="Data set",
        notes=_gre.notes_of(
            (cell for row in rows for cell in row.cells),
            "Micro: sets of triples, case and underscores ignored, every text counts. As published: means of per-text "
            "scores over the texts with a prediction and gold triples, repeats counted; an empty answer is left out, "
            "so read them with the coverage (Cov.: texts with at least one triple).",
            "The paper's CDR values come from an older gold file." if "cdr" in corpora else "",
        ),
    )


def _order(run: RunKey) -> tuple:
    return (list(_gre.SETTINGS).index(_gre.parts(run)[1]), _gre.system_order(run))


def _label(run: RunKey) -> str:
    setting = _gre.SETTINGS[_gre.parts(run)[1]]
    return setting if run.extractor == _gre.GROUND_TRUTH else f"{setting}: {_gre.label_of(run, with_setting=False)}"
