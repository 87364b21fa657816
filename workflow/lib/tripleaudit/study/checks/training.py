"""Checks of the sections ``training``, ``extractors``, ``own_extractors`` and ``zcc``."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.plugins import use_plugins
from tripleaudit.extractors.registry import extractor_class, settings_class
from tripleaudit.extractors.settings import ExtractorSettings
from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.study.config.training import CLASSIFIER_PREFIX
from tripleaudit.study.problems import LeftOut, unknown
from tripleaudit.study.trainings import Trainings, loop_keys, presets
from tripleaudit.training.settings import LoopSettings


def _check_brought(kind: type[ExtractorSettings], presets: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse wrong settings that an extractor from outside the package brings."""
    for name, values in {"training_defaults": kind.training_defaults, **presets}.items():
        LoopSettings.checked(loop_keys(values), name)


def _where(name: str) -> str:
    """Return the location of an extractor's or classifier's section."""
    if name.startswith(CLASSIFIER_PREFIX):
        return f"zcc/{name.removeprefix(CLASSIFIER_PREFIX)}"
    return f"extractors/{name}"


class TrainingChecks:
    """Checks of extractors, presets and training settings.

    Args:
        trainings: the settings of every training.
        left_out: values that do not fit, each of which is a problem already.
    """

    def __init__(self, trainings: Trainings, left_out: LeftOut):
        self.trainings, self.left_out = trainings, left_out
        self.corpora: Sequence[str] = list(trainings.config.corpora)
        self.own_extractors: Mapping[str, str] = trainings.config.own_extractors

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each extractor, preset and setting that cannot work."""
        yield from self._problems_of_own_extractors()
        built_in = [name for name, spec in EXTRACTORS.items() if not spec.classifier]
        known = dict.fromkeys([*built_in, *self.own_extractors])
        # a problem of the shared section is reported once, not for each extractor
        shared: dict[str, str] = {}
        for name in self.trainings.config.extractors:
            if name.startswith(CLASSIFIER_PREFIX):
                head = name.removeprefix(CLASSIFIER_PREFIX)
                yield (
                    f"extractors/{name}: is a classifier of sentences and extracts nothing; expected it as '{head}' "
                    "under the key 'zcc'"
                )
        for name in self.trainings.sections:
            if name not in known and not name.startswith(CLASSIFIER_PREFIX):
                yield f"extractors/{name}: unknown extractor '{name}'{hint(name, known)}"
                continue
            yield from self._problems_of_preset(name)
            for sentence in self._problems_of_settings(name):
                shared.setdefault(_subject(sentence), sentence)
        yield from shared.values()
        names = [
            name
            for name in self.trainings.sections
            if name in known or name.startswith(CLASSIFIER_PREFIX)
        ]
        yield from self._problems_of_idle(names)

    def _problems_of_own_extractors(self) -> Iterator[str]:
        for name, reference in self.own_extractors.items():
            try:
                _check_brought(settings_class(reference), {})
                if name in EXTRACTORS and EXTRACTORS[name].module:
                    yield f"own_extractors/{name}: the name '{name}' is a built-in extractor's"
                else:
                    use_plugins([f"{name}={reference}"])
                    extractor_class(name)
            except UserError as error:
                yield f"own_extractors/{name}: {error}"

    def _problems_of_preset(self, name: str) -> Iterator[str]:
        where, known = _where(name), presets(name)
        preset = self.trainings.sections[name].get("preset")
        by_corpus = preset if isinstance(preset, dict) else {}
        for value in dict.fromkeys(by_corpus.values() if by_corpus else [preset]):
            yield from unknown(f"{where}/preset", "preset", value, known)
        for corpus in by_corpus:
            yield from self.left_out.unknown(
                f"{where}/preset", "corpus", corpus, self.corpora, section="corpora"
            )

    def _problems_of_settings(self, name: str) -> Iterator[str]:
        """Yield sentences about fields of the model, and about settings that do not go together."""
        try:
            kind = self.trainings.declared(name)
            if name in EXTRACTORS and EXTRACTORS[name].file and name not in self.own_extractors:
                _check_brought(kind, EXTRACTORS[name].presets)
        except UserError as error:
            if name not in self.own_extractors:  # else it is a problem of own_extractors
                yield f"{_where(name)}: {error}"
            return
        shared, own = self.trainings.shared, self.trainings.sections[name]
        for where, part in (("training", shared), (_where(name), own)):
            yield from kind.tried(part.get("model", {}), f"{where}/model")[1]
        for corpus in self.corpora or [""]:
            for problem in self.trainings.loop_settings(corpus, name).contradictions():
                key = problem.partition(":")[0]
                is_shared = key in shared and key not in own
                yield f"{'training' if is_shared else _where(name)}/{problem}"

    def _problems_of_idle(self, names: Sequence[str]) -> Iterator[str]:
        """Yield a sentence for each setting that the user names and that no training reads."""
        idle: dict[str, list[dict[str, str]]] = {}  # of each extractor, on each corpus
        for name in names:
            with contextlib.suppress(UserError):  # a problem of own_extractors
                idle[name] = [
                    dict(self.trainings.loop_settings(corpus, name).idle())
                    for corpus in self.corpora or [""]
                ]
        sections = [
            (_where(name), self.trainings.sections[name], by_corpus)
            for name, by_corpus in idle.items()
        ]
        if idle:
            everywhere = [settings for by_corpus in idle.values() for settings in by_corpus]
            sections.append(("training", self.trainings.shared, everywhere))
        for where, section, unread in sections:
            for key in section:
                if all(key in settings for settings in unread):
                    yield f"{where}/{key}: has no meaning without {unread[0][key]}"


def _subject(sentence: str) -> str:
    """Return the part of a sentence that is the same for all extractors with the same problem."""
    subject = sentence.partition(": ")[0] if sentence.startswith("training/") else sentence
    return sentence.partition("; known are")[0] if "/model" in subject else subject
