"""``conll04``: the full CoNLL04 corpus of Roth and Yih, tab-separated, with its sentences without relations.

Nine columns a token (sentence number, entity type, place, -, part of speech, word, -, -, -), a blank line, three
columns a relation (subject place, object place, type), a blank line. A multi-word entity is one token with ``/``
between its words; commas are written COMMA, brackets -LRB- and so on. The text joins all words with blanks.
"""

from collections.abc import Iterator
from pathlib import Path

from tripleaudit.corpora.corpus import RawSentence, RawTriple
from tripleaudit.corpora.readers.common import join_tokens
from tripleaudit.descriptors import CorpusFormat
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


def read(path: str | Path) -> Iterator[RawSentence]:
    """Yield the sentences; ids are the sentence numbers of the file, which ``orig_id`` of the SpERT split repeats."""
    tokens: list[list[str]] = []
    relations: list[tuple[int, int, str]] = []
    start = 0
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            columns = line.rstrip("\r\n").split("\t")
            where = f"{path} line {number}"
            if len(columns) == 9:
                # relation lines or a new sentence number end the sentence before
                if tokens and (relations or columns[0] != tokens[0][0]):
                    yield _sentence(tokens, relations, f"{path} line {start}")
                    tokens, relations = [], []
                if not tokens:
                    start = number
                if columns[2] != str(len(tokens)):
                    raise UserError(f"{where}: the token's place is {columns[2]!r}, expected {len(tokens)}")
                tokens.append(columns)
            elif len(columns) == 3:
                relations.append(_relation(columns, len(tokens), where))
            else:
                raise UserError(
                    f"{where}: {len(columns)} tab-separated columns, expected 9 for a token or 3 for a relation"
                )
    if tokens:
        yield _sentence(tokens, relations, f"{path} line {start}")


def _relation(columns: list[str], tokens: int, where: str) -> tuple[int, int, str]:
    subject, object_, name = columns
    if not name.strip():
        raise UserError(f"{where}: the triple has no relation")
    for place in (subject, object_):
        if not place.isdecimal() or int(place) >= tokens:
            raise UserError(f"{where}: {place!r} is outside the text of {tokens} tokens")
    return int(subject), int(object_), name


def _sentence(tokens: list[list[str]], relations: list[tuple[int, int, str]], where: str) -> RawSentence:
    words = [" ".join(_words(columns[5])) for columns in tokens]
    types = [None if columns[1] == "O" else columns[1] for columns in tokens]
    text, starts = join_tokens(words)
    triples = [
        RawTriple(
            words[subject], relation, words[object_], starts[subject], starts[object_], types[subject], types[object_]
        )
        for subject, object_, relation in relations
    ]
    entities = sum(columns[1] != "O" for columns in tokens)
    return RawSentence(tokens[0][0], text, triples, where, entities=entities)


def _words(token: str) -> list[str]:
    parts = [part for part in token.split("/") if part] or [token]  # a slash may be a word of its own
    return [_WRITTEN.get(part, part) for part in parts]


FORMAT = CorpusFormat(
    name="conll04",
    order=2,
    read=read,
    detects=lambda probe: probe.line.count("\t") == 8,
)
