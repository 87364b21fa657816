"""Questions to a judge: is a triple supported by its text (FS), how can it be split (GS)?

Answers are written in the published form of details, so that stored judgements and one's own are
read by the same code. The client stores every answer the moment it arrives; a run that was cut
short sends only what is missing. An answer that cannot be read is asked for once more in plain
words; then it is a missing value.
"""

import json
import logging
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import write_json
from tripleaudit.grescores.judgements import triple_json
from tripleaudit.grescores.systems import StringTriple, System, clean, read_judged, usable
from tripleaudit.llm.client import Answer, Client, Request
from tripleaudit.llm.endpoint import bill
from tripleaudit.llm.prompts import Prompt, load_prompt, with_reminder
from tripleaudit.llm.reading import count_parts, parse_yes_no
from tripleaudit.llm.section import Access

MOST_UNREADABLE = 0.1  # share of the questions
Question = tuple[
    str, StringTriple
]  # a triple and its text, which is empty where the triple alone is queried about

log = logging.getLogger(__name__)


@dataclass
class Report:
    """What came back.

    Attributes:
        questions: distinct questions.
        repeated: questions put once more because their answer could not be read.
        unparsed: questions whose second answer could not be read either.
        refused: questions that the model or the endpoint declined.
        coverage: share of the questions whose answer could be read.
        paid: what all answers took and cost, second ones included, and what served them.
    """

    judge: str
    prompt: str
    questions: int
    repeated: int
    unparsed: int
    refused: int
    coverage: float
    paid: dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """Questions about triples to a model.

    Attributes:
        name: of the kind, as rules and reports have it.
        about_text: whether each triple is queried about with its text; else it is queried about
            once for all texts.
        max_tokens: of an answer.
        reminder: what a second question ends with; the same words would bring the same answer.
        read: what an answer says; None where it cannot be read.
        details: ``(system, what was read by question) ->`` the published form, by text.
    """

    name: str
    about_text: bool
    max_tokens: int
    reminder: str
    read: Callable[[str], Any]
    details: Callable[[System, Mapping[Question, Any]], dict[str, dict[str, Any]]]

    def judge(
        self,
        system: System,
        client: Client,
        prompt: Prompt,
        most_unreadable: float = MOST_UNREADABLE,
    ) -> tuple[dict[str, dict[str, Any]], Report]:
        """Query about all triples of a system that are three strings, each distinct question once.

        Args:
            most_unreadable: share of the questions whose answers may be unreadable.

        Raises:
            UserError: too many answers cannot be read; all of them are stored.
        """
        questions = self._questions(system)
        client.check_room(self._request(prompt, question) for question in questions)
        found = client.drive(
            {question: self._talk(prompt, question) for question in questions}, self.name
        )
        unread = [answers[-1] for value, answers in found.values() if value is None]
        refused = sum(answer.status == "refused" for answer in unread)
        report = Report(
            client.endpoint.model,
            prompt.sha256[:12],
            len(found),
            sum(len(answers) > 1 for _, answers in found.values()),
            len(unread) - refused,
            refused,
            1 - len(unread) / len(found) if found else 1.0,
            bill(answer for _, answers in found.values() for answer in answers),
        )
        if len(unread) / max(report.questions, 1) > most_unreadable:
            example = unread[0]
            said = repr(example.error or " ".join(example.text.split())[:80])
            if example.status == "truncated" and not example.text.strip():
                said = "empty, its thought took all of the room: lower 'reasoning_effort' or raise 'reasoning_tokens'"
            raise UserError(
                f"judge '{report.judge}': {len(unread)} of {report.questions} answers cannot be read, expected at most "
                f"{most_unreadable:.0%}; one of them ({example.status}) is {said}. All answers are stored"
            )
        return self.details(
            system, {question: value for question, (value, _) in found.items()}
        ), report

    def requests(self, system: System, client: Client, prompt: Prompt) -> Iterator[Request]:
        """Yield the requests of :meth:`ask`; those with an unreadable stored answer twice."""
        for question in self._questions(system):
            request = self._request(prompt, question)
            yield request
            stored = client.lookup(request)
            if stored is not None and stored.status != "refused" and self._value(stored) is None:
                yield self._request(prompt, question, again=True)

    def _questions(self, system: System) -> list[Question]:
        found = (
            (text, usable(triple)) for text, triples in system.texts.items() for triple in triples
        )
        return list(
            dict.fromkeys(
                (text if self.about_text else "", own) for text, own in found if own is not None
            )
        )

    def _request(self, prompt: Prompt, question: Question, again: bool = False) -> Request:
        text, triple = question
        values: dict[str, Any] = {"text": text} if self.about_text else {}
        shown = json.dumps(triple, ensure_ascii=False)
        request = prompt.request(max_tokens=self.max_tokens, triple=shown, **values)
        return with_reminder(request, self.reminder) if again else request

    def _value(self, answer: Answer) -> Any:
        return self.read(answer.text) if answer.status in ("ok", "truncated") else None

    def _talk(
        self, prompt: Prompt, question: Question
    ) -> Generator[Request, Answer, tuple[Any, list[Answer]]]:
        answers: list[Answer] = []
        value = None
        for again in (False, True):
            answers.append((yield self._request(prompt, question, again)))
            value = self._value(answers[-1])
            if value is not None or answers[-1].status == "refused":
                break
        return value, answers


def _verdicts(system: System, found: Mapping[Question, bool | None]) -> dict[str, dict[str, Any]]:
    """Return ``{text: {"score": float, "results": [bool or None, …]}}``, False if malformed.

    There is one result for each triple.
    """
    details: dict[str, dict[str, Any]] = {}
    for text, triples in system.texts.items():
        results = [
            False if triple is None else found[text, triple] for triple in map(usable, triples)
        ]
        readable = [result for result in results if result is not None]
        score = sum(readable) / len(readable) if readable else 0.0
        details[text] = {"score": score, "results": results}
    return details


def _splits(system: System, found: Mapping[Question, str | None]) -> dict[str, dict[str, Any]]:
    """``{text: {triple as JSON: answer}}``; what could not be read has no entry."""
    details: dict[str, dict[str, str]] = {}
    for text, triples in system.texts.items():
        usable_triples, _ = clean(triples)
        for triple in usable_triples:
            answer = found["", triple]
            if answer is not None:
                details.setdefault(text, {})[triple_json(triple)] = answer
    return details


def _readable(text: str) -> str | None:
    return None if count_parts(text) is None else text


_ONE_WORD = "Answer with one word, true or false, and nothing else."
_ONLY_JSON = "Answer with the JSON and nothing else."
FACTUALNESS = Kind("factualness", True, 10, _ONE_WORD, parse_yes_no, _verdicts)
"""Is a triple supported by its text?"""
GRANULARITY = Kind("granularity", False, 300, _ONLY_JSON, _readable, _splits)
"""What could a triple be split into?"""


def write_judged(
    access: Access,
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
        kinds: what to judge, ``factualness`` and ``granularity``; the file of the other kind gets
        no entry. factualness, granularity: where to write the judgements and the splitting answers
        (JSON). report: counts of questions and unreadable answers to write (JSON). texts: ask about
        the texts of this file alone. most_unreadable: share of the answers that may be unreadable.

    Raises:
        UserError: a file, a prompt or too many answers cannot be read.
    """
    prompts = load_prompt(factualness_prompt), load_prompt(granularity_prompt)
    system, reports = read_judged(triples, texts), {}
    with access.client() as client:
        for kind, prompt, path in zip(
            (FACTUALNESS, GRANULARITY), prompts, (factualness, granularity), strict=True
        ):
            details: dict[str, dict[str, Any]] = {}
            if kind.name in kinds:
                details, counts = kind.judge(system, client, prompt, most_unreadable)
                reports[kind.name] = asdict(counts)
                log.info("%s: %s", kind.name, reports[kind.name])
            write_json(path, details)
    write_json(report, reports)
