"""The verdict on each claim, by the kind of evidence that its rule asks for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from tripleaudit.evidence.by_contrasts import decide_contrasts
from tripleaudit.evidence.by_measures import (
    decide_hard_matching,
    decide_random_splits,
    decide_training_time,
    decide_triple_types,
)
from tripleaudit.evidence.by_printed_rows import (
    decide_against_gold,
    decide_mean_ranks,
    decide_rank_correlation,
)
from tripleaudit.evidence.claim import Claim
from tripleaudit.evidence.stored import Evidence
from tripleaudit.evidence.verdict import NEEDS_MORE, NOT_MEASURABLE, UNDECIDED, Verdict

KINDS: Final[Mapping[str, Callable[[Claim, Sequence[Evidence]], Verdict | None]]] = {
    "contrasts": decide_contrasts,
    "triple-types": decide_triple_types,
    "random-splits": decide_random_splits,
    "training-time": decide_training_time,
    "hard-matching": decide_hard_matching,
    "rank-correlation": decide_rank_correlation,
    "mean-ranks": decide_mean_ranks,
    "against-gold": decide_against_gold,
}
"""Kind of evidence -> function that decides by it."""


def decide(claim: Claim, evidence: Sequence[Evidence]) -> Verdict:
    """Return the verdict on a claim."""
    kind = claim.decision["evidence"]
    verdict = KINDS[kind](claim, evidence) if kind in KINDS else None
    if verdict is not None:
        return verdict
    return Verdict(claim, NOT_MEASURABLE if claim.decidable in NEEDS_MORE else UNDECIDED)


def decide_all(claims: Iterable[Claim], evidence: Sequence[Evidence]) -> list[Verdict]:
    """Return the verdicts on all claims."""
    return [decide(claim, evidence) for claim in claims]
