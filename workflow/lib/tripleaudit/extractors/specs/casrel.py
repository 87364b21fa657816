"""Settings and spec of CasRel."""

from dataclasses import replace
from typing import Annotated

from tripleaudit.core.fields import among
from tripleaudit.extractors.alignment import EXCLUSIVE, LAYOUTS
from tripleaudit.extractors.settings import OFFICIAL, ExtractorSettings
from tripleaudit.extractors.spec import ExtractorSpec


class CasRelSettings(ExtractorSettings):
    """Settings of CasRel."""

    sparse_outputs = {"subject": 1, "object": 1}
    training_defaults = OFFICIAL["casrel"]

    layout: Annotated[str, among((EXCLUSIVE, *LAYOUTS))] = EXCLUSIVE
    """`exclusive` tags the token after an entity as its end, `marker` is the authors' layout (the presets' choice),
    `subword` tags an entity's last subword; see :mod:`tripleaudit.extractors.casrel` for what each can represent."""


class CasRelOwnSubjectSettings(CasRelSettings):
    """Settings of CasRel with separate weights for the subject."""

    layout: Annotated[str, among((EXCLUSIVE, *LAYOUTS))] = "subword"
    """As for CasRel. With own subject weights, plain subwords represent the same triples as the
    other layouts.
    """


CASREL = ExtractorSpec(
    name="casrel",
    label="CasRel",
    reported="CasRel",
    model="tripleaudit.extractors.casrel:CasRel",
    settings=CasRelSettings,
    order=1,
    rte_order=1,
    cardinality_order=7,
)
# without sentences of zero triples, as the authors train; the papers' rows are such trainings
CASREL_DROP_ZERO = replace(
    CASREL,
    name="casrel-drop-zero",
    base="casrel",
    label="CasRel, trained NZ only",
    fields={"drop_zero": True},
    order=10.5,
    rte_order=10.5,
    cardinality_order=10.5,
)
# not the published model: separate weights for the subject (docs/explanation/differences.md)
CASREL_OWN_SUBJECT = ExtractorSpec(
    name="casrel-own-subject",
    base="casrel",
    label="CasRel (own subject weights)",
    model="tripleaudit.extractors.casrel:CasRelOwnSubject",
    settings=CasRelOwnSubjectSettings,
    order=10.6,
)
