"""Settings and spec of ZCC."""

from typing import Annotated

from tripleaudit.core.fields import Rate, among
from tripleaudit.extractors.settings import OFFICIAL, ExtractorSettings
from tripleaudit.extractors.spec import ExtractorSpec


class ZCCSettings(ExtractorSettings):
    """Settings of ZCC."""

    training_defaults = OFFICIAL["zcc"]

    head: Annotated[str, among(("binary", "mcml"))] = "binary"
    """`binary` (has the sentence triples?) or `mcml` (which relations does it state?)."""
    dropout: Rate = 0.1
    """Before the linear layer."""


ZCC_BINARY = ExtractorSpec(
    name="zcc-binary",
    base="zcc",
    label="ZCC binary",
    reported="ZCC-binary",
    model="tripleaudit.extractors.zcc:ZCC",
    settings=ZCCSettings,
    fields={"head": "binary"},
    classifier=True,
    order=11,
)
ZCC_MCML = ExtractorSpec(
    name="zcc-mcml",
    base="zcc",
    label="ZCC MCML",
    reported="ZCC-MCML",
    model="tripleaudit.extractors.zcc:ZCC",
    settings=ZCCSettings,
    fields={"head": "mcml"},
    classifier=True,
    order=12,
)
