"""``genres`` and ``genres-processed``: dictionaries ``{text: [triple, ...]}`` of the GenRES project.

``genres`` (its data sets) orders a triple as subject, object, relation. CDR has a fourth member, its label, which is
the relation there: ``["D006220", "D002375", "NON-CROSS", "1:CID:2"]``; its entities are MeSH ids and so never in the
text. ``genres-processed`` (gold and extracted triples after processing) orders subject, relation, object; extracted
triples may lack a relation or hold numbers, which is counted as malformed instead of refused.
"""

from pathlib import Path
from typing import Any

from tripleaudit.corpora.readers.common import load_json
from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.row_files import Probe, Row, Rows
from tripleaudit.errors import UserError


def documents(path: str | Path) -> Rows:
    """Yield the documents."""
    value = load_json(path)
    if not isinstance(value, dict):
        raise UserError(f"{path}: expected an object {{text: [triples]}}")
    for number, (text, triples) in enumerate(value.items(), 1):
        where = f"{path} item {number}"
        if not isinstance(triples, list):
            raise UserError(f"{where}: expected a list of triples")
        yield where, {"text": text, "triples": triples}


def _is_cdr(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 4


def _is_triple(row: Any) -> bool:
    return isinstance(row, list) and [type(part) for part in row] == [str] * 3 and bool(row[1].strip())


def by_text(probe: Probe) -> bool:
    """Whether a file is an object of lists of lists."""
    found = [*probe.value.values()] if probe.first == "{" else []
    lists = all(isinstance(rows, list) and all(isinstance(row, list) for row in rows) for rows in found)
    return bool(found) and lists


def guess_order(path: str | Path) -> str:
    """Tell ``sor`` from ``sro``: there are far fewer relation names than arguments, and objects occur in the text.

    Raises:
        UserError: neither shows; the order must be named.
    """
    value = load_json(path)
    seconds, thirds, in_text, count = set(), set(), 0, 0
    for text, rows in value.items():
        for row in rows:
            if _is_cdr(row):
                return "sor"
            if _is_triple(row):
                seconds.add(row[1])
                thirds.add(row[2])
                in_text += row[2] in text
                count += 1
    if 2 * len(thirds) < len(seconds):
        return "sor"
    if 2 * len(seconds) < len(thirds) or 3 * in_text > count:
        return "sro"
    raise UserError(
        f"{path}: the order of the triples cannot be told from the content; name format genres (subject, object, "
        "relation) or genres-processed (subject, relation, object)"
    )


def reordered(row: dict[str, Any], where: str, annotator: str) -> dict[str, Any]:
    """Return a document of a data set with its triples as subject, relation, object."""
    listed = [row[:2] + row[3:] if _is_cdr(row) else row for row in row["triples"]]
    triples = [[each[0], each[2], each[1]] if isinstance(each, list) and len(each) == 3 else each for each in listed]
    return {**row, "triples": triples}


def well_formed(row: dict[str, Any], where: str, annotator: str) -> dict[str, Any]:
    """Return a document of processed triples without what is none."""
    triples = [triple for triple in row["triples"] if _is_triple(triple)]
    return Row({**row, "triples": triples}, malformed=len(row["triples"]) - len(triples))


GENRES = form(
    "genres", order=13, rows=documents, plain=reordered, text="text", triples="triples",
    detects=lambda probe: by_text(probe) and guess_order(probe.path) == "sor",
)  # fmt: skip
PROCESSED = form(
    "genres-processed", order=14, rows=documents, plain=well_formed, text="text", triples="triples", detects=by_text,
)  # fmt: skip
