"""What GRTE declares."""

from tripleaudit.extractors.declared import ExtractorSettings
from tripleaudit.fields import Number, Rate


class GRTESettings(ExtractorSettings):
    sparse_outputs = {"table": 8}
    training_defaults = {
        "optimizer": "adamw",
        "adam_epsilon": 1e-7,
        "encoder_learning_rate": 3e-5,
        "head_learning_rate": 3e-5,
        "schedule": "linear",
        "clip": "global",
        "clip_norm": 1.0,
        "batch_size": 6,
        "epochs": 50,
    }

    rounds: Number = 3
    """How often tables are filled; the last one counts. Officially NYT 3, NYT* 2, WebNLG 4, WebNLG* 2, NYT29 3."""
    dropout: Rate = 0.1
    """Of the encoder's states and inside the refining block."""
