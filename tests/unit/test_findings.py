"""Every figure in the sentences of findings is what a cell of a stored table holds, or follows from cells.

Each section of findings has a list here: the cells of its figures, in the order of the sentences.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIGURE = re.compile(r"(?<![\w.])(?<![A-Za-z]-)[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?!\w)")
NUMBER = r"-?\d[\d,]*\.?\d*"
PAPER = "printed in a paper"
SETTING = "a setting of the study"
PREDICTIONS = "counted in predictions, which no table shows"
CORPUS = "counted in the corpus, which no table of the section shows"


def sections(path: str) -> dict[str, str]:
    parts = re.split(r"(?m)^## ", (ROOT / path).read_text(encoding="utf-8"))
    return dict(part.split("\n", 1) for part in parts[1:]) | {"": parts[0]}


RESULTS = sections("docs/results.md")


@dataclass(frozen=True)
class Told:
    """A figure that no stored table holds, and what it is."""

    value: float
    what: str


@dataclass(frozen=True)
class Cell:
    """What stands in a cell: the value, its spread over seeds, its change, its interval, and what the paper reports."""

    text: str

    def _numbers(self, pattern: str) -> list[float]:
        found = re.search(pattern, self.text)
        return [float(one.replace(",", "")) for one in found.groups()] if found else []

    @property
    def value(self) -> float:
        return self._numbers(rf"^\**({NUMBER})")[0]

    @property
    def spread(self) -> float:
        return self._numbers(rf"± ({NUMBER})")[0]

    @property
    def change(self) -> float:
        return self._numbers(rf"^[^(\[]*\(([-+]{NUMBER})\)")[0]

    @property
    def interval(self) -> list[float]:
        return self._numbers(rf"\[({NUMBER}), ({NUMBER})\]")

    @property
    def reported(self) -> float:
        return self._numbers(rf"reported ({NUMBER})")[0]


class Stored:
    """The tables of a section of ``docs/results.md``: by name, or by caption where they have none."""

    def __init__(self, head: str) -> None:
        (self.text,) = (body for name, body in RESULTS.items() if name.startswith(head))
        self.tables: dict[str, list[tuple[list[str], dict[str, Cell]]]] = {}
        title = r"### `(.+)`" if "### `" in self.text else r"\*\*(.+)\*\*$"
        name, heads, stubs = "", [], []
        for line in self.text.splitlines():
            if found := re.match(title, line):
                name = found[1]
            if not line.startswith("|"):
                heads = []
                continue
            cells = [cell.replace("<br>", " ").strip() for cell in line[1:-1].split("|")]
            if not heads:
                heads, stubs = cells, []
                self.tables.setdefault(name, [])
            elif not set(line) <= set("|:- "):
                many = 2 if heads[1] in ("Method", "Model", "System", "Data set") else 1
                stubs = [cell or stubs[place] for place, cell in enumerate(cells[:many])]
                self.tables[name].append((stubs, dict(zip(heads, map(Cell, cells), strict=True))))

    def column(self, table: str, column: str, group: str = "", *, but: tuple[str, ...] = ()) -> list[Cell]:
        """The cells of a column, of the rows of a group, without rows of some names and those of other matching (*)."""
        return [
            _cell(row, column)
            for stubs, row in self.tables[table]
            if (not group or group in stubs) and not stubs[-1].endswith("*") and stubs[-1] not in but
        ]

    def cell(self, table: str, row: str, column: str) -> Cell:
        """The cell of the one row that has these names, separated by bars."""
        (found,) = (of for stubs, of in self.tables[table] if set(row.split("|")) <= set(stubs))
        return _cell(found, column)

    def __call__(self, table: str, row: str, column: str) -> float:
        return self.cell(table, row, column).value

    def note(self, pattern: str) -> float:
        """A figure of the notes under the tables, or of the section's settings."""
        found = re.search(pattern, self.text)
        assert found, pattern
        return float(found[1].replace(",", ""))


def _cell(row: dict[str, Cell], column: str) -> Cell:
    (cell,) = (cell for head, cell in row.items() if head == column or head.endswith(f" {column}"))
    return cell


def ends(cells: list[float]) -> list[float]:
    return [min(cells), max(cells)]


def values(cells: list[Cell]) -> list[float]:
    return [cell.value for cell in cells]


DEMO, WEBNLG, CONLL = Stored("The demo"), Stored("WebNLG, small"), Stored("CoNLL04 with its")
MINEA, GPU = Stored("MINEA with"), Stored("WebNLG on a GPU")
SYSTEMS = Stored("Systems of several")
F1_TABLE, AUGMENTED = "type-f1", "augmented"
DROP, BOTH_DROPS = "Drop (points) NZ→WZ", "Drop (points) NZ/NZ→WZ/WZ"
LOOKUP = "Memorised triples"


def converged(column: str) -> list[float]:
    return [GPU(F1_TABLE, name, column) for name in ("PFN", "PRGC", "BiRTE", "CasRel")]


def overview() -> list:
    return [
        *ends(converged("F1")),
        *ends(converged("Entire")),
        GPU(F1_TABLE, LOOKUP, "F1"),
        WEBNLG("rearranged", LOOKUP, "Rearranged F1"),
        GPU(AUGMENTED, LOOKUP, "F1"),
        *(CONLL("end-to-end", f"CoNLL04, trained NZ|{name}", DROP) for name in ("BiRTE", "CasRel")),
    ]


def demo() -> list:
    t = DEMO
    return [
        *(t("type-f1", "CasRel", column) for column in ("Entire", "Partial", "Unseen")),
        t("type-f1", LOOKUP, "Entire"),
        t("type-f1", "CasRel", "F1"),
        t("type-f1", LOOKUP, "F1"),
        t("type-f1", "CasRel+EN", "Unseen"),
        t("augmented", "CasRel+EN", "F1"),
        t("augmented", "CasRel", "F1"),
        t("type-f1", "CasRel+EN", "F1"),
        t("type-f1", "CasRel", "F1"),
        t("end-to-end", "Demo, trained NZ|CasRel", DROP),
        t("end-to-end", "Demo, trained NZ|CasRel", "Test WZ F1"),
        t("end-to-end", "Demo, trained WZ|CasRel", "Test WZ F1"),
        t("two-step", "CasRel", "F1"),
        t("two-step", "CasRel", "Change (points)"),
        t("zcc", "ZCC binary", "F1"),
        CONLL("zcc", "ZCC binary", "F1"),
    ]


def webnlg() -> list:
    t = WEBNLG
    slopes = {(names[0], names[-1]): row["Slope"].value for names, row in t.tables["trainings"]}
    rest = slopes.pop(("WebNLG, Rearr., NZ", "CasRel+EN"))
    cell = {name: t.cell("rearranged", name, "Rearranged F1") for name in ("CasRel+EN", LOOKUP)}
    losses = [t.cell("rearranged", name, "Original F1") for name in ("CasRel", "CasRel+EN")]
    gains = [t.cell(AUGMENTED, name, "F1") for name in ("CasRel", "CasRel+EN")]
    return [
        t.note(r"(\d+) minutes on 2 cores"),
        *ends(list(slopes.values())),
        rest,
        gains[1].value - gains[0].value,
        losses[0].value - losses[1].value,
        gains[1].reported - gains[0].reported,
        losses[0].reported - losses[1].reported,
        t("rearranged", LOOKUP, "Original F1"),
        cell[LOOKUP].value,
        cell["CasRel+EN"].value,
        *cell["CasRel+EN"].interval,
        t(AUGMENTED, LOOKUP, "F1"),
        t("rearranged", LOOKUP, "Rearranged Entire"),
        t("rearranged", "CasRel+EN", "Rearranged Entire"),
        t("matching-rules", LOOKUP, "partial-first"),
        t("matching-rules", LOOKUP, "exact-string"),
        Told(3204, PREDICTIONS),
        Told(2031, PREDICTIONS),
    ]


def conll() -> list:
    t, nz, wz = CONLL, "CoNLL04, trained NZ", "CoNLL04, trained WZ"
    test, both = "Test WZ F1", ("BiRTE", "CasRel")
    slopes = {(names[0], names[-1]): row["Slope"].value for names, row in t.tables["trainings"]}
    let_through = [100 * t("zcc", name, "Rec.") for name in ("ZCC binary", "ZCC MCML")]
    cells = [t.cell("two-step", f"{zcc}|{name}", "F1") for name in both for zcc in ("ZCC binary", "ZCC MCML")]
    return [
        slopes["CoNLL04, Ori., WZ", "CasRel"],
        *(t("end-to-end", f"{nz}|{name}", DROP) for name in both),
        *(t("end-to-end", f"{wz}|BiRTE", column) for column in (DROP, "Test NZ F1", test)),
        t("end-to-end", f"{nz}|BiRTE", "Test NZ F1"),
        t("end-to-end", f"{nz}|BiRTE", test),
        t("end-to-end", f"{nz}|CasRel", test),
        t("end-to-end", f"{wz}|CasRel, trained NZ only", test),
        t("end-to-end", f"{wz}|CasRel", test),
        *(cell.value for cell in cells),
        t("end-to-end", f"{nz}|BiRTE", test),
        t("end-to-end", f"{nz}|CasRel", test),
        *let_through,
        *(t("two-step", f"{zcc}|BiRTE", "Change (points)") for zcc in ("ZCC binary", "ZCC MCML")),
        Told(-1, PAPER),
        Told(9, PAPER),
        *(t.cell("two-step", f"{zcc}|BiRTE", "Change (points)").spread for zcc in ("ZCC binary", "ZCC MCML")),
        t("zcc", "ZCC binary", "F1"),
        t("zcc", "ZCC MCML", "F1"),
        t("zcc", "Always yes", "F1"),
        Told(0.82, PAPER),
        Told(0.88, PAPER),
        *(t("type-f1", name, column) for column in ("Entire", "Partial", "Unseen") for name in both),
        t("type-f1", LOOKUP, "F1"),
        t("type-f1", LOOKUP, "Entire"),
        Told(44, CORPUS),
        WEBNLG("triple-types", "Unseen (%)", "Ori."),
        *(t("matching-rules", name, rule) for name in both for rule in ("strict", "exact-string")),
    ]


def minea() -> list:
    t = MINEA
    return [
        t.note(r"SmolLM2-(\d+)M"),
        t.note(r"\((\d+) truncated"),
        t.note(r"(\d+) extraction calls"),
        t("iterations", "redundancy avoidance (0.2) ↑", "0"),
        t("iterations", "entities", "0"),
        t("iterations", "entities", "1"),
        Told(320, SETTING),
        Told(30, SETTING),
        t.note(r"displaced: smollm2 ([\d.]+)"),
        max(values(t.column("lost-in-the-middle", "Part 1")[:1])),
    ]


def gpu() -> list:
    t = GPU
    widths = [
        cell.interval[1] - cell.interval[0]
        for cell in t.column(F1_TABLE, "Unseen", but=(LOOKUP, "Nothing"))
        if cell.value
    ]
    seen, *others = (t.column(F1_TABLE, name, but=(LOOKUP, "Nothing")) for name in ("Entire", "Partial", "Unseen"))
    above = [[a - b for a, b in zip(values(seen), values(each), strict=True)] for each in others]
    lookup = t(F1_TABLE, LOOKUP, "F1")
    rest = [names[-1] for names, row in t.tables["trainings"] if row["Ended"].text == "flat"]
    return [
        Told(0, SETTING),
        *(Told(value, "of docs/benchmarks.md") for value in (83700, 6, 2844, 64, 80.0)),
        t(F1_TABLE, "CasRel", "F1"),
        *ends(above[0]),
        *ends(above[1]),
        WEBNLG("strata-sizes", "Unseen", "Ori."),
        min(widths),
        lookup,
        Told(87.9, "a recall, of which the tables show F1 alone"),
        Told(82.0, "a recall, of which the tables show F1 alone"),
        t(AUGMENTED, LOOKUP, "F1"),
        lookup,
        t(F1_TABLE, "mp-casrel", "F1") - t(F1_TABLE, "mp-casrel-en", "F1"),
        t(AUGMENTED, "mp-casrel-en", "F1") - t(AUGMENTED, "mp-casrel", "F1"),
        *(Told(value, "printed by the paper") for value in (-0.5, 17.5)),
        *ends([t("contamination", name, "Difference") for name in rest]),
        t("contamination", LOOKUP, "Difference"),
    ]


def systems() -> list:
    t, table, column = SYSTEMS, "contamination", "Difference"
    lookup, noised = t.cell(table, LOOKUP, column), t.cell(table, "casrel-noised-stored", column)
    smollm = t.cell("type-f1", "smollm2", "F1")
    stored = [t("type-f1", name, "F1") for name in ("birte-stored", "casrel-noised-stored", "etl-span-stored")]
    return [
        Told(100, SETTING),
        Told(400, SETTING),
        *ends(stored),
        t("type-f1", "nearest", "F1"),
        t("type-f1", LOOKUP, "F1"),
        Told(86, CORPUS),
        Told(100, SETTING),
        t(table, "birte-stored", column),
        lookup.value,
        *lookup.interval,
        t(table, "nearest", column),
        noised.value,
        *noised.interval,
        smollm.value,
        *smollm.interval,
        t.note(r"(\d+) of 201 triples name"),
        t.note(r"67 of (\d+) triples name"),
        t("completion", "smollm2", "Triples"),
        t("completion", "smollm2", "Sentences"),
        t("completion", "smollm2", "Training set Original"),
        Told(46, "counted in the answers"),
        Told(98, "counted in the answers"),
    ]


def readme() -> list:
    """The figures of what the README says was measured, in its list and its table."""
    t = GPU
    strata = ("Entire", "Partial", "Unseen")
    casrel = [t.cell(F1_TABLE, "CasRel", column) for column in strata]
    genres = "of the section GenRES of docs/results.md, which has its own comparison"
    lookup = [t.cell(F1_TABLE, LOOKUP, "F1"), t.cell(F1_TABLE, LOOKUP, "Entire")]
    rows = []
    for name, printed in (("PFN", False), ("BiRTE", False), ("PRGC", True), ("CasRel", True)):
        cells = [t.cell(F1_TABLE, name, column) for column in ("F1", *strata)] + [t.cell(AUGMENTED, name, "F1")]
        rows += [one for cell in cells for one in (cell.value, *cell.interval, *([cell.reported] if printed else []))]
    return [
        Told(2022, "a year"),
        *(cell.value for cell in casrel),
        *(cell.reported for cell in casrel),
        Told(2023, "a year"),
        Told(90, "a title"),
        *(CONLL("end-to-end", f"CoNLL04, trained NZ|{name}", DROP) for name in ("BiRTE", "CasRel")),
        Told(2024, "a year"),
        *(Told(value, genres) for value in (19, 68.2, 62.8, 68.2, 62.8)),
        Told(2404.04068, "a number of arXiv"),
        MINEA.note(r"SmolLM2-(\d+)M"),
        Told(22, "million parameters"),
        Told(95, SETTING),
        *(Told(value, CORPUS) for value in (703, 580, 42, 17, 2812)),
        *rows,
        *(one for cell in lookup for one in (cell.value, *cell.interval)),
        t(F1_TABLE, LOOKUP, "Partial"),
        t(F1_TABLE, LOOKUP, "Unseen"),
        t(AUGMENTED, LOOKUP, "F1"),
        *t.cell(AUGMENTED, LOOKUP, "F1").interval,
        t(F1_TABLE, LOOKUP, "F1"),
        *(Told(value, "of the study's scores") for value in (44.1, 87.9)),
        Told(17, CORPUS),
        Told(100, SETTING),
        Told(185, "of docs/benchmarks.md"),
    ]


def sentences(text: str) -> str:
    """A text without targets of links, without code and without the lines that rule a table."""
    text = re.sub(r"(?m)^\|[-:| ]+\|$", "", text)
    return re.sub(r"`[^`]*`", lambda code: code[0] if ":" in code[0] else "", re.sub(r"\]\([^)]*\)", "]", text))


FINDINGS = {
    "": (RESULTS[""].partition("Findings first:")[2].partition("\nThe section MINEA")[0], overview),
    **{
        head: (body.partition("]\n" if "[Tables]" not in body else ")\n")[2], figures)
        for (head, body), figures in zip(
            [one for one in RESULTS.items() if one[0].startswith("Findings")],
            (demo, webnlg, conll, minea, gpu, systems),
            strict=True,
        )
    },
    "README": (sections("README.md")["The papers, and what was measured here"], readme),
}


def differing(text: str, expected: list) -> list[str]:
    """The figures of a text that are not what the tables hold, and where the text has more or fewer of them."""
    found = [one[0] for one in FIGURE.finditer(sentences(text))]
    wanted = [one.value if isinstance(one, Told) else one for one in expected]
    wrong = []
    for figure, value in zip(found, wanted, strict=False):
        digits = len(figure.partition(".")[2])
        if abs(float(figure.replace(",", "")) - value) > 0.5 * 10**-digits + 1e-9:
            wrong.append(f"{figure}, in the tables {value:.4g}")
    return wrong if len(found) == len(wanted) else [f"{len(found)} figures, {len(wanted)} cells", *wrong]


@pytest.mark.parametrize("head", FINDINGS)
def test_every_figure_of_a_finding_is_that_of_its_cell(head):
    text, figures = FINDINGS[head]
    assert differing(text, figures()) == []


def altered(figure: str) -> str:
    """The figure with its last digit raised by three."""
    return figure[:-1] + str((int(figure[-1]) + 3) % 10)


def test_an_altered_figure_is_noticed():
    """Of every finding: each figure is altered, one after another; what only the list tells is no tables' doing."""
    noticed = by_tables = 0
    total = sum(len(figures()) for _, figures in FINDINGS.values())
    for text, figures in FINDINGS.values():
        plain, expected = sentences(text), figures()
        for one, cell in zip(FIGURE.finditer(plain), expected, strict=True):
            changed = plain[: one.start()] + altered(one[0]) + plain[one.end() :]
            noticed += differing(changed, expected) != []
            by_tables += differing(changed, expected) != [] and not isinstance(cell, Told)
    assert noticed == total > 200
    assert by_tables > 0.75 * total
