"""Checks of the section ``generative``."""

from collections.abc import Collection, Iterator

from tripleaudit.core.errors import UserError
from tripleaudit.llm import section as settings
from tripleaudit.llm.capabilities import strict_problem
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.study.config.generative import Extraction
from tripleaudit.study.corpora import Corpora
from tripleaudit.study.language_models import LanguageModels
from tripleaudit.study.problems import declared, unknown


class GenerativeChecks:
    """Checks of endpoints, data sets and extractions by language models.

    Args:
        models: the language models of the study.
        corpora: the corpora of the study.
        incomplete: locations of entries that lack a required key.
    """

    def __init__(self, models: LanguageModels, corpora: Corpora, incomplete: Collection[str]):
        self.models = models
        self.corpora = corpora
        self.config = models.config
        self.endpoints = declared(self.config.endpoints, "generative/endpoints", incomplete)
        self.datasets = declared(self.config.datasets, "generative/datasets", incomplete)

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each thing that cannot work, before anything runs."""
        yield from self._problems_of_endpoints()
        for name, texts in self.config.datasets.items():
            yield from unknown(
                f"generative/datasets/{name}/corpus", "corpus", texts.corpus, self.corpora.sections
            )
        for name, system in self.config.systems.items():
            where = f"generative/systems/{name}"
            yield from unknown(f"{where}/endpoint", "endpoint", system.endpoint, self.endpoints)
            yield from self._problems_of_examples(where, system)
            for dataset in system.datasets or ():
                yield from unknown(f"{where}/datasets", "data set", dataset, self.datasets)
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
            if strict and (problem := strict_problem(schema)):
                why = f"endpoint '{system.endpoint}' asks for json_schema; auto does without"
                yield f"{where}/prompt: {problem} ({why})"

    def _problems_of_examples(self, where: str, system: Extraction) -> Iterator[str]:
        for dataset in system.datasets or self.config.datasets:
            texts = self.config.datasets.get(dataset)
            if system.examples and texts is not None and texts.split == "train":
                yield f"{where}/examples: the texts of '{dataset}' are the training split that examples come from"
            if texts is None or texts.corpus not in self.corpora.sections:
                continue
            size = self.corpora.sizes(texts.corpus).get("train")
            if size is not None and system.examples > size:
                yield f"{where}/examples: {system.examples} sentences, but the training split has {size}"

    def _problems_of_endpoints(self) -> Iterator[str]:
        for name, server in self.config.endpoints.items():
            where = f"generative/endpoints/{name}"
            try:
                endpoint = settings.endpoint(self.models.section, name)
            except UserError as error:
                message = str(error).removeprefix(f"generative endpoint '{name}': ")
                yield f"{where}: {message}"
                continue
            if self.config.budget is not None and endpoint.api_key_env and not endpoint.prices:
                yield f"{where}: a budget needs 'prices' for every endpoint with a key"
            if server.serve is not None:
                yield from self.models.paths.problems_of_served(
                    f"{where}/serve/source", server.serve.source
                )
