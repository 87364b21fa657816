"""Ranking of the systems of a study by F1 on the original test set, from its contrasts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.scores import original_testing
from tripleaudit.tables import labels
from tripleaudit.tables.contrast_wording import (
    Row,
    format_difference,
    format_p_value,
    is_number,
    reason_without_conclusion,
)
from tripleaudit.tables.contrasts import AT_LEAST, NOT_SHOWN, OPEN, SHOWN, SYSTEMS, UNREADABLE
from tripleaudit.tables.study_facts import UNFINISHED, UNREAD, UNSETTLED


@dataclass(frozen=True)
class Ranked:
    """A system on the original test set of a corpus.

    Attributes:
        corpus, system: names as in the frame.
        f1: as a fraction, None if the training did not converge.
        lead: contrast of this system (first side) with the best one (second side); None for the
            best one.
        lead_of_converged: if the best system may not have converged, contrast of this system
            (first side) with the best converged one (second side); None for that one and for
            systems above it.
        mark: convergence mark of the training, empty if it converged or nothing was trained.
        omits_noised_systems: whether systems with Entity Noising, which the study has, are left
            out of the ranking.
    """

    corpus: str
    system: str
    f1: float | None
    lead: Row | None = None
    lead_of_converged: Row | None = None
    mark: str = ""
    omits_noised_systems: bool = False


def rank_systems(rows: Iterable[Row]) -> list[Ranked]:
    """Rank the systems of each corpus by F1 on its original test set.

    Baselines and models with mostly unreadable answers are left out. The mark of a system is that of
    its own training.
    """
    rows = list(rows)
    pairs: dict[str, list[Row]] = {}
    testing = original_testing(row["testing_first"] for row in rows)
    for row in rows:
        if _is_pair_on_original(row, testing) and row["outcome"] != UNREADABLE:
            pairs.setdefault(row["corpus"], []).append(row)
    noised = {
        row["corpus"] for row in rows if "noising" in (row["noise_first"], row["noise_second"])
    }
    ranking = []
    for corpus, compared in pairs.items():
        scores: dict[str, float] = {}
        marks: dict[str, str] = {}
        # The F1 of a pair is over the seeds that both systems have, so each system gets its F1 of
        # the pair with most seeds: that pair is read last and replaces the values before it.
        for row in sorted(compared, key=lambda row: row["seeds"]):
            for side in ("first", "second"):
                name = row[f"extractor_{side}"]
                scores[name] = row[side]
                marks[name] = _training_mark(row[f"mark_{side}"])
        best, *others = sorted(scores, key=lambda name: -scores[name])
        leads: dict[str, Row | None] = {best: None}
        leads |= {name: _lead_of(compared, best, name) for name in others}
        leads_of_converged = _leads_of_converged(compared, [best, *others], marks)
        for name, lead in leads.items():
            f1 = None if marks[name] else scores[name]
            lead_of_converged = leads_of_converged.get(name)
            has_noise = corpus in noised
            ranking.append(
                Ranked(
                    corpus,
                    name,
                    f1,
                    lead,
                    lead_of_converged,
                    marks[name],
                    omits_noised_systems=has_noise,
                )
            )
    return ranking


def _is_pair_on_original(row: Row, testing: str) -> bool:
    """Return whether a row compares two systems, no baseline, on an original test set.

    Args:
        row: of the frame.
        testing: setting of the test set, see :func:`original_testing`.
    """
    test_set = (row["protocol_first"], row["training_first"], row["testing_first"])
    has_baseline = {row["extractor_first"], row["extractor_second"]} & BASELINES.keys()
    is_original = test_set == ("original", "nz", testing)
    return row["contrast"] == SYSTEMS and is_original and not has_baseline


def _training_mark(marks: str | None) -> str:
    """Return the marks of a training that did not converge or whose convergence is unknown."""
    return "".join(mark for mark in (UNFINISHED, UNSETTLED) if mark in (marks or ""))


def unread_systems(rows: Iterable[Row], corpus: str) -> list[str]:
    """Return the systems that are not ranked because most of their answers are unreadable."""
    rows = list(rows)
    testing = original_testing(row["testing_first"] for row in rows)
    names: dict[str, None] = {}
    for row in rows:
        if row["corpus"] != corpus or not _is_pair_on_original(row, testing):
            continue
        for side in ("first", "second"):
            if UNREAD in (row[f"mark_{side}"] or ""):
                names[row[f"extractor_{side}"]] = None
    return list(names)


def _leads_of_converged(
    pairs: Sequence[Row], ranked: Sequence[str], marks: Mapping[str, str]
) -> dict[str, Row]:
    """Return the contrasts of the best converged system with those of lower F1, by name.

    Args:
        pairs: contrasts of the systems of one corpus.
        ranked: all systems, the best first.
        marks: convergence marks of their trainings; the result is empty if the best one has none.
    """
    converged = [name for name in ranked if not marks[name]]
    if not marks[ranked[0]] or not converged:
        return {}
    return {name: _lead_of(pairs, converged[0], name) for name in converged[1:]}


def _lead_of(pairs: Iterable[Row], best: str, other: str) -> Row:
    """Return the contrast of two systems with the best one as its second side."""
    for row in pairs:
        if (row["extractor_first"], row["extractor_second"]) == (other, best):
            return row
        if (row["extractor_first"], row["extractor_second"]) == (best, other):
            return swap_sides(row)
    raise ValueError(f"no contrast of {best} and {other}")


def swap_sides(row: Row) -> Row:
    """Return a contrast with first and second side exchanged, and the difference negated."""
    swapped = dict(row)
    for key, value in row.items():
        if key.endswith("first"):
            other = key.removesuffix("first") + "second"
            swapped[key], swapped[other] = row[other], value
    for suffix in ("", "_doubled"):
        difference, low, high = (row[f"{name}{suffix}"] for name in ("difference", "low", "high"))
        swapped[f"difference{suffix}"] = 0.0 - difference if is_number(difference) else difference
        swapped[f"low{suffix}"] = 0.0 - high if is_number(high) else high
        swapped[f"high{suffix}"] = 0.0 - low if is_number(low) else low
    return swapped


def ranking_lines(ranking: Sequence[Ranked]) -> list[str]:
    """Write the ranking as lines of text: rank, system, F1 and the distance to the best system."""
    names = [labels.extractor(entry.system) for entry in ranking]
    width = max(map(len, names), default=0)
    lines = []
    rank = 0
    for entry, name in zip(ranking, names, strict=True):
        if entry.lead is None:
            rank = 0
            noise = ", without Entity Noising" if entry.omits_noised_systems else ""
            lines.append(f"F1 on the original test set of {labels.corpus(entry.corpus)}{noise}:")
        rank += 1
        distance = "" if entry.lead is None else f"  {_distance(entry)}"
        lines.append(f"  {rank}. {name:{width}}  {_level(entry)}{distance}")
    return lines


def _level(entry: Ranked) -> str:
    """Write the F1 of a system, or why it is not interpreted."""
    if entry.f1 is not None:
        return f"{100 * entry.f1:.1f} %"
    return "not converged" if UNFINISHED in entry.mark else "convergence not known"


def _distance(entry: Ranked) -> str:
    """Write the distance of a system to the best one, or to the best converged one."""
    if entry.lead is None:
        return ""
    converged = entry.lead_of_converged
    if entry.lead["outcome"] == OPEN and converged is not None and converged["outcome"] != OPEN:
        best_converged = labels.extractor(converged["extractor_second"])
        return f"{_describe_distance(converged)} (to {best_converged})"
    return _describe_distance(entry.lead)


def _describe_distance(lead: Row) -> str:
    """Write the distance of the first side of a contrast to the second, and whether it is shown."""
    outcome = lead["outcome"]
    if outcome not in (SHOWN, AT_LEAST, NOT_SHOWN):
        return f"not compared: {_reason_in_ranking(lead)}"
    swapped = swap_sides(lead)
    distance = format_difference(swapped["difference"], swapped["low"], swapped["high"])
    if outcome == AT_LEAST:
        return f"{distance}, the same sign after twice the epochs"
    if outcome == NOT_SHOWN:
        interval_excludes_zero = not lead["low"] <= 0 <= lead["high"]
        reason = f", {format_p_value(lead)}" if interval_excludes_zero else ""
        return f"{distance}, not distinguishable{reason}"
    return distance


def _reason_in_ranking(lead: Row) -> str:
    """Write why a contrast has no conclusion, with the systems whose training is the reason."""
    names = [
        labels.extractor(lead[f"extractor_{side}"])
        for side in ("first", "second")
        if _training_mark(lead[f"mark_{side}"])
    ]
    if lead["outcome"] != OPEN or not names:
        return lead["outcome"]
    reason = reason_without_conclusion(lead)
    return f"{reason[0].lower()}{reason[1:]} ({' and '.join(names)})"
