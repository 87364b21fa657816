"""Documents with their needles in them, and the files that keep them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tripleaudit.files import read_json, read_jsonl, write_json, write_jsonl
from tripleaudit.needles.haystack import Document, Infusion, infusion_from_json, load_documents, save_documents
from tripleaudit.needles.needle import Needle, load_needles, save_needles


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
        save_documents(folder / "documents.jsonl", self.documents)
        save_needles(folder / "needles.jsonl", self.needles)
        write_jsonl(folder / "infusions.jsonl", (item.to_json() for item in self.infusions.values()))
        write_json(folder / "corpus.json", self.report)

    @classmethod
    def load(cls, folder: str | Path) -> "Corpus":
        """Read what :meth:`save` wrote.

        Raises:
            UserError: a file is missing or was changed.
        """
        folder = Path(folder)
        path = folder / "infusions.jsonl"
        infusions = [infusion_from_json(row, f"{path} line {number}") for number, row in read_jsonl(path)]
        return cls(
            load_documents(folder / "documents.jsonl"),
            load_needles(folder / "needles.jsonl"),
            {infusion.doc: infusion for infusion in infusions},
            read_json(folder / "corpus.json"),
        )
