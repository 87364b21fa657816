"""Two-way LSTMs over padded batches of words, for PtrNet."""

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

TILE = 8
SHUT = -1e4  # to an input gate: nothing enters the cell


class PaddedLSTM(NamedTuple):
    """Two-way LSTM over padded batches; an extra input closes the input gates at padding.

    The direction that begins in the padding arrives at the last word with empty cell and state, as
    if it began there.

    Attributes:
        weights: of both directions, as PyTorch's LSTM wants them.
        padding: [W, B, …], 1 at padding and 0 elsewhere in the first column.
        zero: [2, B, at least D], the first state.
    """

    weights: list[Tensor]
    padding: Tensor
    zero: Tensor

    @classmethod
    def of(cls, lstm: nn.LSTM, mask: Tensor, dtype: torch.dtype) -> "PaddedLSTM":
        """Prepare the same LSTM in a precision; mask [W, B] of the words.

        Inputs and states are padded to whole tiles of matrix units; a unit whose weights are 0
        stays 0.
        """
        width = lstm.hidden_size
        columns, units = TILE - lstm.input_size % TILE, -width % TILE  # at least one column
        shut = F.pad(
            lstm.weight_ih_l0.new_full((width, 1), SHUT), (0, columns - 1, 0, 3 * width)
        )  # of the input gate
        weights = []
        for way in ("", "_reverse"):
            inputs, states, *biases = (
                getattr(lstm, f"{name}_l0{way}")
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            )
            inputs = F.pad(
                torch.cat([inputs, shut], dim=1).unflatten(0, (4, width)), (0, 0, 0, units)
            )
            states = F.pad(states.unflatten(0, (4, width)), (0, units, 0, units))
            biases = [F.pad(bias.unflatten(0, (4, width)), (0, units)) for bias in biases]
            weights += [each.flatten(0, 1).to(dtype) for each in (inputs, states, *biases)]
        padding = F.pad((~mask)[..., None].to(dtype), (0, columns - 1))
        return cls(weights, padding, padding.new_zeros(2, mask.shape[1], width + units))

    def take(self, rows: Tensor | slice) -> "PaddedLSTM":
        """Select sentences of the batch."""
        return self._replace(padding=self.padding[:, rows], zero=self.zero[:, rows])

    def run(self, vectors: Tensor, hidden: Tensor, before: Tensor | None) -> Tensor:
        """Run both directions over ``[words; hidden; before]`` of every position.

        Args:
            vectors: [W, B, D], the words.
            hidden: [B, D], the decoder's state.
            before: [W, B, 2 D], the features of the LSTM before it, or None for the first.

        Returns:
            features [W, B, 2 D].
        """
        parts = [vectors, hidden.expand(len(vectors), -1, -1), self.padding]
        if before is not None:
            parts.insert(2, before)
        state = self.zero, self.zero
        training = torch.is_grad_enabled()
        with torch.autocast(vectors.device.type, enabled=False), onednn(training):
            inputs = torch.cat([part.to(self.zero.dtype) for part in parts], dim=-1)
            states = torch.lstm(inputs, state, self.weights, True, 1, 0.0, training, True, False)[0]
            return states.unflatten(-1, (2, -1))[..., : hidden.shape[-1]].flatten(-2)


@contextlib.contextmanager
def onednn(enabled: bool) -> Iterator[None]:
    """Switch oneDNN on or off, which computes LSTMs on a CPU.

    It reorders all weights at every call, which a prediction makes once a step: without it, a
    batch of eight sentences took about two thirds of the time; one sentence gained almost nothing.
    """
    before = torch.backends.mkldnn.enabled
    torch.backends.mkldnn.enabled = enabled and before
    try:
        yield
    finally:
        torch.backends.mkldnn.enabled = before
