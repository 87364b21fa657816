"""Rows of JSON, CSV, TSV and Parquet files as sentences, by a mapping of columns.

The format ``records`` reads any such file. Its mapping is the key ``columns`` of a study or the
option ``--column``; names of columns in common use (``USUAL``) need none. Other formats are a fixed
mapping, declared by :func:`tripleaudit.corpora.readers.form.form`. :class:`Columns` describes the
mapping, and :class:`Mapped` applies it; to understand another common name, add it to ``USUAL``.

A row is a sentence with a list of triples, or one triple with its sentence. Rows of one triple are
joined to a sentence if they have the same id, in a column that is known to hold ids of sentences
(by the mapping, or a name such as ``sentence_id``; ``id`` alone may be that of the row), and else
if they have the same text. An argument is given as

* a string, or an object with one (``{"name": "Rome"}``);
* a span: an object or a pair with start and end, of characters or tokens;
* the position of an entity in the list ``entities``, or the name (``id``) of one there.

``columns`` names paths: ``head.word`` is the field ``word`` of the object ``head``, ``items.0`` the
first of a list; a path through a list takes the field of every item. ``subject=tail,object=head``
reads the inverse order.
"""

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any, Literal

from tripleaudit.core.errors import UserError
from tripleaudit.core.fields import Section, Text, among
from tripleaudit.core.files import is_collection, read_jsonl
from tripleaudit.corpora.corpus import (
    MALFORMED,
    MISSING,
    LeftOut,
    RawEntity,
    RawSentence,
    RawTriple,
)
from tripleaudit.corpora.readers.common import read_objects, shown
from tripleaudit.corpora.readers.row_files import ABSENT, Malformed, Row, at, read_rows
from tripleaudit.corpora.readers.side import SIDES, Side, with_side
from tripleaudit.corpora.spec import CorpusFormat
from tripleaudit.corpora.triple_forms import literal, split_triples, triple_of
from tripleaudit.corpora.words import cuts_word

NO_RELATION = (None, "", "None", "NA", "no_relation")
ORDERS = ("sro", "sor", "rso", "ros", "osr", "ors")
PARTS = ("subject", "relation", "object")
SETTINGS = ("rows", "order", "units", "last", "annotator")
"""Fields of :class:`Columns` that name no column."""
ARGUMENT_ROLES = {
    role: (f"{role}_type", f"{role}_start", f"{role}_end")
    for role in ("subject", "object", "entity")
}
"""Roles of the fields next to an argument: its type and its span."""
PREDICTED_TRIPLES = ("predictions", "predicted", "prediction", "predict", "pred", "preds")
GOLD_TRIPLES = ("gold", "truth")
NAMES_OF_SIDES = frozenset((*PREDICTED_TRIPLES, *GOLD_TRIPLES))
NOWHERE = (ABSENT, None, "")
ROLES_OF_SENTENCES = ("text", "tokens", "triples", *PARTS, "subject_start", "object_start")
"""Roles by which is decided whether a row can be read, and whether it lists its triples."""
MAX_LAYOUTS = 1000  # different sets of keys whose columns are remembered


class Columns(Section):
    """Mapping from roles to columns of the files; paths such as `head.word` enter objects."""

    id: Text | None = None
    """Name of the sentence; by default its position in the file."""
    text: Text | None = None
    """The sentence."""
    tokens: Text | None = None
    """The sentence as a list of tokens, which blanks join."""
    triples: Text | None = None
    """The list of triples of a sentence; subject, relation and object are then fields of its
    items.
    """
    subject: Text | None = None
    """The subject: a string, a span, or the position or id of an entity."""
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
    type: Text | None = None
    """The type of an entity, where it is an object."""
    subject_start: Text | None = None
    """The first position of the subject, next to it."""
    subject_end: Text | None = None
    """The last position of the subject, next to it."""
    subject_type: Text | None = None
    """The type of the subject, next to it."""
    object_start: Text | None = None
    """The first position of the object, next to it."""
    object_end: Text | None = None
    """The last position of the object, next to it."""
    object_type: Text | None = None
    """The type of the object, next to it."""
    rows: Text | None = None
    """Where in a JSON object the list of rows stands."""
    order: Annotated[str, among(ORDERS)] = "sro"
    """Order of a triple that is a list: s subject, r relation, o object."""
    units: Literal["characters", "tokens"] | None = None
    """What positions count; tokens where the sentence is a list of them."""
    last: Literal["exclusive", "inclusive"] = "exclusive"
    """Whether an end is the position after the last one, or the last one."""
    answer: Text | None = None
    """The stored answer of a language model, which is read as the answers of endpoints are."""
    annotator: Text | None = None
    """Whose annotations are read, by e-mail, name or number, where several people annotated
    (Label Studio, Prodigy).
    """


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
    "type": ("type", "entity_type", "label"),
    "subject_start": ("subject_start", "subj_start", "head_start"),
    "subject_end": ("subject_end", "subj_end", "head_end"),
    "subject_type": ("subject_type", "subj_type", "head_type"),
    "object_start": ("object_start", "obj_start", "tail_start"),
    "object_end": ("object_end", "obj_end", "tail_end"),
    "object_type": ("object_type", "obj_type", "tail_type"),
}
"""Names of columns that are understood without a mapping, by role; the first that a row has
counts.
"""


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
        if role in given:
            raise UserError(
                f"{option}: {role} is {given[role]} and {column}; expected each role once"
            )
        given[role] = column
    Columns.checked(given, option)
    return given


class PositionError(UserError):
    """A position that does not fit its sentence, or its name."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where objects with the same keys have their roles.

    Attributes:
        columns: role -> the key that holds it, or the names to try where the values decide.
        lists_triples: whether such rows list their triples; None where the values decide.
        is_complete: whether such rows lack nothing whatever their values are.
    """

    columns: Mapping[str, str | tuple[str, ...]]
    lists_triples: bool | None = None
    is_complete: bool = False


NO_FIELDS = Layout({})
"""Of a triple that is a list."""


class Mapped:
    """How rows are read: by a mapping, and by the usual names for what it leaves out.

    Args:
        columns: role -> column, or several names of it, of which the first in a row counts.
        where: location of the mapping, for messages.
        declared: whether the mapping is that of a format: no other names are tried, and its columns
            must be there.
        none: names of relations that mean that there is none.
        predicts: whether the rows are a system's output: an item that is no triple then counts as a
            wrong prediction.

    Raises:
        UserError: the mapping has an unknown role or setting.
    """

    def __init__(
        self,
        columns: Mapping[str, str | tuple[str, ...]] | None = None,
        where: str = "columns",
        *,
        declared: bool = False,
        none: tuple[str | None, ...] = NO_RELATION,
        predicts: bool = False,
    ) -> None:
        # of a study's section, roles that it says nothing of are null
        names = {
            role: (column,) if isinstance(column, str) else column
            for role, column in (columns or {}).items()
        }
        names = {role: each for role, each in names.items() if each is not None}
        self.given = {role: _main_name(each) for role, each in names.items()}
        Columns.checked(self.given, where)
        self.predicts = predicts
        triples = (*(PREDICTED_TRIPLES if predicts else GOLD_TRIPLES), *USUAL["triples"])
        self.names = names if declared else {**USUAL, "triples": triples, **names}
        self.declared, self.none = declared, none
        self.order = self.given.get("order", "sro")
        self.inclusive = self.given.get("last") == "inclusive"
        self._layouts: dict[tuple[str, ...], Layout] = {}  # by the keys of objects

    def counts_columns(self) -> bool:
        """Return whether the mapping numbers the columns, as for a table without a header."""
        columns = [column for role, column in self.given.items() if role not in SETTINGS]
        return bool(columns) and all(column.isdecimal() for column in columns)

    def counts_parts(self) -> bool:
        """Return whether the mapping calls the parts of a triple by their numbers in a list."""
        return all(self.given.get(role, "")[:1].isdecimal() for role in PARTS)

    def find(self, value: Any, role: str, layout: Layout | None = None) -> Any:
        """Return what a row or a triple has of a role, :data:`ABSENT` if nothing.

        Args:
            layout: of the value, where it has been looked up before.
        """
        if layout is None:
            if not isinstance(value, dict):
                return self._first_of(value, role, self.names.get(role, ()))
            layout = self.layout_of(value)
        column = layout.columns.get(role)
        if column is None:
            return ABSENT
        return value[column] if isinstance(column, str) else self._first_of(value, role, column)

    def layout_of(self, row: dict[str, Any]) -> Layout:
        """Return where an object has its roles, remembered for objects with equal keys."""
        keys = tuple(row)
        layout = self._layouts.get(keys)
        if layout is not None:
            return layout
        columns: dict[str, str | tuple[str, ...]] = {}
        for role, names in self.names.items():
            present = tuple(name for name in names if name in row or name.partition(".")[0] in row)
            if not present:
                continue
            first = present[0]
            depends_on_value = first in NAMES_OF_SIDES and len(names) > 1
            columns[role] = first if first in row and not depends_on_value else present
        layout = Layout(columns)
        if all(isinstance(columns.get(role, ""), str) for role in ROLES_OF_SENTENCES):
            lists_triples = self._lists(row, layout)
            layout = Layout(columns, lists_triples, not self._lacks(row, layout, lists_triples))
        if len(self._layouts) >= MAX_LAYOUTS:  # keys may be data, such as names of entities
            self._layouts.clear()
        self._layouts[keys] = layout
        return layout

    def _first_of(self, value: Any, role: str, names: tuple[str, ...]) -> Any:
        """Return what stands under the first of some names that the value has."""
        is_only_name = len(self.names.get(role, ())) == 1
        for name in names:
            found = at(value, name)
            if name in NAMES_OF_SIDES and not is_only_name and not isinstance(decoded(found), list):
                continue  # means something else, such as whether a row is of the gold
            if found is not ABSENT:
                return found
        return ABSENT

    def need(self, value: Any, role: str, where: str, layout: Layout | None = None) -> Any:
        """Return what :meth:`find` returns, and require the roles that a format declares.

        Raises:
            UserError: the row lacks a role that the format declares.
        """
        if layout is not None:
            column = layout.columns.get(role)
            if isinstance(column, str):
                return value[column]
        part = self.find(value, role, layout)
        if part is ABSENT and self.declared and role in self.names:
            raise UserError(f"{where}: field {' or '.join(map(repr, self.names[role]))} is missing")
        return part

    def lacks(self, row: dict[str, Any]) -> list[str]:
        """Return the roles that a row lacks; usual names may have another case."""
        layout = self.layout_of(row)
        if layout.is_complete:
            return []
        missing = self._lacks(row, layout, self.lists(row))
        if not missing:
            return []
        for role, usual in self.names.items():
            if role not in self.given:
                others = [name for name in row if name.casefold() in usual]
                self.names[role] = (*usual, *others)
        self._layouts.clear()
        return self._lacks(row, self.layout_of(row), self.lists(row))

    def _lacks(self, row: dict[str, Any], layout: Layout, lists_triples: bool) -> list[str]:
        named: list[str] = [role for role in ("text", "tokens") if role in self.given]
        named = named or ["text", "tokens"]
        has_text = any(self.find(row, role, layout) is not ABSENT for role in named)
        missing = [] if has_text else named[:1]
        if lists_triples:
            return missing
        parts = [
            role
            for role in PARTS
            if self.find(row, role, layout) is ABSENT
            and (role == "relation" or self.find(row, f"{role}_start", layout) is ABSENT)
        ]
        return missing + (["triples"] if "triples" in self.given or parts == list(PARTS) else parts)

    def refuse_row_as_header(self, where: str) -> None:
        """Raise :class:`UserError` if column names look like the first row of a table."""
        names = [self.given.get(role, "") for role in ("text", "subject", "object")]
        text, *arguments = names
        if all(names) and " " in text and all(name in text for name in arguments):
            raise UserError(
                f"{where}: the columns {', '.join(map(repr, names))} look like a sentence and its entities; of a table "
                "without a header, count the columns from 0, as in --column text=0,subject=1,relation=2,object=3"
            )

    def check(self, row: dict[str, Any], where: str) -> None:
        if missing := self.lacks(row):
            unknown = next((role for role in missing if role in self.given), "")
            roles = ",".join(f"{role}=COLUMN" for role in missing)
            why = f"there is no column {self.given[unknown]!r} ({unknown})" if unknown else (
                f"nothing is known to be the {' and the '.join(missing)}; say which column is what with --column "
                f"{roles}, or under 'columns' of a study"
            )  # fmt: skip
            raise UserError(f"{where}: {why}; the columns are {', '.join(map(str, row))}")

    def lists(self, row: dict[str, Any]) -> bool:
        """Return whether a row lists its triples; otherwise it states one."""
        layout = self.layout_of(row)
        if layout.lists_triples is not None:
            return layout.lists_triples
        return self._lists(row, layout)

    def _lists(self, row: dict[str, Any], layout: Layout) -> bool:
        if self.declared:
            return "triples" in self.given
        states = "triples" not in self.given and all(
            role in self.given and self.find(row, role, layout) is not ABSENT for role in PARTS
        )
        return not states and self.find(row, "triples", layout) is not ABSENT

    def sentences(self, rows: Iterable[tuple[str, Any]]) -> Iterator[RawSentence | LeftOut]:
        """Yield sentences of ``(where, row)``; rows of one triple are joined by text or given id.

        A row may be a :class:`LeftOut`, which counts among the positions.

        Raises:
            UserError: a row is not usable, or two rows with one id have different texts.
        """
        joined: dict[tuple[str, str], RawSentence] = {}
        first_split = ""
        for number, (where, row) in enumerate(rows):
            if isinstance(row, LeftOut):
                yield row
                continue
            if not isinstance(row, dict):
                raise UserError(f"{where}: expected an object, got {shown(row)}")
            if not self.declared:
                if number == 0:
                    self.refuse_row_as_header(where)
                self.check(row, where)
                split = row.get("split")
                if split and isinstance(split, str):
                    first_split = first_split or split
                    if split != first_split:
                        yield LeftOut("other_splits", f"{where}: {split!r}, not {first_split!r}")
            listed = self.lists(row)
            sentence = self.sentence(
                row, where, len(joined) if self.declared and not listed else number
            )
            if listed:
                yield sentence
            elif (known := joined.setdefault(self._key(row, sentence), sentence)) is not sentence:
                if known.text != sentence.text:
                    raise UserError(
                        f"{where}: the sentence {sentence.id!r} has another text than in {known.where}; expected "
                        "one text in all its rows"
                    )
                known.triples += sentence.triples
                known.left_out += sentence.left_out
                known.annotated += sentence.annotated
        yield from joined.values()

    def _key(self, row: dict[str, Any], sentence: RawSentence) -> tuple[str, str]:
        """Return the key of rows of one sentence: an identifying id, else the text."""
        named = not self.declared and (
            "id" in self.given or any(name in row for name in SENTENCE_IDS)
        )
        return (
            ("id", sentence.id)
            if named and self.find(row, "id") not in (ABSENT, None)
            else ("text", sentence.text)
        )

    def sentence(self, row: dict[str, Any], where: str, number: int) -> RawSentence:
        """Return the sentence of one row; ``number`` is the id of one that has none.

        Raises:
            UserError: a part is of another kind than expected, or points outside its sentence.
        """
        layout = self.layout_of(row)
        text, offsets = self._text(row, where, layout)
        entities = []
        if "start" in self.given:
            entities = _list(decoded(self.need(row, "entities", where, layout)))
        elif "entities" in layout.columns:
            entities = _list(decoded(self.find(row, "entities", layout)))
        here = Arguments(self, text, offsets, entities, where)
        annotated = [] if self.predicts else here.annotated_entities(row)
        listed_triples = None
        names: Sequence[Sequence[str]] = ()
        if isinstance(row, Row):
            here.left_out += row.left_out
            listed_triples = row.listed
            names = row.names
        lists_triples = self.lists(row)
        is_rejected = lists_triples and row.get("answer") == "reject"
        if row.get("error") or is_rejected:
            here.left_out.append(LeftOut("failed_rows", where))
        if lists_triples:
            items = self._triples(row, here, layout)
        else:
            self._refuse_unread_predictions(row, where)
            has_no_triple = all(self.find(row, role, layout) in (None, "") for role in PARTS)
            items = [] if has_no_triple else [row]
        name = self.find(row, "id", layout)
        name = str(number if name is ABSENT or name is None else name)
        triples = [triple for item in items if (triple := here.read(item))]
        return RawSentence(
            name,
            text,
            triples,
            where,
            listed_triples,
            here.left_out,
            len(here.entities),
            names,
            annotated,
        )

    def _refuse_unread_predictions(self, row: dict[str, Any], where: str) -> None:
        """Refuse predictions whose row has a relation and a column such as ``prediction``.

        Raises:
            UserError: it is open which of the two columns is the predicted relation.
        """
        if not self.predicts or self.declared or "relation" in self.given:
            return
        relation = self.layout_of(row).columns.get("relation")
        for name, value in row.items():
            if name.casefold() in PREDICTED_TRIPLES and isinstance(value, str) and name != relation:
                raise UserError(
                    f"{where}: the column {name!r} holds predictions next to {relation!r}, which would be read as "
                    f"such; name the column to read, with --predicted-column relation={name}"
                )

    def _triples(self, row: dict[str, Any], here: "Arguments", layout: Layout) -> list[Any]:
        """Return the items of a row's list of triples, none for null.

        Raises:
            UserError: gold triples are no list (predictions that are none are one wrong item), or
                predictions have a code fence and must be read as answers.
        """
        triples = self.need(row, "triples", here.where, layout)
        is_nan = triples != triples  # as a data frame writes a missing value
        if triples is None or is_nan:
            triples = None
            here.left_out.append(LeftOut("null_triples", here.where))
        triples = decoded(triples)
        for name in () if triples else self.names["triples"]:
            if any(isinstance(item, dict | list) for item in _list(row.get(name))):
                here.left_out.append(LeftOut("other_lists", f"{here.where}: {name!r}"))
        if isinstance(triples, dict):  # a list of objects as an object of lists
            triples = _turned(triples)
        if isinstance(triples, list):
            is_one_triple = self.predicts and self._is_single_triple(triples)
            return [triples] if is_one_triple else triples
        if self.predicts and isinstance(triples, str):
            if "```" in triples:
                column = next(name for name, value in row.items() if value == triples)
                raise UserError(
                    f"{here.where}: {column!r} is an answer of a language model with a code fence, not a "
                    f"list of triples; have it read as answers, with --predicted-column answer={column}"
                )
            return split_triples(triples)
        if self.predicts:
            return [triples]  # one item that is no triple
        raise UserError(f"{here.where}: the triples are {shown(triples)}, expected a list")

    def _is_single_triple(self, triples: list[Any]) -> bool:
        """Return whether a list of three strings is one triple and not three."""
        if self.declared or len(triples) != 3:
            return False
        return all(isinstance(part, str) and triple_of(part) is None for part in triples)

    def _text(
        self, row: dict[str, Any], where: str, layout: Layout
    ) -> tuple[str, list[tuple[int, int]] | None]:
        """Return the text and, of tokens, the characters of each."""
        text = ABSENT
        if "text" in self.given or "tokens" not in self.given:
            text = self.need(row, "text", where, layout)
        if text is ABSENT:
            tokens = decoded(self.need(row, "tokens", where, layout))
            if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
                raise UserError(
                    f"{where}: the tokens are {shown(tokens)}, expected a list of strings"
                )
            return self._joined(tokens)
        if not isinstance(text, str):
            raise UserError(f"{where}: the text is {shown(text)}, expected a string")
        text = text.rstrip("\r\n")
        return (
            self._joined(text.split(" ")) if self.given.get("units") == "tokens" else (text, None)
        )

    def _joined(self, tokens: list[str]) -> tuple[str, list[tuple[int, int]] | None]:
        """Return tokens joined by blanks, and (start, end) of each token in characters.

        There are no offsets where the file says that its positions count characters.
        """
        text = " ".join(tokens)
        if self.given.get("units") == "characters":
            return text, None
        offsets = []
        start = 0
        for token in tokens:
            offsets.append((start, start + len(token)))
            start += len(token) + 1
        return text, offsets

    def type_of(self, value: dict[str, Any], role: str, where: str, layout: Layout) -> str | None:
        """Return the type of an entity, the first of several; what is no name is none.

        Raises:
            UserError: a format declares it, and it is no name.
        """
        found = self.find(value, role, layout)
        found = found[0] if isinstance(found, list) and found else found
        found = self.find(found, "name") if isinstance(found, dict) and not self.declared else found
        if self.declared and found not in (ABSENT, None, []) and not isinstance(found, str):
            raise UserError(f"{where}: an entity's type is {shown(found)}, expected a string")
        return found if isinstance(found, str) and found else None


class Arguments:
    """Subjects and objects of one sentence, in any of the forms that rows have them."""

    def __init__(
        self,
        mapped: Mapped,
        text: str,
        offsets: list[tuple[int, int]] | None,
        entities: list,
        where: str,
    ):
        self.mapped = mapped
        self.text = text
        self.offsets = offsets
        self.where = where
        self.entities = entities
        self.left_out: list[LeftOut] = []
        self.keys: dict[Any, Any] = {}
        for entity in entities:
            key = mapped.find(entity, "key") if isinstance(entity, dict) else ABSENT
            if key is not ABSENT and not isinstance(key, dict | list):
                self.keys[key] = entity
            if (
                mapped.declared and "start" in mapped.names
            ):  # a broken one may be what a triple lacks
                self._argument(entity, "entity", {}, NO_FIELDS)

    def annotated_entities(self, row: dict[str, Any]) -> list[RawEntity]:
        """Return the listed entities that can be read; what is wrong with others shows in triples."""
        entities = []
        notes = len(self.left_out)
        for entity in self.entities:
            with contextlib.suppress(UserError):
                entities.append(self._argument(entity, "entity", {}, NO_FIELDS))
        for start, end, type_ in row.entities if isinstance(row, Row) else ():
            with contextlib.suppress(UserError):
                entities.append(self.span(start, end, None, "entity", type_))
        del self.left_out[notes:]
        return entities

    def read(self, item: Any) -> RawTriple | None:
        """Return a triple.

        An item of a prediction may have any usual form. One that states no triple gives a wrong
        one.
        """
        if not self.mapped.predicts:
            return self.triple(item)
        try:
            return self.triple(item)
        except UserError as error:
            may_have_other_form = not isinstance(error, PositionError)
            triple = self._triple_in_other_form(item) if may_have_other_form else None
            if triple is not None:
                return triple
            text = shown(item.item if isinstance(item, Malformed) else item)
            example = f"{self.where}: {text}"
            self.left_out.append(LeftOut("malformed_predictions", example, str(error)))
            return RawTriple(text, MALFORMED, "")

    def _triple_in_other_form(self, item: Any) -> RawTriple | None:
        """Return the triple that an item states in another form than that of the format, or None.

        An item of a format with positions has no other form.
        """
        strings = triple_of(item)
        if strings is None or "start" in self.mapped.given:
            return None
        subject, relation, object_ = strings
        try:
            first = self._argument(subject, "subject", {}, NO_FIELDS)
            second = self._argument(object_, "object", {}, NO_FIELDS)
        except UserError:
            return None
        starts = first.start, second.start
        types = first.type, second.type
        return RawTriple(first.text, relation, second.text, *starts, *types, _score_of(item))

    def triple(self, item: Any) -> RawTriple | None:
        """Return a triple as it is listed; None where the label says that there is no relation."""
        mapped, where = self.mapped, self.where
        if isinstance(item, Malformed):
            raise UserError(item.reason)
        if isinstance(item, str):
            item = triple_of(item) or item
        layout = NO_FIELDS
        if isinstance(item, dict):
            layout = mapped.layout_of(item)
            subject = mapped.need(item, "subject", where, layout)
            relation = mapped.need(item, "relation", where, layout)
            object_ = mapped.need(item, "object", where, layout)
        elif isinstance(item, list | tuple):
            subject, relation, object_ = self._parts(item)
        else:
            raise UserError(f"{where}: a triple is {shown(item)}, expected an object or a list")
        parts = (subject, relation, object_)
        if relation in mapped.none or all(map(_is_missing, parts)):
            kind = "pairs_without_relation" if relation in mapped.none else "missing_values"
            if relation in (None, "") and not _is_missing(subject):
                kind = "empty_relations"
            known = [part for part in parts if part is not ABSENT]
            self.left_out.append(LeftOut(kind, f"{where}: {shown(known)}"))
            return None
        if isinstance(item, dict) and item.get("qualifiers"):
            self.left_out.append(LeftOut("attributes", f"{where}: {shown(item)}"))
        if not isinstance(relation, str) or not relation.strip():
            state = (
                "has no relation"
                if relation in (ABSENT, "")
                else f"has the relation {shown(relation)}"
            )
            raise UserError(f"{where}: the triple {shown(item)} {state}, expected a string")
        are_strings = isinstance(subject, str) and isinstance(object_, str)
        if are_strings and not self.entities and self._is_plain(item):
            return RawTriple(subject, relation, object_)
        first = self._argument(subject, "subject", item, layout)
        second = self._argument(object_, "object", item, layout)
        return RawTriple(
            first.text,
            relation,
            second.text,
            first.start,
            second.start,
            first.type,
            second.type,
            _score_of(item),
        )

    def _is_plain(self, item: Any) -> bool:
        """Return whether a triple is a list that the format does not describe."""
        is_described = self.mapped.declared and "relation" in self.mapped.names
        return isinstance(item, list | tuple) and not is_described

    def _parts(self, item: list[Any] | tuple[Any, ...]) -> tuple[Any, Any, Any]:
        """Return subject, relation and object of a triple that is a list.

        Raises:
            UserError: it has more or fewer parts, or other than strings where these are declared.
        """
        mapped = self.mapped
        if mapped.counts_parts():
            subject, relation, object_ = (mapped.find(item, role) for role in PARTS)
            return subject, relation, object_
        needs_strings = mapped.declared and self._is_plain(item)
        has_strings = all(isinstance(part, str) for part in item)
        if len(item) != 3 or (needs_strings and not has_strings):
            expected = ", ".join(
                next(part for part in PARTS if part[0] == letter) for letter in mapped.order
            )
            raise UserError(
                f"{self.where}: expected a triple [{expected}] of three strings, got {shown(item)}"
            )
        subject, relation, object_ = (item[mapped.order.index(letter)] for letter in "sro")
        return subject, relation, object_

    def _argument(self, value: Any, role: str, item: Any, layout: Layout) -> RawEntity:
        """Return the subject or object of a triple; ``layout`` describes an ``item``'s fields."""
        mapped, where = self.mapped, self.where
        fields = item if isinstance(item, dict) else {}
        type_role, start_role, end_role = ARGUMENT_ROLES[role]
        type_ = None
        if type_role in layout.columns:
            type_ = mapped.type_of(fields, type_role, where, layout)
        if start_role in layout.columns or mapped.declared:
            start = mapped.need(fields, start_role, where, layout)
            end = mapped.need(fields, end_role, where, layout)
            if start not in NOWHERE:
                return self.span(start, end, value, role, type_)
        if not isinstance(value, dict):
            value = self._entity_of(value, role)
        if isinstance(value, str) and (value or mapped.declared or not fields):
            return self._named(value, role, item, type_)
        if isinstance(value, dict):
            # DuIE's further arguments, such as where somebody plays a part
            if "@value" in value and len(value) > 1:
                self.left_out.append(LeftOut("further_objects", f"{where}: {shown(value)}"))
            layout = mapped.layout_of(value)
            start = mapped.need(value, "start", where, layout)
            end = mapped.need(value, "end", where, layout)
            name = mapped.find(value, "name", layout)
            if "type" in layout.columns:
                type_ = mapped.type_of(value, "type", where, layout) or type_
            if start not in (ABSENT, None):
                return self.span(start, end, name, role, type_)
            if isinstance(name, str):
                return self._spelt(name, value.get("pos"), type_)
        if (
            isinstance(value, list | tuple)
            and len(value) == 2
            and all(type(edge) is int for edge in value)
        ):
            return self.span(value[0], value[1], None, role, type_)
        state = "is missing" if value is ABSENT else f"is {shown(value)}"
        advice = "" if mapped.declared else f"; --column {role}=PATH says where it stands"
        raise UserError(
            f"{where}: the {role} of {shown(item)} {state}, expected a string, a span, or an entity{advice}"
        )

    def _entity_of(self, value: Any, role: str) -> Any:
        """Return the entity of an id or a position; any other value is returned unchanged."""
        mapped = self.mapped
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and mapped.predicts and not self.entities:
            value = str(value)  # such as a year
        if isinstance(value, str | int) and value in self.keys:
            return self.keys[value]
        points = mapped.declared and {"key", "start"} <= mapped.names.keys()
        if type(value) is int or points:
            return self._listed(value, role)
        return value

    def _named(self, name: str, role: str, item: Any, type_: str | None) -> RawEntity:
        """Return an argument without a position; of a declared format, its name is not blank."""
        if self.mapped.declared and not name.strip():
            raise UserError(
                f"{self.where}: the {role} of {shown(item)} is an empty string, expected a name"
            )
        return RawEntity(name, None, type_)

    def _listed(self, value: Any, role: str) -> Any:
        """Return the listed entity at a position; numeric ids are not positions."""
        given, size = self.mapped.given, len(self.entities)
        called = repr(given[role]) if role in given else f"the {role}"
        if "key" in given or any(isinstance(key, int) for key in self.keys):
            state = "is missing" if value is ABSENT else f"is {shown(value)}"
            name = self.mapped.names["key"][0]
            raise UserError(
                f"{self.where}: {called} {state}, expected the {name!r} of one of {size} entities"
            )
        if not 0 <= value < size:
            raise UserError(
                f"{self.where}: {called} is {value}, expected the position of one of {size} entities"
            )
        return self.entities[value]

    def _spelt(self, name: str, edges: Any, type_: str | None) -> RawEntity:
        """Return a name as spelt in the sentence at its offsets.

        OpenNRE lower-cases names next to ``pos``.
        """
        if (
            self.offsets
            and isinstance(edges, list)
            and len(edges) == 2
            and all(type(edge) is int for edge in edges)
        ):
            first, last = edges
            if 0 <= first < last <= len(self.offsets):
                spelt = self.span(first, last - self.mapped.inclusive, None, "name", type_)
                if spelt.text.casefold() == name.casefold():
                    return spelt
        return RawEntity(name, None, type_)

    def span(self, start: Any, end: Any, name: Any, role: str, type_: str | None) -> RawEntity:
        """Return string and first character of a span; a given name must equal the text."""
        name, end = name if isinstance(name, str) else None, None if end in NOWHERE else end
        first, last = _whole(start), _whole(end)
        if end is None and first is not None and name is not None and self.offsets is None:
            last = first + len(name)
        elif last is not None:
            last += self.mapped.inclusive
        size = len(self.text if self.offsets is None else self.offsets)
        if (
            self.offsets is None
            and first is not None
            and last is not None
            and not self.text.isascii()
        ):
            first, last = self._in_characters(first, last, name)
        if first is None or last is None or not 0 <= first < last <= size:
            unit = "characters" if self.offsets is None else "tokens"
            raise PositionError(
                f"{self.where}: the {role} span {self._edges(start, end)} is outside the text of "
                f"{size} {unit}"
            )
        if self.offsets is not None:
            first, last = self.offsets[first][0], self.offsets[last - 1][1]
        found = self.text[first:last]
        is_named_otherwise = (
            name is not None and name != found and "".join(name.split()) != "".join(found.split())
        )
        if name is not None and is_named_otherwise:
            message = (
                f"{self.where}: the {role} span {self._edges(start, end)} reads {found!r}, but the "
                f"file says {name!r} of it"
            )
            if self.offsets is None:
                raise PositionError(f"{message}; expected offsets in characters of the text")
            if name.casefold() != found.casefold() and role != "entity":
                self.left_out.append(LeftOut("other_names", message))
        return RawEntity(found, first, type_)

    def _edges(self, start: Any, end: Any) -> str:
        """Return a span as a message shows it."""
        return f"[{shown(start)}, {shown(end)}{']' if self.mapped.inclusive else ')'}"

    def _in_characters(self, first: int, last: int, name: str | None) -> tuple[int, int]:
        """Return the offsets of a span in characters.

        Tools written in Java or JavaScript count units of UTF-16, in which an emoji is two. Where
        offsets in characters do not fit the text, and these units do, they are converted and
        counted.
        """
        if self._fits(first, last, name) or max(self.text) <= "\uffff":
            return first, last
        units = list(accumulate((1 + (character > "\uffff") for character in self.text), initial=0))
        if first not in units or last not in units:
            return first, last
        start, end = units.index(first), units.index(last)
        if not self._fits(start, end, name):
            return first, last
        self.left_out.append(LeftOut("utf16_offsets", f"{self.where}: {self.text[start:end]!r}"))
        return start, end

    def _fits(self, first: int, last: int, name: str | None) -> bool:
        """Return whether a span has its name; without a name, whether it has whole words."""
        found = self.text[first:last]
        if name is not None:
            return found == name
        return bool(found) and found == found.strip() and not cuts_word(self.text, first, last)


def _is_missing(part: Any) -> bool:
    """Return whether a part of a triple is a string that tables write for a missing value."""
    return isinstance(part, str) and (part in MISSING or not part.strip())


def _score_of(item: Any) -> float | None:
    """Return the score of a predicted triple; None where it has none that is a finite number."""
    score = item.get("score") if isinstance(item, dict) else None
    if score is None or isinstance(score, bool) or not isinstance(score, int | float):
        return None
    return float(score) if abs(score) <= sys.float_info.max else None  # NaN is not, nor 10**400


def _main_name(names: tuple[str, ...]) -> str:
    """Return the name of a column that messages say."""
    return next((name for name in names if name not in NAMES_OF_SIDES), names[0])


def _whole(value: Any) -> int | None:
    if type(value) is int:
        return value
    is_digits = isinstance(value, str) and value.strip().isdecimal()
    if is_digits or (isinstance(value, float) and value.is_integer()):
        return int(value)
    return None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def decoded(value: Any) -> Any:
    """A list that stands in one cell of a table, as JSON or as Python writes it."""
    if value is None or value == "":
        return []
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    values = literal(value)
    return value if values is None else values


def _turned(columns: dict[str, Any]) -> list[dict[str, Any]]:
    lists = [value for value in columns.values() if isinstance(value, list)]
    if len(lists) != len(columns) or len({len(value) for value in lists}) > 1:
        return [columns]
    return [dict(zip(columns, values, strict=True)) for values in zip(*lists, strict=True)]


def side_of(side: str, columns: Mapping[str, str | None] | None, source: object) -> Side:
    """Return the fields that a mapping reads of rows: the named ones, if it names triples."""
    named = any((columns or {}).get(role) for role in ("triples", "relation"))
    return Side(side, source, PREDICTED_TRIPLES if side == "predict" else (), as_named=named)


def read(
    path: str | Path, columns: Mapping[str, str] | None = None, side: str = "truth"
) -> Iterator[RawSentence | LeftOut]:
    """Yield sentences; ``columns`` is ``{role: path}`` with the fields of :class:`Columns`."""
    chosen = side_of(side, columns, path)
    mapped = Mapped(columns, f"{path}: columns", predicts=chosen.predicts)
    has_header = not mapped.counts_columns()
    return mapped.sentences(
        chosen.rows(read_rows(path, mapped.given.get("rows"), has_header=has_header))
    )


OWN = {"text": ("text",), "triples": (*GOLD_TRIPLES, *USUAL["triples"])}
OWN_PREDICTIONS = {"text": ("text",), "triples": (*PREDICTED_TRIPLES, *USUAL["triples"])}


def read_own(path: str | Path, side: str = "truth") -> Iterator[RawSentence | LeftOut]:
    """Yield sentences of the project's JSON lines or of a collection.

    The format is that of :mod:`tripleaudit.corpora.store`.
    """
    blocks = (
        ((f"{path} line {number}", row) for number, row in read_jsonl(path))
        if is_collection(path)
        else None
    )
    chosen = side_of(side, {}, path)
    mapped = Mapped(OWN_PREDICTIONS if chosen.predicts else OWN, predicts=chosen.predicts)
    rows = chosen.rows(blocks or read_objects(path))
    return mapped.sentences((where, _with_entity_names(row)) for where, row in rows)


def _with_entity_names(row: Any) -> Any:
    """Return a row with the names of its entities, ``names``, if it lists any."""
    names = row.get("names") if isinstance(row, dict) else None
    if not isinstance(names, list) or not all(isinstance(entity, list) for entity in names):
        return row
    names_of_entities = [[str(name) for name in entity] for entity in names]
    left_out, listed = (row.left_out, row.listed) if isinstance(row, Row) else ((), None)
    return Row(row, left_out, listed, names_of_entities)


def _is_readable(row: dict[str, Any], side: str) -> bool:
    return not Mapped(predicts=side == "predict").lacks(with_side(row, side))


FORMATS = (
    CorpusFormat(
        name="jsonl",
        order=12,
        read=read_own,
        keys=("text", "triples"),
        options=("side",),
        detects=lambda probe: (
            is_collection(probe.path) or {"triples", "text"} <= probe.value.keys()
        ),
    ),
    CorpusFormat(
        name="records",
        order=50,
        read=read,
        options=("columns", "side"),
        detects=lambda probe: (
            bool(probe.row) and any(_is_readable(probe.row, side) for side in SIDES)
        ),
    ),
)
