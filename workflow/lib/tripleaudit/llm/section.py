"""Endpoints and clients of the section ``generative``; uses no network."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
from tripleaudit.core.yaml_files import read_yaml
from tripleaudit.llm.endpoint import Endpoint
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.llm.store import DEFAULT_CACHE

if TYPE_CHECKING:
    from tripleaudit.llm.client import Client

SAMPLING_FIELDS = ("model", "temperature", "max_tokens", "seed", "top_p", "extra")
REASONING_FIELDS = ("reasoning_effort", "reasoning_tokens")


def read_section(text: str, study: str = "study") -> tuple[dict[str, Any], str]:
    """Return ``(section, study name)`` from JSON, a ``.json`` file or a study file.

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
    defined = section.get("endpoints") or {}
    if name not in defined:
        names = ", ".join(sorted(defined)) or "none"
        raise UserError(f"generative endpoint '{name}' is not defined; known: {names}")
    return Endpoint.from_config(name, defined[name])


@dataclass(frozen=True)
class Access:
    """Settings of a job that queries a language model.

    All clients of a study share the section's cache and its budget.

    Attributes:
        section: configuration section ``generative``.
        study: name of the study whose budget is used.
        endpoint: name of an endpoint of the section; empty for none.
        gguf: file of a model that is served for this job, from the first request without a stored
            answer.
        threads: CPU threads of its server.
        server_log: file of its server's output.
        same_address: whether stored answers of other addresses are left out.
    """

    section: Mapping[str, Any]
    study: str
    endpoint: str = ""
    gguf: Sequence[str | Path] = ()
    threads: int = 0
    server_log: str = ""
    same_address: bool = False

    def client(self) -> "Client":
        """Return a client; close it after use.

        Raises:
            UserError: the endpoint is not defined, a budget has no prices, or a local model is to
                be served and ``gguf`` is empty.
        """
        from tripleaudit.llm.client import Client  # plans read the section without a client
        from tripleaudit.llm.llama import LocalServer

        settings = endpoint(self.section, self.endpoint)
        budget = self.section.get("budget")
        where = f"generative endpoint '{self.endpoint}'"
        if budget is not None and settings.api_key_env and not settings.prices:
            raise UserError(f"{where}: a budget needs 'prices' for every endpoint with a key")
        server = None
        if settings.serve is not None:
            if not self.gguf:
                raise UserError(f"{where}: its model is missing; expected a GGUF file")
            server = LocalServer(
                self.gguf[0], self.server_log or None, settings.context, self.threads or None
            )
        cache = Path(self.section.get("cache") or DEFAULT_CACHE)
        return Client(
            settings,
            cache,
            budget=budget,
            study=self.study,
            server=server,
            same_address=self.same_address,
        )


def identity(section: Mapping[str, Any], dataset: str, system: str) -> dict[str, Any]:
    """Return the settings that determine an extraction: data set, task, prompt and model.

    As a rule's parameter they make the extraction run again exactly when its result may change (and
    then from the cache where the requests are the same).
    """
    settings = section["systems"][system]
    prompt = load_prompt(settings.get("prompt") or settings.get("setting") or "open")
    return {
        "dataset": dict(section["datasets"][dataset]),
        "system": {
            key: value for key, value in settings.items() if key not in ("endpoint", "datasets")
        },
        "prompt": prompt.sha256,
        **answering(section, settings["endpoint"]),
    }


def answering(section: Mapping[str, Any], name: str, *prompts: str) -> dict[str, Any]:
    """Return the settings that decide the answers of an endpoint: model, sampling and prompts."""
    settings = endpoint(section, name)
    deciding: dict[str, Any] = {"structured": settings.structured != "off"}
    for field in SAMPLING_FIELDS:
        deciding[field] = getattr(settings, field)
    for field in REASONING_FIELDS:
        if getattr(settings, field) is not None:
            deciding[field] = getattr(settings, field)
    if prompts:
        deciding["prompts"] = [load_prompt(prompt).sha256 for prompt in prompts]
    return deciding
