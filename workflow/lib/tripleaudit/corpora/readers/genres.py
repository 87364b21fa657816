"""``genres`` and ``genres-processed``: dictionaries ``{text: [triple, ...]}`` of the GenRES project.

``genres`` (its data sets) orders a triple as subject, object, relation. CDR has a fourth member, its label, which is
the relation there: ``["D006220", "D002375", "NON-CROSS", "1:CID:2"]``; its entities are MeSH ids and so never in the
text. ``genres-processed`` (gold and extracted triples after processing) orders subject, relation, object; extracted
triples may lack a relation or hold numbers, which is counted as malformed instead of refused.
"""

from collections.abc import Iterator
from pathlib import Path

from tripleaudit.corpora.corpus import RawSentence, RawTriple
from tripleaudit.corpora.readers.common import Probe, load_json, string_triple
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError


def read(path: str | Path, order: str = "sor") -> Iterator[RawSentence]:
    """Yield the documents; ``order`` is ``sor`` for data sets and ``sro`` for processed triples."""
    value = load_json(path)
    if not isinstance(value, dict):
        raise UserError(f"{path}: expected an object {{text: [triples]}}")
    for number, (text, rows) in enumerate(value.items()):
        where = f"{path} item {number + 1}"
        if not isinstance(rows, list):
            raise UserError(f"{where}: expected a list of triples")
        triples, malformed = [], 0
        for row in rows:
            if order == "sor":
                row = [row[0], row[1], row[3]] if isinstance(row, list) and len(row) == 4 else row
                triples.append(string_triple(row, where, order))
            elif _is_triple(row):
                triples.append(RawTriple(row[0], row[1], row[2]))
            else:
                malformed += 1
        yield RawSentence(str(number), text, triples, where, malformed=malformed)


def _is_triple(row: object) -> bool:
    return (
        isinstance(row, list) and len(row) == 3 and all(isinstance(part, str) for part in row) and bool(row[1].strip())
    )


def by_text(probe: Probe) -> bool:
    """Whether a file is an object of lists."""
    return probe.first == "{" and bool(probe.value) and all(isinstance(rows, list) for rows in probe.value.values())


def guess_order(path: str | Path) -> str:
    """Tell ``sor`` from ``sro``: there are far fewer relation names than arguments, and objects occur in the text.

    Raises:
        UserError: neither shows; the order must be named.
    """
    value = load_json(path)
    seconds, thirds, in_text, count = set(), set(), 0, 0
    for text, rows in value.items():
        for row in rows:
            if isinstance(row, list) and len(row) == 4:
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


FORMAT = CorpusFormat(
    name="genres",
    order=13,
    read=read,
    options=("order",),
    detects=lambda probe: by_text(probe) and guess_order(probe.path) == "sor",
)


def read_processed(path: str | Path) -> Iterator[RawSentence]:
    """Yield the documents."""
    return read(path, order="sro")


PROCESSED = CorpusFormat(
    name="genres-processed",
    order=14,
    read=read_processed,
    detects=lambda probe: by_text(probe) and guess_order(probe.path) != "sor",
)
