"""From the configuration section ``needles`` to plans, tables and checks; free of heavy imports."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.needles.plan import RATING, Plan

TABLES = ("minea", "needle-criteria", "needle-example", "llm-comparison", "iterations")
LENGTH_TABLE = "lost-in-the-middle"
TRIPLE_TABLE = "triple-needles"


def plan_json(section: Mapping[str, Any]) -> str:
    """Return what decides needles, extraction and scores, as canonical JSON (:class:`.plan.Plan`)."""
    return json.dumps(_values(section), sort_keys=True)


def made_json(section: Mapping[str, Any]) -> str:
    """Return what of :func:`plan_json` decides needles and extraction."""
    return json.dumps({key: value for key, value in _values(section).items() if key not in RATING}, sort_keys=True)


def _values(section: Mapping[str, Any]) -> dict[str, Any]:
    known = {item.name for item in dataclasses.fields(Plan)}
    return {**{key: section[key] for key in section if key in known}, "judge": section.get("judge") is not None}


def judge_of(section: Mapping[str, Any], model: str) -> str | None:
    """Return the endpoint that judges what ``model`` extracted, ``None`` for nobody."""
    judge = section.get("judge", "same")
    return model if judge == "same" else judge


def triple_models(section: Mapping[str, Any]) -> list[str]:
    """Return the endpoints that extract triples."""
    triples = section.get("triples")
    if not triples:
        return []
    models = triples.get("models")
    return list(section.get("models", []) if models is None else models)


def tables(section: Mapping[str, Any]) -> list[str]:
    """Return the tables that a study can fill."""
    names = list(TABLES) if section.get("models") else []
    if names and section.get("parts"):
        names.insert(0, LENGTH_TABLE)
    return names + ([TRIPLE_TABLE] if section.get("triples") else [])


def problems(section: Mapping[str, Any], endpoints: Sequence[str], corpora: Sequence[str], settings: Sequence[str]):
    """Yield one sentence for each thing in the section that cannot work, before anything runs.

    Args:
        endpoints: names of generative/endpoints.
        corpora: the study's corpora.
        settings: the study's cardinality settings.
    """
    asked = [*section.get("models", []), *triple_models(section)]
    asked += [name for name in (section.get("generator"), section.get("judge")) if name not in (None, "same")]
    for name in dict.fromkeys(asked):
        if name not in endpoints:
            yield f"needles: unknown endpoint '{name}'; generative/endpoints has {', '.join(endpoints) or 'none'}"
    if section.get("models") and not section.get("documents"):
        yield "needles/documents: expected at least one text file or folder"
    try:
        Plan.from_mapping(json.loads(plan_json(section))).load_schema()
    except UserError as error:
        yield str(error) if str(error).startswith("needles") else f"needles/schema: {error}"
    triples = section.get("triples")
    if not triples:
        return
    if triples["corpus"] not in corpora:
        yield f"needles/triples/corpus: unknown corpus '{triples['corpus']}'"
    if triples.get("text") is None and "wz" not in settings:
        yield "needles/triples: haystacks of zero-triple sentences need the setting wz; add it, or name text files"
