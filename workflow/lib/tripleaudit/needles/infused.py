"""Documents with infused needles, extractions from them, and the files of both."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tripleaudit.core.files import read_json, read_jsonl, write_json, write_jsonl
from tripleaudit.core.rows import read_rows, write_rows
from tripleaudit.needles.entities import Entity, deduplicated
from tripleaudit.needles.haystack import Document
from tripleaudit.needles.infusion import Infusion
from tripleaudit.needles.needle import Needle, load_needles


@dataclass
class Corpus:
    """Documents with their needles in them."""

    documents: list[Document]
    needles: list[Needle]
    infusions: dict[str, Infusion]
    report: dict[str, Any] = field(default_factory=dict)

    def placed(self, doc: str) -> list[Needle]:
        """Needles in a document in their order; drawn ones that did not fit are left out."""
        by_id = {needle.id: needle for needle in self.needles}
        return [by_id[identifier] for identifier in self.infusions[doc].needles]

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
        documents = read_rows(folder / "documents.jsonl", Document)
        infusions = {
            infusion.doc: infusion for infusion in read_rows(folder / "infusions.jsonl", Infusion)
        }
        for document in documents:
            infusions[document.id].check(document, folder / "infusions.jsonl")
        needles = load_needles(folder / "needles.jsonl")
        return cls(documents, needles, infusions, read_json(folder / "corpus.json"))


@dataclass
class Result:
    """Extraction of a model from a corpus; ``repetitions`` and ``parts`` test document length.

    ``matches`` and ``displaced`` are rows of :meth:`.Index.matches` about the documents with and
    without needles, read back with what :func:`.rate_matches` decided.
    """

    entities: list[Entity]
    calls: list[dict[str, Any]]
    matches: list[dict[str, Any]]
    displaced: list[dict[str, Any]]
    repetitions: list[Entity]
    parts: list[dict[str, Any]]
    report: dict[str, Any]

    def save(self, folder: str | Path) -> None:
        """Write ``report.json``, and the other parts as JSON lines.

        Matches are written as ``matches`` and ``untouched-matches``.
        """
        folder = Path(folder)
        write_rows(folder / "entities.jsonl", self.entities)
        write_jsonl(folder / "deduplicated.jsonl", deduplicated(self.entities))
        write_jsonl(folder / "calls.jsonl", self.calls)
        write_jsonl(folder / "matches.jsonl", self.matches)
        write_jsonl(folder / "untouched-matches.jsonl", self.displaced)
        write_rows(folder / "repetitions.jsonl", self.repetitions)
        write_jsonl(folder / "parts.jsonl", self.parts)
        write_json(folder / "report.json", self.report)

    @classmethod
    def load(cls, folder: str | Path) -> "Result":
        """Read what :meth:`save` wrote and :func:`.rate_matches` added.

        Raises:
            UserError: a file is missing or broken.
        """
        folder = Path(folder)

        def rows_of(name: str) -> list[dict[str, Any]]:
            return [row for _, row in read_jsonl(folder / f"{name}.jsonl")]

        return cls(
            entities=read_rows(folder / "entities.jsonl", Entity),
            calls=rows_of("calls"),
            matches=rows_of("criteria"),
            displaced=rows_of("untouched-criteria"),
            repetitions=read_rows(folder / "repetitions.jsonl", Entity),
            parts=rows_of("parts"),
            report=read_json(folder / "report.json"),
        )
