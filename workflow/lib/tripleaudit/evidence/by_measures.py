"""Verdicts by other measured values: triple types, random splits, minutes, hard matching."""

from collections.abc import Sequence

from tripleaudit.evidence.claim import Claim
from tripleaudit.evidence.stored import Evidence, StoredRow
from tripleaudit.evidence.verdict import (
    DOES_NOT_HOLD,
    HOLDS,
    MIN_SEEDS,
    PERCENT,
    Finding,
    Verdict,
    verdict_of,
)


def decide_triple_types(claim: Claim, evidence: Sequence[Evidence]) -> Verdict | None:
    """Decide by the shares of entirely seen and unseen triples of original test sets."""
    rule = claim.decision
    findings = []
    shown = []
    for source in evidence:
        shares: dict[str, dict[str, StoredRow]] = {}
        for row in source.measures:
            if source.study in rule["studies"] and row["protocol"] == "original":
                shares.setdefault(row["corpus"], {})[row["measure"]] = row
        for corpus, rows in shares.items():
            if "triples/unseen" not in rows:
                continue
            seen, unseen = (
                rows[f"triples/{name}"]["value"] for name in ("entirely_seen", "unseen")
            )
            is_met = seen >= rule["entirely_seen"] and unseen <= rule["unseen"]
            cases = int(rows["triples/unseen"]["cases"])
            decision = HOLDS if is_met else DOES_NOT_HOLD
            findings.append(
                Finding(what=corpus, study=source.study, corpus=corpus, value=seen - unseen,
                        cases=cases, decision=decision, is_settled=True)
            )  # fmt: skip
            shown.append(
                f"{corpus}: {seen:.2f} % entirely seen, {unseen:.2f} % unseen of {cases} triples"
            )
    return verdict_of(claim, findings, "; ".join(shown))


def decide_random_splits(claim: Claim, evidence: Sequence[Evidence]) -> Verdict | None:
    """Decide by the greatest share of unseen triples in random splits."""
    findings = []
    shown = []
    for source in evidence:
        drawn = source.random_splits
        if drawn is None:
            continue
        mean, greatest = PERCENT * drawn["mean"], PERCENT * drawn["most"]
        decision = HOLDS if greatest < claim.decision["greatest"] else DOES_NOT_HOLD
        findings.append(
            Finding(what=source.study, study=source.study, value=greatest, cases=drawn["trials"],
                    decision=decision, is_settled=True)
        )  # fmt: skip
        shown.append(
            f"{drawn['trials']:,} splits of WebNLG: mean {mean:.2f} %, greatest {greatest:.2f} %"
        )
    return verdict_of(claim, findings, "; ".join(shown))


def decide_training_time(claim: Claim, evidence: Sequence[Evidence]) -> Verdict | None:
    """Decide by minutes: trained WZ against trained NZ and the classifier together."""
    findings = []
    shown = []
    for source in evidence:
        minutes = {
            (row["system"], row["training"]): row
            for row in source.measures
            if row["measure"] == "minutes"
        }
        classifiers = [
            row["value"] for (name, _), row in minutes.items() if name.startswith("zcc-")
        ]
        for (system, training), row in minutes.items():
            usual = minutes.get((system, "nz"))
            is_excluded = system in claim.decision["without"]
            if training != "wz" or usual is None or is_excluded or not classifiers:
                continue
            together = usual["value"] + max(classifiers)
            decision = HOLDS if row["value"] > together else DOES_NOT_HOLD
            seeds = int(row["seeds"])
            findings.append(
                Finding(what=system, study=source.study, corpus=row["corpus"],
                        value=row["value"] - together, seeds=seeds, decision=decision,
                        is_settled=seeds >= MIN_SEEDS)
            )  # fmt: skip
            shown.append(
                f"{system}: {row['value']:.1f} minutes with zero-triple sentences, "
                f"{together:.1f} without them plus the classifier"
            )
    return verdict_of(claim, findings, "; ".join(shown))


def decide_hard_matching(claim: Claim, evidence: Sequence[Evidence]) -> Verdict | None:
    """Decide by F1 by exact strings of open extraction, and factualness of open and closed."""
    findings = []
    shown = []
    for source in evidence:
        by_corpus: dict[str, dict[str, dict[str, list[float]]]] = {}
        for row in source.measures:
            if source.study in claim.decision["studies"] and row["measure"] in ("f1", "fs"):
                setting = str(row["protocol"]).split("-", 2)[2]
                values = by_corpus.setdefault(row["corpus"], {}).setdefault(setting, {})
                values.setdefault(row["measure"], []).append(row["value"])
        for corpus, settings in by_corpus.items():
            if not {"open", "closed"} <= settings.keys():
                continue
            open_f1 = max(settings["open"]["f1"])
            closed_f1 = max(settings["closed"]["f1"])
            open_fs = max(settings["open"].get("fs", [0.0]))
            closed_fs = max(settings["closed"].get("fs", [float(PERCENT)]))
            decision = ""
            if open_f1 < claim.decision["holds"] and open_fs > closed_fs:
                decision = HOLDS
            if open_f1 >= claim.decision["fails"]:
                decision = DOES_NOT_HOLD
            findings.append(
                Finding(
                    what=corpus,
                    study=source.study,
                    corpus=corpus,
                    value=open_f1,
                    decision=decision,
                    is_settled=True,
                )
            )
            shown.append(
                f"{corpus}: F1 at most {open_f1:.1f} open and {closed_f1:.1f} closed, "
                f"FS at most {open_fs:.1f} open and {closed_fs:.1f} closed"
            )
    return verdict_of(claim, findings, "; ".join(shown))
