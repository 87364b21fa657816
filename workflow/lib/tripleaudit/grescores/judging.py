"""Asking a language model about triples: is it supported by its text (FS), and what could it be split into (GS).

Answers are written in the published form of details, so that stored judgements and one's own are read by the same code.
The client stores every answer the moment it arrives; a run that was cut short sends only what is missing.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tripleaudit.grescores.judgements import parse_verdict, strip_fence, triple_json
from tripleaudit.grescores.systems import StringTriple, System, usable
from tripleaudit.llm.client import Client, Request
from tripleaudit.llm.prompts import Prompt

VERDICT_TOKENS, SPLIT_TOKENS = 10, 300


@dataclass
class Report:
    """What came back.

    Attributes:
        asked: distinct questions.
        repeated: questions asked once more because their answer could not be read.
        unparsed: questions whose second answer could not be read either.
        refused: questions that the model or the endpoint declined.
    """

    judge: str
    prompt: str
    asked: int = 0
    repeated: int = 0
    unparsed: int = 0
    refused: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def judge(system: System, client: Client, prompt: Prompt) -> tuple[dict[str, dict[str, Any]], Report]:
    """Ask whether each triple is supported by its text.

    Returns:
        ``{text: {"score": float, "results": [bool, …]}}`` with one result per triple of the text, in order; malformed
        triples and answers that cannot be read, even when asked for again, count as not supported.
    """
    questions = _questions(system)
    verdicts: dict[tuple[str, StringTriple], bool | None] = {}
    report = Report(client.endpoint.model, prompt.sha256[:12], len(questions))
    for sample in (0, 1):
        open_ = [question for question in questions if verdicts.get(question) is None]
        requests = [_verdict_request(prompt, question, sample) for question in open_]
        answers = client.complete_all(requests, "factualness")
        report.repeated = sample * len(open_)
        for question, answer in zip(open_, answers, strict=True):
            verdicts[question] = parse_verdict(answer.text)
        report.refused = sum(answer.status == "refused" for answer in answers)
    report.unparsed = sum(verdict is None for verdict in verdicts.values()) - report.refused
    details = {}
    for text, triples in system.texts.items():
        results = [bool(verdicts.get((text, usable(triple)))) for triple in triples]
        details[text] = {"score": sum(results) / len(results) if results else 0.0, "results": results}
    return details, report


def split(system: System, client: Client, prompt: Prompt) -> tuple[dict[str, dict[str, str]], Report]:
    """Ask what each distinct triple of a text could be split into.

    Returns:
        ``{text: {triple as JSON: answer}}``; texts without triples have no entry. An answer that holds no JSON is asked
        for once more.
    """
    questions = _questions(system)
    distinct = list(dict.fromkeys(triple for _, triple in questions))
    answers: dict[StringTriple, str] = {}
    report = Report(client.endpoint.model, prompt.sha256[:12], len(distinct))
    for sample in (0, 1):
        open_ = [triple for triple in distinct if not _is_json(answers.get(triple, ""))]
        requests = [_split_request(prompt, triple, sample) for triple in open_]
        got = client.complete_all(requests, "granularity")
        report.repeated = sample * len(open_)
        report.refused = sum(answer.status == "refused" for answer in got)
        for triple, answer in zip(open_, got, strict=True):
            answers[triple] = answer.text
    report.unparsed = sum(not _is_json(answer) for answer in answers.values()) - report.refused
    details: dict[str, dict[str, str]] = {}
    for text, triple in questions:
        details.setdefault(text, {})[triple_json(triple)] = answers[triple]
    return details, report


def judge_requests(system: System, client: Client, prompt: Prompt) -> Iterator[Request]:
    """Yield what :func:`judge` asks: every question, and once more each whose stored answer cannot be read."""
    for question in _questions(system):
        request = _verdict_request(prompt, question, 0)
        yield request
        if (stored := client.lookup(request)) is not None and parse_verdict(stored.text) is None:
            yield _verdict_request(prompt, question, 1)


def split_requests(system: System, client: Client, prompt: Prompt) -> Iterator[Request]:
    """Yield what :func:`split` asks, in the same way."""
    for triple in dict.fromkeys(triple for _, triple in _questions(system)):
        request = _split_request(prompt, triple, 0)
        yield request
        if (stored := client.lookup(request)) is not None and not _is_json(stored.text):
            yield _split_request(prompt, triple, 1)


def _verdict_request(prompt: Prompt, question: tuple[str, StringTriple], sample: int) -> Request:
    text, triple = question
    return prompt.request(max_tokens=VERDICT_TOKENS, sample=sample, text=text, triple=shown(triple))


def _split_request(prompt: Prompt, triple: StringTriple, sample: int) -> Request:
    return prompt.request(max_tokens=SPLIT_TOKENS, sample=sample, triple=shown(triple))


def shown(triple: StringTriple) -> str:
    """Return a triple as prompts show it: JSON with readable letters."""
    return json.dumps(triple, ensure_ascii=False)


def _questions(system: System) -> list[tuple[str, StringTriple]]:
    """Return the distinct (text, triple) pairs, in order."""
    found = ((text, usable(triple)) for text, triples in system.texts.items() for triple in triples)
    return list(dict.fromkeys((text, triple) for text, triple in found if triple is not None))


def _is_json(answer: str) -> bool:
    try:
        value = json.loads(strip_fence(answer))
    except (ValueError, RecursionError):
        return False
    return isinstance(value, list | Mapping)
