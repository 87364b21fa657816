"""A corpus format as a declaration: which column is what, in one line each.

    FORMAT = form("nyt-raw", text="sentText", triples="relationMentions", subject="em1Text", relation="label", …)

Roles are those of :class:`~tripleaudit.corpora.readers.records.Columns`; what a declaration does not name is not looked
for, and what it names has to be there. Several names of a column are a tuple, of which the first that a row has counts.
Subjects and objects are strings; where entities have a ``start``, they are spans, the places of entities in their list
or, with ``key``, the ids of entities there. A type is that of the entity, or beside it.
"""

import functools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tripleaudit.corpora.corpus import LeftOut, RawSentence, RawTriple
from tripleaudit.corpora.readers.common import Probe, read_objects, shown, string_triple, take
from tripleaudit.corpora.readers.records import Argument, Arguments, Mapped, joined_triple
from tripleaudit.corpora.readers.row_files import ABSENT, Rows
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError

Plain = Callable[[dict[str, Any], str, str], tuple[dict[str, Any] | None, str]]


def form(
    name: str,
    /,
    *,
    order: float = float("inf"),
    keys: tuple[str, ...] = (),
    detects: Callable[[Probe], bool] | None = None,
    rows: Callable[[Path], Rows] = read_objects,
    plain: Plain | None = None,
    people: bool = False,
    none: tuple[str, ...] = (),
    strings: str = "",
    choice: tuple[str, tuple[str, ...]] = ("", ()),
    **columns: str | tuple[str, ...],
) -> CorpusFormat:
    """Return the format of files whose rows have these columns.

    Args:
        name: of the format.
        order: its place among those that a file is tried as.
        keys: that every row has.
        detects: whether a file looks like it; by default, whether its first object has all ``keys``.
        rows: ``(path) -> (where, row), …``; by default the objects of a JSON list, or of JSON lines.
        plain: ``(row, where, annotator) -> (row, kind)``, with these columns, of one that has another shape; without a
            row it is left out. A kind (:mod:`tripleaudit.corpora.remarks`) says that, or what else is to be known.
        people: whether several may have annotated a text, of whom ``annotator`` names one.
        none: relations that say that there is none, which are counted.
        strings: a list beside ``triples`` with the same triples as strings, each once; with occurrence ``first`` it
            alone is taken, and otherwise what of it has no place in ``triples`` keeps its strings.
        choice: an option and its values, each of which is a column of triples.
        columns: role -> column.

    Raises:
        UserError: there is no such role.
    """
    option, values = choice
    if values:
        columns["triples"] = values[0]
    declared = functools.partial(Form, name, columns, plain=plain, none=none, strings=strings)
    declared()  # a role that there is none of is refused here

    def read(
        path: str | Path, occurrence: str = "first", columns: Mapping[str, str] | None = None, **chosen: str
    ) -> Iterator[RawSentence | LeftOut]:
        """Yield the sentences; ids are places in the file from 0 where it has none."""
        given = {role: column for role, column in (columns or {}).items() if column is not None}
        if others := [role for role in given if role not in ("annotator", "order", "last")]:
            raise UserError(f"{path}: format {name} says itself what the {others[0]} is; expected no other column")
        value = chosen.get(option, "")
        if value and value not in values:
            raise UserError(f"{option}: {value!r} is unknown, expected {' or '.join(values)}")
        annotator = given.get("annotator", "")
        return declared(occurrence=occurrence, column=value, annotator=annotator).sentences(rows(Path(path)))

    return CorpusFormat(
        name=name,
        order=order,
        read=read,
        keys=keys,
        options=tuple(filter(None, ("occurrence" if strings else "", "columns" if people else "", option))),
        detects=detects or (lambda probe: bool(keys) and set(keys) <= probe.value.keys()),
    )


class Form(Mapped):
    """How the rows of one file of a declared format are read; arguments as of :func:`form`."""

    def __init__(
        self,
        name: str,
        columns: Mapping[str, str | tuple[str, ...]],
        *,
        plain: Plain | None,
        none: tuple[str, ...],
        strings: str,
        occurrence: str = "first",
        column: str = "",
        annotator: str = "",
    ) -> None:
        names = {role: (paths,) if isinstance(paths, str) else paths for role, paths in columns.items()}
        super().__init__({role: paths[0] for role, paths in names.items()}, f"form {name}")
        self.names = {**names, "triples": (column,)} if column else names
        self.beside = "subject_start" in names
        self.plain, self.annotator, self.none, self.strings, self.occurrence = (
            plain,
            annotator,
            none,
            strings,
            occurrence,
        )

    def sentences(self, rows: Rows) -> Iterator[RawSentence | LeftOut]:
        """Yield the sentences, and what was left out behind them."""
        gone: list[LeftOut] = []
        yield from super().sentences(self._kept(rows, gone))
        yield from gone

    def _kept(self, rows: Rows, gone: list[LeftOut]) -> Rows:
        for where, row in rows:
            if self.plain is not None and isinstance(row, dict):
                row, kind = self.plain(row, where, self.annotator)
                if kind:
                    gone.append(LeftOut(kind, where))
            yield where, ABSENT if row is None else row

    def number(self, row: int, sentences: int) -> int:
        return sentences  # rows of one sentence need not stand together

    def lists(self, row: Any) -> bool:
        return "triples" in self.names

    def _key(self, row: dict[str, Any], sentence: RawSentence) -> tuple[str, str]:
        return "text", sentence.text  # an id beside one triple is that of the row

    def check(self, row: dict[str, Any], where: str) -> None:
        """Nothing here: what is missing is said where it is taken."""

    def text(self, row: dict[str, Any], where: str) -> tuple[str, list[tuple[int, int]] | None]:
        role, kind = ("text", str) if "text" in self.names else ("tokens", list)
        value = self.take(row, role, kind, where)
        if role == "tokens" and not all(isinstance(token, str) for token in value):
            raise UserError(f"{where}: {self.names[role][0]!r} holds something that is not a string")
        return super().text(row, where)

    def triples(self, row: dict[str, Any], where: str) -> list[Any]:
        return self.take(row, "triples", list, where)

    def entities(self, row: dict[str, Any], where: str) -> list[Any] | None:
        if "start" in self.names and "entities" in self.names:
            return self.take(row, "entities", list, where)
        listed = self.find(row, "entities")
        return listed if isinstance(listed, list) else None

    def sentence(self, row: dict[str, Any], where: str, number: int) -> RawSentence:
        found = super().sentence(row, where, number)
        if self.strings:
            listed = [string_triple(triple, where) for triple in take(row, self.strings, list, where)]
            found.notes[self.names["triples"][0]] = len(found.triples)
            if self.occurrence == "first":
                found.triples = listed
            else:
                located = {triple[:3] for triple in found.triples}
                found.triples += [triple for triple in listed if triple[:3] not in located]
                found.listed = len(listed)
        return found

    def notes(self) -> dict[str, int]:
        return {"pairs_without_relation": 0} if self.none else {}

    def type_of(self, value: Any, role: str, where: str) -> str | None:
        found = self.find(value, role)
        if isinstance(found, list):
            found = found[0] if found else None
        if found is ABSENT or found is None or found == "":
            return None
        if not isinstance(found, str):
            raise UserError(f"{where}: an entity's type is {shown(found)}, expected a string")
        return found

    def take(self, value: Any, role: str, kind: type, where: str) -> Any:
        """Return what stands at the path of a role, checked.

        Raises:
            UserError: a field on the way is missing or of another type.
        """
        paths = self.names[role]
        for path in paths:
            if path in value:
                return take(value, path, kind, where)
        *above, last = next((path for path in paths if path.partition(".")[0] in value), paths[0]).split(".")
        for key in above:
            value = take(value, key, dict, where)
        return take(value, last, kind, where)

    @property
    def arguments(self) -> type[Arguments]:
        return _Arguments


class _Arguments(Arguments):
    """Subjects and objects in the one form that was declared."""

    mapped: Form

    def __init__(self, mapped: Form, text: str, offsets: Any, entities: list, where: str) -> None:
        super().__init__(mapped, text, offsets, entities, where)
        if not all(isinstance(entity, dict) for entity in entities):
            raise UserError(f"{where}: {mapped.names['entities'][0]!r} holds something that is not an object")
        self.spans = "start" in mapped.names
        if self.spans:  # all of them, since a broken one may be what a triple lacks
            self.placed = {id(entity): self._placed(entity, "entity") for entity in entities}

    def triple(self, item: Any) -> RawTriple | None:
        mapped, where = self.mapped, self.where
        if "relation" not in mapped.names:
            return string_triple(item, where, mapped.order)
        if not isinstance(item, dict):
            raise UserError(f"{where}: {mapped.names['triples'][0]!r} holds something that is not an object")
        relation = mapped.take(item, "relation", str, where)
        if not relation.strip():
            what = "a triple" if "triples" in mapped.names else "the pair"
            raise UserError(f"{where}: {what} has no relation, its {mapped.names['relation'][0]!r} is empty")
        subject, object_ = (self._part(item, role) for role in ("subject", "object"))
        if relation in mapped.none:
            self.odd.append(LeftOut("pairs_without_relation", f"{where}: {subject.text} – {object_.text}: {relation}"))
            return None
        return joined_triple(relation, subject, object_)

    def _part(self, item: dict[str, Any], role: str) -> Argument:
        mapped, where = self.mapped, self.where
        if mapped.beside:
            start, end = (mapped.find(item, f"{role}_{edge}") for edge in ("start", "end"))
            if ABSENT in (start, end):
                name = mapped.names[f"{role}_{'start' if start is ABSENT else 'end'}"][0]
                raise UserError(f"{where}: field {name!r} is missing")
            name = mapped.take(item, role, str, where) if role in mapped.names else None
            return self.span(start, end, name, role, mapped.type_of(item, f"{role}_type", where))
        if not self.spans:
            name = mapped.take(item, role, str, where)
            entity = self.keys.get(name)
            return Argument(name, None, mapped.type_of(entity, "type", where) if entity else None)
        value = mapped.find(item, role)
        if isinstance(value, dict):
            return self._placed(value, role)
        if "key" in mapped.names:
            if not self._is_key(value):
                state = "is missing" if value is ABSENT else f"is {shown(value)}"
                expected = f"expected the {mapped.names['key'][0]!r} of one of {len(self.entities)} entities"
                raise UserError(f"{where}: {mapped.names[role][0]!r} {state}, {expected}")
            return self.placed[id(self.keys[value])]
        place = mapped.take(item, role, int, where)
        if not 0 <= place < len(self.entities):
            expected = f"expected the place of one of {len(self.entities)} entities"
            raise UserError(f"{where}: {mapped.names[role][0]!r} is {place}, {expected}")
        return self.placed[id(self.entities[place])]

    def _placed(self, entity: dict[str, Any], role: str) -> Argument:
        start, end = (self.mapped.take(entity, edge, int, self.where) for edge in ("start", "end"))
        found = self.span(start, end, None, role, self.mapped.type_of(entity, "type", self.where))
        said = self.mapped.find(entity, "name")
        if isinstance(said, str) and said.split() != found.text.split():
            raise UserError(
                f"{self.where}: the {role} span [{start}, {end}) reads {found.text!r}, but the file says {said!r} of "
                "it; expected offsets in characters of the text"
            )
        return found

    def span(self, start: Any, end: Any, name: str | None, role: str, type_: str | None) -> Argument:
        found = super().span(start, end, None, role, type_)
        if name is not None and found.text != name:
            raise UserError(f"{self.where}: the {role} span [{start}, {end}) reads {found.text!r}, expected {name!r}")
        return found
