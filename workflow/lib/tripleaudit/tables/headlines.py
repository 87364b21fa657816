"""Headlines of a study: a ranking of systems and the main contrasts, from the frame of contrasts.

The report's first screen and the end of a run show them. A headline has at most eight words; one
line below it gives the numbers. Contrasts of few cases and of trainings that had not converged are
listed in one line each.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.scores import split_two_step
from tripleaudit.tables import labels
from tripleaudit.tables.cells import MIN_CASES
from tripleaudit.tables.contrasts import (
    AT_LEAST,
    FEW,
    NOT_SHOWN,
    NOTHING_FOUND,
    SHOWN,
    SYSTEMS,
)
from tripleaudit.tables.inputs import UNEQUAL, UNFINISHED

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
        f1: as a fraction, None where its training had not converged.
        lead: contrast of the best system with it, None for the best one.
    """

    corpus: str
    system: str
    f1: float | None
    lead: Row | None = None


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


@dataclass
class _Topics:
    """Topics of the contrasts without a conclusion, by reason."""

    few: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    unsettled: list[str] = field(default_factory=list)
    nothing: list[str] = field(default_factory=list)

    def add(self, row: Row, topic: str) -> None:
        if row["outcome"] == FEW:
            self.few.append(topic)
        elif row["outcome"] == NOTHING_FOUND:
            self.nothing.append(topic)
        elif UNFINISHED in row["mark"]:
            self.unfinished.append(topic)
        else:
            self.unsettled.append(topic)

    def remarks(self) -> list[str]:
        reasons = {
            f"Fewer than {MIN_CASES} cases": self.few,
            "Training had not converged": self.unfinished,
            "Too few evaluations to tell whether training had converged": self.unsettled,
            "No correct triple": self.nothing,
        }
        return [f"{reason}: {'; '.join(topics)}." for reason, topics in reasons.items() if topics]


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
        headline = _ranking_headline(ranked, len(corpora) > 1, topics)
        if headline is not None:
            headlines.append(headline)
    systems = _systems_of(rows, ranking, corpora[0])
    for templates in FINDINGS:
        chosen = _choose_contrast(rows, templates, corpora[0], systems)
        if chosen is None:
            continue
        template, row = chosen
        if row["outcome"] in (SHOWN, AT_LEAST, NOT_SHOWN):
            headlines.append(_contrast_headline(rows, template, row))
        else:
            topics.add(row, template.topic)
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
            lines.append(f"F1 on the original test set of {labels.corpus(entry.corpus)}:")
        rank += 1
        level = "not converged" if entry.f1 is None else f"{100 * entry.f1:.1f} %"
        distance = ""
        if entry.lead is not None:
            behind = _swap_sides(entry.lead)
            distance = "  " + _difference(behind["difference"], behind["low"], behind["high"])
            if entry.lead["outcome"] == NOT_SHOWN:
                distance += ", not distinguishable"
        lines.append(f"  {rank}. {name:{width}}  {level}{distance}")
    return lines


def rank_systems(rows: Iterable[Row]) -> list[Ranked]:
    """Rank the systems of each corpus by F1 on its original test set, without baselines."""
    pairs: dict[str, list[Row]] = {}
    for row in rows:
        test_set = (row["protocol_first"], row["training_first"], row["testing_first"])
        has_baseline = {row["extractor_first"], row["extractor_second"]} & BASELINES.keys()
        if row["contrast"] == SYSTEMS and test_set == ("original", "nz", "nz") and not has_baseline:
            pairs.setdefault(row["corpus"], []).append(row)
    ranking = []
    for corpus, compared in pairs.items():
        scores = {}
        for row in compared:
            scores[row["extractor_first"]] = row["first"]
            scores[row["extractor_second"]] = row["second"]
        best, *others = sorted(scores, key=lambda name: -scores[name])
        leads = {name: _lead_of(compared, best, name) for name in others}
        # a mark of a pair may come from either side: the best system is marked where all pairs are
        unfinished = all(lead["mark"].strip(UNEQUAL) for lead in leads.values())
        ranking.append(Ranked(corpus, best, None if unfinished else scores[best]))
        for name, lead in leads.items():
            f1 = None if lead["mark"].strip(UNEQUAL) else scores[name]
            ranking.append(Ranked(corpus, name, f1, lead))
    return ranking


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
    }
    for end in ("", "_doubled"):
        difference, low, high = (row[f"{name}{end}"] for name in ("difference", "low", "high"))
        swapped[f"difference{end}"] = -difference if _is_number(difference) else difference
        swapped[f"low{end}"] = -high if _is_number(high) else high
        swapped[f"high{end}"] = -low if _is_number(low) else low
    return swapped


def _ranking_headline(
    ranked: Sequence[Ranked], name_corpus: bool, topics: _Topics
) -> Headline | None:
    """Rank the best system of a corpus against the next, None with a single system."""
    if len(ranked) < 2:
        return None
    leads = [entry.lead for entry in ranked if entry.lead is not None]
    lead = leads[0]
    names = [labels.extractor(entry.system) for entry in ranked]
    where = f" on {labels.corpus(ranked[0].corpus)}" if name_corpus else ""
    if lead["outcome"] in (SHOWN, AT_LEAST):
        title = f"{names[0]} leads by {_points(lead)} points{where}"
    elif lead["outcome"] == NOT_SHOWN:
        ties = sum(other["outcome"] == NOT_SHOWN for other in leads)
        others = names[1] if ties == 1 else f"{ties} others"
        title = f"{names[0]} and {others} are not distinguishable{where}"
    else:
        topics.add(lead, f"ranking of {names[0]} and {names[1]}{where}")
        return None
    levels = f"{100 * lead['second']:.1f} and {100 * lead['first']:.1f} %"
    numbers = f"{names[0]} against {names[1]}: {_numbers(lead, levels)}"
    return Headline(title, f"{numbers}.", "contrasts")


def _systems_of(rows: Iterable[Row], ranking: Iterable[Ranked], corpus: str) -> list[str]:
    """Return the systems of a corpus, the best first, without baselines."""
    ranked = [entry.system for entry in ranking if entry.corpus == corpus]
    others = [
        row["extractor_first"]
        for row in rows
        if row["corpus"] == corpus and row["contrast"] != SYSTEMS
    ]
    return [name for name in dict.fromkeys((*ranked, *others)) if name not in BASELINES]


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


def _contrast_headline(rows: Iterable[Row], template: Template, row: Row) -> Headline:
    if row["outcome"] == NOT_SHOWN:
        title = template.equal
    else:
        title = template.lower if row["difference"] < 0 else template.higher
    gate, system = split_two_step(row["extractor_second"])
    name = labels.extractor(system, row["noise_first"])
    if gate:
        name += f" behind {labels.extractor(gate)}"
    numbers = f"{name}: {_numbers(row, _levels(row))}"
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
    p_value = row["p_holm"] if _is_number(row["p_holm"]) else row["p"]
    if _is_number(p_value):
        corrected = " (Holm)" if _is_number(row["p_holm"]) else ""
        shown = "< .001" if p_value < 0.001 else f"= {p_value:.3f}".replace("0.", ".", 1)
        parts.append(f"p {shown}{corrected}")
    parts.append(f"{row['cases']:,} sentences")
    parts.append("1 seed" if row["seeds"] <= 1 else f"{row['seeds']} seeds")
    if UNEQUAL in row["mark"]:
        parts.append("trainings of unequal size")
    return ", ".join(parts)


def _levels(row: Row) -> str:
    return f"{100 * row['first']:.1f} → {100 * row['second']:.1f} %"


def _difference(value: float, low: float | None, high: float | None) -> str:
    text = f"{100 * value:+.1f} points"
    if _is_number(low) and _is_number(high):
        text += f" [{100 * low:.1f}, {100 * high:.1f}]"
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
