"""Trainings of a study: which extractors and classifiers, with which settings."""

import json
from collections.abc import Mapping
from typing import Any

from tripleaudit.extractors.registry import settings_class
from tripleaudit.extractors.settings import SHIPPED, ExtractorSettings
from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.protocols.noising import NoiseSettings
from tripleaudit.scoring.matching import check_matching
from tripleaudit.study.config.study import StudyConfig
from tripleaudit.study.config.training import CLASSIFIER_PREFIX, Training
from tripleaudit.study.protocols import Protocols
from tripleaudit.training.settings import LoopSettings, TrainingSettings

SCHEDULER_KEYS = ("mem_mb", "runtime", "preset")
"""Keys of an extractor's section that no training job reads."""
JOB_KEYS = (*SCHEDULER_KEYS, "model")
"""Keys of an extractor's section that are no settings of its training loop."""


def trained_extractors(config: StudyConfig) -> dict[str, Training]:
    """Return the extractors that a study trains: those of `extractors` and of `systems`."""
    systems = {
        name: system.trained
        for name, system in config.systems.items()
        if system.trained is not None
    }
    return {**config.extractors, **systems}


def trained_classifiers(config: StudyConfig) -> dict[str, Training]:
    """Return the zero-cardinality classifiers that a study trains, by name (``zcc-binary``)."""
    heads = {head: section for head, section in config.zcc if head in config.zcc.model_fields_set}
    return {CLASSIFIER_PREFIX + head: section for head, section in heads.items()}


def presets(name: str) -> Mapping[str, Any]:
    """Return the presets of an extractor: official settings, and those of a plugin's descriptor."""
    spec = EXTRACTORS.get(name)
    return {**SHIPPED["presets"].get(spec.base or name, {}), **spec.presets} if spec else {}


def takes_schema(extractor: str) -> bool:
    """Return whether a trained extractor can be given relations that its training lacked."""
    return extractor in EXTRACTORS and EXTRACTORS[extractor].takes_schema


def loop_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those settings of an extractor that are settings of its training loop."""
    return {key: value for key, value in values.items() if key not in JOB_KEYS}


class Trainings:
    """The settings of every training of a study.

    Args:
        config: the configuration of the study.
        protocols: the protocols, which decide the relation descriptions of a training.

    Attributes:
        shared: keys of the section ``training`` that the user named.
        sections: name of each extractor and classifier -> keys that the user named.
    """

    def __init__(self, config: StudyConfig, protocols: Protocols):
        self.config, self.protocols = config, protocols
        self.extractors = list(trained_extractors(config))
        self.classifiers = list(trained_classifiers(config))
        self.shared = config.training.given()
        trained = {**trained_extractors(config), **trained_classifiers(config)}
        self.sections = {name: section.given() for name, section in trained.items()}

    def declared(self, name: str) -> type[ExtractorSettings]:
        """Return the settings class of an extractor."""
        return settings_class(self.config.own_extractors.get(name) or name)

    def defaults(self, name: str) -> Mapping[str, Any]:
        """Return the official training settings of an extractor."""
        return self.declared(name).training_defaults

    def merged(self, corpus: str, name: str) -> dict[str, Any]:
        """Return the keys of a training, merged key by key.

        Keys that the extractor's name implies come first, then those of its preset, of the section
        ``training``, and of the extractor's own section; later ones replace earlier ones.
        """
        section = self.sections[name]
        preset = section.get("preset", self.shared.get("preset"))
        if isinstance(preset, dict):
            preset = preset.get(corpus)
        merged: dict[str, Any] = dict(EXTRACTORS[name].training) if name in EXTRACTORS else {}
        for part in (presets(name).get(preset, {}), self.shared, section):
            model = {**merged.get("model", {}), **part.get("model", {})}
            merged.update(part)
            if model:
                merged["model"] = model
        return merged

    def loop_settings(self, corpus: str, name: str) -> LoopSettings:
        """Return the settings of a training loop; the user's keys were checked in their sections."""
        return LoopSettings.trusted(loop_keys({**self.defaults(name), **self.merged(corpus, name)}))

    def settings(self, run: Any, double: bool = False) -> TrainingSettings:
        """Return the settings of one training; the user's keys were checked in their sections.

        Args:
            run: a training of the study, or the wildcards of its job.
            double: whether it trains twice as long.
        """
        keys = self.merged(run.corpus, run.extractor)
        keys = {key: value for key, value in keys.items() if key not in SCHEDULER_KEYS}
        descriptions = self.protocols.described(run.corpus, run.trainset.rpartition("-")[0])
        if descriptions and takes_schema(run.extractor):
            keys["model"] = {"descriptions": descriptions, **keys.get("model", {})}
        keys["encoder_layers"] = self.config.encoder.layers
        if double:
            keys["double"] = True
        noising = self.config.noising
        if run.noise == "noising" and noising is not None:
            probability = self.config.corpora[run.corpus].noise_probability
            if probability is None:
                probability = noising.probability
            keys["noising"] = NoiseSettings(
                probability=probability, keep_length=noising.keep_length
            )
        return TrainingSettings.trusted(keys)

    def settings_json(self, wildcards: Any, double: bool = False) -> str:
        """Return the settings that affect the result of a training, as canonical JSON."""
        return json.dumps(self.settings(wildcards, double).affecting(), sort_keys=True)

    def unaffecting_options(self, wildcards: Any, input: Any) -> list[str]:
        """Return the option with the settings that do not affect a result.

        Snakemake does not compare a parameter whose function takes ``input``.
        """
        unaffecting = self.settings(wildcards).unaffecting()
        return ["--settings", json.dumps(unaffecting, sort_keys=True)] if unaffecting else []

    def matching(self, corpus: str, name: str) -> str:
        """Return the name of the matching rule by which a training chooses its best epoch."""
        values = {**self.defaults(name), **self.merged(corpus, name)}
        return check_matching(values.get("matching", LoopSettings().matching))

    def mem_mb(self, wildcards: Any, attempt: int) -> int:
        """Return the memory that jobs of an extractor or classifier ask for."""
        return self.merged("", wildcards.extractor).get("mem_mb", 8000) * attempt

    def runtime(self, wildcards: Any) -> int | str:
        """Return the time that a training asks for."""
        return self.merged("", wildcards.extractor).get("runtime", "8h")
