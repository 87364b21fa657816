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
"""Rule -> the endpoints that a job of it asks, given its wildcards."""
ANSWERING: Mapping[str, Callable[[Any, Any], str | None]] = {
    **dict.fromkeys(("predict_system", "query_system"), lambda study, job: job.extractor),
    "extract_collection": lambda study, job: study.collections.system(job.collection),
}
"""Rule -> the system that answers in a job of it."""


def variables(study: Study) -> list[tuple[str, str]]:
    """Return every variable that a study names, and where it does so."""
    endpoints = study.language_models.config.endpoints.items()
    systems = study.systems.sections.items()
    found = [
        each
        for name, one in endpoints
        for each in key_variables(f"{ENDPOINT}{name}", one.headers, one.api_key_env)
    ]
    return found + [
        each for name, one in systems for each in key_variables(f"{SYSTEM}{name}", one.headers)
    ]


def to_set(study: Study) -> str:
    """Return a sentence about the variables to set before a study runs; empty if there are none."""
    locs: dict[str, list[str]] = {}
    for name, loc in variables(study):
        if not is_set(name):
            locs.setdefault(name, []).append(loc)
    listed = ", ".join(f"{name} ({', '.join(found)})" for name, found in sorted(locs.items()))
    return f"environment variables to set first: {listed}" if listed else ""


def refuse_without(
    study: Study, jobs: Iterable[tuple[str, Any]], cache: str | Path
) -> Iterator[str]:
    """Refuse to start jobs that would end for want of a variable.

    Args:
        jobs: rule and wildcards of each job that is about to run.
        cache: stored answers of language models; a job that finds all of its own there needs no
            key.

    Yields:
        A sentence about each variable that jobs lack if their answers are not stored.

    Raises:
        UserError: a job needs one in any case.
    """
    parts: set[str] = set()
    for rule, job in jobs:
        if system := ANSWERING[rule](study, job) if rule in ANSWERING else None:
            parts.add(f"{SYSTEM}{system}/")
            parts.add(f"{ENDPOINT}{study.systems.sections[system].endpoint}/")
        parts.update(
            f"{ENDPOINT}{name}/" for name in (QUERIED[rule](study, job) if rule in QUERIED else ())
        )
    missing = [
        (name, loc)
        for name, loc in variables(study)
        if not is_set(name) and loc.startswith(tuple(parts))
    ]
    with closing(Store(cache)) as store:
        stored = store.has_answers()
    wanted = [(name, loc) for name, loc in missing if loc.startswith(SYSTEM) or not stored]
    if wanted:
        lines = (f"- {loc}: the environment variable {name} is not set" for name, loc in wanted)
        raise UserError("\n".join(["Jobs of this run would find no key:", *lines]))
    for name, loc in missing:
        yield f"{loc}: the environment variable {name} is not set; only answers that are stored can be used"
