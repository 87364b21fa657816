"""Reading of a server's response: text, thought, usage, and what served it."""

import json
import re
from collections.abc import Mapping
from typing import Any, TypeGuard

from tripleaudit.llm.endpoint import Answer, Usage, tokens_about

THOUGHT_MARKS = "(think|thinking|reasoning|thought)"  # names of the tags around a model's thought
_THOUGHT_OPENS = re.compile(rf"\s*<{THOUGHT_MARKS}>", re.IGNORECASE)
_THOUGHT_CLOSES = re.compile(rf"</{THOUGHT_MARKS}>", re.IGNORECASE)
MAX_USAGE_FACTOR = 10  # times the tokens that a request can have: no server adds so many


def answer_of(payload: Mapping[str, Any], usage: Usage, cost: float, key: str) -> Answer:
    """Return the answer in a response; the thought may be a separate field or in the text."""
    choice = payload["choices"][0]
    message = choice.get("message") if isinstance(choice.get("message"), dict) else {}
    finish_reason, refusal = choice.get("finish_reason"), message.get("refusal")
    thought, text = split_thought(text_of(choice))
    thought_field = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(thought_field, str) and thought_field:
        thought = thought_field
    if refusal or finish_reason == "content_filter":
        status, text = "refused", text or str(refusal or "")
    else:
        status = "truncated" if finish_reason == "length" else "ok"
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


def _served(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a server says about itself and the answer, as far as it does."""
    served = {
        "created": payload.get("created"),
        "fingerprint": payload.get("system_fingerprint"),
        "id": payload.get("id"),
        "model": payload.get("model"),
    }
    return {name: value for name, value in served.items() if value is not None}


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
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if isinstance(content, dict):
        content = json.dumps(content, ensure_ascii=False)
    calls = message.get("tool_calls")
    if not content and isinstance(calls, list):
        functions = [call.get("function") for call in calls if isinstance(call, dict)]
        arguments = [
            str(function.get("arguments", ""))
            for function in functions
            if isinstance(function, dict)
        ]
        content = "\n".join(arguments)
    return content if isinstance(content, str) else ""


def usage_of(
    payload: Mapping[str, Any], body: Mapping[str, Any], max_tokens: tuple[int, int]
) -> Usage:
    """Return the tokens that the server counted, else an estimate from the request and the answer.

    Args:
        max_tokens: tokens that prompt and answer can have. A negative count, or one far beyond, is
            not used, so that it can neither refund nor exhaust a budget.
    """
    max_prompt, max_completion = (MAX_USAGE_FACTOR * limit for limit in max_tokens)
    counted = payload.get("usage")
    counted = counted if isinstance(counted, dict) else {}
    prompt, completion = counted.get("prompt_tokens"), counted.get("completion_tokens") or 0
    if not (_is_count(prompt, max_prompt) and _is_count(completion, max_completion)):
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
    return isinstance(value, int) and 0 <= value <= maximum


def _detail(counted: Mapping[str, Any], group: str, name: str, maximum: int) -> int:
    """Return a count of a group of the usage, or of the usage itself; 0 without a usable one."""
    details = counted.get(group)
    counts = details if isinstance(details, dict) else counted
    value = counts.get(name)
    return value if _is_count(value, maximum) else 0
