"""Variants of augmented test sentences, by ids: ``test-00012.su`` is of ``test-00012``."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence

PARTS: Final = ("ss", "su", "us", "uu")
"""Names of the variants that this project makes: subject, then object, seen (s) in training or
unseen (u).
"""


def original_of(variant: str) -> str:
    """Return the id of the test sentence of an augmented variant, known by :data:`PARTS`."""
    sentence, _, part = variant.rpartition(".")
    return sentence if sentence and part in PARTS else variant


def originals_of(ids: Sequence[str]) -> list[str]:
    """Return the id of each sentence; of a variant, that of its original."""
    return list(map(original_of, ids))


def variants_of(
    test: Sequence[str], augmented: Sequence[str], where: str = "augmented"
) -> list[list[int]]:
    """Return positions of each test sentence's variants, by ids; empty without variants.

    Variants may have any name behind the last dot. A sentence that has the id of a test sentence
    itself, such as a zero-triple sentence, which nothing is replaced in, counts as its only variant.

    Raises:
        UserError: a variant is of no test sentence.
    """
    positions: dict[str, list[int]] = {id_: [] for id_ in test}
    for position, id_ in enumerate(augmented):
        found = positions.get(id_, positions.get(id_.rpartition(".")[0]))
        if found is None:
            expected = f"the id of a test sentence, a dot and a name, such as {next(iter(positions), 'test-00012')}.su"
            raise UserError(
                f"{where}: the sentence {id_!r} is a variant of no test sentence; expected {expected}"
            )
        found.append(position)
    return list(positions.values())


def named_by_position(test: Sequence[Sentence], augmented: Sequence[Sentence]) -> list[Sentence]:
    """Give variants that lie part after part (ss, su, us, uu) their ids, as published.

    Raises:
        UserError: they do not, as their number or a sentence's relations show.
    """
    if len(augmented) != len(PARTS) * len(test):
        expected = f"expected {len(PARTS)} for each of {len(test)} test sentences"
        raise UserError(
            f"augmented: the published sets hold {len(augmented)} sentences, {expected}"
        )
    found = []
    for position, variant in enumerate(augmented):
        part, number = divmod(position, len(test))
        if sorted(t.relation for t in variant.triples) != sorted(
            t.relation for t in test[number].triples
        ):
            at = f"sentence {number + 1} of part {PARTS[part]}"
            raise UserError(
                f"augmented: {at} has other relations than {test[number].id!r}, whose variant it should be"
            )
        found.append(replace(variant, id=f"{test[number].id}.{PARTS[part]}"))
    return found
