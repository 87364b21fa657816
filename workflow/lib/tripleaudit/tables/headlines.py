"""Headlines of a study: the ranking of its systems and the main contrasts of the best system.

The report's first screen and the end of a run show them. A headline is a template of at most eight
words, to which the corpus is added if there are several; one line below it gives the numbers.
Contrasts without a conclusion are listed in one line for each reason.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.scores import split_two_step
from tripleaudit.tables import labels
from tripleaudit.tables.contrast_wording import (
    ANSWERS_UNREAD,
    CONTRARY_SEEDS,
    REASONS,
    Row,
    describe_numbers,
    format_levels,
    format_points,
    reason_without_conclusion,
)
from tripleaudit.tables.contrasts import AT_LEAST, FEW, NOT_SHOWN, SHOWN, SYSTEMS, UNREADABLE
from tripleaudit.tables.finding_templates import FINDINGS, Template
from tripleaudit.tables.ranking import Ranked, rank_systems, unread_systems


@dataclass(frozen=True)
class Headline:
    """One finding.

    Attributes:
        title: a few words, see :class:`~tripleaudit.tables.finding_templates.Template`.
        numbers: values, difference with interval, cases and seeds in one line.
        table: table with more about it.
    """

    title: str
    numbers: str
    table: str


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
        for name in unread_systems(rows, corpus):
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
            topics.add(reason_without_conclusion(row), template.topic)
    return Headlines(headlines, topics.remarks(), ranking)


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
            undecided.setdefault(reason_without_conclusion(lead), []).append(name)
        elif lead["outcome"] != NOT_SHOWN and lead["difference"] < 0:
            undecided.setdefault(CONTRARY_SEEDS, []).append(name)
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
        title = f"{best} leads by {format_points(leads[rival])} points{where}"
    lead = leads[rival]
    levels = f"{100 * lead['second']:.1f} and {100 * lead['first']:.1f} %"
    numbers = f"{best} against {rival}: {describe_numbers(lead, levels)}"
    if len(tied) > 1:
        numbers += f"; not distinguishable from {', '.join(tied[1:])} either"
    return Headline(title, f"{numbers}.", "contrasts")


def _systems_of(rows: Iterable[Row], ranking: Iterable[Ranked], corpus: str) -> list[str]:
    """Return the systems of a corpus from best to worst; those with unreadable answers come last."""
    ranked = [entry.system for entry in ranking if entry.corpus == corpus]
    others = [row for row in rows if row["corpus"] == corpus and row["contrast"] != SYSTEMS]
    others.sort(key=lambda row: row["outcome"] == UNREADABLE)
    names = dict.fromkeys((*ranked, *(row["extractor_first"] for row in others)))
    return [name for name in names if name not in BASELINES]


def _choose_contrast(
    rows: Sequence[Row], templates: Sequence[Template], corpus: str, systems: Sequence[str]
) -> tuple[Template, Row] | None:
    """Return a template and its contrast, of the best system that has one.

    The first template whose contrast has enough cases is preferred.
    """
    for system in systems:
        choices = []
        for template in templates:
            candidates = [
                row
                for row in rows
                if row["contrast"] == template.contrast
                and row["corpus"] == corpus
                and row["extractor_first"] == system
                and split_two_step(row["extractor_second"])[1] == system
            ]
            if candidates:
                choices.append((template, min(candidates, key=_rank_of_conditions)))
        with_enough_cases = [choice for choice in choices if choice[1]["outcome"] != FEW]
        if with_enough_cases:
            return with_enough_cases[0]
        if choices:
            return choices[0]
    return None


def _rank_of_conditions(row: Row) -> tuple[bool, bool]:
    """Prefer contrasts without Entity Noising, then those on the original split."""
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
    numbers = f"{name}{where}: {describe_numbers(row, format_levels(row))}"
    lookup = _lookup_baseline(rows, row)
    if lookup is not None:
        numbers += f"; memorised triples {format_levels(lookup)}"
    return Headline(title.format(points=format_points(row)), f"{numbers}.", template.table)


def _lookup_baseline(rows: Iterable[Row], row: Row) -> Row | None:
    """Return the lookup baseline's row of a contrast of two strata; None for other contrasts."""
    if row["stratum_first"] == row["stratum_second"]:
        return None
    conditions = ("contrast", "corpus", "protocol_first", "stratum_first", "stratum_second")
    for other in rows:
        is_same = all(other[key] == row[key] for key in conditions)
        if other["extractor_first"] == "memorise" and is_same:
            return other
    return None
