"""Shared decoding steps on whole tensors, on any device."""

import torch
import torch.nn.functional as F
from torch import Tensor

# of a sentence, the first ones, far beyond what a trained model finds: what keeps decoding an
# untrained one small
ROWS_PER_SENTENCE = 1000
CANDIDATES = 100  # that are followed up


class Found:
    """The triples that a decoder finds on a device, one part after the other."""

    def __init__(self, device: torch.device):
        self.rows = [torch.zeros(0, 6, dtype=torch.long, device=device)]
        self.scores = [torch.zeros(0, device=device)]

    def add(
        self,
        sentence: Tensor,
        start: Tensor,
        end: Tensor,
        relation: Tensor,
        head: Tensor,
        tail: Tensor,
        score: Tensor,
    ) -> None:
        """Take [n] each: sentence, subject, relation, object (first and last token) and score."""
        self.rows.append(torch.stack([sentence, start, end, relation, head, tail], dim=1))
        self.scores.append(score.float())

    def all(self) -> tuple[Tensor, Tensor]:
        """Rows [n, 6] and scores [n]."""
        return torch.cat(self.rows), torch.cat(self.scores)

    def first(self) -> tuple[Tensor, Tensor]:
        """The first ``ROWS_PER_SENTENCE`` of each sentence, where sentences rise."""
        rows, scores = self.all()
        kept = torch.nonzero(first_rows(rows[:, 0], ROWS_PER_SENTENCE))[:, 0]
        return rows[kept], scores[kept]


def nearest_tail(tails: Tensor, dim: int = -1, distance: int = 0) -> Tensor:
    """Return the first tail at least ``distance`` tokens after each position along ``dim``.

    int64; L if there is none.
    """
    length = tails.shape[dim]
    shape = [1] * tails.dim()
    shape[dim] = length
    positions = torch.arange(length, device=tails.device).view(shape)
    marked = torch.where(tails, positions, length)
    nearest = marked.flip(dim).cummin(dim).values.flip(dim)
    if distance == 0:
        return nearest
    missing = torch.full_like(nearest.narrow(dim, 0, distance), length)
    return torch.cat([nearest.narrow(dim, distance, length - distance), missing], dim)


def spans_from_tags(
    heads: Tensor, tails: Tensor, most: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Pair every head with the nearest tail at or after it.

    Tails may be reused; heads without a tail are dropped.

    Args:
        heads, tails: [N, L] bool.
        most: spans of a row, the first ones; None for all.

    Returns:
        row, start, end: three [n] int64 tensors in row-major order of the heads.
    """
    ends = nearest_tail(tails)
    heads = heads & (ends < tails.shape[-1])
    if most is not None:
        heads &= heads.cumsum(dim=1) <= most
    row, start = torch.nonzero(heads, as_tuple=True)
    return row, start, ends[row, start]


def pairs_within(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Return indices of all pairs of ``left`` [n] and ``right`` [m] rows of the same sentence."""
    return torch.nonzero(left[:, None] == right[None, :], as_tuple=True)


def next_of(numbers: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Return for each wanted number [n] the smallest of ``numbers`` [m] not below, and its index.

    -1 if there is none.
    """
    rising, positions = numbers.sort()
    at = torch.searchsorted(rising, wanted)
    return F.pad(rising, (0, 1), value=-1)[at], F.pad(positions, (0, 1))[at]


def first_rows(groups: Tensor, limit: int) -> Tensor:
    """Mark [n] the first ``limit`` rows of each group (sentence); ``groups`` [n] rises."""
    return ranks(groups) < limit


def ranks(groups: Tensor) -> Tensor:
    """Return [n] int64, the position of each row in its group (0, 1, …); ``groups`` [n] rises."""
    groups = groups.contiguous()
    return torch.arange(len(groups), device=groups.device) - torch.searchsorted(groups, groups)


def surest(sentence: Tensor, score: Tensor, most: int) -> Tensor:
    """Numbers of the rows [n] with the best scores of each sentence, at most so many."""
    order = torch.argsort(score, descending=True, stable=True)
    order = order[torch.argsort(sentence[order], stable=True)]
    return order[first_rows(sentence[order], most)]
