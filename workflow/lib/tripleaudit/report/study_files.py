"""What a report is made from, listed by the workflow or found in the folder of a finished study."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tripleaudit.core.errors import UserError
from tripleaudit.scoring.counts import read_keys
from tripleaudit.scoring.recorded import inputs_of
from tripleaudit.scoring.scores import CLASSIFICATION


@dataclass(frozen=True)
class Predicted:
    """What one system answered on one test set.

    Attributes:
        corpus, protocol, training, extractor, noise: of the run, as the scores file names them.
        predictions, gold: files of sentences. counts: of the run, which name the strata and of
        two-step extraction what passed; None for none. answers: raw answers of a language model,
        with its triples. verdicts: what a judge said of these triples (``factualness.json``, next
        to it ``granularity.json``).
    """

    corpus: str
    protocol: str
    training: str
    extractor: str
    noise: str
    predictions: Path
    gold: Path
    counts: Path | None = None
    answers: Path | None = None
    verdicts: Path | None = None

    @property
    def classifies(self) -> bool:
        """Whether this is a classifier of sentences."""
        return self.counts is not None and self.counts.stem == CLASSIFICATION

    @property
    def entities(self) -> bool:
        """Whether this is a model that was asked for the entities of documents."""
        return self.protocol == NEEDLES


@dataclass(frozen=True)
class ReportFiles:
    """All files of a report; any list but that of the tables may be empty.

    Attributes:
        tables, plots: JSON (``results/<study>/tables/NAME.json``), in the order of the page.
        rows: counts of the predictions that the sentences show
            (:func:`tripleaudit.study.runs.browsed_rows`).
        answers: raw answers of language models (``…/<texts>/<system>/answers.jsonl``).
        verdicts: of a judge on their triples
            (``gre/<data set>/judged/<system>/<judge>/factualness.json``).
        entities: that language models found in documents with needles.
        contrasts: the frame of contrasts, for the headlines.
        provenance: sidecars of trainings, and of the merged scores; facts of all trainings where
            some are stored ones.
    """

    tables: Sequence[str | Path] = ()
    plots: Sequence[str | Path] = ()
    rows: Sequence[str | Path] = ()
    answers: Sequence[str | Path] = ()
    verdicts: Sequence[str | Path] = ()
    entities: Sequence[str | Path] = ()
    contrasts: Sequence[str | Path] = ()
    provenance: Sequence[str | Path] = ()

    @property
    def study(self) -> Path:
        """The folder of the study."""
        return Path(self.tables[0]).parents[1]

    @property
    def predicted(self) -> list[Predicted]:
        """What the sentences show, extractors first.

        Raises:
            UserError: a file is missing, or is not the one that was counted.
        """
        runs = [run for path in self.rows if (run := counted(Path(path), self.study))]
        runs += [answered_by(Path(path), self.verdicts) for path in self.answers]
        return runs + [entities_of(Path(path)) for path in self.entities]


@dataclass(frozen=True)
class StudyFacts:
    """What the page says about the study itself.

    Attributes:
        name, description: of the configuration. config_sha256: digest of the validated
        configuration, empty if unknown. configfiles: paths that ``--configfile`` takes, none for
        the default. seeds, settings: of the configuration, for the list of facts. folder: of the
        results, as the workflow's targets name it; empty where the tables' own folder is meant.
    """

    name: str
    description: str = ""
    config_sha256: str = ""
    configfiles: Sequence[str] = ()
    seeds: Sequence[int] = ()
    settings: Sequence[str] = ()
    folder: str = ""


def counted(counts: Path, study: Path) -> Predicted | None:
    """Describe a run by the keys of its counts, with its sentences from the provenance.

    A system that failed has none: its scores rest on its report.

    Raises:
        UserError: the counts are missing or are something else, or the sentences are gone or have
            changed.
    """
    keys, found = read_keys(counts), inputs_of(study, counts)
    gold, predictions = found.get("gold"), found.get("predictions", found.get("decisions"))
    if not found:
        return None
    if gold is None or predictions is None:
        raise UserError(
            f"{counts}: its gold sentences or predictions are not in {study}; score it there again"
        )
    corpus, protocol, training, extractor = (str(keys.get(name) or "") for name in RUN)
    noise = str(keys.get("noise") or "none")
    return Predicted(corpus, protocol, training, extractor, noise, predictions, gold, counts)


def answered_by(answers: Path, verdicts: Sequence[str | Path] = ()) -> Predicted:
    """Describe the answers of a language model, ``…/<texts>/<system>/answers.jsonl``."""
    texts, system = answers.parts[-3:-1]
    judged = next((path for path in map(Path, verdicts) if path.parts[-3] == system), None)
    triples, gold = answers.with_name("predictions.jsonl"), answers.parents[1] / "reference.jsonl"
    return Predicted(
        texts, GENERATIVE, "", system, "none", triples, gold, answers=answers, verdicts=judged
    )


def entities_of(entities: Path) -> Predicted:
    """Describe the entities that a language model found in documents with needles."""
    gold = entities.parents[2] / "corpus/infusions.jsonl"
    return Predicted("", NEEDLES, "", entities.parent.name, "none", entities, gold)


NEEDLES = "needles"
GENERATIVE = "generative"  # the test sets of language models, where protocols stand
RUN = ("corpus", "protocol", "training", "extractor")


def find_files(folder: str | Path) -> ReportFiles:
    """Find the files of a finished study in ``results/<study>``, with those of the first seed.

    Raises:
        UserError: there is no such folder, or it holds no table.
    """
    folder = Path(folder)

    def found(*patterns: str) -> list[Path]:
        return [path for pattern in patterns for path in sorted(folder.glob(pattern))]

    if not (tables := found("tables/*.json")):
        raise UserError(f"{folder}: no tables/*.json here; expected the folder of a finished study")
    return ReportFiles(
        tables=tables,
        plots=found("plots/*.json"),
        rows=_browsed(found("counts/**/*.csv")),
        answers=found("generative/*/*/answers.jsonl"),
        verdicts=found("gre/*/judged/*/*/factualness.json"),
        entities=found("needles/models/*/entities.jsonl"),
        contrasts=found("contrasts.parquet"),
        provenance=found("models/**/provenance.json", "scores.provenance.json", "trainings.json"),
    )


def _browsed(counts: Sequence[Path]) -> list[Path]:
    """Of every system on every test set the first seed, and of the settings the larger one, WZ."""
    found = {}
    for path in counts:
        keys = {name: str(value or "") for name, value in read_keys(path).items()}
        run = (*(keys.get(name, "") for name in RUN), keys.get("noise", "").removeprefix("none"))
        rank = (-int(keys.get("seed") or 0), keys.get("testing", ""))
        found[run] = max(found.get(run, (rank, path)), (rank, path))
    return [path for _, (_, path) in sorted(found.items())]
