"""Batches for prediction: sentences of similar length together, longest first.

On a GPU a batch has as many sentences as a share of the memory allows, and a thread tokenises, pads
and pins the next batches while the device works on one.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import torch
from torch import Tensor

from tripleaudit.core.memory import is_out_of_memory
from tripleaudit.core.progress import Progress
from tripleaudit.extractors.alignment import Aligner, Alignment
from tripleaudit.extractors.batches import ahead, pad_batch
from tripleaudit.extractors.formulation import cells_at_once, on_device

logger = logging.getLogger(__name__)

ALIGN_AT_ONCE = 1024  # sentences
TOKENS_AT_ONCE = 2**15  # of a batch, padding included; more make no GPU faster
NUMBERS_PER_TOKEN = 32  # that an encoder's layer holds, in widths of its states

Result = TypeVar("Result")


def as_list(texts: Sequence[str] | str) -> Sequence[str]:
    """Return texts as a list; a single string is one text."""
    return [texts] if isinstance(texts, str) else texts


@dataclass(frozen=True)
class Prepared:
    """A batch of prediction.

    Attributes:
        texts, alignments: of its sentences.
        tensors: what ``predict_rows`` takes, on the host.
    """

    texts: Sequence[str]
    alignments: Sequence[Alignment]
    tensors: dict[str, Tensor]

    def on(self, device: torch.device) -> dict[str, Tensor]:
        """The tensors on a device."""
        return {name: value.to(device, non_blocking=True) for name, value in self.tensors.items()}

    def halves(self) -> tuple["Prepared", "Prepared"]:
        """Two batches of half as many sentences."""
        middle = len(self.texts) // 2
        first, second = (
            Prepared(
                self.texts[part],
                self.alignments[part],
                {name: each[part] for name, each in self.tensors.items()},
            )
            for part in (slice(middle), slice(middle, None))
        )
        return first, second


class Predictor(Protocol):
    """The attributes of an extractor that decide its batches."""

    aligner: Aligner
    words: bool

    @property
    def device(self) -> torch.device: ...

    @property
    def hidden_size(self) -> int: ...


def prepared(
    model: Predictor,
    texts: Sequence[str],
    alignments: Mapping[str, Alignment] | None,
    batch_size: int,
) -> Iterator[Prepared]:
    """Yield batches of distinct texts, and log progress of long runs.

    ``alignments`` are those of all texts, where they are known already; else texts that were cut
    are warned of.
    """
    batches = _batches(model, texts, alignments, batch_size)
    batches = ahead(batches) if on_device(model.device) else batches
    with Progress("predicting", len(texts), "sentences", log=logger) as progress:
        for batch in batches:
            yield batch
            progress.add(len(batch.texts))


def within_memory(
    batch: Prepared, device: torch.device, predict: Callable[[dict[str, Tensor]], Result]
) -> Iterator[tuple[Prepared, Result]]:
    """Yield a batch and its predictions; a batch that exceeds GPU memory is halved."""
    try:
        result = predict(batch.on(device))
    except RuntimeError as error:
        if not on_device(device) or len(batch.texts) < 2 or not is_out_of_memory(error):
            raise
    else:
        yield batch, result
        return
    if device.type == "cuda":
        torch.cuda.empty_cache()
    for half in batch.halves():
        yield from within_memory(half, device, predict)


def _batches(
    model: Predictor,
    texts: Sequence[str],
    alignments: Mapping[str, Alignment] | None,
    batch_size: int,
) -> Iterator[Prepared]:
    """Return batches with the longest texts first, so that too large ones fail at once.

    For a GPU they are sorted by characters before, so that tokenising need not come before
    everything else.
    """
    device, order, at_once = on_device(model.device), texts, max(1, len(texts))
    if device:
        order, at_once = sorted(texts, key=len, reverse=True), ALIGN_AT_ONCE
    room = cells_at_once(model.device) // (NUMBERS_PER_TOKEN * model.hidden_size)
    most = max(1, min(TOKENS_AT_ONCE, room))  # tokens of a batch, from the device's memory
    known, waiting = {}, []
    for at in range(0, len(order), at_once):
        fresh = order[at : at + at_once]
        known.update(
            model.aligner.aligned(fresh)
            if alignments is None
            else {text: alignments[text] for text in fresh}
        )
        waiting = sorted([*waiting, *fresh], key=lambda text: -len(known[text]))
        last = at + at_once >= len(order)
        while waiting:
            size = max(1, most // max(1, len(known[waiting[0]]))) if device else batch_size
            if len(waiting) < size and not last:
                break
            chunk, waiting = waiting[:size], waiting[size:]
            own = [known[text] for text in chunk]
            tensors = pad_batch(own, model.aligner.pad_id, words=model.words)
            if model.device.type == "cuda":
                tensors = {name: value.pin_memory() for name, value in tensors.items()}
            yield Prepared(chunk, own, tensors)
    if alignments is None:
        warn_of_cuts(known, model.aligner.limit)


def warn_of_cuts(alignments: Mapping[str, Alignment], limit: int) -> None:
    """Log how many texts were cut to the encoder's limit."""
    cut = [text for text, alignment in alignments.items() if alignment.truncated]
    if cut:
        logger.warning(
            "%d of %d texts are longer than the %d tokens that the encoder takes and were cut; the first begins %r",
            len(cut), len(alignments), limit, cut[0][:60],
        )  # fmt: skip
