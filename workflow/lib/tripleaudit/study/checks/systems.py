"""Checks of the section ``systems``."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import hint
from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.scoring.baselines import BASELINES
from tripleaudit.scoring.relation_names import load_map
from tripleaudit.study.config.systems import COMMON_KEYS
from tripleaudit.study.config.training import CLASSIFIER_PREFIX
from tripleaudit.study.corpora import Corpora
from tripleaudit.study.problems import LeftOut, refused, unknown
from tripleaudit.study.systems import Systems
from tripleaudit.study.trainings import trained_extractors
from tripleaudit.systems.facts import check_stored, training_fact
from tripleaudit.systems.programs import TRAIN, uses_training_set
from tripleaudit.systems.spec import SYSTEM_KINDS


class SystemChecks:
    """Checks of systems that a study does not train.

    Args:
        systems: the systems of the study.
        corpora: the corpora of the study.
        left_out: values that do not fit, each of which is a problem already.
    """

    def __init__(self, systems: Systems, corpora: Corpora, left_out: LeftOut):
        self.systems, self.corpora, self.config = systems, corpora, systems.config
        self.trained = list(trained_extractors(self.config))
        self.left_out = left_out

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each thing that cannot work, before anything runs."""
        kinds = ["trained", *SYSTEM_KINDS]
        for name, section in self.config.systems.items():
            where, values = f"systems/{name}", section.given()
            keys = [key for key in kinds if key in values]
            if self.left_out.includes(*(f"{where}/{kind}" for kind in kinds)):
                continue
            if len(keys) != 1:
                count = f"{' and '.join(keys)} are several" if keys else "none of them is given"
                yield f"{where}: expected exactly one of {', '.join(kinds)}; {count}"
            elif keys == ["trained"]:
                yield from self._problems_of_trained(where, name, values)
            else:
                yield from self._problems_of_kind(where, name, values)

    def _problems_of_trained(
        self, where: str, name: str, values: Mapping[str, Any]
    ) -> Iterator[str]:
        """Yield the problems of a trained extractor; ``values`` are the keys that the user named."""
        built_in = [extractor for extractor, spec in EXTRACTORS.items() if not spec.classifier]
        extractors = [*built_in, *self.config.own_extractors]
        yield from unknown(f"{where}/trained", "extractor", name, extractors)
        if name in self.config.extractors:
            yield f"{where}: '{name}' is an entry of extractors, too; expected it once"
        for key in values:
            if key != "trained":
                yield f"{where}/{key}: of a trained extractor all settings stand under 'trained'"

    def _problems_of_kind(self, where: str, name: str, values: Mapping[str, Any]) -> Iterator[str]:
        """Yield the problems of a system that is no trained extractor.

        Args:
            values: the keys that the user named; the system's settings also have the defaults.
        """
        kind, settings = self.systems.kinds[name], self.systems.settings(name)
        taken = (*EXTRACTORS, *BASELINES, *self.config.own_extractors)
        if kind.name == "predictions":
            # stored predictions of an extractor that the study does not train may have its name
            taken = (*self.trained, *BASELINES)
        if name in taken or name.startswith(CLASSIFIER_PREFIX):
            yield f"{where}: '{name}' is the name of an extractor or a baseline; expected another one"
        allowed = (kind.name, *kind.options, *COMMON_KEYS)
        for key in values:
            if key not in allowed:
                yield f"{where}/{key}: a system by '{kind.name}' has no such key{hint(key, allowed)}"
        if values[kind.name] is None:
            yield f"{where}/{kind.name}: nothing stands there; expected a value"
            return
        if kind.name == "endpoint":
            yield from self._problems_of_endpoint(where, settings)
        if kind.name == "predictions":
            yield from self._problems_of_stored(where, name)
        relations = values.get("relations")  # true, or the file of a map of names
        if relations is True and "relations" not in kind.options:
            yield f"{where}/relations: a system by '{kind.name}' takes no relations; expected a map of names"
        if isinstance(relations, str):
            yield from refused(f"{where}/relations", load_map, self.systems.paths.file(relations))
        yield from (f"{where}/{sentence}" for sentence in kind.problems(settings))
        has_training = [section.has_training for section in self.config.corpora.values()]
        if uses_training_set(settings) and has_training and not any(has_training):
            yield f"{where}: asks for {TRAIN}, and no corpus has training sentences; name them under corpora"
        for protocol in self.systems.sections[name].protocols or ():
            yield from self._unknown_protocol(f"{where}/protocols", protocol)
        for path in settings.get("files") or ():
            if not Path(path).is_file():
                yield f"{where}/files: {path}: no such file"

    def _problems_of_endpoint(self, where: str, settings: Mapping[str, Any]) -> Iterator[str]:
        yield from self.left_out.unknown(
            f"{where}/endpoint",
            "endpoint",
            settings["endpoint"],
            self.config.generative.endpoints,
            section="generative/endpoints",
        )
        examples = settings["examples"]
        for corpus in self.systems.corpora:
            size = self.corpora.sizes(corpus).get("train")
            if size is not None and examples > size:
                yield f"{where}/examples: {examples} sentences, but the training split of {corpus} has {size}"

    def _problems_of_stored(self, where: str, name: str) -> Iterator[str]:
        """Yield the problems of stored predictions, and of the training files named with them."""
        predictions = self.systems.sections[name].predictions
        corpora = self.systems.corpora
        lacks_corpora = self.left_out.includes_entry_of("corpora")
        if not isinstance(predictions, dict) and len(corpora) != 1 and not lacks_corpora:
            yield f"{where}/predictions: the study has {len(corpora)} corpora; expected the paths by corpus"
        for corpus, paths in self.systems.stored(name).items():
            yield from self._unknown_corpus(f"{where}/predictions", corpus)
            for protocol, files in paths.items():
                yield from self._unknown_protocol(f"{where}/predictions/{corpus}", protocol)
                for path in sorted({path for path in files if files.count(path) > 1}):
                    yield f"{where}/predictions/{corpus}: {path}: the same file twice; expected it once"
                for path in files:
                    yield from self.systems.paths.problems_of_file(f"{where}/predictions", path)
        for corpus, path in self.systems.training(name).items():
            yield from self._unknown_corpus(f"{where}/training", corpus)
            if corpus in corpora:
                yield from self._problems_of_training(f"{where}/training", path)

    def _problems_of_training(self, where: str, path: str) -> Iterator[str]:
        """Yield the first problem of a training's provenance: missing, another file, or altered."""
        file = self.systems.paths.file(path)
        problems = list(self.systems.paths.problems_of_file(where, path))
        if not problems:
            no_keys: dict[str, str] = {}  # only the error matters, not the returned fact
            problems = list(refused(where, training_fact, file, no_keys))
        if not problems:
            problems = list(refused(where, check_stored, file))
        yield from problems

    def _unknown_corpus(self, where: str, name: str) -> Iterator[str]:
        corpora = self.systems.corpora
        yield from self.left_out.unknown(where, "corpus", name, corpora, section="corpora")

    def _unknown_protocol(self, where: str, name: str) -> Iterator[str]:
        protocols = self.systems.protocols.names
        yield from self.left_out.unknown(where, "protocol", name, protocols, section="protocols")
