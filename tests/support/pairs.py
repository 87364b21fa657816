"""What tests of the table-filling extractors share: perfect cells, and dense tables."""

import dataclasses

import torch

from tripleaudit.extractors.tables import Cells


def perfect(cells: Cells, length: int, columns: int) -> Cells:
    """What a perfect model marks: of several classes written to one cell the last, each with
    probability 1.
    """
    kept = cells.resolved(length, columns)
    return dataclasses.replace(kept, scores=torch.ones(len(kept)))


def dense_classes(cells: Cells, batch: int, length: int, columns: int) -> torch.Tensor:
    """Labels [B, L, L, columns] that real code never builds, written one cell after the other."""
    labels = torch.zeros(batch, length, length, columns, dtype=torch.long)
    for s, i, j, column, class_ in zip(
        cells.sentence, cells.row, cells.column, cells.relation, cells.classes, strict=True
    ):
        labels[s, i, j, column] = class_
    return labels


def listed(cells: Cells) -> list[tuple[int, int, int, int]]:
    """(column of the table, row, column of the pair, class) of every cell, in order."""
    columns = cells.relation, cells.row, cells.column, cells.classes
    return list(map(tuple, torch.stack(columns, dim=1).tolist()))
