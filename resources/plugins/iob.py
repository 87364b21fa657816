"""A corpus format as a plugin: IOB with relations, as Bekoulis et al. (2018) spread CoNLL04 and ADE.

A line is a token with its index, the token, its tag, its relations and the indices of their objects;
``#doc`` begins a sentence, and its id stands behind it. Relations stand at the last token of an entity
and lead to the last token of another one.

    tripleaudit --plugin resources/plugins/iob.py check train.txt
"""

from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.records import decoded
from tripleaudit.corpora.readers.row_files import Rows, lines


def tokens(path: Path) -> Rows:
    """Yield the sentences."""
    name, cells, begin = "0", list[list[str]](), f"{path} line 1"
    for number, where, line in lines(path):
        if line.startswith("#doc"):
            if cells:
                yield begin, _of_tokens(name, cells, begin)
            name, cells, begin = line[4:].strip() or str(number), [], where
        else:
            cells.append(line.split("\t"))
            if len(cells[-1]) != 5:
                raise UserError(f"{where}: {len(cells[-1])} tab-separated columns, expected 5")
    if cells:
        yield begin, _of_tokens(name, cells, begin)


def _of_tokens(name: str, cells: list[list[str]], where: str) -> dict[str, Any]:
    entities: dict[int, dict[str, Any]] = {}  # by the last token
    first, kind = 0, ""
    for position, (_, _, tag, _, _) in enumerate(cells):
        edge, _, of = tag.partition("-")
        if edge == "B" or of != kind:
            first, kind = position, of
        if edge != "O":
            entities.pop(position - 1, None) if position > first else None
            entities[position] = {"id": position, "start": first, "end": position, "type": of}
    triples = []
    for position, line in enumerate(cells):
        relations, heads = decoded(line[3]), decoded(line[4])
        if not (_all_of(relations, str) and _all_of(heads, int)) or len(relations) != len(heads):
            expected = "two lists of one length, of relations and of the positions of their objects"
            raise UserError(
                f"{where}: token {position} has {line[3]!r} and {line[4]!r}, expected {expected}"
            )
        for relation, head in zip(relations, heads, strict=True):
            if relation != "N" and not {position, head} <= entities.keys():
                raise UserError(
                    f"{where}: {relation} leads from token {position} to {head}, expected ends of entities"
                )
            triples += [{"s": position, "r": relation, "o": head}] * (relation != "N")
    return {
        "id": name,
        "tokens": [line[1] for line in cells],
        "entities": [*entities.values()],
        "triples": triples,
    }


def _all_of(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(type(item) is kind for item in value)


IOB = form(
    "iob", place=6.4, rows=tokens, detects=lambda probe: probe.line.startswith("#doc"), id="id", triples="triples",
    subject="s", relation="r", object="o", entities="entities", tokens="tokens",
    key="id", start="start", end="end", type="type", last="inclusive",
)  # fmt: skip
