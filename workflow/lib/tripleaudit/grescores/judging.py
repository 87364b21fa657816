"""Asking a language model about triples: is it supported by its text (FS), and what could it be split into (GS).

Answers are written in the published form of details, so that stored judgements and one's own are read by the same code.
The client stores every answer the moment it arrives; a run that was cut short sends only what is missing. An answer
that cannot be read is asked for once more in plain words; then it is a missing value.
"""

import json
import logging
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tripleaudit.errors import UserError
from tripleaudit.files import write_json
from tripleaudit.grescores.judgements import parse_verdict, readable_parts, triple_json
from tripleaudit.grescores.systems import StringTriple, System, read_judged, usable
from tripleaudit.llm.client import Answer, Client, Request
from tripleaudit.llm.endpoint import bill
from tripleaudit.llm.prompts import Prompt, load_prompt
from tripleaudit.llm.section import Asking

VERDICT_TOKENS, SPLIT_TOKENS = 10, 300
MOST_UNREADABLE = 0.1  # share of the questions

_ONE_WORD = "Answer with one word, true or false, and nothing else."
_ONLY_JSON = "Answer with the JSON and nothing else."


log = logging.getLogger(__name__)


def write_judged(
    asking: Asking,
    triples: str | Path,
    kinds: Sequence[str],
    factualness: str | Path,
    granularity: str | Path,
    report: str | Path,
    texts: Sequence[str | Path] = (),
    factualness_prompt: str = "judge",
    granularity_prompt: str = "split",
    most_unreadable: float = MOST_UNREADABLE,
) -> None:
    """Ask an endpoint which triples a text supports and which bundle several facts.

    Args:
        triples: extracted triples.
        kinds: what to ask, ``factualness`` and ``granularity``; the file of the other kind gets no entry.
        factualness, granularity: where to write the judgements and the splitting answers (JSON).
        report: counts of questions and unreadable answers to write (JSON).
        texts: ask about the texts of this file alone.
        most_unreadable: share of the answers that may be unreadable.

    Raises:
        UserError: a file, a prompt or too many answers cannot be read.
    """
    prompts = load_prompt(factualness_prompt), load_prompt(granularity_prompt)
    system, reports = read_judged(triples, texts), {}
    with asking.client() as client:
        for path, ask, prompt, name in (
            (factualness, judge, prompts[0], "factualness"),
            (granularity, split, prompts[1], "granularity"),
        ):
            details = {}
            if name in kinds:
                details, counts = ask(system, client, prompt, most_unreadable)
                reports[name] = counts.to_json()
                log.info("%s: %s", name, reports[name])
            write_json(path, details)
    write_json(report, reports)


@dataclass
class Report:
    """What came back.

    Attributes:
        asked: distinct questions.
        repeated: questions asked once more because their answer could not be read.
        unparsed: questions whose second answer could not be read either.
        refused: questions that the model or the endpoint declined.
        coverage: share of the questions whose answer could be read.
        paid: what all answers took and cost, second ones included, and what served them.
    """

    judge: str
    prompt: str
    asked: int = 0
    repeated: int = 0
    unparsed: int = 0
    refused: int = 0
    coverage: float = 1.0
    paid: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def judge(
    system: System, client: Client, prompt: Prompt, most_unreadable: float = MOST_UNREADABLE
) -> tuple[dict[str, dict[str, Any]], Report]:
    """Ask whether each triple is supported by its text.

    Args:
        most_unreadable: share of the questions whose answers may be unreadable.

    Returns:
        ``{text: {"score": float, "results": [bool or None, …]}}`` with one result per triple of the text, in order;
        malformed triples are not supported, and answers that cannot be read, even when asked for again, are None.

    Raises:
        UserError: too many answers cannot be read; all of them are stored.
    """
    questions = _questions(system)
    found, report = _ask(questions, _verdict_request(prompt), _read_verdict, client, prompt, "factualness")
    _check(report, found, most_unreadable)
    details = {}
    for text, triples in system.texts.items():
        results = [False if (own := usable(triple)) is None else found[text, own].value for triple in triples]
        known = [result for result in results if result is not None]
        details[text] = {"score": sum(known) / len(known) if known else 0.0, "results": results}
    return details, report


def split(
    system: System, client: Client, prompt: Prompt, most_unreadable: float = MOST_UNREADABLE
) -> tuple[dict[str, dict[str, str]], Report]:
    """Ask what each distinct triple of a text could be split into.

    Returns:
        ``{text: {triple as JSON: answer}}``; texts without triples have no entry, and neither have triples whose
        answer holds no JSON even when asked for again.

    Raises:
        UserError: too many answers cannot be read; all of them are stored.
    """
    questions = _questions(system)
    distinct = list(dict.fromkeys(triple for _, triple in questions))
    found, report = _ask(distinct, _split_request(prompt), _read_parts, client, prompt, "granularity")
    _check(report, found, most_unreadable)
    details: dict[str, dict[str, str]] = {}
    for text, triple in questions:
        if found[triple].value is not None:
            details.setdefault(text, {})[triple_json(triple)] = found[triple].value
    return details, report


def judge_requests(system: System, client: Client, prompt: Prompt) -> Iterator[Request]:
    """Yield what :func:`judge` asks: every question, and once more each whose stored answer cannot be read."""
    return _requests(_questions(system), _verdict_request(prompt), _read_verdict, client)


def split_requests(system: System, client: Client, prompt: Prompt) -> Iterator[Request]:
    """Yield what :func:`split` asks, in the same way."""
    distinct = dict.fromkeys(triple for _, triple in _questions(system))
    return _requests(distinct, _split_request(prompt), _read_parts, client)


@dataclass(frozen=True)
class _Found:
    """What was read about one question (None: nothing), and the answers that it took."""

    value: Any
    answers: tuple[Answer, ...]


Ask = Callable[[Any, bool], Request]


def _ask(questions: Any, ask: Ask, read: Callable, client: Client, prompt: Prompt, what: str) -> tuple[dict, Report]:
    client.check_room(ask(question, False) for question in questions)
    found = client.drive({question: _talk(question, ask, read) for question in questions}, what)
    refused = sum(item.value is None and item.answers[-1].status == "refused" for item in found.values())
    unread = sum(item.value is None for item in found.values())
    return found, Report(
        client.endpoint.model,
        prompt.sha256[:12],
        len(found),
        sum(len(item.answers) > 1 for item in found.values()),
        unread - refused,
        refused,
        1 - unread / len(found) if found else 1.0,
        bill(answer for item in found.values() for answer in item.answers),
    )


def _talk(question: Any, ask: Ask, read: Callable[[Answer], Any]) -> Generator[Request, Answer, _Found]:
    answers = []
    for again in (False, True):
        answer = yield ask(question, again)
        answers.append(answer)
        value = read(answer)
        if value is not None or answer.status == "refused":
            break
    return _Found(value, tuple(answers))


def _check(report: Report, found: Mapping[Any, _Found], most_unreadable: float) -> None:
    unread = report.unparsed + report.refused
    if unread / max(report.asked, 1) <= most_unreadable:
        return
    example = next(item.answers[-1] for item in found.values() if item.value is None)
    said = repr(example.error or " ".join(example.text.split())[:80])
    if example.status == "truncated" and not example.text.strip():
        said = "empty, its thought took all of the room: lower 'reasoning_effort' or raise 'reasoning_tokens'"
    raise UserError(
        f"judge '{report.judge}': {unread} of {report.asked} answers cannot be read, "
        f"expected at most {most_unreadable:.0%}; one of them ({example.status}) is {said}. All answers are stored"
    )


def _requests(questions: Any, ask: Ask, read: Callable[[Answer], Any], client: Client) -> Iterator[Request]:
    for question in questions:
        request = ask(question, False)
        yield request
        if (stored := client.lookup(request)) is not None and stored.status != "refused" and read(stored) is None:
            yield ask(question, True)


def _read_verdict(answer: Answer) -> bool | None:
    return parse_verdict(answer.text) if answer.status in ("ok", "truncated") else None


def _read_parts(answer: Answer) -> str | None:
    return answer.text if answer.status in ("ok", "truncated") and readable_parts(answer.text) else None


def _verdict_request(prompt: Prompt) -> Ask:
    def ask(question: tuple[str, StringTriple], again: bool) -> Request:
        text, triple = question
        request = prompt.request(max_tokens=VERDICT_TOKENS, text=text, triple=shown(triple))
        return _in_plain_words(request, _ONE_WORD) if again else request

    return ask


def _split_request(prompt: Prompt) -> Ask:
    def ask(triple: StringTriple, again: bool) -> Request:
        request = prompt.request(max_tokens=SPLIT_TOKENS, triple=shown(triple))
        return _in_plain_words(request, _ONLY_JSON) if again else request

    return ask


def _in_plain_words(request: Request, reminder: str) -> Request:
    """Return the request with a reminder at its end: the same words would bring the same answer."""
    *before, last = request.messages
    return replace(request, messages=(*before, {**last, "content": f"{last['content']}\n\n{reminder}"}))


def shown(triple: StringTriple) -> str:
    """Return a triple as prompts show it: JSON with readable letters."""
    return json.dumps(triple, ensure_ascii=False)


def _questions(system: System) -> list[tuple[str, StringTriple]]:
    """Return the distinct (text, triple) pairs, in order."""
    found = ((text, usable(triple)) for text, triples in system.texts.items() for triple in triples)
    return list(dict.fromkeys((text, triple) for text, triple in found if triple is not None))
