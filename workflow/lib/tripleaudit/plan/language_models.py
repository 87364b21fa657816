"""What follows from the section ``generative`` of a study: its extractions, and what cannot work. No network."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.generative.extraction import SETTINGS
from tripleaudit.generative.settings import endpoint
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.sources.registry import find_model


def systems_of(section: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return ``(data set, system)`` of every extraction of the section, in its order."""
    datasets = list(section.get("datasets") or {})
    return [
        (dataset, name)
        for name, system in (section.get("systems") or {}).items()
        for dataset in (system.get("datasets") or datasets)
    ]


def problems(section: Mapping[str, Any], corpora: Mapping[str, Any] | list[str]) -> list[str]:
    """Return one sentence for each thing in the section that cannot work, before anything runs.

    Args:
        section: a section that fits its schema.
        corpora: names of the study's corpora.
    """
    found: list[str] = []
    endpoints = section.get("endpoints") or {}
    for name in endpoints:
        try:
            chosen = endpoint(section, name)
        except UserError as error:
            found.append(str(error))
            continue
        if section.get("budget") is not None and chosen.api_key_env and not chosen.prices:
            found.append(f"generative endpoint '{name}': a budget needs 'prices' for every endpoint with a key")
        if chosen.serve is not None:
            try:
                find_model(chosen.serve["source"])
            except UserError as error:
                found.append(f"generative endpoint '{name}': {error}")
    for name, dataset in (section.get("datasets") or {}).items():
        if dataset["corpus"] not in corpora:
            found.append(f"generative data set '{name}': unknown corpus '{dataset['corpus']}'")
    for name, system in (section.get("systems") or {}).items():
        if system["endpoint"] not in endpoints:
            found.append(f"generative system '{name}': unknown endpoint '{system['endpoint']}'")
        for dataset in system.get("datasets") or ():
            if dataset not in (section.get("datasets") or {}):
                found.append(f"generative system '{name}': unknown data set '{dataset}'")
        setting = system.get("setting") or "open"
        if setting not in SETTINGS:
            found.append(f"generative system '{name}': setting '{setting}' is none of {', '.join(SETTINGS)}")
            continue
        try:
            load_prompt(system.get("prompt") or setting)
        except UserError as error:
            found.append(f"generative system '{name}': {error}")
    return found


def missing_keys(section: Mapping[str, Any], endpoints: Iterable[str] | None = None) -> list[str]:
    """Return the names of the environment variables that endpoints need and that are not set.

    Args:
        endpoints: names; by default those of the section's systems.
    """
    used = {system["endpoint"] for system in (section.get("systems") or {}).values()}
    used = used if endpoints is None else set(endpoints)
    return sorted(name for name in _key_names(section, used) if not os.environ.get(name))


def keys_present(section: Mapping[str, Any]) -> list[str]:
    """Return the names of the environment variables with keys that are set, for jobs on other machines."""
    return sorted(name for name in _key_names(section, section.get("endpoints") or {}) if os.environ.get(name))


def _key_names(section: Mapping[str, Any], endpoints: Iterable[str]) -> set[str]:
    known = section.get("endpoints") or {}
    return {known[name]["api_key_env"] for name in endpoints if name in known and known[name].get("api_key_env")}


def is_gguf(source: str) -> bool:
    """Whether a model (a registered name or a source) is one GGUF file."""
    found = find_model(source).source
    return (found.inner or found.location).lower().endswith(".gguf")
