"""Training of one extractor: order, schedule, validation, early stopping, exact resuming."""

import logging
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tripleaudit.core import memory
from tripleaudit.core.errors import UserError
from tripleaudit.core.progress import Progress as Lines
from tripleaudit.extractors.base import Extractor
from tripleaudit.extractors.batches import ahead
from tripleaudit.extractors.formulation import half_precision, on_device, products
from tripleaudit.training import checkpoints
from tripleaudit.training.cpu_precision import use_cpu_bf16
from tripleaudit.training.data import Collator, TrainingSentences, batches
from tripleaudit.training.embedding import embedding_rows, whole
from tripleaudit.training.optimizer import Rates, make_optimizer
from tripleaudit.training.settings import LoopSettings
from tripleaudit.training.step import Packed, captured_stream, make_step, pack, scalars
from tripleaudit.training.trackers import Report

logger = logging.getLogger(__name__)

Validate = Callable[[Extractor], dict[str, float]]

LOGS_PER_EPOCH = 10
CPU = torch.device("cpu")
NO_SKILL = (
    1e-4  # validation F1 below which patience does not run out (Wei et al. 2020, official code)
)


@dataclass
class Progress:
    """How well a run has done so far, and how long it took.

    Attributes:
        best_f1, best_step, best_epoch: of the best validation, by what ``select_by`` says (the mean
            where that is a sum); its weights stay on the device.
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

    def observe(self, f1: float, step: int, epoch: float, settings: LoopSettings) -> bool:
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


class ExtractorTrainer:
    """One training run.

    Args:
        model: an extractor on the device that trains it.
        dataset, settings, seed, folder, validate, report: see :func:`train_extractor`.

    Attributes:
        step, epoch: optimiser steps and (parts of) epochs done; ``steps`` is how many are planned.
        history: rows with ``step``, ``epoch``, ``seconds`` and either ``loss`` and
        ``learning_rate`` or ``f1``. progress, best_weights: see :class:`Progress`.
    """

    def __init__(
        self,
        model: Extractor,
        dataset: TrainingSentences,
        settings: LoopSettings,
        *,
        seed: int,
        folder: Path,
        validate: Validate | None,
        report: Report = lambda row: None,
    ):
        self.model, self.settings, self.folder, self.validate = model, settings, folder, validate
        self.device = model.device
        torch.manual_seed(seed)
        self.rows = embedding_rows(model, dataset, settings)
        self.optimizer = make_optimizer(model, settings)
        bf16 = half_precision(self.device, settings.bf16)
        self.update = make_step(model, self.optimizer, settings, bf16)
        static = settings.batch_size if self.update.static else 0
        self.collate = Collator(type(model), model.config, model.aligner.pad_id, seed, static)
        self.dataset, self.seed = dataset, seed
        self.batches_per_epoch, self.steps_per_epoch = epoch_sizes(dataset, settings)
        self.steps = settings.max_steps or settings.epochs * self.steps_per_epoch
        self.rates = Rates(self.optimizer, settings, self.steps, self.steps_per_epoch)
        self.log_every = max(1, self.steps_per_epoch // LOGS_PER_EPOCH)
        self.step, self.epoch, self.logged = 0, 0.0, 0
        self.history: list[dict[str, Any]] = []
        self.progress = Progress()
        self.best_weights: dict[str, Tensor] | None = None
        self.began = self.saved = time.monotonic()
        self.save_due = False
        self.report = report

    @property
    def best_f1(self) -> float | None:
        """Validation triple F1 of the best epoch, whatever it was chosen by."""
        best = [
            row["f1"]
            for row in self.history
            if "f1" in row and row["step"] == self.progress.best_step
        ]
        return best[-1] if best else None

    def train(self) -> None:
        """Train to the end of the run."""
        self.began = self.saved = time.monotonic()
        self.model.train()
        bounded = bool(self.settings.patience)
        with Lines("training", self.steps, log=logger, at_most=bounded) as self.lines:
            self.lines.start(self.step, self.steps)
            self.lines.note = lambda: f"epoch {self.epoch:.2f}"
            while self.step < self.steps and not self.progress.stopped:
                self._train_epoch(self.step // self.steps_per_epoch)
        if self.rows is not None:
            self.rows.release()
        self._pass("training_seconds")

    def _pass(self, part: str) -> None:
        """Add the time since the last call to a part of the run."""
        now = time.monotonic()
        setattr(self.progress, part, getattr(self.progress, part) + now - self.began)
        self.began = now

    def _train_epoch(self, epoch: int) -> None:
        first = self.step % self.steps_per_epoch
        if not first and not self.update.static:
            torch.empty(
                (), dtype=torch.int64
            ).random_()  # PyTorch's loader draws it, with which numbers were published
        ready = self._batches(epoch, first)
        accumulation, count = self.settings.accumulation, self.batches_per_epoch
        for number in range(first, self.steps_per_epoch):
            self.model.step = self.step
            if not self.update.static:  # a static batch brings its rates with it
                for group, rate in zip(
                    self.optimizer.param_groups, self.rates.at(self.step), strict=True
                ):
                    group["lr"] = rate
            share = min(accumulation, count - number * accumulation)
            for position in range(1, share + 1):
                batch = next(ready)
                if self.rows is not None and isinstance(
                    batch, dict
                ):  # noise may make tokens that the corpus has not
                    self.rows.admit(batch["input_ids"], self.optimizer)
                self.update(batch, share, position == share)
            self.step += 1
            self.epoch = epoch + (number * accumulation + share) / count
            last = self.step >= self.steps
            self._after_step(last)
            if last:
                break
        ready.close()
        self._after_epoch(epoch + 1)

    def _batches(self, epoch: int, first: int) -> Iterator[dict[str, Tensor] | Packed]:
        """Return an epoch's batches from the step ``first``; packed and prefetched for a GPU."""
        settings, dataset = self.settings, self.dataset
        instances = dataset.instances() if settings.unit == "instances" else None
        own = {"grouped": settings.group_by_length, "instances": instances}
        keys = batches(dataset.lengths, settings.batch_size, self.seed, epoch, **own)[
            first * settings.accumulation :
        ]
        made = (self.collate([dataset[key] for key in each]) for each in keys)
        if not self.update.static:
            return made
        at_start = epoch * self.steps_per_epoch + first
        pinned = self.device.type == "cuda"

        def packed() -> Iterator[Packed]:
            for number, batch in enumerate(made):
                step = at_start + number // settings.accumulation
                yield pack(batch | scalars(self.model, self.rates.at(step), step), pinned)

        return ahead(packed()) if pinned else packed()

    def _after_step(self, last: bool) -> None:
        """Log and save as configured; at the end of an epoch after its validation."""
        settings = self.settings
        self.lines.done = self.step
        if self.step % self.log_every == 0:
            self._log_loss()
        self.save_due |= bool(settings.save_every and self.step % settings.save_every == 0)
        if settings.save_minutes:
            self.save_due |= time.monotonic() - self.saved >= 60 * settings.save_minutes
        if self.save_due and self.step % self.steps_per_epoch and not last:
            self._save()

    def _after_epoch(self, epoch: int) -> None:
        settings, last = self.settings, self.step >= self.steps
        if self.step > self.logged:
            self._log_loss()
        due = epoch >= settings.evaluate_from and (epoch % settings.evaluate_every == 0 or last)
        if due and self.validate is not None:
            self.evaluate()
        if self.save_due and not last and not self.progress.stopped:
            self._save()

    def _log_loss(self) -> None:
        loss = self.update.total.item() / (self.step - self.logged)
        if not math.isfinite(loss):
            precision = ", or precision: float32" if self.update.bf16 else ""
            raise UserError(
                f"the training loss is {loss} at step {self.step}: training diverged; "
                f"expected settings with a lower learning rate, more warm-up, or a gradient clip{precision}"
            )
        self.update.total.zero_()
        self.logged = self.step
        norm = {} if self.update.norm is None else {"grad_norm": self.update.norm.item()}
        self._log({"loss": loss, **norm, "learning_rate": self.rates.at(self.step - 1)[0]})

    def _log(self, row: dict[str, float]) -> None:
        self._pass("training_seconds")
        seconds = round(self.progress.training_seconds + self.progress.validation_seconds, 3)
        self.history.append({**row, "seconds": seconds, "epoch": self.epoch, "step": self.step})
        self.report(self.history[-1])

    def evaluate(self) -> dict[str, float]:
        """Decode the validation set, log scores, and keep the weights if they are best."""
        self._pass("training_seconds")
        size = None if on_device(self.device) else self.settings.evaluation_batch_size
        with (
            whole(self.rows),
            memory.out_of_memory_advice("validation", "evaluation_batch_size", size),
        ):
            metrics = {name: float(value) for name, value in self.validate(self.model).items()}
        self.model.train()
        self._pass("validation_seconds")
        chosen_by = (metrics["f1"] + metrics.get("entity_f1", metrics["f1"])) / 2
        if self.progress.observe(chosen_by, self.step, self.epoch, self.settings):
            self.best_weights = None  # its memory serves again
            with whole(self.rows):
                self.best_weights = {
                    name: value.clone() for name, value in self.model.state_dict().items()
                }
        self._log(metrics)
        logger.info(
            "epoch %.1f, step %d: validation %s; best F1 %.4f", self.epoch, self.step,
            ", ".join(f"{name} {value:.4f}" for name, value in metrics.items()), self.progress.best_f1,
        )  # fmt: skip
        return metrics

    def _save(self) -> None:
        self._pass("training_seconds")
        own = {
            "step": self.step,
            "epoch": self.epoch,
            "logged": self.logged,
            "history": self.history,
        }
        run = {**own, "total": self.update.total.item(), "progress": asdict(self.progress)}
        checkpoints.save(self.folder, self.model, self.optimizer, self.best_weights, run)
        self.saved, self.save_due = time.monotonic(), False

    def restore(self, checkpoint: Path) -> None:
        """Go on from a checkpoint."""
        run, self.best_weights = checkpoints.load(checkpoint, self.model, self.optimizer)
        self.step, self.epoch, self.logged = run["step"], run["epoch"], run["logged"]
        self.history, self.progress = run["history"], Progress(**run["progress"])
        for row in self.history:  # to a run of its own, so that each begins at the first step
            self.report(row)
        self.update.total.fill_(run["total"])


def epoch_sizes(dataset: TrainingSentences, settings: LoopSettings) -> tuple[int, int]:
    """Batches and optimiser steps of an epoch."""
    count = math.ceil(dataset.size(settings.unit) / settings.batch_size)
    return count, math.ceil(count / settings.accumulation)


def train_extractor(
    model: Extractor,
    dataset: TrainingSentences,
    settings: LoopSettings,
    *,
    seed: int,
    folder: Path,
    validate: Validate | None = None,
    fingerprint: dict[str, Any] | None = None,
    device: torch.device = CPU,
    report: Report = lambda row: None,
) -> ExtractorTrainer:
    """Train ``model`` in place and leave it with its best weights; return the run that is over.

    Args:
        model: an untrained extractor, made under ``seed``.
        seed: of data order, draws and dropout.
        folder: for checkpoints; a run with the same ``fingerprint`` that was killed is continued
            from there and ends with the weights that an uninterrupted run has. The caller removes
            it after saving the model.
        validate: scores the model on the validation set, ``{"f1": …, …}``; None trains to the end
            and keeps the last weights.
        fingerprint: what decides the result; see :func:`tripleaudit.training.checkpoints.prepare`.
        report: gets each row of the history as it comes.

    Raises:
        UserError: there is nothing to train on, no GPU, or training diverged.
    """
    if not len(dataset):
        raise UserError(
            "no training sentence is left: every one lost its triples (entities not in the text, truncation) or was "
            f"dropped; counts: {dict(dataset.counts)}"
        )
    model.config.bf16 = settings.bf16  # prediction keeps to it
    model.encoder_bf16 = settings.precision == "bf16-cpu" and use_cpu_bf16(device)
    if model.encoder_bf16:
        fingerprint = {**(fingerprint or {}), "encoder_precision": "bf16"}
    _, steps = epoch_sizes(dataset, settings)
    first_validation = settings.evaluate_from * steps
    if (
        validate is not None
        and settings.max_steps
        and settings.max_steps <= first_validation - steps
    ):
        raise UserError(
            f"training/evaluate_from: the first validation would follow epoch {settings.evaluate_from}, step "
            f"{first_validation}, but max_steps is {settings.max_steps}; expected more steps, or a lower evaluate_from"
        )
    checkpoint = checkpoints.prepare(folder, fingerprint or {})
    size = min(settings.batch_size, len(dataset))
    with (
        memory.out_of_memory_advice("training", "batch_size", size, keep=True),
        captured_stream(device),
    ):
        trainer = ExtractorTrainer(
            model.to(device),
            dataset,
            settings,
            seed=seed,
            folder=folder,
            validate=validate,
            report=report,
        )
        if checkpoint is not None:
            logger.info("resuming from %s", checkpoint.stem)
            trainer.restore(checkpoint)
        with products(device, trainer.update.bf16):
            trainer.train()
    if trainer.best_weights is not None:
        model.load_state_dict(trainer.best_weights)
    del trainer.best_weights, trainer.optimizer, trainer.update  # their memory serves again
    return trainer
