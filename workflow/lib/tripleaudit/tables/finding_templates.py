"""Texts of the headlines on the main contrasts of a study, one template for each contrast."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Template:
    """Headlines of one contrast, of at most eight words each.

    Attributes:
        contrast: name of the contrast in the frame.
        table: table with more about it.
        lower, higher: headlines if F1 of the second side is lower or higher than that of the first;
            ``{points}`` is the size of the difference.
        equal: headline where no difference is shown.
        topic: name of the contrast within a list.
    """

    contrast: str
    table: str
    lower: str
    higher: str
    equal: str
    topic: str


FINDINGS: Final[Sequence[Sequence[Template]]] = (
    (
        Template(
            "entirely seen to unseen",
            "type-f1",
            "F1 falls by {points} points on unseen triples",
            "F1 rises by {points} points on unseen triples",
            "No loss is shown on unseen triples",
            "unseen triples",
        ),
        Template(
            "entirely seen to not entirely seen",
            "type-f1",
            "F1 falls by {points} points beyond seen triples",
            "F1 rises by {points} points beyond seen triples",
            "No loss is shown beyond seen triples",
            "triples that are not entirely seen",
        ),
    ),
    (
        Template(
            "with Entity Noising, unseen",
            "type-f1",
            "Entity Noising costs {points} points on unseen triples",
            "Entity Noising adds {points} points on unseen triples",
            "Entity Noising: no effect shown on unseen triples",
            "Entity Noising on unseen triples",
        ),
        Template(
            "with Entity Noising, not entirely seen",
            "type-f1",
            "Entity Noising costs {points} points beyond seen triples",
            "Entity Noising adds {points} points beyond seen triples",
            "Entity Noising: no effect shown beyond seen triples",
            "Entity Noising on triples that are not entirely seen",
        ),
    ),
    (
        Template(
            "original to rearranged",
            "rearranged",
            "The rearranged split costs {points} points of F1",
            "The rearranged split adds {points} points of F1",
            "No loss is shown on the rearranged split",
            "rearranged split",
        ),
    ),
    (
        Template(
            "original to augmented",
            "augmented",
            "New entity names cost {points} points of F1",
            "New entity names add {points} points of F1",
            "No loss is shown on new entity names",
            "new entity names",
        ),
    ),
    (
        Template(
            "with Entity Noising, augmented",
            "augmented",
            "Entity Noising costs {points} points on new names",
            "Entity Noising adds {points} points on new names",
            "Entity Noising: no effect shown on new names",
            "Entity Noising on new entity names",
        ),
    ),
    (
        Template(
            "zero-triple sentences in the test",
            "end-to-end",
            "Zero-triple test sentences cost {points} points of F1",
            "Zero-triple test sentences add {points} points of F1",
            "No loss is shown on zero-triple test sentences",
            "zero-triple sentences in the test",
        ),
    ),
    (
        Template(
            "zero-triple sentences in training",
            "end-to-end",
            "Zero-triple training sentences cost {points} points of F1",
            "Zero-triple training sentences add {points} points of F1",
            "Zero-triple training sentences: no effect is shown",
            "zero-triple sentences in training",
        ),
    ),
    (
        Template(
            "classifier in front",
            "two-step",
            "A classifier in front costs {points} points",
            "A classifier in front adds {points} points",
            "A classifier in front: no effect is shown",
            "classifier in front",
        ),
    ),
    (
        Template(
            "end to end to two steps",
            "two-step",
            "Two steps lose {points} points to end-to-end training",
            "Two steps gain {points} points over end-to-end training",
            "Two steps and end-to-end training are not distinguishable",
            "two steps against end-to-end training",
        ),
    ),
)
"""Templates in the order of the page; of each group the first one with enough cases is used."""
