"""``semeval``: one pair a sentence in the form of SemEval-2010 task 8 and KBP37, four lines a record.

``7<TAB>"The <e1> ... </e1> ... <e2> ... </e2> ..."``, the relation with its direction ``name(e1,e2)``, a comment, and a
blank line. ``no_relation`` and ``Other`` state that the pair has no relation: the sentence has zero triples. The text
has no tags; ids are the numbers of the file.
"""

import re
from pathlib import Path
from typing import Any

from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.row_files import Rows
from tripleaudit.errors import UserError
from tripleaudit.files import open_text

NO_RELATION = ("no_relation", "Other")
FIRST_LINE = re.compile(r'(\d+)\t"?(.*?<e1>.*?)"?')
_TAGS = re.compile(r"</?e[12]>")
_LABEL = re.compile(r"(.+)\((e[12]),(e[12])\)")


def records(path: Path) -> Rows:
    """Yield the sentences."""
    with open_text(path) as stream:
        lines = iter(enumerate(stream, 1))
        for number, line in lines:
            if not line.strip():
                continue
            where = f"{path} line {number}"
            match = FIRST_LINE.fullmatch(line.strip())
            if not match:
                raise UserError(f"{where}: expected a number, a tab and a sentence with <e1> and <e2>")
            label = next(lines, (0, ""))[1].strip()
            comment = next(lines, (0, ""))[1]
            if comment.strip() and not comment.startswith("Comment"):
                raise UserError(f"{where}: expected a record of sentence, relation, comment and blank line")
            yield where, {"id": match[1], **_sentence(match[2], label, where)}


def _sentence(tagged: str, label: str, where: str) -> dict[str, Any]:
    if not label:
        raise UserError(f"{where}: the triple has no relation")
    text, edges, last = "", {}, 0
    for tag in _TAGS.finditer(tagged):
        text = _joined(text, tagged[last : tag.start()])
        last = tag.end()
        edges[tag[0]] = len(text)
    text = _joined(text, tagged[last:])
    entities = []
    for name in ("e1", "e2"):
        if f"<{name}>" not in edges or f"</{name}>" not in edges:
            raise UserError(f"{where}: the tags <{name}> and </{name}> are not both there")
        first, end = edges[f"<{name}>"], edges[f"</{name}>"]
        while first < end and text[first].isspace():
            first += 1
        said = text[first:end].rstrip()  # KBP37 has empty tags
        entities.append({"id": name, "name": said, "start": first if said else None, "end": first + len(said)})
    triples = []
    if label not in NO_RELATION:
        match = _LABEL.fullmatch(label)
        if not match or match[2] == match[3]:
            raise UserError(f"{where}: the relation is {label!r}, expected name(e1,e2), name(e2,e1) or no_relation")
        triples = [{"s": match[2], "r": match[1], "o": match[3]}]
    return {"text": text, "entities": entities, "triples": triples}


def _joined(left: str, right: str) -> str:
    """Join what stands on the two sides of a tag; of a blank on each side, as around KBP37's tags, one stays."""
    return left + (right[1:] if left.endswith(" ") and right.startswith(" ") else right)


FORMAT = form(
    "semeval", order=5, rows=records, detects=lambda probe: bool(FIRST_LINE.fullmatch(probe.line.strip())),
    id="id", text="text", triples="triples", subject="s", relation="r", object="o",
    entities="entities", key="id", name="name", start="start", end="end",
)  # fmt: skip
