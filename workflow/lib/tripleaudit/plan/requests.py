"""Requests, tokens and money of all that asks endpoints: extraction, judging, embedding, needles. Sends nothing."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_sentences
from tripleaudit.files import read_json
from tripleaudit.generative.extraction import Task, build_task
from tripleaudit.grescores.judging import judge_requests, split_requests
from tripleaudit.grescores.system_scores import strings_to_embed
from tripleaudit.grescores.systems import read_judged
from tripleaudit.llm import section as settings
from tripleaudit.llm.client import Client
from tripleaudit.llm.conversation import Limits, TokenCounter, counters
from tripleaudit.llm.estimate import Estimate
from tripleaudit.llm.ledger import Ledger
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.needles.haystack import read_documents
from tripleaudit.needles.infused import Corpus
from tripleaudit.needles.making import corpus_from_needles
from tripleaudit.needles.needle import load_needles
from tripleaudit.needles.plan import Plan
from tripleaudit.needles.rehearsal import rehearse
from tripleaudit.needles.triple_dialogues import rehearse_triples
from tripleaudit.needles.triples import load_triple_needles
from tripleaudit.plan.language_models import LanguageModels
from tripleaudit.plan.study import Study
from tripleaudit.plan.systems import INFUSED, Systems
from tripleaudit.shipped import shipped
from tripleaudit.systems.completion import completion_task, to_complete
from tripleaudit.systems.language_model import task_of
from tripleaudit.systems.test_set import to_ask

Found = Iterator[dict[str, Any] | str]  # rows of jobs, and what cannot be counted because what it reads is not made yet
READ = ("triples", "original")  # files of a system that decide which strings it has
COLUMNS = (
    "data set",
    "system",
    "endpoint",
    "requests",
    "cached",
    "to pay",
    "tokens in",
    "tokens out",
    "money",
    "at most",
)


def plan(study: Study) -> dict[str, Any]:
    """Return the form of :func:`extraction` for all stages of a study that ask language models."""
    folder = Path(study.places.study)
    stages = (stage(study, folder) for stage in (_systems, _judging, _embedding, _needles, _triple_needles))
    every = (found for stage in stages for found in stage)
    return _summed(study.language_models, study.name, [*_extraction(study.language_models, folder), *every])


def extraction(models: LanguageModels, study: str, results: Path) -> dict[str, Any]:
    """Return what the extractions of a section would still send; reads texts and cache, sends nothing.

    Returns:
        ``{"jobs": [{"dataset", "system", "endpoint", "done", + fields of Estimate}], "total": Estimate's fields,
        "unknown": [data sets whose texts are not prepared yet], "missing_keys", "budget", "spent"}``. The requests of
        a job whose result exists, made as the section now says, are not counted.
    """
    return _summed(models, study, _extraction(models, results))


def _summed(models: LanguageModels, study: str, found: Iterable[dict[str, Any] | str]) -> dict[str, Any]:
    jobs, unknown, total = [], [], Estimate()
    for one in found:
        if isinstance(one, str):
            unknown.append(one)
        else:
            jobs.append(one)
            total += Estimate(**{name: one[name] for name in Estimate.__slots__})
    ledger = Path(models.config.cache) / f"ledger-{study}.jsonl"
    return {
        "jobs": jobs,
        "total": asdict(total),
        "unknown": [*dict.fromkeys(unknown)],
        "missing_keys": models.missing_keys([*models.asked(), *(job["endpoint"] for job in jobs)]),
        "budget": models.config.budget,
        "spent": Ledger(ledger).committed() if ledger.exists() else 0.0,
    }


def as_table(result: Mapping[str, Any]) -> str:
    """Return the plan as lines of text: one a job, the sum, and what stands in the way."""
    rows = [COLUMNS]
    for job in [*result["jobs"], {"dataset": "total", "system": "", "endpoint": "", "done": False, **result["total"]}]:
        figures = (job["total"], job["cached"], job["to_pay"], job["prompt_tokens"], job["completion_tokens"])
        counted = (*map(str, figures), f"{job['cost']:.4f}", f"{job['cost_limit']:.4f}")
        end = ("done",) + ("",) * 6 if job["done"] else counted
        rows.append((job["dataset"], job["system"], job["endpoint"], *end))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if place < 3 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    open_jobs = sum(not job["done"] for job in result["jobs"])
    lines.append(f"{open_jobs} of {len(result['jobs'])} jobs are to run; tokens and money are estimates")
    if result["budget"] is not None:
        left = result["budget"] - result["spent"]
        lines.append(f"budget {result['budget']:g}, spent or reserved {result['spent']:.4f}, left {left:.4f}")
        if result["total"]["cost_limit"] > left:
            lines.append("the budget may not suffice: at most, the requests cost more than is left")
    if result["unknown"]:
        lines.append(f"not counted, because what they read is not made yet: {', '.join(result['unknown'])}")
    if result["missing_keys"]:
        lines.append(f"environment variables to set first: {', '.join(result['missing_keys'])}")
    return "\n".join(lines)


# the stages


def _extraction(models: LanguageModels, results: Path) -> Found:
    """What the systems of the section would be asked; a row for those that cannot be counted, too."""
    section = models.section
    for dataset, name in models.extractions:
        system, made = section["systems"][name], results / "generative" / dataset
        done = _known(made / name / "report.json").get("identity") == _as_json(models.identity(dataset, name))
        texts, train = (
            made / "texts.jsonl",
            results / "corpora" / section["datasets"][dataset]["corpus"] / "train.jsonl",
        )
        figures = Estimate()
        if not texts.exists():
            yield dataset
        elif not done and system.get("examples") and not train.exists():
            yield f"{dataset}/{name} (its examples are not there yet)"
        elif not done:
            sentences, shown = load_sentences(texts), load_sentences(train) if system.get("examples") else ()
            task = build_task(system, section["datasets"][dataset], sentences, shown)
            with _client(models, system["endpoint"]) as client:
                asked_for = [request for _, _, request in task.requests(sentences)]
                figures = client.estimate(asked_for, _length(results, section, system["endpoint"]))
        yield _row(dataset, name, system["endpoint"], done, figures)


def _length(results: Path, section: Mapping[str, Any], endpoint: str) -> float | None:
    """Return how many tokens an answer of an endpoint has had in this study's extractions so far; None without any."""
    tokens = answers = 0
    for path in (results / "generative").glob("*/*/report.json"):
        if (section["systems"].get(path.parent.name) or {}).get("endpoint") == endpoint:
            report = read_json(path)
            if {"completion_tokens", "requests"} <= report.keys():  # of a finished extraction, by any version
                tokens, answers = tokens + report["completion_tokens"], answers + report["requests"]
    return tokens / answers if answers else None


def _systems(study: Study, folder: Path) -> Found:
    """What the language models among the systems would be asked; a second question after an answer is not counted."""
    for corpus, name, about, report, files, make in _questions(study.systems):
        if not all(map(os.path.isfile, files)):
            yield f"{corpus}/{name} ({about}: its sentences are not made yet)"
            continue
        endpoint = study.systems.given[name].endpoint or ""
        sentences, task = make(*files)
        with _client(study.language_models, endpoint) as client:
            figures = client.estimate(request for _, _, request in task.requests(sentences))
        done = not figures.to_pay and os.path.isfile(report) and not read_json(report).get("failed")
        yield _row(corpus, f"{name} ({about})", endpoint, done, figures)


def _questions(systems: Systems) -> Iterator[tuple[str, str, str, str, Sequence[str], Callable[..., Any]]]:
    """Yield corpus, system, what it is asked about, the report on its answers, the files that a job reads and how they
    become sentences and a task: for test sets, and for hidden halves of sentences."""
    needles = systems.study.needles
    corpus = needles.triples.corpus if needles.triples else ""
    infused = [(corpus, "original-nz", name, INFUSED) for name in needles.triple_systems]
    for corpus, trainset, name, testset in [*systems.predicted, *infused]:
        if systems.kinds[name].name == "endpoint":
            wildcards = SimpleNamespace(corpus=corpus, trainset=trainset, extractor=name, testset=testset)
            given, job = systems.inputs(wildcards), json.loads(systems.job(corpus, name, 1, trainset))
            make = partial(_about_test_set, name, systems.settings(name), job=job, tell=systems.tells(wildcards))
            about = {"test": trainset.rpartition("-")[0], INFUSED: "triple needles"}.get(testset, testset)
            yield (
                corpus,
                name,
                about,
                systems.report(corpus, trainset, name, testset),
                (given["test"], given["train"]),
                make,
            )
    for corpus, name in systems.probe.runs:
        given = systems.probe.inputs(SimpleNamespace(corpus=corpus, extractor=name))
        make = partial(_about_halves, name, systems.settings(name), job=json.loads(systems.job(corpus, name, 1)))
        files = (given["test"], given["augmented"], given["train"])
        yield corpus, name, "hidden halves", systems.probe.path(corpus, name), files, make


def _about_test_set(*given: Any, **more: Any) -> tuple[Sequence[Sentence], Task]:
    asked, _ = to_ask(*given, **more)
    return asked.sentences, task_of(asked)


def _about_halves(*given: Any, **more: Any) -> tuple[Sequence[Sentence], Task]:
    _, _, asked = to_complete(*given, **more)
    return asked.sentences, completion_task(asked)


def _judging(study: Study, folder: Path) -> Found:
    """What the judges of the GREScores would be asked."""
    gre, judge = study.grescores, study.grescores.config.judge
    if judge is None:
        return
    prompts = {
        "factualness": (load_prompt(judge.factualness_prompt), judge_requests),
        "granularity": (load_prompt(judge.granularity_prompt), split_requests),
    }
    asked = (
        (dataset, system, name)
        for dataset in gre.datasets
        for system in gre.asked(dataset).values()
        for name in gre.judges
    )
    for dataset, system, name in asked:
        kinds, triples = system.kinds(name), Path(system.files["triples"])
        if not kinds:
            continue
        known = _known(gre.judged(dataset, system.name, name, "report"))
        with _client(study.language_models, name) as client:
            of = {kind: known.get(kind) or {} for kind in kinds}
            by = client.endpoint.model
            done = all(
                of[kind].get("judge") == by and of[kind].get("prompt") == prompts[kind][0].sha256[:12] for kind in of
            )
            figures = Estimate()
            if not done and not triples.is_file():
                yield f"{dataset}/{system.name} (judge {name}: its triples are not there yet)"
                continue
            if not done:
                answers = read_judged(triples, filter(os.path.exists, gre.texts(dataset, system.name)))
                for prompt, requests in map(prompts.get, kinds):
                    figures += client.estimate(requests(answers, client, prompt))
        yield _row(dataset, f"{system.name} (judge)", name, done, figures)


def _embedding(study: Study, folder: Path) -> Found:
    """The strings that US and CS would have an endpoint embed; what a system says is known once it has answered."""
    gre, name = study.grescores, study.grescores.embedding_endpoint
    known: set[str] = set()  # one string costs once, whichever data set asks for it first
    for dataset in gre.datasets if name else ():
        if not Path(gre.gold(dataset)).exists():
            yield f"{dataset} (embeddings: its gold triples are not there yet)"
            continue
        strings: set[str] = set()
        left = 0
        for system in gre.planned[dataset]:
            text, files = gre.spec(dataset, system)
            spec = json.loads(text)
            if all(Path(files[spec["system"][kind]]).exists() for kind in READ if kind in spec["system"]):
                strings |= strings_to_embed(spec, files)
            else:
                left += 1
        if left:
            systems = len(gre.planned[dataset])
            yield f"{dataset} (embeddings: the triples of {left} of {systems} systems are not there yet)"
        with _client(study.language_models, name) as client:
            figures = client.estimate_embeddings(strings - known)
        known |= strings
        scored = all(Path(gre.scores(dataset, system)).is_file() for system in gre.planned[dataset])
        yield _row(dataset, "all (strings to embed)", name, scored and not figures.to_pay, figures)


def _needles(study: Study, folder: Path) -> Found:
    """What the models that invent, extract and judge needles would be asked, at most."""
    needles, models, config = study.needles, study.language_models, study.needles.config
    if not needles.models:
        return
    documents = read_documents(needles.documents(), config.max_chars, config.max_documents)
    values, made = json.loads(needles.plan_json), folder / "needles" / "corpus"
    corpus = Corpus.load(made) if (made / "corpus.json").is_file() else None
    if corpus is None and config.needle_file:
        corpus = corpus_from_needles(documents, load_needles(shipped(config.needle_file)), Plan.from_mapping(values))
    generator = config.generator if corpus is None else None
    for number, (run, (lm, draw)) in enumerate(needles.runs.items()):
        judge = needles.judge_of(run)
        known = _known(folder / "needles" / "models" / run / "report.json")
        with (
            _client(models, lm) as client,
            _client(models, judge or lm) as judging,
            _client(models, generator or lm) as generating,
        ):
            client.redraw(draw)
            if judge == lm:
                judging.redraw(draw)
            plan_ = Plan.from_mapping(values, client.endpoint.context)
            done = known.get("model") == client.endpoint.model and known.get("plan") == _as_json(plan_.made_json())
            stages: dict[str, Estimate] = {"extraction": Estimate()}
            if not done:
                counter = counters(shipped(config.tokenizer) if config.tokenizer else "")
                stages = rehearse(
                    corpus or documents, plan_, client, counter, generating if generator else None, judging
                )
        asked = {"needles": generator if number == 0 else None, "extraction": lm, "judge": judge}
        for stage, name in asked.items():
            if name is not None and stage in stages:
                yield _row("needles", f"{run} ({stage})", name, done, stages[stage])


def _triple_needles(study: Study, folder: Path) -> Found:
    """What the models that extract triples from documents with needles would be asked, at most."""
    options, made = study.needles.triples, folder / "needles" / "triples"
    for lm in study.needles.triple_models:
        done = (made / "models" / lm / "calls.jsonl").is_file()
        figures = Estimate()
        if not done and not (made / "pieces.jsonl").is_file():
            yield f"triple needles/{lm} (their documents are not made yet)"
            continue
        if not done:
            found = {needle.relation for needle in load_triple_needles(made / "pieces-needles.jsonl")}
            with _client(study.language_models, lm) as client:
                limits = Limits(options.iterations, client.endpoint.context, options.reserve)
                pieces = load_sentences(made / "pieces.jsonl")
                figures = rehearse_triples(pieces, options.relations or sorted(found), limits, client, TokenCounter)
        yield _row("triple needles", f"{lm} (extraction)", lm, done, figures)


# what they share


def _client(models: LanguageModels, endpoint: str) -> Client:
    return Client(settings.endpoint(models.section, endpoint), Path(models.config.cache))


def _row(dataset: str, system: str, endpoint: str, done: bool, figures: Estimate) -> dict[str, Any]:
    return {"dataset": dataset, "system": system, "endpoint": endpoint, "done": done, **asdict(figures)}


def _known(report: str | Path) -> dict[str, Any]:
    """What a job said of its result; empty if there is none yet."""
    return read_json(report) if Path(report).is_file() else {}


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))
