"""The sections ``training``, ``extractors``, ``own_extractors``, ``noising`` and ``zcc``."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from tripleaudit.core.fields import OrEmpty, Runtime, Section, Text, form, read_exponents
from tripleaudit.protocols.noising import NoiseSettings
from tripleaudit.training.settings import LoopSettings

PRESET = {"type": ["string", "object"]}
CLASSIFIER_PREFIX = "zcc-"
"""A zero-cardinality classifier is trained like an extractor, under the name zcc-binary or zcc-mcml."""


def _without_defaults(schema: dict[str, Any]) -> None:
    """Remove the defaults from a schema, since the preset or the extractor provides them."""
    for part in schema["properties"].values():
        part.pop("default", None)


class _TrainingJob(Section):
    """Settings of a training besides those of the loop."""

    model_config = {"json_schema_extra": _without_defaults}

    preset: Annotated[
        Any,
        form("the name of a preset, or one for each corpus", str | dict[str, str], PRESET),
    ] = None
    """Official settings (data/presets.yaml, extractor/preset); one name, or one for each corpus."""
    model: Annotated[dict[str, Any], BeforeValidator(read_exponents)] = {}
    """Fields of the extractor's own configuration class (max_length, drop_zero, prior, …)."""
    mem_mb: int = Field(8000, ge=500)
    """Memory that a cluster job asks for."""
    runtime: Runtime = "8h"
    """Time that a cluster job asks for, minutes or '4h'."""


class Training(LoopSettings, _TrainingJob):
    """Settings of a training, those that differ from preset and section `training`."""


class Noising(NoiseSettings):
    """Entity Noising; every extractor is trained without and, unless this is null, with it."""

    wz: bool = False
    """Also train with noising in the wz setting."""


Entry = Annotated[Training, OrEmpty]
Extractor = Annotated[
    Entry, Field(description="One extractor with its settings, keys as under `training`.")
]


class Zcc(Section):
    """The zero-cardinality classifiers to train in the wz setting, by head (binary, mcml)."""

    binary: Entry = Training()
    """Has the sentence triples? Keys as under `training`."""
    mcml: Entry = Training()
    """Which relations does it state? (multi-class, multi-label.) Keys as under `training`."""


OwnExtractor = Annotated[
    Text,
    Field(pattern=r"^.+\.py:[A-Za-z_][A-Za-z0-9_]*$", description="File and class, file.py:Class."),
]
