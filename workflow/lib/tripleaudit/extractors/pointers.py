"""PtrNet's two-way LSTMs over the words of a sentence, which every step of the decoder runs again.

What they read from the words is the same in all steps. On a CPU it is one matrix product for all of them, and their two
directions run side by side, the second over each sentence reversed, so that padding always comes last. On a GPU they
are PyTorch's own (cuDNN's) over the padded batch, where padding cannot enter a cell.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tripleaudit.extractors.formulation import on_device
from tripleaudit.extractors.recurrence import two_way

TILE = 8
SHUT = -1e4  # to an input gate: nothing enters the cell


class SplitLSTM(NamedTuple):
    """Weights of a two-way LSTM by what they read, directions first, and the gates' part that the words decide.

    Attributes:
        gates: [W, 2, B, 4 D] with all biases, for the second direction with every sentence reversed.
        hidden: [2, D, 4 D], from the decoder's state.
        before: [2, 2 D, 4 D], from the features of the LSTM before it; None for the first.
        recurrent: [2, 4 D, D].
    """

    gates: Tensor
    hidden: Tensor
    before: Tensor | None
    recurrent: Tensor

    @classmethod
    def of(cls, lstm: nn.LSTM, vectors: Tensor, back: Tensor) -> "SplitLSTM":
        """Split a pointer LSTM; vectors [W, B, D]."""
        width = vectors.shape[-1]
        inputs = torch.stack([lstm.weight_ih_l0, lstm.weight_ih_l0_reverse]).mT
        bias = torch.stack([lstm.bias_ih_l0 + lstm.bias_hh_l0, lstm.bias_ih_l0_reverse + lstm.bias_hh_l0_reverse])
        own, hidden, before = inputs.split([width, width, inputs.shape[1] - 2 * width], dim=1)
        return cls(
            by_direction(vectors, back, own) + bias[:, None],
            hidden,
            before if before.shape[1] else None,
            torch.stack([lstm.weight_hh_l0, lstm.weight_hh_l0_reverse]),
        )

    def run(self, vectors: Tensor, back: Tensor, hidden: Tensor, before: Tensor | None) -> Tensor:
        """One step, with the decoder's state [B, D] and the features [W, B, 2 D] before; returns [W, B, 2 D]."""
        gates = self.gates + torch.matmul(hidden, self.hidden)
        if before is not None:
            gates = gates + by_direction(before, back, self.before)
        ahead, behind = two_way(gates, self.recurrent).unbind(1)
        return torch.cat([ahead, reverse(behind, back)], dim=-1)


class WholeLSTM(NamedTuple):
    """A two-way LSTM over padded batches, with one more input, which is 1 at padding and shuts the input gates.

    The direction that begins in the padding arrives at the last word with empty cell and state, as if it began there.

    Attributes:
        weights: of both directions, as PyTorch's LSTM wants them.
        padding: [W, B, …], 1 at padding and 0 elsewhere in the first column.
        zero: [2, B, at least D], the first state.
    """

    weights: list[Tensor]
    padding: Tensor
    zero: Tensor

    @classmethod
    def of(cls, lstm: nn.LSTM, mask: Tensor, dtype: torch.dtype) -> "WholeLSTM":
        """Prepare a pointer LSTM in a precision; mask [W, B] of the words.

        Inputs and states are padded to whole tiles of matrix units; a unit whose weights are 0 stays 0.
        """
        width = lstm.hidden_size
        columns, units = TILE - lstm.input_size % TILE, -width % TILE  # at least one column
        shut = F.pad(lstm.weight_ih_l0.new_full((width, 1), SHUT), (0, columns - 1, 0, 3 * width))  # of the input gate
        weights = []
        for way in ("", "_reverse"):
            inputs, states, *biases = (
                getattr(lstm, f"{name}_l0{way}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            )
            inputs = F.pad(torch.cat([inputs, shut], dim=1).unflatten(0, (4, width)), (0, 0, 0, units))
            states = F.pad(states.unflatten(0, (4, width)), (0, units, 0, units))
            biases = [F.pad(bias.unflatten(0, (4, width)), (0, units)) for bias in biases]
            weights += [each.flatten(0, 1).to(dtype) for each in (inputs, states, *biases)]
        padding = F.pad((~mask)[..., None].to(dtype), (0, columns - 1))
        return cls(weights, padding, padding.new_zeros(2, mask.shape[1], width + units))

    def run(self, vectors: Tensor, back: Tensor, hidden: Tensor, before: Tensor | None) -> Tensor:
        """As :meth:`SplitLSTM.run`, over ``[words; hidden; before]`` of a padded batch."""
        parts = [vectors, hidden.expand(len(vectors), -1, -1), *([] if before is None else [before]), self.padding]
        with torch.autocast(vectors.device.type, enabled=False):
            inputs = torch.cat([part.to(self.zero.dtype) for part in parts], dim=-1)
            keep = torch.is_grad_enabled()  # what the backward pass needs
            states = torch.lstm(inputs, (self.zero, self.zero), self.weights, True, 1, 0.0, keep, True, False)[0]
            return states.unflatten(-1, (2, -1))[..., : hidden.shape[-1]].flatten(-2)


def prepare(lstm: nn.LSTM, vectors: Tensor, mask: Tensor, back: Tensor) -> SplitLSTM | WholeLSTM:
    """Prepare a pointer LSTM for all steps, over ``[words; hidden]`` or ``[words; hidden; before]``.

    ``vectors`` [W, B, D]; ``mask`` [W, B], where there is a word; ``back`` as in :class:`ptrnet.Words`.
    """
    return WholeLSTM.of(lstm, mask, vectors.dtype) if on_device(vectors) else SplitLSTM.of(lstm, vectors, back)


def reverse(values: Tensor, back: Tensor) -> Tensor:
    """Reverse [W, B, …] along the words of each sentence; padding stays where it is."""
    return values[back, torch.arange(back.shape[1], device=back.device)]


def by_direction(values: Tensor, back: Tensor, weight: Tensor) -> Tensor:
    """Multiply [W, B, I], as it is and reversed, by the weights [2, I, O] of the directions; returns [W, 2, B, O]."""
    both = torch.stack([values, reverse(values, back)])
    product = torch.bmm(both.flatten(1, 2), weight)
    return product.unflatten(1, values.shape[:2]).transpose(0, 1)
