"""``endpoint``: a language model extracts from test sentences, without gold triples.

``closed``     the relations of the corpus are given, with their descriptions; triples with another one are left out.
``semi-open``  relations and types of entities are given, as in GenRES.
``open``       nothing is given; a relation is right only if the model happens to use the corpus's name.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import read_json, write_json
from tripleaudit.core.provenance import digest
from tripleaudit.generative.extraction import Extraction, Task, build_task, extract, summary
from tripleaudit.llm import section as settings_of
from tripleaudit.llm.estimate import Estimate, estimate
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.systems.queries import Answered, Query
from tripleaudit.systems.spec import SystemKind

PROMPTS = {"closed": "closed-list", "semi-open": "semi-open", "open": "open"}


def prompt_of(settings: Mapping[str, Any]) -> str:
    """Return the name or path of the prompt of a system."""
    return settings.get("prompt") or PROMPTS[settings["setting"]]


def identity(section: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what determines answers besides settings: model, sampling and prompt."""
    return settings_of.answering(section, settings["endpoint"], prompt_of(settings))


def problems(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield ``key: sentence`` for a prompt that cannot be used."""
    try:
        load_prompt(prompt_of(settings))
    except UserError as error:
        yield f"prompt: {error}"


def task_of(query: Query) -> Task:
    """Return the task of the model."""
    settings = query.settings
    dataset = {key: settings.get(key) for key in ("entity_types", "verbalise")} | {
        "relations": list(query.relations)
    }
    system = {**settings, "setting": "open" if settings["setting"] == "open" else "semi-open"}
    task = build_task(
        {**system, "prompt": prompt_of(settings)}, dataset, query.sentences, query.train
    )
    return replace(task, descriptions=dict(query.relations))


def answer(query: Query) -> Answered:
    """Query about every sentence; answers that are stored cost nothing.

    Raises:
        UserError: the endpoint does not answer, or the budget is used up; what was answered is
            stored.
    """
    task = task_of(query)
    results, took = query_model(query, task)
    names, closed = set(task.relations.names), query.settings["setting"] == "closed"
    found = [item.prediction(task.relations) for item in results]
    kept = [
        replace(one, triples=tuple(t for t in one.triples if t.relation in names or not closed))
        for one in found
    ]
    facts = {
        **took,
        "money_of": {
            item.sentence.id: sum(one.cost for call in item.calls for one in call.paid)
            for item in results
        },
        "other_relations": sum(len(sentence.triples) for sentence in found)
        - sum(len(each.triples) for each in kept),
    }
    return Answered(kept, facts)


def estimate_requests(query: Query) -> Estimate:
    """Return the requests, tokens and money that :func:`answer` takes at most; sends nothing."""
    task = task_of(query)
    with access_of(query).client() as client:
        return estimate(client, (request for _, _, request in task.requests(query.sentences)))


def access_of(query: Query) -> settings_of.Access:
    """Return how the model of a system is reached."""
    job = query.job
    return settings_of.Access(
        job["section"],
        job["study"],
        query.settings["endpoint"],
        job.get("model", ()),
        job.get("threads") or 0,
        job.get("server_log") or "",
        job.get("same_address", False),
    )


def query_model(query: Query, task: Task) -> tuple[list[Extraction], dict[str, Any]]:
    """Return what a model says of every text, and what that took.

    Raises:
        UserError: as :func:`answer`.
    """
    access = access_of(query)
    with access.client() as client:
        start = time.monotonic()
        results = extract(client, query.sentences, task)
        totals, cache = replace(client.totals), client.store.folder
    counts = summary(results)
    return results, {
        "requests": counts["requests"],
        "sent": totals.sent,
        "cached": totals.cached,
        "from_other_address": totals.from_other_address,
        "oldest_cached": totals.oldest_cached,
        "seconds": _seconds(cache, results, time.monotonic() - start, totals.sent),
        "prompt_tokens": counts["prompt_tokens"],
        "completion_tokens": counts["completion_tokens"],
        "money": counts["cost"],
        "answers": counts["answers"],
        "unreadable": counts["statuses"]["failed"] + counts["statuses"]["refused"],
        "truncated": counts["statuses"]["truncated"],
        "device": "its own server" if access.gguf else "a service",
    }


def _seconds(cache: Path, results: Sequence[Extraction], seconds: float, sent: int) -> float | None:
    """Return the stored duration of the answers; None if some are older."""
    answers = [one.key for item in results for call in item.calls for one in call.paid]
    path = cache / "times" / f"{digest(answers)}.json"
    if sent >= len(set(answers)):
        write_json(path, {"seconds": round(seconds, 3), "requests": sent})
    return read_json(path)["seconds"] if path.is_file() else None


KIND = SystemKind(
    name="endpoint",
    label="language model",
    order=4,
    answer=answer,
    options=(
        "setting",
        "prompt",
        "entity_types",
        "verbalise",
        "reask",
        "max_tokens",
        "examples",
        "examples_seed",
    ),
    problems=problems,
    network=True,
    takes_schema=True,
)
