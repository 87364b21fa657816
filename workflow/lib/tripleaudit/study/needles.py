"""The MINEA part of a study: documents, models, and settings that affect needles and scores."""

import json
from functools import cached_property
from typing import Any

from tripleaudit.core.arguments import options_of
from tripleaudit.needles.haystack import document_files
from tripleaudit.needles.plan import NeedleSettings, Plan
from tripleaudit.study.config.needles import SAME_MODEL, Needles
from tripleaudit.study.language_models import LanguageModels
from tripleaudit.study.paths import StudyPaths

LENGTH_TABLE = "lost-in-the-middle"


class NeedleStudies:
    """The MINEA part of a study: its documents, models, settings and files.

    Args:
        config: the section ``needles``.
        language_models: the endpoints that extract, invent and judge.
        paths: the files of the study.
    """

    def __init__(self, config: Needles, language_models: LanguageModels, paths: StudyPaths):
        self.config, self.language_models, self.paths = config, language_models, paths
        self.section: dict[str, Any] = config.full()

    @property
    def models(self) -> list[str]:
        """The endpoints that extract entities."""
        return self.config.models

    def document_files(self, paths: list[str], limit: int | None = None) -> list[str]:
        """Return the text files of documents and of folders with documents."""
        return list(map(str, document_files([self.paths.file(path) for path in paths], limit)))

    def documents(self) -> list[str]:
        """Return the text files into which needles are inserted."""
        return self.document_files(self.config.documents, self.config.max_documents)

    @cached_property
    def plan(self) -> Plan:
        """Return the settings that affect needles, extraction and scores."""
        keys = {field.alias or name for name, field in NeedleSettings.model_fields.items()}
        settings = {key: value for key, value in self.section.items() if key in keys}
        settings["judge"] = self.config.judge is not None
        return Plan.from_mapping(settings)

    @cached_property
    def plan_json(self) -> str:
        """Return :attr:`plan` as canonical JSON."""
        return json.dumps(self.plan.full(), sort_keys=True)

    @cached_property
    def made_json(self) -> str:
        """Return the settings of the plan that affect needles and extraction, not their rating."""
        return json.dumps(self.plan.made_json(), sort_keys=True)

    def judge_of(self, model: str) -> str | None:
        """Return the endpoint that judges a model's extractions; None if there is no judge."""
        return model if self.config.judge == SAME_MODEL else self.config.judge

    def other_judge(self, model: str) -> str | None:
        """Return the endpoint that judges a model's extractions if it is not the model itself."""
        judge = self.judge_of(model)
        return judge if judge != model else None

    def judge_options(self, wildcards: Any) -> list[str]:
        """Return the option that names the judge of a model if it is another endpoint."""
        return options_of({"judge": self.other_judge(wildcards.lm)})

    def served(self, wildcards: Any) -> list[str]:
        """Return the file of a model that the job itself serves; empty for other endpoints."""
        return self.language_models.served(wildcards.lm)

    def served_judge(self, wildcards: Any) -> list[str]:
        """Return the file of a judge that the job itself serves; empty for other endpoints."""
        return self.language_models.served(self.other_judge(wildcards.lm))

    def identity(self, wildcards: Any) -> list[dict[str, Any]]:
        """Return the settings that affect the answers of a model and of its judge."""
        return self.language_models.sampling(wildcards.lm, self.other_judge(wildcards.lm))

    def file(self, model: str, name: str) -> str:
        """Return the path of a file about a model's extractions."""
        return self.paths.results.needle_file.format(lm=model, name=name)

    def criteria(self) -> list[str]:
        """Return each model's file of the needles that count as found."""
        return [self.file(model, "criteria.jsonl") for model in self.models]

    def files(self) -> list[str]:
        """Return each model's scores file."""
        return [self.file(model, "scores.csv") for model in self.models]
