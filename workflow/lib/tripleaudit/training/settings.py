"""Training settings, with the checks that make a bad one fail before any work starts."""

import dataclasses
import difflib
from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints

from tripleaudit.errors import UserError

OPTIMIZERS = ("adamw", "adam")
SCHEDULES = ("constant", "linear", "cosine", "cosine_restarts", "steps")
MATCHINGS = ("exact", "exact-string", "exact-span", "partial-first", "partial-last")
CLIPS = ("none", "global", "parameter")


@dataclass(frozen=True)
class TrainingSettings:
    """How an extractor is trained; an extractor's ``training_defaults`` replace these defaults.

    Attributes:
        epochs: passes over the training sentences.
        max_steps: stop after this many optimiser steps; 0 means after ``epochs``. Schedules span the whole run.
        batch_size: sentences per forward pass.
        accumulation: forward passes per optimiser step.
        optimizer: ``adamw`` (decoupled decay) or ``adam``.
        encoder_learning_rate: for the encoder's weights.
        head_learning_rate: for all others.
        weight_decay: not applied to biases and normalisation weights.
        adam_epsilon, adam_beta1, adam_beta2: of the optimiser.
        adam_bias_correction: False leaves Adam's bias correction out (BertAdam).
        schedule: ``constant``, ``linear`` to 0, ``cosine`` to 0, ``cosine_restarts`` (period ``restart_epochs``), or
            ``steps`` (``learning_rate_points``); both groups are scaled alike.
        head_schedule: the schedule of the head group where it differs; empty means the same.
        warmup: share of all steps with a linearly rising rate, before the schedule.
        restart_epochs: epochs between two warm restarts.
        learning_rate_points: [[epoch, factor], …]: the factor on the learning rate, linear between the points and
            constant after the last.
        clip: what ``clip_norm`` bounds: ``none``, the ``global`` gradient norm, or that of every ``parameter`` tensor.
        clip_norm: the bound.
        patience: stop after this many evaluations without a better validation F1; 0 never stops early.
        min_delta: what counts as better.
        evaluate_every: epochs between two evaluations on the validation set.
        evaluate_from: first epoch (counted from 1) after which validation runs.
        evaluation_batch_size: sentences per forward pass when decoding.
        matching: how validation triples are compared (:mod:`tripleaudit.scoring.matching`).
        group_by_length: batch sentences of similar length together.
        bf16: bfloat16 autocast where the device is a GPU that has it.
        workers: data loader processes; 0 loads in the training process.
        processes: that train together, one on each GPU (or CPU); each batch is divided among them.
        relation_chunk: relations scored at once by extractors that can do it in parts, so that tables of many relations
            fit into memory; 0 leaves it to them. Changes results by rounding only.
        save_every: optimiser steps between two checkpoints; 0 for none.
        save_minutes: minutes after which a checkpoint is due; 0 for none. When one is saved never changes the result.
    """

    epochs: int = 10
    max_steps: int = 0
    batch_size: int = 8
    accumulation: int = 1
    optimizer: str = "adamw"
    encoder_learning_rate: float = 3e-5
    head_learning_rate: float = 3e-5
    weight_decay: float = 0.0
    adam_epsilon: float = 1e-8
    adam_beta1: float = 0.9
    adam_beta2: float = 0.999
    adam_bias_correction: bool = True
    schedule: str = "constant"
    head_schedule: str = ""
    warmup: float = 0.0
    restart_epochs: float = 2.0
    learning_rate_points: tuple = ()
    clip: str = "none"
    clip_norm: float = 1.0
    patience: int = 0
    min_delta: float = 0.0
    evaluate_every: int = 1
    evaluate_from: int = 1
    evaluation_batch_size: int = 32
    matching: str = "exact"
    group_by_length: bool = True
    bf16: bool = True
    workers: int = 0
    processes: int = 1
    relation_chunk: int = 0
    save_every: int = 0
    save_minutes: float = 10.0

    def __post_init__(self):
        for name, least in (
            ("epochs", 1), ("max_steps", 0), ("batch_size", 1), ("accumulation", 1), ("patience", 0),
            ("evaluate_every", 1), ("evaluate_from", 1),
            ("evaluation_batch_size", 1), ("workers", 0), ("save_every", 0), ("save_minutes", 0), ("warmup", 0),
            ("processes", 1), ("relation_chunk", 0),
            ("encoder_learning_rate", 0), ("head_learning_rate", 0), ("weight_decay", 0), ("clip_norm", 0),
        ):  # fmt: skip
            if getattr(self, name) < least:
                raise UserError(f"training setting {name!r} is {getattr(self, name)}, expected at least {least}")
        for name, allowed in (
            ("optimizer", OPTIMIZERS), ("schedule", SCHEDULES), ("head_schedule", ("", *SCHEDULES)), ("clip", CLIPS),
            ("matching", MATCHINGS),
        ):  # fmt: skip
            if getattr(self, name) not in allowed:
                raise UserError(
                    f"training setting {name!r} is {getattr(self, name)!r}, expected one of "
                    f"{', '.join(value or '(empty)' for value in allowed)}"
                )
        if self.processes > self.batch_size:
            raise UserError(
                f"training setting 'processes' is {self.processes}, but a batch of {self.batch_size} sentences cannot "
                f"be divided among so many; expected at most {self.batch_size}, or a larger batch_size"
            )
        if self.warmup > 1:
            raise UserError(f"training setting 'warmup' is {self.warmup}, expected a share of all steps, 0 to 1")
        if "steps" in (self.schedule, self.head_schedule) and not self.learning_rate_points:
            raise UserError("training setting 'schedule' is 'steps', which needs 'learning_rate_points'")


Settings = TypeVar("Settings")


def checked(kind: type[Settings], values: dict[str, Any], where: str) -> Settings:
    """Build a settings object from JSON values.

    Args:
        kind: a dataclass of numbers, strings, booleans and tuples.
        values: what the user gave, perhaps on top of an extractor's defaults.
        where: start of the error message, such as ``training``.

    Raises:
        UserError: an unknown name (with suggestions) or a value of the wrong type.
    """
    hints = get_type_hints(kind)
    known = [field.name for field in dataclasses.fields(kind)]
    result = {}
    for name, value in values.items():
        if name not in known:
            close = difflib.get_close_matches(name, known, n=2)
            hint = f"did you mean {' or '.join(close)}? " if close else ""
            raise UserError(f"unknown {where} setting {name!r}; {hint}expected one of {', '.join(known)}")
        wanted = hints[name]
        if wanted is float and type(value) is int:
            value = float(value)
        if wanted is tuple and isinstance(value, list):
            value = tuple(value)
        if type(value) is not wanted:
            raise UserError(f"{where} setting {name!r} is {value!r}, expected a value of type {wanted.__name__}")
        result[name] = value
    return kind(**result)
