"""WebNLG: the organisers' XML, and its form on the Hugging Face hub.

An entry has a set of triples and several texts that verbalise it; each text is one sentence. Names
are those of Wikipedia's pages: ``Harrow_Steel`` is read as ``Harrow Steel``, and a literal without
its quotes. Of the triple sets, the modified one is read, as the challenge scores it. A sentence is
called after its entry and its text: ``Id1-Id2``.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import open_text
from tripleaudit.corpora.readers.common import shown
from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.row_files import Malformed, Probe, Row, Rows, read_rows

HEAD_SIZE = 4096
"""Characters of an XML file that are searched for its root element."""


def is_hub_row(row: dict[str, Any]) -> bool:
    """Return whether a row has the columns of WebNLG on the hub."""
    return {"lex", "modified_triple_sets"} <= row.keys()


def rows_of_hub_row(row: dict[str, Any], where: str) -> Rows:
    """Yield the texts of one entry with its triples.

    Raises:
        UserError: the entry has another form than on the hub.
    """
    try:
        triple_set = row["modified_triple_sets"]["mtriple_set"][0]
        texts = row["lex"]["text"]
        names = row["lex"].get("lid") or range(len(texts))
        pairs = list(zip(names, texts, strict=True))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            f"{where}: expected 'lex' with lists 'lid' and 'text', and 'mtriple_set' with a list of triples"
        ) from error
    for name, text in pairs:
        yield where, _row(row.get("eid", ""), name, text, triple_set, where)


def _row(entry: Any, name: Any, text: Any, triples: Any, where: str) -> Row:
    read = [_triple(triple, where) for triple in triples]
    return Row({"id": f"{entry}-{name}", "text": text, "triples": read})


def _triple(triple: Any, where: str) -> list[str] | Malformed:
    parts = triple.split(" | ") if isinstance(triple, str) else []
    if len(parts) != 3:
        return Malformed(
            triple, f"{where}: a triple is {shown(triple)}, expected 'a | relation | b'"
        )
    subject, relation, object_ = (part.strip() for part in parts)
    return [_name(subject), relation, _name(object_)]


def _name(text: str) -> str:
    return text.replace("_", " ").strip('"')


def _entries(path: Path) -> Iterator[ElementTree.Element]:
    with open_text(path) as stream:
        text = stream.read()
    try:
        root = ElementTree.fromstring(text.encode())
    except ElementTree.ParseError as error:
        raise UserError(f"{path}: not a whole XML file ({error})") from error
    yield from root.iter("entry")


def xml_rows(path: Path) -> Rows:
    """Yield the texts of the entries of an XML file."""
    for number, entry in enumerate(_entries(path), 1):
        where = f"{path} entry {number}"
        triples = [element.text or "" for element in entry.iterfind("modifiedtripleset/mtriple")]
        for position, lexicalisation in enumerate(entry.iterfind("lex")):
            text = (lexicalisation.findtext("text") or lexicalisation.text or "").strip()
            name = lexicalisation.get("lid", position)
            yield where, _row(entry.get("eid", number), name, text, triples, where)


def hub_rows(path: Path) -> Rows:
    """Yield the texts of the entries of a file in the form of the hub."""
    for where, row in read_rows(path):
        yield from rows_of_hub_row(row, where)


def _is_xml(probe: Probe) -> bool:
    if probe.first != "<":
        return False
    with open_text(probe.path) as stream:
        head = stream.read(HEAD_SIZE)
    return "<benchmark" in head


WEBNLG_XML = form(
    "webnlg-xml", place=1.2, rows=xml_rows, detects=_is_xml, id="id", text="text", triples="triples",
)  # fmt: skip
WEBNLG_HUB = form(
    "webnlg-hub", place=6.5, rows=hub_rows, detects=lambda probe: is_hub_row(probe.row),
    keys=("lex", "modified_triple_sets"), id="id", text="text", triples="triples",
)  # fmt: skip
