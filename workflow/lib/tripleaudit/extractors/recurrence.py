"""Recurrences: PtrNet's two-way LSTMs over the words of a sentence, and PFN's partition filter.

Every step of PtrNet's decoder runs its LSTMs again, and what they read from the words is the same
in all steps. On a CPU it is one matrix product for all of them, and the two directions run side by
side, the second over each sentence reversed, so that padding always comes last. On a GPU they are
PyTorch's own (cuDNN's) over the padded batch, where padding cannot enter a cell.

Where the backward pass is written out, what a position needs of the positions before it is a few
operators; all else, the weights' gradients above all, is done for all positions at once.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from tripleaudit.extractors.losses import raise_precision

TILE = 8
SHUT = -1e4  # to an input gate: nothing enters the cell


class SplitLSTM(NamedTuple):
    """Weights of a two-way LSTM by input, directions first, and the words' part of the gates.

    Attributes:
        gates: [W, 2, B, 4 D] with all biases, for the second direction with every sentence
            reversed.
        hidden: [2, D, 4 D], from the decoder's state.
        before: [2, 2 D, 4 D], from the features of the LSTM before it; None for the first.
        recurrent: [2, 4 D, D].
    """

    gates: Tensor
    hidden: Tensor
    before: Tensor | None
    recurrent: Tensor

    @classmethod
    def of(cls, lstm: nn.LSTM, vectors: Tensor, mirrored: Tensor) -> "SplitLSTM":
        """Split an LSTM over ``[words; hidden(; before)]``; vectors are [W, B, D]."""
        width = vectors.shape[-1]
        inputs = torch.stack([lstm.weight_ih_l0, lstm.weight_ih_l0_reverse]).mT
        bias = torch.stack(
            [lstm.bias_ih_l0 + lstm.bias_hh_l0, lstm.bias_ih_l0_reverse + lstm.bias_hh_l0_reverse]
        )
        own, hidden, before = inputs.split([width, width, inputs.shape[1] - 2 * width], dim=1)
        return cls(
            by_direction(vectors, mirrored, own) + bias[:, None],
            hidden,
            before if before.shape[1] else None,
            torch.stack([lstm.weight_hh_l0, lstm.weight_hh_l0_reverse]),
        )

    def run(
        self, vectors: Tensor, mirrored: Tensor, hidden: Tensor, before: Tensor | None
    ) -> Tensor:
        """Run one step with state [B, D] and previous features [W, B, 2 D]; returns [W, B, 2 D]."""
        gates = self.gates + torch.matmul(hidden, self.hidden)
        if before is not None:
            gates = gates + by_direction(before, mirrored, self.before)
        ahead, behind = _Recurrence.apply(gates, self.recurrent).unbind(1)
        return torch.cat([ahead, reverse(behind, mirrored)], dim=-1)


class WholeLSTM(NamedTuple):
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
    def of(cls, lstm: nn.LSTM, mask: Tensor, dtype: torch.dtype) -> "WholeLSTM":
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

    def run(
        self, vectors: Tensor, mirrored: Tensor, hidden: Tensor, before: Tensor | None
    ) -> Tensor:
        """As :meth:`SplitLSTM.run`, over ``[words; hidden; before]`` of a padded batch."""
        parts = [
            vectors,
            hidden.expand(len(vectors), -1, -1),
            *([] if before is None else [before]),
            self.padding,
        ]
        with torch.autocast(vectors.device.type, enabled=False):
            inputs = torch.cat([part.to(self.zero.dtype) for part in parts], dim=-1)
            keep = torch.is_grad_enabled()  # what the backward pass needs
            states = torch.lstm(
                inputs, (self.zero, self.zero), self.weights, True, 1, 0.0, keep, True, False
            )[0]
            return states.unflatten(-1, (2, -1))[..., : hidden.shape[-1]].flatten(-2)


def reverse(values: Tensor, mirrored: Tensor) -> Tensor:
    """Reverse [W, B, …] along the words of each sentence; padding stays where it is."""
    return values[mirrored, torch.arange(mirrored.shape[1], device=mirrored.device)]


def by_direction(values: Tensor, mirrored: Tensor, weight: Tensor) -> Tensor:
    """Multiply [W, B, I], forward and reversed, by weights [2, I, O]; returns [W, 2, B, O]."""
    both = torch.stack([values, reverse(values, mirrored)])
    product = torch.bmm(both.flatten(1, 2), weight)
    return product.unflatten(1, values.shape[:2]).transpose(0, 1)


class _Recurrence(torch.autograd.Function):
    """LSTMs side by side, for CPUs: cheaper than PyTorch's where many calls share their inputs.

    Takes gates [W, K, B, 4 D], the input part and biases (input, forget, candidate, output) of K
    LSTMs, of which the caller reverses what a backward direction reads, and recurrent weights [K, 4
    D, D]; gives states [W, K, B, D].
    """

    @staticmethod
    def forward(ctx, gates: Tensor, weight: Tensor) -> Tensor:
        size = weight.shape[-1]
        active = gates.clone(memory_format=torch.contiguous_format)
        hidden = gates.new_empty((*gates.shape[:-1], size))
        cells = torch.empty_like(hidden)
        transposed = weight.mT
        for position in range(len(gates)):
            now = active[position]
            if position:
                now.baddbmm_(hidden[position - 1], transposed)
            now[..., : 2 * size].sigmoid_()
            now[..., 2 * size : 3 * size].tanh_()
            now[..., 3 * size :].sigmoid_()
            enter, keep, candidate, leave = now.split(size, dim=-1)
            cell = torch.mul(enter, candidate, out=cells[position])
            if position:
                cell.addcmul_(keep, cells[position - 1])
            torch.mul(cell.tanh(), leave, out=hidden[position])
        ctx.save_for_backward(active, cells, hidden, weight)
        return hidden

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, Tensor]:
        active, cells, hidden, weight = ctx.saved_tensors
        enter, keep, candidate, leave = active.chunk(4, dim=-1)
        shown = cells.tanh()
        before = torch.cat([torch.zeros_like(cells[:1]), cells[:-1]])
        # derivatives of the cell by the first three gates, of the state by the last gate and by the
        # cell
        by_gate = torch.stack(
            [
                candidate * enter * (1 - enter),
                before * keep * (1 - keep),
                enter * (1 - candidate**2),
            ],
            dim=-2,
        )
        by_leave, by_cell = shown * leave * (1 - leave), leave * (1 - shown**2)
        result = torch.empty_like(active)
        parts = result.unflatten(-1, (4, -1))
        from_state = torch.zeros_like(gradient[0])
        from_cell = torch.zeros_like(gradient[0])
        for position in reversed(range(len(gradient))):
            state = gradient[position] + from_state
            cell = from_cell.addcmul(state, by_cell[position])
            torch.mul(cell.unsqueeze(-2), by_gate[position], out=parts[position, ..., :3, :])
            torch.mul(state, by_leave[position], out=parts[position, ..., 3, :])
            from_cell = cell * keep[position]
            from_state = torch.bmm(result[position], weight)
        later = result[1:].transpose(0, 1).flatten(1, 2)  # [K, (W - 1) B, 4 D]
        earlier = hidden[:-1].transpose(0, 1).flatten(1, 2)
        return result, torch.bmm(later.mT, earlier)


def partition_filter(
    gates: Tensor, weight: Tensor, cell_weight: Tensor, cell_bias: Tensor
) -> Tensor:
    """Run PFN's partition filter (Yan et al. 2021, equations 2 to 8), in float32 under autocast.

    Args:
        gates: [T, B, 5 d]: input part and biases of the candidate, the entity and relation gate of
            the previous cell, and the entity and relation gate of the candidate.
        weight: [5 d, d], recurrent weights.
        cell_weight: [d, 3 d], of the layer from relation, entity and shared partition to the cell.
        cell_bias: [d].

    Returns:
        entity, relation and shared partitions [T, B, 3, d]; the shared one is part of the others.
    """
    with torch.autocast(gates.device.type, enabled=False):
        relation, entity, share = cell_weight.chunk(3, dim=1)
        return _Partition.apply(
            raise_precision(gates), weight, torch.cat([entity, relation, share], dim=1), cell_bias
        )


class _Partition(torch.autograd.Function):
    """Buffers hold all positions; ``unbind`` gives their views by position, in one operator."""

    @staticmethod
    def forward(
        ctx, gates: Tensor, weight: Tensor, cell_weight: Tensor, cell_bias: Tensor
    ) -> Tensor:
        length, batch, width = gates.shape[0], gates.shape[1], weight.shape[1]
        gates = gates.clone(memory_format=torch.contiguous_format)
        parts = gates.view(length, batch, 5, width)
        shares = gates.new_empty(
            length, batch, 2, 2, width
        )  # [of cell or candidate, entity or relation]: softmax
        portions = gates.new_empty(
            length, batch, 2, 3, width
        )  # [of cell or candidate, entity, relation or both]
        memory = gates.new_zeros(length + 1, batch, 2, width)  # cell, candidate
        states = gates.new_empty(length, batch, width)
        filtered = gates.new_empty(length, batch, 3, width)
        one, recurrent, mix = gates.new_ones(()), weight.T, cell_weight.T
        rows = zip(
            gates.unbind(),
            parts[:, :, 0].unbind(),
            parts[:, :, 1:].unflatten(2, (2, 2)).unbind(),
            shares.unbind(),
            portions.unbind(),
            *(portions[:, :, :, kinds].unbind() for kinds in (slice(2), 0, 1, 2)),
            memory.unsqueeze(3).unbind(),
            memory[:-1, :, 1].unbind(),
            memory[1:, :, 0].unbind(),
            filtered.unbind(),
            filtered.flatten(2).unbind(),
            states.unbind(),
            strict=False,
        )
        state = None
        for (
            gate, candidate, others, share, portion, both, entity, relation, overlap, known, fresh, cell, result, flat,
            now,
        ) in rows:  # fmt: skip
            if state is not None:
                gate.addmm_(state, recurrent)
            torch.softmax(others, -1, out=share)
            torch.cumsum(share, -1, out=both)
            torch.sub(one, entity, out=entity)
            torch.mul(entity, relation, out=overlap)
            torch.tanh(candidate, out=fresh)
            torch.sum(portion * known, 1, out=result)
            torch.addmm(cell_bias, flat, mix, out=cell)
            state = torch.tanh(cell, out=now)
        ctx.save_for_backward(shares, portions, memory, states, filtered, weight, cell_weight)
        return filtered

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, ...]:
        shares, portions, memory, states, filtered, weight, cell_weight = ctx.saved_tensors
        length, batch, width = states.shape
        memory = memory[:-1]
        result = gradient.new_empty(length, batch, 5, width)
        cells, mixed = torch.empty_like(states), torch.empty_like(filtered)
        memories = torch.empty_like(memory)
        by_state, by_candidate = 1 - states**2, 1 - memory[:, :, 1] ** 2
        other = portions[:, :, :, :2].flip(
            3
        )  # what the shared partition multiplies each portion by
        signed = torch.stack(
            [-memory, memory], dim=3
        )  # entity portions are 1 minus a cumulative sum
        # sums from each position to the last one, as a product
        later = gradient.new_ones(width, width).tril()
        from_state, from_cell = gradient.new_zeros(batch, width), gradient.new_zeros(batch, width)
        rows = zip(
            *(
                reversed(each.unbind())
                for each in (
                    gradient.flatten(2), by_state, cells, mixed.flatten(2), mixed.unsqueeze(2), mixed[:, :, None, :2],
                    mixed[:, :, None, 2:], portions, memories, memories[:, :, 0], memories[:, :, 1], other, signed,
                    shares, by_candidate, result[:, :, 0], result[:, :, 1:].unflatten(2, (2, 2)), result.flatten(2),
                )
            ),
            strict=True,
        )  # fmt: skip
        for (
            given, slope, cell, flat, mix, own, share, portion, held, held_cell, held_candidate, factor, sign,
            soft, bend, candidate, gates, whole,
        ) in rows:  # fmt: skip
            torch.addcmul(from_cell, from_state, slope, out=cell)
            torch.addmm(given, cell, cell_weight, out=flat)
            torch.sum(mix * portion, 2, out=held)
            steps = torch.matmul(torch.addcmul(own, share, factor).mul_(sign), later)
            gates.copy_(
                torch._softmax_backward_data(steps, soft, -1, soft.dtype)
            )  # its out= must be contiguous
            torch.mul(held_candidate, bend, out=candidate)
            from_cell, from_state = held_cell, torch.mm(whole, weight)
        gates = result.flatten(2)
        d_weight = gates[1:].flatten(0, 1).T @ states[:-1].flatten(0, 1)
        d_cell = cells.flatten(0, 1)
        return gates, d_weight, d_cell.T @ filtered.flatten(2).flatten(0, 1), d_cell.sum(dim=0)
