"""Checks of the section ``collections``."""

from collections.abc import Iterator

from tripleaudit.core.addresses import holds_secrets
from tripleaudit.core.shipped import shipped
from tripleaudit.extractors.registry import saved_extractor_name
from tripleaudit.study.collections import Collections, is_folder
from tripleaudit.study.config.collections import Collection
from tripleaudit.study.problems import refused
from tripleaudit.study.runs import Runs


class CollectionChecks:
    """Checks of texts and models of collections.

    Args:
        collections: the collections of the study.
        runs: the trainings of the study.
    """

    def __init__(self, collections: Collections, runs: Runs):
        self.collections, self.runs = collections, runs

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each missing model and each missing text."""
        for name, section in self.collections.section.items():
            if any(map(holds_secrets, section.files)):
                yield (
                    f"collections/{name}/files: an address must not hold credentials; set them where the store's "
                    "tools look, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                )
            yield from self._problems_of_models(name, section)
            yield from refused(f"collections/{name}/files", self.collections.texts, name)

    def _problems_of_models(self, name: str, section: Collection) -> Iterator[str]:
        if section.extractor in self.collections.systems.sections:
            kind = self.collections.systems.kinds.get(section.extractor)
            if kind is not None and kind.name == "predictions":
                yield f"collections/{name}/extractor: '{section.extractor}' is stored predictions and reads no texts"
            if section.gate is None:
                return
        if (
            not section.corpus
            and len(self.collections.config.corpora) != 1
            and not is_folder(section.extractor)
        ):
            known = ", ".join(self.collections.config.corpora) or "none"
            yield f"collections/{name}/corpus: expected the corpus whose extractor reads it; known are {known}"
            return
        runs, classifiers = (
            [run.path for run in part] for part in (self.runs.extractors, self.runs.classifiers)
        )
        for key, model, run, known in (
            ("extractor", section.extractor, self.collections.model_run(name), runs),
            ("gate", section.gate, self.collections.gate_run(name), classifiers),
        ):
            if run is not None and run not in known:
                yield (
                    f"collections/{name}/{key}: the study has no training {run}; expected one of its trainings "
                    f"({_some(known)}) or the folder of a trained model"
                )
            elif (
                run is None and model is not None and model not in self.collections.systems.sections
            ):
                yield from refused(
                    f"collections/{name}/{key}", saved_extractor_name, shipped(model)
                )


def _some(names: list[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(names[:most]) or "it has none") + more
