"""Per-sentence counts of one scored run, kept so that paired tests and error pages need no second scoring.

A CSV file whose first line is a comment ``# {…}`` with the keys of the run, and ``reasons`` where there are some; then
one row a sentence with its id, its stratum (empty for zero triples) and ``correct``, ``predicted`` and ``gold`` under
each matching rule. A test set with sentences without triples has a third column: which names of training they hold
(:mod:`tripleaudit.scoring.held_names`).
"""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from tripleaudit.errors import UserError
from tripleaudit.files import atomic_write, open_text
from tripleaudit.scoring.metrics import in_stratum

COLUMNS = ("correct", "predicted", "gold")
REASONS = "reasons"
NAMES = "names"


@dataclass
class SentenceCounts:
    """Counts of one run on one test set.

    Attributes:
        keys: what the run is (study, corpus, protocol, training, testing, extractor, noise, seed).
        strata: stratum of each sentence, ``None`` for zero triples or where no training set was given.
        counts: matching rule -> integers ``[sentences, 3]`` (correct, predicted, gold).
        names: of each sentence without triples which names of training it holds, ``None`` for the others; empty where
            every sentence has triples, or no training set was given.
        reasons: sentences on why next to nothing is found, for another reason than the extractor.
    """

    keys: dict[str, str]
    ids: list[str]
    strata: Sequence[str | None]
    counts: Mapping[str, np.ndarray] = field(default_factory=dict)
    reasons: Sequence[str] = ()
    names: Sequence[str | None] = ()

    def of(self, matching: str, stratum: str = "all") -> np.ndarray:
        """Return the counts ``[sentences of the stratum, 3]`` under one matching rule."""
        return self.counts[matching][in_stratum(self.strata, stratum)]

    def save(self, path: str | Path) -> None:
        """Write the file, atomically."""
        names = [[name or ""] for name in self.names] if any(self.names) else [[]] * len(self.ids)
        rules = [f"{matching}:{column}" for matching in self.counts for column in COLUMNS]
        table = np.concatenate(list(self.counts.values()), axis=1).tolist() if self.counts else [[]] * len(self.ids)
        with atomic_write(path) as stream:
            first = {**self.keys, **({REASONS: list(self.reasons)} if self.reasons else {})}
            stream.write("# " + json.dumps(first, ensure_ascii=True, sort_keys=True) + "\n")
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["id", "stratum", *[NAMES] * any(self.names), *rules])
            for id_, stratum, name, numbers in zip(self.ids, self.strata, names, table, strict=True):
                writer.writerow([id_, stratum or "", *name, *numbers])


def load_counts(path: str | Path) -> SentenceCounts:
    """Read a file that :meth:`SentenceCounts.save` wrote.

    Raises:
        UserError: the file is missing or is something else.
    """
    with open_text(path) as stream:
        keys = _first_line(stream, path)
        try:
            header, *rows = csv.reader(stream)
            first = 3 if NAMES in header[2:3] else 2
            names = list(dict.fromkeys(name.rpartition(":")[0] for name in header[first:]))
            table = np.array([row[first:] for row in rows], dtype=np.int64).reshape(len(rows), len(names), 3)
            strata, *held = ([row[column] or None for row in rows] for column in range(1, first))
        except (ValueError, IndexError) as error:
            raise UserError(f"{path}: not a file of per-sentence counts ({error})") from error
    reasons = keys.pop(REASONS, ())
    counts = {name: table[:, index] for index, name in enumerate(names)}
    return SentenceCounts(keys, [row[0] for row in rows], strata, counts, reasons, *held)


def read_keys(path: str | Path) -> dict[str, str]:
    """Return the keys of the run in the first line of a file of counts; errors as :func:`load_counts`."""
    with open_text(path) as stream:
        return {name: value for name, value in _first_line(stream, path).items() if name != REASONS}


def _first_line(stream: IO[str], path: str | Path) -> dict[str, Any]:
    try:
        return dict(json.loads(stream.readline().removeprefix("# ")))
    except (ValueError, TypeError) as error:
        raise UserError(f"{path}: not a file of per-sentence counts ({error})") from error
