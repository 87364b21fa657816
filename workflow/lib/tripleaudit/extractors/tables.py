"""A table of all pairs of tokens: its loss, and what it says.

``z_ij = V x_ij + c`` with ``x_ij = f(left_i, right_j)``: the classes of every pair (i, j) in every column (relation).
Behind :class:`Table` stand two ways of computing the same numbers: :mod:`tripleaudit.extractors.pairs` on a CPU,
sentence by sentence, and :mod:`tripleaudit.extractors.padded` on a GPU, whole batches in static shapes.
"""

import numpy as np
import torch
from torch import Tensor

from tripleaudit.extractors import padded, pairs
from tripleaudit.extractors.batches import Shape
from tripleaudit.extractors.formulation import Chunks, on_device
from tripleaudit.extractors.pairs import Cells, Features, PairTable


class Table:
    """The table of a batch.

    Args:
        left, right: [B, L, D], what each token brings to a pair.
        weight: [C, G, D] for C classes, of which 0 is none, and G columns.
        bias: [C, G].
        features: maps [..., D] and [..., D], which broadcast, to the features [..., D] of pairs.
        mask: [B, L], 1 for the tokens that take part, one run in each sentence.
        chunks: how many columns are scored at once.
        upper: only pairs with i <= j.
    """

    def __init__(
        self,
        left: Tensor,
        right: Tensor,
        weight: Tensor,
        bias: Tensor,
        features: Features,
        mask: Tensor,
        chunks: Chunks | None = None,
        *,
        upper: bool = False,
    ):
        self._parts = PairTable(left, right, weight, bias, features)
        self._device = on_device(left)
        if self._device:
            self._walk = padded.Pairs(mask.bool(), chunks, upper=upper)
        else:
            self._walk = pairs.plan(pairs.spans_of(mask), chunks, upper=upper)

    @property
    def pairs(self) -> Tensor | int:
        """Number of pairs, at least 1."""
        return self._walk.pairs

    def loss(self, cells: Tensor, scale: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Sum of cross-entropies over all pairs and all columns; class 0 for all but the gold cells.

        Args:
            cells: [n, 6], what :func:`gold_cells` gives.
            scale: [G] factors of the columns' losses; 1 if None.

        Returns:
            the scaled sum (scalar), and the unscaled sum of each column [G], detached.
        """
        if self._device:
            return padded.cell_loss(self._parts, self._walk, cells, scale)
        cells = cells[cells[:, 4] > 0]  # without what a batch of static shape is padded with
        return pairs.cell_loss(self._parts, self._walk, Cells(*cells[:, :5].unbind(1)), scale)

    def cells(self) -> Cells:
        """Cells whose best class is not 0; at most ``pairs.MOST_CELLS`` (the most certain) a sentence."""
        return (padded if self._device else pairs).find_cells(self._parts, self._walk)


def gold_cells(cells: Cells, shape: Shape, columns: int, *, upper: bool = False) -> Tensor:
    """Write down the gold cells of a training batch, in the data loader.

    Args:
        cells: positive cells in writing order; the last written class of a cell holds.
        shape: of the batch.
        columns: G.
        upper: as in :class:`Table`.

    Returns:
        [n, 6] int64: sentence, row, column of the pair, column of the table, class, number of the pair in the batch.
        Rows of zeros, which are no gold cells, may follow.
    """
    cells = cells.resolved(shape.length, columns)
    numbers = padded.numbers(cells, shape.length, upper=upper)
    rows = torch.stack([cells.sentence, cells.row, cells.column, cells.relation, cells.classes, numbers], dim=1)
    return shape.padded(np.asarray(rows))
