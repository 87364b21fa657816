"""From the configuration section ``generative`` to endpoints, clients and checks that need no network."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import read_json
from tripleaudit.generative.client import Client, Endpoint
from tripleaudit.generative.extraction import SETTINGS
from tripleaudit.generative.prompts import load_prompt
from tripleaudit.sources.registry import find_model

DEFAULT_CACHE = "results/cache/llm"


def read_section(text: str, study: str = "study") -> tuple[dict[str, Any], str]:
    """Return ``(section, name of the study)`` from the section as JSON or a ``.json`` file, or from a study file.

    Raises:
        UserError: it is neither, or the study file cannot be used.
    """
    if text.endswith(".json"):
        section = read_json(text)
    elif not text.lstrip().startswith("{"):
        from tripleaudit.configuration import read_config

        config = read_config(text)
        section, study = config["generative"], config["study"]
    else:
        try:
            section = json.loads(text)
        except ValueError as error:
            raise UserError(f"--section: not valid JSON ({error})") from error
    return {"endpoints": {}, "datasets": {}, "systems": {}, **section}, study


def endpoint(section: Mapping[str, Any], name: str) -> Endpoint:
    """Return an endpoint of the section by name.

    Raises:
        UserError: there is none of this name, or it cannot be used.
    """
    known = section.get("endpoints") or {}
    if name not in known:
        raise UserError(f"generative endpoint '{name}' is not defined; known: {', '.join(sorted(known)) or 'none'}")
    return Endpoint.from_config(name, known[name])


def open_client(
    section: Mapping[str, Any],
    name: str,
    study: str,
    model_dir: str | Path | None = None,
    server_log: str | Path | None = None,
    threads: int | None = None,
    kind: type[Client] = Client,
) -> Client:
    """Return a client for an endpoint of the section; close it after use.

    All clients of a study share the section's cache, its budget and one ledger. The server of a local model starts
    with the first request that is not answered by the cache, and stops when the client is closed.

    Args:
        section: configuration section ``generative``.
        name: of the endpoint.
        study: whose budget is used.
        model_dir: model folder of an endpoint with ``serve``.
        server_log, threads: output and CPU threads of that server.
        kind: the class of the client, for those that keep more than single answers.

    Raises:
        UserError: the endpoint is not defined, or a local model is to be served and ``model_dir`` is not given.
    """
    chosen = endpoint(section, name)
    server = None
    if chosen.serve is not None:
        if model_dir is None:
            raise UserError(
                f"generative endpoint '{name}': its model folder is missing; expected the folder of the converted model"
            )
        from tripleaudit.generative.local_lm import LocalServer

        server = LocalServer(
            model_dir, chosen.model, server_log, device=chosen.serve.get("device") or "auto", threads=threads
        )
    cache = Path(section.get("cache") or DEFAULT_CACHE)
    return kind(chosen, cache, budget=section.get("budget"), ledger=cache / f"ledger-{study}.jsonl", server=server)


def systems_of(section: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return ``(data set, system)`` of every extraction of the section, in its order."""
    datasets = list(section.get("datasets") or {})
    return [
        (dataset, name)
        for name, system in (section.get("systems") or {}).items()
        for dataset in (system.get("datasets") or datasets)
    ]


def identity(section: Mapping[str, Any], dataset: str, system: str) -> dict[str, Any]:
    """Return what decides the result of an extraction: data set, task, prompt and model; nothing about transport.

    As a rule's parameter it makes the extraction run again exactly when its result may change (and then from the
    cache where the requests are the same).
    """
    chosen = section["systems"][system]
    prompt = load_prompt(chosen.get("prompt") or chosen.get("setting") or "open")
    return {
        "dataset": dict(section["datasets"][dataset]),
        "system": {key: value for key, value in chosen.items() if key not in ("endpoint", "datasets")},
        "prompt": prompt.sha256,
        **answering(section, chosen["endpoint"]),
    }


def answering(section: Mapping[str, Any], name: str, *prompts: str) -> dict[str, Any]:
    """Return what decides the answers of an endpoint: model, sampling and prompts; nothing about transport.

    Args:
        section: configuration section ``generative``.
        name: of the endpoint.
        prompts: names of the prompts, whose content counts.
    """
    where = endpoint(section, name)
    sampling = ("model", "temperature", "max_tokens", "seed", "top_p", "extra")
    found = {"structured": where.structured != "off", **{field: getattr(where, field) for field in sampling}}
    return found | ({"prompts": [load_prompt(prompt).sha256 for prompt in prompts]} if prompts else {})


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


def is_gguf(source: str) -> bool:
    """Whether a model (a registered name or a source) is one GGUF file."""
    found = find_model(source).source
    return (found.inner or found.location).lower().endswith(".gguf")


def _key_names(section: Mapping[str, Any], endpoints: Iterable[str]) -> set[str]:
    known = section.get("endpoints") or {}
    return {known[name]["api_key_env"] for name in endpoints if name in known and known[name].get("api_key_env")}
