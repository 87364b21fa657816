"""The plan of a study's GREScores: which systems of which data sets, from which files. Free of heavy imports."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LEVELS = ("sentence", "bag", "document")
GROUND_TRUTH = "groundtruth"
TRAINED = "trained"
SOURCES = ("gold", "corpus", "generative")
DETAILS = ("factualness", "granularity")
FILES = ("triples", "factualness", "granularity", "similarities", "text")  # keys of the section that name files


@dataclass(frozen=True)
class Planned:
    """One system of a data set.

    Attributes:
        name: of the system; unique in its data set.
        keys: what its rows of the scores file say: extractor, setting, seed, training, noise.
        files: kind (``triples``, ``factualness``, ``granularity``, ``similarities``) -> file.
        asked: kinds of judgements that the judge is asked for.
    """

    name: str
    keys: Mapping[str, str]
    files: Mapping[str, str]
    asked: tuple[str, ...] = ()


class GrePlan:
    """The plan of one validated section ``grescores``.

    Args:
        section: of the configuration.
        runs: data set -> the trained extractors to score: ``(name, keys, prediction file)``.
        extractions: generative data set -> its systems: ``(name, keys, result file)``.
        golds: data set name -> gold file, for data sets with ``corpus`` or ``generative``.
        originals: data set name -> the same sentences with the corpus's own relation names, for data sets whose gold
            file has plain ones (``generative``); the relations of trained extractors are verbalised with them.
    """

    def __init__(
        self,
        section: Mapping[str, Any],
        runs: Mapping[str, list[tuple[str, dict[str, str], str]]] | None = None,
        extractions: Mapping[str, list[tuple[str, dict[str, str], str]]] | None = None,
        golds: Mapping[str, str] | None = None,
        originals: Mapping[str, str] | None = None,
    ) -> None:
        self.section = section
        self._runs, self._extractions = runs or {}, extractions or {}
        self._golds, self._originals = golds or {}, originals or {}

    @property
    def datasets(self) -> dict[str, Mapping[str, Any]]:
        """The data sets by name."""
        return dict(self.section.get("datasets") or {})

    def gold(self, dataset: str) -> str:
        """Return the gold file of a data set."""
        own = self.datasets[dataset].get("gold")
        return own["triples"] if own else self._golds[dataset]

    def systems(self, dataset: str) -> list[Planned]:
        """Return the systems of a data set, the ground truth first."""
        settings = self.datasets[dataset]
        judge = bool(self.section.get("judge")) and settings.get("judged", True)
        gold = {**(settings.get("gold") or {}), "triples": self.gold(dataset)}
        found = [Planned(GROUND_TRUTH, {"extractor": GROUND_TRUTH, "setting": "gold"}, gold)]
        for name, system in (settings.get("systems") or {}).items():
            files = {kind: system[kind] for kind in ("triples", *DETAILS, "similarities") if system.get(kind)}
            keys = {"extractor": system.get("row") or name, "setting": system.get("setting", "open")}
            if system.get("seed") is not None:
                keys["seed"] = str(system["seed"])
            asked = tuple(kind for kind in DETAILS if kind not in files) if system.get("judge") and judge else ()
            found.append(Planned(name, keys, files, asked))
        for name, keys, path in self._extractions.get(settings.get("generative"), []):
            found.append(Planned(name, keys, {"triples": path}, DETAILS if judge else ()))
        if settings.get("extractors", True):
            for name, keys, path in self._runs.get(dataset, []):
                found.append(Planned(name, {**keys, "setting": TRAINED}, {"triples": path}))
        return found

    def asked(self, dataset: str) -> list[Planned]:
        """Return the systems that the judge is asked about."""
        return [system for system in self.systems(dataset) if system.asked]

    def spec(self, dataset: str, judged: Mapping[tuple[str, str], str] | None = None) -> tuple[str, list[str]]:
        """Return what decides the scores of a data set, as canonical JSON, and the files that it refers to by number.

        Paths are kept out of the JSON, so that it stays the same where a study moves to another folder.

        Args:
            judged: (system, kind) -> file with the judge's answers.
        """
        files: list[str] = []

        def number(path: str) -> int:
            if path not in files:
                files.append(path)
            return files.index(path)

        systems = []
        for system in self.systems(dataset):
            paths = {**system.files, **{kind: (judged or {})[system.name, kind] for kind in system.asked}}
            entry = {"keys": dict(system.keys), **{kind: number(path) for kind, path in paths.items()}}
            if system.keys["setting"] == TRAINED and dataset in self._originals:
                entry["original"] = number(self._originals[dataset])
            systems.append(entry)
        spec = {
            "corpus": dataset,
            "level": self.datasets[dataset]["level"],
            "mode": self.section["mode"],
            "bootstrap": self.section["bootstrap"],
            "seed": self.section["seed"],
            "matching": dict(self.section["matching"]),
            "gold": number(self.gold(dataset)),
            "systems": systems,
        }
        return json.dumps(spec, sort_keys=True), files

    def topics(self, dataset: str) -> dict[str, Any] | None:
        """Return the settings of a data set's topic model, None for a data set without TS."""
        return self.datasets[dataset].get("topics")

    def topic_text(self, dataset: str) -> str:
        """Return the file with the training texts of the topic model."""
        topics = self.topics(dataset)
        return topics["text"] or self.gold(dataset)

    @property
    def tables(self) -> list[str]:
        """Names of the tables that these data sets fill."""
        levels = {settings["level"] for settings in self.datasets.values()}
        names = [f"gre-{level}" for level in LEVELS if level in levels]
        return names + (["gre-hard-matching"] if names else [])


def study_plan(
    config: Mapping[str, Any],
    runs: Iterable[Any],
    extractions: Iterable[tuple[str, str]],
    folder: str,
    located: Callable[[str], str] = str,
) -> GrePlan:
    """Return the plan of a whole study, with every file where it lies.

    Args:
        config: a validated configuration.
        runs: the study's trainings (:attr:`tripleaudit.plan.study.Study.runs`).
        extractions: (generative data set, system) for each extraction by a language model.
        folder: of the study.
        located: says where a file lies that the configuration names.
    """
    section, generative = config["grescores"], config["generative"]
    datasets = _located(section.get("datasets") or {}, located)
    own = {name: settings for name, settings in datasets.items() if not settings.get("gold")}
    systems: dict[str, list[tuple[str, dict[str, str], str]]] = {}
    for dataset, system in extractions:
        keys = {"extractor": system, "setting": generative["systems"][system].get("setting") or "open"}
        path = f"{folder}/generative/{dataset}/{system}/answers.jsonl"
        systems.setdefault(dataset, []).append((system, keys, path))
    asked = {name: settings["generative"] for name, settings in own.items() if settings.get("generative")}
    tests = {name: f"{folder}/protocols/{own[name].get('corpus')}/original/nz/test.jsonl" for name in own}
    runs = list(runs)
    return GrePlan(
        {**section, "datasets": datasets},
        runs={name: _runs_of(*corpus_of(settings, generative), runs, folder) for name, settings in own.items()},
        extractions=systems,
        golds=tests | {name: f"{folder}/generative/{dataset}/reference.jsonl" for name, dataset in asked.items()},
        originals={name: f"{folder}/generative/{dataset}/texts.jsonl" for name, dataset in asked.items()},
    )


def corpus_of(settings: Mapping[str, Any], generative: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the corpus and the split of a data set whose texts are the study's own."""
    if settings.get("generative"):
        dataset = generative["datasets"][settings["generative"]]
        return dataset["corpus"], dataset.get("split") or "test"
    return settings.get("corpus"), "test"


def _runs_of(corpus: str | None, split: str, runs: Iterable[Any], folder: str) -> list[tuple[str, dict[str, str], str]]:
    """Return the trained extractors that a data set scores: those of its corpus, trained on the original split."""
    return [
        (
            "-".join(Path(run.path).parts),
            {"extractor": run.extractor, "training": run.setting, "noise": run.noise, "seed": str(run.seed)},
            f"{folder}/predictions/{run.path}/test.jsonl",
        )
        for run in runs
        if run.corpus == corpus and run.protocol == "original" and split == "test"
    ]


def _located(value: Any, located: Callable[[str], str]) -> Any:
    if isinstance(value, Mapping):
        return {
            key: located(part) if key in FILES and isinstance(part, str) else _located(part, located)
            for key, part in value.items()
        }
    return value


def problems(section: Mapping[str, Any], corpora: Any, generative: Mapping[str, Any] | None = None) -> list[str]:
    """Return one sentence for each thing in the section that cannot work, before anything runs.

    Args:
        section: a section that fits its schema.
        corpora: names of the study's corpora.
        generative: the section of that name.
    """
    generative = generative or {}
    endpoints = generative.get("endpoints") or {}
    found = []
    wanted = [("judge", (section.get("judge") or {}).get("endpoint"))]
    wanted.append(("embedder", (section.get("embedder") or {}).get("endpoint")))
    for part, name in wanted:
        if name is not None and name not in endpoints:
            known = ", ".join(sorted(endpoints)) or "none"
            found.append(f"grescores/{part}/endpoint: unknown endpoint '{name}'; known are {known}")
    for name, dataset in (section.get("datasets") or {}).items():
        corpus, source = dataset.get("corpus"), dataset.get("generative")
        if sum(dataset.get(kind) is not None for kind in SOURCES) != 1:
            found.append(f"grescores/datasets/{name}: expected exactly one of {', '.join(SOURCES)}")
        if corpus is not None and corpus not in corpora:
            found.append(f"grescores/datasets/{name}/corpus: unknown corpus '{corpus}'")
        if source is not None and source not in (generative.get("datasets") or {}):
            found.append(f"grescores/datasets/{name}/generative: unknown data set '{source}' of the section generative")
        for system, settings in (dataset.get("systems") or {}).items():
            if system == GROUND_TRUTH:
                found.append(f"grescores/datasets/{name}/systems: '{GROUND_TRUTH}' is the row of the gold triples")
            if settings.get("judge") and not section.get("judge"):
                found.append(f"grescores/datasets/{name}/systems/{system}/judge: there is no grescores/judge to ask")
    return found
