"""The section ``systems``: what extracts without a training of the study, and on which test sets. Runs nothing."""

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from tripleaudit.corpora.readers.records import Columns
from tripleaudit.descriptors import BASELINES, EXTRACTORS, SYSTEM_KINDS, SystemKind
from tripleaudit.errors import UserError
from tripleaudit.fields import Count, Number, OrEmpty, Positive, Runtime, Section, Text, form, hint, one_of
from tripleaudit.files import read_json
from tripleaudit.llm.section import answering
from tripleaudit.plan.corpora import format_names
from tripleaudit.plan.relations import problems_of_names
from tripleaudit.plan.training import CLASSIFIER, Training
from tripleaudit.systems.completion import PROMPT
from tripleaudit.systems.facts import HISTORY, training_fact
from tripleaudit.systems.language_model import identity

if TYPE_CHECKING:
    from tripleaudit.plan.study import Study

WHERE_AND_WITH_WHAT = ("protocols", "threads", "gpus", "mem_mb", "runtime")
INFUSED = "infused"  # the documents with triple needles, as a test set of a system
FOR_ALL = (*WHERE_AND_WITH_WHAT, "limit")
DECIDES_NOTHING = (
    *WHERE_AND_WITH_WHAT,
    *("timeout", "restarts", "address", "headers", "concurrency", "endpoint"),
    "completion",  # is asked beside the test sets
)
PROBED = "augmented"  # the protocol that the completion probe takes its controls from


def _paths(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))


def _stored(value: Any) -> bool:
    if not isinstance(value, dict):
        return _paths(value)
    return all(_paths(one) or (isinstance(one, dict) and all(map(_paths, one.values()))) for one in value.values())


def _by_corpus(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(one, str) for one in value.values())
    return value is None or isinstance(value, str)


def _command(value: Any) -> bool:
    return _paths(value) and bool(value)


class System(Section):
    """A system; one key says how it comes into the study, the others belong to that way (docs/systems.md)."""

    trained: Annotated[Training | None, OrEmpty] = None
    """An extractor that the study trains; the same as an entry of `extractors`, with its settings."""
    predictions: Annotated[
        Any,
        form(
            "a path, a list of paths, or these by corpus, or by corpus and protocol",
            _stored,
            {"type": ["string", "array", "object"]},
        ),
    ] = None
    """Stored outputs in any format that is read, by corpus and protocol; a path alone is the only corpus's test set."""
    command: Annotated[
        Any, form("a command, as a text or a list of words", _command, {"type": ["string", "array"]})
    ] = None
    """A program that reads JSON lines on standard input and answers in JSON lines on standard output."""
    python: Text | None = None
    """A class, file.py:Class, whose `extract(texts)` returns for each text a list of triples."""
    endpoint: Text | None = None
    """A language model, one of `generative/endpoints` by name; cache, budget and prices are those of `generative`."""
    address: Text | None = None
    """A service that is sent the JSON of a program by POST, one text at a time, and answers with it."""
    setting: Literal["closed", "semi-open", "open"] = "closed"
    """What a language model is given: the corpus's relations with their descriptions, these with types, or nothing."""
    prompt: Text | None = None
    """A prompt of workflow/lib/tripleaudit/data/prompts by name, or the path of your own; null is the setting's."""
    entity_types: list[Text] = []
    """Types of things that relations link (semi-open)."""
    verbalise: dict[str, Text] = {}
    """Plain names of relations for prompts, as under `generative/datasets/<name>/verbalise`."""
    reask: bool = True
    """Ask a language model once more where its answer cannot be read."""
    max_tokens: Number | None = None
    """Most tokens of an answer, instead of the endpoint's."""
    examples: Count = 0
    """How many training sentences a language model is shown with their gold triples before the text."""
    examples_seed: Count = 0
    """Seed of the draw of examples."""
    completion: Count = 0
    """Show a language model the first half of so many test sentences, and of their augmented variants, and look for the
    triples of the whole (table `completion`); needs the protocol `augmented`."""
    headers: dict[str, str] = {}
    """Headers of every request to an address; `env:NAME` takes a value from the environment variable NAME."""
    concurrency: Number = 1
    """Requests to an address at the same time."""
    format: Annotated[str, one_of(format_names, "format")] | None = None
    """Format of stored predictions; null looks at their content."""
    columns: Columns | None = None
    """Which column of stored predictions is what, as under `corpora/<name>/columns`."""
    training: Annotated[
        Any, form("a path, or a path by corpus", _by_corpus, {"type": ["string", "object", "null"]})
    ] = None
    """The `provenance.json` of the training that made stored predictions, its `history.jsonl` beside it."""
    options: dict[str, Any] = {}
    """Keyword arguments of the class."""
    batch_size: Number = 1
    """Texts that the class gets at a time."""
    relations: bool = False
    """Tell it the relations of the corpus: those of the training set, with their descriptions."""
    files: list[Text] = []
    """Further files that its answers depend on; a change of one asks it anew."""
    timeout: Positive = 60
    """Seconds within which every answer must come; of a class, for each text of a batch."""
    restarts: Count = 2
    """How often it is started again after it ended, or was stopped, before its last answer."""
    protocols: list[Text] | None = None
    """Protocols on whose test sets it is asked; null is all."""
    limit: Number | None = None
    """Ask it about so many sentences of each test set, spread evenly; its row is about these alone."""
    threads: Number = 1
    """CPU threads that it may use (OMP_NUM_THREADS)."""
    gpus: int = Field(0, ge=0)
    """GPUs that it uses; with 0 it sees none."""
    mem_mb: int = Field(4000, ge=100)
    """Memory that a cluster job asks for."""
    runtime: Runtime = "4h"
    """Time that a cluster job asks for, minutes or '4h'."""

    @model_serializer(mode="wrap")
    def _said(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out the keys of the ways in that it does not take, so that what is written reads the same."""
        said = [name for name in ("trained", *SYSTEM_KINDS) if name in self.model_fields_set]
        values = dump(self)
        if len(said) != 1:
            return values
        known = said if said == ["trained"] else [*said, *SYSTEM_KINDS[said[0]].options, *FOR_ALL]
        return {name: value for name, value in values.items() if name in {*known, *self.model_fields_set}}


class Systems:
    """The systems of a study that it does not train.

    Args:
        section: ``systems`` of the configuration.
    """

    def __init__(self, study: "Study", section: Mapping[str, System]):
        self.study = study
        self.given = {name: each for name, each in section.items() if each.trained is None}
        self.trained = {name: each.trained for name, each in section.items() if each.trained is not None}
        self.all = section

    @cached_property
    def kinds(self) -> dict[str, SystemKind]:
        """System -> its kind, for those that say one."""
        said = {name: [key for key in each.given() if key in SYSTEM_KINDS] for name, each in self.given.items()}
        return {name: SYSTEM_KINDS[keys[0]] for name, keys in said.items() if len(keys) == 1}

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each thing that cannot work, before anything runs."""
        ways = ["trained", *SYSTEM_KINDS]
        for name, each in self.all.items():
            where, given = f"systems/{name}", each.given()
            said = [key for key in ways if key in given]
            if len(said) != 1:
                found = f"{' and '.join(said)} are several" if said else "none of them is given"
                yield f"{where}: expected exactly one of {', '.join(ways)}; {found}"
            elif said == ["trained"]:
                yield from self._problems_of_trained(where, name, given)
            else:
                yield from self._problems_of_kind(where, name, given)

    def _problems_of_trained(self, where: str, name: str, given: Mapping[str, Any]) -> Iterator[str]:
        known = [*(one for one, spec in EXTRACTORS.items() if not spec.classifier), *self.study.typed.own_extractors]
        if name not in known:
            yield f"{where}/trained: unknown extractor '{name}'{hint(name, known)}"
        if name in self.study.typed.extractors:
            yield f"{where}: '{name}' is an entry of extractors, too; expected it once"
        for key in given:
            if key != "trained":
                yield f"{where}/{key}: of a trained extractor all settings stand under 'trained'"

    def _problems_of_kind(self, where: str, name: str, given: Mapping[str, Any]) -> Iterator[str]:
        kind, settings = self.kinds[name], self.settings(name)
        taken = (*EXTRACTORS, *BASELINES, *self.study.typed.own_extractors)
        if kind.name == "predictions":  # those of an extractor have its name and its published values
            taken = (*self.study.extractors, *BASELINES)
        if name in taken or name.startswith(CLASSIFIER):
            yield f"{where}: '{name}' is the name of an extractor or a baseline; expected another one"
        allowed = (kind.name, *kind.options, *FOR_ALL)
        for key in given:
            if key not in allowed:
                yield f"{where}/{key}: a system by '{kind.name}' has no such key{hint(key, allowed)}"
        if given[kind.name] is None:
            yield f"{where}/{kind.name}: nothing stands there; expected a value"
            return
        if kind.name == "endpoint":
            yield from self.study.language_models.unknown_endpoint(f"{where}/endpoint", settings["endpoint"])
            named = settings["verbalise"]
            yield from problems_of_names(self.study.data, f"{where}/verbalise", named, self.study.corpora)
            if settings["completion"] and PROBED not in self.study.protocols:
                yield f"{where}/completion: the study has no protocol '{PROBED}', whose sentences are its control"
        if kind.name == "predictions":
            yield from self._problems_of_stored(where, name)
        for sentence in kind.problems(settings):
            yield f"{where}/{sentence}"
        for protocol in self.given[name].protocols or ():
            if protocol not in self.study.protocols:
                yield f"{where}/protocols: there is no protocol '{protocol}'{hint(protocol, self.study.protocols)}"
        for path in settings.get("files") or ():
            if not Path(path).is_file():
                yield f"{where}/files: {path}: no such file"

    def _problems_of_stored(self, where: str, name: str) -> Iterator[str]:
        given = self.given[name].predictions
        corpora, tested = self.study.corpora, ["original", *(p for p in self.study.protocols if p != "original")]
        if not isinstance(given, dict) and len(corpora) != 1:
            yield f"{where}/predictions: the study has {len(corpora)} corpora; expected the paths by corpus"
        for corpus, paths in self.stored(name).items():
            if corpus not in corpora:
                yield f"{where}/predictions: there is no corpus '{corpus}'{hint(corpus, corpora)}"
            for protocol, files in paths.items():
                if protocol not in tested:
                    yield f"{where}/predictions/{corpus}: there is no protocol '{protocol}'{hint(protocol, tested)}"
                for path in files:
                    yield from self.study.places.problems_of_file(f"{where}/predictions", path)
        for corpus, path in self.training(name).items():
            if corpus not in corpora:
                yield f"{where}/training: there is no corpus '{corpus}'{hint(corpus, corpora)}"
            else:
                yield from self._problems_of_training(f"{where}/training", path)

    def _problems_of_training(self, where: str, path: str) -> Iterator[str]:
        missing = list(self.study.places.problems_of_file(where, path))
        yield from missing
        if not missing:
            try:
                training_fact(self.study.places.file(path), {})
            except UserError as error:
                yield f"{where}: {error}"

    def stored(self, name: str) -> dict[str, dict[str, list[str]]]:
        """Return corpus -> protocol -> files of a system by ``predictions``."""
        given = self.given[name].predictions
        by_corpus = given if isinstance(given, dict) else dict.fromkeys(self.study.corpora[:1], given)
        found = {}
        for corpus, value in by_corpus.items():
            by_protocol = value if isinstance(value, dict) else {"original": value}
            found[corpus] = {
                protocol: [paths] if isinstance(paths, str) else list(paths) for protocol, paths in by_protocol.items()
            }
        return found

    def training(self, name: str) -> dict[str, str]:
        """Return corpus -> provenance of the training behind a system by ``predictions``."""
        given = self.given[name].training
        if given is None:
            return {}
        return given if isinstance(given, dict) else dict.fromkeys(self.study.corpora[:1], given)

    def trainings(self) -> list[tuple[str, dict[str, Any]]]:
        """Return ``(provenance, keys)`` of the trainings behind stored predictions, one for each row."""
        keys = {"study": self.study.name, "training": "nz", "noise": "none", "seed": ""}
        return [
            (
                self.study.places.file(self.training(name)[corpus]),
                {**keys, "corpus": corpus, "protocol": "original", "extractor": name},
            )
            for corpus, trainset, name in self.runs
            if trainset == "original-nz" and corpus in self.training(name)
        ]

    def histories(self) -> list[str]:
        """Return the histories beside :meth:`trainings`."""
        beside = [Path(path).with_name(HISTORY) for path, _ in self.trainings()]
        return [str(path) for path in beside if path.is_file()]

    def settings(self, name: str) -> dict[str, Any]:
        """Return the keys of a system with their defaults, those of its kind alone."""
        kind = self.kinds[name]
        full = self.given[name].full()
        return {key: full[key] for key in (kind.name, *kind.options, *FOR_ALL)}

    # what runs

    @cached_property
    def runs(self) -> list[tuple[str, str, str]]:
        """``(corpus, training set, system)`` for everything that is scored.

        Nothing is trained: the training set is what decides which triples of a test set count as seen. Stored outputs
        are scored where there are some.
        """
        return [
            (corpus, trainset, name)
            for name in self.kinds
            for corpus in self.study.corpora
            for trainset in self.study.trainsets
            if trainset.endswith("-nz") and self.testsets(corpus, trainset, name)
        ]

    def testsets(self, corpus: str, trainset: str, name: str) -> list[tuple[str, str]]:
        """Return the ``(test set, testing setting)`` pairs that a system is scored on."""
        own, asked = trainset.removesuffix("-nz"), self.given[name].protocols
        tested = self.stored(name).get(corpus, {}) if self.kinds[name].name == "predictions" else self.study.protocols
        return [
            (test, testing)
            for test, testing in self.study.testsets(trainset)
            if (set_ := own if test == "test" else test) in tested and (asked is None or set_ in asked)
            if not self.study.data.asks_to_tell(set_) or self.can_be_told(name)
        ]

    def can_be_told(self, name: str) -> bool:
        """Whether a system reads the names of relations that it is asked for; of stored outputs that is assumed."""
        kind, settings = self.kinds[name], self.given[name]
        told = settings.relations or (kind.name == "endpoint" and settings.setting != "open")
        return kind.name == "predictions" or (kind.told and told)

    @cached_property
    def predicted(self) -> list[tuple[str, str, str, str]]:
        """``(corpus, training set, system, test set)`` of every prediction file."""
        found = {
            (corpus, trainset, name, test)
            for corpus, trainset, name in self.runs
            for test, _ in self.testsets(corpus, trainset, name)
        }
        return sorted(found)

    def path(self, corpus: str, trainset: str, name: str, testset: str = "test") -> str:
        """Return where a prediction file lies, without its ending; the report lies beside it."""
        return f"{self.study.places.study}/predictions/{corpus}/{trainset}/{name}/{testset}"

    def reports(self) -> list[str]:
        """Return the reports on all prediction files."""
        return [f"{self.path(*each)}.report.json" for each in self.predicted]

    @cached_property
    def timed(self) -> list[tuple[str, dict[str, Any]]]:
        """``(prediction file, keys)`` of trainings and baselines that are compared with systems in what they take."""
        study = self.study
        runs = [run for run in study.runs if run.protocol == "original" and run.noise == "none"]
        trained = [
            (f"{study.places.study}/predictions/{run.path}/test.jsonl", study.run_keys([run])[0]) for run in runs
        ]
        keys = {"study": study.name, "protocol": "original", "training": "nz", "noise": "none", "seed": ""}
        return trained + [
            (f"{self.path(corpus, trainset, name)}.jsonl", {**keys, "corpus": corpus, "extractor": name})
            for corpus, trainset, name in study.baseline_runs
            if trainset == "original-nz" and not BASELINES[name].classifier
        ]

    def keys(self) -> list[dict[str, Any]]:
        """Return the keys of each of :meth:`reports` as the scores file names them."""
        return [
            {
                "study": self.study.name,
                "corpus": corpus,
                "protocol": trainset.removesuffix("-nz") if testset == "test" else testset,
                "training": "nz",
                "extractor": name,
                "noise": "none",
                "seed": "",
            }
            for corpus, trainset, name, testset in self.predicted
        ]

    def inputs(self, wildcards: Any) -> dict[str, Any]:
        """Return what a prediction file is made from besides the test set: training triples, programs, outputs."""
        name, study = wildcards.extractor, self.study
        kind, settings = self.kinds[name], self.settings(name)
        own, protocol = wildcards.testset == "test", wildcards.trainset.rpartition("-")[0]
        if wildcards.testset == INFUSED:
            test = f"{study.needles.folder}/triples/sentences.jsonl"
        elif own:
            test = study.testset_file(wildcards)
        else:
            test = study.set_file(wildcards.corpus, wildcards.testset, "nz", "test")
        return {
            "test": test,
            # relations and examples come from here; what is held out of training is held out of these, too
            "train": study.set_file(
                wildcards.corpus, protocol if study.data.asks_to_tell(protocol) else "original", "nz", "train"
            ),
            "model": study.language_models.served(settings["endpoint"]) if kind.name == "endpoint" else [],
            "files": [study.places.file(path) for path in self.files(wildcards)],
            "programs": sorted({*kind.files(settings), *(settings.get("files") or ())}),
        }

    def tells(self, wildcards: Any) -> bool:
        """Return whether a system is told the relations of a test set, and not those of training."""
        return wildcards.testset != INFUSED and self.study.tells(wildcards.trainset, wildcards.testset)

    def files(self, wildcards: Any) -> list[str]:
        """Return the stored outputs for one test set."""
        if self.kinds[wildcards.extractor].name != "predictions":
            return []
        own = wildcards.trainset.removesuffix("-nz")
        protocol = own if wildcards.testset == "test" else wildcards.testset
        return self.stored(wildcards.extractor)[wildcards.corpus][protocol]

    def identity(self, corpus: str, name: str, trainset: str = "original-nz") -> dict[str, Any]:
        """Return what decides the answers of a system besides texts and files."""
        settings = self.settings(name)
        settings.pop("predictions", None)  # the files are inputs
        settings.pop("training", None)  # told in the tables, by a job of its own
        found = {key: value for key, value in settings.items() if key not in DECIDES_NOTHING}
        if self.kinds[name].name == "endpoint":
            found |= identity(self.study.language_models.section, settings)
        if self.kinds[name].told and (settings.get("relations") or settings.get("setting") not in (None, "open")):
            found["described"] = self._described(corpus, trainset)
        return found

    def _described(self, corpus: str, trainset: str) -> dict[str, str]:
        return self.study.data.described(corpus, trainset.rpartition("-")[0])

    # the completion probe

    @cached_property
    def probed(self) -> list[tuple[str, str]]:
        """``(corpus, system)`` of every language model that is shown the first halves of test sentences."""
        asked = [name for name in self.kinds if self.given[name].completion]
        return [(corpus, name) for corpus in self.study.corpora for name in asked]

    def completion(self, corpus: str, name: str) -> str:
        """Return where the outcome of the completion probe lies."""
        return f"{self.study.places.study}/completion/{corpus}/{name}.json"

    def completions(self) -> list[str]:
        """Return all outcomes of the completion probe."""
        return [self.completion(*each) for each in self.probed]

    def completion_inputs(self, wildcards: Any) -> dict[str, Any]:
        """Return what the completion probe reads: test sentences, their variants, training triples, the model."""
        corpus, endpoint = wildcards.corpus, self.given[wildcards.extractor].endpoint
        return {
            "test": self.study.set_file(corpus, "original", "nz", "test"),
            "augmented": self.study.set_file(corpus, PROBED, "nz", "test"),
            "train": self.study.set_file(corpus, "original", "nz", "train"),
            "model": self.study.language_models.served(endpoint),
        }

    def completion_identity(self, corpus: str, name: str) -> dict[str, Any]:
        """Return what decides the answers of a language model in the completion probe besides texts."""
        settings = self.settings(name)
        decisive = ("completion", "verbalise", "entity_types", "reask", "max_tokens")
        return {
            **{key: settings[key] for key in decisive},
            **answering(self.study.language_models.section, settings["endpoint"], PROMPT),
            "described": self._described(corpus, "original-nz"),
        }

    def json(self, name: str) -> str:
        """Return the settings for the job."""
        return json.dumps(self.settings(name), sort_keys=True)

    def job(self, corpus: str, name: str, threads: int, trainset: str = "original-nz") -> str:
        """Return what the job needs besides the settings."""
        described = self._described(corpus, trainset)
        job: dict[str, Any] = {"threads": threads, "study": self.study.name, "relations": described}
        if self.kinds[name].name == "endpoint":
            job["section"] = self.study.language_models.section
        return json.dumps(job, sort_keys=True)

    def networked(self) -> list[str]:
        """Return the systems that need a network: not what jobs serve themselves."""
        served = self.study.language_models.need_network
        return [
            name
            for name, kind in self.kinds.items()
            if kind.network and (kind.name != "endpoint" or served(self.given[name].endpoint))
        ]


def next_attempt(report: str | Path) -> int:
    """Return the number of the next try of a system: a new one after a try that failed, else that of the last one.

    It is a parameter of the rule, so that a system that lost its row is asked again by the next run, and one that
    answered never is.
    """
    try:
        last = read_json(report) if Path(report).is_file() else {}
    except UserError:
        last = {}
    return last.get("attempt", 0) + bool(last.get("failed"))
