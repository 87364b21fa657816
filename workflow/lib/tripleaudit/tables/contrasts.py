"""Contrasts: every comparison of the four papers, and every pair of systems, as a data frame.

A row compares the F1 of two sides on a corpus: one system under two conditions, or two systems on
one test set. Values are fractions. Bold marks, ``compare`` and contrasts are decided by one
function, :func:`tripleaudit.scoring.difference.between`.

The p-value of a contrast is Holm-corrected within its family, and every table, headline and mark
uses that value: the family of a comparison of conditions is that comparison of all systems of a
corpus, with and without Entity Noising; the family of two systems is all pairs on one test set.
Baselines and models with mostly unreadable answers belong to no family.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.bootstrap import Interval
from tripleaudit.scoring.difference import Difference
from tripleaudit.scoring.scores import (
    CLASSIFICATION,
    RUN_KEYS,
    Run,
    run_id,
    run_keys,
    split_two_step,
)
from tripleaudit.scoring.significance import MIN_CASES, holm, is_significant
from tripleaudit.tables.cells import subject
from tripleaudit.tables.comparisons import compare_cells, model_behind
from tripleaudit.tables.grid import LAST_WORDS_ONLY, PARTIAL
from tripleaudit.tables.result_frames import ResultFrames
from tripleaudit.tables.study_facts import (
    TRAINING_KEYS,
    UNEQUAL,
    UNFINISHED,
    UNREAD,
    UNSETTLED,
)

if TYPE_CHECKING:
    import pandas as pd

SYSTEMS: Final = "two systems"
"""Name of the contrast of two systems on one test set."""
SEEN: Final = "entirely_seen"
BEYOND: Final = "partially_seen+unseen"
NZ: Final = {"training": "nz", "testing": "nz", "gate": ""}
SIDE_KEYS: Final = ("protocol", "training", "testing", "extractor", "noise", "stratum")
COLUMNS: Final = (
    *(
        "contrast",
        "corpus",
        *(f"{key}_first" for key in SIDE_KEYS),
        *(f"{key}_second" for key in SIDE_KEYS),
    ),
    *(
        "matching",
        "first",
        "second",
        "difference",
        "low",
        "high",
        "p",
        "p_holm",
        "paired",
        "cases",
        "unit",
        "seeds",
        "mark",
        "mark_first",
        "mark_second",
    ),
    *("difference_doubled", "low_doubled", "high_doubled", "outcome"),
)
"""Columns of the frame; docs/reference/python.md describes them."""
COLUMN_TYPES: Final = {
    **dict.fromkeys(("first", "second", "difference", "low", "high", "p", "p_holm"), float),
    **dict.fromkeys(("difference_doubled", "low_doubled", "high_doubled"), float),
    "paired": bool,
    "cases": int,
    "seeds": int,
}
"""Types of the columns that are no texts, also where all values are missing."""
FEW: Final = "few cases"
NOTHING_FOUND: Final = "nothing found"
OPEN: Final = "training may not have converged"
NOT_SHOWN: Final = "not shown"
SHOWN: Final = "shown"
UNREADABLE: Final = "unreadable answers"
"""Outcome of a contrast with a language model of which most answers are unreadable."""
AT_LEAST: Final = "shown, at least"
"""Outcome of a contrast whose trainings were still rising, and whose sign is the same after
twice the epochs.
"""


@dataclass(frozen=True)
class Contrast:
    """A comparison of one system under two conditions.

    Attributes:
        name: in the frame and in the table.
        first, second: conditions of either side.
        held: what both sides have.
    """

    name: str
    first: Mapping[str, str]
    second: Mapping[str, str]
    held: Mapping[str, str] = field(default_factory=dict)


ALL: Final = {"gate": "", "stratum": "all"}
CONTRASTS: Final = (
    *(
        Contrast(f"entirely seen to {label}", {"stratum": SEEN}, {"stratum": stratum}, NZ)
        for stratum, label in (
            ("partially_seen", "partially seen"),
            ("unseen", "unseen"),
            (BEYOND, "not entirely seen"),
        )
    ),
    *(
        Contrast(
            f"with Entity Noising, {label}",
            {"noise": "none"},
            {"noise": "noising"},
            {**NZ, **where},
        )
        for label, where in (
            ("all triples", {"stratum": "all", "protocol": "original"}),
            ("partially seen", {"stratum": "partially_seen", "protocol": "original"}),
            ("unseen", {"stratum": "unseen", "protocol": "original"}),
            ("not entirely seen", {"stratum": BEYOND, "protocol": "original"}),
            ("rearranged", {"stratum": "all", "protocol": "rearranged"}),
            ("rearranged, unseen", {"stratum": "unseen", "protocol": "rearranged"}),
            ("rearranged, partially seen", {"stratum": "partially_seen", "protocol": "rearranged"}),
            ("sift-1, unseen", {"stratum": "unseen", "protocol": "sift-1"}),
            ("sift-2, unseen", {"stratum": "unseen", "protocol": "sift-2"}),
            ("sift-3, unseen", {"stratum": "unseen", "protocol": "sift-3"}),
            ("augmented", {"stratum": "all", "protocol": "augmented"}),
        )
    ),
    *(
        Contrast(
            f"original to {protocol}",
            {"protocol": "original"},
            {"protocol": protocol},
            {**NZ, "stratum": "all"},
        )
        for protocol in ("rearranged", "sift-1", "sift-2", "sift-3", "augmented")
    ),
    Contrast(
        "zero-triple sentences in the test",
        {"testing": "nz"},
        {"testing": "wz"},
        {**ALL, "training": "nz"},
    ),
    Contrast(
        "zero-triple sentences in training",
        {"training": "nz"},
        {"training": "wz"},
        {**ALL, "testing": "wz"},
    ),
    Contrast(
        "zero-triple sentences in training, NZ test",
        {"training": "nz"},
        {"training": "wz"},
        {**ALL, "testing": "nz"},
    ),
    Contrast(
        "trained and tested NZ to trained and tested WZ",
        {"training": "nz", "testing": "nz"},
        {"training": "wz", "testing": "wz"},
        ALL,
    ),
    Contrast(
        "classifier in front",
        {"gate": ""},
        {"gate": "*"},
        {"stratum": "all", "training": "nz", "testing": "wz"},
    ),
    Contrast(
        "end to end to two steps",
        {"gate": "", "training": "wz"},
        {"gate": "*", "training": "nz"},
        {"stratum": "all", "testing": "wz"},
    ),
)


def contrast_names() -> set[str]:
    """Return the names of all contrasts."""
    return {SYSTEMS, *(contrast.name for contrast in CONTRASTS)}


@dataclass(frozen=True)
class Side:
    """One side of a contrast: a run and the stratum that it is scored on."""

    run: Run
    stratum: str

    @cached_property
    def keys(self) -> dict[str, str]:
        """Return the run's keys, its system without classifier, the classifier and the stratum."""
        gate, system = split_two_step(self.run["extractor"])
        return {**self.run, "system": system, "gate": gate, "stratum": self.stratum}

    def meets(self, conditions: Mapping[str, str]) -> bool:
        """Return whether the side has all given keys; ``*`` stands for any name."""
        keys = self.keys
        return all(
            bool(keys[key]) if value == "*" else keys[key] == value
            for key, value in conditions.items()
        )


def contrasts(
    frames: ResultFrames,
    matching: str,
    doubled: ResultFrames | None = None,
    names: Collection[str] | None = None,
) -> pd.DataFrame:
    """Return the contrasts of a study.

    Args:
        frames: with the per-sentence counts.
        matching: rule by which triples are correct.
        doubled: counts of the trainings of twice the epochs, if there are any.
        names: of the contrasts to compute; None for all.

    Returns:
        A frame with :data:`COLUMNS`, one row for each contrast and system, then one for each pair
        of systems.
    """
    import pandas as pd

    rows = []
    for name, first, second in pairs(frames, matching):
        if names is not None and name not in names:
            continue
        cells = [subject(side.run, side.stratum, matching) for side in (first, second)]
        difference = compare_cells(frames, *cells)
        if difference is None:
            continue
        after_doubling = None if doubled is None else compare_cells(doubled, *cells)
        rows.append(
            {
                "contrast": name,
                "corpus": first.run["corpus"],
                **_side_columns(first, "first"),
                **_side_columns(second, "second"),
                "matching": matching,
                **_numbers(difference),
                "seeds": min(difference.runs) if _is_trained(frames, first, second) else 0,
                "unit": frames.unit(first.run),
                "mark": _mark(frames, first.run, second.run),
                "mark_first": frames.mark(first.run),
                "mark_second": frames.mark(second.run),
                **_numbers_doubled(after_doubling),
            }
        )
    frame = pd.DataFrame(
        rows, columns=[column for column in COLUMNS if column not in ("p_holm", "outcome")]
    )
    frame["p_holm"] = _corrected(frame)
    frame["outcome"] = [outcome_of(row) for row in frame.to_dict("records")]
    return frame[list(COLUMNS)].astype(COLUMN_TYPES)


def pairs(frames: ResultFrames, matching: str) -> Iterator[tuple[str, Side, Side]]:
    """Yield the name of each contrast with its two sides."""
    sides = list(_sides(frames, matching))
    for contrast in CONTRASTS:
        firsts = [side for side in sides if side.meets({**contrast.held, **contrast.first})]
        seconds = [side for side in sides if side.meets({**contrast.held, **contrast.second})]
        # the name of an extractor holds that of its classifier, so it may change with the classifier
        changing = {*contrast.first, "extractor"}
        for first in firsts:
            for second in seconds:
                if all(
                    second.keys[key] == value
                    for key, value in first.keys.items()
                    if key not in changing
                ):
                    yield contrast.name, first, second
    yield from _noised_systems(frames, sides)
    whole = [
        side
        for side in sides
        if side.stratum == "all" and side.run["noise"] == "none" and not side.keys["gate"]
    ]
    excluded = set(frames.facts.partial)
    if matching != PARTIAL:
        excluded.add(LAST_WORDS_ONLY)
    test_sets: dict[tuple[str, ...], list[Side]] = {}
    for side in whole:
        if side.run["extractor"] not in excluded:
            test_set = tuple(side.run[key] for key in RUN_KEYS[:4])
            test_sets.setdefault(test_set, []).append(side)
    for competing in test_sets.values():
        for first, second in combinations(competing, 2):
            yield SYSTEMS, first, second


def _noised_systems(
    frames: ResultFrames, sides: Sequence[Side]
) -> Iterator[tuple[str, Side, Side]]:
    """Yield contrasts of stored trainings that differ in Entity Noising alone.

    Systems with stored predictions have names of their own; the facts of their trainings say which
    extractor and encoder they are, and whether they were trained with noise.
    """
    by_training: dict[tuple[object, ...], dict[bool, str]] = {}
    for training, facts in frames.facts.trainings.items():
        keys = dict(zip(TRAINING_KEYS, training, strict=True))
        fact = facts[0]
        encoder = (fact.get("encoder") or {}).get("name")
        data = (keys["corpus"], keys["protocol"], keys["training"])
        if keys["noise"] == "none":
            by_noise = by_training.setdefault((*data, fact.get("extractor"), encoder), {})
            by_noise[bool(fact.get("noise_probability"))] = keys["extractor"]
    # one pair of names may stand behind trainings of several protocols
    pairs_of_names = dict.fromkeys(
        (str(corpus), names[False], names[True])
        for (corpus, *_), names in by_training.items()
        if len(names) == 2
    )
    noising = [contrast for contrast in CONTRASTS if contrast.first.get("noise") == "none"]
    for corpus, without, with_noise in pairs_of_names:
        for contrast in noising:
            firsts, seconds = (
                [
                    side
                    for side in sides
                    if side.meets({**contrast.held, "corpus": corpus, "extractor": name})
                ]
                for name in (without, with_noise)
            )
            for first in firsts:
                for second in seconds:
                    yield contrast.name, first, second


def _sides(frames: ResultFrames, matching: str) -> Iterator[Side]:
    """Yield what has an F1 of extraction, and the strata without entirely seen triples together."""
    for values, measured in frames.measured.items():
        run = run_keys(dict(zip(RUN_KEYS, values, strict=True)))
        strata = [
            stratum for stratum, rule, metric in measured if (rule, metric) == (matching, "f1")
        ]
        if run["protocol"].startswith("gre-") or matching == CLASSIFICATION:
            continue
        yield from (Side(run, stratum) for stratum in strata)
        if {"partially_seen", "unseen"} & set(strata):
            yield Side(run, BEYOND)


def _side_columns(side: Side, name: str) -> dict[str, str]:
    keys = side.keys
    return {f"{key}_{name}": keys[key] for key in SIDE_KEYS}


def _numbers(difference: Difference) -> dict[str, float | int | bool | None]:
    bound = (difference.bounds or {}).get("f1")
    return {
        "first": difference.first[2],
        "second": difference.second[2],
        "difference": difference.change(),
        "low": bound.low if bound else None,
        "high": bound.high if bound else None,
        "p": difference.p,
        "paired": difference.paired,
        "cases": difference.units,
    }


def _is_trained(frames: ResultFrames, *sides: Side) -> bool:
    """Return whether a side has runs with a seed, or stored predictions of a known training."""
    for side in sides:
        seeds = set(frames.counts.get(run_id(side.run), {}))
        if seeds != {""} or frames.facts.trainings_behind(side.run):
            return True
    return False


def _numbers_doubled(difference: Difference | None) -> dict[str, float | None]:
    bound = (difference.bounds or {}).get("f1") if difference else None
    return {
        "difference_doubled": difference.change() if difference else None,
        "low_doubled": bound.low if bound else None,
        "high_doubled": bound.high if bound else None,
    }


def _mark(frames: ResultFrames, first: Run, second: Run) -> str:
    marks = dict.fromkeys(frames.mark(first) + frames.mark(second))
    if model_behind(first) == model_behind(second):  # one training has one budget
        marks.pop(UNEQUAL, None)
    return "".join(marks)


def _corrected(frame: pd.DataFrame) -> list[float | None]:
    """Return p-values corrected within the family of each contrast; None outside of families."""
    families: dict[tuple[str, ...], list[int]] = {}
    for position, row in enumerate(frame.to_dict("records")):
        is_baseline = {row["extractor_first"], row["extractor_second"]} & BASELINES.keys()
        is_tested = row["p"] is not None and row["p"] == row["p"]
        if not is_tested or is_baseline or UNREAD in row["mark"]:
            continue
        family = [row["contrast"], row["corpus"]]
        if row["contrast"] == SYSTEMS:
            family += [row[f"{key}_first"] for key in ("protocol", "training", "testing")]
        families.setdefault(tuple(family), []).append(position)
    corrected: list[float | None] = [None] * len(frame)
    p_values = frame["p"].tolist()
    for positions in families.values():
        adjusted = holm([p_values[position] for position in positions])
        for position, value in zip(positions, adjusted, strict=True):
            corrected[position] = value
    return corrected


def outcome_of(row: Mapping[str, Any]) -> str:
    """Return what follows from a contrast; the keys of ``row`` are names of :data:`COLUMNS`."""
    if UNREAD in row["mark"]:
        return UNREADABLE
    if row["cases"] < MIN_CASES:
        return FEW
    if not row["first"] and not row["second"]:
        return NOTHING_FOUND
    is_corrected = row["p_holm"] is not None and not math.isnan(row["p_holm"])
    p_value = row["p_holm"] if is_corrected else row["p"]
    interval = None if row["low"] is None else Interval(row["low"], row["high"])
    is_shown = is_significant(interval, p_value, row["cases"])
    if UNFINISHED in row["mark"] or UNSETTLED in row["mark"]:
        return AT_LEAST if is_shown and _same_sign(row) else OPEN
    return SHOWN if is_shown else NOT_SHOWN


def _same_sign(row: Mapping[str, Any]) -> bool:
    """Return whether twice the epochs show a difference of the same sign."""
    low, high = row["low_doubled"], row["high_doubled"]
    if low is None or high is None:
        return False
    return low > 0 if row["difference"] > 0 else high < 0
