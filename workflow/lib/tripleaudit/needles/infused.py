"""Documents with their needles in them, and the files that keep them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tripleaudit.fields import read_rows, write_rows
from tripleaudit.files import read_json, write_json
from tripleaudit.needles.haystack import Document, Infusion
from tripleaudit.needles.needle import Needle, load_needles


@dataclass
class Corpus:
    """Documents with their needles in them."""

    documents: list[Document]
    needles: list[Needle]
    infusions: dict[str, Infusion]
    report: dict[str, Any] = field(default_factory=dict)

    def placed(self, doc: str) -> list[Needle]:
        """The needles that are in a document, in their order there; drawn ones that did not fit are left out."""
        by_id = {needle.id: needle for needle in self.needles}
        return [by_id[placed.id] for placed in sorted(self.infusions[doc].needles, key=lambda item: item.start)]

    def save(self, folder: str | Path) -> None:
        """Write ``documents.jsonl``, ``needles.jsonl``, ``infusions.jsonl`` and ``corpus.json``."""
        folder = Path(folder)
        write_rows(folder / "documents.jsonl", self.documents)
        write_rows(folder / "needles.jsonl", self.needles)
        write_rows(folder / "infusions.jsonl", self.infusions.values())
        write_json(folder / "corpus.json", self.report)

    @classmethod
    def load(cls, folder: str | Path) -> "Corpus":
        """Read what :meth:`save` wrote.

        Raises:
            UserError: a file is missing or was changed.
        """
        folder = Path(folder)
        infusions = read_rows(folder / "infusions.jsonl", Infusion)
        for infusion in infusions:
            infusion.check(folder / "infusions.jsonl")
        return cls(
            read_rows(folder / "documents.jsonl", Document),
            load_needles(folder / "needles.jsonl"),
            {infusion.doc: infusion for infusion in infusions},
            read_json(folder / "corpus.json"),
        )
