"""Training settings, with the checks that make a bad one fail before any work starts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import Field

from tripleaudit.errors import UserError
from tripleaudit.fields import AsTuple, among, check_dataclass, checked_fields, form, one_of
from tripleaudit.scoring.matching import matching_names

OPTIMIZERS = ("adamw", "adam")
SCHEDULES = ("constant", "linear", "cosine", "cosine_restarts", "steps")
CLIPS = ("none", "global", "parameter")
WITHOUT_EFFECT = ("workers", "save_every", "save_minutes")
"""Settings that alter no result, so that a training with others is the same training."""


def _are_points(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(point, list | tuple) and len(point) == 2 and all(isinstance(part, int | float) for part in point)
        for point in value
    )


@dataclass(frozen=True)
class TrainingSettings:
    """How an extractor is trained; an extractor's ``training_defaults`` replace these defaults.

    This is the one definition of these keys: a study's sections ``training`` and ``extractors`` are made from it.
    """

    epochs: Annotated[int, Field(ge=1, description="Passes over the training sentences.")] = 10
    max_steps: Annotated[
        int,
        Field(ge=0, description="Stop after this many optimiser steps; 0 means after `epochs`."),
    ] = 0
    batch_size: Annotated[int, Field(ge=1, description="Sentences in one forward pass.")] = 8
    accumulation: Annotated[int, Field(ge=1, description="Forward passes in one optimiser step.")] = 1
    optimizer: Annotated[
        str, among(OPTIMIZERS), Field(description="adamw decays weights apart from the gradient; or plain adam.")
    ] = "adamw"
    encoder_learning_rate: Annotated[float, Field(gt=0, description="Peak learning rate of the encoder.")] = 3e-5
    head_learning_rate: Annotated[float, Field(gt=0, description="Peak learning rate of everything above it.")] = 3e-5
    weight_decay: Annotated[
        float, Field(ge=0, description="Weight decay, not on biases and normalisation weights.")
    ] = 0.0
    adam_epsilon: Annotated[float, Field(gt=0, description="Epsilon of the optimiser.")] = 1e-8
    adam_beta1: Annotated[float, Field(ge=0, lt=1, description="First decay rate of the optimiser.")] = 0.9
    adam_beta2: Annotated[float, Field(ge=0, lt=1, description="Second decay rate of the optimiser.")] = 0.999
    adam_bias_correction: Annotated[
        bool, Field(description="false leaves Adam's bias correction out, as BertAdam does.")
    ] = True
    schedule: Annotated[
        str,
        among(SCHEDULES),
        Field(
            description="Learning rate of both groups: constant, linear or cosine to 0, cosine_restarts "
            "(`restart_epochs`), or steps (`learning_rate_points`)."
        ),
    ] = "constant"
    head_schedule: Annotated[
        str, among(("", *SCHEDULES)), Field(description="Schedule of the head where it differs; empty means the same.")
    ] = ""
    warmup: Annotated[
        float, Field(ge=0, le=1, description="Share of all steps with a rising learning rate, before the schedule.")
    ] = 0.0
    restart_epochs: Annotated[float, Field(gt=0, description="Epochs between two warm restarts.")] = 2.0
    learning_rate_points: Annotated[
        tuple,
        form("[[epoch, factor], …]", _are_points, {"type": "array", "items": {"type": "array"}}),
        AsTuple,
        Field(
            description="[[epoch, factor], …] of the schedule `steps`: the factor on the learning rate, linear between "
            "the points and constant after the last.",
        ),
    ] = ()
    clip: Annotated[
        str,
        among(CLIPS),
        Field(description="What `clip_norm` bounds: nothing, the global gradient norm, or that of each parameter."),
    ] = "none"
    clip_norm: Annotated[float, Field(gt=0, description="The largest gradient norm.")] = 1.0
    patience: Annotated[
        int,
        Field(ge=0, description="Stop after this many evaluations without a better validation F1; 0 never stops."),
    ] = 0
    min_delta: Annotated[float, Field(description="What counts as better.")] = 0.0
    evaluate_every: Annotated[int, Field(ge=1, description="Epochs between two evaluations on the validation set.")] = 1
    evaluate_from: Annotated[int, Field(ge=1, description="First epoch with an evaluation, counted from 1.")] = 1
    evaluation_batch_size: Annotated[
        int, Field(ge=1, description="Sentences in one forward pass of an evaluation.")
    ] = 32
    matching: Annotated[
        str, one_of(matching_names, "matching rule"), Field(description="How validation triples are compared.")
    ] = "exact"
    group_by_length: Annotated[bool, Field(description="Batch sentences of similar length together.")] = True
    bf16: Annotated[bool, Field(description="bfloat16 where the device is a GPU that has it.")] = True
    workers: Annotated[int, Field(ge=0, description="Processes that load data; 0 loads in the training process.")] = 0
    processes: Annotated[
        int,
        Field(
            ge=1,
            description="Processes that train one extractor together, one on each GPU (or CPU); each batch is divided "
            "among them.",
        ),
    ] = 1
    relation_chunk: Annotated[
        int,
        Field(
            ge=0,
            description="Relations scored at once by tplinker, grte and onerel, where memory is short; 0 leaves it to "
            "them. Changes results by rounding only.",
        ),
    ] = 0
    save_every: Annotated[
        int, Field(ge=0, description="Steps between two checkpoints, besides those after evaluations; 0 for none.")
    ] = 0
    save_minutes: Annotated[
        float,
        Field(ge=0, description="Minutes between two checkpoints at most; 0 for none. Never changes the result."),
    ] = 10.0

    def __post_init__(self):
        check_dataclass(self, "training")
        if found := [*self.contradictions()]:
            raise UserError("; ".join(f"training/{problem}" for problem in found))

    def contradictions(self) -> Iterator[str]:
        """Yield the key and a sentence for each setting that fits its range but not another setting."""
        if self.processes > self.batch_size:
            yield (
                f"processes: {self.processes} processes cannot divide a batch of {self.batch_size} sentences; expected "
                f"at most {self.batch_size}, or a larger batch_size"
            )
        if "steps" in (self.schedule, self.head_schedule) and not self.learning_rate_points:
            yield "learning_rate_points: the schedule 'steps' needs them; expected [[epoch, factor], …]"


def deciding(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the settings of a training that its result depends on."""
    return {name: value for name, value in values.items() if name not in WITHOUT_EFFECT}


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
    return kind(**checked_fields(kind, values, where))
