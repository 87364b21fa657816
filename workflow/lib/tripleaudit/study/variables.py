"""Environment variables with keys of services: tests whether they are set, never reads values."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.llm.store import Store
from tripleaudit.study.keys import is_set, key_variables
from tripleaudit.study.study import Study

ENDPOINT, SYSTEM = "generative/endpoints/", "systems/"

QUERIED: Mapping[str, Callable[[Any, Any], Iterable[str | None]]] = {
    "generate": lambda study, job: [study.language_models.endpoint_of(job.system)],
    "judge_triples": lambda study, job: [job.judge],
    "score_triples": lambda study, job: [study.grescores.embedding_endpoint],
    "make_needles": lambda study, job: [study.needles.config.generator],
    "extract_needles": lambda study, job: [job.lm, study.needles.judge_of(job.lm)],
}
"""Rule -> function that returns the endpoints that a job of the rule queries."""
ANSWERING: Mapping[str, Callable[[Any, Any], str | None]] = {
    **dict.fromkeys(("predict_system", "query_system"), lambda study, job: job.extractor),
    "extract_collection": lambda study, job: study.collections.system(job.collection),
}
"""Rule -> function that returns the system that a job of the rule queries."""


def variables(study: Study) -> list[tuple[str, str]]:
    """Return each variable that a study names, with its location in the configuration."""
    pairs: list[tuple[str, str]] = []
    for name, endpoint in study.language_models.config.endpoints.items():
        pairs += key_variables(f"{ENDPOINT}{name}", endpoint.headers, endpoint.api_key_env)
    for name, system in study.systems.sections.items():
        pairs += key_variables(f"{SYSTEM}{name}", system.headers)
    return pairs


def to_set(study: Study) -> str:
    """Return a sentence about the variables to set before a study runs; empty if there are none."""
    locations: dict[str, list[str]] = {}
    for name, location in variables(study):
        if not is_set(name):
            locations.setdefault(name, []).append(location)
    if not locations:
        return ""
    entries = [f"{name} ({', '.join(where)})" for name, where in sorted(locations.items())]
    return f"environment variables to set first: {', '.join(entries)}"


def refuse_without(
    study: Study, jobs: Iterable[tuple[str, Any]], cache: str | Path
) -> Iterator[str]:
    """Refuse to start jobs that would fail because a variable is not set.

    Args:
        study: the study.
        jobs: rule and wildcards of each job that is about to run.
        cache: folder of stored answers of language models, with which a job may need no key.

    Yields:
        A sentence about each variable that jobs need unless their answers are stored.

    Raises:
        UserError: a job needs a variable in any case.
    """
    locations: set[str] = set()
    for rule, job in jobs:
        system = ANSWERING[rule](study, job) if rule in ANSWERING else None
        if system:
            locations.add(f"{SYSTEM}{system}/")
            locations.add(f"{ENDPOINT}{study.systems.sections[system].endpoint}/")
        endpoints = QUERIED[rule](study, job) if rule in QUERIED else ()
        locations.update(f"{ENDPOINT}{name}/" for name in endpoints)
    missing = [
        (name, location)
        for name, location in variables(study)
        if not is_set(name) and location.startswith(tuple(locations))
    ]
    with closing(Store(cache)) as store:
        has_answers = store.has_answers()
    lines = ["Jobs of this run would find no key:"]
    for name, location in missing:
        if location.startswith(SYSTEM) or not has_answers:
            lines.append(f"- {location}: the environment variable {name} is not set")
    if len(lines) > 1:
        raise UserError("\n".join(lines))
    for name, location in missing:
        yield f"{location}: the environment variable {name} is not set; only answers that are stored can be used"
