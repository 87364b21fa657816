"""Columns of the scores that the option ``by`` of a table requests, from the sentences of each run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tripleaudit.corpora.store import load_sentences
from tripleaudit.scoring.bootstrap import Interval, intervals
from tripleaudit.scoring.breakdown import break_down
from tripleaudit.scoring.counts import SentenceCounts, load_counts, read_keys
from tripleaudit.scoring.elements import THRESHOLDS, ign_scores
from tripleaudit.scoring.metrics import micro
from tripleaudit.scoring.overlap import OVERLAPS
from tripleaudit.scoring.parts import CARDINALITIES, Part
from tripleaudit.scoring.recorded import inputs_of, scored_sentences, settings_of, study_of
from tripleaudit.scoring.scores import Run, run_id, run_keys
from tripleaudit.scoring.units import sum_by_unit
from tripleaudit.tables.cells import Cell, subject

if TYPE_CHECKING:
    import pandas as pd

    from tripleaudit.tables.inputs import TableInputs

NOTE: Final = (
    "Normal, SEO, EPO: sentences without shared entities, with a shared entity, and with several relations between "
    "one pair; entities, relations and mentions are scored alone; Ign F1 leaves out the triples of training. These "
    "columns carry no bold marks."
)


class PartColumn(NamedTuple):
    """A column of a requested score: kind and name of the part, metric, and labels."""

    kind: str
    part: str
    metric: str
    group: str
    label: str


PART_COLUMNS: Final[dict[str, list[PartColumn]]] = {
    "overlap": [PartColumn("overlap", name, "f1", "Overlap", name) for name in OVERLAPS],
    "triples": [
        PartColumn("cardinality", name, "f1", "Gold triples", name) for name in CARDINALITIES
    ],
    "entities": [PartColumn("elements", "entities", "f1", "", "Entities")],
    "relations": [PartColumn("elements", "relations", "f1", "", "Relations")],
    "mentions": [PartColumn("elements", "mentions", "f1", "", "Mentions")],
    "ign": [PartColumn("ign", "ign", "f1", "", "Ign F1")],
    "thresholds": [
        PartColumn("thresholds", f"{threshold:g}", metric, f"Score ≥ {threshold:g}", label)
        for threshold in THRESHOLDS
        for metric, label in (("precision", "Prec."), ("recall", "Rec."))
    ],
}
"""Requested part -> its columns."""


@dataclass(frozen=True)
class SeedParts:
    """The requested parts of one run with one seed.

    Attributes:
        counts: of the run.
        parts: by kind and name.
        ign: Ign F1, None without a training set.
        bootstrap: ``replicates`` and ``seed`` of the intervals.
    """

    counts: SentenceCounts
    parts: dict[str, dict[str, Part]]
    ign: float | None
    bootstrap: dict[str, int]


def part_frame(
    study: TableInputs,
    rows: pd.DataFrame,
    index: pd.MultiIndex,
    test_sets: Mapping[str, Mapping[str, str]],
) -> pd.DataFrame:
    """Return the columns that the option ``by`` requests, for the rows of a row frame.

    Columns that no row has are left out.

    Args:
        study: what the table is made from.
        rows: a row frame (:mod:`tripleaudit.tables.grid`).
        index: of the rows.
        test_sets: heading -> keys that replace those of the rows, such as ``testing``.
    """
    import pandas as pd

    parts = study.options.get("by", ())
    files: dict[tuple[str, ...], list[Path]] = {}
    for path in map(Path, study.frames.count_files if parts else ()):
        files.setdefault(run_id(read_keys(path)), []).append(path)
    columns = [column for part in parts for column in PART_COLUMNS[part]]
    cells: dict[tuple[str, str], list[Cell]] = {}
    for heading, changed in test_sets.items():
        for keys in rows.to_dict("records"):
            run = run_keys(keys, **changed)
            seeds = read_parts(files.get(run_id(run), []), parts, keys["matching"])
            for column in columns:
                group = ", ".join(filter(None, (heading, column.group)))
                cell = part_cell(study, run, keys["matching"], column, seeds)
                cells.setdefault((group, column.label), []).append(cell)
    measured = {
        labels: column
        for labels, column in cells.items()
        if any(cell.value is not None for cell in column)
    }
    frame = pd.DataFrame(measured, index=index, dtype=object)
    frame.columns = pd.MultiIndex.from_tuples(list(measured), names=[None, None])
    return frame


def read_parts(files: Iterable[Path], by: Sequence[str], matching: str) -> list[SeedParts]:
    """Return the requested parts of the seeds whose sentences are there and follow the rule.

    Args:
        files: of the counts of one run, one for each seed.
        by: requested parts.
        matching: rule by which a triple is correct.
    """
    seeds = []
    for path in files:
        counts, study = load_counts(path), study_of(path)
        pair = None if study is None else scored_sentences(study, path, counts.ids)
        if study is None or pair is None or matching not in counts.counts:
            continue
        ign = None
        train = inputs_of(study, path, ["train"]).get("train") if "ign" in by else None
        if train is not None:
            ign = ign_scores(*pair, load_sentences(train), matching).f1
        parts = break_down(*pair, counts.counts[matching], matching, by)
        seeds.append(SeedParts(counts, parts, ign, settings_of(study, path)["bootstrap"]))
    return seeds


def part_cell(
    study: TableInputs,
    run: Run,
    matching: str,
    column: PartColumn,
    seeds: Sequence[SeedParts],
) -> Cell:
    """Return the mean of a requested score over seeds, with deviation and interval."""
    digits = study.digits(1)
    attributes: dict[str, Any] = {
        "digits": digits,
        "seeds": sum(bool(seed.counts.keys.get("seed")) for seed in seeds),
        "mark": study.frames.mark(run),
        "of": subject(run, f"{column.kind}:{column.part}", matching, column.metric),
        "full": 100,
    }
    if column.kind == "ign":
        values = [seed.ign for seed in seeds if seed.ign is not None]
        cases = len(seeds[0].counts.ids) if values else None
        return Cell.mean(values, cases=cases, **attributes) if values else Cell(digits=digits)
    parts = [seed.parts.get(column.kind, {}).get(column.part) for seed in seeds]
    known = [part for part in parts if part is not None and len(part.counts)]
    if not known or len(known) < len(seeds):
        return Cell(digits=digits)
    values = [getattr(micro(part.counts), column.metric) for part in known]
    interval = (part_intervals(seeds[0], known) or {}).get(column.metric)
    return Cell.mean(values, interval, cases=len(known[0].counts), **attributes)


def part_intervals(first: SeedParts, parts: Sequence[Part]) -> dict[str, Interval] | None:
    """Return the intervals of one part over sentences and seeds; None without gold triples.

    Args:
        first: the first seed.
        parts: of each seed, for the same sentences.
    """
    if (
        any(part.positions != parts[0].positions for part in parts)
        or not parts[0].counts[:, 2].any()
    ):
        return None
    stacked = np.stack([part.counts for part in parts], axis=1)
    by_unit = sum_by_unit(stacked, parts[0].units(first.counts.units()))
    return intervals(by_unit, **first.bootstrap)
