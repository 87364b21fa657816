"""Training settings, with the checks that make a bad one fail before any work starts."""

from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import Field

from tripleaudit.core.fields import (
    AsTuple,
    Batch,
    Count,
    LearningRate,
    NotNegative,
    Number,
    Positive,
    Section,
    Share,
    among,
    form,
    one_of,
)
from tripleaudit.protocols.noising import NoiseSettings
from tripleaudit.scoring.matching import untyped_names

SCHEDULES = ("constant", "linear", "cosine", "cosine_restarts", "steps")
UNAFFECTING_KEYS = ("save_every", "save_minutes", "report_to")
"""Settings that do not affect the result of a training."""
TRACKERS = ("none", "trackio", "wandb")


_POINT = Annotated[list[float], Field(min_length=2, max_length=2)] | tuple[float, float]
POINTS = form(
    "[[epoch, factor], …]",
    list[_POINT] | tuple[_POINT, ...],
    {"type": "array", "items": {"type": "array"}},
)


class LoopSettings(Section):
    """Settings of the training loop; an extractor's ``training_defaults`` replace these defaults.

    The sections ``training`` and ``extractors`` of a study extend this class.
    """

    epochs: Number = 10
    """Passes over the training sentences."""
    max_steps: Count = 0
    """Stop after this many optimiser steps; 0 means after `epochs`."""
    batch_size: Batch = 8
    """Sentences (or instances) in one forward pass."""
    unit: Annotated[str, among(("sentences", "instances"))] = "sentences"
    """What batch_size counts: sentences, or the instances that tdeer and prgc make of a sentence, each with an encoding
    of its own, as in their official code."""
    accumulation: Number = 1
    """Forward passes in one optimiser step."""
    optimizer: Annotated[str, among(("adamw", "adam"))] = "adamw"
    """adamw decays weights apart from the gradient; or plain adam."""
    encoder_learning_rate: LearningRate = 3e-05
    """Peak learning rate of the encoder."""
    head_learning_rate: LearningRate = 3e-05
    """Peak learning rate of everything above it."""
    weight_decay: Share = 0.0
    """Weight decay, not on biases and normalisation weights."""
    adam_epsilon: Positive = 1e-08
    """Epsilon of the optimiser."""
    adam_bias_correction: bool = True
    """false leaves Adam's bias correction out, as BertAdam does."""
    schedule: Annotated[str, among(SCHEDULES)] = "constant"
    """Learning rate of both groups: constant, linear or cosine to 0, cosine_restarts (`restart_epochs`), or steps
    (`learning_rate_points`)."""
    head_schedule: Annotated[str, among(("", *SCHEDULES))] = ""
    """Schedule of the head where it differs; empty means the same."""
    warmup: Share = 0.0
    """Share of all steps with a rising learning rate, before the schedule."""
    restart_epochs: Positive = 2.0
    """Epochs between two warm restarts."""
    learning_rate_points: Annotated[tuple, POINTS, AsTuple] = ()
    """[[epoch, factor], …] of the schedule `steps`: the factor on the learning rate, linear between the points and
    constant after the last."""
    clip: Annotated[str, among(("none", "global", "parameter"))] = "none"
    """What `clip_norm` bounds: nothing, the global gradient norm, or that of each parameter."""
    clip_norm: Positive = 1.0
    """The largest gradient norm."""
    patience: Count = 0
    """Stop after this many evaluations without a better validation F1; 0 never stops."""
    min_delta: float = 0.0
    """What counts as better."""
    evaluate_every: Number = 1
    """Epochs between two evaluations on the validation set."""
    evaluate_from: Number = 1
    """First epoch with an evaluation, counted from 1."""
    evaluation_batch_size: Batch = 32
    """Sentences in one forward pass of an evaluation."""
    matching: Annotated[str, one_of(untyped_names, "matching rule")] = "exact"
    """How validation triples are compared; exact is exact-string (docs/explanation/methods.md)."""
    select_by: Annotated[str, among(("f1", "f1+entities"))] = "f1"
    """What the best epoch has most of: triple F1, or the sum of it and the F1 of the entities in triples, as pfn
    officially."""
    group_by_length: bool = True
    """Batch sentences of similar length together."""
    precision: Annotated[str, among(("bf16", "bf16-cpu", "float32"))] = "bf16"
    """bf16 is bfloat16 on a GPU that has it; bf16-cpu also trains encoders in it on a CPU that
    multiplies it faster; float32 everywhere is official.
    """
    save_every: Count = 0
    """Steps between two checkpoints, besides those after evaluations; 0 for none."""
    save_minutes: NotNegative = 10.0
    """Minutes between two checkpoints at most; 0 for none. Never changes the result."""
    report_to: Annotated[str, among(TRACKERS)] = "none"
    """A tracker that shows the training while it runs: trackio on this machine, wandb where its own environment
    variables say (`WANDB_MODE=offline`); the extras `track` and `wandb` bring them."""

    @property
    def bf16(self) -> bool:
        """Whether a GPU is to compute in bfloat16."""
        return self.precision != "float32"

    def doubled(self) -> Self:
        """Return the settings of a training of twice the epochs, or steps, without early stopping.

        What a schedule says of epochs is stretched with it.
        """
        points = tuple((2 * epoch, factor) for epoch, factor in self.learning_rate_points)
        longer = {"epochs": 2 * self.epochs, "max_steps": 2 * self.max_steps, "patience": 0}
        return self.model_copy(
            update={
                **longer,
                "learning_rate_points": points,
                "restart_epochs": 2 * self.restart_epochs,
            }
        )

    def contradictions(self) -> Iterator[str]:
        """Yield key and sentence for each setting that contradicts another setting."""
        if self.evaluate_from > self.epochs and not self.max_steps:
            yield (
                f"evaluate_from: the first evaluation is after epoch {self.evaluate_from}, but the training has "
                f"{self.epochs}, so that it would never be validated; expected at most {self.epochs}"
            )
        if "steps" in (self.schedule, self.head_schedule) and not self.learning_rate_points:
            yield "learning_rate_points: the schedule 'steps' needs them; expected [[epoch, factor], …]"

    def idle(self) -> Iterator[tuple[str, str]]:
        """Yield each setting that has no effect, and the setting that it requires."""
        for key, schedule in (
            ("learning_rate_points", "steps"),
            ("restart_epochs", "cosine_restarts"),
        ):
            if schedule not in (self.schedule, self.head_schedule):
                yield key, f"schedule: {schedule}"
        if self.clip == "none":
            yield "clip_norm", "clip: global or clip: parameter"


class TrainingSettings(LoopSettings):
    """All settings of one training besides its data, encoder and seed."""

    model: dict[str, Any] = {}
    """Fields of the extractor's own configuration class."""
    noising: NoiseSettings | None = None
    """Entity Noising of the training sentences; null trains without."""
    encoder_layers: Number | None = None
    """Use only the first layers of the encoder; null uses all."""
    double: bool = False
    """Train twice as long and keep no model, to measure what the longer training gains."""

    def affecting(self) -> dict[str, Any]:
        """Return the keys that were named and that affect the result, as JSON values."""
        return self.model_dump(mode="json", exclude_unset=True, exclude=set(UNAFFECTING_KEYS))

    def unaffecting(self) -> dict[str, Any]:
        """Return the keys that were named and that do not affect the result, as JSON values."""
        return self.model_dump(mode="json", exclude_unset=True, include=set(UNAFFECTING_KEYS))
