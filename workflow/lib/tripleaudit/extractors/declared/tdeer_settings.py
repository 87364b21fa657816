"""What TDEER declares."""

from tripleaudit.extractors.declared import ExtractorSettings
from tripleaudit.fields import Count, NotNegative


class TDEERSettings(ExtractorSettings):
    sparse_outputs = {"heads": 1, "tails": 1, "object": 1}
    training_defaults = {
        "optimizer": "adam",
        "adam_epsilon": 1e-7,
        "encoder_learning_rate": 5e-5,
        "head_learning_rate": 5e-5,
        "schedule": "steps",
        "learning_rate_points": [[0, 0.0], [1, 1.0], [2, 0.1]],
        "batch_size": 8,
        "epochs": 200,
    }

    neg_samples: Count = 2
    """The most negative instances for each positive one."""
    max_sample_triples: Count = 0
    """The most positive instances of a sentence and visit, a random choice; 0 for all."""
    translation_weight: NotNegative = 5.0
    """Weight of the object term."""
