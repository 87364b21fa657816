"""Verdicts by the rows that GenRES prints."""

from collections.abc import Sequence

from tripleaudit.evidence.claim import Claim
from tripleaudit.evidence.stored import Evidence
from tripleaudit.evidence.verdict import (
    DOES_NOT_HOLD,
    HOLDS,
    PERCENT,
    UNDECIDED,
    Finding,
    Verdict,
    decision_by,
    verdict_of,
    with_interval,
)


def decide_rank_correlation(claim: Claim, evidence: Sequence[Evidence]) -> Verdict:
    """Decide by the mean Spearman correlation of two scores over the printed systems."""
    from tripleaudit.tables.builders.gre_correlations import printed_scores

    rule = claim.decision
    printed = printed_scores()
    findings = []
    for what, scores in (
        ("all systems", printed),
        ("without those that answer few texts", printed.without(rule["without"])),
    ):
        correlation = scores.correlation(*rule["scores"])
        if correlation is None:
            continue
        decision = decision_by(rule, correlation.low, correlation.high)
        findings.append(
            Finding(what=what, study="printed rows", part=" and ".join(rule["scores"]),
                    value=correlation.value, low=correlation.low, high=correlation.high,
                    cases=len(scores.systems) * len(scores.datasets), decision=decision, is_settled=True)
        )  # fmt: skip
    here = "; ".join(
        f"{finding.what} {with_interval(finding.value, finding.low, finding.high, 2)}"
        for finding in findings
    )
    verdict = verdict_of(claim, findings, here)
    assert verdict is not None  # the printed rows ship with the package
    return verdict


def decide_mean_ranks(claim: Claim, evidence: Sequence[Evidence]) -> Verdict:
    """Decide by the mean rank over scores and data sets of the printed systems."""
    import numpy as np

    from tripleaudit.grescores.rank_correlations import mean_ranks
    from tripleaudit.tables.builders.gre import SCORES
    from tripleaudit.tables.builders.gre_correlations import printed_scores

    rule = claim.decision
    printed = printed_scores()
    ranks = mean_ranks(np.concatenate([printed.values[score] for score in SCORES], axis=1))
    order = sorted(zip(ranks.tolist(), printed.systems, strict=True))
    places = {system: place for place, (_, system) in enumerate(order, 1)}
    findings = [
        Finding(what=system, study="printed rows", value=rank, part=f"place {places[system]}")
        for rank, system in order
        if system in rule["systems"]
    ]
    worst = max(places[system] for system in rule["systems"])
    verdict = UNDECIDED
    if worst <= rule["best"]:
        verdict = HOLDS
    elif worst > rule["first"]:
        verdict = DOES_NOT_HOLD
    here = ", ".join(f"{one.what} {one.value:.1f} ({one.part})" for one in findings)
    return Verdict(claim, verdict, "", f"mean ranks: {here}", "", findings)


def decide_against_gold(claim: Claim, evidence: Sequence[Evidence]) -> Verdict:
    """Decide by the factualness of a system minus that of gold triples, printed and stored."""
    from tripleaudit.tables.builders.gre import DATASETS
    from tripleaudit.tables.builders.gre_correlations import gold_factualness, printed_scores
    from tripleaudit.tables.reported import values

    rule = claim.decision
    printed = printed_scores()
    row = printed.systems.index(rule["system"])
    scores = dict(zip(printed.datasets, printed.factualness[row], strict=True))
    stored = {
        DATASETS[dataset.partition("_rand")[0]]: PERCENT * float(value)
        for (table, dataset, setting, *_, metric), value in values("genres_official").items()
        if setting == "gold triples" and metric == "FS" and "ground_truth.json" in table
    }
    findings = []
    positive = {}
    for what, gold in (
        ("printed gold values", gold_factualness()),
        ("stored gold verdicts", stored),
    ):
        differences = {name: scores[name] - gold[name] for name in scores if name in gold}
        positive[what] = sum(difference > 0 for difference in differences.values())
        findings += [
            Finding(what=what, study="printed rows", corpus=name, value=difference)
            for name, difference in differences.items()
        ]
    verdict = UNDECIDED
    if all(number >= rule["least"] for number in positive.values()):
        verdict = HOLDS
    elif all(number <= rule["most"] for number in positive.values()):
        verdict = DOES_NOT_HOLD
    here = "; ".join(
        f"{number} of {len(scores)} positive by {what}" for what, number in positive.items()
    )
    return Verdict(claim, verdict, "", here, "", findings)
