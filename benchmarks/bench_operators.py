"""Operators and host synchronisations of one training step in the device's formulation, counted
without a GPU.

A step that is to run as one launch on a GPU has no synchronisation, and its operators do not grow
with the batch. The ratio is to the operators of the bare encoder's own step on the same batch.
"""

import collections
import os
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from tripleaudit.extractors import formulation
from tripleaudit.extractors.base import Extractor
from tripleaudit.extractors.registry import extractor_names, resolve
from tripleaudit.training.data import Collator, TrainingSentences
from tripleaudit.training.optimizer import Rates, make_optimizer
from tripleaudit.training.step import Step, scalars

from . import speed

ROOT = Path(__file__).resolve().parents[1]
SIZES = (6, 48, 256)
LENGTH = 40  # subwords
RELATIONS = 216
GROWTH = 1.05  # of the operators from the smallest batch to the largest
GOALS = {
    "casrel": 1.2, "zcc-binary": 1.2, "zcc-mcml": 1.2, "tdeer": 1.3, "birte": 1.5, "tplinker": 1.5, "prgc": 1.6,
    "onerel": 1.8, "grte": 3.0, "pfn": 3.0, "ptrnet": 5.0, "unirel": 1.2,
}  # fmt: skip
SYNCHRONISE = {
    "aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::is_nonzero", "aten::_unique2",
    "aten::unique_dim", "aten::unique_consecutive", "aten::equal", "aten::lift_fresh",
}  # fmt: skip
NAMES = (*extractor_names(), "zcc-binary")


class Counted(TorchDispatchMode):
    """Counts the operators that are dispatched inside, and those that wait for the device."""

    def __init__(self):
        super().__init__()
        self.operators, self.synchronisations = 0, collections.Counter()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.operators += 1
        name = function._schema.name
        if name in SYNCHRONISE:
            self.synchronisations[name] += 1
        if name in ("aten::index", "aten::index_put_") and any(
            each is not None and each.dtype == torch.bool for each in args[1]
        ):
            self.synchronisations["index by a boolean mask"] += 1
        return function(*args, **(kwargs or {}))


@dataclass(frozen=True)
class Count:
    """Operators of one step.

    Attributes:
        extractor, batch, length: what was counted.
        operators, encoder: of the extractor's step and of the bare encoder's.
        synchronisations: of the extractor's step.
        capturable: the step runs on tensors without values.
    """

    extractor: str
    batch: int
    length: int
    operators: int
    encoder: int
    synchronisations: int
    capturable: bool

    @property
    def ratio(self) -> float:
        """Operators by those of the bare encoder."""
        return round(self.operators / self.encoder, 3)


@contextmanager
def device_formulation():
    """Run the device's formulation on this CPU."""
    before = os.environ.get(formulation.VARIABLE)
    os.environ[formulation.VARIABLE] = "device"
    try:
        yield
    finally:
        os.environ.pop(formulation.VARIABLE)
        if before is not None:
            os.environ[formulation.VARIABLE] = before


def counted(
    name: str,
    encoder: Path,
    relations: int = RELATIONS,
    sizes: Sequence[int] = SIZES,
    length: int = LENGTH,
) -> list[Count]:
    """Count the operators of one extractor's step at several batch sizes of equal length.

    The first size is computed; at the others the loss and its gradients are counted on tensors
    without values.
    """
    torch.manual_seed(0)
    (kind, implied), names = resolve(name), [f"relation{number}" for number in range(relations)]
    prior = speed.PRIOR if kind.settings.sparse_outputs else None
    with device_formulation():
        model = kind.from_encoder(encoder, names, prior=prior, **implied).train()
        settings = speed.settings_of(kind)
        optimizer = make_optimizer(model, settings)
        step = Step(model, optimizer, settings, bf16=False)
        rates = Rates(optimizer, settings, 1000, 100)
        bare = speed.Bare(kind.from_encoder(encoder, names).encoder)
        floor = speed.bare_step(bare, torch.device("cpu"))
        data = TrainingSentences(speed.renamed(speed.synthetic_sentences(model), names), model)
        rows = []
        most = most_triples(data, sizes[0], length)
        for size in sizes:
            batch = static_batch(model, data, size, length, most)
            encoder_only = {key: batch[key].clone() for key in ("input_ids", "attention_mask")}
            batch |= scalars(model, rates.at(10), 10)
            without = without_values(model, batch)
            if not rows:  # the optimiser's operators and the encoder's are those of any batch
                step(
                    {key: value.clone() for key, value in batch.items()}
                )  # creates the optimiser's state
                floor(encoder_only)
                with Counted() as own:
                    step(batch)
                with Counted() as least:
                    floor(encoder_only)
                rest = own.operators - (without or own).operators
            counts = without or own
            waits = sum((counts if rows else own).synchronisations.values())
            operators = counts.operators + (rest if without else 0)
            rows.append(
                Count(name, size, length, operators, least.operators, waits, without is not None)
            )
    return rows


def fitting(data: TrainingSentences, length: int) -> list[int]:
    """Sentences of at most so many tokens, one of nearly so many first."""
    numbers = [number for number, own in enumerate(data.lengths) if own <= length]
    longest = max(numbers, key=lambda number: data.lengths[number])
    return [longest, *(number for number in numbers if number != longest)]


def most_triples(data: TrainingSentences, size: int, length: int) -> int:
    """The most triples of a sentence of the smallest batch: what ptrnet writes is as long as
    that.
    """
    return max(len(data[0, number].rows) for number in fitting(data, length)[:size])


def static_batch(
    model: Extractor, data: TrainingSentences, size: int, length: int, most: int
) -> dict[str, torch.Tensor]:
    """The first fitting sentences of at most so many triples, as a static batch."""
    collator = Collator(type(model), model.config, model.aligner.pad_id, seed=0, static=size)
    chosen = [number for number in fitting(data, length) if len(data[0, number].rows) <= most][
        :size
    ]
    return collator([data[0, number] for number in chosen])


def without_values(model: Extractor, batch: dict[str, torch.Tensor]) -> Counted | None:
    """Count loss and gradients of tensors that have shapes, but no values; None where that is
    impossible.

    Takes neither time nor memory, whatever the batch.
    """
    inputs = {key: value for key, value in batch.items() if key != "learning_rates"}
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        try:
            fake = {key: mode.from_tensor(value) for key, value in inputs.items()}
            with Counted() as counted:
                model(**fake).loss.backward()
        except Exception as error:
            print(
                f"{model.name}: {type(error).__name__}: {str(error).splitlines()[0]}",
                file=sys.stderr,
            )
            return None
        finally:
            model.zero_grad(set_to_none=True)
    return counted


def faults(rows: Sequence[Count]) -> list[str]:
    """One sentence for each goal that is missed."""
    lines = []
    for row in rows:
        where = f"{row.extractor}, batch {row.batch}"
        first = next(each for each in rows if each.extractor == row.extractor)
        if row.synchronisations:
            lines.append(f"{where}: {row.synchronisations} host synchronisations, goal 0")
        if row.operators > GROWTH * first.operators:
            lines.append(
                f"{where}: {row.operators} operators, more than {GROWTH} times those at {first.batch}"
            )
        if row.ratio > GOALS[row.extractor] and row is first:
            lines.append(
                f"{where}: {row.ratio:.2f} times the encoder's operators, goal {GOALS[row.extractor]}"
            )
        if not row.capturable:
            lines.append(f"{where}: cannot be captured")
    return lines


def markdown(rows: Sequence[Count]) -> str:
    """The table with its goals."""
    heads = (
        "extractor",
        "batch",
        "operators",
        "encoder's",
        "ratio",
        "goal",
        "synchronisations",
        "capturable",
    )
    cells = (
        [row.extractor, row.batch, row.operators, row.encoder, f"{row.ratio:.2f}", GOALS[row.extractor],
         row.synchronisations, "yes" if row.capturable else "no"] for row in rows
    )  # fmt: skip
    about = f"Operators of a training step in the device's formulation ({RELATIONS} relations, {LENGTH} subwords)."
    lines = [about, "", *speed.table(heads, cells), "", *(f"- {line}" for line in faults(rows))]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Count all extractors and write ``operators.csv`` and ``operators.md``; 1 if a goal is
    missed.
    """
    from .__main__ import minilm

    rows = [row for name in NAMES for row in counted(name, minilm())]
    columns = (
        "extractor",
        "batch",
        "length",
        "operators",
        "encoder",
        "ratio",
        "synchronisations",
        "capturable",
    )
    speed.write_results(speed.results_folder() / "operators", columns, rows, markdown(rows))
    print(markdown(rows))
    return int(bool(faults(rows)))
