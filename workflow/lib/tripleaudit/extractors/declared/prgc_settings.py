"""What PRGC declares."""

from tripleaudit.extractors.declared import ExtractorSettings
from tripleaudit.fields import Rate, Share


class PRGCSettings(ExtractorSettings):
    sparse_outputs = {"pair": 1, "subject": 3, "object": 3}
    training_defaults = {
        "optimizer": "adamw",
        "adam_epsilon": 1e-6,
        "adam_bias_correction": False,
        "encoder_learning_rate": 1e-4,
        "head_learning_rate": 1e-3,
        "weight_decay": 0.01,
        "schedule": "cosine",
        "warmup": 0.1,
        "clip": "parameter",
        "clip_norm": 2.0,
        "batch_size": 64,
        "accumulation": 2,
        "epochs": 100,
        "patience": 20,
        "min_delta": 1e-5,
    }

    dropout: Rate = 0.3
    """After each hidden layer of the heads."""
    relation_threshold: Share = 0.1
    """Probability above which a relation counts."""
    pair_threshold: Share = 0.5
    """Probability above which a pair of heads counts."""
    fallback: bool = True
    """Decode the likeliest relation where none is above the threshold, as the official code does."""
