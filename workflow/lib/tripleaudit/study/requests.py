"""Estimate of requests, tokens and money at endpoints, without sending anything.

It covers extraction, judging, embedding and needles.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict
from functools import cache, partial
from itertools import chain
from os.path import isfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tripleaudit.core.files import read_json
from tripleaudit.core.shipped import shipped
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_sentences
from tripleaudit.generative.extraction import Task, build_task, select_texts
from tripleaudit.grescores.judging import FACTUALNESS, GRANULARITY
from tripleaudit.grescores.system_scores import strings_to_embed
from tripleaudit.grescores.systems import read_judged
from tripleaudit.llm import section as settings
from tripleaudit.llm.client import Client
from tripleaudit.llm.conversation import counters
from tripleaudit.llm.estimate import Estimate, estimate, estimate_embeddings
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.llm.store import Store
from tripleaudit.needles.extracting import estimate_extraction, estimate_needles
from tripleaudit.needles.haystack import read_documents
from tripleaudit.needles.infused import Corpus
from tripleaudit.needles.making import corpus_from_needles
from tripleaudit.needles.needle import load_needles
from tripleaudit.needles.plan import Plan
from tripleaudit.study.local_sets import local_set
from tripleaudit.study.study import Study
from tripleaudit.systems.language_model import task_of
from tripleaudit.systems.test_set import make_query

Row = dict[str, Any]
Estimates = Iterator[Row | str]
"""A row for each job; the name of a job whose inputs do not exist yet."""
Clients = Callable[[str], Client]
"""Function that returns the client of an endpoint, opened once."""
COLUMNS = {
    "data set": "dataset",
    "system": "system",
    "endpoint": "endpoint",
    "requests": "total",
    "cached": "cached",
    "to pay": "to_pay",
    "tokens in": "prompt_tokens",
    "tokens out": "completion_tokens",
    "money": "cost",
    "at most": "cost_limit",
}
"""Heading -> key of a job."""


def plan(study: Study) -> dict[str, Any]:
    """Estimate the requests that a study would still send; reads texts and stored answers.

    Returns:
        ``{"jobs": [{"dataset", "system", "endpoint", "done", + fields of Estimate}], "total":
        Estimate's fields, "unknown": [what cannot be counted yet], "missing_keys", "budget",
        "spent"}``. The requests of a job whose result exists, made as the study now says, are not
        counted.
    """
    models = study.language_models
    with ExitStack() as opened:
        clients = cache(lambda name: opened.enter_context(_client(study, name)))
        stages = (_extraction, _systems, _judging, _embedding, _needles)
        results = list(chain.from_iterable(stage(study, clients) for stage in stages))
    jobs = [result for result in results if not isinstance(result, str)]
    uncounted = [result for result in results if isinstance(result, str)]
    with closing(Store(models.config.cache, study.name)) as store:
        spent = store.committed()
    counted = (Estimate(**{name: job[name] for name in Estimate.__slots__}) for job in jobs)
    return {
        "jobs": jobs,
        "total": asdict(sum(counted, Estimate())),
        "unknown": list(dict.fromkeys(uncounted)),
        "missing_keys": models.missing_keys(
            [*models.queried(), *(job["endpoint"] for job in jobs)]
        ),
        "budget": models.config.budget,
        "spent": spent,
    }


def as_table(result: Mapping[str, Any]) -> str:
    """Return the plan as lines of text: the jobs, their sum, and obstacles."""
    rows = [[*COLUMNS]]
    total = "at least" if result["unknown"] else "total"
    for job in [*result["jobs"], _row(total, "", "", False, Estimate(**result["total"]))]:
        cells = [
            f"{cell:.4f}" if isinstance(cell, float) else str(cell)
            for cell in map(job.get, COLUMNS.values())
        ]
        rows.append([*cells[:3], "done", *[""] * 6] if job["done"] else cells)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = [str.ljust] * 3 + [str.rjust] * 7
    lines = [
        "  ".join(to(*cell) for to, *cell in zip(aligned, row, widths, strict=True)).rstrip()
        for row in rows
    ]
    open_jobs = sum(not job["done"] for job in result["jobs"])
    lines.append(
        f"{open_jobs} of {len(result['jobs'])} jobs are to run; tokens and money are estimates"
    )
    if result["budget"] is not None:
        left = result["budget"] - result["spent"]
        lines.append(
            f"budget {result['budget']:g}, spent or reserved {result['spent']:.4f}, left {left:.4f}"
        )
        if result["total"]["cost_limit"] > left:
            lines.append("the budget may not suffice: at most, the requests cost more than is left")
    if result["unknown"]:
        lines.append(
            f"not counted, because what they read is not made yet: {', '.join(result['unknown'])}"
        )
    if result["missing_keys"]:
        lines.append(f"environment variables to set first: {', '.join(result['missing_keys'])}")
    return "\n".join(lines)


# the stages


def _extraction(study: Study, clients: Clients) -> Estimates:
    """Estimate the requests of the section's systems, each with a row."""
    models, section = study.language_models, study.language_models.section
    for dataset, name in models.extractions:
        system, results = section["systems"][name], study.paths.results
        report = results.extraction_report.format(dataset=dataset, system=name)
        done = _report(report).get("identity") == _as_json(models.identity(dataset, name))
        texts, train = results.texts.format(dataset=dataset), models.examples(dataset, name)
        figures = Estimate()
        sentences = load_sentences(texts) if isfile(texts) else _local_texts(study, dataset)
        if sentences is None:
            yield dataset
        elif not done and not all(map(isfile, train)):
            yield f"{dataset}/{name} (its examples are not there yet)"
        elif not done:
            shown = [sentence for path in train for sentence in load_sentences(path)]
            task = build_task(system, section["datasets"][dataset], sentences, shown)
            figures = _counted(clients(system["endpoint"]), task, sentences)
        yield _row(dataset, name, system["endpoint"], done, figures)


def _local_texts(study: Study, dataset: str) -> list[Sentence] | None:
    """Return the texts of a data set from the study's own files; None if unreadable."""
    chosen = study.language_models.section["datasets"][dataset]
    sentences = local_set(study.data.sections[chosen["corpus"]], chosen["split"], "wz")
    if sentences is None:
        return None
    return select_texts(sentences, chosen.get("limit"), chosen.get("sample_seed"))


def _systems(study: Study, clients: Clients) -> Estimates:
    """Estimate the requests of language models among the systems, without repeated questions."""
    systems = study.systems
    jobs: list[Any] = []
    for prediction in study.runs.predictions:
        corpus, trainset = prediction.corpus, prediction.trainset
        name, testset = prediction.system, prediction.testset
        if systems.kinds[name].name == "endpoint":
            job = SimpleNamespace(corpus=corpus, trainset=trainset, extractor=name, testset=testset)
            about = study.protocol_sets.protocol_of(trainset, testset)
            report = study.runs.report_of(prediction.run_path, testset)
            to_make = partial(make_query, schema_of_test=systems.gives_schema(job))
            jobs.append((job, about, report, systems.inputs(job), to_make))
    for job, about, report, inputs, to_make in jobs:
        name = job.extractor
        sentences = _test_and_training(study, job, inputs)
        if sentences is None:
            yield f"{job.corpus}/{name} ({about}: its sentences are not made yet)"
            continue
        values = json.loads(systems.job(job.corpus, name, 1, job.trainset))
        query = to_make(name, systems.settings(name), *sentences, values)
        endpoint = systems.sections[name].endpoint or ""
        figures = _counted(clients(endpoint), task_of(query), query.sentences)
        done = not figures.to_pay and isfile(report) and not read_json(report).get("failed")
        yield _row(job.corpus, f"{name} ({about})", endpoint, done, figures)


def _test_and_training(
    study: Study, job: Any, inputs: Mapping[str, Any]
) -> tuple[list[Sentence], list[Sentence]] | None:
    """Return the test and training sentences of a system from finished jobs or own files."""
    is_original = job.testset == "test" and job.trainset.startswith("original-")

    def read(role: str, setting: str) -> list[Sentence] | None:
        file = inputs[role]
        if not file:
            return []
        if isfile(file):
            return load_sentences(file)
        return local_set(study.data.sections[job.corpus], role, setting) if is_original else None

    test, train = read("test", study.settings[-1]), read("train", "nz")
    return None if test is None or train is None else (test, train)


def _judging(study: Study, clients: Clients) -> Estimates:
    """Yield the requests of the judge of the GREScores."""
    gre, judge = study.grescores, study.grescores.config.judge
    if judge is None:
        return
    prompts = {
        "factualness": (load_prompt(judge.factualness_prompt), FACTUALNESS.requests),
        "granularity": (load_prompt(judge.granularity_prompt), GRANULARITY.requests),
    }
    name, client = judge.endpoint, clients(judge.endpoint)
    judged = [
        (dataset, system) for dataset in gre.datasets for system in gre.to_judge(dataset).values()
    ]
    for dataset, system in judged:
        kinds, triples, figures = system.judged, system.files["triples"], Estimate()
        report = _report(gre.judged(dataset, system.name, name, "report"))
        identities = {
            kind: {"judge": client.endpoint.model, "prompt": prompts[kind][0].sha256[:12]}
            for kind in kinds
        }
        done = all(identities[kind].items() <= report.get(kind, {}).items() for kind in kinds)
        if kinds and not done and not isfile(triples):
            yield f"{dataset}/{system.name} (judge {name}: its triples are not there yet)"
        elif kinds:
            if not done:
                answers = read_judged(triples, filter(isfile, gre.texts(dataset, system.name)))
                for prompt, requests in map(prompts.get, kinds):
                    figures += estimate(client, requests(answers, client, prompt))
            yield _row(dataset, f"{system.name} (judge)", name, done, figures)


def _embedding(study: Study, clients: Clients) -> Estimates:
    """Estimate the strings to embed for US and CS; those of missing answers are unknown."""
    gre, name = study.grescores, study.grescores.embedding_endpoint
    counted: set[str] = set()  # strings of earlier data sets, which cost nothing again
    for dataset in gre.datasets if name else ():
        if not isfile(gre.gold(dataset)):
            yield f"{dataset} (embeddings: its gold triples are not there yet)"
            continue
        text, files = gre.spec(dataset)
        spec = json.loads(text)
        available = [entry for entry in spec["systems"] if isfile(files[entry["triples"]])]
        strings = strings_to_embed({**spec, "systems": available}, files)
        total = len(spec["systems"])
        missing = total - len(available)
        if missing:
            yield f"{dataset} (embeddings: the triples of {missing} of {total} systems are not there yet)"
        figures = estimate_embeddings(clients(name), strings - counted)
        counted |= strings
        done = not figures.to_pay and isfile(gre.scores(dataset))
        yield _row(dataset, "all (strings to embed)", name, done, figures)


def _needles(study: Study, clients: Clients) -> Estimates:
    """Estimate the most requests to the models that invent, extract and judge needles."""
    needles, config = study.needles, study.needles.config
    if not needles.models:
        return
    documents = read_documents(needles.documents(), config.max_chars, config.max_documents)
    values = needles.plan.full()
    corpus_file = study.paths.results.needle_corpus_file.format(name="corpus.json")
    corpus = Corpus.load(Path(corpus_file).parent) if isfile(corpus_file) else None
    if corpus is None and config.needle_file:
        corpus = corpus_from_needles(
            documents, load_needles(shipped(config.needle_file)), needles.plan
        )
    generator = config.generator if corpus is None else None
    for number, lm in enumerate(needles.models):
        judge, report = needles.judge_of(lm), _report(needles.file(lm, "report.json"))
        with _client(study, lm) as client, _client(study, judge or lm) as judging:
            plan = Plan.from_mapping(values, client.endpoint.context)
            done = report.get("model") == client.endpoint.model and report.get("plan") == _as_json(
                plan.made_json()
            )
            stages = {"extraction": Estimate()}
            if not done:
                counter = counters(config.tokenizer and shipped(config.tokenizer))
                inventor = clients(generator) if generator else None
                if corpus is None:
                    stages = estimate_needles(documents, plan, client, counter, inventor, judging)
                else:
                    stages = estimate_extraction(corpus, plan, client, counter, judging)
        endpoints = {
            "needles": generator if number == 0 else None,
            "extraction": lm,
            "judge": judge,
        }
        for stage, name in endpoints.items():
            if name is not None and stage in stages:
                yield _row("needles", f"{lm} ({stage})", name, done, stages[stage])


# shared by the stages


def _client(study: Study, endpoint: str) -> Client:
    models = study.language_models
    return Client(settings.endpoint(models.section, endpoint), Path(models.config.cache))


def _counted(client: Client, task: Task, sentences: Iterable[Sentence]) -> Estimate:
    return estimate(client, (request for _, _, request in task.requests(sentences)))


def _row(dataset: str, system: str, endpoint: str, done: bool, figures: Estimate) -> Row:
    return {
        "dataset": dataset,
        "system": system,
        "endpoint": endpoint,
        "done": done,
        **asdict(figures),
    }


def _report(report: str) -> dict[str, Any]:
    """Return the report of a job; empty if it has not run."""
    return read_json(report) if isfile(report) else {}


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))
