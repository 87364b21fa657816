"""Training one extractor with the Hugging Face ``Trainer``: validation by real decoding, early stopping, resuming.

Several processes may train together (:mod:`tripleaudit.training.processes`); what only one of them may do, and what all
must decide alike, goes through the first one.
"""

import logging
import math
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from tripleaudit.errors import UserError
from tripleaudit.extractors import pairs
from tripleaudit.extractors.base import Extractor
from tripleaudit.machine import memory, storage
from tripleaudit.machine.progress import Progress as Lines
from tripleaudit.training import checkpoints, processes
from tripleaudit.training.data import Collator, TrainingSentences, training_loader
from tripleaudit.training.optimizer import clip_gradients, make_optimizer, make_schedule
from tripleaudit.training.settings import TrainingSettings

logger = logging.getLogger(__name__)

Validate = Callable[[Extractor], dict[str, float]]

LOOK_EVERY = 50  # steps after which processes that train together agree whether a checkpoint is due
LOGS_PER_EPOCH = 10
NO_SKILL = 1e-4  # validation F1 below which patience does not run out (Wei et al. 2020, official code)
BEST = "best.safetensors"


@dataclass
class Progress:
    """How far a run is, and its best weights; what a checkpoint keeps besides the Trainer's own state.

    Attributes:
        best_f1, best_step, best_epoch: of the best validation, by what ``select_by`` says (the mean where that is a
            sum); the weights are kept in memory.
        reference: validation F1 that the next one must beat by ``min_delta`` to count as progress.
        stale: evaluations in a row without progress.
        training_seconds, validation_seconds: wall time over all parts of a resumed run.
        stopped: early stopping ended the run.
    """

    best_f1: float | None = None
    best_step: int = 0
    best_epoch: float = 0.0
    reference: float = -math.inf
    stale: int = 0
    training_seconds: float = 0.0
    validation_seconds: float = 0.0
    stopped: bool = False

    def observe(self, f1: float, step: int, epoch: float, settings: TrainingSettings) -> bool:
        """Take in one validation; returns whether it is the best so far."""
        if f1 > self.reference + settings.min_delta or f1 < NO_SKILL:
            self.stale = 0
        else:
            self.stale += 1
        self.reference = max(self.reference, f1)
        self.stopped = bool(settings.patience and self.stale >= settings.patience)
        if self.best_f1 is not None and f1 <= self.best_f1 and f1 >= NO_SKILL:
            return False  # a tie keeps the earlier weights, unless neither has learnt anything
        self.best_f1, self.best_step, self.best_epoch = f1, step, epoch
        return True


@dataclass
class TrainingResult:
    """What a training run was; the trained weights are in the extractor itself.

    Attributes:
        history: rows with ``step``, ``epoch``, ``seconds`` and either ``loss`` and ``learning_rate`` or ``f1``.
        progress: best validation and times.
        steps, epochs: done, not planned.
        device: where it ran.
    """

    history: list[dict[str, Any]]
    progress: Progress
    steps: int
    epochs: float
    device: str
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def best_f1(self) -> float | None:
        """Validation triple F1 of the best epoch, whatever it was chosen by."""
        best = [row["f1"] for row in self.history if "f1" in row and row["step"] == self.progress.best_step]
        return best[-1] if best else None


class ExtractorTrainer(Trainer):
    """The ``Trainer`` with this project's data order, parameter groups, schedules, clipping and validation."""

    def __init__(
        self,
        model: Extractor,
        dataset: TrainingSentences,
        settings: TrainingSettings,
        *,
        seed: int,
        folder: Path,
        validate: Validate | None,
        gpu: bool,
    ):
        self.settings, self.validate, self.folder = settings, validate, folder
        self.progress, self.best_weights = Progress(), None
        self.began = time.monotonic()
        self.lines = Lines("training", log=logger, at_most=bool(settings.patience))
        bf16 = bool(settings.bf16 and gpu and torch.cuda.is_bf16_supported())
        steps_per_epoch = math.ceil(
            math.ceil(dataset.size(settings.unit) / settings.batch_size) / settings.accumulation
        )
        self.steps_per_epoch = steps_per_epoch
        arguments = TrainingArguments(
            output_dir=str(folder),
            num_train_epochs=settings.epochs,
            max_steps=settings.max_steps or -1,
            per_device_train_batch_size=settings.batch_size,
            gradient_accumulation_steps=settings.accumulation,
            max_grad_norm=settings.clip_norm if settings.clip != "none" else 0.0,
            logging_strategy="steps",
            logging_steps=max(1, steps_per_epoch // LOGS_PER_EPOCH),
            logging_nan_inf_filter=False,
            save_strategy="no",
            eval_strategy="no",
            report_to="none",
            disable_tqdm=True,
            remove_unused_columns=False,
            use_cpu=not gpu,
            bf16=bf16,
            ddp_find_unused_parameters=True,  # a batch without triples reaches only a part of some extractors
            seed=seed,
            data_seed=seed,
        )
        arguments._n_gpu = min(1, arguments.n_gpu)  # one device per run; a study runs many side by side
        collator = Collator(type(model), model.config, model.aligner.pad_id, seed)
        super().__init__(model, arguments, collator, dataset, callbacks=[_Flow(self)])
        self.remove_callback(PrinterCallback)
        self.model_accepts_loss_kwargs = False

    def get_train_dataloader(self):
        settings = self.settings
        return training_loader(
            self.train_dataset,
            self.data_collator,
            settings.batch_size,
            unit=settings.unit,
            grouped=settings.group_by_length,
            workers=settings.workers,
            place=processes.place(),
        )

    def create_optimizer(self, model=None) -> torch.optim.Optimizer:
        if self.optimizer is None:
            self.optimizer = make_optimizer(self.model if model is None else model, self.settings)
        return self.optimizer

    def create_scheduler(self, num_training_steps: int, optimizer: torch.optim.Optimizer | None = None):
        if self.lr_scheduler is None:
            self.lr_scheduler = make_schedule(
                optimizer or self.optimizer, self.settings, num_training_steps, self.steps_per_epoch
            )
            self._created_lr_scheduler = True
        return self.lr_scheduler

    def compute_loss(self, model, inputs: dict[str, Tensor], return_outputs: bool = False, num_items_in_batch=None):
        outputs = model(**inputs)
        return (outputs.loss, outputs) if return_outputs else outputs.loss

    def floating_point_ops(self, inputs: dict[str, Any]) -> int:
        """Count nothing: the count walks over all parameters at every step."""
        return 0

    def _clip_grad_norm(self, model):
        return clip_gradients(model.parameters(), self.settings)

    def _get_grad_norm(self, model, grad_norm=None):
        return grad_norm  # never computed for the log alone

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        if "train_runtime" in logs:  # the Trainer's own summary, which a resumed run cannot know
            return
        if not math.isfinite(logs.get("loss", 0.0)):
            raise UserError(
                f"the training loss is {logs['loss']} at step {self.state.global_step}: training diverged; "
                "expected settings with a lower learning rate, more warm-up, or a gradient clip"
            )
        super().log({**logs, "seconds": round(self.elapsed(), 3)}, start_time)

    def elapsed(self) -> float:
        """Seconds of training and validation, those before a restart included."""
        return self.progress.training_seconds + self.progress.validation_seconds + time.monotonic() - self.began

    def evaluate(self, eval_dataset=None, ignore_keys=None, metric_key_prefix: str = "eval") -> dict[str, float]:
        """Decode the validation set, log its scores, and keep the weights if they are the best so far."""
        start = time.monotonic()
        self.progress.training_seconds += start - self.began
        metrics = None
        if processes.is_first():
            with memory.out_of_memory_advice(
                "validation", "evaluation_batch_size", self.settings.evaluation_batch_size
            ):
                metrics = self.validate(self.model)
        metrics = processes.shared(metrics)
        self.model.train()
        self.began = time.monotonic()
        self.progress.validation_seconds += self.began - start
        step, epoch = self.state.global_step, self.state.epoch or 0.0
        chosen_by = (metrics["f1"] + metrics.get("entity_f1", metrics["f1"])) / 2
        if self.progress.observe(chosen_by, step, epoch, self.settings) and processes.is_first():
            self.best_weights = {
                name: value.detach().to("cpu", copy=True) for name, value in self.model.state_dict().items()
            }
        self.log(dict(metrics))
        logger.info(
            "epoch %.1f, step %d: validation %s; best F1 %.4f",
            epoch, step, ", ".join(f"{name} {value:.4f}" for name, value in metrics.items()), self.progress.best_f1,
        )  # fmt: skip
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def _save_checkpoint(self, model, trial) -> None:
        if self.progress.stopped:  # the run is over, and a resumed one could not stop before its next step
            return
        now = time.monotonic()
        self.progress.training_seconds += now - self.began
        self.began = now
        folder = self.folder / f"checkpoint-{self.state.global_step}"
        try:
            with storage.explained(folder):
                self._write_checkpoint(model, trial)
        except UserError:
            if not (folder / checkpoints.PROGRESS).is_file():
                shutil.rmtree(folder, ignore_errors=True)  # half-written, and space is short
            raise

    def _write_checkpoint(self, model, trial) -> None:
        super()._save_checkpoint(model, trial)
        processes.wait()  # every process adds the state of its random numbers
        if not processes.is_first():
            return
        newest = checkpoints.checkpoints(self.folder)[-1]
        if self.best_weights is not None:
            save_file(self.best_weights, newest / BEST)
        checkpoints.complete(self.folder, asdict(self.progress))

    def restore(self, checkpoint: Path) -> None:
        """Take over the progress and best weights of a checkpoint (the Trainer restores the rest itself)."""
        self.progress = Progress(**checkpoints.read_json(checkpoint / checkpoints.PROGRESS))
        if (checkpoint / BEST).is_file():
            self.best_weights = load_file(checkpoint / BEST)


class _Flow(TrainerCallback):
    """Decides when to validate and to save, and tells how far the training is."""

    def __init__(self, trainer: ExtractorTrainer):
        self.trainer = trainer
        self.last_save = time.monotonic()
        self.save_due = False

    def on_train_begin(self, args, state, control, **kwargs):
        self.last_save = time.monotonic()
        self.trainer.lines.start(state.global_step, state.max_steps)

    def on_step_begin(self, args, state, control, **kwargs):
        self.trainer.model.step = state.global_step

    def on_step_end(self, args, state, control, **kwargs):
        settings = self.trainer.settings
        self.trainer.lines.reach(state.global_step)
        self.trainer.lines.note(f"epoch {state.epoch:.2f}")
        self.save_due |= bool(settings.save_every and state.global_step % settings.save_every == 0)
        if settings.save_minutes and (processes.place()[1] == 1 or state.global_step % LOOK_EVERY == 0):
            self.save_due |= processes.shared(time.monotonic() - self.last_save >= 60 * settings.save_minutes)
        # after the last step of an epoch comes its validation, which a checkpoint must not leave out
        control.should_save = self.save_due and state.global_step % self.trainer.steps_per_epoch != 0

    def on_epoch_end(self, args, state, control, **kwargs):
        settings = self.trainer.settings
        epoch = math.ceil(round(state.epoch, 6))
        last = state.global_step >= state.max_steps
        due = epoch >= settings.evaluate_from and (epoch % settings.evaluate_every == 0 or last)
        control.should_log = True
        control.should_evaluate = bool(due and self.trainer.validate is not None)
        control.should_save = self.save_due and not last

    def on_evaluate(self, args, state, control, **kwargs):
        control.should_training_stop |= self.trainer.progress.stopped

    def on_save(self, args, state, control, **kwargs):
        self.last_save, self.save_due = time.monotonic(), False


def train_extractor(
    model: Extractor,
    dataset: TrainingSentences,
    settings: TrainingSettings,
    *,
    seed: int,
    folder: Path,
    validate: Validate | None = None,
    fingerprint: dict[str, Any] | None = None,
    gpu: bool = False,
) -> TrainingResult:
    """Train ``model`` in place and leave it with its best weights.

    Args:
        model: an untrained extractor, made under ``seed``.
        dataset: its training sentences.
        settings: how to train.
        seed: of data order, draws and dropout.
        folder: for checkpoints; a run with the same ``fingerprint`` that was killed is continued from there and ends
            with the weights that an uninterrupted run has. The caller removes it after saving the model.
        validate: scores the model on the validation set, ``{"f1": …, …}``; None trains to the end and keeps the last
            weights.
        fingerprint: what decides the result; see :func:`tripleaudit.training.checkpoints.prepare`.
        gpu: use the first CUDA device.

    Raises:
        UserError: there is nothing to train on, no GPU, or training diverged.
    """
    if not len(dataset):
        raise UserError(
            "no training sentence is left: every one lost its triples (entities not in the text, truncation) or was "
            f"dropped; counts: {dict(dataset.counts)}"
        )
    if gpu and not torch.cuda.is_available():
        raise UserError("a GPU was asked for, but PyTorch sees none; expected a CUDA device, or --gpu 0")
    steps_of_epoch = math.ceil(math.ceil(dataset.size(settings.unit) / settings.batch_size) / settings.accumulation)
    first_validation = settings.evaluate_from * steps_of_epoch
    if validate is not None and settings.max_steps and settings.max_steps < first_validation - steps_of_epoch + 1:
        raise UserError(
            f"training/evaluate_from: the first validation would follow epoch {settings.evaluate_from}, step "
            f"{first_validation}, but max_steps is {settings.max_steps}; expected more steps, or a lower evaluate_from"
        )
    checkpoint = processes.shared(checkpoints.prepare(folder, fingerprint or {}) if processes.is_first() else None)
    trainer = ExtractorTrainer(model, dataset, settings, seed=seed, folder=folder, validate=validate, gpu=gpu)
    if checkpoint is not None:
        logger.info("resuming from %s", checkpoint.name)
        trainer.restore(checkpoint)
    trainer.began = time.monotonic()
    pairs.CHUNKS.update(limit=settings.relation_chunk, largest=0)
    with (
        trainer.lines,
        memory.out_of_memory_advice(
            "training", "batch_size", settings.batch_size, keep=True, chunk=lambda: pairs.CHUNKS["largest"]
        ),
    ):
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    trainer.progress.training_seconds += time.monotonic() - trainer.began
    if trainer.best_weights is not None:
        model.load_state_dict(trainer.best_weights)
    return TrainingResult(
        history=trainer.state.log_history,
        progress=trainer.progress,
        steps=trainer.state.global_step,
        epochs=trainer.state.epoch or 0.0,
        device=torch.cuda.get_device_name() if gpu else "cpu",
        counts=dict(dataset.counts),
    )
