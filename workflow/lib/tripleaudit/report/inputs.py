"""What a report is made from, listed by the workflow or found in the folder of a finished study."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.scoring.counts import read_keys


@dataclass(frozen=True)
class Predicted:
    """What one system answered on one test set.

    Attributes:
        corpus, protocol, training, extractor, noise: of the run, as the scores file names them.
        predictions, gold: files of sentences.
        counts: of the run, which name the strata and of two-step extraction what was let through; None for none.
        answers: raw answers of a language model, with its triples.
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

    @property
    def classifies(self) -> bool:
        """Whether this is a classifier, which says of a sentence whether it has triples."""
        return self.counts is not None and self.counts.stem == CLASSIFIED

    @property
    def entities(self) -> bool:
        """Whether this is a model that was asked for the entities of documents."""
        return self.protocol == NEEDLES


@dataclass(frozen=True)
class ReportFiles:
    """All files of a report; any list may be empty.

    Attributes:
        tables, plots: JSON tables and plots, in the order of the page.
        scores: whose sidecars name the data.
        predictions, gold, browsed: what the sentences show: prediction files, and of each the gold sentences and the
            per-sentence counts.
        infused: predictions about infused triples (``…/needles/triples/extractors/<run>`` or ``…/models/<model>``, of a
            system that is not trained ``…/predictions/<corpus>/<training set>/<system>/infused.jsonl``).
        answers: raw answers of language models (``…/<texts>/<system>/answers.jsonl``).
        entities: that language models found in documents with needles (``…/needles/models/<model>/entities.jsonl``).
        provenance: sidecars of trainings, predictions and scores.
    """

    tables: Sequence[str | Path] = ()
    plots: Sequence[str | Path] = ()
    scores: Sequence[str | Path] = ()
    predictions: Sequence[str | Path] = ()
    gold: Sequence[str | Path] = ()
    browsed: Sequence[str | Path] = ()
    infused: Sequence[str | Path] = ()
    answers: Sequence[str | Path] = ()
    entities: Sequence[str | Path] = ()
    provenance: Sequence[str | Path] = ()

    @property
    def predicted(self) -> list[Predicted]:
        """What the sentences show, extractors first."""
        runs = [predicted_of(*paths) for paths in zip(self.predictions, self.gold, self.browsed, strict=True)]
        corpus = next((run.corpus for run in runs), "")
        return [
            *runs,
            *(infused_of(path, corpus) for path in self.infused),
            *(answered_by(path) for path in self.answers),
            *(entities_of(path) for path in self.entities),
        ]


@dataclass(frozen=True)
class StudyFacts:
    """What the page says about the study itself.

    Attributes:
        name, description: of the configuration.
        config_sha256: digest of the validated configuration, empty if unknown.
        configfiles: paths that ``--configfile`` takes, none for the default.
        seeds, settings: of the configuration, for the list of facts.
    """

    name: str
    description: str = ""
    config_sha256: str = ""
    configfiles: Sequence[str] = ()
    seeds: Sequence[int] = ()
    settings: Sequence[str] = ()


def predicted_of(predictions: str | Path, gold: str | Path, counts: str | Path) -> Predicted:
    """Describe a run by the keys of its per-sentence counts.

    Raises:
        UserError: the counts are missing or are something else.
    """
    keys = read_keys(counts)
    corpus, protocol, training, extractor = (str(keys.get(name) or "") for name in RUN)
    noise = str(keys.get("noise") or "none")
    return Predicted(corpus, protocol, training, extractor, noise, Path(predictions), Path(gold), Path(counts))


def answered_by(answers: str | Path) -> Predicted:
    """Describe the answers of a language model, ``…/<texts>/<system>/answers.jsonl``, beside its predictions."""
    path = Path(answers)
    texts, system = path.parts[-3:-1]
    triples, gold = path.with_name("predictions.jsonl"), path.parents[1] / "reference.jsonl"
    return Predicted(texts, GENERATIVE, "", system, "none", triples, gold, answers=path)


def infused_of(predictions: str | Path, corpus: str) -> Predicted:
    """Describe predictions about infused triples, beside the records that they were infused into.

    Args:
        predictions: file; of an extractor its path names the run, which a model has none of.
        corpus: that the measurement of a model belongs to.
    """
    path = Path(predictions)
    if path.stem == INFUSED:
        corpus, _, system = path.parts[-4:-1]
        gold = path.parents[4] / "needles/triples/sentences.jsonl"
        return Predicted(corpus, TRIPLE_NEEDLES, "", system, "none", path, gold)
    folder = next(parent for parent in path.parents if parent.name in ("extractors", "models"))
    if folder.name == "models":
        gold = folder.parent / "pieces.jsonl"
        return Predicted(corpus, PIECES, "", path.parent.name, "none", path, gold)
    corpus, trainset, extractor, noise = path.relative_to(folder).parts[:4]
    gold = folder.parent / "sentences.jsonl"
    return Predicted(corpus, TRIPLE_NEEDLES, trainset.rpartition("-")[2], extractor, noise, path, gold)


def entities_of(entities: str | Path) -> Predicted:
    """Describe the entities that a language model found in documents with needles."""
    path = Path(entities)
    return Predicted("", NEEDLES, "", path.parent.name, "none", path, path.parents[2] / "corpus" / "infusions.jsonl")


CLASSIFIED, NEEDLES = "classification", "needles"
TRIPLE_NEEDLES, PIECES = "triple-needles", "triple-needles-pieces"
INFUSED = "infused"  # what a system said of the documents with triple needles, beside its other test sets
RUN = ("corpus", "protocol", "training", "extractor")
GENERATIVE = "generative"  # the test sets of language models, where protocols stand
PATTERNS = {
    "plots": "plots/*.json",
    "scores": "scores.csv gre/scores.csv needles/scores.csv",
    "provenance": "models/**/provenance.json",
}


def find_files(folder: str | Path) -> ReportFiles:
    """Find the files of a finished study in ``results/<study>``; of several seeds, the first is browsed.

    Raises:
        UserError: there is no such folder, or it holds no table.
    """
    folder = Path(folder)
    tables = sorted((folder / "tables").glob("*.json"))
    if not tables:
        raise UserError(f"{folder}: no tables/*.json here; expected the folder of a finished study")
    every = {
        name: sorted(path for one in patterns.split() for path in folder.glob(one))
        for name, patterns in PATTERNS.items()
    }
    found: dict[tuple[Any, ...], tuple[Path, Path, Path]] = {}
    for counts in sorted(folder.glob("counts/**/*.csv")):
        keys, run = read_keys(counts), counts.parent.relative_to(folder / "counts")
        testset, dash, testing = counts.stem.rpartition("-")
        if testing not in ("nz", "wz"):  # behind a classifier
            testset, testing = "test", keys.get("testing") or "wz"
        predictions = folder / "predictions" / run / f"{testset}.jsonl"
        protocol = run.parts[1].rpartition("-")[0] if testset == "test" else testset
        gold = folder / "protocols" / run.parts[0] / protocol / testing / "test.jsonl"
        if predictions.exists() and gold.exists():
            name = tuple(keys.get(key) for key in (*RUN, "noise"))
            seed = int(keys["seed"]) if str(keys.get("seed", "")).isdecimal() else 0
            known = found.get((*name, seed))
            if known is None or testing == "wz":
                found[*name, seed] = (predictions, gold, counts)
    first: dict[tuple[Any, ...], tuple[Path, Path, Path]] = {}
    for *run_keys, _ in sorted(found, key=lambda keys: (*map(str, keys[:4]), keys[4] != "none", keys[5])):
        seeds = [keys for keys in found if list(keys[:-1]) == run_keys]
        first.setdefault(tuple(run_keys), found[min(seeds, key=lambda keys: keys[-1])])
    browsed = list(first.values())
    return ReportFiles(
        tables=tables,
        predictions=[paths[0] for paths in browsed],
        gold=[paths[1] for paths in browsed],
        browsed=[paths[2] for paths in browsed],
        infused=[
            *first_seeds(folder / "needles/triples/extractors"),
            *sorted(folder.glob(MODELS)),
            *sorted(folder.glob(f"predictions/*/*/*/{INFUSED}.jsonl")),
        ],
        entities=sorted(folder.glob("needles/models/*/entities.jsonl")),
        answers=[path for path in sorted(folder.glob("generative/*/*/answers.jsonl")) if _has_texts(path)],
        **every,
    )


MODELS = "needles/triples/models/*/predictions.jsonl"


def first_seeds(folder: Path) -> list[Path]:
    """Return the predictions of the first seed of every run below a folder."""
    runs: dict[Path, Path] = {}
    for path in sorted(folder.glob("*/*/*/*/seed*/predictions.jsonl"), key=lambda path: int(path.parent.name[4:])):
        runs.setdefault(path.parents[1], path)
    return sorted(runs.values())


def _has_texts(answers: Path) -> bool:
    return answers.with_name("predictions.jsonl").exists() and (answers.parents[1] / "reference.jsonl").exists()


def facts_from_json(text: str) -> StudyFacts:
    """Read the facts of a study from a JSON object with the fields of :class:`StudyFacts`.

    Raises:
        UserError: not JSON, or an unknown field.
    """
    try:
        return StudyFacts(**json.loads(text))
    except (TypeError, json.JSONDecodeError) as error:
        raise UserError(f"facts of the study: {error}") from error
