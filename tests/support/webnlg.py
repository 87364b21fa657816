"""Real corpora read with the fewest steps, so that protocol tests depend on no reader."""

import json
import re
from pathlib import Path

from tripleaudit.corpora.model import Sentence, Span, Triple


def find_entity(text: str, entity: str) -> Span:
    """Return the first whitespace-delimited occurrence, or the entity without a position."""
    match = re.search(rf"(?<!\S){re.escape(entity)}(?!\S)", text)
    return Span(match.start(), match.end(), entity) if match else Span(None, None, entity)


def sentence(text: str, *triples: tuple[str, str, str], id_: str = "s") -> Sentence:
    """Build a sentence from entity strings."""
    return Sentence(
        id_,
        text,
        tuple(Triple(find_entity(text, s), r, find_entity(text, o)) for s, r, o in triples),
    )


def read_triple_list(*paths: Path) -> list[Sentence]:
    """Read ``triple_list`` JSON files, one after the other."""
    return [
        sentence(row["text"], *map(tuple, row["triple_list"]), id_=f"{path.stem}_{number}")
        for path in paths
        for number, row in enumerate(json.loads(path.read_text(encoding="utf-8")))
    ]
