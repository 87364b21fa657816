"""What CasRel declares."""

from typing import Annotated

from tripleaudit.extractors.declared import ExtractorSettings
from tripleaudit.fields import among


class CasRelSettings(ExtractorSettings):
    """Settings of CasRel."""

    sparse_outputs = {"subject": 1, "object": 1}
    training_defaults = {
        "optimizer": "adam",
        "adam_epsilon": 1e-7,
        "encoder_learning_rate": 1e-5,
        "head_learning_rate": 1e-5,
        "schedule": "constant",
        "batch_size": 6,
        "epochs": 100,
        "patience": 7,
        "min_delta": 1e-4,
    }

    zero_subject: Annotated[str, among(("none", "random"))] = "none"
    """What a sentence with zero triples trains besides its empty subject maps: `none`, or `random` for a random
    pseudo-subject of up to three tokens with empty object maps."""
