"""Headlines of a study: a ranking of systems and the main contrasts, from the frame of contrasts.

The report's first screen and the end of a run show them. A headline has at most eight words; one
line below it gives the numbers. What a headline states follows from the outcome of its contrasts;
contrasts without a conclusion are listed in one line for each reason.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.scores import original_testing, split_two_step
from tripleaudit.scoring.significance import ALPHA, MIN_CASES
from tripleaudit.scoring.units import SHARED_TRIPLE
from tripleaudit.tables import labels
from tripleaudit.tables.cells import number
from tripleaudit.tables.contrasts import (
    AT_LEAST,
    FEW,
    NOT_SHOWN,
    NOTHING_FOUND,
    OPEN,
    SHOWN,
    SYSTEMS,
    UNREADABLE,
)
from tripleaudit.tables.study_facts import UNEQUAL, UNFINISHED, UNREAD, UNSETTLED

Row = Mapping[str, Any]
"""A row of the frame of contrasts (:data:`tripleaudit.tables.contrasts.COLUMNS`)."""
MINUS: Final = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Template:
    """Headlines of one contrast.

    Attributes:
        contrast: name of the contrast in the frame.
        table: table with more about it.
        lower, higher: headlines where the second F1 is lower or higher; ``{points}`` is the size of
            the difference.
        equal: headline where no difference is shown.
        topic: name of the contrast within a list.
    """

    contrast: str
    table: str
    lower: str
    higher: str
    equal: str
    topic: str


FINDINGS: Final[Sequence[Sequence[Template]]] = (
    (
        Template(
            "entirely seen to unseen",
            "type-f1",
            "F1 falls by {points} points on unseen triples",
            "F1 rises by {points} points on unseen triples",
            "No loss is shown on unseen triples",
            "unseen triples",
        ),
        Template(
            "entirely seen to not entirely seen",
            "type-f1",
            "F1 falls by {points} points beyond seen triples",
            "F1 rises by {points} points beyond seen triples",
            "No loss is shown beyond seen triples",
            "triples that are not entirely seen",
        ),
    ),
    (
        Template(
            "with Entity Noising, unseen",
            "type-f1",
            "Entity Noising costs {points} points on unseen triples",
            "Entity Noising adds {points} points on unseen triples",
            "Entity Noising: no effect shown on unseen triples",
            "Entity Noising on unseen triples",
        ),
        Template(
            "with Entity Noising, not entirely seen",
            "type-f1",
            "Entity Noising costs {points} points beyond seen triples",
            "Entity Noising adds {points} points beyond seen triples",
            "Entity Noising: no effect shown beyond seen triples",
            "Entity Noising on triples that are not entirely seen",
        ),
    ),
    (
        Template(
            "original to rearranged",
            "rearranged",
            "The rearranged split costs {points} points of F1",
            "The rearranged split adds {points} points of F1",
            "No loss is shown on the rearranged split",
            "rearranged split",
        ),
    ),
    (
        Template(
            "original to augmented",
            "augmented",
            "New entity names cost {points} points of F1",
            "New entity names add {points} points of F1",
            "No loss is shown on new entity names",
            "new entity names",
        ),
    ),
    (
        Template(
            "with Entity Noising, augmented",
            "augmented",
            "Entity Noising costs {points} points on new names",
            "Entity Noising adds {points} points on new names",
            "Entity Noising: no effect shown on new names",
            "Entity Noising on new entity names",
        ),
    ),
    (
        Template(
            "zero-triple sentences in the test",
            "end-to-end",
            "Zero-triple test sentences cost {points} points of F1",
            "Zero-triple test sentences add {points} points of F1",
            "No loss is shown on zero-triple test sentences",
            "zero-triple sentences in the test",
        ),
    ),
    (
        Template(
            "zero-triple sentences in training",
            "end-to-end",
            "Zero-triple training sentences cost {points} points of F1",
            "Zero-triple training sentences add {points} points of F1",
            "Zero-triple training sentences: no effect is shown",
            "zero-triple sentences in training",
        ),
    ),
    (
        Template(
            "classifier in front",
            "two-step",
            "A classifier in front costs {points} points",
            "A classifier in front adds {points} points",
            "A classifier in front: no effect is shown",
            "classifier in front",
        ),
    ),
    (
        Template(
            "end to end to two steps",
            "two-step",
            "Two steps lose {points} points to end-to-end training",
            "Two steps gain {points} points over end-to-end training",
            "Two steps and end-to-end training are not distinguishable",
            "two steps against end-to-end training",
        ),
    ),
)
"""Templates in the order of the page; of each group the first one with enough cases is used."""


@dataclass(frozen=True)
class Headline:
    """One finding.

    Attributes:
        title: at most eight words.
        numbers: values, difference with interval, cases and seeds in one line.
        table: table with more about it.
    """

    title: str
    numbers: str
    table: str


@dataclass(frozen=True)
class Ranked:
    """A system on the original test set of a corpus.

    Attributes:
        corpus, system: names as in the frame.
        f1: as a fraction, None where its own training had not converged.
        lead: contrast of the best system with it, None for the best one.
        settled_lead: if the training of the best system may not have converged, the contrast with
            the best system without this doubt; None for that one and for better ones.
        mark: of its own training, empty where that had converged or nothing was trained.
        without_noise: whether the study has systems with Entity Noising, which are not ranked.
    """

    corpus: str
    system: str
    f1: float | None
    lead: Row | None = None
    settled_lead: Row | None = None
    mark: str = ""
    without_noise: bool = False


@dataclass(frozen=True)
class Headlines:
    """Headlines of a study.

    Attributes:
        headlines: the ranking of each corpus, then the findings of the best system.
        remarks: lines about contrasts without a conclusion.
        ranking: all systems, by corpus and F1.
    """

    headlines: Sequence[Headline] = ()
    remarks: Sequence[str] = ()
    ranking: Sequence[Ranked] = ()


FEW_CASES: Final = f"Fewer than {MIN_CASES} cases"
NOT_CONVERGED: Final = "Training had not converged"
CONVERGENCE_UNKNOWN: Final = "Too few evaluations to tell whether training had converged"
NOTHING_CORRECT: Final = "No correct triple"
ANSWERS_UNREAD: Final = (
    "Most answers are unreadable (truncated, refused or not in the requested form)"
)
REASONS: Final = (FEW_CASES, NOT_CONVERGED, CONVERGENCE_UNKNOWN, NOTHING_CORRECT, ANSWERS_UNREAD)
"""Why a contrast has no conclusion, in the order of the remarks."""
REASON_OF_OUTCOME: Final = {
    FEW: FEW_CASES,
    NOTHING_FOUND: NOTHING_CORRECT,
    UNREADABLE: ANSWERS_UNREAD,
}


class _Topics:
    """Topics of the contrasts without a conclusion, by reason."""

    def __init__(self) -> None:
        self._by_reason: dict[str, list[str]] = {reason: [] for reason in REASONS}

    def add(self, reason: str, topic: str) -> None:
        self._by_reason[reason].append(topic)

    def remarks(self) -> list[str]:
        return [
            f"{reason}: {'; '.join(topics)}."
            for reason, topics in self._by_reason.items()
            if topics
        ]


def _reason_of(row: Row) -> str:
    """Return why a contrast has no conclusion."""
    if row["outcome"] in REASON_OF_OUTCOME:
        return REASON_OF_OUTCOME[row["outcome"]]
    return NOT_CONVERGED if UNFINISHED in row["mark"] else CONVERGENCE_UNKNOWN


def make_headlines(rows: Iterable[Row]) -> Headlines:
    """Make the headlines of a study from the rows of its frame of contrasts."""
    rows = list(rows)
    ranking = rank_systems(rows)
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    if not corpora:
        return Headlines()
    topics = _Topics()
    headlines = []
    for corpus in corpora:
        ranked = [entry for entry in ranking if entry.corpus == corpus]
        where = f" on {labels.corpus(corpus)}" if len(corpora) > 1 else ""
        headline = _ranking_headline(ranked, where, topics)
        if headline is not None:
            headlines.append(headline)
        for name in _unread_systems(rows, corpus):
            topics.add(ANSWERS_UNREAD, f"ranking of {labels.extractor(name)}{where}")
    systems = _systems_of(rows, ranking, corpora[0])
    where = f" on {labels.corpus(corpora[0])}" if len(corpora) > 1 else ""
    for templates in FINDINGS:
        chosen = _choose_contrast(rows, templates, corpora[0], systems)
        if chosen is None:
            continue
        template, row = chosen
        if row["outcome"] in (SHOWN, AT_LEAST, NOT_SHOWN):
            headlines.append(_contrast_headline(rows, template, row, where))
        else:
            topics.add(_reason_of(row), template.topic)
    return Headlines(headlines, topics.remarks(), ranking)


def ranking_lines(ranking: Sequence[Ranked]) -> list[str]:
    """Write the ranking as lines of text: rank, system, F1 and the distance to the best system."""
    names = [labels.extractor(entry.system) for entry in ranking]
    width = max(map(len, names), default=0)
    lines = []
    rank = 0
    for entry, name in zip(ranking, names, strict=True):
        if entry.lead is None:
            rank = 0
            noise = ", without Entity Noising" if entry.without_noise else ""
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
    """Write how far a system is behind the best one, or the best one that can be compared."""
    lead, settled_lead = entry.lead, entry.settled_lead
    if lead is None:
        return ""
    is_settled = settled_lead is not None and settled_lead["outcome"] != OPEN
    if lead["outcome"] == OPEN and settled_lead is not None and is_settled:
        return f"{_behind(settled_lead)} (to {labels.extractor(settled_lead['extractor_second'])})"
    return _behind(lead)


def _behind(lead: Row) -> str:
    """Write how far the first side of a contrast is behind, and whether that is shown."""
    outcome = lead["outcome"]
    if outcome not in (SHOWN, AT_LEAST, NOT_SHOWN):
        return f"not compared: {_reason_in_ranking(lead)}"
    behind = _swap_sides(lead)
    distance = _difference(behind["difference"], behind["low"], behind["high"])
    if outcome == AT_LEAST:
        return f"{distance}, the same sign after twice the epochs"
    if outcome == NOT_SHOWN:
        is_by_test = not lead["low"] <= 0 <= lead["high"]
        reason = f", {_p_value(lead)}" if is_by_test else ""
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
    reason = _reason_of(lead)
    return f"{reason[0].lower()}{reason[1:]} ({' and '.join(names)})"


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
        settled_leads = _settled_leads(compared, [best, *others], marks)
        for name, lead in leads.items():
            f1 = None if marks[name] else scores[name]
            settled_lead = settled_leads.get(name)
            has_noise = corpus in noised
            ranking.append(
                Ranked(corpus, name, f1, lead, settled_lead, marks[name], without_noise=has_noise)
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
    """Return the marks that say that a training had not converged, or that it is not known."""
    return "".join(mark for mark in (UNFINISHED, UNSETTLED) if mark in (marks or ""))


def _unread_systems(rows: Iterable[Row], corpus: str) -> list[str]:
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


def _settled_leads(
    pairs: Sequence[Row], ranked: Sequence[str], marks: Mapping[str, str]
) -> dict[str, Row]:
    """Return the contrasts of the best system without a mark with those behind it, by name.

    Args:
        pairs: contrasts of the systems of one corpus.
        ranked: all systems, the best first.
        marks: of their trainings; without a mark of the best one the result is empty.
    """
    settled = [name for name in ranked if not marks[name]]
    if not marks[ranked[0]] or not settled:
        return {}
    return {name: _lead_of(pairs, settled[0], name) for name in settled[1:]}


def _lead_of(pairs: Iterable[Row], best: str, other: str) -> Row:
    """Return the contrast of two systems with the best one as its second side."""
    for row in pairs:
        if (row["extractor_first"], row["extractor_second"]) == (other, best):
            return row
        if (row["extractor_first"], row["extractor_second"]) == (best, other):
            return _swap_sides(row)
    raise ValueError(f"no contrast of {best} and {other}")


def _swap_sides(row: Row) -> Row:
    swapped = {
        **row,
        "extractor_first": row["extractor_second"],
        "extractor_second": row["extractor_first"],
        "first": row["second"],
        "second": row["first"],
        "mark_first": row.get("mark_second"),
        "mark_second": row.get("mark_first"),
    }
    for end in ("", "_doubled"):
        difference, low, high = (row[f"{name}{end}"] for name in ("difference", "low", "high"))
        swapped[f"difference{end}"] = 0.0 - difference if _is_number(difference) else difference
        swapped[f"low{end}"] = 0.0 - high if _is_number(high) else high
        swapped[f"high{end}"] = 0.0 - low if _is_number(low) else low
    return swapped


def _ranking_headline(ranked: Sequence[Ranked], where: str, topics: _Topics) -> Headline | None:
    """Compare the best system of a corpus with all others.

    It leads only if every difference is shown. Differences without a conclusion are added to the
    topics.

    Returns:
        None if nothing is concluded, or there is a single system.
    """
    if len(ranked) < 2:
        return None
    best, *others = [labels.extractor(entry.system) for entry in ranked]
    leads = {
        name: entry.lead
        for name, entry in zip(others, ranked[1:], strict=True)
        if entry.lead is not None
    }
    tied = [name for name, lead in leads.items() if lead["outcome"] == NOT_SHOWN]
    undecided: dict[str, list[str]] = {}
    for name, lead in leads.items():
        if lead["outcome"] not in (SHOWN, AT_LEAST, NOT_SHOWN):
            undecided.setdefault(_reason_of(lead), []).append(name)
    for reason, names in undecided.items():
        topics.add(reason, f"ranking of {best} and {', '.join(names)}{where}")
    if tied:
        rival = tied[0]
        together = rival if len(tied) == 1 else f"{len(tied)} others"
        title = f"{best} and {together} are not distinguishable{where}"
    elif undecided:
        return None
    else:
        rival = others[0]
        title = f"{best} leads by {_points(leads[rival])} points{where}"
    lead = leads[rival]
    levels = f"{100 * lead['second']:.1f} and {100 * lead['first']:.1f} %"
    numbers = f"{best} against {rival}: {_numbers(lead, levels)}"
    if len(tied) > 1:
        numbers += f"; not distinguishable from {', '.join(tied[1:])} either"
    return Headline(title, f"{numbers}.", "contrasts")


def _systems_of(rows: Iterable[Row], ranking: Iterable[Ranked], corpus: str) -> list[str]:
    """Return the systems of a corpus without baselines: the best first, those with unreadable answers last."""
    ranked = [entry.system for entry in ranking if entry.corpus == corpus]
    others = [row for row in rows if row["corpus"] == corpus and row["contrast"] != SYSTEMS]
    others.sort(key=lambda row: row["outcome"] == UNREADABLE)
    names = dict.fromkeys((*ranked, *(row["extractor_first"] for row in others)))
    return [name for name in names if name not in BASELINES]


def _choose_contrast(
    rows: Sequence[Row], templates: Sequence[Template], corpus: str, systems: Sequence[str]
) -> tuple[Template, Row] | None:
    """Return a template with the contrast of the best system that has it.

    Contrasts without Entity Noising and on the original split are preferred, then those of the
    first template that has enough cases.
    """
    for system in systems:
        found = []
        for template in templates:
            candidates = [
                row
                for row in rows
                if row["contrast"] == template.contrast
                and row["corpus"] == corpus
                and row["extractor_first"] == system
                and split_two_step(row["extractor_second"])[1] == system
            ]
            candidates.sort(key=_rank_of_conditions)
            found += [(template, row) for row in candidates[:1]]
        enough = [choice for choice in found if choice[1]["outcome"] != FEW]
        if found:
            return (enough or found)[0]
    return None


def _rank_of_conditions(row: Row) -> tuple[bool, bool]:
    return row["noise_first"] != "none", row["protocol_first"] != "original"


def _contrast_headline(rows: Iterable[Row], template: Template, row: Row, where: str) -> Headline:
    if row["outcome"] == NOT_SHOWN:
        title = template.equal
    else:
        title = template.lower if row["difference"] < 0 else template.higher
    gate, system = split_two_step(row["extractor_second"])
    name = labels.extractor(system, row["noise_first"])
    if gate:
        name += f" behind {labels.extractor(gate)}"
    numbers = f"{name}{where}: {_numbers(row, _levels(row))}"
    lookup = _memorised(rows, row)
    if lookup is not None:
        numbers += f"; memorised triples {_levels(lookup)}"
    return Headline(title.format(points=_points(row)), f"{numbers}.", template.table)


def _memorised(rows: Iterable[Row], row: Row) -> Row | None:
    """Return the same contrast of the baseline that looks triples up, for seen triples only."""
    if row["stratum_first"] == row["stratum_second"]:
        return None
    conditions = ("contrast", "corpus", "protocol_first", "stratum_first", "stratum_second")
    for other in rows:
        is_same = all(other[key] == row[key] for key in conditions)
        if other["extractor_first"] == "memorise" and is_same:
            return other
    return None


def _numbers(row: Row, levels: str) -> str:
    """Write levels, difference with interval, corrected p, cases and seeds.

    For trainings that had not converged, the difference after twice the epochs replaces the levels.
    """
    difference = _difference(row["difference"], row["low"], row["high"])
    if row["outcome"] == AT_LEAST:
        doubled = _difference(row["difference_doubled"], row["low_doubled"], row["high_doubled"])
        mark = "not converged" if UNFINISHED in row["mark"] else "convergence not known"
        parts = [f"{difference}, after twice the epochs {doubled} ({mark})"]
    else:
        parts = [levels, difference]
    disagreement = describe_disagreement(row)
    p_value = _p_value(row)
    if disagreement or p_value:
        parts.append(disagreement or p_value)
    cases = "groups of sentences" if row["unit"] == SHARED_TRIPLE else "sentences"
    parts.append(f"{row['cases']:,} {cases}")
    if row["seeds"]:  # 0 where nothing was trained
        parts.append("1 seed" if row["seeds"] == 1 else f"{row['seeds']} seeds")
    if UNEQUAL in row["mark"]:
        parts.append("trainings of unequal size")
    return ", ".join(parts)


def _p_value(row: Row) -> str:
    """Write the p-value that decides a contrast; empty without a test."""
    p_value = _deciding_p(row)
    if p_value is None:
        return ""
    corrected = " (Holm)" if _is_number(row["p_holm"]) else ""
    shown = "< .001" if p_value < 0.001 else f"= {p_value:.3f}".replace("0.", ".", 1)
    return f"p {shown}{corrected}"


def _deciding_p(row: Row) -> float | None:
    """Return the corrected p-value, or that of a baseline, which is not corrected."""
    for name in ("p_holm", "p"):
        if _is_number(row[name]):
            return row[name]
    return None


def describe_disagreement(row: Row) -> str:
    """Write what keeps a difference from being shown, where interval and test disagree."""
    p_value = _deciding_p(row)
    if row["outcome"] != NOT_SHOWN or p_value is None or not _is_number(row["low"]):
        return ""
    includes_zero = row["low"] <= 0 <= row["high"]
    if includes_zero and p_value < ALPHA:
        return "not shown: the interval includes 0"
    if not includes_zero and p_value >= ALPHA:
        return f"not shown: {_p_value(row)}"
    return ""


def _levels(row: Row) -> str:
    return f"{100 * row['first']:.1f} → {100 * row['second']:.1f} %"


def _difference(value: float, low: float | None, high: float | None) -> str:
    text = f"{number(100 * value, 1, sign=True)} points"
    if _is_number(low) and _is_number(high):
        text += f" [{number(100 * low, 1)}, {number(100 * high, 1)}]"
    return text.replace("-", MINUS)


def _points(row: Row) -> str:
    """Write the size of a difference in points, as a lower bound for unfinished trainings."""
    size = abs(100 * row["difference"])
    if row["outcome"] == AT_LEAST:
        size = min(size, abs(100 * row["difference_doubled"]))
    text = f"{size:.0f}" if size >= 10 else f"{size:.1f}"
    return f"≥{text}" if row["outcome"] == AT_LEAST else text


def _is_number(value: float | None) -> bool:
    """Return whether a value of a frame is there: neither None nor NaN."""
    return value is not None and value == value
