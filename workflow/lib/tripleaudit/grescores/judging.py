"""Questions to a judge: is a triple supported by its text (FS), how can it be split (GS)?

Answers are written in the published form of details, so that stored judgements and one's own are
read by the same code. The client stores every answer the moment it arrives; a run that was cut
short sends only what is missing. An answer that cannot be read is asked for once more in plain
words; then it is a missing value.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import write_json
from tripleaudit.grescores.judgements import triple_json
from tripleaudit.grescores.systems import StringTriple, System, clean, read_judged, usable
from tripleaudit.llm.client import Client
from tripleaudit.llm.conversation import Reading, ask_twice, value_of, with_reminder
from tripleaudit.llm.endpoint import Answer, Request, Sampling, bill
from tripleaudit.llm.prompts import Prompt, load_prompt
from tripleaudit.llm.reading import count_parts, parse_yes_no
from tripleaudit.llm.section import Access

MOST_UNREADABLE = 0.1  # share of the questions
Question = tuple[str, StringTriple]
"""A text and a triple; the text is empty where the triple alone is queried about."""

log = logging.getLogger(__name__)


@dataclass
class Report:
    """Counts of the questions to a judge and of its answers.

    Attributes:
        questions: distinct questions.
        repeated: questions put once more because their answer could not be read.
        unparsed: questions whose second answer could not be read either.
        refused: questions that the model or the endpoint declined.
        coverage: share of the questions whose answer could be read.
        paid: tokens, cost and served models of all answers, second ones included.
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
        read: returns what an answer says; None where it cannot be read.
        details: returns the published form, by text, from a system and the values by question.
    """

    name: str
    about_text: bool
    max_tokens: int
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
        requests = self._requests(system, prompt)
        client.check_room(requests.values())
        reminder = prompt.render_reminder()
        conversations = {
            question: ask_twice(request, reminder, self.read)
            for question, request in requests.items()
        }
        readings: dict[Question, Reading] = client.drive(conversations, self.name)
        answers = [answer for reading in readings.values() for answer in reading.answers]
        unread = [reading.answers[-1] for reading in readings.values() if reading.value is None]
        refused = sum(answer.status == "refused" for answer in unread)
        unread_share = len(unread) / max(len(readings), 1)
        report = Report(
            judge=client.endpoint.model,
            prompt=prompt.sha256[:12],
            questions=len(readings),
            repeated=sum(len(reading.answers) > 1 for reading in readings.values()),
            unparsed=len(unread) - refused,
            refused=refused,
            coverage=1 - unread_share,
            paid=bill(answers),
        )
        if unread_share > most_unreadable:
            raise UserError(
                f"judge '{report.judge}': {len(unread)} of {report.questions} answers cannot be "
                f"read, expected at most {most_unreadable:.0%}; one of them ({unread[0].status}) "
                f"is {_described(unread[0])}. All answers are stored"
            )
        values = {question: reading.value for question, reading in readings.items()}
        return self.details(system, values), report

    def requests(self, system: System, client: Client, prompt: Prompt) -> Iterator[Request]:
        """Yield the requests of :meth:`judge`; those with an unreadable stored answer twice."""
        for request in self._requests(system, prompt).values():
            yield request
            stored = client.lookup(request)
            if stored is None or stored.status == "refused":
                continue
            if value_of(stored, self.read) is None:
                yield with_reminder(request, prompt.render_reminder())

    def _requests(self, system: System, prompt: Prompt) -> dict[Question, Request]:
        requests: dict[Question, Request] = {}
        for text, triples in system.texts.items():
            for triple in clean(triples)[0]:
                question = (text if self.about_text else "", triple)
                if question not in requests:
                    requests[question] = self._request(prompt, *question)
        return requests

    def _request(self, prompt: Prompt, text: str, triple: StringTriple) -> Request:
        values: dict[str, Any] = {"triple": json.dumps(triple, ensure_ascii=False)}
        if self.about_text:
            values["text"] = text
        return prompt.request(sampling=Sampling(max_tokens=self.max_tokens), **values)


def _described(answer: Answer) -> str:
    """Return an unreadable answer in words."""
    if answer.status == "truncated" and not answer.text.strip():
        return (
            "empty, its thought took all of the room: lower 'reasoning_effort' or raise "
            "'reasoning_tokens'"
        )
    return repr(answer.error or " ".join(answer.text.split())[:80])


def _verdicts(
    system: System, supported: Mapping[Question, bool | None]
) -> dict[str, dict[str, Any]]:
    """Return ``{text: {"score": float, "results": [bool or None, …]}}``, False if malformed.

    There is one result for each triple.
    """
    details: dict[str, dict[str, Any]] = {}
    for text, triples in system.texts.items():
        results = [
            False if triple is None else supported[text, triple] for triple in map(usable, triples)
        ]
        readable = [result for result in results if result is not None]
        score = sum(readable) / len(readable) if readable else 0.0
        details[text] = {"score": score, "results": results}
    return details


def _splits(system: System, splits: Mapping[Question, str | None]) -> dict[str, dict[str, Any]]:
    """Return ``{text: {triple as JSON: answer}}``; what could not be read has no entry."""
    details: dict[str, dict[str, str]] = {}
    for text, triples in system.texts.items():
        usable_triples, _ = clean(triples)
        for triple in usable_triples:
            answer = splits["", triple]
            if answer is not None:
                details.setdefault(text, {})[triple_json(triple)] = answer
    return details


def _readable(text: str) -> str | None:
    return None if count_parts(text) is None else text


FACTUALNESS = Kind(
    "factualness", about_text=True, max_tokens=10, read=parse_yes_no, details=_verdicts
)
"""Is a triple supported by its text?"""
GRANULARITY = Kind("granularity", about_text=False, max_tokens=300, read=_readable, details=_splits)
"""Which smaller triples does a triple consist of?"""


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
        triples: file of the system's triples.
        kinds: what to judge, ``factualness`` and ``granularity``; the file of the other kind gets
            no entry.
        factualness: file to write, with the judgements (JSON).
        granularity: file to write, with the answers to the splitting prompt (JSON).
        report: file to write, with counts of questions and unreadable answers (JSON).
        texts: at most one file; only its texts are judged.
        most_unreadable: share of the answers that may be unreadable.

    Raises:
        UserError: a file, a prompt or too many answers cannot be read.
    """
    system = read_judged(triples, texts)
    outputs = [
        (FACTUALNESS, load_prompt(factualness_prompt), factualness),
        (GRANULARITY, load_prompt(granularity_prompt), granularity),
    ]
    reports = {}
    with access.client() as client:
        for kind, prompt, path in outputs:
            details: dict[str, dict[str, Any]] = {}
            if kind.name in kinds:
                details, counts = kind.judge(system, client, prompt, most_unreadable)
                reports[kind.name] = asdict(counts)
                log.info("%s: %s", kind.name, reports[kind.name])
            write_json(path, details)
    write_json(report, reports)
