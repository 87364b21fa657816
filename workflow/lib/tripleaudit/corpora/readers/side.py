"""Choice between gold triples and predictions in rows that hold both.

Programs that predict often write their output next to the gold: ``triple_list`` and
``triple_list_pred``, ``relations`` and ``predicted_relations``, ``spo_list_gold`` and
``spo_list_pred``. Predictions must never be read from a gold field, so every reader of JSON rows
passes them through a :class:`Side` first. It finds the side by words in the names of fields
(``PREDICTION_WORDS``, ``GOLD_WORDS``), gives the fields of the wanted side the name that the format
reads, and refuses rows whose side is open.

To support another name: add a word for a side to ``PREDICTION_WORDS`` or ``GOLD_WORDS``, and a
field that holds triples to ``TRIPLE_FIELDS``.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.corpus import LeftOut
from tripleaudit.corpora.readers.row_files import Row, Rows
from tripleaudit.corpora.readers.second_lists import TEXT_FIELDS, fields_with_triples

Name = Literal["truth", "predict"]
SIDES: Final = ("truth", "predict")
PREDICTION_WORDS: Final = frozenset(
    ("pred", "preds", "predict", "predicted", "prediction", "predictions")
)
GOLD_WORDS: Final = frozenset(("gold", "golden", "truth"))
NEVER_SIDED: Final = frozenset(
    ("", "id", "ids", "key", "text", "sentence", "tokens", "score", "scores", "type")
)
"""Names without their side word that hold no triples, such as that of ``prediction_id``."""
TRIPLE_FIELDS: Final = frozenset(
    (
        "triples",
        "triple",
        "triplelist",
        "triplets",
        "relations",
        "relation",
        "relationlist",
        "relationmentions",
    )
    + (
        "spolist",
        "facts",
        "labels",
        "links",
        "relationships",
        "edges",
        "openie",
        "extractions",
        "relationextraction",
    )
)
"""Names of fields that hold triples in some format, without case and underscores."""
MAX_DEPTH: Final = 4  # of objects within a row that are searched for fields of a side
LEAVES: Final = frozenset((str, int, float, bool, type(None)))
"""Types of values that hold no rows."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_LONGEST_FIRST = sorted(PREDICTION_WORDS | GOLD_WORDS, key=len, reverse=True)
_SIDE_WORD = re.compile(
    r"(?:^|(?<=[_. -])|(?<=[a-z])(?=[A-Z]))"  # begins the name, or stands behind a separator or before a capital
    rf"(?i:{'|'.join(_LONGEST_FIRST)})"
    r"(?:[_. -]|(?=[A-Z])|$)"
)


@dataclass(frozen=True)
class _Fields:
    """The fields of rows with the same keys, sorted by side (:func:`_sort_fields`).

    Attributes:
        pairs: predicted field -> the name that the format reads.
        golds: gold field -> the name that the format reads.
        plain: names that the format reads and that are there without a word for a side.
        bare: fields called ``predictions`` or the like.
        bare_golds: fields called ``gold`` or the like.
    """

    pairs: dict[str, str] = field(default_factory=dict)
    golds: dict[str, str] = field(default_factory=dict)
    plain: frozenset[str] = frozenset()
    bare: tuple[str, ...] = ()
    bare_golds: tuple[str, ...] = ()


class Side:
    """Chooses the fields of one side in the rows of one file.

    Args:
        name: ``truth`` for gold triples, ``predict`` for a system's predictions.
        source: the file, in messages.
        accepted: fields with a bare name, such as ``predictions``, that the format reads itself.
        as_named: the caller names the fields to read, so that none is chosen here.
    """

    def __init__(
        self,
        name: str = "truth",
        source: object = "",
        accepted: Collection[str] = (),
        *,
        as_named: bool = False,
    ) -> None:
        if name not in SIDES:
            raise UserError(f"side: {name!r} is unknown, expected truth or predict")
        self.name = name
        self.source = source
        self.accepted = frozenset(accepted)
        self.as_named = as_named
        self.predicts = name == "predict"  # whether predictions are read
        self._fields: dict[tuple[str, tuple[Any, ...]], _Fields] = {}  # by path and keys
        # path of a field that the format reads -> predicted field next to it, in some row
        self._paired: dict[str, str] = {}
        # path of a field that the format reads -> first row without a predicted field next to it
        self._unpaired: dict[str, str] = {}

    def rows(self, rows: Rows) -> Rows:
        """Yield the rows with the fields of this side under their usual names.

        Raises:
            UserError: predictions are wanted, and a row has fields of which either may hold them.
        """
        for where, row in rows:
            yield where, self.choose(row, where) if isinstance(row, dict) else row

    def choose(self, row: dict[str, Any], where: str) -> dict[str, Any]:
        """Return one row with the fields of this side; as :meth:`rows`."""
        if self.as_named:
            return row
        row = self._with_usual_case(row)
        notes: list[LeftOut] = []
        chosen = self._choose(row, where, notes, "", depth=0)
        fields = self._fields["", tuple(row)]
        if fields.bare or fields.bare_golds:
            notes += self._bare_fields(row, fields, where)
        notes = _one_for_each_kind(notes, where)
        if self.predicts:
            self._refuse_second_list(row, fields, where)
        if isinstance(row, Row):
            return Row(chosen, [*row.left_out, *notes], row.listed)
        return Row(chosen, notes) if notes else chosen

    def _with_usual_case(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row with ``preds`` for ``Preds`` where the format reads such a field."""
        if not self.predicts or self.accepted.isdisjoint(str(name).casefold() for name in row):
            return row
        names = [name for name in row if name not in self.accepted]
        others = [name for name in names if str(name).casefold() in self.accepted]
        if not others:
            return row
        renamed = {name.casefold() if name in others else name: row[name] for name in row}
        return Row(renamed, row.left_out, row.listed) if isinstance(row, Row) else renamed

    def _refuse_second_list(self, row: dict[str, Any], fields: _Fields, where: str) -> None:
        """Refuse predictions with a second list of triples.

        Next to a field with a name of the predictions, only others with such names count.

        Raises:
            UserError: it is open which of the fields holds the predictions.
        """
        read = [name for name in fields.bare if name in self.accepted and row[name] is not None]
        paired = [name for name, target in fields.pairs.items() if _is_triple_field(target)]
        if not read and not fields.pairs:
            refuse_second_list(row, fields.bare_golds, fields.golds, where)
        elif read and len(read + paired) > 1:
            others = row.keys() - {*read, *paired} - TEXT_FIELDS
            refuse_second_list(row, others, (), where)

    def _bare_fields(self, row: dict[str, Any], fields: _Fields, where: str) -> list[LeftOut]:
        """Return notes on fields with a bare name, such as ``gold``, that are not read.

        Raises:
            UserError: as :meth:`rows`.
        """
        # stored predictions have both fields, and their format reads both
        if {"predict", "truth"} <= row.keys():
            return []
        second_lists = [name for name in fields.bare_golds if isinstance(row[name], list | dict)]
        notes = [LeftOut("second_lists", f"{where}: {name!r}") for name in second_lists]
        has_gold = second_lists or any(
            map(_is_triple_field, (*fields.plain, *fields.golds.values()))
        )
        for name in fields.bare:
            if not isinstance(row[name], list | dict | str):
                continue
            if name in self.accepted:
                if has_gold:
                    notes.append(LeftOut("predictions_read", f"{where}: {name!r}"))
                continue
            if self.predicts:
                raise UserError(
                    f"{where}: the field {name!r} holds predictions next to what would be read as such; name the "
                    f"field to read, with --predicted-column triples={name}"
                )
            notes.append(LeftOut("predictions_beside", f"{where}: {name!r}"))
        return notes

    def _choose(
        self, row: dict[str, Any], where: str, notes: list[LeftOut], path: str, depth: int
    ) -> dict[str, Any]:
        """Return an object with the fields of this side, also in the objects within it.

        Args:
            row: the object; returned itself if nothing changes.
            where: its file and line, for messages.
            notes: list to which notes on fields that are not read are added.
            path: keys from the row to the object, each followed by a dot.
            depth: number of these keys.
        """
        fields = self._fields.get((path, tuple(row)))
        if fields is None:
            fields = self._add_fields(row, path, where)
        changes: dict[str, Any] = {}
        if depth < MAX_DEPTH:
            for name, value in row.items():
                if type(value) in LEAVES:
                    continue
                if isinstance(value, dict):
                    new: Any = self._choose(value, where, notes, f"{path}{name}.", depth + 1)
                elif isinstance(value, list) and value and isinstance(value[0], dict):
                    new = self._choose_items(value, where, notes, f"{path}{name}.", depth + 1)
                else:
                    continue
                if new is not value:
                    changes[name] = new
        if fields.golds or fields.pairs:
            self._take_sides(fields, row, where, notes, path, depth, changes)
        if self._paired and self.predicts:
            self._refuse_unpaired()
        return {**row, **changes} if changes else row

    def _take_sides(
        self,
        fields: _Fields,
        row: dict[str, Any],
        where: str,
        notes: list[LeftOut],
        path: str,
        depth: int,
        changes: dict[str, Any],
    ) -> None:
        """Add the fields of this side, by the word in their names, to the changes of a row."""
        predicted = ""
        for name, target in fields.golds.items():
            if not self.predicts and isinstance(row[name], list | dict):
                changes[target] = row[name]
        for name, target in fields.pairs.items():
            if not _may_hold_predictions(
                row[name], target in row or target in fields.golds.values()
            ):
                continue
            if self.predicts:
                changes[target] = changes.get(name, row[name])
                predicted = name
            kind = "predictions_read" if self.predicts else "predictions_beside"
            notes.append(LeftOut(kind, f"{where}: {name!r}"))
            self._paired.setdefault(f"{path}{target}", name)
        if predicted and depth == 0:
            self._refuse_gold(fields, row, where, predicted)

    def _refuse_gold(
        self, fields: _Fields, row: dict[str, Any], where: str, predicted: str
    ) -> None:
        """Refuse a row with predictions whose triples have the name of a gold field."""
        for target in fields.plain.difference(fields.pairs.values()):
            if _is_triple_field(target) and row[target]:
                if not _is_triple_field(fields.pairs[predicted]):
                    raise UserError(
                        f"{where}: {target!r} holds the gold, and {predicted!r} holds no triples, so that no field has "
                        f"predictions of {target!r}; give the file with predicted triples, such as 'predicted_{target}'"
                    )
                raise UserError(
                    f"{where}: {target!r} holds the gold where {predicted!r} holds predictions, and no field has "
                    f"predictions of {target!r}; name the field to read, with --predicted-column triples={predicted}"
                )

    def _refuse_unpaired(self) -> None:
        """Refuse files of which only some rows have a predicted field next to the other one."""
        for target, name in self._paired.items():
            if target in self._unpaired:
                raise UserError(
                    f"{self._unpaired[target]}: {target!r} without {name!r}, which other rows of the file have; "
                    f"expected the predictions of every row under {name!r}"
                )

    def _choose_items(
        self, items: list[Any], where: str, notes: list[LeftOut], path: str, depth: int
    ) -> list[Any]:
        """Return a list with the fields of this side in its objects; itself if none changes."""
        chosen = []
        has_changed = False
        for item in items:
            new = item
            if isinstance(item, dict):
                new = self._choose(item, where, notes, path, depth)
            has_changed = has_changed or new is not item
            chosen.append(new)
        return chosen if has_changed else items

    def _add_fields(self, row: dict[str, Any], path: str, where: str) -> _Fields:
        """Return, and remember, the fields of rows with the keys of this one."""
        fields = _sort_fields(tuple(row))
        self._fields[path, tuple(row)] = fields
        for target in fields.plain.difference(fields.pairs.values()):
            self._unpaired.setdefault(f"{path}{target}", where)
        return fields


def _one_for_each_kind(notes: list[LeftOut], where: str) -> list[LeftOut]:
    """Return one note of each kind, with all fields of the row, because rows are counted."""
    merged: dict[str, LeftOut] = {}
    for note in notes:
        first = merged.get(note.kind)
        if first is not None:
            field_name = note.example.removeprefix(where).removeprefix(": ")
            note = first._replace(example=f"{first.example} and {field_name}")
        merged[note.kind] = note
    return list(merged.values())


def refuse_second_list(
    row: dict[str, Any], bare_golds: Collection[str], golds: Collection[str], where: str
) -> None:
    """Refuse predictions of which two fields hold different triples.

    Args:
        bare_golds, golds: fields with a name of the gold, which are not read.

    Raises:
        UserError: it is open which of the fields holds the predictions.
    """
    others = {name: value for name, value in row.items() if name not in {*bare_golds, *golds}}
    fields = fields_with_triples(others, TRIPLE_FIELDS | {"annotations"})
    if len(set(fields.values())) < 2:
        return
    first, second = list(fields)[:2]
    named = ["answer" if isinstance(row[name], str) else "triples" for name in (first, second)]
    raise UserError(
        f"{where}: both {first!r} and {second!r} hold triples; name the field with the predictions, with "
        f"--predicted-column {named[0]}={first} or --predicted-column {named[1]}={second}"
    )


def with_side(row: dict[str, Any], side: str) -> dict[str, Any]:
    """Return the first row of a file with the fields of one side, where nothing is refused yet."""
    try:
        return Side(side, accepted=tuple(row)).choose(row, "")
    except UserError:
        return row


def has_both_sides(row: dict[str, Any]) -> bool:
    """Return whether a row holds gold triples and predictions, under names of one pair."""
    fields = _sort_fields(tuple(row))
    readable = fields.plain | set(fields.golds.values())
    pairs = [name for name, target in fields.pairs.items() if target in readable]
    return {"predict", "truth"} <= row.keys() or any(
        isinstance(row[name], list | dict) for name in pairs
    )


def _is_triple_field(name: str) -> bool:
    """Return whether a field has a name under which some format lists triples."""
    return name.replace("_", "").lower() in TRIPLE_FIELDS


def _may_hold_predictions(value: Any, has_gold: bool) -> bool:
    """Return whether a field called after predictions may hold some.

    Next to a gold field, text and null count as well: an answer, and no answer.
    """
    if isinstance(value, list | dict):
        return True
    return has_gold and (value is None or isinstance(value, str))


def _sort_fields(keys: tuple[Any, ...]) -> _Fields:
    """Sort the fields of a row by the side that their names tell."""
    names = [key for key in keys if isinstance(key, str)]
    predicted: dict[str, Any] = {}
    golds: dict[str, Any] = {}
    plain: dict[str, Any] = {}
    bare: list[str] = []
    bare_golds: list[str] = []
    for name in names:
        words = _WORD.findall(name)
        sides = {word.lower() for word in words} & (PREDICTION_WORDS | GOLD_WORDS)
        rest = [word for word in words if word.lower() not in sides]
        base = "".join(rest).lower()
        if not sides:
            plain[base] = name
        elif not rest:
            (bare if sides <= PREDICTION_WORDS else bare_golds).append(name)
        elif base not in NEVER_SIDED:
            (predicted if sides <= PREDICTION_WORDS else golds)[base] = name
    pairs = {name: plain.get(base) or _without_side(name) for base, name in predicted.items()}
    gold_names = {name: plain.get(base) or _without_side(name) for base, name in golds.items()}
    return _Fields(pairs, gold_names, frozenset(plain.values()), tuple(bare), tuple(bare_golds))


def _without_side(name: str) -> str:
    """Return a field's name without its side: ``triple_list`` for ``triple_list_pred``."""
    rest = _SIDE_WORD.sub("", name).strip("_- .")
    return rest[:1].lower() + rest[1:]
