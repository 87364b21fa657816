"""What ZCC declares."""

from typing import Annotated

from tripleaudit.extractors.declared import ExtractorSettings
from tripleaudit.fields import Rate, among


class ZCCSettings(ExtractorSettings):
    training_defaults = {
        "optimizer": "adamw",
        "encoder_learning_rate": 2e-5,
        "head_learning_rate": 2e-5,
        "weight_decay": 0.01,
        "schedule": "linear",
        "warmup": 0.1,
        "clip": "global",
        "clip_norm": 1.0,
        "batch_size": 16,
        "epochs": 10,
        "patience": 2,
    }

    head: Annotated[str, among(("binary", "mcml"))] = "binary"
    """`binary` (has the sentence triples?) or `mcml` (which relations does it state?)."""
    pooled: bool = False
    """Read the encoder's pooler (tanh) instead of the raw hidden state of the first token."""
    dropout: Rate = 0.1
    """Before the linear layer."""
