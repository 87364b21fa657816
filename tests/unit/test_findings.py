"""Figures of the findings in docs/results.md stand in the tables behind them, or are differences of two that do."""

import re
from itertools import combinations
from pathlib import Path

import pytest

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "results.md").read_text(encoding="utf-8")
SECTIONS = dict(part.split("\n", 1) for part in re.split(r"(?m)^## ", TEXT)[1:])
FINDINGS = [head for head, text in SECTIONS.items() if head.startswith("Findings") and "[Tables](#" in text]
INTERVAL = re.compile(r"\[[-\d., ]*\]")
FIGURE = re.compile(r"(?<![\w.])\d[\d,]*\.\d+")
CHANGE = re.compile(r"point|gain|lose|loss|cost|drop|fall|within|times|by ")
ELSEWHERE = {
    "0.187": "F1 of a training on the validation set",
    "0.218": "F1 of a longer training on the validation set",
    "0.687": "of the demo's findings: in the tables of CoNLL04",
    "0.82": "of the paper, on another corpus",
    "0.88": "of the paper, on another corpus",
    **dict.fromkeys(("60.5", "67.1", "78.4", "83.6"), "of an earlier run on 100 sentences, whose table is not kept"),
    "0.993": "a probability, read from the predictions",
    "87.9": "a recall of the original test set, of which the tables show F1",
    "82.0": "the greatest recall of the trainings there",
}
"""What no table shows -> what it is."""


def anchor(head: str) -> str:
    return re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-")


def tables_of(findings: str) -> str:
    (target,) = re.findall(r"\[Tables\]\(#([^)]+)\)", findings)
    return next(body for head, body in SECTIONS.items() if anchor(head) == target)


def values(text: str) -> list[float]:
    """The numbers of a text, without intervals."""
    text = INTERVAL.sub("", text)
    return [float(one.replace(",", "")) for one in re.findall(r"\d[\d,]*\.?\d*", text)]


def columns(text: str) -> list[list[float]]:
    """The values of each column of each table, without what stands in brackets behind them."""
    found, rows = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([values(re.sub(r"reported.*", "", cell)) for cell in line.split("|")])
        else:
            found += [[one for cell in column for one in cell] for column in zip(*rows, strict=False)]
            rows = []
    return found


def is_change(text: str, found: re.Match[str]) -> bool:
    """Whether a figure is called a difference by the words around it."""
    return bool(CHANGE.search(text[max(0, found.start() - 90) : found.end() + 30]))


def supported(figure: str, text: str, *, change: bool = False) -> bool:
    """Whether a table holds the figure; as a change, also whether two values of a column differ by it."""
    value, digits = float(figure.replace(",", "")), len(figure.partition(".")[2])
    near = 0.5 * 10**-digits + 1e-9
    if any(abs(scale * one - value) <= near for one in values(text) for scale in (1, 100, 0.01)):
        return True
    pairs = (pair for column in columns(text) for pair in combinations(set(column), 2))
    return change and any(abs(scale * abs(a - b) - value) <= near for a, b in pairs for scale in (1, 100))


@pytest.mark.parametrize("head", FINDINGS)
def test_every_figure_of_a_finding_stands_in_its_tables(head):
    tables = tables_of(SECTIONS[head])
    findings = INTERVAL.sub("", re.sub(r"(?m)^\|.*\n", "", SECTIONS[head]))
    missing = [
        " ".join(findings[max(0, found.start() - 60) : found.end() + 30].split())
        for found in FIGURE.finditer(findings)
        if found[0] not in ELSEWHERE and not supported(found[0], tables, change=is_change(findings, found))
    ]
    assert missing == []


def test_a_wrong_figure_is_noticed():
    table = "| a | F1 |\n|---|---|\n| x | 78.8 [77.0, 80.6] |\n| y | 75.3 |\n"
    assert supported("78.8", table) and supported("0.788", table) and supported("3.5", table, change=True)
    assert not supported("78.9", table) and not supported("3.5", table) and not supported("3.6", table, change=True)
