"""One training step: forward, loss, backward, clipping and optimiser.

On a GPU all of it is one launch: batches have one of a few static shapes, and for each of them the
step is captured once as a CUDA graph and then replayed. What differs from step to step (the batch,
learning rates, scheduled numbers) lies in one buffer that one copy fills; dropout's random numbers
advance inside the graph.
"""

import contextlib
import functools
import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from tripleaudit.core.errors import first_line
from tripleaudit.extractors import formulation
from tripleaudit.extractors.base import Extractor
from tripleaudit.training.optimizer import clip_gradients
from tripleaudit.training.settings import LoopSettings

logger = logging.getLogger(__name__)

MOST_GRAPHS = 64  # rarer shapes are launched operator by operator
RATES = "learning_rates"
ALIGNED = 16  # bytes
SWITCH = 1e-4  # seconds that a thread may keep the interpreter while another one wants it


@dataclass(frozen=True)
class Packed:
    """A batch in one piece of memory.

    Attributes:
        buffer: [bytes] uint8.
        layout: name, dtype, shape, first byte and number of bytes of each tensor.
    """

    buffer: Tensor
    layout: tuple[tuple[str, torch.dtype, tuple[int, ...], int, int], ...]

    def views(self, buffer: Tensor) -> dict[str, Tensor]:
        """The tensors of this layout in ``buffer``."""
        return {
            name: buffer[at : at + size].view(dtype).view(shape)
            for name, dtype, shape, at, size in self.layout
        }


def pack(batch: Mapping[str, Tensor], pinned: bool) -> Packed:
    """Put the tensors of a batch behind one another, in page-locked memory for a GPU."""
    layout, at = [], 0
    arrays = [value.numpy() for value in batch.values()]
    for (name, value), array in zip(batch.items(), arrays, strict=True):
        layout.append((name, value.dtype, array.shape, at, array.nbytes))
        at += -(-array.nbytes // ALIGNED) * ALIGNED
    buffer = torch.empty(at, dtype=torch.uint8, pin_memory=pinned)
    raw = buffer.numpy()
    for array, (_, _, _, position, size) in zip(arrays, layout, strict=True):
        raw[position : position + size] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return Packed(buffer, tuple(layout))


class Step:
    """Runs training steps operator by operator.

    Args:
        bf16: autocast to bfloat16.

    Attributes:
        static: whether batches must have static shapes.
        bf16: as given.
        total: sum of the losses since it was last set to 0, a scalar on the device.
        norm: gradient norm before the last clipping, a scalar on the device; None where it is not
            computed.
    """

    def __init__(
        self,
        model: Extractor,
        optimizer: torch.optim.Optimizer,
        settings: LoopSettings,
        bf16: bool,
    ):
        self.model, self.optimizer, self.settings = model, optimizer, settings
        self.static = type(model).static and formulation.on_device(model.device)
        self.bf16 = bf16
        self.autocast = functools.partial(
            torch.autocast, model.device.type, torch.bfloat16, enabled=bf16
        )
        self.total = torch.zeros((), device=model.device)
        self.norm: Tensor | None = None

    def __call__(
        self, batch: Mapping[str, Tensor] | Packed, share: int = 1, last: bool = True
    ) -> None:
        """Take a batch from the loader; static ones are packed with ``learning_rates`` [groups].

        It is one of ``share`` of the optimiser's step, by which the loss is divided; the ``last``
        updates the weights.
        """
        if isinstance(batch, Packed):
            batch = batch.views(batch.buffer.to(self.model.device, non_blocking=True))
        else:
            batch = {
                name: value.to(self.model.device, non_blocking=True)
                for name, value in batch.items()
            }
        self._run(batch, share, last)

    def _run(self, batch: dict[str, Tensor], share: int, last: bool) -> None:
        batch = dict(batch)
        rates = batch.pop(RATES, None)
        if rates is not None:
            for group, rate in zip(self.optimizer.param_groups, rates.unbind(), strict=True):
                group["lr"] = rate
        with self.autocast():
            loss = self.model(**batch).loss
            loss = loss if share == 1 else loss / share
        loss.backward()
        self.total += loss.detach()
        if not last:
            return
        norm = clip_gradients(
            self.model.parameters(), self.settings, self.optimizer if self.static else None
        )
        if norm is not None:
            self.norm = norm if self.norm is None else self.norm.copy_(norm)
        self.optimizer.step()
        self._clear()

    def _clear(self) -> None:
        self.optimizer.zero_grad(set_to_none=True)


class _Bucket:
    """Batches of one layout: their buffer on the device, and the captured step."""

    def __init__(self, batch: Packed, device: torch.device):
        self.buffer = torch.empty_like(batch.buffer, device=device)
        self.views = batch.views(self.buffer)
        self.graph: torch.cuda.CUDAGraph | None = None
        self.seen = 0


class CapturedStep(Step):
    """Replays training steps as CUDA graphs.

    The first batch of a layout runs operator by operator, which warms up what is made once; the
    second one is captured. Must be made and called in one stream other than the default one
    (:func:`captured_stream`).
    """

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.pool = torch.cuda.graph_pool_handle()
        self.buckets: dict[tuple, _Bucket] = {}
        self.graphs, self.possible = 0, True
        if self.settings.accumulation > 1:  # several graphs add to them
            for parameter in self.model.parameters():
                parameter.grad = torch.zeros_like(parameter)

    def __call__(self, batch: Packed, share: int = 1, last: bool = True) -> None:
        """See :meth:`Step.__call__`."""
        key = batch.layout, share, last
        if key not in self.buckets:
            self.buckets[key] = _Bucket(batch, self.model.device)
        bucket = self.buckets[key]
        bucket.buffer.copy_(batch.buffer, non_blocking=True)
        if bucket.graph is None and bucket.seen and self.possible and self.graphs < MOST_GRAPHS:
            self._capture(bucket, share, last)
        bucket.seen += 1
        if bucket.graph is not None:
            bucket.graph.replay()
        else:
            self._run(bucket.views, share, last)

    def _capture(self, bucket: _Bucket, share: int, last: bool) -> None:
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        generator = torch.cuda.default_generators[torch.cuda.current_device()]
        before = generator.clone_state()
        try:
            # other threads may allocate page-locked memory meanwhile
            graph.capture_begin(pool=self.pool, capture_error_mode="thread_local")
            try:
                self._run(bucket.views, share, last)
            finally:
                graph.capture_end()
        except RuntimeError as error:
            # a capture that failed leaves the random numbers to itself: neither operators nor
            # graphs may draw any more
            generator.graphsafe_set_state(before)
            self._give_up(error.__context__ or error)
            return
        bucket.graph = graph
        self.graphs += 1
        if self.graphs == MOST_GRAPHS:
            logger.info(
                "%d shapes of batches are captured; further ones are launched operator by operator",
                self.graphs,
            )

    def _give_up(self, error: BaseException) -> None:
        """Continue without graphs, also earlier ones; nothing of the failed one was computed."""
        self.possible = False
        for bucket in self.buckets.values():
            bucket.graph = None
        if self.settings.accumulation == 1:  # else they are sums that the graph would have added to
            self.optimizer.zero_grad(set_to_none=True)
        logger.warning(
            "a training step cannot be captured, so operators are launched one by one: %s",
            first_line(error),
        )

    def _clear(self) -> None:
        if self.settings.accumulation > 1:
            torch._foreach_zero_([parameter.grad for parameter in self.model.parameters()])
        else:
            super()._clear()


def make_step(
    model: Extractor, optimizer: torch.optim.Optimizer, settings: LoopSettings, bf16: bool
) -> Step:
    """Return the fastest step that this model and device allow, and log which it is."""
    if model.device.type == "cuda":
        if type(model).static:
            return CapturedStep(model, optimizer, settings, bf16)
        logger.info("%s has no static formulation: operators are launched one by one", model.name)
    return Step(model, optimizer, settings, bf16)


@contextlib.contextmanager
def captured_stream(device: torch.device):
    """Run the block in a stream of its own on a GPU, where it may be captured.

    Python's threads change places more often meanwhile: the one that launches steps must not wait
    for milliseconds until the one that prepares batches lets go.
    """
    if device.type != "cuda":
        yield
        return
    stream, interval = torch.cuda.Stream(device), sys.getswitchinterval()
    stream.wait_stream(torch.cuda.current_stream(device))
    sys.setswitchinterval(SWITCH)
    try:
        with torch.cuda.stream(stream):
            yield
    finally:
        sys.setswitchinterval(interval)
    torch.cuda.current_stream(device).wait_stream(stream)


def scalars(model: nn.Module, rates: list[float], step: int) -> dict[str, Tensor]:
    """Return scalars of a static batch: learning rates and those of :meth:`Extractor.schedule`."""
    values = {
        name: torch.tensor(value, dtype=torch.float32)
        for name, value in model.schedule(step).items()
    }
    return {RATES: torch.from_numpy(np.array(rates, dtype=np.float32)), **values}
