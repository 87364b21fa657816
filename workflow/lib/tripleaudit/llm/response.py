"""Reading of a server's response: text, thought, usage, and what served it."""

import json
import re
from collections.abc import Mapping
from typing import Any, TypeGuard

from tripleaudit.llm.endpoint import Answer, Usage, tokens_about

THOUGHT_MARKS = "(think|thinking|reasoning|thought)"  # names of the tags around a model's thought
_THOUGHT_OPENS = re.compile(rf"\s*<{THOUGHT_MARKS}>", re.IGNORECASE)
_THOUGHT_CLOSES = re.compile(rf"</{THOUGHT_MARKS}>", re.IGNORECASE)
CUT_REASONS = {"length", "max_tokens", "model_length"}
"""Values of ``finish_reason``, in small letters, of an answer that its limit has cut off."""
REFUSED_REASONS = {"content_filter", "refusal", "safety"}
"""Values of ``finish_reason``, in small letters, of an answer that was withheld."""
MAX_TIME = 253402300799  # seconds since 1970 at the end of the year 9999
MAX_USAGE_FACTOR = 10  # times the tokens that a request can have: no server adds so many


def answer_of(payload: Mapping[str, Any], usage: Usage, cost: float, key: str) -> Answer:
    """Return the answer in a response; the thought may be a separate field or in the text."""
    choice = payload["choices"][0]
    message = choice.get("message") if isinstance(choice.get("message"), dict) else {}
    finish_reason = choice.get("finish_reason")
    finish_reason = finish_reason if isinstance(finish_reason, str) else None
    status = status_of(finish_reason)
    refusal = message.get("refusal")
    thought, text = split_thought(text_of(choice))
    thought_field = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(thought_field, str) and thought_field:
        thought = thought_field
    if refusal:
        status = "refused"
        text = text or str(refusal)
    return Answer(
        text,
        status,
        finish_reason=finish_reason,
        usage=usage,
        cost=cost,
        key=key,
        reasoning=thought,
        served=_served(payload),
    )


def status_of(finish_reason: str | None) -> str:
    """Return the status of an answer that ended for this reason, as the server calls it."""
    reason = (finish_reason or "").lower()
    if reason in CUT_REASONS:
        return "truncated"
    return "refused" if reason in REFUSED_REASONS else "ok"


def _served(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a server says about itself and the answer, as far as it does."""
    names = {"fingerprint": "system_fingerprint", "id": "id", "model": "model"}
    served = {name: payload.get(field) for name, field in names.items()}
    texts = {name: value for name, value in served.items() if isinstance(value, str)}
    created = payload.get("created")
    if _is_count(created, MAX_TIME):
        return {"created": created, **texts}
    return texts


def split_thought(text: str) -> tuple[str, str]:
    """Return ``(thought, answer)`` of a text; a template may have written the opening mark."""
    text = text.lstrip("\ufeff")
    opening = _THOUGHT_OPENS.match(text)
    closing = list(_THOUGHT_CLOSES.finditer(text))
    if closing and (opening or not _THOUGHT_OPENS.search(text)):
        start = opening.end() if opening else 0
        end = closing[-1]
        return text[start : end.start()].strip(), text[end.end() :].lstrip()
    if opening:
        return text[opening.end() :].strip(), ""
    return "", text


def text_of(choice: Mapping[str, Any]) -> str:
    """Return the text of a choice, which may be parts, an object or the arguments of a call."""
    message = choice.get("message")
    if not isinstance(message, dict):
        message = {"content": message if isinstance(message, str) else choice.get("text")}
    text = _text_of_content(message.get("content"))
    return text or "\n".join(_arguments_of_calls(message))


def _text_of_content(content: Any) -> str:
    """Return a content as text; one in parts is joined, and an object is written as JSON."""
    if isinstance(content, list):
        return "".join(map(_text_of_part, content))
    if isinstance(content, dict):
        return json.dumps(content, ensure_ascii=False)
    return content if isinstance(content, str) else ""


def _text_of_part(part: Any) -> str:
    """Return the text of a part of a content, whose ``text`` may be an object with a ``value``."""
    text = part.get("text") if isinstance(part, dict) else part
    text = text.get("value") if isinstance(text, dict) else text
    return text if isinstance(text, str) else ""


def _arguments_of_calls(message: Mapping[str, Any]) -> list[str]:
    """Return the arguments of a message's calls of functions, of which an old form has one."""
    calls = message.get("tool_calls")
    calls = calls if isinstance(calls, list) else []
    functions = [call.get("function") for call in calls if isinstance(call, dict)]
    functions.append(message.get("function_call"))
    return [
        _text_of_content(function.get("arguments"))
        for function in functions
        if isinstance(function, dict)
    ]


def usage_of(
    payload: Mapping[str, Any], body: Mapping[str, Any], max_tokens: tuple[int, int]
) -> Usage:
    """Return the tokens that the server counted, else an estimate from the request and the answer.

    Args:
        max_tokens: tokens that prompt and answer can have. A negative count, none for a text, or
            one far beyond is not used, so that it can neither refund nor exhaust a budget.
    """
    max_prompt, max_completion = (MAX_USAGE_FACTOR * limit for limit in max_tokens)
    counted = payload.get("usage")
    counted = counted if isinstance(counted, dict) else {}
    prompt, completion = counted.get("prompt_tokens"), counted.get("completion_tokens") or 0
    if not (_is_count(prompt, max_prompt) and _is_count(completion, max_completion)):
        return _estimated_usage(payload, body, max_tokens)
    has_text = "messages" in body and bool(text_of(payload["choices"][0]).strip())
    if prompt == 0 or (has_text and completion == 0):
        return _estimated_usage(payload, body, max_tokens)
    reasoning = _detail(counted, "completion_tokens_details", "reasoning_tokens", max_completion)
    cached = _detail(counted, "prompt_tokens_details", "cached_tokens", max_prompt)
    return Usage(prompt, completion, reasoning_tokens=reasoning, cached_tokens=min(cached, prompt))


def _estimated_usage(
    payload: Mapping[str, Any], body: Mapping[str, Any], max_tokens: tuple[int, int]
) -> Usage:
    max_prompt, max_completion = max_tokens
    if "messages" not in body:  # texts to embed
        prompt = sum(tokens_about(text) for text in body["input"])
        return Usage(min(prompt, max_prompt), 0, estimated=True)
    prompt = sum(tokens_about(message["content"]) for message in body["messages"])
    completion = tokens_about(text_of(payload["choices"][0]))
    return Usage(min(prompt, max_prompt), min(completion, max_completion), estimated=True)


def _is_count(value: Any, maximum: int) -> TypeGuard[int]:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return is_number and 0 <= value <= maximum


def _detail(counted: Mapping[str, Any], group: str, name: str, maximum: int) -> int:
    """Return a count of a group of the usage, or of the usage itself; 0 without a usable one."""
    details = counted.get(group)
    counts = details if isinstance(details, dict) else counted
    value = counts.get(name)
    return value if _is_count(value, maximum) else 0
