"""The GREScores of a study: data sets, systems to score, and the files of each."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tripleaudit.core.arguments import options_of
from tripleaudit.llm import section as settings
from tripleaudit.study.config.grescores import GreGold, Grescores, GreSystem
from tripleaudit.study.language_models import LanguageModels
from tripleaudit.study.paths import StudyPaths, fill
from tripleaudit.study.runs import Runs

GROUND_TRUTH = "groundtruth"
TRAINED, SYSTEM = "trained", "system"  # what is under extractors, and under systems
SOURCES = ("gold", "corpus", "generative")
DETAILS = ("factualness", "granularity")
STORED = ("triples", *DETAILS, "similarities")  # kinds of stored files of a system


@dataclass(frozen=True)
class Planned:
    """A system of a data set, with the files that are scored.

    Attributes:
        name: name of the system, unique in its data set.
        keys: keys of its rows in the scores file: extractor, setting, seed, training, noise.
        files: kind (``triples``, ``factualness``, ``granularity``, ``similarities``) -> file.
        judged: kinds of judgements to request from the judge.
    """

    name: str
    keys: Mapping[str, str]
    files: Mapping[str, str]
    judged: tuple[str, ...] = ()


class GreScores:
    """Data sets of a study whose extracted triples are scored with the GREScores.

    Args:
        config: the section ``grescores``.
        language_models: the extractions by language models, and the judge's endpoint.
        runs: the trainings and systems of the study.
        paths: the files of the study.
    """

    def __init__(
        self, config: Grescores, language_models: LanguageModels, runs: Runs, paths: StudyPaths
    ):
        self.config, self.language_models = config, language_models
        self.runs, self.paths = runs, paths
        self.datasets = config.datasets

    # the systems of a data set

    def corpus_of(self, dataset: str) -> tuple[str | None, str]:
        """Return corpus and split of a data set whose texts come from a corpus of the study."""
        chosen = self.datasets[dataset]
        if chosen.generative is not None:
            texts = self.language_models.config.datasets[chosen.generative]
            return texts.corpus, texts.split
        return chosen.corpus, "test"

    def gold(self, dataset: str) -> str:
        """Return the gold file of a data set."""
        chosen = self.datasets[dataset]
        if chosen.gold is not None:
            return self.paths.file(chosen.gold.triples)
        if chosen.generative is not None:
            return self.paths.results.reference.format(dataset=chosen.generative)
        return self.runs.protocols.set_file(chosen.corpus or "", "original", "nz", "test")

    @cached_property
    def planned(self) -> dict[str, dict[str, Planned]]:
        """The systems of each data set, by name, the ground truth first."""
        return {
            dataset: {system.name: system for system in self._systems(dataset)}
            for dataset in self.datasets
        }

    def _systems(self, dataset: str) -> list[Planned]:
        chosen, located = self.datasets[dataset], self.paths.file
        has_judge = self.config.judge is not None and chosen.judged
        gold = {kind: located(path) for kind, path in stored(chosen.gold).items()}
        gold["triples"] = self.gold(dataset)
        systems = [Planned(GROUND_TRUTH, {"extractor": GROUND_TRUTH, "setting": "gold"}, gold)]
        for name, system in chosen.systems.items():
            files = {kind: located(path) for kind, path in stored(system).items()}
            keys = {"extractor": system.row or name, "setting": system.setting}
            if system.seed is not None:
                keys["seed"] = str(system.seed)
            judged: tuple[str, ...] = ()
            if system.judge and has_judge:
                judged = tuple(kind for kind in DETAILS if kind not in files)
            systems.append(Planned(name, keys, files, judged))
        return systems + self._extracted(dataset, has_judge) + self._own(dataset)

    def _extracted(self, dataset: str, judge: bool) -> list[Planned]:
        """Return the extractions by language models from the texts of a data set."""
        models, texts = self.language_models, self.datasets[dataset].generative
        found = []
        for name, system in models.extractions:
            if texts is None or name != texts:
                continue
            keys = {"extractor": system, "setting": models.config.systems[system].setting}
            files = {"triples": self.paths.results.answers.format(dataset=texts, system=system)}
            found.append(Planned(system, keys, files, DETAILS if judge else ()))
        return found

    def _own(self, dataset: str) -> list[Planned]:
        """Return the systems of a data set's corpus, and its trained extractors.

        Extractors are trained on the original split.
        """
        (corpus, split), chosen = self.corpus_of(dataset), self.datasets[dataset]
        if chosen.gold is not None or not chosen.extractors or split != "test":
            return []
        rows: list[tuple[str, dict[str, str], str]] = []
        for run in self.runs.extractors:
            if run.corpus == corpus and run.protocol == "original":
                keys = {"training": run.setting, "noise": run.noise, "seed": str(run.seed)}
                rows.append((run.path, {**keys, "setting": TRAINED}, run.extractor))
        for prediction in self.runs.predictions:
            sets = (prediction.corpus, prediction.trainset, prediction.testset)
            if sets == (corpus, "original-nz", "test"):
                path = f"{corpus}/original-nz/{prediction.system}"
                rows.append((path, {"setting": SYSTEM}, prediction.system))
        judged = self.config.judge is not None and chosen.extractors_judged
        systems = []
        for path, keys, name in rows:
            files = {"triples": fill(self.paths.results.predictions, run=path, testset="test")}
            name_in_study, keys = path.replace("/", "-"), {**keys, "extractor": name}
            systems.append(Planned(name_in_study, keys, files, DETAILS if judged else ()))
        return systems

    def texts(self, dataset: str, system: str) -> list[str]:
        """Return the gold file if the judge takes the texts of a system from it, else nothing."""
        own = self.planned[dataset][system].keys["setting"] in (TRAINED, SYSTEM)
        return [self.gold(dataset)] if own else []

    def to_judge(self, dataset: str) -> dict[str, Planned]:
        """Return the systems that the judge is queried about, by name."""
        return {name: system for name, system in self.planned[dataset].items() if system.judged}

    def judged(self, dataset: str, system: str, judge: str, kind: str) -> str:
        """Return the path of a judge's answers about a system."""
        return self.paths.results.judgements.format(
            dataset=dataset, system=system, judge=judge, kind=kind
        )

    def verdicts(self, kind: str = "factualness") -> list[str]:
        """Return the files with the judge's verdicts on extractions of language models."""
        shown = {system for _, system in self.language_models.extractions}
        return [
            self.judged(dataset, name, self.judge, kind)
            for dataset in self.datasets
            for name in self.to_judge(dataset)
            if name in shown
        ]

    def spec(self, dataset: str) -> tuple[str, list[str]]:
        """Return the settings of the scores of a data set as canonical JSON, and their files.

        The JSON refers to files by number, so that it does not change with the study's folder.
        """
        files: list[str] = []
        chosen, systems = self.datasets[dataset], self.planned[dataset].values()

        def number(path: str) -> int:
            if path not in files:
                files.append(path)
            return files.index(path)

        def entry(system: Planned) -> dict[str, Any]:
            judged = {
                kind: self.judged(dataset, system.name, self.judge, kind) for kind in system.judged
            }
            numbered = {kind: number(path) for kind, path in {**system.files, **judged}.items()}
            return {"keys": dict(system.keys), **numbered}

        spec: dict[str, Any] = {
            "corpus": dataset,
            "level": chosen.level,
            "mode": self.config.mode,
            "bootstrap": self.config.bootstrap,
            "seed": self.config.seed,
            "matching": self.config.matching.full(),
            "gold": number(self.gold(dataset)),
            "order": chosen.gold.order if chosen.gold is not None else "auto",
            "systems": [entry(system) for system in systems],
        }
        if chosen.generative is not None:
            # the same sentences with the corpus's own relation names, where those of the gold file
            # are plain
            spec["original"] = number(self.paths.results.texts.format(dataset=chosen.generative))
        return json.dumps(spec, sort_keys=True), files

    # what the jobs are given

    def topic_text(self, wildcards: Any) -> str:
        """Return the training texts of a topic model: configured, else training set, else gold."""
        topics = self.datasets[wildcards.dataset].topics
        if topics is not None and topics.text is not None:
            return self.paths.file(topics.text)
        corpus, _ = self.corpus_of(wildcards.dataset)
        if corpus is None:
            return self.gold(wildcards.dataset)
        return self.paths.results.sentences.format(corpus=corpus, split="train")

    def topic_model(self, wildcards: Any) -> list[str]:
        """Return the topic model of a data set, if it has one."""
        if not self.datasets[wildcards.dataset].topics:
            return []
        return [self.paths.results.topic_vocabulary.format(dataset=wildcards.dataset)]

    def topic_options(self, wildcards: Any) -> list[str]:
        """Return the settings of a topic model as command-line options."""
        topics = self.datasets[wildcards.dataset].topics
        if topics is None:
            return []
        values = {
            "topics": topics.number,
            "seed": self.config.seed,
            "chunk-size": topics.chunk_size,
        }
        return options_of({**values, "evaluated-after": topics.evaluated_after})

    def evaluated(self, wildcards: Any) -> list[str]:
        """Return the file whose texts determine the order of a topic model's training texts."""
        topics = self.datasets[wildcards.dataset].topics
        if topics is None or topics.evaluated_after is None:
            return []
        return [self.gold(wildcards.dataset)]

    @cached_property
    def embedding_endpoint(self) -> str | None:
        """The endpoint that embeds strings; None if a local model does or nothing is embedded."""
        return self.config.embedder.endpoint if self.config.embedder is not None else None

    def encoder(self) -> list[str]:
        """Return the configuration file of the model that embeds strings, if one does."""
        if self.config.embedder is None or self.embedding_endpoint:
            return []
        return [f"{self.paths.model(self.config.embedder.model)}/config.json"]

    def embedding_options(self) -> list[str]:
        """Return the settings of the embedder as command-line options."""
        embedder = self.config.embedder
        if self.embedding_endpoint:
            return options_of({"endpoint": self.embedding_endpoint})
        return options_of({"batch-size": None if embedder is None else embedder.batch_size})

    def embedding_identity(self) -> dict[str, Any]:
        """Return the settings that affect the vectors of the embedding endpoint."""
        name = self.embedding_endpoint
        return settings.answering(self.language_models.section, name) if name else {}

    @property
    def judge(self) -> str | None:
        """The endpoint that judges FS and GS."""
        return None if self.config.judge is None else self.config.judge.endpoint

    def judge_options(self) -> list[str]:
        """Return the settings of judging as command-line options."""
        names = ("factualness_prompt", "granularity_prompt", "most_unreadable")
        return options_of(
            {name.replace("_", "-"): getattr(self.config.judge, name, None) for name in names}
        )

    def judge_identity(self, wildcards: Any) -> dict[str, Any]:
        """Return the settings that affect a judge's answers."""
        judge = self.config.judge
        prompts: tuple[str, ...] = ()
        if judge is not None:
            prompts = (judge.factualness_prompt, judge.granularity_prompt)
        return settings.answering(self.language_models.section, wildcards.judge, *prompts)

    # results

    @property
    def levels(self) -> set[str]:
        """Levels of the data sets: sentence, bag, document."""
        return {dataset.level for dataset in self.datasets.values()}

    def scores(self, dataset: str) -> str:
        """Return the path of the scores of a data set."""
        return self.paths.results.gre_scores.format(dataset=dataset)

    def files(self) -> list[str]:
        """Return the scores of every data set."""
        return [self.scores(dataset) for dataset in self.datasets]


def stored(section: GreGold | GreSystem | None) -> dict[str, str]:
    """Return the stored files that a section names, by kind."""
    named = {kind: getattr(section, kind, None) for kind in STORED}
    return {kind: path for kind, path in named.items() if path}
