"""The sections ``training``, ``extractors`` and ``zcc``: with which settings each extractor is
trained.
"""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from tripleaudit.core.descriptors import EXTRACTORS
from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.fields import OrEmpty, Runtime, Section, Text, form, read_exponents
from tripleaudit.core.registries import use_plugins
from tripleaudit.extractors.declared import SHIPPED, ExtractorSettings
from tripleaudit.extractors.registry import extractor_class, settings_class
from tripleaudit.protocols.noising import NoiseSettings
from tripleaudit.scoring.matching import check_matching
from tripleaudit.study.problems import unknown
from tripleaudit.training.settings import TrainingSettings, deciding

if TYPE_CHECKING:
    from tripleaudit.study.study import Study

PRESET = {"type": ["string", "object"]}
CLASSIFIER = "zcc-"  # a zero-cardinality classifier is trained like an extractor and named zcc-binary or zcc-mcml
NOT_OF_THE_TRAINING = ("mem_mb", "runtime", "preset", "model")
ONLY_FOR_THE_SCHEDULER = ("mem_mb", "runtime", "preset")


def _without_defaults(schema: dict[str, Any]) -> None:
    """A key that is left out is the preset's or the extractor's own, so the schema names no
    default.
    """
    for part in schema["properties"].values():
        part.pop("default", None)


class _Own(Section):
    """Settings of a training, those that differ from preset and section `training`."""

    model_config = {"json_schema_extra": _without_defaults}

    preset: Annotated[
        Any,
        form("the name of a preset, or one for each corpus", str | dict[str, str], PRESET),
    ] = None
    """Official settings (data/presets.yaml, extractor/preset); one name, or one for each corpus."""
    model: Annotated[dict[str, Any], BeforeValidator(read_exponents)] = {}
    """Fields of the extractor's own configuration class (max_length, drop_zero, prior, …)."""
    mem_mb: int = Field(8000, ge=500)
    """Memory that a cluster job asks for."""
    runtime: Runtime = "8h"
    """Time that a cluster job asks for, minutes or '4h'."""


class Training(TrainingSettings, _Own):
    """Settings of a training, those that differ from preset and section `training`."""


class Noising(NoiseSettings):
    """Entity Noising; every extractor is trained without and, unless this is null, with it."""

    wz: bool = False
    """Also train with noising in the wz setting."""


Entry = Annotated[Training, OrEmpty]
Extractor = Annotated[
    Entry, Field(description="One extractor with its settings, keys as under `training`.")
]


class Zcc(Section):
    """The zero-cardinality classifiers to train in the wz setting, by head (binary, mcml)."""

    binary: Entry = Training()
    """Has the sentence triples? Keys as under `training`."""
    mcml: Entry = Training()
    """Which relations does it state? (multi-class, multi-label.) Keys as under `training`."""


OwnExtractor = Annotated[
    Text,
    Field(pattern=r"^.+\.py:[A-Za-z_][A-Za-z0-9_]*$", description="File and class, file.py:Class."),
]


def presets(name: str) -> Mapping[str, Any]:
    """Return the presets of an extractor by name: official settings, and those of a plugin's
    descriptor.
    """
    spec = EXTRACTORS.get(name)
    return {**SHIPPED["presets"].get(spec.base or name, {}), **spec.presets} if spec else {}


def _own_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those settings of an extractor that are settings of its training."""
    return {key: each for key, each in values.items() if key not in NOT_OF_THE_TRAINING}


def _check_brought(kind: type[ExtractorSettings], presets: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse wrong settings that an extractor from outside the package brings."""
    for name, values in {"training_defaults": kind.training_defaults, **presets}.items():
        TrainingSettings.checked(_own_keys(values), name)


class Trainings:
    """The settings of every training of a study.

    Args:
        shared: section ``training``.
        extractors, classifiers: the own settings of each, by name of the study.
        own: extractors of one's own, name -> ``file.py:Class``.
    """

    def __init__(
        self,
        study: "Study",
        shared: Section,
        extractors: Mapping[str, Section],
        classifiers: Mapping[str, Section],
        own: Mapping[str, str],
    ):
        self.study, self.own = study, own
        self.shared = shared.given()
        self.sections = {name: each.given() for name, each in {**extractors, **classifiers}.items()}

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each extractor, preset and setting that cannot work."""
        for name, reference in self.own.items():
            try:
                _check_brought(settings_class(reference), {})
                if name in EXTRACTORS and EXTRACTORS[name].module:
                    yield f"own_extractors/{name}: the name '{name}' is a built-in extractor's"
                else:
                    use_plugins([f"{name}={reference}"])
                    extractor_class(name)
            except UserError as error:
                yield f"own_extractors/{name}: {error}"
        known = dict.fromkeys(
            [*(name for name, spec in EXTRACTORS.items() if not spec.classifier), *self.own]
        )
        found: dict[
            str, str
        ] = {}  # what is wrong with the shared section is said once, not for each extractor
        for name in self.sections:
            if name not in known and not name.startswith(CLASSIFIER):
                yield f"extractors/{name}: unknown extractor '{name}'{hint(name, known)}"
                continue
            yield from self._problems_of_preset(name)
            for sentence in self._problems_of_settings(name):
                about = (
                    sentence.partition(": ")[0] if sentence.startswith("training/") else sentence
                )
                found.setdefault(
                    about if "/model" not in about else sentence.partition("; known are")[0],
                    sentence,
                )
        yield from found.values()
        yield from self._problems_of_idle(
            name for name in self.sections if name in known or name.startswith(CLASSIFIER)
        )

    def _where(self, name: str) -> str:
        if name.startswith(CLASSIFIER):
            return f"zcc/{name.removeprefix(CLASSIFIER)}"
        return f"extractors/{name}"

    def _problems_of_preset(self, name: str) -> Iterator[str]:
        where, known = self._where(name), presets(name)
        chosen = self.sections[name].get("preset")
        by_corpus = chosen if isinstance(chosen, dict) else {}
        for preset in dict.fromkeys(by_corpus.values() if by_corpus else [chosen]):
            yield from unknown(f"{where}/preset", "preset", preset, known)
        for corpus in by_corpus:
            if corpus not in self.study.corpora:
                yield f"{where}/preset: there is no corpus '{corpus}'{hint(corpus, self.study.corpora)}"

    def _problems_of_settings(self, name: str) -> Iterator[str]:
        """Yield sentences about fields of the model, and about settings that do not go together."""
        try:
            kind = self.declared(name)
            if name in EXTRACTORS and EXTRACTORS[name].file and name not in self.own:
                _check_brought(kind, EXTRACTORS[name].presets)
        except UserError as error:
            if name not in self.own:  # else it is said of own_extractors
                yield f"{self._where(name)}: {error}"
            return
        own = self.sections[name]
        for where, part in (("training", self.shared), (self._where(name), own)):
            yield from kind.tried(part.get("model", {}), f"{where}/model")[1]
        for corpus in self.study.corpora or [""]:
            for problem in self._typed(corpus, name).contradictions():
                key = problem.partition(":")[0]
                yield f"{'training' if key in self.shared and key not in own else self._where(name)}/{problem}"

    def _problems_of_idle(self, names: Iterable[str]) -> Iterator[str]:
        """Yield a sentence for each setting that is given and that no training reads."""
        idle: dict[str, list[dict[str, str]]] = {}  # of each extractor, on each corpus
        for name in names:
            with contextlib.suppress(UserError):  # said of own_extractors
                idle[name] = [
                    dict(self._typed(corpus, name).idle()) for corpus in self.study.corpora or [""]
                ]
        given = [(self._where(name), self.sections[name], each) for name, each in idle.items()]
        if idle:
            given.append(
                ("training", self.shared, [found for each in idle.values() for found in each])
            )
        for where, section, every in given:
            for key in section:
                if all(key in found for found in every):
                    yield f"{where}/{key}: has no meaning without {every[0][key]}"

    def _typed(self, corpus: str, name: str) -> TrainingSettings:
        """Return the settings of a training; the study's keys were checked where they stand, the
        others are ours.
        """
        return TrainingSettings.trusted(
            _own_keys({**self.defaults(name), **self.settings_of(corpus, name)})
        )

    def declared(self, name: str) -> type[ExtractorSettings]:
        """Return what the extractor behind a name declares."""
        return settings_class(self.own.get(name) or name)

    def defaults(self, name: str) -> Mapping[str, Any]:
        """Return the official training settings of the extractor behind a name."""
        return self.declared(name).training_defaults

    def settings_of(self, corpus: str, name: str) -> dict[str, Any]:
        """Return preset, then ``training``, then the extractor's own settings, the later one
        winning key by key.
        """
        own = self.sections[name]
        preset = own.get("preset", self.shared.get("preset"))
        if isinstance(preset, dict):
            preset = preset.get(corpus)
        merged: dict[str, Any] = dict(EXTRACTORS[name].training) if name in EXTRACTORS else {}
        for part in (presets(name).get(preset, {}), self.shared, own):
            model = {**merged.get("model", {}), **part.get("model", {})}
            merged = {**merged, **part, **({"model": model} if model else {})}
        return merged

    def training_json(self, run: Any, double: bool = False) -> str:
        """Return the settings of a training besides its data and seed, or of a ``double`` one, as
        canonical JSON.

        Args:
            run: one of the study, or the wildcards of its job.
        """
        settings = self.settings_of(run.corpus, run.extractor)
        settings = {
            key: value for key, value in settings.items() if key not in ONLY_FOR_THE_SCHEDULER
        }
        described = self.study.data.described(run.corpus, run.trainset.rpartition("-")[0])
        if described and self.study.takes_schema(run.extractor):
            settings["model"] = {"descriptions": described, **settings.get("model", {})}
        settings["encoder_layers"] = self.study.config["encoder"]["layers"]
        if double:
            settings["double"] = True
        if run.noise == "noising":
            noising = {
                key: value for key, value in self.study.config["noising"].items() if key != "wz"
            }
            probability = self.study.data.section[run.corpus].noise_probability
            settings["noising"] = (
                noising if probability is None else {**noising, "probability": probability}
            )
        return json.dumps(settings, sort_keys=True)

    def settings(self, wildcards: Any, input: Any) -> str:
        """Return :meth:`training_json`, which Snakemake does not compare."""
        return self.training_json(wildcards)

    def deciding(self, wildcards: Any, double: bool = False) -> str:
        """Return what of :meth:`training_json` decides the result, as canonical JSON."""
        return json.dumps(
            deciding(json.loads(self.training_json(wildcards, double))), sort_keys=True
        )

    def matching(self, corpus: str, name: str) -> str:
        """Return the name of the matching rule by which a training chooses its best epoch."""
        values = {**self.defaults(name), **self.settings_of(corpus, name)}
        return check_matching(values.get("matching", TrainingSettings().matching))

    def mem_mb(self, wildcards: Any, attempt: int) -> int:
        """Return the memory that jobs of an extractor or classifier ask for."""
        return self.settings_of("", wildcards.extractor).get("mem_mb", 8000) * attempt

    def runtime(self, wildcards: Any) -> int | str:
        """Return the time that a training asks for."""
        return self.settings_of("", wildcards.extractor).get("runtime", "8h")
