"""The completion probe in a study: which language models are shown halves of which sentences, and where that lies."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from tripleaudit.llm.section import answering
from tripleaudit.systems.completion import PROMPT

if TYPE_CHECKING:
    from tripleaudit.plan.systems import Systems

PROBED = "augmented"  # the protocol that the completion probe takes its controls from


class Probe:
    """The completion probe of a study's systems (:mod:`tripleaudit.systems.completion`)."""

    def __init__(self, systems: "Systems"):
        self.systems, self.study = systems, systems.study

    @cached_property
    def runs(self) -> list[tuple[str, str]]:
        """``(corpus, system)`` of every language model that is shown the first halves of test sentences."""
        probed = [name for name in self.systems.kinds if self.systems.given[name].completion]
        return [(corpus, name) for corpus in self.study.corpora for name in probed]

    def path(self, corpus: str, name: str) -> str:
        """Return where the outcome of the completion probe lies."""
        return f"{self.study.paths.study}/completion/{corpus}/{name}.json"

    def keys(self, corpus: str, name: str) -> dict[str, str]:
        """Return the keys of an outcome as the scores file names them."""
        return {**self.study.keys(corpus, name), "testing": "nz"}

    def files(self) -> list[str]:
        """Return all outcomes of the completion probe."""
        return [self.path(*each) for each in self.runs]

    def inputs(self, wildcards: Any) -> dict[str, Any]:
        """Return what the completion probe reads: test sentences, their variants, training triples, the model."""
        corpus, endpoint = wildcards.corpus, self.systems.given[wildcards.extractor].endpoint
        return {
            "test": self.study.set_file(corpus, "original", "nz", "test"),
            "augmented": self.study.set_file(corpus, PROBED, "nz", "test"),
            "train": self.study.set_file(corpus, "original", "nz", "train"),
            "model": self.study.language_models.served(endpoint),
        }

    def identity(self, corpus: str, name: str) -> dict[str, Any]:
        """Return what decides the answers of a language model in the completion probe besides texts."""
        settings = self.systems.settings(name)
        decisive = ("completion", "verbalise", "entity_types", "reask", "max_tokens")
        return {
            **{key: settings[key] for key in decisive},
            **answering(self.study.language_models.section, settings["endpoint"], PROMPT),
            "described": self.systems.described(corpus, "original-nz"),
        }
