"""Requests, tokens and money of all that asks endpoints: extraction, judging, embedding, needles. Sends nothing."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tripleaudit.corpora.store import load_sentences
from tripleaudit.files import read_json
from tripleaudit.generative.extraction import build_task
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
from tripleaudit.plan.questions import questions
from tripleaudit.plan.study import Study
from tripleaudit.shipped import shipped

Row = dict[str, Any]
READ = ("triples", "original")  # files of a system that decide which strings it has


def plan(study: Study) -> dict[str, Any]:
    """Return the form of :func:`extraction` for all stages of a study that ask language models."""
    folder = Path(study.places.study)
    result = extraction(study.language_models, study.name, folder)
    rows, unknown = [], list(result["unknown"])
    for stage in (_systems, _judging, _embedding, _needles, _triple_needles):
        for row in stage(study, folder):
            if isinstance(row, str):
                unknown.append(row)
            else:
                rows.append(row)
    total = Estimate(**result["total"])
    for row in rows:
        total += Estimate(**{name: row[name] for name in Estimate.__slots__})
    asked = {row["endpoint"] for row in rows}
    missing = set(result["missing_keys"]) | set(study.language_models.missing_keys(asked))
    return {
        **result,
        "jobs": [*result["jobs"], *rows],
        "total": asdict(total),
        "unknown": unknown,
        "missing_keys": sorted(missing),
    }


def extraction(models: LanguageModels, study: str, results: Path) -> dict[str, Any]:
    """Return what the extractions of a section would still send; reads texts and cache, sends nothing.

    Returns:
        ``{"jobs": [{"dataset", "system", "endpoint", "done", + fields of Estimate}], "total": Estimate's fields,
        "unknown": [data sets whose texts are not prepared yet], "missing_keys", "budget", "spent"}``. The requests of
        a job whose result exists, made as the section now says, are not counted.
    """
    jobs, total, unknown = [], Estimate(), []
    section, cache = models.section, Path(models.config.cache)
    for dataset, name in models.extractions:
        system = section["systems"][name]
        texts = results / "generative" / dataset / "texts.jsonl"
        report = results / "generative" / dataset / name / "report.json"
        asked = models.identity(dataset, name)
        done = report.exists() and read_json(report).get("identity") == json.loads(json.dumps(asked))
        figures = Estimate()
        if not texts.exists():
            unknown.append(dataset)
        elif not done:
            sentences = load_sentences(texts)
            examples = results / "corpora" / section["datasets"][dataset]["corpus"] / "train.jsonl"
            shown = load_sentences(examples) if system.get("examples") and examples.exists() else ()
            if system.get("examples") and not shown:
                unknown.append(f"{dataset}/{name} (its examples are not there yet)")
            else:
                task = build_task(system, section["datasets"][dataset], sentences, shown)
                with Client(settings.endpoint(section, system["endpoint"]), cache) as client:
                    asked_for = [request for _, _, request in task.requests(sentences)]
                    figures = client.estimate(asked_for, _length(results, section, system["endpoint"]))
        total += figures
        jobs.append(
            {"dataset": dataset, "system": name, "endpoint": system["endpoint"], "done": done, **asdict(figures)}
        )
    ledger = cache / f"ledger-{study}.jsonl"
    return {
        "jobs": jobs,
        "total": asdict(total),
        "unknown": sorted(set(unknown)),
        "missing_keys": models.missing_keys(),
        "budget": models.config.budget,
        "spent": Ledger(ledger).committed() if ledger.exists() else 0.0,
    }


def _length(results: Path, section: Mapping[str, Any], endpoint: str) -> float | None:
    """Return how many tokens an answer of an endpoint has had in this study's extractions so far; None without any."""
    tokens = answers = 0
    for path in (results / "generative").glob("*/*/report.json"):
        if (section["systems"].get(path.parent.name) or {}).get("endpoint") == endpoint:
            report = read_json(path)
            if {"completion_tokens", "requests"} <= report.keys():  # of a finished extraction, by any version
                tokens, answers = tokens + report["completion_tokens"], answers + report["requests"]
    return tokens / answers if answers else None


def as_table(result: Mapping[str, Any]) -> str:
    """Return the plan as lines of text: one a job, the sum, and what stands in the way."""
    columns = (
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
    rows = [columns]
    for job in [*result["jobs"], {"dataset": "total", "system": "", "endpoint": "", "done": False, **result["total"]}]:
        figures = (job["total"], job["cached"], job["to_pay"], job["prompt_tokens"], job["completion_tokens"])
        money = (f"{job['cost']:.4f}", f"{job['cost_limit']:.4f}")
        end = ("done",) + ("",) * 6 if job["done"] else (*map(str, figures), *money)
        rows.append((job["dataset"], job["system"], job["endpoint"], *end))
    widths = [max(len(row[place]) for row in rows) for place in range(len(columns))]
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


def _systems(study: Study, folder: Path) -> Iterator[Row | str]:
    """What the language models among the systems would be asked: test sets, and hidden halves of sentences."""
    section, cache = study.language_models.section, Path(study.language_models.config.cache)
    for each in questions(study.systems):
        endpoint = study.systems.given[each.system].endpoint or ""
        if not each.possible:
            yield f"{each.corpus}/{each.system} ({each.about}: its sentences are not made yet)"
            continue
        with Client(settings.endpoint(section, endpoint), cache) as client:
            figures = client.estimate(each.requests())
        yield _row(
            each.corpus, f"{each.system} ({each.about})", endpoint, each.answered and not figures.to_pay, figures
        )


def _judging(study: Study, folder: Path) -> Iterator[Row | str]:
    """What the judges of the GREScores would be asked."""
    section, gre = study.language_models.section, study.grescores
    judge, cache = gre.config.judge, Path(study.language_models.config.cache)
    if judge is None:
        return
    prompts = {
        "factualness": (load_prompt(judge.factualness_prompt), judge_requests),
        "granularity": (load_prompt(judge.granularity_prompt), split_requests),
    }
    for dataset in gre.datasets:
        for name, system in ((name, system) for system in gre.asked(dataset).values() for name in gre.judges):
            if not (kinds := system.kinds(name)):
                continue
            with Client(settings.endpoint(section, name), cache) as client:
                report = Path(gre.judged(dataset, system.name, name, "report"))
                done = _judged(report, client.endpoint.model, {k: prompts[k][0].sha256[:12] for k in kinds})
                triples = Path(system.files["triples"])
                if not done and not triples.is_file():
                    yield f"{dataset}/{system.name} (judge {name}: its triples are not there yet)"
                    continue
                figures = Estimate()
                if not done:
                    answers = read_judged(triples, filter(os.path.exists, gre.texts(dataset, system.name)))
                    for kind in kinds:
                        prompt, requests = prompts[kind]
                        figures += client.estimate(requests(answers, client, prompt))
            yield _row(dataset, f"{system.name} (judge)", name, done, figures)


def _embedding(study: Study, folder: Path) -> Iterator[Row | str]:
    """The strings that US and CS would have an endpoint embed; what a system says is known once it has answered."""
    gre, section = study.grescores, study.language_models.section
    name, cache = gre.embedding_endpoint, Path(study.language_models.config.cache)
    if not name:
        return
    known: set[str] = set()  # one string costs once, whichever data set asks for it first
    for dataset in gre.datasets:
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
        strings -= known
        with Client(settings.endpoint(section, name), cache) as client:
            figures = client.estimate_embeddings(strings)
            scored = all(Path(gre.scores(dataset, system)).is_file() for system in gre.planned[dataset])
            done = scored and not figures.to_pay
        known |= strings
        yield _row(dataset, "all (strings to embed)", name, done, figures)


def _judged(report: Path, model: str, prompts: Mapping[str, str]) -> bool:
    """Whether a system was judged by this model with these prompts (kind -> digest)."""
    if not report.is_file():
        return False
    known = read_json(report)
    return all(
        (known.get(kind) or {}).get("judge") == model and known[kind].get("prompt") == digest
        for kind, digest in prompts.items()
    )


def _needles(study: Study, folder: Path) -> Iterator[Row | str]:
    """What the models that invent, extract and judge needles would be asked, at most."""
    needles, section = study.needles, study.language_models.section
    config, cache = needles.config, Path(study.language_models.config.cache)
    if not needles.models:
        return
    documents = read_documents(needles.documents(), config.max_chars, config.max_documents)
    values = json.loads(needles.plan_json)
    made = folder / "needles" / "corpus"
    corpus = Corpus.load(made) if (made / "corpus.json").is_file() else None
    generator = config.generator if corpus is None and not config.needle_file else None
    counted = False
    for run, (lm, draw) in needles.runs.items():
        judge = needles.judge_of(run)
        with (
            Client(settings.endpoint(section, lm), cache) as client,
            Client(settings.endpoint(section, judge or lm), cache) as judging,
            Client(settings.endpoint(section, generator or lm), cache) as generating,
        ):
            client.redraw(draw)
            if judge == lm:
                judging.redraw(draw)
            context = client.endpoint.context if values.get("context") is None else values["context"]
            plan_ = Plan.from_mapping({**values, "context": context})
            own = corpus
            if own is None and config.needle_file:
                own = corpus_from_needles(documents, load_needles(shipped(config.needle_file)), plan_)
            report = folder / "needles" / "models" / run / "report.json"
            done = report.is_file() and _same_plan(report, plan_, client.endpoint.model)
            stages: dict[str, Estimate] = {}
            if not done:
                counter = _counter(study, config.tokenizer, client.endpoint)
                source = generating if generator else None
                stages = rehearse(own or documents, plan_, client, counter, source, judging)
        for stage, name in (("needles", generator), ("extraction", lm), ("judge", judge)):
            if stage == "needles" and (counted or generator is None):
                continue
            counted |= stage == "needles"
            if name is not None and (stage in stages or done and stage == "extraction"):
                yield _row("needles", f"{run} ({stage})", name, done, stages.get(stage, Estimate()))


def _same_plan(report: Path, plan_: Plan, model: str) -> bool:
    known = read_json(report)
    return known.get("model") == model and known.get("plan") == json.loads(json.dumps(plan_.made_json()))


def _triple_needles(study: Study, folder: Path) -> Iterator[Row | str]:
    """What the models that extract triples from documents with needles would be asked, at most."""
    options, section = study.needles.triples, study.language_models.section
    cache, made = Path(study.language_models.config.cache), folder / "needles" / "triples"
    for lm in study.needles.triple_models if options is not None else ():
        if (made / "models" / lm / "calls.jsonl").is_file():
            yield _row("triple needles", f"{lm} (extraction)", lm, True, Estimate())
            continue
        if not (made / "pieces.jsonl").is_file():
            yield f"triple needles/{lm} (their documents are not made yet)"
            continue
        records = load_sentences(made / "pieces.jsonl")
        found = {needle.relation for needle in load_triple_needles(made / "pieces-needles.jsonl")}
        with Client(settings.endpoint(section, lm), cache) as client:
            limits = Limits(options.iterations, client.endpoint.context, options.reserve)
            counter = _counter(study, None, client.endpoint)
            figures = rehearse_triples(records, options.relations or sorted(found), limits, client, counter)
        yield _row("triple needles", f"{lm} (extraction)", lm, False, figures)


def _row(dataset: str, system: str, endpoint: str, done: bool, figures: Estimate) -> Row:
    return {"dataset": dataset, "system": system, "endpoint": endpoint, "done": done, **asdict(figures)}


def _counter(study: Study, tokenizer: str | None, endpoint: Any) -> Callable[[], TokenCounter]:
    """Count tokens as the workflow's jobs do: threads begin anew where their context is full."""
    path = Path(shipped(tokenizer)) if tokenizer else None
    if path is None and endpoint.serve:
        path = Path(study.places.served(endpoint.serve["source"])) / "tokenizer.json"
    return counters(path if path is not None and path.is_file() else "")
