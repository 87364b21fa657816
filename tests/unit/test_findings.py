"""Every figure among the findings stands in a stored table of its study (``resources/results``),
or is listed here.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NUMBER = r"(?<![\w.\-])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w-])"
INTERVAL = re.compile(rf"({NUMBER})†? ?\[({NUMBER}), ({NUMBER})\]")
STORED = re.compile(r"\]\((?:\.\./)?resources/results/([\w-]+)\.md\)")
# figures of the corpus, the study, another page or predictions, and differences of cells, which no
# stored table holds
ELSEWHERE = {
    "webnlg-stored": "17.3 640 703 580 42 17 2,812 38.8 39.8 53.0 69.3 18 -0.5 +17.5 83,700 80.0",
    "webnlg-ten": "45 34.4 23.6 45.2 48.7 36.4 60.9 89 135 124 413 0",
    "webnlg-ten-stored": "2 29 89 135 124 413 0 31.8 21.4 42.9 43.9 32.3 55.6 29.7 55.7",
    "conll04": "76 1,102 69 -1 9",
    "conll04-quick": "0.4 41.0 83.8 36.8 15.1",
    "demo": "7 13 9 282 105 101 500 2,000 1,000 65.8",
    "genres": "19 14 6 0 0.70 002 4.8 5.5",
    "minea": "13 135",
}


def numbers(text: str) -> set[float]:
    return {float(one.replace(",", "")) for one in re.findall(NUMBER, text)}


def plain(text: str) -> str:
    """The text without code, targets of links and words such as ``SmolLM2-135M``."""
    return re.sub(r"`[^`]*`|\]\([^)]*\)|^#.*$", "", text, flags=re.MULTILINE)


def findings() -> dict[str, str]:
    """The part of the page that names a file of stored tables, by that name."""
    parts = re.split(r"(?m)^## ", (ROOT / "docs" / "results.md").read_text(encoding="utf-8"))
    found = {
        one[1]: plain(part.partition("\n")[2]) for part in parts if (one := STORED.search(part))
    }
    table = re.search(
        r"(?m)^\| WebNLG \|(?:.*\n)+?\n", (ROOT / "README.md").read_text(encoding="utf-8")
    )
    return {**found, "webnlg-stored": found["webnlg-stored"] + plain(table[0])}


def missing(study: str, text: str) -> list[str]:
    """What stands in no stored table: intervals are held to one cell, other figures to any;
    shares also as percent.
    """
    stored = (ROOT / "resources" / "results" / f"{study}.md").read_text(encoding="utf-8")
    single = re.sub(r"(?:\*\*|†| ± [\d.]+|<br>)+(?=\[)", " ", stored.replace("**", ""))
    cells = {tuple(float(part) for part in found) for found in INTERVAL.findall(single)}
    cells |= {tuple(round(100 * part, 1) for part in cell) for cell in cells}
    stored = stored.replace("†", "")
    known = (
        numbers(stored)
        | {round(100 * one, 1) for one in numbers(stored)}
        | numbers(ELSEWHERE[study])
    )
    wrong = [" ".join(one) for one in INTERVAL.findall(text) if tuple(map(float, one)) not in cells]
    return wrong + [str(one) for one in sorted(numbers(INTERVAL.sub("", text)) - known)]


@pytest.mark.parametrize("study", findings())
def test_every_figure_of_a_finding_stands_in_a_table(study):
    assert missing(study, findings()[study]) == []
