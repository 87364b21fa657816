"""Tables as the workflow wrote them: the HTML fragment without its style, and how far it is from reported values."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from tripleaudit.errors import UserError
from tripleaudit.files import open_text

STYLE = re.compile(r"<style>.*?</style>\n?", re.DOTALL)
CAPTION = re.compile(r"<caption>(.*?)</caption>", re.DOTALL)
FORBIDDEN = re.compile(r"<(script|iframe|object|embed|link|img)\b|\son\w+\s*=|javascript:", re.IGNORECASE)


@dataclass(frozen=True)
class TableFile:
    """One table of the study.

    Attributes:
        name: file stem.
        path: of the HTML file.
        fragment: its markup without the style.
        caption: of the table, escaped.
        differences: measured minus reported, of every cell that stands beside a reported value, as printed.
    """

    name: str
    path: Path
    fragment: str
    caption: str
    differences: list[float]

    @property
    def compared(self) -> str:
        """One sentence on how the measured values lie to those of the papers, empty without any."""
        if not self.differences:
            return ""
        sizes = sorted(map(abs, self.differences))
        count = len(sizes)
        middle = (sizes[(count - 1) // 2] + sizes[count // 2]) / 2
        plural = "value" if count == 1 else "values"
        greatest = max(self.differences, key=abs)
        return (
            f"{count} reported {plural} stand beside the measured ones; half of the absolute differences are at most "
            f"{middle:.4g}, the greatest difference is {greatest:+.4g} (in the table's unit)."
        )


def load_table(path: str | Path) -> TableFile:
    """Read ``NAME.html`` and, where it lies beside, ``NAME.csv``.

    Raises:
        UserError: the file is missing or is not a table of this program.
    """
    path = Path(path)
    with open_text(path) as stream:
        text = stream.read()
    if not text.startswith('<section class="ta-table"') or FORBIDDEN.search(STYLE.sub("", text)):
        raise UserError(f"{path}: not a table of this program; make it again with the table rule")
    caption = CAPTION.search(text)
    return TableFile(
        path.stem,
        path,
        STYLE.sub("", text),
        caption.group(1) if caption else "",
        _differences(path.with_suffix(".csv")),
    )


def _differences(path: Path) -> list[float]:
    if not path.exists():
        return []
    with open_text(path) as stream:
        rows = list(csv.reader(stream))
    if not rows:
        return []
    places = [place for place, name in enumerate(rows[0]) if name.endswith(" difference")]
    return [float(row[place]) for row in rows[1:] for place in places if row[place]]
