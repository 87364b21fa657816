"""``ade-corpus-v2``: the files ``DRUG-AE.rel`` and ``ADE-NEG.txt`` of the Adverse Drug Effect corpus, version 2.

``DRUG-AE.rel``: ``PubMed id|sentence|effect|start|end|drug|start|end``, one relation a line; lines with the same
sentence make one sentence. Its offsets count from the start of the abstract, which is not in the file, so the strings
are looked for in the sentence. ``ADE-NEG.txt``: ``PubMed id NEG sentence``, one sentence without a relation a line.
The triple is (effect, Adverse-Effect, drug), as in the tokenised version of the corpus.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tripleaudit.corpora.corpus import RawSentence, RawTriple
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError
from tripleaudit.files import open_text

RELATION = "Adverse-Effect"
TYPES = ("Adverse-Effect", "Drug")  # of the entities, as in the tokenised version
RELATION_LINE = re.compile(r"\d+\|(?:[^|]*\|){6}[^|]*")
NEGATIVE = re.compile(r"(\d+) NEG (.+)")


def read(path: str | Path) -> Iterator[RawSentence]:
    """Yield the sentences; ids are the PubMed id and the number of the line where the sentence comes first."""
    sentences: dict[str, RawSentence] = {}
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            line = line.rstrip("\r\n")
            where = f"{path} line {number}"
            if not line.strip():
                continue
            if match := NEGATIVE.fullmatch(line):
                yield RawSentence(f"{match[1]}-{number}", match[2], [], where)
                continue
            columns = line.split("|")
            if len(columns) != 8:
                raise UserError(
                    f"{where}: expected 'id|sentence|effect|start|end|drug|start|end' or 'id NEG sentence', "
                    f"got {len(columns)} columns"
                )
            identifier, text, effect, drug = columns[0], columns[1], columns[2], columns[5]
            sentence = sentences.setdefault(text, RawSentence(f"{identifier}-{number}", text, [], where))
            sentence.triples.append(RawTriple(effect, RELATION, drug, None, None, *TYPES))
    yield from sentences.values()


FORMAT = CorpusFormat(
    name="ade-corpus-v2",
    order=4,
    read=read,
    detects=lambda probe: bool(NEGATIVE.fullmatch(probe.line) or RELATION_LINE.fullmatch(probe.line)),
)
