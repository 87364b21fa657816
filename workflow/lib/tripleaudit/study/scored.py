"""What a study scores: one row for each system on each test set, with all that the row is made
from.

Whoever asks what is scored asks here: the rules (inputs and keys), the scores file (order), the
report (sentences).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.rows import two_step_name

if TYPE_CHECKING:
    from tripleaudit.study.study import Study


@dataclass(frozen=True)
class Scored:
    """One row: predictions of a system on a test set.

    Attributes:
        path: of ``counts/PATH.csv`` and ``scores/PATH.csv``. keys: of the row in the scores file,
        without the study. predictions, gold: files; a classifier's predictions are its decisions.
        train: triples that count as seen; empty for a classifier, and for a corpus without a
        training set. decisions: of the classifier before the system, report: on a system that is
        not trained; empty for none. classifies: whether the system says only which sentences have
        triples.
    """

    path: str
    keys: dict[str, str]
    predictions: str
    gold: str
    train: str = ""
    decisions: str = ""
    report: str = ""
    classifies: bool = False

    @property
    def inputs(self) -> dict[str, str]:
        """The files by the options of ``score-run`` and ``score-classifier``."""
        if self.classifies:
            return {"gold": self.gold, "decisions": self.predictions}
        given = {"train": self.train, "decisions": self.decisions, "report": self.report}
        return {"gold": self.gold, "predictions": self.predictions} | {
            role: one for role, one in given.items() if one
        }

    @property
    def options(self) -> list[str]:
        """What else decides the scores."""
        return ["--only-with-triples"] * (self.keys["testing"] == "nz")


def scored(study: "Study") -> Iterator[Scored]:
    """Yield every row of the scores file, in its order."""
    folder = f"{study.paths.study}/predictions"
    gold_wz = {corpus: study.set_file(corpus, "original", "wz", "test") for corpus in study.corpora}
    seen_nz = {
        corpus: study.set_file(corpus, "original", "nz", "train") for corpus in study.corpora
    }

    def keys(
        corpus: str, system: str, noise: str = "none", seed: object = "", **more: str
    ) -> dict[str, str]:
        return {"corpus": corpus, "extractor": system, "noise": noise, "seed": str(seed), **more}

    def tested(
        path: str,
        trainset: str,
        testset: str,
        testing: str,
        of: dict[str, str],
        report: bool = False,
    ) -> Scored:
        own, training = trainset.rsplit("-", 1)
        protocol, file = own if testset == "test" else testset, f"{folder}/{path}/{testset}"
        return Scored(
            f"{path}/{testset}-{testing}",
            {**of, "protocol": protocol, "training": training, "testing": testing},
            f"{file}.jsonl",
            study.set_file(of["corpus"], protocol, testing, "test"),
            study.set_file(of["corpus"], own, "nz", "train")
            if study.data.has_training(of["corpus"])
            else "",
            report=f"{file}.report.json" if report else "",
        )

    def classified(path: str, of: dict[str, str]) -> Scored:
        of = {**of, "protocol": "original", "training": "wz", "testing": "wz"}
        return Scored(
            f"{path}/classification",
            of,
            f"{folder}/{path}/test.jsonl",
            gold_wz[of["corpus"]],
            classifies=True,
        )

    def two_step(
        path: str, ending: str, gate: str, of: dict[str, str], report: bool = False
    ) -> Scored:
        corpus, file = of["corpus"], f"{folder}/{path}/test"
        of = {**of, "extractor": two_step_name(gate, of["extractor"]), "protocol": "original"}
        decisions = f"{folder}/{corpus}/original-wz/{gate}/none/seed{of['seed']}/test.jsonl"
        found = f"{file}.report.json" if report else ""
        of |= {"training": "nz", "testing": "wz"}
        return Scored(
            f"{path}/{ending}",
            of,
            f"{file}.jsonl",
            gold_wz[corpus],
            seen_nz[corpus],
            decisions,
            found,
        )

    for run in study.runs:
        of = keys(run.corpus, run.extractor, run.noise, run.seed)
        yield from (
            tested(run.path, run.trainset, *test, of) for test in study.testsets(run.trainset)
        )
    for run in study.classifier_runs:
        yield classified(run.path, keys(run.corpus, run.extractor, run.noise, run.seed))
    for run, gate in study.two_step_runs:
        yield two_step(run.path, gate, gate, keys(run.corpus, run.extractor, run.noise, run.seed))
    for corpus, system, gate, seed in study.two_step_systems:
        path = f"{corpus}/original-nz/{system}"
        yield two_step(
            path, f"{gate}-seed{seed}", gate, keys(corpus, system, seed=seed), report=True
        )
    for corpus, trainset, baseline in study.baseline_runs:
        path, of = f"{corpus}/{trainset}/{baseline}", keys(corpus, baseline)
        if BASELINES[baseline].classifier:
            yield classified(path, of)
        else:
            yield from (tested(path, trainset, *test, of) for test in study.testsets(trainset))
    for corpus, trainset, system in study.systems.runs:
        path, of = f"{corpus}/{trainset}/{system}", keys(corpus, system)
        tests = study.systems.testsets(corpus, trainset, system)
        yield from (tested(path, trainset, *test, of, report=True) for test in tests)


def scored_doubles(study: "Study") -> Iterator[Scored]:
    """Yield a row for each test set of each training of twice the epochs, under ``doubled/``.

    They have the keys of the training that they double, and are kept apart from the rows of the
    scores file.
    """
    doubled = {run.path for run in study.doubled_runs}
    for row in scored(study):
        folder = row.path.rpartition("/")[0]
        if folder in doubled and not row.classifies and not row.decisions:
            predictions = row.predictions.replace(
                f"{study.paths.study}/predictions/", f"{study.paths.study}/doubled/", 1
            )
            yield replace(row, path=f"doubled/{row.path}", predictions=predictions)


def browsed(rows: list[Scored], seed: object) -> list[Scored]:
    """Return the rows whose sentences the report shows: one seed; of the settings of a test set
    the larger one.
    """
    mine = [row for row in rows if row.keys["seed"] in ("", str(seed))]
    return [*{(row.predictions, row.decisions): row for row in mine}.values()]
