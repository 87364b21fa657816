"""A needle, what makes it usable, and its file format (MINEA, section 5.2.1)."""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator

from tripleaudit.core.errors import UserError
from tripleaudit.core.fields import Text
from tripleaudit.core.rows import CLOSED, read_rows


def one_paragraph(text: str) -> str:
    """Return ``text`` on one line: blank lines inside a needle would make two paragraphs of it."""
    return re.sub(r"\s+", " ", text).strip()


@dataclass(frozen=True, slots=True)
class Needle:
    """An invented entity: the paragraph that introduces it and its identifying properties.

    ``generator`` says where it comes from: ``{"model", "prompt_sha256", "seed"}``.
    """

    __pydantic_config__ = CLOSED

    id: Text
    doc: str
    type: Text
    paragraph: Annotated[Text, AfterValidator(one_paragraph)]
    name: Text
    description: str = ""
    keywords: tuple[str, ...] = ()
    generator: dict[str, Any] = field(default_factory=dict)


def load_needles(path: str | Path) -> list[Needle]:
    """Read needles, one JSON object a line.

    Raises:
        UserError: a line is not a needle, or an identifier occurs twice; the message names file and
            line.
    """
    needles = read_rows(path, Needle)
    for name, times in Counter(needle.id for needle in needles).items():
        if times > 1:
            raise UserError(
                f"{path}: {times} needles have the id {name!r}; expected an id of its own for each"
            )
    return needles
