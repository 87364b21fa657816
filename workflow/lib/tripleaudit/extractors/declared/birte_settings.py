"""What BiRTE declares."""

from tripleaudit.extractors.declared import ExtractorSettings
from tripleaudit.fields import Rate


class BiRTESettings(ExtractorSettings):
    sparse_outputs = {"subject": 1, "object": 1, "object_given_subject": 1, "subject_given_object": 1}
    training_defaults = {
        "optimizer": "adamw",
        "adam_epsilon": 1e-7,
        "encoder_learning_rate": 3e-5,
        "head_learning_rate": 1.5e-4,
        "schedule": "linear",
        "clip": "global",
        "clip_norm": 1.0,
        "batch_size": 18,
        "epochs": 100,
    }

    dropout: Rate = 0.1
    """On the three token representations and on the pooled sentence."""
