"""What a report is made from, listed by the workflow or found in the folder of a finished study."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError

RUN_PARTS = ("corpus", "trainset", "extractor", "noise", "seed")


@dataclass(frozen=True)
class Predicted:
    """One prediction file for the error browser: its gold sentences, and the counts that name their strata.

    Attributes:
        corpus, trainset, extractor, noise, seed: what the run is, as its path names it (``original-nz``, ``seed1``).
        predictions, gold, counts: files.
    """

    corpus: str
    trainset: str
    extractor: str
    noise: str
    seed: str
    predictions: Path
    gold: Path
    counts: Path


@dataclass(frozen=True)
class ReportFiles:
    """All files of a report; any list may be empty.

    Attributes:
        tables, plots: HTML tables and SVG plots, in the order of the page.
        scores, counts, audits, runs, gre, needles: what the answers are computed from.
        predictions, gold, browsed: what the error browser shows: prediction files, and of each the gold sentences and
            the per-sentence counts.
        provenance: sidecars of trainings, predictions and scores.
    """

    tables: Sequence[str | Path] = ()
    plots: Sequence[str | Path] = ()
    scores: Sequence[str | Path] = ()
    counts: Sequence[str | Path] = ()
    audits: Sequence[str | Path] = ()
    runs: Sequence[str | Path] = ()
    gre: Sequence[str | Path] = ()
    needles: Sequence[str | Path] = ()
    predictions: Sequence[str | Path] = ()
    gold: Sequence[str | Path] = ()
    browsed: Sequence[str | Path] = ()
    provenance: Sequence[str | Path] = ()

    @property
    def predicted(self) -> list[Predicted]:
        """What the error browser shows."""
        return [predicted_of(*paths) for paths in zip(self.predictions, self.gold, self.browsed, strict=True)]


@dataclass(frozen=True)
class StudyFacts:
    """What the page says about the study itself.

    Attributes:
        name, description: of the configuration.
        config_sha256: digest of the validated configuration, empty if unknown.
        configfiles: paths that ``--configfile`` takes, none for the default.
        seeds, settings: of the configuration, for the list of facts.
        table_options: table -> options of the configuration, so that answers use the table's matching rule.
    """

    name: str
    description: str = ""
    config_sha256: str = ""
    configfiles: Sequence[str] = ()
    seeds: Sequence[int] = ()
    settings: Sequence[str] = ()
    table_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def predicted_of(prediction: str | Path, gold: str | Path, counts: str | Path) -> Predicted:
    """Describe ``…/predictions/<corpus>/<training set>/<extractor>/<noise>/<seed>/test.jsonl``.

    What is not trained has neither noise nor seed: ``…/predictions/<corpus>/<training set>/<system>/test.jsonl``.

    Raises:
        UserError: the path has fewer folders.
    """
    path = Path(prediction)
    parts: Any = path.parent.parts[-len(RUN_PARTS) :]
    if "predictions" in parts and len(parts) - parts.index("predictions") == 4:
        parts = (*parts[parts.index("predictions") + 1 :], "none", "")
    if len(parts) < len(RUN_PARTS):
        raise UserError(f"{path}: expected …/{'/'.join(f'<{part}>' for part in RUN_PARTS)}/{path.name}")
    return Predicted(*parts, predictions=path, gold=Path(gold), counts=Path(counts))


def find_files(folder: str | Path) -> ReportFiles:
    """Find the files of a finished study in ``results/<study>``; of several seeds, the first is browsed.

    Raises:
        UserError: there is no such folder, or it holds no table.
    """
    folder = Path(folder)
    tables = sorted((folder / "tables").glob("*.html"))
    if not tables:
        raise UserError(f"{folder}: no tables/*.html here; expected the folder of a finished study")
    every = {
        name: sorted(path for one in patterns.split() for path in folder.glob(one))
        for name, patterns in PATTERNS.items()
    }
    predicted = _find_predicted(folder)
    return ReportFiles(
        tables=tables,
        predictions=[run.predictions for run in predicted],
        gold=[run.gold for run in predicted],
        browsed=[run.counts for run in predicted],
        **every,
    )


PATTERNS = {
    "plots": "plots/*.svg",
    "scores": "scores.csv",
    "counts": "counts/**/test-*.csv",
    "audits": "audits/*/*.json",
    "runs": "trainings.json systems.json",
    "gre": "gre/scores.csv",
    "needles": "needles/scores.csv",
    "provenance": "models/**/provenance.json",
}


def _find_predicted(folder: Path) -> list[Predicted]:
    found: dict[tuple[str, ...], Predicted] = {}
    trained = sorted((folder / "predictions").glob("*/original-?z/*/*/*/test.jsonl"))
    systems = sorted((folder / "predictions").glob("*/original-nz/*/test.report.json"))
    for path in [*trained, *(report.with_name("test.jsonl") for report in systems)]:
        run = path.parent.relative_to(folder / "predictions").as_posix()
        corpus, trainset, extractor, noise, seed = (*run.split("/"), "none", "")[: len(RUN_PARTS)]
        if extractor.startswith("zcc-"):
            continue
        for testing in ("wz", "nz"):
            gold = folder / "protocols" / corpus / "original" / testing / "test.jsonl"
            counts = folder / "counts" / run / f"test-{testing}.csv"
            if gold.exists() and counts.exists():
                found.setdefault((corpus, trainset, extractor, noise), predicted_of(path, gold, counts))
                break
    return sorted(found.values(), key=lambda run: (run.corpus, run.trainset, run.extractor, run.noise != "none"))


def facts_from_json(text: str) -> StudyFacts:
    """Read the facts of a study from a JSON object with the fields of :class:`StudyFacts`.

    Raises:
        UserError: not JSON, or an unknown field.
    """
    try:
        return StudyFacts(**json.loads(text))
    except (TypeError, json.JSONDecodeError) as error:
        raise UserError(f"facts of the study: {error}") from error
