"""A plugin that adds one thing of each kind that a study plans."""

from tripleaudit.extractors.spec import ExtractorSpec
from tripleaudit.extractors.specs.casrel import CasRelSettings
from tripleaudit.protocols.spec import ProtocolSpec
from tripleaudit.scoring.spec import MatchingRule
from tripleaudit.tables.spec import TableSpec


class Small:
    settings = CasRelSettings


def build(splits, *, most, seed: int = 0):
    return splits, {}


RECALL = ProtocolSpec(name="recall", build=build, train=False)
HARDER = ProtocolSpec(name="harder", build=build, pattern="harder-[0-9]+")
RULE = MatchingRule(name="folded", reduce=lambda span: span.text.lower())
TABLE = TableSpec(
    name="wz-alone",
    build=lambda inputs: None,
    possible=lambda study: study.settings == ["nz", "wz"],
)
SMALL = ExtractorSpec(
    name="small", model=f"{__file__}:Small", base="casrel", presets={"quick": {"epochs": 1}}
)
