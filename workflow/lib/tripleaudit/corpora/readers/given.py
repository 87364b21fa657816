"""Sentences in memory: rows, a data frame, or lists of triples."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.shipped import shipped
from tripleaudit.corpora.corpus import LeftOut, RawSentence
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.readers.common import shown
from tripleaudit.corpora.readers.records import OWN, Mapped, side_of
from tripleaudit.corpora.readers.side import with_side

EXPECTED = "expected a path, a data frame, rows with 'text' and 'triples', or for each sentence the list of its triples"


class Given:
    """Data under the name of its argument, which messages use in place of a path.

    Args:
        data: a data frame or rows, whose columns are understood like those of a file
            (:mod:`tripleaudit.corpora.readers.records`); :class:`Sentence` objects; or of each
            sentence the list of its triples (subject, relation, object), which then has no text.
            Anything else is refused.
    """

    def __init__(self, name: str, data: Any) -> None:
        self.name = name
        self.gold: Sequence[
            Sentence
        ] = ()  # sentences in the same order, which know the texts that triples lack
        if hasattr(data, "to_dict") and hasattr(data, "columns"):
            data = [
                {key: _plain(value) for key, value in row.items()}
                for row in data.to_dict("records")
            ]
        try:
            self.items: list[Any] = [] if isinstance(data, Mapping) else list(data)
        except TypeError:
            self.items = []
        self.bare = bool(self.items) and all(
            isinstance(item, list | tuple | set) for item in self.items
        )
        if (
            not self.items
            or not self.bare
            and not all(isinstance(item, Mapping | Sentence) for item in self.items)
        ):
            raise UserError(f"{name}: {shown(data)} is no corpus; {EXPECTED}")
        for number, item in enumerate(self.items if self.bare else (), 1):
            if wrong := [each for each in item if not isinstance(each, list | tuple)]:
                raise UserError(
                    f"{name} item {number}: {shown(wrong[0])} is no triple; expected for each sentence the list of its "
                    "triples, [(subject, relation, object), …]"
                )

    def __str__(self) -> str:
        return self.name

    def usual(self) -> bool:
        """Whether the columns of predictions have names that are understood without a mapping."""
        if not isinstance(self.items[0], Mapping):
            return True
        return not Mapped(predicts=True).lacks(with_side(dict(self.items[0]), "predict"))

    def sentences(
        self, columns: Mapping[str, str] | None = None, side: str = "truth"
    ) -> Iterator[RawSentence | LeftOut]:
        """Yield the sentences, as readers of files do."""
        if self.bare and self.gold and len(self.gold) != len(self.items):
            raise UserError(
                f"{self.name}: lists of triples for {len(self.items)} sentences, but the gold has {len(self.gold)}; "
                "expected one list for each, an empty one where there is no triple"
            )
        own = self.bare or isinstance(self.items[0], Sentence)
        rows = (
            (f"{self.name} item {number + 1}", self._row(number))
            for number in range(len(self.items))
        )
        chosen = side_of(side, columns, self.name)
        mapped = Mapped(OWN if own else columns, f"{self.name}: columns", predicts=chosen.predicts)
        return mapped.sentences(chosen.rows(rows))

    def _row(self, number: int) -> dict[str, Any]:
        item = self.items[number]
        if self.bare:
            known = self.gold[number] if self.gold else Sentence(str(number), "")
            return {"id": known.id, "text": known.text, "triples": list(item)}
        return item.to_json() if isinstance(item, Sentence) else dict(item)


def given(data: Any, name: str, texts: bool = False) -> "str | Path | Given":
    """Return a path, found from any folder if its file ships, and anything else as :class:`Given`.

    Raises:
        UserError: there are no texts, which ``texts`` asks for, or it is no corpus.
    """
    if isinstance(data, str | Path):
        return shipped(data)
    found = Given(name, data)
    if texts and found.bare:
        raise UserError(
            f"{name}: lists of triples have no texts; expected rows with 'text' and 'triples'"
        )
    return found


def _plain(value: Any) -> Any:
    """Return a value of a data frame as JSON: no arrays, None for missing values."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return (
        None
        if isinstance(value, float) and value != value or str(value) in ("<NA>", "NaT")
        else value
    )
