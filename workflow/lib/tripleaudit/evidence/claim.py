"""The claims of the papers as data: printed numbers, what has to be measured, decision rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Any, Final

from tripleaudit.core.shipped import DATA
from tripleaudit.core.yaml_files import read_yaml

FILE: Final = DATA / "claims.yaml"
AGREE: Final = "agree"


@dataclass(frozen=True)
class Printed:
    """Numbers of a paper: two columns and their differences.

    Attributes:
        first, second: what the two columns are.
        unit: of the values.
        differences: first minus second, one for each printed row.
    """

    first: str
    second: str
    unit: str
    differences: Sequence[float]

    def describe(self) -> str:
        """Return range, mean and number of the printed differences."""
        low, high = min(self.differences), max(self.differences)
        mean = fmean(self.differences)
        return f"{low:g} to {high:g} {self.unit} (mean {mean:.3g}, {len(self.differences)} values)"


@dataclass(frozen=True)
class Claim:
    """An empirical claim of a paper.

    Attributes:
        id: name, such as ``rte-mostly-seen``.
        paper: short name of the paper.
        statement: the claim in this project's words.
        where: ``tables`` and ``sections`` of the paper.
        printed: the paper's numbers.
        text_and_tables: ``verdict`` on whether the text agrees with the paper's tables, and a
            ``note``.
        measure: corpus, test set, systems, metric, strata and contrast that the claim needs.
        rule: when it holds and when it does not, in words, and whether the rule was fixed before
            the deciding numbers were known.
        decidable: what a measurement takes; a key of ``decidable`` in the file.
        caution: why the claim is weaker than it sounds.
        decision: the rule as :mod:`tripleaudit.evidence.decide` reads it.
    """

    id: str
    paper: str
    statement: str
    where: Mapping[str, Sequence[Any]]
    printed: Sequence[Printed]
    text_and_tables: Mapping[str, str]
    measure: Mapping[str, str]
    rule: Mapping[str, str]
    decidable: str
    caution: str
    decision: Mapping[str, Any]

    @property
    def paper_difference(self) -> str:
        """The printed differences that the decision is about, in words."""
        chosen = [
            self.printed[number]
            for number in self.decision.get("printed", [0])[: len(self.printed)]
        ]
        return "; ".join(block.describe() for block in chosen) or "none printed"

    @property
    def contradiction(self) -> str:
        """Where the paper's tables say something else than its text; empty where they agree."""
        if self.text_and_tables["verdict"] == AGREE:
            return ""
        text = self.text_and_tables.get("text")
        said = f"text: {text}; " if text else ""
        return f"{said}{self.text_and_tables['note']}"


@cache
def read_claims() -> tuple[Claim, ...]:
    """Return all claims in the file's order."""
    return tuple(_claim(entry) for entry in read_yaml(FILE)["claims"])


def _claim(entry: Mapping[str, Any]) -> Claim:
    printed = [_printed(block) for block in entry["printed"]]
    return Claim(**{**entry, "printed": printed})


def _printed(block: Mapping[str, Any]) -> Printed:
    position = block["columns"].index("difference")
    differences = [float(row[position]) for row in block["values"]]
    return Printed(block["first"], block["second"], block["unit"], differences)
