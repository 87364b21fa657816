"""Counts of a scored run by sentence, for paired tests and error pages.

A CSV file whose first line is a comment ``# {…}`` with the keys of the run, and ``reasons`` where
there are some; then one row a sentence with its id, its stratum (empty for zero triples) and
``correct``, ``predicted`` and ``gold`` under each matching rule. A test set with sentences without
triples has a column ``names``: which names of training they hold
(:mod:`tripleaudit.scoring.held_names`). Where sentences share gold triples, the column ``group``
has the id of the first sentence of each sentence's group.
"""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import IO, Any

import numpy as np

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import atomic_write, open_text
from tripleaudit.protocols.variants import originals_of
from tripleaudit.scoring.metrics import in_stratum
from tripleaudit.scoring.units import SENTENCE, SHARED_TRIPLE, sum_by_unit

COLUMNS = ("correct", "predicted", "gold")
REASONS = "reasons"
UNIT = "unit"
NAMES = "names"
GROUP = "group"


@dataclass
class SentenceCounts:
    """Counts of one run on one test set.

    Attributes:
        keys: what the run is (study, corpus, protocol, training, testing, extractor, noise, seed).
        strata: stratum of each sentence, ``None`` for zero triples or where no training set was
            given.
        counts: matching rule -> integers ``[sentences, 3]`` (correct, predicted, gold).
        names: of each sentence without triples which names of training it holds, ``None`` for the
            others; empty where every sentence has triples, or no training set was given.
        reasons: sentences on why next to nothing is found, for another reason than the extractor.
        groups: of each sentence the first one of those that share gold triples with it; empty where
            none do.
        unit: what is resampled, one of :data:`tripleaudit.scoring.units.UNITS`.
    """

    keys: dict[str, str]
    ids: list[str]
    strata: Sequence[str | None]
    counts: Mapping[str, np.ndarray] = field(default_factory=dict)
    reasons: Sequence[str] = ()
    names: Sequence[str | None] = ()
    groups: Sequence[str] = ()
    unit: str = SENTENCE

    @property
    def originals(self) -> list[str]:
        """The id of each sentence; of a variant, that of its original.

        Variants of augmented test sets may have any name after the last dot of their id. Sentences
        without triples have no variants there.
        """
        if self.keys.get("protocol") != "augmented" or not self.counts:
            return originals_of(self.ids)
        gold = next(iter(self.counts.values()))[:, COLUMNS.index("gold")]
        return [
            id_.rpartition(".")[0] or id_ if has_triples else id_
            for id_, has_triples in zip(self.ids, gold > 0, strict=True)
        ]

    def units(self, stratum: str = "all") -> list[str]:
        """Return the unit of resampling that each sentence of a stratum belongs to."""
        units = self.groups if self.unit == SHARED_TRIPLE and self.groups else self.originals
        return list(compress(units, in_stratum(self.strata, stratum)))

    def ids_of(self, stratum: str = "all") -> list[str]:
        """Return the ids of the sentences of a stratum."""
        return list(compress(self.ids, in_stratum(self.strata, stratum)))

    def by_unit(self, matching: str, stratum: str = "all") -> np.ndarray:
        """Return the counts ``[units of the stratum, 3]`` under one matching rule."""
        return sum_by_unit(self.of(matching, stratum), self.units(stratum))

    def of(self, matching: str, stratum: str = "all") -> np.ndarray:
        """Return the counts ``[sentences of the stratum, 3]`` under one matching rule."""
        return self.counts[matching][in_stratum(self.strata, stratum)]

    def save(self, path: str | Path) -> None:
        """Write the file, atomically."""
        first_line: dict[str, Any] = dict(self.keys)
        if self.reasons:
            first_line[REASONS] = list(self.reasons)
        if self.unit != SENTENCE:
            first_line[UNIT] = self.unit
        columns: dict[str, Sequence[Any]] = {
            "id": self.ids,
            "stratum": [stratum or "" for stratum in self.strata],
        }
        if any(self.names):
            columns[NAMES] = [name or "" for name in self.names]
        if self.groups and list(self.groups) != self.ids:
            columns[GROUP] = self.groups
        for matching, counts in self.counts.items():
            for position, column in enumerate(COLUMNS):
                columns[f"{matching}:{column}"] = counts[:, position].tolist()
        with atomic_write(path) as stream:
            stream.write("# " + json.dumps(first_line, ensure_ascii=True, sort_keys=True) + "\n")
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))


def stack_counts(
    by_seed: Mapping[str, SentenceCounts],
    matching: str,
    stratum: str = "all",
    seeds: Iterable[str] | None = None,
) -> np.ndarray | None:
    """Return the counts ``[sentences, seeds, 3]`` of one run; None if they are incomplete.

    Args:
        by_seed: counts by seed; those of a run without training have an empty seed.
        matching: rule by which a triple is correct.
        stratum: of the sentences.
        seeds: to stack; by default all.
    """
    wanted = by_seed if seeds is None else seeds
    runs = [by_seed.get(seed, by_seed.get("")) for seed in sorted(wanted, key=_seed_order)]
    complete = [run for run in runs if run is not None and matching in run.counts]
    if not complete or len(complete) < len(runs):
        return None
    if any(run.ids != complete[0].ids for run in complete):
        return None
    return np.stack([run.of(matching, stratum) for run in complete], axis=1)


def _seed_order(seed: str) -> tuple[int, str]:
    return int(seed) if seed.isdecimal() else 0, seed


def load_counts(path: str | Path) -> SentenceCounts:
    """Read a file that :meth:`SentenceCounts.save` wrote.

    Raises:
        UserError: the file is missing or is something else.
    """
    with open_text(path) as stream:
        keys = _first_line(stream, path)
        try:
            header, *rows = csv.reader(stream)
            first = sum(name in ("id", "stratum", NAMES, GROUP) for name in header[:4])
            rules = list(dict.fromkeys(name.rpartition(":")[0] for name in header[first:]))
            table = np.array([row[first:] for row in rows], dtype=np.int64).reshape(
                len(rows), len(rules), 3
            )
            texts = {
                name: [row[position] for row in rows]
                for position, name in enumerate(header[:first])
            }
            ids, strata = texts["id"], [stratum or None for stratum in texts["stratum"]]
        except (ValueError, IndexError, KeyError) as error:
            raise UserError(f"{path}: not a file of per-sentence counts ({error})") from error
    reasons, unit = keys.pop(REASONS, ()), keys.pop(UNIT, SENTENCE)
    return SentenceCounts(
        keys=keys,
        ids=ids,
        strata=strata,
        counts={rule: table[:, position] for position, rule in enumerate(rules)},
        reasons=reasons,
        names=[name or None for name in texts.get(NAMES, ())],
        groups=texts.get(GROUP, ()),
        unit=unit,
    )


def read_keys(path: str | Path) -> dict[str, str]:
    """Return a run's keys from the first line of its counts; errors as :func:`load_counts`."""
    with open_text(path) as stream:
        return {
            name: value
            for name, value in _first_line(stream, path).items()
            if name not in (REASONS, UNIT)
        }


def _first_line(stream: IO[str], path: str | Path) -> dict[str, Any]:
    try:
        return dict(json.loads(stream.readline().removeprefix("# ")))
    except (ValueError, TypeError) as error:
        raise UserError(f"{path}: not a file of per-sentence counts ({error})") from error
