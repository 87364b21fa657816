"""Request fields that a server accepts, learned from documented errors and first answers.

Services differ in the field that limits an answer, in whether they accept a temperature, in
structured outputs and in whether the model reasons before it answers. No request is sent for this
alone: the first request of an endpoint is sent by itself and corrected as the server's errors say
(they cost nothing). What was learned is stored, so that later jobs begin with it. What a study sets
(``structured``, ``temperature: null``) is not changed.
"""

import contextlib
import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tripleaudit.llm.endpoint import LIMIT_FIELDS, Answer, Endpoint, Request, canonical_key

OPTIONAL_FIELDS = ("temperature", "top_p", "seed", "stop")
"""Fields that a request is sent without if the model refuses them."""
_REFUSED = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|not (?:permitted|allowed|available)|extra",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Capabilities:
    """Request fields that one endpoint accepts, and whether its model reasons.

    Attributes:
        token_field: name of the field that limits an answer.
        refused: optional fields that the model does not accept.
        structured: whether it accepts JSON schemas.
        reasons: whether the model reasons before it answers, so that limits need room for thought.
        settled: whether an answer has confirmed all this.
    """

    token_field: str = "max_tokens"
    refused: tuple[str, ...] = ()
    structured: bool = True
    reasons: bool = False
    settled: bool = False

    def body(self, request: Request, endpoint: Endpoint) -> dict[str, Any]:
        """Return a request as this server accepts it, with its schema."""
        dropped = (*LIMIT_FIELDS, "reasoning_tokens", *self.refused)
        body = {
            name: value for name, value in request.body(endpoint).items() if name not in dropped
        }
        body[self.token_field] = request.limit(endpoint) + (endpoint.thought if self.reasons else 0)
        if request.schema is not None and self.structured:
            body["response_format"] = response_format(request.schema)
        return body

    def after_rejection(
        self, error: Mapping[str, Any], body: Mapping[str, Any], endpoint: Endpoint
    ) -> "Capabilities | None":
        """Return what a rejection teaches, or None if it is about the request itself.

        Args:
            error: the server's error object.
            body: the request as it was sent.
        """
        field = refused_field(error, body)
        if field == self.token_field:
            (other_field,) = set(LIMIT_FIELDS) - {field}
            return dataclasses.replace(self, token_field=other_field)
        if field in OPTIONAL_FIELDS:
            return dataclasses.replace(self, refused=(*self.refused, field))
        if "response_format" in body and endpoint.structured == "auto":
            return dataclasses.replace(self, structured=False)
        return None

    def after_answer(self, answer: Answer) -> "Capabilities":
        """Return the knowledge after an answer: accepted fields, and whether the model reasons."""
        reasons = bool(self.reasons or answer.reasoning or answer.usage.reasoning_tokens)
        return dataclasses.replace(self, reasons=reasons, settled=True)

    def difference(self, before: "Capabilities") -> str:
        """Return new knowledge in words; empty if it changes no requests."""
        changes = []
        if self.token_field != before.token_field:
            changes.append(f"takes '{self.token_field}' in place of '{before.token_field}'")
        changes += [f"takes no '{name}'" for name in self.refused if name not in before.refused]
        if self.structured != before.structured:
            changes.append("offers no structured outputs")
        if self.reasons and not before.reasons:
            changes.append("reasons before it answers, so limits get room for thought")
        return " and ".join(changes)


def refused_field(error: Mapping[str, Any], body: Mapping[str, Any]) -> str | None:
    """Return the field of a request that an error object says is not accepted, or None."""
    message = str(error.get("message"))
    has_code = error.get("code") in ("unsupported_parameter", "unsupported_value")
    if not has_code and not _REFUSED.search(message):
        return None
    parameter = error.get("param")
    if isinstance(parameter, str) and parameter in body:
        return parameter
    for word in re.findall(r"[a-z_]{3,}", message):
        if word in body and word not in ("model", "messages"):
            return word
    return None


def response_format(schema: Any) -> dict[str, Any]:
    """Return the request field for answers of a JSON schema, strict where the schema allows it."""
    strict = strict_problem(schema) is None
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": strict, "schema": schema},
    }


def strict_problem(schema: Any, where: str = "schema") -> str | None:
    """Return why strict structured outputs refuse a schema, as one clause, or None.

    Every object must forbid further properties and require all of its own.
    """
    if isinstance(schema, list):
        return _first_problem([(member, where) for member in schema])
    if not isinstance(schema, dict):
        return None
    if _is_object(schema):
        if schema.get("additionalProperties") is not False:
            return f"{where}: strict mode needs 'additionalProperties: false' in every object"
        optional = sorted(set(schema.get("properties", {})) - set(schema.get("required", ())))
        if optional:
            return (
                f"{where}: strict mode needs every property to be required; '{optional[0]}' is not"
            )
    members: list[tuple[Any, str]] = []
    for name, value in schema.items():
        holds_schemas = name in ("properties", "$defs", "definitions") and isinstance(value, dict)
        schemas = value.values() if holds_schemas else [value]
        members += [(member, f"{where}/{name}") for member in schemas]
    return _first_problem(members)


def _first_problem(schemas: Iterable[tuple[Any, str]]) -> str | None:
    for schema, where in schemas:
        problem = strict_problem(schema, where)
        if problem is not None:
            return problem
    return None


def _is_object(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("type")
    names = kinds if isinstance(kinds, list) else [kinds]
    return "object" in names or "properties" in schema


def initial_capabilities(endpoint: Endpoint, learned: Mapping[str, Any] | None) -> Capabilities:
    """Return the initial knowledge of an endpoint: earlier jobs' and the study's settings.

    Args:
        learned: :class:`Capabilities` as a mapping; None if no job has learned anything.
    """
    capabilities = Capabilities()
    with contextlib.suppress(KeyError, TypeError):  # stored by another version
        if learned is not None:
            capabilities = Capabilities(**{**learned, "refused": tuple(learned["refused"])})
    if "max_completion_tokens" in endpoint.extra:
        capabilities = dataclasses.replace(capabilities, token_field="max_completion_tokens")
    if endpoint.structured != "auto":
        is_structured = endpoint.structured == "json_schema"
        capabilities = dataclasses.replace(capabilities, structured=is_structured)
    return capabilities


def endpoint_key(endpoint: Endpoint) -> str:
    """Return a short hash of a server and its model; the address itself may hold private names."""
    identity = [endpoint.base_url, endpoint.model, dict(endpoint.query), endpoint.reasoning_effort]
    return canonical_key(identity)[:16]
