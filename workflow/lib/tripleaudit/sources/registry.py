"""The registry of known models and corpora in ``resources/registry``; light enough for the workflow to import."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tripleaudit.errors import UserError
from tripleaudit.sources.source import Source, parse_source

FOLDER = Path(__file__).resolve().parents[4] / "resources" / "registry"


@dataclass(frozen=True, slots=True)
class Model:
    """A model by name: its source, SHA-256 and size of what is transferred, and its licence."""

    name: str
    title: str
    source: Source
    sha256: str | None
    size: int | None
    licence: str


def model(name: str) -> Model:
    """Return a registered model.

    Raises:
        UserError: no model has this name.
    """
    known = models()
    if name not in known:
        raise UserError(f"model {name!r} is not registered, expected one of {', '.join(known)}")
    return known[name]


@functools.cache
def models() -> dict[str, Model]:
    """Return all registered models by name."""
    entries = _load("models.yaml")["models"]
    return {
        name: Model(
            name,
            entry["title"],
            parse_source(entry["source"]),
            entry.get("sha256"),
            entry.get("size"),
            entry["licence"],
        )
        for name, entry in entries.items()
    }


def _load(name: str) -> dict[str, Any]:
    with open(FOLDER / name, encoding="utf-8") as stream:
        return yaml.safe_load(stream)
