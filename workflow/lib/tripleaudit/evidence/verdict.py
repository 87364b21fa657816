"""Verdicts on claims and the findings that they are made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tripleaudit.evidence.claim import Claim

HOLDS: Final = "holds"
DOES_NOT_HOLD: Final = "does not hold"
UNDECIDED: Final = "undecided"
NOT_MEASURABLE: Final = "not measurable here"
VERDICTS: Final = (HOLDS, DOES_NOT_HOLD, UNDECIDED, NOT_MEASURABLE)
NEEDS_MORE: Final = ("not", "paid-model")
"""Values of ``decidable`` of claims that need what is not public, or a model that does the task."""
MIN_SEEDS: Final = 3
PERCENT: Final = 100


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A measured value behind a verdict, in the unit of the claim.

    Attributes:
        what: system or data set.
        value, low, high: with the 95 % interval; None where there is none.
        doubled, low_doubled, high_doubled: the same after twice the epochs.
        decision: what the value says by itself, and after twice the epochs as well; empty for nothing.
        is_settled: whether it may decide the claim (three seeds, and twice the epochs).
    """

    what: str
    study: str
    corpus: str = ""
    part: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    doubled: float | None = None
    low_doubled: float | None = None
    high_doubled: float | None = None
    seeds: int = 0
    encoder: str = ""
    ended: str = ""
    cases: int = 0
    decision: str = ""
    is_settled: bool = False


@dataclass(frozen=True)
class Verdict:
    """What follows for a claim.

    Attributes:
        verdict: one of the four verdicts.
        leans: what the numbers at hand say where seeds, epochs or intervals are missing.
        here: the measured values in words.
        here_doubled: the same after twice the epochs.
        findings: the values.
    """

    claim: Claim
    verdict: str
    leans: str = ""
    here: str = "nothing measured"
    here_doubled: str = ""
    findings: Sequence[Finding] = field(default_factory=tuple)


def with_interval(
    value: float | None, low: float | None, high: float | None, digits: int = 1
) -> str:
    """Return a value with its interval, such as ``3.8 [2.3, 5.3]``."""
    if value is None:
        return "not measured"
    text = f"{value:.{digits}f}"
    return text if low is None or high is None else f"{text} [{low:.{digits}f}, {high:.{digits}f}]"


def decision_by(part: Mapping[str, Any], low: float | None, high: float | None) -> str:
    """Return what an interval says by the bounds ``holds`` and ``fails``, empty for nothing."""
    if low is None or high is None:
        return ""
    if is_within(part["holds"], low, high):
        return HOLDS
    return DOES_NOT_HOLD if is_within(part["fails"], low, high) else ""


def is_within(bounds: Mapping[str, float], low: float, high: float) -> bool:
    """Return whether an interval meets all bounds of a rule."""
    checks = {
        "low": lambda bound: low > bound,
        "high": lambda bound: high < bound,
        "high_at_least": lambda bound: high >= bound,
    }
    return all(checks[name](bound) for name, bound in bounds.items())


def decide_together(
    settled: Sequence[Sequence[Finding]], parts: Sequence[Mapping[str, Any]]
) -> str:
    """Return what settled findings of all parts say together."""
    findings = [finding for part in settled for finding in part]
    if any(finding.decision == DOES_NOT_HOLD for finding in findings):
        return DOES_NOT_HOLD
    if all(finding.decision == HOLDS for finding in findings):
        return HOLDS
    if "fails_all" in parts[0]:
        bounds = parts[0]["fails_all"]
        if all(is_within(bounds, finding.low or 0, finding.high or 0) for finding in findings):
            return DOES_NOT_HOLD
    return UNDECIDED


def lean_of(by_part: Sequence[Sequence[Finding]]) -> str:
    """Return the verdict of more than half of the findings of each part, none of which contradicts."""
    if not all(by_part):
        return ""
    for decision, other in ((HOLDS, DOES_NOT_HOLD), (DOES_NOT_HOLD, HOLDS)):
        agreeing = [[finding.decision == decision for finding in part] for part in by_part]
        contradicted = any(finding.decision == other for part in by_part for finding in part)
        if not contradicted and all(2 * sum(part) > len(part) for part in agreeing):
            return decision
    return ""


def verdict_of(claim: Claim, findings: Sequence[Finding], here: str) -> Verdict | None:
    """Return the verdict of findings each of which has a decision; None without any."""
    if not findings:
        return None
    settled = [finding for finding in findings if finding.is_settled]
    verdict = decide_together([settled], [{}]) if settled else UNDECIDED
    leans = lean_of([findings]) if verdict == UNDECIDED else ""
    return Verdict(claim, verdict, leans, here, "", findings)
