"""The section ``tables``."""

from typing import Annotated, Literal

from pydantic import Field

from tripleaudit.core.fields import Section, Unique, one_of
from tripleaudit.scoring.matching import matching_names


class Table(Section):
    """Options of one table; nothing after its name makes it with the defaults."""

    matching: Annotated[str, one_of(matching_names, "matching rule")] | None = None
    """Matching rule of the table."""
    by: (
        Annotated[
            list[
                Literal[
                    "overlap", "entities", "relations", "mentions", "triples", "ign", "thresholds"
                ]
            ],
            Unique,
        ]
        | None
    ) = None
    """Further columns of the tables type-f1, rearranged, sifted, augmented, end-to-end and two-step, with the scores of
    `tripleaudit score --by` (docs/howto/score.md): overlap, entities, relations, mentions, triples, ign, thresholds."""
    digits: int | None = Field(None, ge=0, le=6)
    """Decimals shown."""
    caption: str | None = None
    """Caption instead of the default one."""
    style: Literal["paper"] | None = None
    """paper: the LaTeX form without intervals and differences."""
