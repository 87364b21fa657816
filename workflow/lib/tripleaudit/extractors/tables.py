"""A table of all pairs of tokens: its loss, and what it says.

``z_ij = V x_ij + c`` with ``x_ij = f(left_i, right_j)``: the classes of every pair (i, j) in every column (relation).
Behind :class:`Table` stand two ways of computing the same numbers: :mod:`tripleaudit.extractors.pairs` on a CPU,
sentence by sentence, and :mod:`tripleaudit.extractors.padded` on a GPU, whole batches in static shapes.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tripleaudit.extractors import padded, pairs
from tripleaudit.extractors.batches import Shape
from tripleaudit.extractors.formulation import on_device
from tripleaudit.extractors.pairs import Cells


@dataclass(frozen=True, eq=False)
class Table:
    """The table of a batch.

    Attributes:
        left, right: [B, L, D], what each token brings to a pair.
        weight: [C, G, D] for C classes, of which 0 is none, and G columns.
        bias: [C, G].
        features: maps [..., D] and [..., D], which broadcast, to the features [..., D] of pairs.
        mask: [B, L], 1 for the tokens that take part, one run in each sentence.
        upper: only pairs with i <= j.
    """

    left: Tensor
    right: Tensor
    weight: Tensor
    bias: Tensor
    features: Callable[[Tensor, Tensor], Tensor]
    mask: Tensor
    upper: bool = False

    @functools.cached_property
    def walk(self) -> Any:
        """How the pairs are gone through: :class:`padded.Pairs`, or a list of :class:`pairs.Block`."""
        if on_device(self.left):
            return padded.Pairs(self.mask.bool(), upper=self.upper)
        return pairs.plan(pairs.spans_of(self.mask), upper=self.upper)

    @property
    def learns(self) -> bool:
        """Whether gradients are wanted."""
        parts = self.left, self.right, self.weight, self.bias
        return torch.is_grad_enabled() and any(each.requires_grad for each in parts)

    @property
    def pairs(self) -> Tensor | int:
        """Number of pairs, at least 1."""
        return self.walk.pairs if on_device(self.left) else max(1, sum(block.pairs for block in self.walk))

    def loss(self, cells: Tensor, scale: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Sum of cross-entropies over all pairs and all columns; class 0 for all but the gold cells.

        Args:
            cells: [n, 6], what :func:`gold_cells` gives.
            scale: [G] factors of the columns' losses; 1 if None.

        Returns:
            the scaled sum (scalar), and the unscaled sum of each column [G], detached.
        """
        with torch.autocast(self.left.device.type, enabled=False):
            return (padded if on_device(self.left) else pairs).cell_loss(self, cells, scale)

    @torch.no_grad()
    def cells(self) -> Cells:
        """Cells whose best class is not 0, in no particular order; of each sentence at most ``pairs.MOST_CELLS``, the
        most certain."""
        with torch.autocast(self.left.device.type, enabled=False):
            return (padded if on_device(self.left) else pairs).find_cells(self)


def gold_cells(cells: Cells, shape: Shape, columns: int, *, upper: bool = False) -> Tensor:
    """Write down the gold cells of a training batch, in the data loader; the last written class of a cell holds.

    Returns:
        [n, 6] int64: sentence, row, column of the pair, column of the table, class, number of the pair in the batch.
        Rows of zeros, which are no gold cells, may follow.
    """
    cells = cells.resolved(shape.length, columns)
    numbers = padded.numbers(cells, shape.length, upper=upper)
    rows = torch.stack([cells.sentence, cells.row, cells.column, cells.relation, cells.classes, numbers], dim=1)
    return shape.padded(np.asarray(rows))
