"""Checks of the section ``collections``."""

from collections.abc import Iterator

from tripleaudit.core.addresses import holds_secrets
from tripleaudit.core.shipped import shipped
from tripleaudit.extractors.registry import saved_extractor_name
from tripleaudit.study.collections import Collections, is_folder
from tripleaudit.study.config.collections import Collection
from tripleaudit.study.config.training import CLASSIFIER_PREFIX
from tripleaudit.study.problems import LeftOut, refused
from tripleaudit.study.runs import Runs
from tripleaudit.study.trainings import trained_classifiers, trained_extractors


class CollectionChecks:
    """Checks of texts and models of collections.

    Args:
        collections: the collections of the study.
        runs: the trainings of the study.
        left_out: values that do not fit, each of which is a problem already.
    """

    def __init__(self, collections: Collections, runs: Runs, left_out: LeftOut):
        self.collections, self.runs, self.left_out = collections, runs, left_out

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each unusable model, missing text and address with credentials."""
        for name, section in self.collections.section.items():
            if any(map(holds_secrets, section.files)):
                yield (
                    f"collections/{name}/files: an address must not hold credentials; set them where the store's "
                    "tools look, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                )
            yield from self._problems_of_models(name, section)
            yield from refused(f"collections/{name}/files", self.collections.texts, name)

    def _problems_of_models(self, name: str, section: Collection) -> Iterator[str]:
        """Yield one sentence for each extractor and gate that cannot process the texts."""
        if section.extractor in self.collections.systems.sections:
            kind = self.collections.systems.kinds.get(section.extractor)
            if kind is not None and kind.name == "predictions":
                yield f"collections/{name}/extractor: '{section.extractor}' is stored predictions and reads no texts"
            if section.gate is None:
                return  # no trained model is used, so that no corpus is needed
        if self._lacks_choice(name):
            return
        if (
            not section.corpus
            and len(self.collections.config.corpora) != 1
            and not is_folder(section.extractor)
        ):
            known = ", ".join(self.collections.config.corpora) or "none"
            yield f"collections/{name}/corpus: expected the corpus whose extractor reads it; known are {known}"
            return
        extractor_runs = [run.path for run in self.runs.extractors]
        classifier_runs = [run.path for run in self.runs.classifiers]
        model_run = self.collections.model_run(name)
        gate_run = self.collections.gate_run(name)
        if not self._lacks_training("extractors", section.extractor, section.corpus):
            where = f"collections/{name}/extractor"
            yield from self._problems_of_model(where, section.extractor, model_run, extractor_runs)
        if not self._lacks_training("zcc", section.gate, section.corpus):
            where = f"collections/{name}/gate"
            yield from self._problems_of_model(where, section.gate, gate_run, classifier_runs)

    def _lacks_choice(self, name: str) -> bool:
        """Return whether a key was left out by which a collection chooses its trainings."""
        keys = ("corpus", "trainset", "noise", "seed")
        return self.left_out.includes(*(f"collections/{name}/{key}" for key in keys))

    def _lacks_training(self, section: str, model: str | None, corpus: str | None) -> bool:
        """Return whether a value was left out without which the study lacks this training.

        Args:
            section: the section with the settings of the training.
            model: the extractor or classifier.
            corpus: the corpus of the training; None for the only one.
        """
        name = (model or "").removeprefix(CLASSIFIER_PREFIX)
        if self.left_out.includes(f"{section}/{name}", f"systems/{model}", f"corpora/{corpus}"):
            return True
        config = self.collections.config
        is_trained = model in (*trained_extractors(config), *trained_classifiers(config))
        return is_trained and self.left_out.includes("settings", "seeds", "noising", "protocols")

    def _problems_of_model(
        self, where: str, model: str | None, run: str | None, runs: list[str]
    ) -> Iterator[str]:
        """Yield a sentence about an extractor or gate that is no training and no trained model.

        Args:
            model: the configured value; None for no gate.
            run: path of the training that this value names; None for a folder or a system.
            runs: paths of the study's trainings.
        """
        if run is not None:
            if run not in runs:
                yield (
                    f"{where}: the study has no training {run}; expected one of its trainings "
                    f"({_join_first(runs)}) or the folder of a trained model"
                )
        elif model is not None and model not in self.collections.systems.sections:
            yield from refused(where, saved_extractor_name, shipped(model))


def _join_first(names: list[str], most: int = 3) -> str:
    """Return the first names for a message, and how many more there are."""
    shown = ", ".join(names[:most]) or "it has none"
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return shown + more
