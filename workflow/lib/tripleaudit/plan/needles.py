"""The section ``needles``: which documents, models and needles MINEA is made of, and where its results lie."""

import json
import os
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from tripleaudit.arguments import options_of
from tripleaudit.corpora.store import load_sentences
from tripleaudit.errors import UserError
from tripleaudit.fields import NAME, Count, Number, Section, Seed, Text, Unique
from tripleaudit.needles.haystack import document_files, read_document
from tripleaudit.needles.plan import RATING, NeedleSettings
from tripleaudit.plan.problems import missing, refused, unknown
from tripleaudit.plan.systems import INFUSED
from tripleaudit.shipped import DATA

READS = ("data/new_facts.jsonl",)

if TYPE_CHECKING:
    from tripleaudit.plan.study import Run, Study

SAME = "same"
LENGTH_TABLE = "lost-in-the-middle"


class NeedleTriples(Section):
    """MINEA of triples, sentences with known triples infused into documents; null leaves it out."""

    corpus: str
    """A corpus of the study whose test sentences are the needles."""
    text: list[Text] | None = Field(None, min_length=1)
    """Text files or folders as haystacks; null joins sentences without triples of the corpus's test set (setting wz).
    """
    documents: Number = 4
    """Number of haystacks."""
    sentences: Number = 60
    """Sentences of a joined haystack."""
    max_chars: Number | None = None
    """Shorten text files to whole paragraphs."""
    new_facts: Number | None = None
    """State so many new facts of the demo world instead of the corpus's test sentences; all are unseen."""
    target: float = Field(0.2, gt=0, lt=1)
    """Share that needles fill."""
    minimum: float = Field(0.1, gt=0, lt=1)
    """Least share."""
    maximum: float = Field(0.3, gt=0, lt=1)
    """Greatest share."""
    seed: Seed = 0
    """Seed of needles and positions."""
    piece_chars: Number = 1500
    """Length of the pieces shown to language models."""
    models: Annotated[list[str], Unique] | None = None
    """Endpoints of generative/endpoints that extract; null takes those of needles/models."""
    extractors: bool = True
    """Score the trained extractors of the corpus (original split), and `systems` that are queried about all texts."""
    iterations: Count = 0
    """Follow-up calls for each piece."""
    reserve: Number = 800
    """Tokens kept free for an answer."""
    bins: Number = 5
    """Positions that a document is divided into."""


class _Own(Section):
    documents: list[Text] = []
    """Text files, or folders of .txt and .md files; looked for under raw_root, too."""
    name: str = Field("documents", pattern=NAME)
    """What the documents are called in scores and tables."""
    max_documents: Number | None = None
    """Take only the first documents; null takes all."""
    max_chars: Number | None = None
    """Shorten every document to whole paragraphs within this many characters; null keeps them whole."""
    models: Annotated[list[str], Unique] = []
    """Endpoints of generative/endpoints that extract; one row of each table."""
    generator: str | None = None
    """Endpoint that invents the needles; null takes them all from the project's templates."""
    needle_file: str | None = None
    """Needles of your own as JSON lines, instead of invented ones."""
    judge: str | None = "same"
    """Endpoint that judges the criterion llm; same is the extracting model itself, null nobody."""
    tokenizer: str | None = None
    """A tokenizer.json that counts tokens; null takes the usage that the server reports."""
    triples: NeedleTriples | None = None


class Needles(NeedleSettings, _Own):
    """MINEA: needles infused into documents, iterated extraction of entities, scores without reference, and
    triple needles. Nothing is sent without models."""


class NeedleStudies:
    """MINEA of a study: needles in documents, and triples as needles."""

    def __init__(self, study: "Study", config: Any):
        self.study, self.config = study, config
        self.section: dict[str, Any] = config.full()
        self.folder = f"{study.paths.study}/needles"

    @property
    def models(self) -> list[str]:
        """The endpoints that extract entities."""
        return self.config.models

    @property
    def triples(self) -> NeedleTriples | None:
        """The settings of triple needles, if the study has them."""
        return self.config.triples

    @cached_property
    def triple_models(self) -> list[str]:
        """The endpoints that extract triples."""
        if self.triples is None:
            return []
        return list(self.models if self.triples.models is None else self.triples.models)

    def problems(self) -> Iterator[str]:
        """Yield one sentence for each thing that cannot work, before anything runs."""
        yield from self._problems_of_endpoints()
        if self.models and not self.config.documents:
            yield "needles/documents: expected at least one text file or folder"
        yield from self._problems_of_files("documents", self.config.documents)
        yield from missing("needles/needle_file", self.config.needle_file)
        yield from missing("needles/tokenizer", self.config.tokenizer)
        yield from (f"needles/{problem}" for problem in self.config.contradictions())
        yield from refused("needles/schema", self.config.load_schema)
        if self.triples is not None:
            yield from self._problems_of_triples(self.triples)

    def _problems_of_endpoints(self) -> Iterator[str]:
        named = [("models", name) for name in self.models]
        named += [("triples/models", name) for name in self.triple_models if name not in self.models]
        named += [(key, getattr(self.config, key)) for key in ("generator", "judge")]
        for key, name in named:
            if name != SAME:
                yield from self.study.language_models.unknown_endpoint(f"needles/{key}", name)
        endpoints = self.study.language_models.config.endpoints
        for lm in sorted({*self.models, self.config.generator} & {*endpoints}):
            if (context := endpoints[lm].context) is not None and context <= self.config.reserve:
                said = f"{self.config.reserve} tokens kept free leave none of a context of {context}"
                yield f"needles/reserve: {said} (endpoint '{lm}')"

    def _problems_of_triples(self, triples: NeedleTriples) -> Iterator[str]:
        where, corpora = "needles/triples", self.study.corpora
        yield from unknown(f"{where}/corpus", "corpus", triples.corpus, corpora)
        if triples.text is None and "wz" not in self.study.settings:
            yield f"{where}: haystacks of zero-triple sentences need the setting wz; add it, or name text files"
        if not triples.minimum <= triples.target <= triples.maximum:
            shares = f"{triples.minimum}, {triples.target} and {triples.maximum}"
            yield f"{where}: the shares must obey minimum <= target <= maximum, got {shares}"
        if triples.new_facts is not None and triples.new_facts > (has := len(load_sentences(DATA / "new_facts.jsonl"))):
            yield f"{where}/new_facts: {triples.new_facts}, but there are {has}; expected at most these"
        yield from self._problems_of_files("triples/text", triples.text or [])

    def _problems_of_files(self, key: str, paths: list[str]) -> Iterator[str]:
        missing = [each for path in paths for each in self.study.paths.problems_of_file(f"needles/{key}", path)]
        yield from missing
        try:
            documents = [] if missing else self._documents(paths, None)
        except UserError as error:
            yield f"needles/{key}: {error}"
            return
        for path in filter(os.path.exists, documents):  # others are fetched
            yield from refused(f"needles/{key}", read_document, path)

    def _documents(self, paths: list[str], limit: int | None) -> list[str]:
        return list(map(str, document_files([self.study.paths.file(path) for path in paths], limit)))

    def documents(self) -> list[str]:
        """Return the text files that needles are put into."""
        return self._documents(self.config.documents, self.config.max_documents)

    def triple_sentences(self) -> list[str]:
        """Return the sentences that are needles with known triples."""
        return [] if self.triples is None else [self.study.set_file(self.triples.corpus, "original", "nz", "test")]

    def haystacks(self) -> list[str]:
        """Return what triple needles are put into: texts, or the corpus's test set with its zero-triple sentences."""
        if self.triples is None:
            return []
        if self.triples.text:
            return self._documents(self.triples.text, self.triples.documents)
        return [self.study.set_file(self.triples.corpus, "original", "wz", "test")]

    @cached_property
    def plan_json(self) -> str:
        """What decides needles, extraction and scores, as canonical JSON (:class:`tripleaudit.needles.plan.Plan`)."""
        known = {field.alias or name for name, field in NeedleSettings.model_fields.items()}
        values = {key: value for key, value in self.section.items() if key in known}
        return json.dumps({**values, "judge": self.config.judge is not None}, sort_keys=True)

    @cached_property
    def made_json(self) -> str:
        """What of :attr:`plan_json` decides needles and extraction, as canonical JSON."""
        made = {key: value for key, value in json.loads(self.plan_json).items() if key not in RATING}
        return json.dumps(made, sort_keys=True)

    @cached_property
    def triples_json(self) -> str:
        """What decides triple needles, as canonical JSON."""
        return json.dumps(self.section["triples"] or {}, sort_keys=True)

    def judge_of(self, model: str) -> str | None:
        """Return the endpoint that judges the entities of a model, ``None`` for no judge."""
        return model if self.config.judge == SAME else self.config.judge

    def other_judge(self, model: str) -> str | None:
        """Return the endpoint that judges the entities of a model, if it is another one."""
        judge = self.judge_of(model)
        return judge if judge != model else None

    def judge_options(self, wildcards: Any) -> list[str]:
        """Return the option that names the judge of a model, where it is another one."""
        return options_of({"judge": self.other_judge(wildcards.lm)})

    def served(self, wildcards: Any) -> list[str]:
        """Return the GGUF file of a model that jobs serve themselves."""
        return self.study.language_models.served(wildcards.lm)

    def served_judge(self, wildcards: Any) -> list[str]:
        """Return the GGUF file of a judge that jobs serve themselves."""
        return self.study.language_models.served(self.other_judge(wildcards.lm))

    def identity(self, wildcards: Any) -> list[dict[str, Any]]:
        """Return the settings that decide the answers of a model and of its judge."""
        return self.study.language_models.sampling(wildcards.lm, self.other_judge(wildcards.lm))

    @cached_property
    def triple_runs(self) -> "list[Run]":
        """The extractors that triple needles are shown to: those trained on the original split of the corpus."""
        if self.triples is None or not self.triples.extractors:
            return []
        return [run for run in self.study.runs if run.corpus == self.triples.corpus and run.protocol == "original"]

    @cached_property
    def triple_systems(self) -> list[str]:
        """The systems that triple needles are shown to: those that take texts, without a limit."""
        if self.triples is None or not self.triples.extractors:
            return []
        systems, corpus = self.study.systems, self.triples.corpus
        tested = {name for *where, name, test in systems.predicted if (*where, test) == (corpus, "original-nz", "test")}
        return [
            name
            for name, kind in systems.kinds.items()
            if name in tested and kind.name != "predictions" and systems.given[name].limit is None
        ]

    def criteria(self) -> list[str]:
        """Return the files of the needles that count as found, one for each model."""
        return [f"{self.folder}/models/{lm}/criteria.jsonl" for lm in self.models]

    def reports(self) -> list[str]:
        """Return the reports of systems that are shown triple needles."""
        return [f"{self.answers(name).removesuffix('.jsonl')}.report.json" for name in self.triple_systems]

    def trainings(self, table: str) -> list[str]:
        """Return the facts of the trainings behind a table's rows."""
        return [f"{self.study.paths.study}/trainings.json"] if table == "triple-needles" and self.triple_runs else []

    def infused(self) -> list[str]:
        """Return the predictions about infused triples: of the first seed of every run, of models, and of systems."""
        runs = [run for run in self.triple_runs if run.seed == self.study.seeds[0]]
        names = [*(f"extractors/{run.path}" for run in runs), *(f"models/{lm}" for lm in self.triple_models)]
        made = [f"{self.folder}/triples/{name}/predictions.jsonl" for name in names]
        return made + [self.answers(system) for system in self.triple_systems]

    def answers(self, system: str) -> str:
        """Return the answers of a system to the documents, which are a test set of its own."""
        assert self.triples is not None
        return f"{self.study.systems.path(self.triples.corpus, 'original-nz', system, INFUSED)}.jsonl"

    @cached_property
    def scored(self) -> dict[str, tuple[dict[str, str], dict[str, Any]]]:
        """Path below ``needles/triples`` -> the files and the keys of what is scored there, in order."""
        if self.triples is None:
            return {}
        folder, name = f"{self.folder}/triples", {"study": self.study.name, "corpus": self.triples.corpus}
        found: dict[str, tuple[dict[str, str], dict[str, Any]]] = {}
        sentences = f"{folder}/sentences-needles.jsonl"
        for lm in self.triple_models:
            of = {kind: f"{folder}/models/{lm}/{kind}.jsonl" for kind in ("predictions", "calls")}
            keys = {**name, "extractor": lm, "seed": self.triples.seed}
            found[f"models/{lm}"] = {"needles": f"{folder}/pieces-needles.jsonl", **of}, keys
        for run in self.triple_runs:
            of = {"needles": sentences, "predictions": f"{folder}/extractors/{run.path}/predictions.jsonl"}
            keys = {**name, "training": run.setting, "extractor": run.extractor, "noise": run.noise}
            found[f"extractors/{run.path}"] = of, {**keys, "seed": str(run.seed)}
        for system in self.triple_systems:
            of = {"needles": sentences, "predictions": self.answers(system)}
            found[f"systems/{system}"] = of, {**name, "extractor": system}
        return found

    def files(self) -> list[str]:
        """Return every scores file about needles."""
        entities = [f"{self.folder}/models/{run}/scores.csv" for run in self.models]
        return entities + [f"{self.folder}/triples/{who}/scores.csv" for who in self.scored]
