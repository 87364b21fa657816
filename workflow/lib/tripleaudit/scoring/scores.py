"""Tidy scores file: one value per row with its keys, and a provenance sidecar."""

import csv
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import atomic_write, open_text, read_json, sha256, write_json
from tripleaudit.core.version import __version__

KEYS: Final = ("study", "corpus", "protocol", "training", "testing", "extractor", "noise", "seed")
RUN_KEYS: Final = tuple(key for key in KEYS if key not in ("study", "seed"))
"""Keys of a run: what was scored, without the seed."""
COLUMNS: Final = (*KEYS, "stratum", "matching", "metric", "value", "low", "high")
CLASSIFICATION: Final = "classification"
"""The ``matching`` of rows about a zero-cardinality classifier, whose units are sentences."""

Run = dict[str, str]
"""The keys of a run, :data:`RUN_KEYS`."""


@dataclass(frozen=True, slots=True)
class Score:
    """Row of the scores file; ``low`` and ``high`` are bootstrap bounds, ``None`` if missing."""

    keys: tuple[str, ...]
    stratum: str
    matching: str
    metric: str
    value: float
    low: float | None = None
    high: float | None = None

    def key(self, name: str) -> str:
        """Return one of :data:`KEYS`."""
        return self.keys[KEYS.index(name)]


def keys_of(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the values of :data:`KEYS` as strings, empty where unknown.

    Raises:
        UserError: a key is none of :data:`KEYS`.
    """
    for name in values:
        if name not in KEYS:
            raise UserError(f"key {name!r} of a run is unknown; expected one of {', '.join(KEYS)}")
    return tuple("" if values.get(name) is None else str(values[name]) for name in KEYS)


def run_keys(keys: Mapping[str, Any] | None = None, **changed: str) -> Run:
    """Return the keys of a run; missing ones are empty, and the noise is ``none``.

    Args:
        keys: of a row of a frame, of counts or of a cell.
        changed: keys with other values, such as ``testing="wz"``.
    """
    values = {**(keys or {}), **changed}
    run = {name: str(values.get(name) or "") for name in RUN_KEYS}
    return {**run, "noise": run["noise"] or "none"}


def run_id(keys: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the values of :func:`run_keys`, a key for dictionaries."""
    return tuple(run_keys(keys).values())


def two_step_name(classifier: str, extractor: str) -> str:
    """Return the extractor name of two-step extraction in the scores file, ``zcc-mcml+casrel``."""
    return f"{classifier}+{extractor}"


def original_testing(settings: Iterable[str]) -> str:
    """Return the setting in which systems are compared on original test sets.

    It is ``nz``, and ``wz`` where a study of gold sets alone tests in that setting only.

    Args:
        settings: testing settings of the runs.
    """
    tested = set(settings)
    return "wz" if "wz" in tested and "nz" not in tested else "nz"


def split_two_step(name: str) -> tuple[str, str]:
    """Return ``(classifier, extractor)`` of a name; the classifier is empty for one step."""
    classifier, plus, extractor = name.rpartition("+")
    return (classifier, extractor) if plus else ("", name)


def write_scores(path: str | Path, scores: Iterable[Score]) -> None:
    """Write the CSV file, atomically; counts are whole numbers, fractions have 10 digits."""
    with atomic_write(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for score in scores:
            numbers = (
                "" if value is None else f"{value:.10g}"
                for value in (score.value, score.low, score.high)
            )
            writer.writerow([*score.keys, score.stratum, score.matching, score.metric, *numbers])


def read_scores(paths: str | Path | Sequence[str | Path]) -> list[Score]:
    """Read one scores file or several.

    Raises:
        UserError: a file is missing, lacks a column, or holds something that is not a number (file
            and line).
    """
    scores: list[Score] = []
    for path in [paths] if isinstance(paths, str | Path) else paths:
        with open_text(path) as stream:
            reader = csv.DictReader(stream)
            absent = [name for name in COLUMNS if name not in (reader.fieldnames or [])]
            if absent:
                raise UserError(
                    f"{path} line 1: not a scores file; column {absent[0]!r} is missing"
                )
            for number, row in enumerate(reader, 2):
                try:
                    low, high = (
                        float(row[name]) if row[name] else None for name in ("low", "high")
                    )
                    value = float(row["value"])
                    if not all(map(math.isfinite, (value, low or 0, high or 0))):
                        raise ValueError
                except (TypeError, ValueError) as error:
                    raise UserError(
                        f"{path} line {number}: expected finite numbers in value, low and high"
                    ) from error
                keys = tuple(row[name] for name in KEYS)
                scores.append(
                    Score(keys, row["stratum"], row["matching"], row["metric"], value, low, high)
                )
    return scores


def merge_scores(paths: Sequence[str | Path], out: str | Path, provenance: str | Path) -> None:
    """Join scores files into one, in the given order, and their sidecars into one.

    Raises:
        UserError: a file cannot be read, or two files score the same thing.
    """
    scores: list[Score] = []
    owner: dict[tuple, str | Path] = {}
    for path in paths:
        for score in read_scores(path):
            key = (score.keys, score.stratum, score.matching, score.metric)
            if key in owner:
                raise UserError(
                    f"{path}: holds the same score as {owner[key]} ({score.stratum} {score.metric})"
                )
            owner[key] = path
            scores.append(score)
    write_scores(out, scores)
    sidecars = {str(path): sidecar_of(path) for path in paths}
    write_json(
        provenance,
        {
            "files": {
                name: {
                    "sha256": sha256(name),
                    **({"provenance": read_json(sidecar)} if sidecar.exists() else {}),
                }
                for name, sidecar in sidecars.items()
            },
            "software": software(),
        },
    )


def sidecar_of(path: str | Path) -> Path:
    """Return the provenance file of a scores file: ``.provenance.json`` in place of ``.csv``."""
    return Path(path).with_suffix(".provenance.json")


def provenance_of(inputs: dict[str, str | Path], settings: dict[str, Any]) -> dict[str, Any]:
    """Say what a result was made from: the inputs' hashes, the settings, the software."""
    return {
        "inputs": {
            name: {"path": str(path), "sha256": sha256(path)} for name, path in inputs.items()
        },
        "settings": settings,
        "software": software(),
    }


def software() -> dict[str, str]:
    """Return the versions that decide a score."""
    return {
        "tripleaudit": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
    }
