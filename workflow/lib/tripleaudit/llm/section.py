"""From the configuration section ``generative`` to endpoints, clients and checks that need no network."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import read_json
from tripleaudit.llm.cache import DEFAULT_CACHE
from tripleaudit.llm.client import Client, Endpoint
from tripleaudit.llm.llama import LocalServer
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.yaml_files import read_yaml


def read_section(text: str, study: str = "study") -> tuple[dict[str, Any], str]:
    """Return ``(section, name of the study)`` from the section as JSON or a ``.json`` file, or from a study file.

    Raises:
        UserError: it is neither.
    """
    if text.endswith(".json"):
        section = read_json(text)
    elif not text.lstrip().startswith("{"):
        config = read_yaml(text)
        section, study = config.get("generative") or {}, config.get("study", study)
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
    gguf: str | Path | None = None,
    server_log: str | Path | None = None,
    threads: int | None = None,
) -> Client:
    """Return a client for an endpoint of the section; close it after use.

    All clients of a study share the section's cache, its budget and one ledger. The server of a local model starts
    with the first request that is not answered by the cache, and stops when the client is closed.

    Args:
        section: configuration section ``generative``.
        name: of the endpoint.
        study: whose budget is used.
        gguf: the model's file, of an endpoint with ``serve``.
        server_log, threads: output and CPU threads of that server.

    Raises:
        UserError: the endpoint is not defined, a budget has no prices, or a local model is to be served and
            ``gguf`` is not given.
    """
    chosen = endpoint(section, name)
    if section.get("budget") is not None and chosen.api_key_env and not chosen.prices:
        raise UserError(f"generative endpoint '{name}': a budget needs 'prices' for every endpoint with a key")
    server = None
    if chosen.serve is not None:
        if gguf is None:
            raise UserError(f"generative endpoint '{name}': its model is missing; expected a GGUF file")
        server = LocalServer(gguf, server_log, chosen.context, threads)
    cache = Path(section.get("cache") or DEFAULT_CACHE)
    return Client(chosen, cache, budget=section.get("budget"), ledger=cache / f"ledger-{study}.jsonl", server=server)


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
    thought = {field: getattr(where, field) for field in ("reasoning_effort", "reasoning_tokens")}
    found |= {field: value for field, value in thought.items() if value is not None}
    return found | ({"prompts": [load_prompt(prompt).sha256 for prompt in prompts]} if prompts else {})
