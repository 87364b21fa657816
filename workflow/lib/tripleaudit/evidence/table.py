"""The verdicts on claims as a table and as text."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from tripleaudit.core.shipped import studies
from tripleaudit.evidence.claim import Claim
from tripleaudit.evidence.verdict import DOES_NOT_HOLD, HOLDS, VERDICTS, Verdict
from tripleaudit.tables.cells import Cell, Column, Row, Table

WIDTH: Final = 100
PLURALS: Final = {HOLDS: "hold", DOES_NOT_HOLD: "do not hold"}
DECIDED: Final = (HOLDS, DOES_NOT_HOLD)
COMMANDS: Final = {
    "random-splits": "tripleaudit audit TRAIN TEST --valid VALID --random-splits 20000 --json",
    "mean-ranks": "tripleaudit claims",
    "rank-correlation": "tripleaudit claims",
    "against-gold": "tripleaudit claims",
}
"""Kind of evidence -> command that makes it, where that is no study."""
NOTES: Final = (
    "In the paper: the differences that it prints. Measured values have a 95 % interval if a single training or "
    "system was measured, else the range over all of them is given.",
    "A claim about trainings is decided if three seeds lead to the same verdict after the study's epochs and after "
    "twice as many, else it is undecided. It leans if more than half of the trainings meet the rule and none "
    "contradicts it.",
    "Cases: test sentences of the smaller side (groups of them where groups are drawn), test triples, random splits or "
    "printed rows. "
    "Rules are those of data/claims.yaml. Intervals about strata, Entity Noising and augmented sets draw groups of "
    "test sentences that share a gold triple.",
)


COLUMNS: Final = {
    "printed": "In the paper",
    "here": "Measured here",
    "here_doubled": "After twice the epochs",
    "seeds": "Seeds",
    "encoder": "Encoder",
    "cases": "Cases",
    "outcome": "Verdict",
    "command": "Reproduce with",
}
"""Key of :func:`summarise` -> column of the table."""

SHORT_COLUMNS: Final = ("printed", "here", "outcome")


def command_of(claim: Claim) -> str:
    """Return the command that makes the evidence of a claim."""
    kind = claim.decision["evidence"]
    if kind in COMMANDS:
        return COMMANDS[kind]
    known = studies()
    named = [study for study in claim.decision["studies"] if study in known]
    return "; ".join(f"tripleaudit run {study}" for study in named)


def summarise(verdict: Verdict) -> dict[str, str]:
    """Return a verdict in words, by column."""
    claim = verdict.claim
    findings = verdict.findings
    cases = sorted({finding.cases for finding in findings if finding.cases})
    smallest_and_greatest = dict.fromkeys((*cases[:1], *cases[-1:]))
    return {
        "paper": claim.paper,
        "claim": claim.id,
        "statement": claim.statement,
        "printed": claim.paper_difference,
        "contradiction": claim.contradiction,
        "here": verdict.here,
        "here_doubled": verdict.here_doubled,
        "seeds": _join(str(finding.seeds) for finding in findings if finding.seeds),
        "encoder": _join(finding.encoder for finding in findings if finding.encoder),
        "cases": " to ".join(f"{number:,}" for number in smallest_and_greatest),
        "verdict": verdict.verdict,
        "leans": verdict.leans,
        "rule_fixed": claim.rule["fixed"],
        "command": command_of(claim),
    }


def claims_table(verdicts: Sequence[Verdict], is_short: bool = False) -> Table:
    """Return the table of all claims.

    Args:
        verdicts: on all claims.
        is_short: whether to show only claims that hold or do not, in few columns.
    """
    shown = [verdict for verdict in verdicts if not is_short or verdict.verdict in DECIDED]
    columns = {key: COLUMNS[key] for key in (SHORT_COLUMNS if is_short else COLUMNS)}
    rows = []
    for verdict in shown:
        summary = summarise(verdict)
        summary["outcome"] = outcome(verdict)
        cells = [Cell(text=summary[key] or "–") for key in columns]
        rows.append(Row(verdict.claim.statement, cells, verdict.claim.paper))
    labels = [Column(label) for label in columns.values()]
    caption = f"Claims of the four papers: {count(verdicts)}."
    notes = [] if is_short else [*NOTES, *contradictions(verdicts)]
    return Table("claims", caption, labels, rows, "Claim", "Paper", notes)


def outcome(verdict: Verdict) -> str:
    """Return the verdict, and where it leans."""
    return f"{verdict.verdict}, leans: {verdict.leans}" if verdict.leans else verdict.verdict


def count(verdicts: Sequence[Verdict]) -> str:
    """Return how many claims have each verdict."""
    counts = Counter(verdict.verdict for verdict in verdicts)
    return ", ".join(
        f"{counts[name]} {PLURALS.get(name, name)}" for name in VERDICTS if counts[name]
    )


def contradictions(verdicts: Iterable[Verdict]) -> list[str]:
    """Return where papers' tables say something else than their text."""
    return [
        f"{verdict.claim.id}: text and tables: {verdict.claim.contradiction}"
        for verdict in verdicts
        if verdict.claim.contradiction
    ]


def describe(verdicts: Sequence[Verdict]) -> str:
    """Return all verdicts as text, a paragraph for each claim."""
    paragraphs = []
    for verdict in verdicts:
        summary = summarise(verdict)
        lines = [f"{verdict.claim.id}: {outcome(verdict)}"]
        entries = {
            "claim": summary["statement"],
            "printed": summary["printed"],
            "text and tables": summary["contradiction"],
            "here": summary["here"],
            "after twice the epochs": summary["here_doubled"],
            "seeds": summary["seeds"],
            "encoder": summary["encoder"],
            "cases": summary["cases"],
            "reproduce with": summary["command"],
        }
        for label, text in entries.items():
            if text:
                lines.append(
                    textwrap.fill(
                        f"{label}: {text}", WIDTH, initial_indent="  ", subsequent_indent="    "
                    )
                )
        paragraphs.append("\n".join(lines))
    return "\n\n".join([*paragraphs, f"{len(verdicts)} claims: {count(verdicts)}"])


def _join(texts: Iterable[str]) -> str:
    return "; ".join(sorted(set(texts)))
