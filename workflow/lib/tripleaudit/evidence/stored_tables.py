"""Minutes of trainings from a stored page of tables (``resources/results/STUDY.md``).

Pages of earlier runs have no stored evidence next to them; their table ``trainings`` still says how
long each training took.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tripleaudit.core.files import open_text
from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.tables.labels import extractor

TRAININGS = "## `trainings`"


def stored_minutes(path: Path) -> list[dict[str, Any]]:
    """Return the minutes of each kind of training, as measures of evidence."""
    names = {extractor(name): name for name in EXTRACTORS}
    measures = []
    training_set = ""
    for row in _rows(path):
        training_set = row["Training set"] or training_set
        corpus, _, setting = training_set.rpartition(", ")
        minutes = {
            "corpus": corpus.partition(",")[0],
            "protocol": "original",
            "system": names.get(row["System"], row["System"]),
            "training": setting.lower(),
            "measure": "minutes",
            "value": float(row["Minutes"]),
            "seeds": float(row["Seeds"]),
        }
        measures.append(minutes)
    return measures


def _rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of the table ``trainings`` by the labels of its columns."""
    header: list[str] = []
    with open_text(path) as stream:
        lines = iter(stream)
        for line in lines:
            if line.strip() == TRAININGS:
                break
        for line in lines:
            if line.startswith("## "):
                return
            if not line.startswith("|"):
                continue
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if not header:
                header = cells
            elif not cells[0].startswith(":"):
                yield dict(zip(header, cells, strict=True))
