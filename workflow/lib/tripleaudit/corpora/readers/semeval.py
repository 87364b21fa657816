"""``semeval``: one pair a sentence in the form of SemEval-2010 task 8 and KBP37, four lines a record.

``7<TAB>"The <e1> ... </e1> ... <e2> ... </e2> ..."``, the relation with its direction ``name(e1,e2)``, a comment, and a
blank line. ``no_relation`` and ``Other`` state that the pair has no relation: the sentence has zero triples.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tripleaudit.corpora.corpus import RawSentence, RawTriple
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError
from tripleaudit.files import open_text

NO_RELATION = ("no_relation", "Other")
FIRST_LINE = re.compile(r'(\d+)\t"?(.*?<e1>.*?)"?')
_TAGS = re.compile(r"</?e[12]>")
_LABEL = re.compile(r"(.+)\((e[12]),(e[12])\)")


def read(path: str | Path) -> Iterator[RawSentence]:
    """Yield the sentences without the tags; ids are the numbers of the file."""
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
            yield _sentence(match[1], match[2], label, where)


def _sentence(name: str, tagged: str, label: str, where: str) -> RawSentence:
    if not label:
        raise UserError(f"{where}: the triple has no relation")
    text, edges, last = "", {}, 0
    for tag in _TAGS.finditer(tagged):
        text = _joined(text, tagged[last : tag.start()])
        last = tag.end()
        edges[tag[0]] = len(text)
    text = _joined(text, tagged[last:])
    entities = {}
    for entity in ("e1", "e2"):
        if f"<{entity}>" not in edges or f"</{entity}>" not in edges:
            raise UserError(f"{where}: the tags <{entity}> and </{entity}> are not both there")
        inside = text[edges[f"<{entity}>"] : edges[f"</{entity}>"]]
        start = edges[f"<{entity}>"] + len(inside) - len(inside.lstrip())
        entities[entity] = (inside.strip(), start) if inside.strip() else ("", None)  # KBP37 has empty tags
    triples = []
    if label not in NO_RELATION:
        match = _LABEL.fullmatch(label)
        if not match or match[2] == match[3]:
            raise UserError(f"{where}: the relation is {label!r}, expected name(e1,e2), name(e2,e1) or no_relation")
        (subject, subject_start), (object_, object_start) = entities[match[2]], entities[match[3]]
        triples.append(RawTriple(subject, match[1], object_, subject_start, object_start))
    return RawSentence(name, text, triples, where, entities=2)


def _joined(left: str, right: str) -> str:
    """Join what stands on the two sides of a tag; of a blank on each side, as around KBP37's tags, one stays."""
    return left + (right[1:] if left.endswith(" ") and right.startswith(" ") else right)


FORMAT = CorpusFormat(
    name="semeval",
    order=5,
    read=read,
    detects=lambda probe: bool(FIRST_LINE.fullmatch(probe.line.strip())),
)
