"""PubTator, as BioRED and the chemical-disease corpus use it: abstracts with mentions of concepts.

A document is ``ID|t|title``, ``ID|a|abstract``, a line for each mention
(``ID<tab>start<tab>end<tab>text<tab>type<tab>concept``) and for each relation between concepts
(``ID<tab>relation<tab>concept<tab>concept``, more columns may follow). A document is one sentence:
its title and its abstract. An entity's position is the first mention of its concept; with
occurrence ``all``, every pair of mentions is a position of the triple.
"""

import re
from itertools import product
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.corpus import LeftOut
from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.row_files import Row, Rows, lines

TEXT_LINE = re.compile(r"([^|\t]+)\|([ta])\|(.*)")
MENTION_COLUMNS = 5
RELATION_COLUMNS = 4
CONCEPT_SEPARATOR = re.compile(r"[|,;]")


class _Document:
    """A document that is being read."""

    def __init__(self, name: str, where: str) -> None:
        self.name = name
        self.where = where
        self.parts: list[str] = []
        self.mentions: dict[str, list[dict[str, Any]]] = {}
        self.all_mentions: list[dict[str, Any]] = []
        self.relations: list[tuple[str, list[str]]] = []

    def add_mention(self, columns: list[str], where: str) -> None:
        _, start, end, text, kind, *concepts = columns
        if not (start.isdecimal() and end.isdecimal()):
            raise UserError(f"{where}: the span is {start!r} to {end!r}, expected two offsets")
        mention = {"text": text, "start": int(start), "end": int(end), "type": kind}
        self.all_mentions.append(mention)
        for concept in CONCEPT_SEPARATOR.split(concepts[0]) if concepts else ():
            self.mentions.setdefault(concept, []).append(mention)

    def row(self, occurrence: str) -> Row:
        """Return the document with its relations between mentions."""
        links: list[dict[str, Any]] = []
        left_out: list[LeftOut] = []
        for where, (_, relation, subject, object_, *_) in self.relations:
            pairs = list(product(self.mentions.get(subject, ()), self.mentions.get(object_, ())))
            if not pairs:
                example = f"{where}: {relation} of {subject} and {object_}"
                left_out.append(LeftOut("without_mention", example))
            if occurrence != "all":
                pairs = pairs[:1]
            links += [{"s": first, "r": relation, "o": second} for first, second in pairs]
        row = {"id": self.name, "text": " ".join(self.parts), "links": links}
        names = [[mention["text"] for mention in group] for group in self.mentions.values()]
        listed = len(self.relations) - len(left_out)
        entities = [(one["start"], one["end"], one["type"]) for one in self.all_mentions]
        return Row(row, left_out, listed=listed, names=names, entities=entities)


def documents(path: Path, occurrence: str = "first") -> Rows:
    """Yield the documents.

    Raises:
        UserError: a line is none of a document's.
    """
    document: _Document | None = None
    for _, where, line in lines(path):
        text_line = TEXT_LINE.fullmatch(line)
        if text_line:
            name, kind, text = text_line.groups()
            if kind == "t":
                if document is not None:
                    yield document.where, document.row(occurrence)
                document = _Document(name, where)
            if document is None or document.name != name:
                raise UserError(f"{where}: the abstract of {name!r} has no title before it")
            document.parts.append(text)
            continue
        columns = line.split("\t")
        if document is None or columns[0] != document.name:
            raise UserError(f"{where}: expected a line of a document that begins with 'ID|t|title'")
        if len(columns) > MENTION_COLUMNS or columns[1].isdecimal():
            document.add_mention(columns, where)
        elif len(columns) >= RELATION_COLUMNS:
            document.relations.append((where, columns))
        else:
            raise UserError(
                f"{where}: {len(columns)} tab-separated columns, expected at least 6 for a mention or 4 for a relation"
            )
    if document is not None:
        yield document.where, document.row(occurrence)


PUBTATOR = form(
    "pubtator", place=1.3, rows=documents, detects=lambda probe: bool(re.match(r"[^|\t]+\|t\|", probe.line)),
    id="id", text="text", triples="links", relation="r",
    subject="s", object="o", name="text", start="start", end="end", type="type",
)  # fmt: skip
