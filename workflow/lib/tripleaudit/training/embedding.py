"""Rows of an encoder's embedding table that a training can reach, trained alone.

Adam without weight decay never moves a row that never had a gradient: both its moments are 0, and
so is the step. On a CPU it passes over all rows all the same, though a corpus has a small part of a
vocabulary. The other rows are left out of gradient, moments and step here; every weight is what it
is without.
"""

import contextlib
import logging
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tripleaudit.extractors.base import Extractor
from tripleaudit.extractors.formulation import on_device
from tripleaudit.training.data import TrainingSentences
from tripleaudit.training.settings import LoopSettings

logger = logging.getLogger(__name__)


class EmbeddingRows(nn.Module):
    """Replaces an embedding table until :meth:`release`, by the rows of ``ids`` [n].

    Attributes:
        table: the whole table; its rows at hand are as they were when it last stood in the encoder.
        ids: of the rows at hand, rising, so that sums over rows are made in the table's order;
            saved with them.
        weight: [rows, H].
    """

    ids: Tensor

    def __init__(self, encoder: nn.Module, ids: Tensor):
        super().__init__()
        self._outside = (
            encoder,
            encoder.get_input_embeddings(),
        )  # in a tuple, no parts of this module
        self.weight = nn.Parameter(torch.empty(0))
        self.register_buffer("ids", None)
        self._take(ids)
        encoder.set_input_embeddings(self)

    @property
    def table(self) -> nn.Embedding:
        """See the class."""
        return self._outside[1]

    def forward(self, ids: Tensor) -> Tensor:
        """Look up tokens [B, L].

        Raises:
            IndexError: the row of one is not at hand.
        """
        try:
            return F.embedding(self.positions[ids], self.weight, self.padding)
        except IndexError as error:
            raise IndexError(
                "the encoder was given a token that no training sentence has; expected its extractor's "
                "`extra_token_ids` to name what it reads besides the text"
            ) from error

    @torch.no_grad()
    def admit(self, ids: Tensor, optimizer: torch.optim.Optimizer) -> None:
        """Have the rows of these tokens at hand, too, in the optimiser as well."""
        if not bool((self.positions[ids] < 0).any()):
            return
        self.table.weight[self.ids] = self.weight
        before, shape, gradient, self.weight.grad = (
            self.ids,
            self.weight.shape,
            self.weight.grad,
            None,
        )
        self._take(torch.cat([before, ids.flatten()]))

        def wider(rows: Tensor) -> Tensor:
            return torch.zeros_like(self.weight).index_copy_(0, self.positions[before], rows)

        if gradient is not None:
            self.weight.grad = wider(gradient)
        state = optimizer.state.get(self.weight, {})
        state.update({name: wider(value) for name, value in state.items() if value.shape == shape})

    @contextlib.contextmanager
    def whole(self) -> Iterator[None]:
        """Let the whole table stand in the encoder inside."""
        self.release()
        yield
        self._outside[0].set_input_embeddings(self)

    @torch.no_grad()
    def release(self) -> None:
        """Write the rows back, and let the whole table stand in the encoder."""
        self.table.weight[self.ids] = self.weight
        self._outside[0].set_input_embeddings(self.table)

    def _take(self, ids: Tensor) -> None:
        padding = self.table.padding_idx
        self.ids = (ids if padding is None else torch.cat([ids, torch.tensor([padding])])).unique()
        self.positions = torch.full((len(self.table.weight),), -1)
        self.positions[self.ids] = torch.arange(len(self.ids))
        self.padding = None if padding is None else int(self.positions[padding])
        self.weight.data = self.table.weight.detach()[self.ids]

    def _load_from_state_dict(
        self, state_dict: Mapping[str, Tensor], prefix: str, *rest: Any
    ) -> None:
        self._take(state_dict[f"{prefix}ids"])  # of a checkpoint, which may have more
        super()._load_from_state_dict(state_dict, prefix, *rest)


def whole(rows: EmbeddingRows | None) -> AbstractContextManager[None]:
    """See :meth:`EmbeddingRows.whole`; None is a training of the whole table."""
    return contextlib.nullcontext() if rows is None else rows.whole()


def embedding_rows(
    model: Extractor, dataset: TrainingSentences, settings: LoopSettings
) -> EmbeddingRows | None:
    """Remove unreachable embedding rows from a training.

    Returns None if the whole table is trained, and logs why.
    """
    if reason := _against(model, settings):
        logger.info("the whole embedding table is trained: %s", reason)
        return None
    ids = [torch.from_numpy(example.alignment.input_ids) for example in dataset.examples]
    if dataset.noise is not None:
        ids += [
            torch.from_numpy(each.input_ids) for each in model.aligner.align(dataset.noise.words)
        ]
    rows = EmbeddingRows(model.encoder, torch.cat([*ids, model.extra_token_ids().flatten()]))
    logger.info(
        "%d of %d rows of the embedding table can occur and are trained",
        len(rows.ids),
        len(rows.positions),
    )
    return rows


def _against(model: Extractor, settings: LoopSettings) -> str:
    table = model.encoder.get_input_embeddings()
    if on_device(model.device):
        return "the formulation is that for GPUs"
    if settings.weight_decay:
        return "weight decay moves rows without a gradient"
    if type(table) is not nn.Embedding:
        return f"{type(table).__name__} is more than a table"
    if sum(each is table.weight for _, each in model.named_parameters(remove_duplicate=False)) > 1:
        return "another layer shares its weights"
    return ""
