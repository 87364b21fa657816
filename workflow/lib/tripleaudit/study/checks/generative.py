"""Checks of the section ``generative``."""

from collections.abc import Iterator

from tripleaudit.core.errors import UserError
from tripleaudit.llm import section as settings
from tripleaudit.llm.capabilities import strict_problem
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.study.config.generative import Extraction
from tripleaudit.study.corpora import Corpora
from tripleaudit.study.language_models import LanguageModels
from tripleaudit.study.problems import LeftOut


class GenerativeChecks:
    """Checks of endpoints, data sets and extractions by language models.

    Args:
        models: the language models of the study.
        corpora: the corpora of the study.
        left_out: values that do not fit, each of which is a problem already.
    """

    def __init__(self, models: LanguageModels, corpora: Corpora, left_out: LeftOut):
        self.models = models
        self.corpora = corpora
        self.config = models.config
        self.left_out = left_out

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each thing that cannot work, before anything runs."""
        yield from self._problems_of_endpoints()
        for name, texts in self.config.datasets.items():
            where = f"generative/datasets/{name}/corpus"
            corpora = self.corpora.sections
            yield from self.left_out.unknown(
                where, "corpus", texts.corpus, corpora, section="corpora"
            )
        for name, system in self.config.systems.items():
            yield from self._problems_of_system(f"generative/systems/{name}", system)

    def _problems_of_system(self, where: str, system: Extraction) -> Iterator[str]:
        yield from self.left_out.unknown(
            f"{where}/endpoint",
            "endpoint",
            system.endpoint,
            self.config.endpoints,
            section="generative/endpoints",
        )
        yield from self._problems_of_examples(where, system)
        for dataset in system.datasets or ():
            yield from self.left_out.unknown(
                f"{where}/datasets",
                "data set",
                dataset,
                self.config.datasets,
                section="generative/datasets",
            )
        try:
            schema = load_prompt(system.prompt or system.setting).schema
        except UserError as error:
            yield f"{where}/prompt: {error}"
            return
        server = self.config.endpoints.get(system.endpoint)
        if server is None:
            return
        max_tokens = system.max_tokens or server.max_tokens
        if server.context is not None and max_tokens >= server.context:
            yield (
                f"{where}/max_tokens: an answer of up to {max_tokens} leaves no room for a text in "
                f"a context of {server.context}"
            )
        if server.structured == "json_schema" and schema is not None:
            problem = strict_problem(schema)
            if problem:
                # with structured: auto, an endpoint that refuses the schema is queried without it
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
            keys = ("base_url", "model", "serve/source")
            if self.left_out.includes(*(f"{where}/{key}" for key in keys)):
                continue
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
