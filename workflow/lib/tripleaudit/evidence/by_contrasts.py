"""Verdicts by contrasts: differences of F1 with intervals, after N and after 2N epochs.

A contrast decides a claim only with three seeds and with the predictions of a training of twice the
epochs, and if the verdict is the same after both. What fewer seeds or single trainings say is a
lean, not a verdict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from tripleaudit.evidence.claim import Claim
from tripleaudit.evidence.stored import Evidence, StoredRow
from tripleaudit.evidence.verdict import (
    HOLDS,
    MIN_SEEDS,
    PERCENT,
    UNDECIDED,
    Finding,
    Verdict,
    decide_together,
    decision_by,
    lean_of,
    with_interval,
)


def decide_contrasts(claim: Claim, evidence: Sequence[Evidence]) -> Verdict | None:
    """Decide by contrasts: each extractor, corpus and test set by itself, then all together."""
    parts = claim.decision["parts"]
    by_part = [_part_findings(claim, part, evidence) for part in parts]
    if claim.decision.get("combine") == "mean":
        by_part = [_means(by_part, parts[0])]
    findings = [finding for part in by_part for finding in part]
    if not findings:
        return None
    settled = [[finding for finding in part if finding.is_settled] for part in by_part]
    verdict = decide_together(settled, parts) if all(settled) else UNDECIDED
    leans = "" if verdict != UNDECIDED else lean_of(by_part)
    return Verdict(
        claim,
        verdict,
        leans,
        "; ".join(_describe(part) for part in by_part if part),
        "; ".join(filter(None, (_describe_doubled(part) for part in by_part))),
        findings,
    )


def _part_findings(
    claim: Claim, part: Mapping[str, Any], evidence: Sequence[Evidence]
) -> list[Finding]:
    return [
        _finding(row, part, source.study)
        for source in evidence
        for row in source.contrasts
        if _belongs(row, claim.decision, part)
    ]


def _belongs(row: StoredRow, decision: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
    """Return whether a stored contrast is about a part of a claim."""
    if row["contrast"] != part["contrast"] or row["unit"] != decision["unit"]:
        return False
    if "protocols" in part and row["protocol_first"] not in part["protocols"]:
        return False
    gate, _, system = row["extractor_second"].rpartition("+")
    if part.get("gate", "") != gate and "gate" in part:
        return False
    return system not in decision.get("without", ())


def _finding(row: StoredRow, part: Mapping[str, Any], study: str) -> Finding:
    sign = part.get("sign", 1)
    value, low, high = _turn(row, "", sign)
    doubled, low_doubled, high_doubled = _turn(row, "_doubled", sign)
    is_doubled = doubled is not None
    decision = decision_by(part, low, high)
    if is_doubled and decision != decision_by(part, low_doubled, high_doubled):
        decision = ""
    seeds = int(row["seeds"])
    first, second = row["extractor_first"], row["extractor_second"]
    return Finding(
        what=first if first == second else f"{first} and {second}",
        study=study,
        corpus=f"{row['corpus']}, {row['protocol_second']}",
        part=row["contrast"],
        value=value,
        low=low,
        high=high,
        doubled=doubled,
        low_doubled=low_doubled,
        high_doubled=high_doubled,
        seeds=seeds,
        encoder=row["encoder"],
        ended=row["ended"],
        cases=int(row["cases"]),
        decision=decision,
        is_settled=is_doubled and seeds >= MIN_SEEDS,
    )


def _turn(row: StoredRow, suffix: str, sign: int) -> tuple[float | None, ...]:
    """Return value and interval of a stored contrast in points, with the claim's sign."""
    value, low, high = (row[f"{name}{suffix}"] for name in ("difference", "low", "high"))
    if value is None:
        return None, None, None
    ends = [None if end is None else sign * PERCENT * end for end in (low, high)]
    if sign < 0:
        ends.reverse()
    return sign * PERCENT * value, *ends


def _means(by_part: Sequence[Sequence[Finding]], rule: Mapping[str, Any]) -> list[Finding]:
    """Return the mean over parts of each system on each corpus.

    The interval is the mean of both ends. It is as wide as it would be if the parts went entirely
    together, so that it is never too narrow.
    """
    systems: dict[tuple[str, str], list[Finding]] = {}
    for part in by_part:
        for finding in part:
            corpus = finding.corpus.partition(",")[0]
            systems.setdefault((finding.what, corpus), []).append(finding)
    means = []
    for (_, corpus), findings in systems.items():
        if len(findings) < len(by_part):
            continue
        names = ("value", "low", "high", "doubled", "low_doubled", "high_doubled")
        ends = {name: [getattr(finding, name) for finding in findings] for name in names}
        averages: dict[str, Any] = {
            name: None if None in values else fmean(values) for name, values in ends.items()
        }
        is_doubled = averages["doubled"] is not None
        decision = decision_by(rule, averages["low"], averages["high"])
        if is_doubled and decision != decision_by(
            rule, averages["low_doubled"], averages["high_doubled"]
        ):
            decision = ""
        seeds = min(finding.seeds for finding in findings)
        is_settled = is_doubled and seeds >= MIN_SEEDS
        mean = replace(findings[0], corpus=corpus, seeds=seeds, decision=decision, **averages)
        means.append(replace(mean, is_settled=is_settled))
    return means


def _describe(findings: Sequence[Finding]) -> str:
    """Return the measured values in words: one with its interval, several as a range."""
    if len(findings) == 1:
        return with_interval(findings[0].value, findings[0].low, findings[0].high)
    values = [finding.value for finding in findings if finding.value is not None]
    met = sum(finding.decision == HOLDS for finding in findings)
    return (
        f"{min(values):.1f} to {max(values):.1f} in {len(findings)} trainings or systems; "
        f"the interval meets the rule in {met}"
    )


def _describe_doubled(findings: Sequence[Finding]) -> str:
    doubled = [finding for finding in findings if finding.doubled is not None]
    turned = [
        replace(one, value=one.doubled, low=one.low_doubled, high=one.high_doubled)
        for one in doubled
    ]
    return _describe(turned) if turned else ""
