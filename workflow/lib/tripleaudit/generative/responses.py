"""Reading what a server sends for one chat request, in the shapes that servers use."""

from typing import Any

from tripleaudit.generative.endpoint import Answer, Usage, tokens_about


def response_format(schema: Any) -> dict[str, Any]:
    """Return the request field that asks for an answer of this JSON schema."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}


def answer_of(choice: dict[str, Any], usage: Usage, cost: float, key: str) -> Answer:
    """Return the answer in one element of ``choices``."""
    message = choice.get("message") if isinstance(choice.get("message"), dict) else {}
    text, reason = text_of(choice), choice.get("finish_reason")
    refusal = message.get("refusal")
    if refusal or reason == "content_filter":
        return Answer(text or str(refusal or ""), "refused", reason, usage, cost, key=key)
    return Answer(text, "truncated" if reason == "length" else "ok", reason, usage, cost, key=key)


def usage_of(payload: dict[str, Any], body: dict[str, Any]) -> Usage:
    """Return the tokens that the server counted, else an estimate from the request and the answer."""
    counted = payload.get("usage")
    if isinstance(counted, dict) and isinstance(counted.get("prompt_tokens"), int):
        return Usage(counted["prompt_tokens"], int(counted.get("completion_tokens") or 0))
    if "messages" not in body:
        return Usage(sum(map(tokens_about, body["input"])), 0, estimated=True)
    prompt = sum(tokens_about(item["content"]) for item in body["messages"])
    return Usage(prompt, tokens_about(text_of(payload["choices"][0])), estimated=True)


def text_of(choice: dict[str, Any]) -> str:
    """Return the text of a choice; some servers send a list of parts."""
    message = choice.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
