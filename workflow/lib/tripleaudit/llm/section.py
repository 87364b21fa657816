"""From the configuration section ``generative`` to endpoints, clients and checks that need no network."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripleaudit.errors import UserError
from tripleaudit.files import read_json
from tripleaudit.llm.endpoint import Endpoint
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.llm.store import DEFAULT_CACHE
from tripleaudit.yaml_files import read_yaml

if TYPE_CHECKING:
    from tripleaudit.llm.client import Client


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


@dataclass(frozen=True)
class Access:
    """Settings of a job that queries a language model.

    All clients of a study share the section's cache and its budget.

    Attributes:
        section: configuration section ``generative``.
        study: whose budget is used.
        endpoint: name of an endpoint of the section; empty for none.
        gguf: the file of a model that is served for this job, from the first request that the cache does not answer.
        threads, server_log: CPU threads and output of its server.
    """

    section: Mapping[str, Any]
    study: str
    endpoint: str = ""
    gguf: Sequence[str | Path] = ()
    threads: int = 0
    server_log: str = ""

    def client(self) -> "Client":
        """Return a client; close it after use.

        Raises:
            UserError: the endpoint is not defined, a budget has no prices, or a local model is to be served and
                ``gguf`` is empty.
        """
        from tripleaudit.llm.client import Client  # a plan reads the section, too, and asks nobody
        from tripleaudit.llm.llama import LocalServer

        chosen, budget = endpoint(self.section, self.endpoint), self.section.get("budget")
        where = f"generative endpoint '{self.endpoint}'"
        if budget is not None and chosen.api_key_env and not chosen.prices:
            raise UserError(f"{where}: a budget needs 'prices' for every endpoint with a key")
        server = None
        if chosen.serve is not None:
            if not self.gguf:
                raise UserError(f"{where}: its model is missing; expected a GGUF file")
            server = LocalServer(self.gguf[0], self.server_log or None, chosen.context, self.threads or None)
        cache = Path(self.section.get("cache") or DEFAULT_CACHE)
        return Client(chosen, cache, budget=budget, study=self.study, server=server)


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
    """Return what decides the answers of an endpoint: model, sampling and prompts; nothing about transport."""
    where = endpoint(section, name)
    sampling = ("model", "temperature", "max_tokens", "seed", "top_p", "extra")
    found = {"structured": where.structured != "off", **{field: getattr(where, field) for field in sampling}}
    thought = {field: getattr(where, field) for field in ("reasoning_effort", "reasoning_tokens")}
    found |= {field: value for field, value in thought.items() if value is not None}
    return found | ({"prompts": [load_prompt(prompt).sha256 for prompt in prompts]} if prompts else {})
