"""The section ``generative``: which language models extract triples from which texts. Uses no
network.
"""

import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from tripleaudit.core.errors import UserError
from tripleaudit.core.fields import (
    Count,
    Name,
    NotNegative,
    Number,
    Section,
    Seed,
    Temperature,
    Text,
)
from tripleaudit.llm import section as settings
from tripleaudit.llm.capabilities import closed, strict_problem
from tripleaudit.llm.endpoint import Endpoint
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.study.problems import unknown
from tripleaudit.study.variables import is_set, named


class Texts(Section):
    """Texts to extract from."""

    corpus: str
    """A corpus of the study."""
    split: Literal["train", "valid", "test"] = "test"
    """Which split of it."""
    limit: Number | None = None
    """How many texts; null takes all."""
    sample_seed: Seed | None = None
    """Draw the texts at random with this seed; null takes the first ones."""
    relations: list[Text] | None = Field(None, min_length=1)
    """Relations of closed and semi-open extraction; null takes those of the texts' gold triples."""
    entity_types: list[Text] = []
    """Types of things that relations link (semi-open extraction)."""
    verbalise: dict[str, Text] = {}
    """Plain names of relations for prompts and for scoring; others get the last component of their path, underscores as
    blanks, camel case split."""


class Extraction(Section):
    """A language model that extracts for GREScores, and about which texts; rows of F1 are
    `systems`.
    """

    endpoint: str
    """An endpoint by name."""
    setting: Literal["closed", "semi-open", "open"] = "open"
    """What it gets: relations and a gold entity pair (closed), relations and types (semi-open),
    or nothing (open).
    """
    prompt: str | None = None
    """A prompt of workflow/lib/tripleaudit/data/prompts by name, or the path of your own; null
    is the setting's.
    """
    datasets: list[str] | None = None
    """Data sets by name; null takes all."""
    examples: Count = 0
    """How many sentences of the corpus's training split are shown with their gold triples before
    the text.
    """
    examples_seed: Seed = 0
    """Seed of the draw of examples."""
    reask: bool = True
    """Query once more where an answer cannot be read."""
    max_tokens: Number | None = None
    """Instead of the endpoint's."""
    temperature: Temperature | None = None
    """Instead of the endpoint's."""
    seed: int | None = None
    """Instead of the endpoint's."""


class Generative(Section):
    """Extraction by language models behind OpenAI-compatible endpoints; nothing is sent without
    systems.
    """

    cache: str = "results/cache/llm"
    """Folder of paid answers, kept outside the study's results so that it outlives them; may be
    shared.
    """
    budget: NotNegative | None = None
    """Most money the study may ever spend, in the currency of the prices; null for no limit."""
    endpoints: dict[Name, Endpoint] = {}
    """Where language models answer, by name."""
    datasets: dict[Name, Texts] = {}
    """Texts to extract from, by name."""
    systems: dict[Name, Extraction] = {}
    """What extracts, by name; one row of the GRE tables each."""


class LanguageModels:
    """The extractions by language models of a study, and the endpoints that other sections
    query, too.
    """

    def __init__(self, study: Any, config: Generative):
        self.study, self.config = study, config
        self.section: dict[str, Any] = config.full()  # as commands take it

    @cached_property
    def json(self) -> str:
        """The section for jobs."""
        return json.dumps(self.section)

    @cached_property
    def extractions(self) -> list[tuple[str, str]]:
        """``(data set, system)`` of every extraction, in the order of the section."""
        return [
            (dataset, name)
            for name, system in self.config.systems.items()
            for dataset in (system.datasets or self.config.datasets)
        ]

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each thing that cannot work, before anything runs."""
        yield from self._problems_of_endpoints()
        for name, texts in self.config.datasets.items():
            yield from unknown(
                f"generative/datasets/{name}/corpus", "corpus", texts.corpus, self.study.corpora
            )
        for name, system in self.config.systems.items():
            where = f"generative/systems/{name}"
            yield from self.unknown_endpoint(f"{where}/endpoint", system.endpoint)
            yield from self._problems_of_examples(where, system)
            for dataset in system.datasets or ():
                yield from unknown(f"{where}/datasets", "data set", dataset, self.config.datasets)
            try:
                schema = load_prompt(system.prompt or system.setting).schema
            except UserError as error:
                yield f"{where}/prompt: {error}"
                continue
            server = self.config.endpoints.get(system.endpoint)
            longest = system.max_tokens or (server.max_tokens if server is not None else 0)
            if server is not None and server.context is not None and longest >= server.context:
                full = f"an answer of up to {longest} leaves no room for a text in a context of {server.context}"
                yield f"{where}/max_tokens: {full}"
            strict = (
                server is not None and server.structured == "json_schema" and schema is not None
            )
            if strict and (problem := strict_problem(closed(schema))):
                why = f"endpoint '{system.endpoint}' asks for json_schema; auto does without"
                yield f"{where}/prompt: {problem} ({why})"

    def _problems_of_examples(self, where: str, system: Extraction) -> Iterator[str]:
        for dataset in system.datasets or self.config.datasets:
            texts = self.config.datasets.get(dataset)
            if system.examples and texts is not None and texts.split == "train":
                yield f"{where}/examples: the texts of '{dataset}' are the training split that examples come from"
            has = (
                self.study.data.sizes(texts.corpus).get("train")
                if texts and texts.corpus in self.study.corpora
                else None
            )
            if has is not None and system.examples > has:
                yield f"{where}/examples: {system.examples} sentences, but the training split has {has}"

    def _problems_of_endpoints(self) -> Iterator[str]:
        for name, server in self.config.endpoints.items():
            where = f"generative/endpoints/{name}"
            try:
                chosen = settings.endpoint(self.section, name)
            except UserError as error:
                said = str(error).removeprefix(f"generative endpoint '{name}': ")
                yield f"{where}: {said}"
                continue
            if self.config.budget is not None and chosen.api_key_env and not chosen.prices:
                yield f"{where}: a budget needs 'prices' for every endpoint with a key"
            if server.serve is not None:
                yield from self.study.paths.problems_of_served(
                    f"{where}/serve/source", server.serve.source
                )

    def unknown_endpoint(self, where: str, name: str | None) -> Iterator[str]:
        """Yield a sentence about the name of an endpoint that is not defined."""
        yield from unknown(where, "endpoint", name, self.config.endpoints)

    def queried(self) -> list[str]:
        """Return the endpoints of all systems."""
        return [system.endpoint for system in self.config.systems.values()]

    def endpoint_of(self, system: str) -> str:
        """Return the endpoint of a system."""
        return self.config.systems[system].endpoint

    def examples(self, dataset: str, system: str) -> list[str]:
        """Return the training split that a system's examples come from, if it is shown some."""
        train = (
            f"{self.study.paths.study}/corpora/{self.config.datasets[dataset].corpus}/train.jsonl"
        )
        return [train] if self.config.systems[system].examples else []

    def served(self, *endpoints: str | None) -> list[str]:
        """Return the files of the models that endpoints serve themselves."""
        servers = [self.config.endpoints[name].serve for name in endpoints if name]
        return [self.study.paths.served(serve.source) for serve in servers if serve is not None]

    def need_network(self, *endpoints: str | None) -> bool:
        """Whether one of the endpoints is a service elsewhere, not a model that a job serves
        itself.

        A rule that asks it is local, because compute nodes may have no network.
        """
        return any(self.config.endpoints[name].serve is None for name in endpoints if name)

    def identity(self, dataset: str, system: str) -> dict[str, Any]:
        """Return what decides the result of an extraction
        (:func:`tripleaudit.llm.section.identity`).
        """
        return settings.identity(self.section, dataset, system)

    def sampling(self, *endpoints: str | None) -> list[dict[str, Any]]:
        """Return what decides the answers of endpoints besides the requests: nothing about
        transport.
        """
        fields = ("model", "temperature", "seed", "top_p", "extra", "context")
        found = [settings.endpoint(self.section, name) for name in endpoints if name]
        return [{field: getattr(endpoint, field) for field in fields} for endpoint in found]

    def texts(self, wildcards: Any) -> str:
        """Return the split of a corpus that a data set is taken from."""
        texts = self.config.datasets[wildcards.dataset]
        return f"{self.study.paths.study}/corpora/{texts.corpus}/{texts.split}.jsonl"

    def files(self) -> list[str]:
        """Return the reports of all extractions."""
        folder = f"{self.study.paths.study}/generative"
        return [f"{folder}/{dataset}/{system}/report.json" for dataset, system in self.extractions]

    def missing_keys(self, endpoints: Iterable[str] | None = None) -> list[str]:
        """Return the names of the environment variables that endpoints need and that are not set.

        Args:
            endpoints: names; by default those of the section's systems.
        """
        used = self.queried() if endpoints is None else endpoints
        return sorted(name for name in self._key_names(used) if not is_set(name))

    def keys_present(self) -> list[str]:
        """Return the names of the environment variables of endpoints that are set, for jobs on
        other machines.
        """
        return sorted(filter(is_set, self._key_names(self.config.endpoints)))

    def _key_names(self, endpoints: Iterable[str]) -> set[str]:
        servers = [
            self.config.endpoints[name] for name in endpoints if name in self.config.endpoints
        ]
        return {
            name for server in servers for name, _ in named("", server.headers, server.api_key_env)
        }
