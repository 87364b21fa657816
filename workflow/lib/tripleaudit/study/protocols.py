"""Protocols of a study: their options, and the training and test sets that they make.

A set has a cardinality setting: ``nz`` has only sentences with triples, ``wz`` also sentences with
zero triples. A training set is named ``protocol-setting``, such as ``original-nz``. The methods that
take ``wildcards`` are input and parameter functions of rules.
"""

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tripleaudit.core.arguments import options_of
from tripleaudit.core.shipped import shipped
from tripleaudit.protocols.build import spec_of
from tripleaudit.sources import registry
from tripleaudit.study.config.study import StudyConfig
from tripleaudit.study.paths import StudyPaths

KEYS_OF_OTHER_RULES = ("train", "select_on", "masked_lm", "vectors", "mlm_steps", "descriptions")
"""Options of a protocol that do not affect its sets, or that are input files of its rule."""


class Protocols:
    """The protocols of a study and the sets of sentences that they make of its corpora.

    Args:
        config: the configuration of the study.
        names: the protocols, ``original`` first.
        settings: the cardinality settings, ``nz`` first.
        paths: the files of the study.
    """

    def __init__(
        self,
        config: StudyConfig,
        names: Sequence[str],
        settings: Sequence[str],
        paths: StudyPaths,
    ):
        self.config, self.paths = config, paths
        self.names, self.settings = list(names), list(settings)

    def in_files(self, corpus: str, protocol: str) -> bool:
        """Return whether the user's files of a corpus include the test set of a protocol."""
        files = self.config.corpora[corpus].files
        return protocol == "augmented" and files is not None and files.augmented is not None

    def origin(self, corpus: str, protocol: str) -> str | None:
        """Return where ready-made sets of a protocol come from; None if the study builds them.

        Returns:
            ``files`` for a test set among the user's files, ``published`` for published sets.
        """
        if self.in_files(corpus, protocol):
            return "files"
        return "published" if self.published(corpus, protocol) else None

    def published(self, corpus: str, protocol: str) -> registry.RegisteredCorpus | None:
        """Return the registered corpus that holds the published sets of a protocol.

        Returns:
            None if the study builds the sets, or none are published for this corpus.
        """
        section = self.config.corpora[corpus]
        source = self.options(protocol).get("source", "made")
        if source == "made" or section.files is not None:
            return None
        entry = registry.corpora().get(section.registry or corpus)
        if entry is None or entry.published.get(protocol) is None:
            return None
        return registry.corpus(entry.published[protocol])

    def gives_schema(self, protocol: str) -> bool:
        """Return whether systems receive the relations of a protocol's test set.

        They may not have been trained on these relations.
        """
        return spec_of(protocol).gives_schema

    def described(self, corpus: str, protocol: str = "original") -> dict[str, str]:
        """Return relation -> description that systems receive under a protocol.

        Empty without a corpus, and for protocols that withhold the descriptions.
        """
        if not corpus or not self.options(protocol).get("descriptions", True):
            return {}
        return dict(self.config.corpora[corpus].relations)

    def testset_gives_schema(self, trainset: str, testset: str = "test") -> bool:
        """Return whether a run on a training set is given the relations of a test set."""
        return self.gives_schema(self.protocol_of(trainset, testset))

    @staticmethod
    def protocol_of(trainset: str, testset: str = "test") -> str:
        """Return the protocol of a test set; ``test`` is that of the training set's own protocol."""
        return trainset.rpartition("-")[0] if testset == "test" else testset

    @property
    def built(self) -> list[str]:
        """Names of the protocols whose sets follow from the original ones alone."""
        return [name for name in self.names if name != "original" and not spec_of(name).inputs]

    def options(self, name: str) -> dict[str, Any]:
        """Return the options of a protocol of the study; ``original`` has none."""
        if name not in self.names:
            return {}
        options = self.config.protocols.full()[name]
        return {key: value for key, value in options.items() if value is not None}

    def protocol_json(self, wildcards: Any) -> str:
        """Return the options that affect the sets of a protocol of a corpus, as canonical JSON."""
        # the rule for augmented test sets has no wildcard for the protocol
        protocol = wildcards.get("protocol", "augmented")
        origin = self.origin(wildcards.corpus, protocol)
        if origin:
            return json.dumps({"source": origin})
        options = self.options(protocol)
        if options.pop("source", "made") == "published":
            # no sets are published for this corpus; the checks of the configuration report it
            return json.dumps({"source": "published"})
        for key in KEYS_OF_OTHER_RULES:
            options.pop(key, None)
        if "options" in options:
            nested = options["options"].items()
            options["options"] = {key: value for key, value in nested if value is not None}
        return json.dumps(options, sort_keys=True)

    def masked_lm_options(self, layers: int | None) -> list[str]:
        """Return options of ``tripleaudit train-mlm`` for the study's own masked language model."""
        options = self.config.protocols.augmented
        return options_of({"steps": options.mlm_steps, "seed": options.seed, "layers": layers})

    def augmentation_models(self, wildcards: Any) -> dict[str, str]:
        """Return the model files for augmented test sets; ready-made sets need none.

        They are the masked language model, the encoder that word vectors are derived from, and the
        user's word vectors if there are any.
        """
        if self.origin(wildcards.corpus, "augmented"):
            return {}
        options = self.options("augmented")
        if options.get("masked_lm"):
            masked_lm = f"{self.paths.model(options['masked_lm'])}/config.json"
        else:
            masked_lm = self.paths.results.masked_lm_file.format(
                corpus=wildcards.corpus, name="config.json"
            )
        models = {"masked_lm": masked_lm, "encoder": self.encoder_file(wildcards)}
        if options.get("vectors"):
            models["vectors"] = shipped(options["vectors"])
        return models

    @staticmethod
    def augmentation_options(wildcards: Any, input: Any) -> list[str]:
        """Return the options of ``tripleaudit build-protocol`` for :meth:`augmentation_models`."""
        files = dict(input.items())
        options: dict[str, Any] = {}
        if files.get("masked_lm"):
            options["masked-lm"] = Path(files["masked_lm"]).parent
        if files.get("encoder"):
            options["encoder"] = Path(files["encoder"]).parent
        options["vectors"] = files.get("vectors")
        return options_of(options)

    def trained_on(self, protocol: str) -> str:
        """Return the protocol of the training set that belongs to a protocol's test set."""
        return "original" if protocol in self.tests_only else protocol

    @property
    def tests_only(self) -> list[str]:
        """Names of the protocols that have a test set and no training set."""
        return [name for name in self.names if not spec_of(name).train]

    def encoder(self, corpus: str) -> str:
        """Return the encoder of a corpus, its own or the study's: a registered name or a source."""
        return self.config.corpora[corpus].encoder or self.config.encoder.model

    def encoder_file(self, wildcards: Any) -> str:
        """Return the configuration file of a corpus's encoder."""
        return f"{self.paths.model(self.encoder(wildcards.corpus))}/config.json"

    @functools.cached_property
    def trainsets(self) -> list[str]:
        """All training sets as ``protocol-setting``; only the original protocol has wz."""
        trained = [name for name in self.names if name not in self.tests_only]
        sets = [f"{name}-nz" for name in trained if self.options(name).get("train", True)]
        if "wz" in self.settings:
            sets.append("original-wz")
        return sets

    def testsets(self, trainset: str) -> list[tuple[str, str]]:
        """Return the ``(test set, testing setting)`` pairs on which a training is scored.

        ``test`` is the test set of the training's own protocol; a protocol without a training set,
        such as ``augmented``, belongs to the original nz training.
        """
        settings = self.settings if trainset.startswith("original-") else ["nz"]
        pairs = [("test", setting) for setting in settings]
        if trainset == "original-nz":
            pairs += [(name, "nz") for name in self.tests_only]
        return pairs

    def set_file(self, corpus: str, protocol: str, setting: str, split: str) -> str:
        """Return one split of the sets of a protocol."""
        return self.paths.results.protocol_set.format(
            corpus=corpus, protocol=protocol, setting=setting, split=split
        )

    def protocol_inputs(self, wildcards: Any) -> dict[str, str]:
        """Return the splits that a protocol is built from: the original nz ones, or ready-made ones.

        A ready-made test set without a training set goes with the original splits, and the original
        test set is then the input ``original``.
        """
        corpus = wildcards.corpus
        # the rule for augmented test sets has no wildcard for the protocol
        protocol = wildcards.get("protocol", "augmented")
        splits = ["train", "valid", "test"]
        files = {split: self.set_file(corpus, "original", "nz", split) for split in splits}
        if not self.origin(corpus, protocol):
            return files
        ready_made = splits
        if protocol in self.tests_only:
            files["original"] = files["test"]
            ready_made = ["test"]
        for split in ready_made:
            files[split] = self.paths.results.published_sentences.format(
                corpus=corpus, protocol=protocol, split=split
            )
        return files

    def trainset_files(self, wildcards: Any) -> dict[str, str]:
        """Return the training set, the validation set and the encoder of a training."""
        protocol, setting = wildcards.trainset.rsplit("-", 1)
        return {
            "train": self.set_file(wildcards.corpus, protocol, setting, "train"),
            "valid": self.validation_file(wildcards),
            "encoder": self.encoder_file(wildcards),
        }

    def validation_file(self, wildcards: Any) -> str:
        """Return the set that a training chooses its epoch on.

        It may be the test set for a sifted training set (option ``select_on``), as in the paper.
        """
        return self._validation_file(wildcards.corpus, wildcards.trainset)

    def _validation_file(self, corpus: str, trainset: str) -> str:
        protocol, setting = trainset.rsplit("-", 1)
        split = self.options(protocol).get("select_on", "valid")
        return self.set_file(corpus, protocol, setting, split)

    def doubled_sets(self, wildcards: Any) -> list[str]:
        """Return the validation and test sets that a training of twice the epochs predicts."""
        # the rule for the original nz training alone has no wildcard for the training set
        trainset = wildcards.get("trainset", "original-nz")
        valid = self._validation_file(wildcards.corpus, trainset)
        if trainset == "original-nz":
            return [valid, *self.testset_files(wildcards)]
        return [valid, self.testset_file(wildcards)]

    @property
    def largest_setting(self) -> str:
        """``wz`` if the study has it, else ``nz``; a wz set includes the sentences of the nz set."""
        return self.settings[-1]

    def testset_file(self, wildcards: Any) -> str:
        """Return the test set of a training's own protocol, in the largest setting that it has."""
        protocol = wildcards.trainset.rpartition("-")[0]
        setting = self.largest_setting if protocol == "original" else "nz"
        return self.set_file(wildcards.corpus, protocol, setting, "test")

    def testset_files(self, wildcards: Any) -> list[str]:
        """Return the test sets of an original nz training, also those without a training set."""
        corpus = wildcards.corpus
        original = self.set_file(corpus, "original", self.largest_setting, "test")
        return [original, *(self.set_file(corpus, name, "nz", "test") for name in self.tests_only)]

    def baseline_inputs(self, wildcards: Any) -> dict[str, str]:
        """Return the training set and the test set of a baseline."""
        protocol, setting = wildcards.trainset.rsplit("-", 1)
        train = self.set_file(wildcards.corpus, protocol, setting, "train")
        if wildcards.testset == "test":
            test = self.testset_file(wildcards)
        else:
            test = self.set_file(wildcards.corpus, wildcards.testset, "nz", "test")
        return {"train": train, "test": test}

    def audited_files(self, wildcards: Any) -> dict[str, Any]:
        """Return the input files of the audit of one protocol of a corpus, by option."""
        corpus, protocol = wildcards.corpus, wildcards.protocol
        trained = self.trained_on(protocol)
        files: dict[str, Any] = {
            "train": self.set_file(corpus, trained, "nz", "train"),
            "valid": self.set_file(corpus, trained, "nz", "valid"),
            "test": self.set_file(corpus, protocol, "nz", "test"),
            "zero": [],
            "counts": [],
            "original": [],
        }
        splits = ("train", "valid", "test")
        if protocol == "original":
            counts = self.paths.results.sentence_counts
            files["counts"] = [counts.format(corpus=corpus, split=split) for split in splits]
            if "wz" in self.settings:
                files["zero"] = [self.set_file(corpus, protocol, "wz", split) for split in splits]
        if protocol == "augmented":
            files["original"] = [self.set_file(corpus, "original", "nz", "test")]
        return files
