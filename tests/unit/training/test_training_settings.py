"""Settings of a training: defaults, error messages, and settings that have no effect."""

import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.training.settings import LoopSettings, TrainingSettings


def test_defaults_are_unchanged_and_optional_features_are_off() -> None:
    """A changed default would change the training of every study that does not set it.

    The authors of BERT recommend the learning rate 3e-5 for fine-tuning.
    """
    numbers = {
        "epochs": 10, "batch_size": 8, "evaluation_batch_size": 32, "encoder_learning_rate": 3e-5,
        "head_learning_rate": 3e-5, "restart_epochs": 2, "clip_norm": 1, "save_minutes": 10,
        "adam_epsilon": 1e-8, "adam_bias_correction": True,  # the values of PyTorch
        "optimizer": "adamw", "group_by_length": True, "precision": "bf16", "unit": "sentences", "schedule": "constant",
        "matching": "exact", "select_by": "f1", "accumulation": 1, "evaluate_every": 1, "evaluate_from": 1,
    }  # fmt: skip
    off = dict.fromkeys(
        ("max_steps", "weight_decay", "warmup", "patience", "min_delta", "save_every"), 0
    )
    off |= {"clip": "none", "report_to": "none", "head_schedule": "", "learning_rate_points": ()}
    assert LoopSettings().model_dump() == numbers | off


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"epoch": 3}, "training: unknown key 'epoch', did you mean 'epochs'"),
        ({"epochs": 0}, "training/epochs: expected at least 1, got 0"),
        ({"epochs": "3"}, "training/epochs: expected a whole number, got '3'"),
        (
            {"precision": "half"},
            "training/precision: expected one of bf16, bf16-cpu, float32, got 'half'",
        ),
        (
            {"evaluate_from": 11},
            "evaluate_from: the first evaluation is after epoch 11, but the training has 10",
        ),
        (
            {"schedule": "linar"},
            "training/schedule: expected one of constant, linear, .* got 'linar'",
        ),
        ({"schedule": "steps"}, "learning_rate_points: the schedule 'steps' needs them"),
        ({"warmup": 2}, "training/warmup: expected at most 1, got 2"),
        ({"clip": "norm"}, "expected one of none, global, parameter"),
        (
            {"report_to": "mlflow"},
            "training/report_to: expected one of none, trackio, wandb, got 'mlflow'",
        ),
        *(
            (
                {"schedule": "steps", "learning_rate_points": points},
                r"points: expected \[\[epoch, factor\], …\]",
            )
            for points in ([[0, 1, 2]], [[0]], [["0", 1]], [0, 1], "0,1")
        ),
    ],
)
def test_bad_settings(values: dict, message: str) -> None:
    with pytest.raises(UserError, match=message):
        TrainingSettings.checked(values, "training")


def test_whole_numbers_and_lists_are_converted_to_the_type_of_the_setting() -> None:
    settings = TrainingSettings.checked(
        {"clip_norm": 2, "learning_rate_points": [[0, 1], (1, 0.5)]}, "training"
    )
    assert (settings.clip_norm, settings.learning_rate_points) == (2.0, ([0, 1], (1, 0.5)))


@pytest.mark.parametrize(
    "values",
    [
        {"evaluate_from": 10},
        {"evaluate_from": 11, "max_steps": 1},
        {"head_schedule": "steps", "learning_rate_points": [[0, 1]]},
    ],
)
def test_settings_at_their_limits_fit_together(values: dict) -> None:
    settings = TrainingSettings.checked(values, "training")
    assert values.items() <= settings.model_dump(mode="json").items()


def test_settings_that_affect_no_result_are_separated() -> None:
    settings = TrainingSettings(
        epochs=3, save_every=1, save_minutes=1.0, report_to="trackio", precision="bf16"
    )
    assert settings.affecting() == {"epochs": 3, "precision": "bf16"}
    assert settings.unaffecting() == {"save_every": 1, "save_minutes": 1.0, "report_to": "trackio"}


@pytest.mark.parametrize(
    ("values", "idle"),
    [
        ({}, {"learning_rate_points", "restart_epochs", "clip_norm"}),
        (
            {"schedule": "steps", "learning_rate_points": [[0, 1]], "clip": "global"},
            {"restart_epochs"},
        ),
        ({"head_schedule": "cosine_restarts", "clip": "parameter"}, {"learning_rate_points"}),
    ],
)
def test_unused_settings_are_listed_with_the_setting_that_would_use_them(
    values: dict, idle: set[str]
) -> None:
    user_of = dict(TrainingSettings.checked(values, "training").idle())
    assert user_of.keys() == idle
    assert user_of.get("learning_rate_points", "schedule: steps") == "schedule: steps"
    assert user_of.get("restart_epochs", "schedule: cosine_restarts") == "schedule: cosine_restarts"
