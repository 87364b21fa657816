"""Corpora in the forms of other programs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.wording import counted, inflected
from tripleaudit.corpora.exports import LEFT_OUT_TRIPLES
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.readers.given import given
from tripleaudit.corpora.writers import WRITERS


@dataclass(frozen=True)
class ExportResult:
    """What was written.

    Attributes:
        path: the written file; of brat that of the entities, next to which the texts are.
        sentences, triples: numbers of what was written.
        losses: what the form cannot hold -> how often.
    """

    path: Path
    sentences: int
    triples: int
    losses: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [
            f"{self.path}: {counted(self.sentences, 'sentence{s}')}, {counted(self.triples, 'triple{s}')}"
        ]
        lines += [f"  {count} {loss}" for loss, count in self.losses.items()]
        return "\n".join(lines)


def export(
    data: Any,
    path: str | Path,
    to: str,
    *,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    occurrence: str = "first",
) -> ExportResult:
    """Write a corpus in the form of another program.

    Args:
        data: a file of any format, a data frame, or rows with texts and triples.
        path: the file to write.
        to: the form: ``spert``, ``dygie``, ``triple-list``, ``tplinker``, ``label-studio``,
            ``docbin``, ``jsonl``, ``csv``, ``parquet``, ``brat`` or ``docred``.
        format: of the file; ``auto`` recognises it from its content.
        columns: which column of the data is what.
        occurrence: ``first``, ``all`` or ``given``: which positions a string has where the data
            gives none.

    Returns:
        Numbers of sentences and triples, and of what the form cannot hold.

    Raises:
        UserError: the data cannot be read, the form is unknown, or (``brat``, ``docred``, ``csv``)
            it cannot hold a sentence.
    """
    if to not in WRITERS:
        raise UserError(f"to: unknown form {to!r}{hint(to, WRITERS)}")
    source = given(data, "data", texts=True)
    sentences = read_corpus(source, format, occurrence, columns=columns or {}).sentences
    path = Path(path)
    losses = WRITERS[to][1](path, sentences)
    if to == "brat":
        path = path.with_suffix(".ann")
    kept = {inflected(count, loss): count for loss, count in losses.items() if count}
    triples = sum(len(sentence.triples) for sentence in sentences)
    triples -= sum(losses[loss] for loss in LEFT_OUT_TRIPLES)
    return ExportResult(path, len(sentences), triples, kept)
