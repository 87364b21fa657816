"""The section ``needles``: documents, models and needles of MINEA."""

from typing import Annotated

from pydantic import Field

from tripleaudit.core.fields import NAME, Number, Section, Text, Unique
from tripleaudit.needles.plan import NeedleSettings

SAME_MODEL = "same"
"""Value of ``judge``: the extracting model judges its own entities."""


class _NeedleInputs(Section):
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


class Needles(NeedleSettings, _NeedleInputs):
    """MINEA: needles in documents, iterated extraction of entities, and scores without reference.

    Nothing is sent without models.
    """
