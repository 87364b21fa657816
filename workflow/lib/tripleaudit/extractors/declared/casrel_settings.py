"""What CasRel declares."""

from typing import Annotated

from tripleaudit.core.fields import among
from tripleaudit.extractors.alignment import EXCLUSIVE, LAYOUTS
from tripleaudit.extractors.declared import OFFICIAL, ExtractorSettings


class CasRelSettings(ExtractorSettings):
    sparse_outputs = {"subject": 1, "object": 1}
    training_defaults = OFFICIAL["casrel"]

    layout: Annotated[str, among((EXCLUSIVE, *LAYOUTS))] = EXCLUSIVE
    """`exclusive` tags the token after an entity as its end, `marker` is the authors' layout (the presets' choice),
    `subword` tags an entity's last subword; see :mod:`tripleaudit.extractors.casrel` for what each can represent."""


class CasRelOwnSubjectSettings(CasRelSettings):
    layout: Annotated[str, among((EXCLUSIVE, *LAYOUTS))] = "subword"
    """As for CasRel. With own subject weights, plain subwords represent the same triples as the
    other layouts.
    """
