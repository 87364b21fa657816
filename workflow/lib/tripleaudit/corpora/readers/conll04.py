"""``conll04``: the full CoNLL04 corpus of Roth and Yih, tab-separated, with its sentences without relations.

Nine columns a token (sentence number, entity type, place, -, part of speech, word, -, -, -), a blank line, three
columns a relation (subject place, object place, type), a blank line. A multi-word entity is one token with ``/``
between its words; commas are written COMMA, brackets -LRB- and so on. The text joins all words with blanks. Ids are the
sentence numbers of the file, which ``orig_id`` of the SpERT split repeats.
"""

from pathlib import Path
from typing import Any

from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.row_files import Rows
from tripleaudit.errors import UserError
from tripleaudit.files import open_text

_WRITTEN = {
    "COMMA": ",",
    "-LRB-": "(",
    "-RRB-": ")",
    "-LCB-": "{",
    "-RCB-": "}",
    "-LSB-": "[",
    "-RSB-": "]",
}


def sentences(path: Path) -> Rows:
    """Yield the sentences, with their tokens as entities where those have a type."""
    row: dict[str, Any] = {}
    begin = ""
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            columns = line.rstrip("\r\n").split("\t")
            where = f"{path} line {number}"
            if len(columns) == 9:
                # relation lines or a new sentence number end the sentence before
                if row and (row["relations"] or columns[0] != row["id"]):
                    yield begin, row
                    row = {}
                if not row:
                    begin, row = where, {"id": columns[0], "tokens": [], "types": [], "entities": [], "relations": []}
                place = len(row["tokens"])
                if columns[2] != str(place):
                    raise UserError(f"{where}: the token's place is {columns[2]!r}, expected {place}")
                parts = [part for part in columns[5].split("/") if part] or [columns[5]]  # a slash may be a word
                row["tokens"].append(" ".join(_WRITTEN.get(part, part) for part in parts))
                row["types"].append(None if columns[1] == "O" else columns[1])
                row["entities"] += [place] * (columns[1] != "O")
            elif len(columns) == 3:
                row["relations"].append(_relation(columns, row["types"] if row else [], where))
            else:
                raise UserError(
                    f"{where}: {len(columns)} tab-separated columns, expected 9 for a token or 3 for a relation"
                )
    if row:
        yield begin, row


def _relation(columns: list[str], types: list[str | None], where: str) -> dict[str, Any]:
    *places, name = columns
    if not name.strip():
        raise UserError(f"{where}: the triple has no relation")
    for place in places:
        if not place.isdecimal() or int(place) >= len(types):
            raise UserError(f"{where}: {place!r} is outside the text of {len(types)} tokens")
    subject, object_ = map(int, places)
    return {"s": subject, "st": types[subject], "r": name, "o": object_, "ot": types[object_]}


FORMAT = form(
    "conll04", order=2, rows=sentences, detects=lambda probe: probe.line.count("\t") == 8,
    id="id", tokens="tokens", triples="relations", relation="r", entities="entities", last="inclusive",
    subject_start="s", subject_end="s", subject_type="st", object_start="o", object_end="o", object_type="ot",
)  # fmt: skip
