"""The rows of an encoder's embedding table that a training can reach, trained in the place of the whole table.

Adam without weight decay never moves a row that never had a gradient: both its moments are 0, and so is the step. On a
CPU it passes over all rows all the same, though a corpus has a small part of a vocabulary. The other rows are left out
of gradient, moments and step here; every weight is what it is without.
"""

import contextlib
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tripleaudit.extractors.base import Extractor
from tripleaudit.extractors.formulation import on_device
from tripleaudit.training.data import TrainingSentences
from tripleaudit.training.settings import TrainingSettings

logger = logging.getLogger(__name__)


class EmbeddingRows(nn.Module):
    """Stands in an encoder for its embedding table until :meth:`release`, with the rows of ``ids`` [n] to begin with.

    Attributes:
        table: the whole table; its rows at hand are as they were when it last stood in the encoder.
        ids: of the rows at hand, rising, so that sums over rows are made in the table's order.
        weight: [rows, H].
    """

    def __init__(self, encoder: nn.Module, ids: Tensor):
        super().__init__()
        self._outside = encoder, encoder.get_input_embeddings()  # in a tuple, no parts of this module
        self.weight = nn.Parameter(torch.empty(0))
        self._take(ids)

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

    def admit(self, ids: Tensor, optimizer: torch.optim.Optimizer) -> None:
        """Have the rows of these tokens at hand, too."""
        if bool((self.positions[ids] < 0).any()):
            with self.whole(optimizer):
                self.ids = torch.cat([self.ids, ids.flatten()])

    @contextlib.contextmanager
    def whole(self, optimizer: torch.optim.Optimizer | None = None) -> Iterator[None]:
        """Let the whole table stand in the encoder inside, and in ``optimizer``, where one is given.

        Rows that the optimiser has moments of afterwards, such as those of a checkpoint, are at hand from then on.
        """
        self.release(optimizer)
        yield
        state = {} if optimizer is None else optimizer.state.get(self.table.weight, {})
        moments = [value for value in state.values() if value.shape == self.table.weight.shape]
        self._take(torch.cat([self.ids, *(each.any(dim=1).nonzero().flatten() for each in moments)]), optimizer)

    @torch.no_grad()
    def release(self, optimizer: torch.optim.Optimizer | None = None) -> None:
        """Write the rows back, and let the whole table stand in the encoder, and in ``optimizer``."""
        encoder, table = self._outside
        table.weight[self.ids] = self.weight
        _exchange(optimizer, self.weight, table.weight, self._spread)
        encoder.set_input_embeddings(table)

    @torch.no_grad()
    def _take(self, ids: Tensor, optimizer: torch.optim.Optimizer | None = None) -> None:
        encoder, table = self._outside
        self.padding = table.padding_idx
        if self.padding is not None:
            ids = torch.cat([ids, torch.tensor([self.padding])])
        self.ids = ids.unique()
        self.positions = torch.full((len(table.weight),), -1)
        self.positions[self.ids] = torch.arange(len(self.ids))
        if self.padding is not None:
            self.padding = int(self.positions[self.padding])
        self.weight.data = table.weight[self.ids]
        _exchange(optimizer, table.weight, self.weight, lambda each: each[self.ids])
        encoder.set_input_embeddings(self)

    def _spread(self, rows: Tensor) -> Tensor:
        return torch.zeros_like(self.table.weight).index_copy_(0, self.ids, rows)


def _exchange(
    optimizer: torch.optim.Optimizer | None, old: nn.Parameter, new: nn.Parameter, shaped: Callable[[Tensor], Tensor]
) -> None:
    """Let ``new`` go on in the place of ``old``, with its gradient and its moments in another shape."""
    if old.grad is not None:
        new.grad, old.grad = shaped(old.grad), None
    if optimizer is None:
        return
    for group in optimizer.param_groups:
        group["params"] = [new if each is old else each for each in group["params"]]
    if state := optimizer.state.pop(old, None):
        optimizer.state[new] = {
            name: shaped(value) if value.shape == old.shape else value for name, value in state.items()
        }


def whole(rows: EmbeddingRows | None, optimizer: torch.optim.Optimizer | None = None) -> AbstractContextManager[None]:
    """See :meth:`EmbeddingRows.whole`; None is a training of the whole table."""
    return contextlib.nullcontext() if rows is None else rows.whole(optimizer)


def embedding_rows(model: Extractor, dataset: TrainingSentences, settings: TrainingSettings) -> EmbeddingRows | None:
    """Leave the rows that a training cannot reach out of it; None where the whole table is trained, and log why."""
    if reason := _against(model, dataset, settings):
        logger.info("the whole embedding table is trained: %s", reason)
        return None
    ids = [torch.from_numpy(example.alignment.input_ids) for example in dataset.examples]
    if dataset.noise is not None:
        ids += [torch.from_numpy(each.input_ids) for each in model.aligner.align(dataset.noise.words)]
    rows = EmbeddingRows(model.encoder, torch.cat([*ids, model.extra_token_ids().flatten()]))
    logger.info("%d of %d rows of the embedding table can occur and are trained", len(rows.ids), len(rows.positions))
    return rows


def _against(model: Extractor, dataset: TrainingSentences, settings: TrainingSettings) -> str:
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
