"""The systems of a study: what extracts without a training of it, on which test sets, from which
files.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripleaudit.core.descriptors import FORMATS, SYSTEM_KINDS, SystemKind
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.relation_names import load_map
from tripleaudit.scoring.sides import without_texts
from tripleaudit.study.corpora import formats_of
from tripleaudit.study.paths import with_contents
from tripleaudit.study.system_problems import problems
from tripleaudit.study.system_section import FOR_ALL, WHERE_AND_WITH_WHAT, System
from tripleaudit.systems.facts import history_of
from tripleaudit.systems.language_model import identity

if TYPE_CHECKING:
    from tripleaudit.study.study import Study

DECIDES_NOTHING = (
    *WHERE_AND_WITH_WHAT,
    *("timeout", "restarts", "address", "headers", "concurrency", "endpoint"),
)


class Systems:
    """The systems of a study that it does not train.

    Args:
        section: ``systems`` of the configuration.
    """

    def __init__(self, study: "Study", section: Mapping[str, System]):
        self.study = study
        self.given = {name: each for name, each in section.items() if each.trained is None}
        self.trained = {
            name: each.trained for name, each in section.items() if each.trained is not None
        }
        self.all = section

    @cached_property
    def kinds(self) -> dict[str, SystemKind]:
        """System -> its kind, for those that say one."""
        said = {
            name: [key for key in each.given() if key in SYSTEM_KINDS]
            for name, each in self.given.items()
        }
        return {name: SYSTEM_KINDS[keys[0]] for name, keys in said.items() if len(keys) == 1}

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each thing that cannot work, before anything runs."""
        yield from problems(self)

    def stored(self, name: str) -> dict[str, dict[str, list[str]]]:
        """Return corpus -> protocol -> files of a system by ``predictions``."""
        given = self.given[name].predictions
        by_corpus = (
            given if isinstance(given, dict) else dict.fromkeys(self.study.corpora[:1], given)
        )
        found = {}
        for corpus, value in by_corpus.items():
            by_protocol = value if isinstance(value, dict) else {"original": value}
            found[corpus] = {
                protocol: [paths] if isinstance(paths, str) else list(paths)
                for protocol, paths in by_protocol.items()
            }
        return found

    def formats(self, name: str) -> list[str]:
        """Return the formats that stored outputs are read in, all where that is not known; none
        of rows with ids.
        """
        given = self.given[name]
        files = [
            path
            for by_protocol in self.stored(name).values()
            for paths in by_protocol.values()
            for path in paths
        ]
        files = list(map(self.study.paths.file, files))
        with contextlib.suppress(UserError):  # it is not there yet
            if not (given.format or given.columns) and all(
                without_texts(path, ids=True) for path in files
            ):
                return []
        return formats_of(files, given.format or "auto", given.columns) or list(FORMATS)

    def training(self, name: str) -> dict[str, str]:
        """Return corpus -> provenance of the training behind a system by ``predictions``."""
        given = self.given[name].training
        if given is None:
            return {}
        return given if isinstance(given, dict) else dict.fromkeys(self.study.corpora[:1], given)

    def trainings(self) -> list[tuple[str, dict[str, Any]]]:
        """Return ``(provenance, keys)`` of the trainings behind stored predictions, one for each
        row.
        """
        return [
            (self.study.paths.file(self.training(name)[corpus]), self.study.keys(corpus, name))
            for corpus, trainset, name in self.runs
            if trainset == "original-nz" and corpus in self.training(name)
        ]

    def histories(self) -> list[str]:
        """Return the histories next to :meth:`trainings`."""
        return [str(found) for path, _ in self.trainings() if (found := history_of(path))]

    def settings(self, name: str) -> dict[str, Any]:
        """Return the keys of a system with their defaults, those of its kind alone."""
        kind = self.kinds[name]
        full = self.given[name].full()
        found = {key: full[key] for key in dict.fromkeys((kind.name, *kind.options, *FOR_ALL))}
        if isinstance(file := found["relations"], str):
            with contextlib.suppress(UserError):  # which is a problem of the study
                found["relations"] = load_map(self.study.paths.file(file))
        return found

    # what runs

    @cached_property
    def runs(self) -> list[tuple[str, str, str]]:
        """``(corpus, training set, system)`` for everything that is scored.

        Nothing is trained: the training set is what decides which triples of a test set count as
        seen. Stored outputs are scored where there are some.
        """
        return [
            (corpus, trainset, name)
            for name in self.kinds
            for corpus in self.study.corpora
            for trainset in self.study.trainsets
            if trainset.endswith("-nz") and self.testsets(corpus, trainset, name)
        ]

    def testsets(self, corpus: str, trainset: str, name: str) -> list[tuple[str, str]]:
        """Return the ``(test set, testing setting)`` pairs that a system is scored on."""
        own, chosen = trainset.removesuffix("-nz"), self.given[name].protocols
        tested = (
            self.stored(name).get(corpus, {})
            if self.kinds[name].name == "predictions"
            else self.study.protocols
        )
        return [
            (test, testing)
            for test, testing in self.study.testsets(trainset)
            if (set_ := own if test == "test" else test) in tested
            and (chosen is None or set_ in chosen)
            if not self.study.data.gives_schema(set_) or self.takes_schema(name)
        ]

    def takes_schema(self, name: str) -> bool:
        """Whether a system reads the names of relations that it is asked for; of stored outputs
        that is assumed.
        """
        kind, settings = self.kinds[name], self.given[name]
        reads = settings.relations is True or (
            kind.name == "endpoint" and settings.setting != "open"
        )
        return kind.name == "predictions" or (kind.takes_schema and reads)

    @cached_property
    def predicted(self) -> list[tuple[str, str, str, str]]:
        """``(corpus, training set, system, test set)`` of every prediction file."""
        found = {
            (corpus, trainset, name, test)
            for corpus, trainset, name in self.runs
            for test, _ in self.testsets(corpus, trainset, name)
        }
        return sorted(found)

    def path(self, corpus: str, trainset: str, name: str, testset: str = "test") -> str:
        """Return where a prediction file lies, without its ending; the report lies next to it."""
        return f"{self.study.paths.study}/predictions/{corpus}/{trainset}/{name}/{testset}"

    def report(self, corpus: str, trainset: str, name: str, testset: str) -> str:
        """Return where the report on a prediction file lies."""
        return f"{self.path(corpus, trainset, name, testset)}.report.json"

    def reports(self) -> list[str]:
        """Return the reports on all prediction files."""
        return [self.report(*each) for each in self.predicted]

    def threads(self, wildcards: Any) -> int:
        """Return the threads of a system's job."""
        return self.given[wildcards.extractor].threads

    def gpus(self, wildcards: Any) -> int:
        """Return its GPUs."""
        return self.given[wildcards.extractor].gpus

    def mem_mb(self, wildcards: Any, attempt: int) -> int:
        """Return its memory."""
        return self.given[wildcards.extractor].mem_mb * attempt

    def runtime(self, wildcards: Any) -> int | str:
        """Return its time."""
        return self.given[wildcards.extractor].runtime

    @cached_property
    def timed(self) -> dict[str, dict[str, Any]]:
        """Prediction file -> keys, of trainings and baselines that are compared with systems in
        what they take.
        """
        study = self.study
        runs = [run for run in study.runs if run.protocol == "original" and run.noise == "none"]
        trained = {
            f"{study.paths.study}/predictions/{run.path}/test.jsonl": study.run_keys(run)
            for run in runs
        }
        return trained | {
            f"{self.path(corpus, trainset, name)}.jsonl": study.keys(corpus, name)
            for corpus, trainset, name in study.baseline_runs
            if trainset == "original-nz" and not BASELINES[name].classifier
        }

    def keys(self) -> list[dict[str, Any]]:
        """Return the keys of each of :meth:`reports` as the scores file names them."""
        return [
            self.study.keys(
                corpus, name, trainset.removesuffix("-nz") if testset == "test" else testset
            )
            for corpus, trainset, name, testset in self.predicted
        ]

    def inputs(self, wildcards: Any) -> dict[str, Any]:
        """Return what a prediction file is made from besides the test set: training triples,
        programs, outputs.
        """
        name, study = wildcards.extractor, self.study
        kind, settings = self.kinds[name], self.settings(name)
        own, protocol = wildcards.testset == "test", wildcards.trainset.rpartition("-")[0]
        files = [study.paths.file(path) for path in self.files(wildcards)]
        if own:
            test = study.testset_file(wildcards)
        else:
            test = study.set_file(wildcards.corpus, wildcards.testset, "nz", "test")
        return {
            "test": test,
            # relations and examples come from here; what is held out of training is held out of
            # these, too
            "train": study.set_file(
                wildcards.corpus,
                protocol if study.data.gives_schema(protocol) else "original",
                "nz",
                "train",
            )
            if study.data.has_training(wildcards.corpus)
            else [],
            "model": study.language_models.served(settings["endpoint"])
            if kind.name == "endpoint"
            else [],
            "files": files,
            "contents": with_contents(files)[len(files) :],
            "programs": sorted({*kind.files(settings), *(settings.get("files") or ())}),
        }

    def gives_schema(self, wildcards: Any) -> bool:
        """Return whether a system is given the relations of a test set, and not those of
        training.
        """
        return self.study.gives_schema(wildcards.trainset, wildcards.testset)

    def files(self, wildcards: Any) -> list[str]:
        """Return the stored outputs for one test set."""
        if self.kinds[wildcards.extractor].name != "predictions":
            return []
        own = wildcards.trainset.removesuffix("-nz")
        protocol = own if wildcards.testset == "test" else wildcards.testset
        return self.stored(wildcards.extractor)[wildcards.corpus][protocol]

    def identity(self, corpus: str, name: str, trainset: str = "original-nz") -> dict[str, Any]:
        """Return what decides the answers of a system besides texts and files."""
        settings = self.settings(name)
        settings.pop("predictions", None)  # the files are inputs
        settings.pop("training", None)  # shown in the tables, by a job of its own
        found = {key: value for key, value in settings.items() if key not in DECIDES_NOTHING}
        if self.kinds[name].name == "endpoint":
            found |= identity(self.study.language_models.section, settings)
        kind, setting = self.kinds[name], settings.get("setting")
        if kind.takes_schema and (settings["relations"] is True or setting not in (None, "open")):
            found["described"] = self.described(corpus, trainset)
        return found

    def described(self, corpus: str, trainset: str = "original-nz") -> dict[str, str]:
        """Return relation -> description as systems are given them with a training set."""
        return self.study.data.described(corpus, trainset.rpartition("-")[0])

    def json(self, wildcards: Any, input: Any) -> str:
        """Return the settings for the job, which Snakemake does not compare."""
        return json.dumps(self.settings(wildcards.extractor), sort_keys=True)

    def job_param(self, wildcards: Any, input: Any, threads: int) -> str:
        """Return :meth:`job` of wildcards; ``input`` keeps Snakemake from comparing it."""
        trainset = wildcards.get("trainset", "original-nz")
        return self.job(wildcards.corpus, wildcards.extractor, threads, trainset)

    def job(self, corpus: str, name: str, threads: int, trainset: str = "original-nz") -> str:
        """Return what the job needs besides the settings."""
        described = self.described(corpus, trainset)
        job: dict[str, Any] = {"threads": threads, "study": self.study.name, "relations": described}
        if self.kinds[name].name == "endpoint":
            job["section"] = self.study.language_models.section
        return json.dumps(job, sort_keys=True)

    def networked(self) -> list[str]:
        """Return the systems that need a network: not what jobs serve themselves."""
        served = self.study.language_models.need_network
        return [
            name
            for name, kind in self.kinds.items()
            if kind.network and (kind.name != "endpoint" or served(self.given[name].endpoint))
        ]


def next_attempt(report: str | Path) -> int:
    """Return the number of the next try of a system: a new one after a try that failed, else that
    of the last one.

    It is a parameter of the rule, so that a system that lost its row is queried again by the next
    run, and one that answered never is.
    """
    try:
        last = read_json(report) if Path(report).is_file() else {}
    except UserError:
        last = {}
    return last.get("attempt", 0) + bool(last.get("failed"))
