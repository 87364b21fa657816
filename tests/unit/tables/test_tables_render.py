import csv
import io
import json
import math
import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from support.latex import check_fits, needs_pdflatex
from support.outline import Outline
from tripleaudit.core.errors import UserError
from tripleaudit.tables.cells import Cell, Column, Row, Table, lines_of, number
from tripleaudit.tables.render import (
    FORMS,
    escape,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
    write_table,
)
from tripleaudit.tables.render.data_forms import read_table, to_json
from tripleaudit.tables.render.markup import SHARED, templates

EVIL = "<script>alert('x')</script> & _a_ 50% $x$ | \\ {b} #1 ~ ^ `c` [d](e) \"q\" \x07\x1b[31m\u202e\n* x"


CELL = Cell(88.31, 1, sd=0.42, low=87.1, high=89.2, seeds=3, reported="88.3", bold=True)


def table(label: str = "CasRel", cell: Cell | None = None, **options) -> Table:
    cells = (
        cell or CELL,
        Cell(),
    )
    columns, rows = (
        [Column("F1", "WebNLG"), Column("Entire", "WebNLG")],
        [Row(label, cells, "WebNLG")],
    )
    return Table(
        "type-f1", "F1 & more", columns, rows, "Method", "Corpus", ["Exact matching."], **options
    )


def test_cell_lines() -> None:
    lines = lines_of(
        Cell(
            88.31,
            1,
            sd=0.42,
            low=87.1,
            high=89.2,
            reported="88.4",
            change=-0.02,
            reported_change="0.5",
        )
    )
    assert (lines.main, lines.interval) == ("88.3 ± 0.4 (0.0)", "[87.1, 89.2]")
    assert (lines.reported, lines.difference) == ("88.4 (+0.5)", "-0.1")
    gap = lines_of(Cell(reported="88.4"))
    assert (gap.main, gap.reported, gap.difference) == ("–", "88.4", "")
    assert lines_of(Cell(text="")).main == ""
    assert (
        number(-0.04, 1) == number(-0.04, 1, sign=True) == "0.0"
        and number(0.26, 1, sign=True) == "+0.3"
    )


def test_difference_is_that_of_the_shown_numbers() -> None:
    assert Cell(88.349, 1, reported="88.3").difference == 0.0
    assert Cell(0.8349, 3, reported="0.834").difference == 0.001
    assert Cell(None, 1, reported="88.3").difference is None


def test_csv_has_a_line_for_each_cell() -> None:
    subject = {"corpus": "webnlg", "extractor": "casrel", "stratum": "all", "metric": "f1"}
    measured, gap = csv.DictReader(io.StringIO(to_csv(table(cell=replace(CELL, of=subject)))))
    labels = {"row_group": "WebNLG", "row": "CasRel", "column_group": "WebNLG"}
    numbers = {"value": "88.31", "sd": "0.42", "low": "87.1", "high": "89.2", "seeds": "3"}
    paper = {"reported": "88.3", "difference": "0", "significant": "yes"}
    expected = {**labels, "column": "F1", **numbers, **paper, **subject}
    assert {name: value for name, value in measured.items() if value} == expected
    assert {name: value for name, value in gap.items() if value} == {**labels, "column": "Entire"}


def test_markdown_form() -> None:
    assert to_markdown(table()).splitlines() == [
        "**F1 &amp; more**",
        "",
        "| Corpus | Method | WebNLG<br>F1 | WebNLG<br>Entire |",
        "| :--- | :--- | ---: | ---: |",
        "| WebNLG | CasRel | **88.3 ± 0.4**<br>[87.1, 89.2]<br>reported 88.3, Δ 0.0 | – |",
        "",
        "- Exact matching.",
    ]


def test_latex_form() -> None:
    text = to_latex(table())
    assert "\\multicolumn{2}{c}{WebNLG} \\\\\n\\cmidrule(lr){3-4}\n" in text
    assert "\nCorpus & Method & F1 & Entire \\\\\n" in text
    mixed = replace(
        table(), columns=[Column("F1"), Column("P", "A")], rows=[replace(table().rows[0], group="")]
    )
    assert (
        "{c}{} & \\multicolumn{1}{c}{A} \\\\\n\\cmidrule(lr){3-3}\nMethod & F1 & P \\\\\n"
        in to_latex(mixed)
    )
    assert (
        "\\textbf{88.3 \\ensuremath{\\pm} 0.4}\\\\ \\scriptsize [87.1, 89.2]\\\\ \\scriptsize reported 88.3"
        in text
    )
    assert " & -- \\\\\n\\bottomrule" in text
    assert text.count("\\begin{") == text.count("\\end{") == 4


def test_html_form() -> None:
    text = to_html(table())
    elements = Outline(text)
    assert not elements.open and elements.tags.count("td") == 2
    assert text.isascii()
    for part in (
        "88.3 ± 0.4",
        "[87.1, 89.2]",
        "reported 88.3",
        "Δ 0.0",
        "–",
        "F1 & more",
        "Exact matching.",
    ):
        assert part in elements.text
    assert '<th scope="rowgroup" rowspan="1">WebNLG</th>' in text
    assert "<strong>" in text


def test_html_groups_span_their_rows_and_columns() -> None:
    rows = [Row("a", (Cell(1),), "g"), Row("b", (Cell(2),), "g"), Row("c", (Cell(3),), "h")]
    text = to_html(Table("t", "", [Column("x")], rows))
    assert re.findall(r'rowspan="(\d)">(\w)', text) == [("2", "g"), ("1", "h")]
    assert text.count('<tr class="first">') == 1


def test_minus_is_typeset_and_words_are_not() -> None:
    words = table("a-b", Cell(text="sift-1"))
    assert "&#8722;" not in to_html(words) and "ensuremath{-}" not in to_latex(words)
    assert "&#8722;3.0" in to_html(table(cell=Cell(-3.0)))
    assert "\\ensuremath{-}3.0" in to_latex(table(cell=Cell(-3.0)))


@pytest.mark.parametrize("place", ["label", "group", "column", "caption", "note", "text"])
def test_untrusted_text_is_shown_and_does_nothing(place: str) -> None:
    shown = {
        "label": "x",
        "group": "g",
        "column": "F1",
        "caption": "caption",
        "note": "note",
        "text": "1",
        place: EVIL,
    }
    rows = [Row(shown["label"], (Cell(text=shown["text"]),), shown["group"])]
    made = Table(
        "t", shown["caption"], [Column(shown["column"], "group")], rows, notes=[shown["note"]]
    )
    html = to_html(made)
    elements = Outline(html)
    assert "script" not in elements.tags and "<script" not in html
    assert "<script>alert('x')</script> & _a_ 50% $x$ | \\" in elements.text
    markdown = to_markdown(made)
    assert "<script" not in markdown
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(rows) == 3 and len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    latex = to_latex(made)
    shown = latex.replace("\\%", "").replace(
        "% needs \\usepackage{booktabs,tabularx,adjustbox}", ""
    )
    assert "%" not in shown
    assert "\\textless{}script\\textgreater{}" in latex and "\\_a\\_ 50\\% \\$x\\$" in latex
    for render in FORMS.values():
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", render(made))


def test_what_turns_the_direction_of_writing_is_replaced() -> None:
    kinds = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    chars = [chr(code) for code in range(0xA0, 0x3000)]
    turning = {char for char in chars if unicodedata.bidirectional(char) in kinds} | set(
        "\u200e\u200f\u061c"
    )
    assert {char for char in chars if escape.clean(char) == "\ufffd"} == turning


@pytest.mark.parametrize("label", ["=1+1", "+1", "-1", "@x"])
def test_csv_labels_are_no_formulas(label: str) -> None:
    row = list(csv.reader(io.StringIO(to_csv(table(label)))))[1]
    assert row[1] == f"'{label}"
    (negative, _) = csv.DictReader(io.StringIO(to_csv(table(cell=Cell(-1.5)))))
    assert negative["value"] == "-1.5"


@given(st.text(max_size=60))
def test_any_text_survives_html_and_stays_one_line(text: str) -> None:
    shown = Outline(f"<p>{escape.html(text)}</p>").text
    assert shown == escape.clean(text)
    for one in (escape.html(text), escape.markdown(text), escape.latex(text), escape.csv(text)):
        assert len(one.splitlines()) <= 1


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=60))
def test_latex_specials_never_stand_alone(text: str) -> None:
    bare = re.sub(r"\\[A-Za-z]+\{\}|\\ensuremath\{[^}]*\}|\\[&%$#_{}]", "", escape.latex(text))
    assert not set(bare) & set("\\&%$#_{}~^")


def test_rows_must_fill_the_columns() -> None:
    with pytest.raises(ValueError, match="row 'x' has 1 cells, not 2"):
        Table("t", "", [Column("a"), Column("b")], [Row("x", (Cell(1),))])


def test_cells_are_found_by_their_labels() -> None:
    made = table()
    assert made.cell("CasRel", "F1").value == 88.31
    with pytest.raises(UserError, match="0 cells are called 'CasRel', 'Recall'"):
        made.cell("CasRel", "Recall")


def test_cells_are_found_by_what_they_are_of() -> None:
    every = {"stratum": "all"}
    cells = [Cell(1.0, of=every), Cell(2.0, of={"stratum": "unseen"}), Cell(of=every), Cell(3.0)]
    made = Table("t", "", [Column(name) for name in "abcd"], [Row("x", tuple(cells))])
    assert made.find() == cells[:2]
    assert made.find(stratum="unseen") == [cells[1]] and made.find("a", stratum="unseen") == []


def test_a_fraction_in_percent_has_its_interval_and_two_decimals_less() -> None:
    cell = Cell(0.877, 3, sd=0.01, low=0.8, high=0.9, reported="0.9", mark="†", cases=40).percent()
    assert (cell.shown, cell.sd, cell.low, cell.high) == ("87.7", 1.0, 80.0, 90.0)
    assert (cell.mark, cell.cases, cell.difference) == ("†", 40, -2.3)


def test_all_forms_are_written(tmp_path: Path) -> None:
    paths = write_table(table(), tmp_path / "tables" / "type-f1")
    assert [path.name for path in paths] == [
        f"type-f1.{form}" for form in ("csv", "md", "tex", "html", "json")
    ]
    assert to_json(read_table(paths[-1])) == to_json(table())
    assert all(path.stat().st_size for path in paths)


def test_json_keeps_what_the_page_needs_of_a_table(tmp_path: Path) -> None:
    for order, overview in ((14.5, (("F1", {"metric": "f1"}),)), (math.inf, None), (math.inf, ())):
        made = replace(table(), order=order, overview=overview, question="Who wins?")
        path = tmp_path / "t.json"
        path.write_text(to_json(made), encoding="utf-8")
        json.loads(
            path.read_text(encoding="utf-8"), parse_constant=pytest.fail
        )  # JSON has no infinity
        assert to_json(read_table(path)) == to_json(made)


def shaped(columns: int, rows: int, cell: Cell, style: str = "") -> Table:
    """A table with groups, as long and wide as a study's."""
    heads = [Column(f"Metric {place}", f"Corpus {place // 3}") for place in range(columns)]
    lines = [
        Row(f"TPLinker+EN {number}", (cell,) * columns, f"Corpus {number // 8}")
        for number in range(rows)
    ]
    notes = [
        "[low, high] is the interval.",
        *(f"Note {number} says what a reader must know." for number in range(20)),
    ]
    return Table("wide", "A caption " * 12, heads, lines, "Method", "Corpus", notes, style)


FULL = Cell(
    88.8,
    1,
    sd=0.4,
    low=86.1,
    high=90.3,
    change=1.2,
    reported="88.3",
    reported_change="0.5",
    mark="†‡",
)


@needs_pdflatex
def test_latex_compiles_and_fits_the_page(tmp_path: Path) -> None:
    cell = Cell(-1.5, 1, sd=0.1, low=-2, high=1, reported="1.0", change=1.0, reported_change="2")
    made = table(escape.clean(EVIL), cell)
    notes = Table(
        made.name, EVIL, made.columns, made.rows, notes=["± – − ≥ × → ↑ ↓ Δ κ ° “a” … · ’", EVIL]
    )
    rows = [Row("a", (Cell(text="some words " * 40), Cell(1.0)))]
    words = Table("words", "Texts.", [Column("Text"), Column("n")], rows)
    shapes = [
        shaped(18, 20, FULL),
        shaped(3, 150, FULL),
        shaped(18, 20, FULL, "paper"),
        shaped(2, 1, Cell()),
    ]
    check_fits(map(to_latex, (made, notes, words, *shapes)), tmp_path)


def test_a_long_table_goes_on_with_its_notes_below_the_last_page() -> None:
    long = to_latex(shaped(3, 150, FULL))
    pages = long.split("\\begin{table}[p]")[1:]
    assert len(pages) > 2 and long.count("\\label{") == 1
    assert f"(continued, 2 of {long.count('begin{table}')})" in pages[1]
    assert sum(long.count(f"TPLinker+EN {number} &") for number in range(150)) == 150
    assert ["Note 19 says" in page for page in pages] == [False] * (len(pages) - 1) + [True]
    assert "parbox" not in to_latex(replace(table(), notes=[]))


def test_a_papers_style_has_no_intervals() -> None:
    full, paper = (to_latex(shaped(2, 3, FULL, style)) for style in ("", "paper"))
    assert "[86.1, 90.3]" in full and "[low, high]" in full
    assert "[86.1, 90.3]" not in paper and "[low, high]" not in paper and "reported 88.3" in paper


def test_templates_escape_every_value_once_and_know_every_name() -> None:
    page = templates().from_string("{{ text }}|{{ [text] | join(' ') }}|{% set x = text %}{{ x }}")
    assert page.render(text="<b>'\x07") == "|".join(["&lt;b&gt;&#x27;\ufffd"] * 3)
    markdown = templates(SHARED, escape.markdown).from_string("{{ text }}")
    assert markdown.render(text="a|_b_<i>") == "a&#124;\\_b\\_&lt;i&gt;"
    with pytest.raises(UndefinedError, match="'text' is undefined"):
        page.render()
