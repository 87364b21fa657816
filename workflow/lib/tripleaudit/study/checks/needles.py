"""Checks of the section ``needles``."""

import os
from collections.abc import Iterator

from tripleaudit.core.errors import UserError
from tripleaudit.needles.haystack import read_document
from tripleaudit.study.config.needles import SAME_MODEL
from tripleaudit.study.needles import NeedleStudies
from tripleaudit.study.problems import LeftOut, missing, refused


class NeedleChecks:
    """Checks of documents, models and settings of MINEA.

    Args:
        needles: MINEA of the study.
        left_out: values that do not fit, each of which is a problem already.
    """

    def __init__(self, needles: NeedleStudies, left_out: LeftOut):
        self.needles, self.config = needles, needles.config
        self.endpoints = needles.language_models.config.endpoints
        self.left_out = left_out

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each thing that cannot work, before anything runs."""
        yield from self._problems_of_endpoints()
        lacks_documents = not self.config.documents
        if (
            self.config.models
            and lacks_documents
            and not self.left_out.includes("needles/documents")
        ):
            yield "needles/documents: expected at least one text file or folder"
        yield from self._problems_of_files("documents", self.config.documents)
        yield from missing("needles/needle_file", self.config.needle_file)
        yield from missing("needles/tokenizer", self.config.tokenizer)
        yield from (f"needles/{problem}" for problem in self.config.contradictions())
        yield from refused("needles/schema", self.config.load_schema)

    def _problems_of_endpoints(self) -> Iterator[str]:
        named = [("models", name) for name in self.config.models]
        named += [(key, getattr(self.config, key)) for key in ("generator", "judge")]
        for key, name in named:
            if name != SAME_MODEL:
                yield from self.left_out.unknown(
                    f"needles/{key}",
                    "endpoint",
                    name,
                    self.endpoints,
                    section="generative/endpoints",
                )
        if self.left_out.includes("needles/reserve"):
            return
        queried = {*self.config.models, self.config.generator}
        for lm in sorted(name for name in self.endpoints if name in queried):
            context = self.endpoints[lm].context
            if context is not None and context <= self.config.reserve:
                yield (
                    f"needles/reserve: {self.config.reserve} tokens kept free leave none of a context of {context} "
                    f"(endpoint '{lm}')"
                )

    def _problems_of_files(self, key: str, paths: list[str]) -> Iterator[str]:
        missing = []
        for path in paths:
            missing += self.needles.paths.problems_of_file(f"needles/{key}", path)
        yield from missing
        try:
            documents = [] if missing else self.needles.document_files(paths)
        except UserError as error:
            yield f"needles/{key}: {error}"
            return
        for path in filter(os.path.exists, documents):  # others are fetched
            yield from refused(f"needles/{key}", read_document, path)
