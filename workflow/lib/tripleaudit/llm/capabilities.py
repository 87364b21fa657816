"""What an endpoint's server takes, learned from its documented errors and from its first answers.

Services differ in the field that limits an answer, in whether they take a temperature, in structured outputs and in
whether the model thinks before it answers. Nothing is sent for this alone: the first request of an endpoint goes out
by itself, is corrected as the server's errors say (they cost nothing), and what was learned is kept next to the cache,
so that later jobs begin with it. What a study fixes (``structured``, ``temperature: null``) is kept.
"""

import dataclasses
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripleaudit.llm.endpoint import Answer, Endpoint, Request, canonical_key
from tripleaudit.machine.storage import explained

FILE = "endpoints.jsonl"
OPTIONAL = ("temperature", "top_p", "seed", "stop")  # a model that refuses one of these is queried without it
_REFUSED = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|not (?:permitted|allowed|available)|extra", re.IGNORECASE
)
_OTHER_FIELD = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


@dataclass(frozen=True)
class Capabilities:
    """What is known of one endpoint.

    Attributes:
        token_field: name of the field that limits an answer.
        refused: optional fields that the model does not take.
        structured: whether it takes JSON schemas.
        reasons: whether the model thinks before it answers, so that limits need room for thought.
        settled: whether an answer has confirmed all this.
    """

    token_field: str = "max_tokens"
    refused: tuple[str, ...] = ()
    structured: bool = True
    reasons: bool = False
    settled: bool = False

    def body(self, request: Request, endpoint: Endpoint) -> dict[str, Any]:
        """Return a request as this server takes it, with its schema."""
        body = request.body(endpoint)
        for name in ("max_tokens", "max_completion_tokens", "reasoning_tokens", *self.refused):
            body.pop(name, None)
        body[self.token_field] = request.limit(endpoint) + (endpoint.thought if self.reasons else 0)
        if request.schema is not None and self.structured:
            body["response_format"] = response_format(request.schema)
        return body

    def after_rejection(self, problem: "Problem", body: Mapping[str, Any]) -> "Capabilities | None":
        """Return what a rejection teaches, or None if it is about the request itself."""
        field = problem.field(body)
        if field is None or field != self.token_field and field not in OPTIONAL:
            return None
        if field == self.token_field:
            return dataclasses.replace(self, token_field=_OTHER_FIELD[field])
        return dataclasses.replace(self, refused=(*self.refused, field))

    def after_answer(self, answer: Answer) -> "Capabilities":
        """Return what an answer teaches: that the server takes all this, and whether the model reasons."""
        reasons = bool(self.reasons or answer.reasoning or answer.usage.reasoning_tokens)
        return dataclasses.replace(self, reasons=reasons, settled=True)

    def difference(self, before: "Capabilities") -> str:
        """Return in words what is known now and was not before; empty if nothing that changes requests."""
        said = []
        if self.token_field != before.token_field:
            said.append(f"takes '{self.token_field}' in place of '{before.token_field}'")
        said += [f"takes no '{name}'" for name in self.refused if name not in before.refused]
        if self.structured != before.structured:
            said.append("offers no structured outputs")
        if self.reasons and not before.reasons:
            said.append("reasons before it answers, so limits get room for thought")
        return " and ".join(said)


@dataclass(frozen=True)
class Problem:
    """A server's own words about a request that it rejects."""

    message: str
    param: str | None = None
    code: str | None = None

    def field(self, body: Mapping[str, Any]) -> str | None:
        """Return the field of the request that the server does not take, or None."""
        if self.code not in ("unsupported_parameter", "unsupported_value") and not _REFUSED.search(self.message):
            return None
        if self.param in body:
            return self.param
        named = re.findall(r"[a-z_]{3,}", self.message)
        return next((word for word in named if word in body and word not in ("model", "messages")), None)


def response_format(schema: Any) -> dict[str, Any]:
    """Return the request field that asks for an answer of this JSON schema, strict where strict mode allows it.

    Objects that require all of their properties are closed for it, as strict mode demands.
    """
    schema = closed(schema)
    strict = strict_problem(schema) is None
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": strict, "schema": schema}}


def closed(schema: Any) -> Any:
    """Return a schema in which every object that requires all of its properties forbids further ones."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    own = {name: closed(value) for name, value in schema.items()}
    complete = isinstance(own.get("properties"), dict) and set(own["properties"]) == set(own.get("required", ()))
    return {**own, "additionalProperties": False} if complete and "additionalProperties" not in own else own


def strict_problem(schema: Any, where: str = "schema") -> str | None:
    """Return why strict structured outputs refuse a schema, as one clause, or None.

    Every object must forbid further properties and require all of its own.
    """
    if isinstance(schema, list):
        return next((found for item in schema if (found := strict_problem(item, where))), None)
    if not isinstance(schema, dict):
        return None
    kinds = schema.get("type")
    if kinds == "object" or (isinstance(kinds, list) and "object" in kinds) or "properties" in schema:
        if schema.get("additionalProperties") is not False:
            return f"{where}: strict mode needs 'additionalProperties: false' in every object"
        missing = sorted(set(schema.get("properties", {})) - set(schema.get("required", ())))
        if missing:
            return f"{where}: strict mode needs every property to be required; '{missing[0]}' is not"
    for name, value in schema.items():
        members = (
            value.values() if name in ("properties", "$defs", "definitions") and isinstance(value, dict) else [value]
        )
        for member in members:
            if isinstance(member, dict | list) and (found := strict_problem(member, f"{where}/{name}")):
                return found
    return None


def load(folder: Path, endpoint: Endpoint) -> Capabilities:
    """Return what is known of an endpoint: what the study fixes, else what was learned in this cache before."""
    known, own = Capabilities(), _identity(endpoint)
    kept = folder / FILE
    for line in reversed(kept.read_text(encoding="utf-8").splitlines() if kept.is_file() else []):
        try:
            row = json.loads(line)
            if row["endpoint"] == own:
                known = Capabilities(**{**row["known"], "refused": tuple(row["known"]["refused"])})
                break
        except (ValueError, KeyError, TypeError):  # half a line of a process that was killed while writing
            continue
    if "max_completion_tokens" in endpoint.extra:
        known = dataclasses.replace(known, token_field="max_completion_tokens")
    if endpoint.structured != "auto":
        known = dataclasses.replace(known, structured=endpoint.structured == "json_schema")
    return known


def save(folder: Path, endpoint: Endpoint, known: Capabilities) -> None:
    """Keep what was learned, one line after the other; the last one counts."""
    row = {"endpoint": _identity(endpoint), "model": endpoint.model, "known": dataclasses.asdict(known)}
    with explained(folder / FILE):
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / FILE).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")


def _identity(endpoint: Endpoint) -> str:
    """Return what stands for a server and its model; the address may hold names that are nobody's business."""
    fixed = [endpoint.base_url, endpoint.model, dict(endpoint.query), endpoint.reasoning_effort]
    return canonical_key(fixed)[:16]
