"""Keys of runs, and the scores, counts and cells of a study as data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from tripleaudit.scoring.counts import COLUMNS as COUNT_COLUMNS
from tripleaudit.scoring.counts import load_counts
from tripleaudit.scoring.scores import COLUMNS as SCORE_COLUMNS
from tripleaudit.scoring.scores import KEYS, Score

if TYPE_CHECKING:
    import pandas as pd

    from tripleaudit.tables.cells import Cell

RUN_KEYS: Final = tuple(key for key in KEYS if key not in ("study", "seed"))
CELL_KEYS: Final = (*RUN_KEYS, "stratum", "matching", "metric")
"""Keys of a cell: what was scored, and how."""
CELL_NUMBERS: Final = ("mean", "sd", "low", "high", "seeds", "cases", "mark")


class RunKey(NamedTuple):
    """What is scored, without the seed."""

    corpus: str
    protocol: str
    training: str
    testing: str
    extractor: str
    noise: str = "none"


def run_of(keys: Mapping[str, Any]) -> RunKey:
    """Return what the keys of a row, or of counts, say was scored."""
    return RunKey(
        *(str(keys.get(name) or ("none" if name == "noise" else "")) for name in RunKey._fields)
    )


class IndexedScores(Protocol):
    """The part of :class:`tripleaudit.tables.inputs.ScoreIndex` that frames are made from."""

    runs: list[Any]

    @property
    def rows(self) -> Iterator[Score]: ...

    def measured(self, run: Any) -> Iterable[tuple[str, str, str]]: ...

    def cell(self, run: Any, metric: str, *, stratum: str, matching: str, scale: float) -> Cell: ...


def score_frame(scores: IndexedScores) -> pd.DataFrame:
    """Return the scores as rows of the scores file."""
    import pandas as pd

    rows = [
        (
            *score.keys,
            score.stratum,
            score.matching,
            score.metric,
            score.value,
            score.low,
            score.high,
        )
        for score in scores.rows
    ]
    frame = pd.DataFrame(rows, columns=list(SCORE_COLUMNS))
    return frame.astype({"value": float, "low": float, "high": float})


def count_frame(files: Sequence[str | Path]) -> pd.DataFrame:
    """Return a row for each sentence, run and matching rule."""
    import numpy as np
    import pandas as pd

    parts = []
    for path in files:
        run = load_counts(path)
        for matching, counts in run.counts.items():
            part = pd.DataFrame(
                {"id": run.ids, "unit": run.units(), "stratum": [name or "" for name in run.strata]}
            )
            part[list(COUNT_COLUMNS)] = counts
            part["matching"] = matching
            for key in KEYS:
                part[key] = run.keys.get(key, "none" if key == "noise" else "")
            parts.append(part)
    columns = [*KEYS, "matching", "id", "unit", "stratum", *COUNT_COLUMNS]
    if not parts:
        return pd.DataFrame(columns=columns)
    frame = pd.concat(parts, ignore_index=True)[columns]
    texts = [name for name in columns if name not in COUNT_COLUMNS]
    return frame.astype(dict.fromkeys(texts, "category") | dict.fromkeys(COUNT_COLUMNS, np.int64))


def cell_frame(scores: IndexedScores) -> pd.DataFrame:
    """Return the mean over seeds of every metric of every run, as fractions."""
    import pandas as pd

    rows = [
        (*run, *measured) for run in scores.runs for measured in dict.fromkeys(scores.measured(run))
    ]
    keys = pd.DataFrame(rows, columns=list(CELL_KEYS))
    frame = pd.concat([keys, cells_at(scores, keys)], axis=1)
    return frame.astype({"seeds": int, "cases": "Int64"})


def cells_at(scores: IndexedScores, keys: pd.DataFrame) -> pd.DataFrame:
    """Return mean, deviation, interval, seeds, cases and mark for each row of keys, as fractions.

    What was not measured has no mean and no mark.

    Args:
        scores: of a study.
        keys: a frame with :data:`CELL_KEYS`.
    """
    import pandas as pd

    rows = []
    for *run_keys, stratum, matching, metric in keys[list(CELL_KEYS)].itertuples(index=False):
        run = RunKey(*run_keys)
        cell = scores.cell(run, metric, stratum=stratum, matching=matching, scale=1)
        rows.append((cell.value, cell.sd, cell.low, cell.high, cell.seeds, cell.cases, cell.mark))
    frame = pd.DataFrame(rows, columns=list(CELL_NUMBERS), index=keys.index)
    return frame.astype(dict.fromkeys(("mean", "sd", "low", "high", "seeds", "cases"), float))
