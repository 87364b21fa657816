"""What CasRel declares."""

from tripleaudit.extractors.declared import ExtractorSettings


class CasRelSettings(ExtractorSettings):
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
