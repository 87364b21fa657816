"""Language models of a study: endpoints, extractions and what affects their answers."""

import json
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from tripleaudit.llm import section as settings
from tripleaudit.study.config.generative import Generative
from tripleaudit.study.keys import is_set, key_variables
from tripleaudit.study.paths import StudyPaths


class LanguageModels:
    """The extractions by language models of a study, and the endpoints that other sections query.

    Args:
        config: the section ``generative``.
        paths: the files of the study.
    """

    def __init__(self, config: Generative, paths: StudyPaths):
        self.config, self.paths = config, paths
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

    def queried(self) -> list[str]:
        """Return the endpoints of all systems."""
        return [system.endpoint for system in self.config.systems.values()]

    def endpoint_of(self, system: str) -> str:
        """Return the endpoint of a system."""
        return self.config.systems[system].endpoint

    def examples(self, dataset: str, system: str) -> list[str]:
        """Return the training split that a system's examples come from, if it is shown some."""
        corpus = self.config.datasets[dataset].corpus
        train = self.paths.results.sentences.format(corpus=corpus, split="train")
        return [train] if self.config.systems[system].examples else []

    def served(self, *endpoints: str | None) -> list[str]:
        """Return the files of the models that endpoints serve themselves."""
        servers = [self.config.endpoints[name].serve for name in endpoints if name]
        return [self.paths.served(serve.source) for serve in servers if serve is not None]

    def need_network(self, *endpoints: str | None) -> bool:
        """Return whether an endpoint is a remote service, not a model that the job serves itself.

        Such a rule is local, because compute nodes may have no network.
        """
        return any(self.config.endpoints[name].serve is None for name in endpoints if name)

    def identity(self, dataset: str, system: str) -> dict[str, Any]:
        """Return the settings that affect an extraction."""
        return settings.identity(self.section, dataset, system)

    def sampling(self, *endpoints: str | None) -> list[dict[str, Any]]:
        """Return the settings of endpoints that affect the answers of threads.

        Their requests carry limits of their own, and new threads begin at the context's end.
        """
        sampling = []
        for name in filter(None, endpoints):
            values = settings.answering(self.section, name)
            del values["max_tokens"]
            context = settings.endpoint(self.section, name).context
            sampling.append({**values, "context": context})
        return sampling

    def texts(self, wildcards: Any) -> str:
        """Return the split of a corpus that a data set is taken from."""
        texts = self.config.datasets[wildcards.dataset]
        return self.paths.results.sentences.format(corpus=texts.corpus, split=texts.split)

    def files(self) -> list[str]:
        """Return the reports of all extractions."""
        report = self.paths.results.extraction_report
        return [
            report.format(dataset=dataset, system=system) for dataset, system in self.extractions
        ]

    def missing_keys(self, endpoints: Iterable[str] | None = None) -> list[str]:
        """Return the names of the environment variables that endpoints need and that are not set.

        Args:
            endpoints: names; by default those of the section's systems.
        """
        used = self.queried() if endpoints is None else endpoints
        return sorted(name for name in self._key_names(used) if not is_set(name))

    def keys_present(self) -> list[str]:
        """Return the variables of endpoints that are set, for jobs on other machines."""
        return sorted(filter(is_set, self._key_names(self.config.endpoints)))

    def _key_names(self, endpoints: Iterable[str]) -> set[str]:
        servers = [
            self.config.endpoints[name] for name in endpoints if name in self.config.endpoints
        ]
        return {
            name
            for server in servers
            for name, _ in key_variables("", server.headers, server.api_key_env)
        }
