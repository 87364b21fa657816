"""Build a table from its inputs, complete its notes, and write it in all forms."""

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.tables import labels
from tripleaudit.tables.cells import Cell, Table, of_frame
from tripleaudit.tables.grid import mark_notes
from tripleaudit.tables.inputs import TableInputs, check_options, load_inputs
from tripleaudit.tables.render import write_table
from tripleaudit.tables.result_frames import ResultFrames
from tripleaudit.tables.spec import TABLES, TableSpec
from tripleaudit.tables.study_facts import UNKNOWN, describe_encoder

logger = logging.getLogger(__name__)
PAPER_ENCODER = "The reported values are those of BERT-base (12 layers, 110 million parameters)."
PAPER_LAYOUT = (
    "The authors' CasRel and OneRel use the layout marker (docs/explanation/differences.md)."
)
PARTS = {"gre": "gre", "needles": "needles"}
"""What a table needs -> the part of a study whose scores it shows; all others show extraction."""


@dataclass(frozen=True, kw_only=True)
class ResultFiles:
    """Result files of a study by kind, any of which may be missing.

    Attributes:
        scores, gre_scores, needle_scores: scores files of extraction, GREScores and needles.
        counts: per-sentence counts of every run. doubled: those of trainings of twice the epochs.
        audits: one of each corpus and protocol.
        runs, gre_runs: facts of trainings and systems, and of those with GREScores.
        criteria: needles by criterion. collection: counts of text collections.
        curves: of classifiers. history: losses and scores of trainings.
        predictions: of trainings, next to whose folders their benchmark files are found.
    """

    scores: Sequence[str | Path] = ()
    gre_scores: Sequence[str | Path] = ()
    needle_scores: Sequence[str | Path] = ()
    counts: Sequence[str | Path] = ()
    doubled: Sequence[str | Path] = ()
    audits: Sequence[str | Path] = ()
    runs: Sequence[str | Path] = ()
    gre_runs: Sequence[str | Path] = ()
    criteria: Sequence[str | Path] = ()
    collection: Sequence[str | Path] = ()
    curves: Sequence[str | Path] = ()
    history: Sequence[str | Path] = ()
    predictions: Sequence[str | Path] = ()


class ResultReader:
    """Inputs of the tables and plots of one study; every file is read once.

    Args:
        files: of the study.
    """

    def __init__(self, files: ResultFiles) -> None:
        self.files = files
        self._parts: dict[str, TableInputs] = {}

    def inputs(self, needs: str, options: Mapping[str, Any]) -> TableInputs:
        """Return the inputs of a table or plot.

        Args:
            needs: the kind of files that it is made from.
            options: of the table.

        Raises:
            UserError: a file is bad, or an option is unknown.
        """
        check_options(options)
        part = PARTS.get(needs, "extraction")
        if part not in self._parts:
            self._parts[part] = self._read(part)
        return replace(self._parts[part], options=dict(options))

    def _read(self, part: str) -> TableInputs:
        files = self.files
        further: dict[str, Sequence[str | Path]] = {
            "criteria": files.criteria,
            "collection": files.collection,
            "curves": files.curves,
            "doubled": files.doubled,
            "history": files.history,
            "benchmarks": benchmarks_of(files.predictions),
        }
        if part == "gre":
            return load_inputs(scores=files.gre_scores, runs=files.gre_runs, files=further)
        if part == "needles":
            return load_inputs(scores=files.needle_scores, files=further)
        return load_inputs(
            scores=files.scores,
            counts=files.counts,
            audits=files.audits,
            runs=files.runs,
            files=further,
        )


def benchmarks_of(predictions: Iterable[str | Path]) -> list[Path]:
    """Return the benchmark files next to predictions of a study; some may be lost.

    Raises:
        UserError: a path is not ``<study>/predictions/<run>/test.jsonl``.
    """
    files = []
    for path in map(Path, predictions):
        if len(path.parents) < 7:
            raise UserError(
                f"{path}: expected a study's predictions, <study>/predictions/<run>/test.jsonl"
            )
        study = path.parents[6]
        run = Path(*path.parent.parts[-5:]).with_suffix(".jsonl")
        benchmarks = [study / "benchmarks" / job / run for job in ("train", "predict")]
        files += [benchmark for benchmark in benchmarks if benchmark.exists()]
    return files


def build_table(name: str, inputs: TableInputs) -> Table:
    """Build one table.

    Raises:
        UserError: there is no table of this name, or the builder of a plugin returns neither a
            table nor a data frame.
    """
    spec = find_table(name)
    table = spec.build(inputs)
    if type(table).__name__ == "DataFrame":  # pandas is imported by builders that need it
        table = of_frame(table, spec.question)
    if not isinstance(table, Table):
        raise UserError(
            f"table {name}: its builder returned {type(table).__name__}, expected a Table or a DataFrame"
        )
    table = replace(table, caption=inputs.options.get("caption") or table.caption)
    overview = spec.overview
    if overview is not None:
        overview = tuple((column.label, dict(column.cell_keys)) for column in overview)
    return replace(
        table,
        name=name,
        style=inputs.options.get("style", ""),
        question=spec.question,
        notes=complete_notes(table, inputs.frames),
        order=spec.order,
        overview=overview,
    )


def complete_notes(table: Table, frames: ResultFrames) -> tuple[str, ...]:
    """Return the notes of a table, with those on settings, encoders, unread answers and marks."""
    notes = [*table.notes]
    notes += training_notes(frames, table.cells)
    notes += unread_notes(frames, table.cells)
    text = " ".join(notes)
    heads = [table.caption]
    heads += [f"{column.group} {column.label}" for column in table.columns]
    heads += [f"{row.group} {row.label}" for row in table.rows]
    are_explained = re.search(r"[NW]Z:|(triples|sentences) \([NW]Z", text)
    if re.search(r"\b[NW]Z\b", " ".join(heads)) and not are_explained:
        notes.insert(0, labels.SETTINGS_NOTE)
    shown_marks = "".join(cell.mark + (cell.text or "") for cell in table.cells)
    notes += [note for note in mark_notes(shown_marks) if note[:2] not in text]
    return tuple(notes)


def training_notes(frames: ResultFrames, cells: Iterable[Cell]) -> list[str]:
    """Return the notes on encoder and layout of measured values next to reported ones, if any."""
    measured = [
        cell
        for cell in cells
        if cell.reported is not None and cell.value is not None and cell.of is not None
    ]
    encoders = _systems_by(describe_encoder, frames, measured)
    layouts = _systems_by(lambda fact: fact.get("layout") or UNKNOWN, frames, measured)
    if not encoders:
        return []
    return [
        f"Encoder of the measured values: {encoders}. {PAPER_ENCODER}",
        f"Layout of the tokens: {layouts}. {PAPER_LAYOUT}",
    ]


def _systems_by(
    describe: Callable[[Mapping[str, Any]], str], frames: ResultFrames, cells: Iterable[Cell]
) -> str:
    """Return the systems of cells by a fact of their trainings, ``minilm: CasRel, BiRTE; …``."""
    systems: dict[str, dict[str, None]] = {}
    for cell in cells:
        keys = cell.of or {}
        label = labels.extractor(keys["extractor"], keys["noise"])
        for fact in frames.facts.trainings_behind(keys):
            systems.setdefault(describe(fact), {})[label] = None
    return "; ".join(f"{text}: {', '.join(names)}" for text, names in systems.items())


def unread_notes(frames: ResultFrames, cells: Iterable[Cell]) -> list[str]:
    """Return the note with the number of unread answers of every system in a table, if any."""
    counts: dict[str, None] = {}
    for cell in cells:
        if cell.of is None or cell.value is None:
            continue
        answers = frames.unread_answers(cell.of)
        if answers is not None and answers.unread:
            counts[f"{cell.of['extractor']} {answers.unread} of {answers.answers}"] = None
    if not counts:
        return []
    return [
        f"Unreadable answers (truncated, refused or not in the requested form): {', '.join(counts)}. Complete triples "
        "or entities of a truncated answer count; other unreadable answers count as empty."
    ]


def make_tables(
    files: ResultFiles, tables: Mapping[str, Mapping[str, Any]], out: str | Path
) -> None:
    """Write the tables of a study into a folder, each in five forms.

    Args:
        files: that tables are made from. Missing scores leave gaps.
        tables: name of a table -> its options.
        out: folder of ``NAME.csv``, ``NAME.md``, ``NAME.tex``, ``NAME.html`` and ``NAME.json``.

    Raises:
        UserError: some tables cannot be made; the others are written before, and the message has
            one line for each that failed.
    """
    reader = ResultReader(files)
    problems = []
    for name, options in tables.items():
        try:
            spec = find_table(name)
            table = build_table(name, reader.inputs(spec.needs, options))
            write_table(table, Path(out) / name)
        except UserError as error:
            problems.append(f"table {name}: {str(error).removeprefix(f'table {name}: ')}")
        except Exception as error:
            logger.exception("table %s", name)
            problems.append(f"table {name}: {type(error).__name__}: {error}")
    if problems:
        raise UserError("\n".join(problems))


def find_table(name: str) -> TableSpec:
    """Return the description of a table.

    Raises:
        UserError: there is no table of this name.
    """
    if name not in TABLES:
        raise UserError(f"there is no table {name!r}; expected one of {', '.join(sorted(TABLES))}")
    return TABLES[name]
