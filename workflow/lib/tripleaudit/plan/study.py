"""A study as a plan: which trainings, test sets and scores follow from a configuration. Free of heavy imports."""

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tripleaudit.descriptors import EXTRACTORS, TABLES, suggestion, use_plugins
from tripleaudit.errors import UserError
from tripleaudit.extractors.registry import base_name, implied_training
from tripleaudit.plan.grescores import GrePlan
from tripleaudit.shipped import DATA, shipped
from tripleaudit.sources import registry
from tripleaudit.training.settings import deciding
from tripleaudit.yaml_files import read_yaml

PRESETS = DATA / "presets.yaml"
CLASSIFIER = "zcc-"  # a zero-cardinality classifier is trained like an extractor and named zcc-binary or zcc-mcml
DEFAULT_LIMIT = 128  # subwords, of an extractor's configuration class
ONLY_FOR_THE_SCHEDULER = ("mem_mb", "runtime", "preset")
NEEDS = ("audits", "scores", "runs", "gre")  # inputs of the tables that one rule makes; others have rules of their own


@dataclass(frozen=True, order=True)
class Run:
    """One training: a corpus, the training set of a protocol and setting, an extractor, with or without noising."""

    corpus: str
    protocol: str
    setting: str
    extractor: str
    noise: str
    seed: int

    @property
    def trainset(self) -> str:
        return f"{self.protocol}-{self.setting}"

    @property
    def path(self) -> str:
        """The part of every path that names the run, coarse to fine."""
        return f"{self.corpus}/{self.trainset}/{self.extractor}/{self.noise}/seed{self.seed}"


class Study:
    """The plan of one validated configuration (:func:`tripleaudit.plan.configuration.validated`)."""

    def __init__(self, config: dict[str, Any]):
        self.config = config
        self.name: str = config["study"]
        self.corpora: list[str] = list(config["corpora"])
        self.protocols: list[str] = ["original", *(p for p in config["protocols"] if p != "original")]
        self.settings: list[str] = [s for s in ("nz", "wz") if s in config["settings"]]
        self.extractors: list[str] = list(config["extractors"])
        self.classifiers: list[str] = [CLASSIFIER + head for head in config["zcc"]]
        self.noises: list[str] = ["none"] + (["noising"] if config["noising"] is not None else [])
        self.seeds: list[int] = config["seeds"]
        self._slugs: dict[str, str] = {}
        self._check()

    def _check(self) -> None:
        found: list[str] = []
        for name, reference in self.config["own_extractors"].items():
            file = reference.rpartition(":")[0]
            if not Path(file).is_file():
                found.append(f"own_extractors/{name}: {file}: no such file")
            elif name in EXTRACTORS and EXTRACTORS[name].module:
                found.append(f"own_extractors/{name}: the name '{name}' is a built-in extractor's")
            else:
                use_plugins([f"{name}={reference}"])
        known = [name for name, spec in EXTRACTORS.items() if not spec.classifier]
        found = [
            f"extractors/{name}: unknown extractor '{name}'{suggestion(name, known)}"
            for name in self.extractors
            if name not in known
        ] + found
        if self.classifiers and "wz" not in self.settings:
            found.append("zcc: a zero-cardinality classifier needs sentences without triples; add wz to settings")
        chosen = [(f"extractors/{name}", base_name(name), own) for name, own in self.config["extractors"].items()]
        chosen += [(f"zcc/{head}", "zcc", own) for head, own in self.config["zcc"].items()]
        for where, key, own in chosen:
            preset = (own or {}).get("preset")
            by_corpus = preset if isinstance(preset, dict) else {}
            known_presets = ", ".join(self.presets.get(key, {})) or "none"
            found += [
                f"{where}/preset: unknown preset '{name}'; known are {known_presets}"
                for name in dict.fromkeys(by_corpus.values() if by_corpus else [preset])
                if name is not None and name not in self.presets.get(key, {})
            ]
            found += [
                f"{where}/preset: there is no corpus '{corpus}'{suggestion(corpus, self.corpora)}"
                for corpus in by_corpus
                if corpus not in self.corpora
            ]
        for corpus, options in self.config["corpora"].items():
            found += self._problems_of_files(corpus, (options or {}).get("files"))
        try:
            registry.find_model(self.config["encoder"]["model"])
        except UserError as error:
            found.append(f"encoder/model: {error}")
        if found:
            raise UserError("Configuration is not usable:\n" + "\n".join(f"- {problem}" for problem in found))

    def _problems_of_files(self, corpus: str, files: dict[str, Any] | None) -> Iterator[str]:
        if files is None:
            try:
                self.registered(corpus)
            except UserError as error:
                yield f"corpora/{corpus}: {error}, or files of your own under the key 'files'"
            return
        for split, paths in files.items():
            for path in [paths] if isinstance(paths, str) else paths:
                if not Path(shipped(path)).exists():
                    yield f"corpora/{corpus}/files/{split}: {path}: no such file"

    @cached_property
    def presets(self) -> dict[str, dict[str, Any]]:
        """Official settings, ``presets[extractor][name]``."""
        if not PRESETS.exists():
            return {}
        return read_yaml(PRESETS)["presets"]

    # trainings

    @cached_property
    def trainsets(self) -> list[str]:
        """All training sets, as ``protocol-setting``: every protocol in nz, the original one in wz too."""
        trained = [name for name in self.protocols if name != "augmented" and self.protocol(name).get("train", True)]
        sets = [f"{name}-nz" for name in trained]
        return sets + (["original-wz"] if "wz" in self.settings else [])

    @cached_property
    def runs(self) -> list[Run]:
        """All trainings of extractors, none twice."""
        noise_of_wz = self.noises if (self.config["noising"] or {}).get("wz") else ["none"]
        return [
            Run(corpus, protocol, setting, extractor, noise, seed)
            for corpus, (protocol, setting), extractor in itertools.product(
                self.corpora, (t.rsplit("-", 1) for t in self.trainsets), self.extractors
            )
            for noise in (self.noises if setting == "nz" else noise_of_wz)
            for seed in self.seeds
        ]

    @cached_property
    def classifier_runs(self) -> list[Run]:
        """All trainings of zero-cardinality classifiers."""
        return [
            Run(corpus, "original", "wz", classifier, "none", seed)
            for corpus, classifier, seed in itertools.product(self.corpora, self.classifiers, self.seeds)
        ]

    @cached_property
    def two_step_runs(self) -> list[tuple[Run, str]]:
        """Each nz training of an extractor with each classifier of the same seed before it."""
        first = [run for run in self.runs if run.trainset == "original-nz"]
        return [(run, classifier) for run in first for classifier in self.classifiers]

    def run_keys(self, runs: Sequence[Run]) -> list[dict[str, Any]]:
        """The keys of each training as the scores file names them."""
        return [
            {
                "study": self.name,
                "corpus": run.corpus,
                "protocol": run.protocol,
                "training": run.setting,
                "extractor": run.extractor,
                "noise": run.noise,
                "seed": run.seed,
            }
            for run in runs
        ]

    def testsets(self, run: Run) -> list[tuple[str, str]]:
        """The ``(test set, testing setting)`` pairs that a training is scored on.

        ``test`` is the test set of the training's own protocol; ``augmented`` belongs to the original nz training.
        """
        settings = self.settings if run.protocol == "original" else ["nz"]
        pairs = [("test", setting) for setting in settings]
        if run.trainset == "original-nz" and "augmented" in self.protocols:
            pairs.append(("augmented", "nz"))
        return pairs

    # settings of one training

    def settings_of(self, corpus: str, extractor: str) -> dict[str, Any]:
        """Preset, then ``training``, then the extractor's own settings, the later one winning key by key."""
        if extractor.startswith(CLASSIFIER):
            own = self.config["zcc"][extractor.removeprefix(CLASSIFIER)] or {}
        else:
            own = self.config["extractors"][extractor] or {}
        shared = self.config["training"] or {}
        preset = own.get("preset", shared.get("preset"))
        if isinstance(preset, dict):
            preset = preset.get(corpus)
        merged: dict[str, Any] = implied_training(extractor)
        for part in (self.presets.get(base_name(extractor), {}).get(preset, {}), shared, own):
            model = {**merged.get("model", {}), **part.get("model", {})}
            merged = {**merged, **part, **({"model": model} if model else {})}
        return merged

    def training_json(self, corpus: str, extractor: str, noise: str) -> str:
        """The settings of a training besides its data and seed, as canonical JSON."""
        settings = self.settings_of(corpus, extractor)
        settings = {key: value for key, value in settings.items() if key not in ONLY_FOR_THE_SCHEDULER}
        settings["encoder_layers"] = self.config["encoder"]["layers"]
        if extractor in self.config["own_extractors"]:
            settings["module"] = self.config["own_extractors"][extractor]
        if noise == "noising":
            noising = {key: value for key, value in self.config["noising"].items() if key != "wz"}
            probability = (self.config["corpora"][corpus] or {}).get("noise_probability")
            settings["noising"] = noising if probability is None else {**noising, "probability": probability}
        return json.dumps(settings, sort_keys=True)

    def deciding_json(self, corpus: str, extractor: str, noise: str) -> str:
        """What of :meth:`training_json` decides the result, as canonical JSON."""
        return json.dumps(deciding(json.loads(self.training_json(corpus, extractor, noise))), sort_keys=True)

    def own_module(self, extractor: str) -> str:
        """The ``file.py:Class`` of an extractor from outside the project; empty for the others."""
        return self.config["own_extractors"].get(extractor, "")

    def module_options(self, extractor: str) -> list[str]:
        """Options of the commands that load a trained extractor from outside the project."""
        own = self.own_module(extractor)
        return ["--module", own] if own else []

    def resource(self, extractor: str, name: str, default: int | str) -> int | str:
        """What a job of this extractor asks for: ``mem_mb``, ``runtime``, ``relation_chunk`` or ``processes``."""
        return self.settings_of("", extractor).get(name, default)

    def gpus(self, extractor: str) -> int:
        """GPUs that a training of this extractor takes: one a process, or none in a study on the CPU."""
        return 0 if self.config["gpu"] == 0 else int(self.resource(extractor, "processes", 1))

    # corpora and models

    def registered(self, corpus: str) -> registry.RegisteredCorpus | None:
        """The registered corpus behind a corpus of the study; None if the study brings files of its own."""
        options = self.config["corpora"][corpus] or {}
        return None if "files" in options else registry.corpus(options.get("registry", corpus))

    def shortest_limit(self, corpus: str) -> int:
        """The length in subwords to which an extractor of the study cuts training sentences, the shortest of them."""
        settings = [self.settings_of(corpus, name) for name in [*self.extractors, *self.classifiers]]
        limits = [each.get("model", {}).get("max_length", DEFAULT_LIMIT) for each in settings]
        return min(limits, default=DEFAULT_LIMIT)

    @property
    def corpora_to_train_on(self) -> list[str]:
        """The corpora that have training, validation and test sets."""
        entries = {corpus: self.registered(corpus) for corpus in self.corpora}
        return [corpus for corpus, entry in entries.items() if entry is None or len(entry.splits) == 3]

    def files_of_split(self, corpus: str, split: str) -> list[str]:
        """The files that a split is made of: own paths, or names below ``raw_root``."""
        entry = self.registered(corpus)
        if entry is not None:
            return [file.name for file in entry.raw_files(split)]
        files = self.config["corpora"][corpus]["files"]
        paths = files.get(split, files["train"])  # without a validation file, it is a part of the training file
        return [paths] if isinstance(paths, str) else list(paths)

    def prepare_origin(self, corpus: str, split: str, inputs: Sequence[str]) -> list[str]:
        """Options of ``tripleaudit prepare`` that say where a split comes from, given the rule's input files."""
        if self.registered(corpus) is None:
            return [part for path in inputs for part in ("--source", path)]
        root = inputs[0].removesuffix(self.files_of_split(corpus, split)[0]).rstrip("/")
        return ["--raw-root", root or "."]

    def prepare_options(self, corpus: str, split: str) -> list[str]:
        """Options of ``tripleaudit prepare`` that decide what a split holds."""
        options = self.config["corpora"][corpus] or {}
        result = ["--occurrence", options.get("occurrence", "first")]
        if self.registered(corpus) is not None:
            result += ["--corpus", options.get("registry", corpus), "--split", split]
        else:
            result += ["--format", options.get("format", "auto")]
            if "valid" not in options["files"] and split != "test":
                result += ["--divide", "train=9,valid=1", "--part", split]
        if options.get("uncased"):
            result.append("--uncased")
        limit = (options.get("limit") or {}).get(split)
        return result + (["--limit", str(limit)] if limit else [])

    @staticmethod
    def local_model(model: str) -> str | None:
        """The folder of a model that needs no fetching, else None."""
        source = registry.find_model(model).source
        return shipped(source.location) if source.kind == "local" else None

    def model_slug(self, model: str) -> str:
        """The folder name of a fetched model: its registered name, or its source with harmless characters."""
        slug = re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.")
        self._slugs[slug] = model
        return slug

    def model_of_slug(self, slug: str) -> str:
        """The inverse of :meth:`model_slug`; a registered name stands for itself."""
        return self._slugs.get(slug, slug)

    # protocols

    def protocol(self, name: str) -> dict[str, Any]:
        """The options of a protocol; ``original`` has none."""
        return self.config["protocols"].get(name) or {}

    def protocol_json(self, name: str) -> str:
        """What decides the sets of a protocol besides the corpus, as canonical JSON."""
        others = ("train", "select_on", "masked_lm", "vectors", "mlm_steps")  # of other rules, or inputs of the rule
        options = {key: value for key, value in self.protocol(name).items() if key not in others}
        return json.dumps(options, sort_keys=True)

    @property
    def masked_lm_options(self) -> list[str]:
        """Options of ``tripleaudit train-mlm`` for the study's own masked language model."""
        options = self.protocol("augmented")
        layers = self.config["encoder"]["layers"]
        steps = ["--steps", str(options.get("mlm_steps", 300)), "--seed", str(options.get("seed", 0))]
        return steps + (["--layers", str(layers)] if layers else [])

    def trained_on(self, protocol: str) -> str:
        """The protocol whose training set a test set is measured against; augmented tests go with the original."""
        return "original" if protocol == "augmented" else protocol

    # what the papers' tables need

    @cached_property
    def tables(self) -> dict[str, dict[str, Any]]:
        """The tables to make with their options: those asked for, or all that the study can fill."""
        asked = self.config["tables"]
        if asked is None:
            asked = dict.fromkeys(self.possible_tables)
        impossible = [name for name in asked if name not in self.possible_tables]
        if impossible:
            raise UserError(
                f"Configuration is not usable:\n- tables: this study cannot fill {', '.join(impossible)}; it can fill "
                + ", ".join(self.possible_tables)
            )
        return {name: options or {} for name, options in asked.items()}

    @cached_property
    def possible_tables(self) -> list[str]:
        """Names of the tables that the study's parts can fill, in the report's order."""
        return [name for name, table in TABLES.items() if table.needs in NEEDS and table.possible(self)]

    @cached_property
    def gre_levels(self) -> set[str]:
        """Levels of the data sets with GREScores: sentence, bag, document."""
        return {settings["level"] for settings in GrePlan(self.config["grescores"]).datasets.values()}

    def needs_of_table(self, name: str) -> str:
        """The kind of input of a table: audits of the data, scores, gre (GREScores), or runs (facts of trainings)."""
        return TABLES[name].needs

    def table_options(self, name: str) -> str:
        """The options of one table as canonical JSON."""
        return json.dumps(self.tables.get(name, {}), sort_keys=True)
