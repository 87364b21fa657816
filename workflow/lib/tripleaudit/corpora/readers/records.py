"""``records``: rows of any kind, by a mapping that says which column is what; names in common use need none.

JSON (a list of objects, or one within an object), JSON lines, CSV, TSV and Parquet. A row is a sentence with a list of
triples, or one triple with its sentence. Such rows make one sentence where they have the same text; where a column is
said to be the sentence's id, by ``columns`` or by its name (``sentence_id``), those with the same id do, so that a text
that is there twice stays two sentences. (``id`` alone may be that of the row.) An argument is given as

* a string, or an object with one (``{"name": "Rome"}``);
* a span: an object or a pair with start and end, of characters or tokens;
* the place of an entity in the list ``entities``, or the name (``id``) of one there.

``columns`` names paths: ``head.word`` is the field ``word`` of the object ``head``, ``items.0`` the first of a list; a
path through a list takes the field of every item. ``subject=tail,object=head`` reads the inverse order.
"""

import ast
import csv
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from tripleaudit.corpora.corpus import RawSentence, RawTriple
from tripleaudit.corpora.readers.common import (
    Probe,
    first_character,
    is_parquet,
    join_tokens,
    load_json,
    read_objects,
    shown,
    string_triple,
)
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError
from tripleaudit.fields import Section, Text, among, checked_fields
from tripleaudit.files import open_text

NO_RELATION = ("", "None", "NA", "no_relation")
ORDERS = ("sro", "sor", "rso", "ros", "osr", "ors")
ABSENT: Any = object()
CELL = 1 << 30  # characters of a CSV field at most; csv itself stops at 131,072


class Columns(Section):
    """Which column of the files is what; a path such as `head.word` leads into objects and lists."""

    id: Text | None = None
    """Name of the sentence; by default its place in the file."""
    text: Text | None = None
    """The sentence."""
    tokens: Text | None = None
    """The sentence as a list of tokens, which blanks join."""
    triples: Text | None = None
    """The list of triples of a sentence; subject, relation and object are then fields of its items."""
    subject: Text | None = None
    """The subject: a string, a span, or the place or id of an entity."""
    relation: Text | None = None
    """The relation."""
    object: Text | None = None
    """The object, like the subject."""
    entities: Text | None = None
    """The list of entities to which subject and object point."""
    name: Text | None = None
    """The string of an entity, where it is an object."""
    key: Text | None = None
    """The id of an entity by which triples call it."""
    start: Text | None = None
    """The first position of an entity, where it is an object."""
    end: Text | None = None
    """The last position of an entity."""
    subject_start: Text | None = None
    """The first position of the subject, beside it."""
    subject_end: Text | None = None
    """The last position of the subject, beside it."""
    object_start: Text | None = None
    """The first position of the object, beside it."""
    object_end: Text | None = None
    """The last position of the object, beside it."""
    rows: Text | None = None
    """Where in a JSON object the list of rows stands."""
    order: Annotated[str, among(ORDERS)] = "sro"
    """Order of a triple that is a list: s subject, r relation, o object."""
    units: Literal["characters", "tokens"] | None = None
    """What positions count; tokens where the sentence is a list of them."""
    last: Literal["exclusive", "inclusive"] = "exclusive"
    """Whether an end is the position after the last one, or the last one."""


SENTENCE_IDS = ("sent_id", "sentence_id")
USUAL: Mapping[str, tuple[str, ...]] = {
    "id": (*SENTENCE_IDS, "id", "orig_id"),
    "text": ("text", "sentence", "sent", "sentText"),
    "tokens": ("tokens", "token", "words"),
    "triples": ("triples", "triple_list", "triplets", "relations", "spo_list", "facts"),
    "subject": ("subject", "sub", "subj", "head", "h"),
    "relation": ("relation", "predicate", "rel", "type", "relation_type", "label"),
    "object": ("object", "obj", "tail", "t"),
    "entities": ("entities",),
    "name": ("text", "name", "word", "mention", "@value"),
    "key": ("id",),
    "start": ("start", "start_offset", "begin"),
    "end": ("end", "end_offset"),
    "subject_start": ("subject_start", "subj_start", "head_start"),
    "subject_end": ("subject_end", "subj_end", "head_end"),
    "object_start": ("object_start", "obj_start", "tail_start"),
    "object_end": ("object_end", "obj_end", "tail_end"),
}
"""Names of columns that are understood without a mapping, by role; the first that a row has counts."""


def parse_columns(texts: Iterable[str], option: str = "--column") -> dict[str, str]:
    """Return ``{role: column}`` of texts ``ROLE=COLUMN``, several with commas between them.

    Raises:
        UserError: a text has another form, or names a role that there is none of.
    """
    given: dict[str, str] = {}
    for part in (part for text in texts for part in text.split(",")):
        role, _, column = part.partition("=")
        if not role or not column:
            raise UserError(f"{option}: {part!r}, expected ROLE=COLUMN, such as text=sentence")
        given[role] = column
    checked_fields(Columns, given, option)
    return given


def at(value: Any, path: str) -> Any:
    """Return what stands at a path, :data:`ABSENT` if nothing does; through a list, what every item has there."""
    if isinstance(value, dict):
        if path in value:
            return value[path]
        key, dot, rest = path.partition(".")
        return at(value[key], rest) if dot and key in value else ABSENT
    if isinstance(value, list):
        key, dot, rest = path.partition(".")
        if key.isdecimal():
            item = value[int(key)] if int(key) < len(value) else ABSENT
            return at(item, rest) if dot else item
        found = [at(item, path) for item in value]
        if any(item is ABSENT for item in found):
            return ABSENT
        return [part for item in found for part in (item if isinstance(item, list) else [item])]
    return ABSENT


class Mapped:
    """How rows are read: a mapping, and the usual names for what it leaves out.

    Raises:
        UserError: the mapping has an unknown role or setting.
    """

    def __init__(self, columns: Mapping[str, str] | None = None, where: str = "columns") -> None:
        self.given = dict(columns or {})
        checked_fields(Columns, self.given, where)
        self.order = self.given.get("order", "sro")
        self.inclusive = self.given.get("last") == "inclusive"

    def find(self, value: Any, role: str) -> Any:
        """Return what a row or a triple has of a role, :data:`ABSENT` if nothing."""
        for name in (self.given[role],) if role in self.given else USUAL[role]:
            if (found := at(value, name)) is not ABSENT:
                return found
        return ABSENT

    def lacks(self, row: Any) -> list[str]:
        """Return the roles that a row lacks to be read."""
        named: list[str] = [role for role in ("text", "tokens") if role in self.given] or ["text", "tokens"]
        missing = [] if any(self.find(row, role) is not ABSENT for role in named) else named[:1]
        if self._lists(row):
            return missing
        parts = [
            role
            for role in ("subject", "relation", "object")
            if self.find(row, role) is ABSENT and (role == "relation" or self.find(row, f"{role}_start") is ABSENT)
        ]
        if parts == ["subject", "relation", "object"]:
            parts = ["triples"]
        return missing + parts

    def _refusal(self, missing: list[str]) -> str:
        for role in missing:
            if role in self.given:
                return f"there is no column {self.given[role]!r} ({role})"
        asked = ",".join(f"{role}=COLUMN" for role in missing)
        return (
            f"nothing is known to be the {' and the '.join(missing)}; say which column is what with --column {asked}, "
            "or under 'columns' of a study"
        )

    def _lists(self, row: Any) -> bool:
        """Whether a row lists its triples; otherwise it states one."""
        roles = ("subject", "relation", "object")
        states = "triples" not in self.given and all(
            role in self.given and self.find(row, role) is not ABSENT for role in roles
        )
        return not states and self.find(row, "triples") is not ABSENT

    def sentences(self, rows: Iterable[tuple[str, Any]]) -> Iterator[RawSentence]:
        """Yield the sentences of ``(where, row)``; rows of one triple each are joined by their text, or by a given id.

        Raises:
            UserError: a row is not usable, or two rows with one id have different texts.
        """
        joined: dict[tuple[str, str], RawSentence] = {}
        for number, (where, row) in enumerate(rows):
            if not isinstance(row, dict):
                raise UserError(f"{where}: expected an object, got {shown(row)}")
            if missing := self.lacks(row):
                raise UserError(f"{where}: {self._refusal(missing)}; the columns are {', '.join(map(str, row))}")
            sentence = self.sentence(row, where, number)
            if self._lists(row):
                yield sentence
            elif (known := joined.setdefault(self._key(row, sentence), sentence)) is not sentence:
                if known.text != sentence.text:
                    raise UserError(
                        f"{where}: the sentence {sentence.id!r} has another text than in {known.where}; expected "
                        "one text in all its rows"
                    )
                known.triples += sentence.triples
                for note, count in sentence.notes.items():
                    known.notes[note] = known.notes.get(note, 0) + count
        yield from joined.values()

    def _key(self, row: dict[str, Any], sentence: RawSentence) -> tuple[str, str]:
        """Return what rows of one sentence have in common: an id that is one of sentences, else the text."""
        named = "id" in self.given or any(name in row for name in SENTENCE_IDS)
        return ("id", sentence.id) if named and self.find(row, "id") not in (ABSENT, None) else ("text", sentence.text)

    def sentence(self, row: dict[str, Any], where: str, number: int) -> RawSentence:
        """Return the sentence of one row.

        Raises:
            UserError: a part is of another kind than expected, or points outside its sentence.
        """
        text, offsets = self._text(row, where)
        listed = self.find(row, "entities")
        entities = _decoded(listed) if listed is not ABSENT else []
        here = _Arguments(self, text, offsets, entities if isinstance(entities, list) else [], where)
        triples = _decoded(self.find(row, "triples")) if self._lists(row) else [row]
        if isinstance(triples, dict):  # a list of objects as an object of lists
            triples = _turned(triples)
        if not isinstance(triples, list):
            raise UserError(f"{where}: the triples are {shown(triples)}, expected a list")
        found = [here.triple(item) for item in triples]
        name = self.find(row, "id")
        return RawSentence(
            str(number if name is ABSENT or name is None else name),
            text,
            [triple for triple in found if triple],
            where,
            entities=len(here.entities) if listed is not ABSENT else None,
            notes={"pairs_without_relation": found.count(None)} if None in found else {},
        )

    def _text(self, row: dict[str, Any], where: str) -> tuple[str, list[tuple[int, int]] | None]:
        """Return the text and, of tokens, the characters of each."""
        text = ABSENT if "tokens" in self.given and "text" not in self.given else self.find(row, "text")
        if text is ABSENT:
            tokens = _decoded(self.find(row, "tokens"))
            if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
                raise UserError(f"{where}: the tokens are {shown(tokens)}, expected a list of strings")
            text, starts = join_tokens(tokens)
            offsets = [(start, start + len(token)) for start, token in zip(starts, tokens, strict=True)]
            return text, None if self.given.get("units") == "characters" else offsets
        if not isinstance(text, str):
            raise UserError(f"{where}: the text is {shown(text)}, expected a string")
        text = text.rstrip("\r\n")
        if self.given.get("units") != "tokens":
            return text, None
        _, starts = join_tokens(text.split(" "))
        return text, [(start, start + len(token)) for start, token in zip(starts, text.split(" "), strict=True)]


class _Arguments:
    """Subjects and objects of one sentence."""

    def __init__(self, mapped: Mapped, text: str, offsets: list[tuple[int, int]] | None, entities: list, where: str):
        self.mapped, self.text, self.offsets, self.where = mapped, text, offsets, where
        self.entities, self.keys = entities, {}
        for entity in entities:
            key = mapped.find(entity, "key") if isinstance(entity, dict) else ABSENT
            if key is not ABSENT and not isinstance(key, dict | list):
                self.keys[key] = entity

    def triple(self, item: Any) -> RawTriple | None:
        """Return a triple as it is listed; None where the label says that there is no relation."""
        if isinstance(item, str) and item.count(" | ") == 2:
            item = item.split(" | ")
        if isinstance(item, list | tuple):
            if len(item) == 3 and all(isinstance(part, str) and not self._is_key(part) for part in item):
                return string_triple(item, self.where, self.mapped.order)
            if len(item) != 3:
                string_triple(item, self.where, self.mapped.order)
            parts = dict(zip(self.mapped.order, item, strict=True))
            subject, relation, object_ = parts["s"], parts["r"], parts["o"]
        elif isinstance(item, dict):
            subject, relation, object_ = (self.mapped.find(item, role) for role in ("subject", "relation", "object"))
        else:
            raise UserError(f"{self.where}: a triple is {shown(item)}, expected an object or a list")
        if relation is None or relation in NO_RELATION:
            return None
        if not isinstance(relation, str) or not relation.strip():
            state = "has no relation" if relation is ABSENT or relation == "" else f"has the relation {shown(relation)}"
            raise UserError(f"{self.where}: the triple {shown(item)} {state}, expected a string")
        (first, start), (second, end) = (
            self._argument(value, role, item) for role, value in (("subject", subject), ("object", object_))
        )
        return RawTriple(first, relation, second, start, end)

    def _is_key(self, value: Any) -> bool:
        return isinstance(value, str | int) and value in self.keys

    def _argument(self, value: Any, role: str, item: Any) -> tuple[str, int | None]:
        beside = (
            [self.mapped.find(item, f"{role}_{edge}") for edge in ("start", "end")] if isinstance(item, dict) else []
        )
        if beside and beside[0] is not ABSENT and beside[0] not in (None, ""):
            named = value if isinstance(value, str) else None
            return self._span(beside[0], None if beside[1] in (ABSENT, None, "") else beside[1], named, role)
        if self._is_key(value):
            value = self.keys[value]
        elif type(value) is int:
            if not 0 <= value < len(self.entities):
                raise UserError(
                    f"{self.where}: the {role} is {value}, expected the place of one of {len(self.entities)} entities"
                )
            value = self.entities[value]
        if isinstance(value, str) and value:
            return value, None
        if isinstance(value, dict):
            start, end, name = (self.mapped.find(value, key) for key in ("start", "end", "name"))
            name = name if isinstance(name, str) else None
            if start not in (ABSENT, None):
                return self._span(start, None if end is ABSENT else end, name, role)
            if name:
                return self._spelt(name, value.get("pos"))
        if isinstance(value, list | tuple) and len(value) == 2 and all(type(edge) is int for edge in value):
            return self._span(value[0], value[1], None, role)
        state = "is missing" if value is ABSENT else f"is {shown(value)}"
        raise UserError(
            f"{self.where}: the {role} of {shown(item)} {state}, expected a string, a span, or an entity; "
            f"--column {role}=PATH says where it stands"
        )

    def _spelt(self, name: str, places: Any) -> tuple[str, int | None]:
        """Return a name as the sentence spells it at its places (OpenNRE keeps names lower-cased beside ``pos``)."""
        if self.offsets and isinstance(places, list) and len(places) == 2 and all(type(edge) is int for edge in places):
            first, last = places
            if 0 <= first < last <= len(self.offsets):
                spelt, start = self._span(first, last - self.mapped.inclusive, None, "name")
                if spelt.casefold() == name.casefold():
                    return spelt, start
        return name, None

    def _span(self, start: Any, end: Any, name: str | None, role: str) -> tuple[str, int]:
        """Return the string and first character of a span."""
        first, last = (_whole(edge) for edge in (start, end))
        if end is None and first is not None and name is not None and self.offsets is None:
            last = first + len(name)
        elif last is not None:
            last += self.mapped.inclusive
        size = len(self.text if self.offsets is None else self.offsets)
        if first is None or last is None or not 0 <= first < last <= size:
            unit = "characters" if self.offsets is None else "tokens"
            edges = f"[{shown(start)}, {shown(end)}{']' if self.mapped.inclusive else ')'}"
            raise UserError(f"{self.where}: the {role} span {edges} is outside the text of {size} {unit}")
        if self.offsets is not None:
            return self.text[self.offsets[first][0] : self.offsets[last - 1][1]], self.offsets[first][0]
        return self.text[first:last] if name is None else name, first


def _whole(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal() or isinstance(value, float) and value.is_integer():
        return int(value)
    return value if type(value) is int else None


def _decoded(value: Any) -> Any:
    """A list that stands in one cell of a table, as JSON or as Python writes it."""
    if value is None or value == "":
        return []
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    for decode in (json.loads, ast.literal_eval):
        try:
            return decode(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return value


def _turned(columns: dict[str, Any]) -> list[dict[str, Any]]:
    lists = [value for value in columns.values() if isinstance(value, list)]
    if len(lists) != len(columns) or len({len(value) for value in lists}) > 1:
        return [columns]
    return [dict(zip(columns, values, strict=True)) for values in zip(*lists, strict=True)]


# rows of files


def delimiter_of(line: str) -> str:
    """Return what stands between the fields of a table's first line; empty if it is no table."""
    return max("\t,;|", key=line.count) if any(mark in line for mark in "\t,;|") else ""


def read_rows(path: str | Path, rows: str | None = None) -> Iterator[tuple[str, Any]]:
    """Yield ``(where, row)`` of JSON, JSON lines, CSV, TSV or Parquet.

    Args:
        rows: path to the list of rows in a JSON object.

    Raises:
        UserError: the file is missing, empty or broken.
    """
    path = Path(path)
    if is_parquet(path):
        yield from _parquet(path)
    elif first_character(path) not in ("[", "{"):
        yield from _table(path)
    elif rows is None:
        yield from read_objects(path)
    else:
        found = at(load_json(path), rows)
        if isinstance(found, dict):
            found = list(found.values())
        if not isinstance(found, list):
            raise UserError(f"{path}: there is no list at {rows!r} (rows)")
        yield from ((f"{path} item {number}", row) for number, row in enumerate(found, 1))


def _parquet(path: Path) -> Iterator[tuple[str, Any]]:
    import pyarrow
    from pyarrow import parquet

    number = 0
    try:
        for batch in parquet.ParquetFile(path).iter_batches():
            for row in batch.to_pylist():
                number += 1
                yield f"{path} row {number}", row
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(f"{path}: not a whole Parquet file ({str(error).splitlines()[0]})") from error


def _table(path: Path) -> Iterator[tuple[str, Any]]:
    with open_text(path) as stream:
        header = stream.readline()
        while header and not header.strip():
            header = stream.readline()
        delimiter = delimiter_of(header)
        if not delimiter:
            raise UserError(f"{path}: neither JSON nor a table with a header, expected rows with columns")
        csv.field_size_limit(CELL)
        names = [name.strip() for name in next(csv.reader([header.rstrip("\r\n")], delimiter=delimiter))]
        if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
            raise UserError(f"{path} line 1: the column {twice[0]!r} stands twice; expected each name once")
        lines = csv.DictReader(stream, fieldnames=names, delimiter=delimiter, strict=True)
        try:
            for row in lines:
                where = f"{path} line {lines.line_num + 1}"
                if None in row:
                    raise UserError(f"{where}: more fields than the {len(names)} columns of the header")
                if any(value is None for value in row.values()):
                    raise UserError(f"{where}: fewer fields than the {len(names)} columns of the header")
                yield where, row
        except csv.Error as error:
            raise UserError(f"{path} line {lines.line_num + 1}: broken table ({error})") from error


def first_row(probe: Probe) -> dict[str, Any]:
    """Return the first row of a file, empty if it holds no rows: running text with a tab in its first line has none."""
    if probe.path.is_dir() or not probe.path.exists():
        return {}
    if is_parquet(probe.path):
        return next((row for _, row in _parquet(probe.path)), {})
    if probe.first in "[{":
        return probe.value
    delimiter = delimiter_of(probe.line)
    if not delimiter:
        return {}
    with open_text(probe.path) as stream:
        try:
            rows = csv.reader((line for line in stream if line.strip()), delimiter=delimiter, strict=True)
            names, *others = itertools.islice(rows, 2)
        except csv.Error:  # a broken table, which its reader explains
            names, others = probe.line.split(delimiter), []
    names = [name.strip() for name in names]
    fit = len(set(names)) == len(names) > 1 and all(len(row) > 1 for row in others)
    return dict.fromkeys(names, "") if fit else {}


def read(path: str | Path, columns: Mapping[str, str] | None = None) -> Iterator[RawSentence]:
    """Yield the sentences; ``columns`` is ``{role: path}``, roles are the fields of :class:`Columns`."""
    mapped = Mapped(columns, f"{path}: columns")
    return mapped.sentences(read_rows(path, mapped.given.get("rows")))


FORMAT = CorpusFormat(
    name="records",
    order=50,
    read=read,
    options=("columns",),
    detects=lambda probe: bool(row := first_row(probe)) and not Mapped().lacks(row),
)
