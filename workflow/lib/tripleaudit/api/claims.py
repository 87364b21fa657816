"""The claims of the four papers, with what was measured of each and a verdict."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripleaudit.api.results import Result
from tripleaudit.evidence.claim import read_claims
from tripleaudit.evidence.decide import decide_all
from tripleaudit.evidence.stored import load_evidence, stored_evidence

if TYPE_CHECKING:
    from tripleaudit.tables.cells import Table

COLUMNS = (
    "paper",
    "claim",
    "statement",
    "printed",
    "contradiction",
    "here",
    "here_doubled",
    "seeds",
    "encoder",
    "cases",
    "verdict",
    "leans",
    "rule_fixed",
    "command",
)


class ClaimsResult(Result):
    """Verdicts on all claims."""

    columns = COLUMNS

    verdicts: Any
    """One :class:`~tripleaudit.evidence.verdict.Verdict` for each claim."""
    sources: list[str]
    """Folders and files of the evidence."""

    def to_json(self) -> dict[str, Any]:
        claims = [
            {
                **row,
                "rule": dict(verdict.claim.rule),
                "findings": [asdict(finding) for finding in verdict.findings],
            }
            for row, verdict in zip(self.rows(), self.verdicts, strict=True)
        ]
        return {"sources": self.sources, "claims": claims}

    def rows(self) -> list[dict[str, Any]]:
        from tripleaudit.evidence.table import summarise

        return [summarise(verdict) for verdict in self.verdicts]

    def findings(self) -> list[dict[str, Any]]:
        """Return every measured value behind the verdicts, with the claim's name."""
        return [
            {"claim": verdict.claim.id, **asdict(finding)}
            for verdict in self.verdicts
            for finding in verdict.findings
        ]

    def tables(self) -> "Sequence[Table]":
        from tripleaudit.evidence.table import claims_table

        return [claims_table(self.verdicts)]

    def __str__(self) -> str:
        from tripleaudit.evidence.table import describe

        return describe(self.verdicts)


def claims(*sources: str | Path) -> ClaimsResult:
    """Return the verdicts on the claims of the four papers.

    Args:
        sources: folders of finished studies, folders of stored evidence, or the JSON of
            ``tripleaudit audit --random-splits N --json``; by default the included evidence.

    Raises:
        UserError: a source is something else.
    """
    entries = read_claims()
    studies = {study for claim in entries for study in claim.decision.get("studies", ())}
    paths = [Path(source) for source in sources] or stored_evidence(studies)
    evidence = [load_evidence(path) for path in paths]
    return ClaimsResult(
        verdicts=decide_all(entries, evidence), sources=[path.name for path in paths]
    )
