"""A long short-term memory over gates whose input part is known, for several directions at once, for CPUs.

PyTorch's own LSTM reads its inputs through one matrix. Where most of that product is the same in many calls, it is
cheaper to compute it once and to run only the recurrence here. The backward pass is written out: its weight gradient is
one matrix product instead of one for each position.
"""

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def two_way(gates: Tensor, weight: Tensor) -> Tensor:
    """Run the recurrence of LSTMs side by side.

    Args:
        gates: [W, K, B, 4 D]: input part and biases of the gates (input, forget, candidate, output) of K LSTMs; the
            caller reverses what a backward direction reads.
        weight: [K, 4 D, D], recurrent weights.

    Returns:
        hidden states [W, K, B, D].
    """
    return _Recurrence.apply(gates, weight)


class _Recurrence(torch.autograd.Function):
    @staticmethod
    def forward(ctx, gates: Tensor, weight: Tensor) -> Tensor:
        size = weight.shape[-1]
        active = gates.clone(memory_format=torch.contiguous_format)
        hidden = gates.new_empty((*gates.shape[:-1], size))
        cells = torch.empty_like(hidden)
        transposed = weight.mT
        for place in range(len(gates)):
            now = active[place]
            if place:
                now.baddbmm_(hidden[place - 1], transposed)
            now[..., : 2 * size].sigmoid_()
            now[..., 2 * size : 3 * size].tanh_()
            now[..., 3 * size :].sigmoid_()
            enter, keep, candidate, leave = now.split(size, dim=-1)
            cell = torch.mul(enter, candidate, out=cells[place])
            if place:
                cell.addcmul_(keep, cells[place - 1])
            torch.mul(cell.tanh(), leave, out=hidden[place])
        ctx.save_for_backward(active, cells, hidden, weight)
        return hidden

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, Tensor]:
        active, cells, hidden, weight = ctx.saved_tensors
        enter, keep, candidate, leave = active.chunk(4, dim=-1)
        shown = cells.tanh()
        before = torch.cat([torch.zeros_like(cells[:1]), cells[:-1]])
        # derivatives of the cell by the first three gates, of the state by the last gate and by the cell
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
        for place in reversed(range(len(gradient))):
            state = gradient[place] + from_state
            cell = from_cell.addcmul(state, by_cell[place])
            torch.mul(cell.unsqueeze(-2), by_gate[place], out=parts[place, ..., :3, :])
            torch.mul(state, by_leave[place], out=parts[place, ..., 3, :])
            from_cell = cell * keep[place]
            from_state = torch.bmm(result[place], weight)
        later = result[1:].transpose(0, 1).flatten(1, 2)  # [K, (W - 1) B, 4 D]
        earlier = hidden[:-1].transpose(0, 1).flatten(1, 2)
        return result, torch.bmm(later.mT, earlier)
