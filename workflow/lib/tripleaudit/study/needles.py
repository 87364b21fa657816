"""The section ``needles``: which documents, models and needles MINEA is made of, and where its
results lie.
"""

import json
import os
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from tripleaudit.core.arguments import options_of
from tripleaudit.core.errors import UserError
from tripleaudit.core.fields import NAME, Number, Section, Text, Unique
from tripleaudit.needles.haystack import document_files, read_document
from tripleaudit.needles.plan import RATING, NeedleSettings
from tripleaudit.study.problems import missing, refused

if TYPE_CHECKING:
    from tripleaudit.study.study import Study

SAME = "same"
LENGTH_TABLE = "lost-in-the-middle"


class _Own(Section):
    documents: list[Text] = []
    """Text files, or folders of .txt and .md files; looked for under raw_root, too."""
    name: str = Field("documents", pattern=NAME)
    """What the documents are called in scores and tables."""
    max_documents: Number | None = None
    """Take only the first documents; null takes all."""
    max_chars: Number | None = None
    """Shorten every document to whole paragraphs within this many characters; null keeps them
    whole.
    """
    models: Annotated[list[str], Unique] = []
    """Endpoints of generative/endpoints that extract; one row of each table."""
    generator: str | None = None
    """Endpoint that invents the needles; null takes them all from the project's templates."""
    needle_file: str | None = None
    """Needles of your own as JSON lines, instead of invented ones."""
    judge: str | None = "same"
    """Endpoint that judges the criterion llm; same is the extracting model itself, null nobody."""
    tokenizer: str | None = None
    """A tokenizer.json that counts tokens; null takes the usage that the server reports."""


class Needles(NeedleSettings, _Own):
    """MINEA: needles infused into documents, iterated extraction of entities, and scores without reference. Nothing is
    sent without models."""


class NeedleStudies:
    """MINEA of a study."""

    def __init__(self, study: "Study", config: Any):
        self.study, self.config = study, config
        self.section: dict[str, Any] = config.full()
        self.folder = f"{study.paths.study}/needles"

    @property
    def models(self) -> list[str]:
        """The endpoints that extract entities."""
        return self.config.models

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each thing that cannot work, before anything runs."""
        yield from self._problems_of_endpoints()
        if self.models and not self.config.documents:
            yield "needles/documents: expected at least one text file or folder"
        yield from self._problems_of_files("documents", self.config.documents)
        yield from missing("needles/needle_file", self.config.needle_file)
        yield from missing("needles/tokenizer", self.config.tokenizer)
        yield from (f"needles/{problem}" for problem in self.config.contradictions())
        yield from refused("needles/schema", self.config.load_schema)

    def _problems_of_endpoints(self) -> Iterator[str]:
        named = [("models", name) for name in self.models]
        named += [(key, getattr(self.config, key)) for key in ("generator", "judge")]
        for key, name in named:
            if name != SAME:
                yield from self.study.language_models.unknown_endpoint(f"needles/{key}", name)
        endpoints = self.study.language_models.config.endpoints
        for lm in sorted({*self.models, self.config.generator} & {*endpoints}):
            if (context := endpoints[lm].context) is not None and context <= self.config.reserve:
                said = (
                    f"{self.config.reserve} tokens kept free leave none of a context of {context}"
                )
                yield f"needles/reserve: {said} (endpoint '{lm}')"

    def _problems_of_files(self, key: str, paths: list[str]) -> Iterator[str]:
        missing = [
            each
            for path in paths
            for each in self.study.paths.problems_of_file(f"needles/{key}", path)
        ]
        yield from missing
        try:
            documents = [] if missing else self._documents(paths, None)
        except UserError as error:
            yield f"needles/{key}: {error}"
            return
        for path in filter(os.path.exists, documents):  # others are fetched
            yield from refused(f"needles/{key}", read_document, path)

    def _documents(self, paths: list[str], limit: int | None) -> list[str]:
        return list(
            map(str, document_files([self.study.paths.file(path) for path in paths], limit))
        )

    def documents(self) -> list[str]:
        """Return the text files that needles are put into."""
        return self._documents(self.config.documents, self.config.max_documents)

    @cached_property
    def plan_json(self) -> str:
        """What decides needles, extraction and scores, as canonical JSON
        (:class:`tripleaudit.needles.plan.Plan`).
        """
        known = {field.alias or name for name, field in NeedleSettings.model_fields.items()}
        values = {key: value for key, value in self.section.items() if key in known}
        return json.dumps({**values, "judge": self.config.judge is not None}, sort_keys=True)

    @cached_property
    def made_json(self) -> str:
        """What of :attr:`plan_json` decides needles and extraction, as canonical JSON."""
        made = {
            key: value for key, value in json.loads(self.plan_json).items() if key not in RATING
        }
        return json.dumps(made, sort_keys=True)

    def judge_of(self, model: str) -> str | None:
        """Return the endpoint that judges what a model extracted, ``None`` for nobody."""
        return model if self.config.judge == SAME else self.config.judge

    def other_judge(self, model: str) -> str | None:
        """Return the endpoint that judges what a model extracted, if it is another one."""
        judge = self.judge_of(model)
        return judge if judge != model else None

    def judge_options(self, wildcards: Any) -> list[str]:
        """Return the option that names the judge of a model, where it is another one."""
        return options_of({"judge": self.other_judge(wildcards.lm)})

    def served(self, wildcards: Any) -> list[str]:
        """Return the file of a model that jobs serve themselves."""
        return self.study.language_models.served(wildcards.lm)

    def served_judge(self, wildcards: Any) -> list[str]:
        """Return the file of a model's judge that jobs serve themselves."""
        return self.study.language_models.served(self.other_judge(wildcards.lm))

    def identity(self, wildcards: Any) -> list[dict[str, Any]]:
        """Return what decides the answers of a model and of its judge."""
        return self.study.language_models.sampling(wildcards.lm, self.other_judge(wildcards.lm))

    def criteria(self) -> list[str]:
        """Return the files of needles that count as found, of each model."""
        return [f"{self.folder}/models/{model}/criteria.jsonl" for model in self.models]

    def files(self) -> list[str]:
        """Return every scores file about needles."""
        return [f"{self.folder}/models/{model}/scores.csv" for model in self.models]
