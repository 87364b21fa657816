"""The results of a study as tidy data frames: scores, counts, cells and contrasts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import atomic_write
from tripleaudit.scoring.matching import PRIMARY
from tripleaudit.scoring.scores import COLUMNS as SCORE_COLUMNS
from tripleaudit.tables.contrasts import COLUMNS as CONTRAST_COLUMNS
from tripleaudit.tables.contrasts import contrasts
from tripleaudit.tables.inputs import load_inputs
from tripleaudit.tables.result_frames import (
    CELL_KEYS,
    CELL_NUMBERS,
    COUNT_FRAME_COLUMNS,
    ResultFrames,
    count_frame,
)

if TYPE_CHECKING:
    import pandas as pd


FRAME_COLUMNS: Final = {
    "scores": SCORE_COLUMNS,
    "counts": COUNT_FRAME_COLUMNS,
    "cells": (*CELL_KEYS, *CELL_NUMBERS),
    "contrasts": CONTRAST_COLUMNS,
}
"""Columns of each frame; docs/reference/python.md describes them."""


class StudyFrames:
    """The frames of a finished study; each is read when it is needed.

    Args:
        folder: of the study, such as ``results/demo``.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def __repr__(self) -> str:
        return f"StudyFrames({str(self.folder)!r})"

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Every score of every run."""
        return self._read("scores")

    @cached_property
    def counts(self) -> pd.DataFrame:
        """Correct, predicted and gold triples of every sentence, by run and matching rule."""
        return self._read("counts")

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Means over seeds with deviation, interval, seeds, cases and marks."""
        return self._read("cells")

    @cached_property
    def contrasts(self) -> pd.DataFrame:
        """Every comparison with difference, interval and corrected p-value."""
        return self._read("contrasts")

    def _read(self, name: str) -> pd.DataFrame:
        import pandas as pd

        path = self.folder / f"{name}.parquet"
        if not path.is_file():
            raise UserError(f"{path}: no such file; run the study first (its target is `frames`)")
        try:
            frame = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise UserError(
                f"{path}: not a Parquet file; make it again (the study's target is `frames`)"
            ) from error
        missing = [column for column in FRAME_COLUMNS[name] if column not in frame.columns]
        if missing:
            raise UserError(
                f"{path}: made by another version, without the columns {', '.join(missing)}; make it again (the "
                "study's target is `frames`)"
            )
        return frame


def load(folder: str | Path) -> StudyFrames:
    """Load the results of a finished study as data frames.

    Args:
        folder: of the study, such as ``results/demo``.

    Returns:
        An object with the frames ``scores``, ``counts``, ``cells`` and ``contrasts``;
        docs/reference/python.md describes their columns.

    Raises:
        UserError: the folder is no study's.
    """
    if not Path(folder).is_dir():
        raise UserError(
            f"{folder}: no such folder; expected the results of a study, such as results/demo"
        )
    return StudyFrames(folder)


def write_frames(
    out: str | Path,
    scores: Sequence[str | Path] = (),
    counts: Sequence[str | Path] = (),
    doubled: Sequence[str | Path] = (),
    runs: Sequence[str | Path] = (),
) -> None:
    """Write the frames of a study as Parquet; cells and contrasts also as CSV.

    Args:
        out: folder of the study.
        scores: the tidy scores files: of extraction, of GREScores, of needles.
        counts: per-sentence counts of every run.
        doubled: per-sentence counts of trainings of twice the epochs.
        runs: facts of trainings and systems.
    """
    results = load_inputs(scores=scores, counts=counts, runs=runs).frames
    doubles = doubled_frames(results, doubled) if doubled else None
    frames = {
        "scores": results.scores,
        "counts": count_frame(counts),
        "cells": results.select_cells(),
        "contrasts": contrasts(results, PRIMARY, doubles),
    }
    for name, frame in frames.items():
        with atomic_write(Path(out) / f"{name}.parquet", "wb") as stream:
            frame.to_parquet(stream, index=False)
        if name in ("cells", "contrasts"):
            with atomic_write(Path(out) / f"{name}.csv") as stream:
                frame.to_csv(stream, index=False, float_format="%.10g")


def read_contrasts(path: str | Path) -> list[dict[str, Any]]:
    """Read the rows of a study's frame of contrasts.

    Raises:
        UserError: the file is missing or is no such frame.
    """
    import pandas as pd

    try:
        return pd.read_parquet(path, columns=list(CONTRAST_COLUMNS)).to_dict("records")
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path}: not a frame of contrasts; make it again with the rule frames"
        ) from error


def doubled_frames(frames: ResultFrames, files: Sequence[str | Path]) -> ResultFrames:
    """Return the counts of the trainings of twice the epochs, and of untrained systems."""
    doubles = ResultFrames(count_files=files)
    for run, by_seed in frames.counts.items():
        if set(by_seed) == {""}:
            doubles.counts[run] = by_seed
    return doubles
