"""Stored evidence of a study: its contrasts and other measured values, small enough to ship.

A folder of evidence has ``contrasts.csv`` (the columns of the frame ``contrasts``, for each unit of
resampling, and encoder and how the trainings ended), ``measures.csv`` (one value a row) and
``provenance.json``. It is made from the folder of a finished study.
"""

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import atomic_write, open_text, read_json, write_json
from tripleaudit.core.provenance import git_state
from tripleaudit.core.shipped import PROJECT
from tripleaudit.core.version import __version__
from tripleaudit.evidence.stored_tables import stored_minutes
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.matching import PRIMARY
from tripleaudit.scoring.scores import read_scores
from tripleaudit.scoring.units import UNITS
from tripleaudit.tables.contrasts import COLUMNS, SYSTEMS, contrast_names, contrasts
from tripleaudit.tables.frames import doubled_frames
from tripleaudit.tables.inputs import load_inputs
from tripleaudit.tables.result_frames import ResultFrames
from tripleaudit.tables.study_facts import TRAINING_KEYS, UNKNOWN, StudyFacts, ended

STORED: Final = PROJECT / "resources" / "results"
CONTRASTS: Final = "contrasts.csv"
MEASURES: Final = "measures.csv"
PROVENANCE: Final = "provenance.json"
CONTRAST_COLUMNS: Final = (*COLUMNS, "encoder", "ended")
MEASURE_COLUMNS: Final = (
    "corpus", "protocol", "system", "training", "measure", "value", "low", "high", "cases", "seeds",
)  # fmt: skip
GRE_METRICS: Final = ("fs", "f1")
DIGITS: Final = 6

StoredRow = dict[str, Any]


@dataclass(frozen=True)
class Evidence:
    """What a study measured.

    Attributes:
        study: name.
        contrasts: rows with :data:`CONTRAST_COLUMNS`.
        measures: rows with :data:`MEASURE_COLUMNS`.
        random_splits: of ``tripleaudit audit --random-splits N --json``; empty for other evidence.
    """

    study: str
    contrasts: Sequence[StoredRow] = ()
    measures: Sequence[StoredRow] = ()
    random_splits: Mapping[str, Any] | None = None

    def write(self, folder: str | Path) -> None:
        """Write the evidence to a folder."""
        folder = Path(folder)
        _write_rows(folder / CONTRASTS, CONTRAST_COLUMNS, self.contrasts)
        _write_rows(folder / MEASURES, MEASURE_COLUMNS, self.measures)
        state = git_state() or {}
        facts = {
            "study": self.study,
            "command": f"tripleaudit claims results/{self.study} --store FOLDER",
            "version": __version__,
            "commit": state.get("commit"),
        }
        write_json(folder / PROVENANCE, facts)


def stored_evidence(studies: Collection[str]) -> list[Path]:
    """Return the folders and files of evidence that ship with the project.

    Args:
        studies: that are evidence of the papers' claims; of one that has no folder of evidence, its
            page of tables.
    """
    folders = sorted(path.parent for path in STORED.glob(f"*/{PROVENANCE}"))
    known = {folder.name for folder in folders}
    pages = [path for path in sorted(STORED.glob("*.md")) if path.stem in studies]
    pages = [path for path in pages if path.stem not in known]
    return [*folders, *pages, *sorted(STORED.glob("random-splits*.json"))]


def load_evidence(path: str | Path) -> Evidence:
    """Load the evidence of a finished study, a folder of evidence or an audit with random splits.

    Raises:
        UserError: the path is something else.
    """
    path = Path(path)
    if path.is_file() and path.suffix == ".json":
        audit = read_json(path)
        if isinstance(audit, dict) and audit.get("random_splits"):
            return Evidence(path.stem, random_splits=audit["random_splits"])
    if path.is_file() and path.suffix == ".md":
        return Evidence(path.stem, measures=stored_minutes(path))
    if (path / CONTRASTS).is_file() and (path / PROVENANCE).is_file():
        study = read_json(path / PROVENANCE)["study"]
        return Evidence(study, _read_rows(path / CONTRASTS), _read_rows(path / MEASURES))
    if (path / "scores.csv").is_file() or (path / "gre" / "scores.csv").is_file():
        return study_evidence(path)
    raise UserError(
        f"{path}: no evidence; expected the folder of a finished study, a folder with {CONTRASTS} and "
        f"{PROVENANCE}, a page of resources/results, or the JSON of `tripleaudit audit --random-splits N --json`"
    )


def study_evidence(folder: Path) -> Evidence:
    """Compute the evidence of a finished study from its counts, audits and scores."""
    all_counts = sorted((folder / "counts").rglob("*.csv"))
    doubled = [path for path in all_counts if "doubled" in path.relative_to(folder).parts]
    counts = [path for path in all_counts if path not in doubled]
    facts = [
        path for name in ("trainings", "systems") if (path := folder / f"{name}.json").is_file()
    ]
    scores = [path for path in (folder / "scores.csv",) if path.is_file()]
    inputs = load_inputs(scores=scores, counts=counts, runs=facts)
    rows = list(_contrast_rows(inputs.frames, doubled)) if counts else []
    measures = [
        *_triple_types(sorted((folder / "audits").rglob("*.json"))),
        *_gre_values(folder / "gre" / "scores.csv"),
        *_training_minutes(inputs.facts),
    ]
    return Evidence(folder.resolve().name, rows, measures)


def _contrast_rows(frames: ResultFrames, doubled: Sequence[Path]) -> Iterator[StoredRow]:
    """Yield the contrasts of trained and published systems, for each unit of resampling."""
    doubles = doubled_frames(frames, doubled) if doubled else None
    names = contrast_names() - {SYSTEMS}
    for unit in UNITS:
        for results in (frames, doubles):
            if results is not None:
                _resample(results, unit)
        frame = contrasts(frames, PRIMARY, doubles, names)
        for row in frame.to_dict("records"):
            if {row["extractor_first"], row["extractor_second"]} & BASELINES.keys():
                continue
            yield {**row, **_training_facts(frames.facts, row)}


def _resample(frames: ResultFrames, unit: str) -> None:
    """Set the unit of resampling of all counts."""
    for by_seed in frames.counts.values():
        for counts in by_seed.values():
            counts.unit = unit


def _training_facts(facts: StudyFacts, row: Mapping[str, Any]) -> dict[str, str]:
    """Return the encoder behind both sides of a contrast, and how their trainings ended."""
    encoders: dict[str, None] = {}
    endings: dict[str, None] = {}
    for side in ("first", "second"):
        keys = {
            name.removesuffix(f"_{side}"): row[name] for name in row if name.endswith(f"_{side}")
        }
        for fact in facts.trainings_behind({**keys, "corpus": row["corpus"]}):
            encoder = fact.get("encoder")
            name = f"{encoder['name']}, {encoder['layers']} layers" if encoder else UNKNOWN
            encoders[name] = None
            endings[ended([fact]) or UNKNOWN] = None
    return {
        "encoder": "; ".join(encoders) or UNKNOWN,
        "ended": "; ".join(endings) or UNKNOWN,
    }


def _triple_types(audits: Iterable[Path]) -> Iterator[StoredRow]:
    """Yield the share of each triple type and the sentences of each stratum."""
    for path in audits:
        audit = read_json(path)
        keys = {"corpus": audit["keys"]["corpus"], "protocol": audit["keys"]["protocol"]}
        total = sum(part["count"] for part in audit["triple_types"].values())
        for name, part in audit["triple_types"].items():
            yield {
                **keys,
                "measure": f"triples/{name}",
                "value": 100 * part["share"],
                "cases": total,
            }
        for name, part in audit["strata"].items():
            yield {**keys, "measure": f"sentences/{name}", "value": part["count"]}


def _gre_values(path: Path) -> Iterator[StoredRow]:
    """Yield factualness and F1 by exact strings of systems with GREScores, in percent."""
    if not path.is_file():
        return
    for score in read_scores([path]):
        is_gre = score.key("protocol").startswith("gre-")
        if is_gre and score.stratum == "all" and score.metric in GRE_METRICS:
            yield {
                "corpus": score.key("corpus"),
                "protocol": score.key("protocol"),
                "system": score.key("extractor"),
                "measure": score.metric,
                "value": 100 * score.value,
                "low": None if score.low is None else 100 * score.low,
                "high": None if score.high is None else 100 * score.high,
            }


def _training_minutes(facts: StudyFacts) -> Iterator[StoredRow]:
    """Yield the mean minutes of the trainings that differ in their seed alone."""
    for training, seeds in facts.trainings.items():
        values = [fact["seconds"] for fact in seeds if fact.get("seconds")]
        if not values:
            continue
        keys = dict(zip(TRAINING_KEYS, training, strict=True))
        yield {
            "corpus": keys["corpus"],
            "protocol": keys["protocol"],
            "system": keys["extractor"],
            "training": keys["training"],
            "measure": "minutes",
            "value": fmean(values) / 60,
            "seeds": len(values),
        }


def _write_rows(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _text(row.get(name)) for name in columns})
    with atomic_write(path) as file:
        file.write(stream.getvalue())


def _text(value: Any) -> Any:
    """Return a number with few digits, an empty text for a missing one."""
    if value is None or value != value:
        return ""
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else value


def _read_rows(path: Path) -> list[StoredRow]:
    with open_text(path) as stream:
        return [
            {name: _value(text) for name, text in row.items()} for row in csv.DictReader(stream)
        ]


def _value(text: str) -> Any:
    """Return a number where the text is one, None for an empty text."""
    if text == "":
        return None
    try:
        return float(text)
    except ValueError:
        return text
