"""PFN's partition filter over the tokens of a sentence (Yan et al. 2021, equations 2 to 8).

The backward pass is written out: what a position needs of the positions after it is a few
operators, and the weights' gradients are one product for all positions. On a CPU (40 tokens, 8
sentences, width 300) the filter then takes 122 ms forward and backward, and the shortest loop in
plain PyTorch 196 ms; on a GPU it launches 20 kernels for each position, and the loop 35.
"""

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tripleaudit.extractors.losses import raise_precision


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
