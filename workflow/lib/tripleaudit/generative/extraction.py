"""Triples from a language model: closed, semi-open and open extraction (GenRES, section 3).

=========  ==========================================================  ====================================
setting    the model is given                                          it answers
=========  ==========================================================  ====================================
closed     text, relations, one entity pair of the gold triples        the name of a relation, or NONE
semi-open  text, relations, entity types                               triples
open       text                                                        triples
=========  ==========================================================  ====================================
"""

import json
import logging
import random
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.spans import find_spans
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.corpora.verbaliser import Verbaliser
from tripleaudit.llm.endpoint import AS_THE_ENDPOINT, Answer, Request, Sampling, bill
from tripleaudit.llm.prompts import Prompt, load_prompt
from tripleaudit.llm.reading import STATUSES, Parsed, ParsedTriple, parse_label, parse_triples

if TYPE_CHECKING:
    from tripleaudit.llm.client import Client

log = logging.getLogger(__name__)

WORST_STATUS_FIRST = ("refused", "failed", "truncated", "repaired", "ok", "empty")


@dataclass(frozen=True)
class Task:
    """The task of a model, for all texts of a data set.

    Attributes:
        setting: closed, semi-open or open.
        prompt: its slots are ``text`` and, as the setting has them, ``relations``,
            ``entity_types``, ``subject``, ``object``.
        relations: the corpus's relations with their plain names (closed and semi-open).
        entity_types: types of things that relations link (semi-open).
        reask: query once more, in the same conversation, where an answer cannot be read.
        sampling: settings that replace the endpoint's.
        examples: sentences that are shown with their gold triples before the text.
        descriptions: of relations, by the corpus's own names; they fill the slot ``described``.
    """

    setting: str
    prompt: Prompt
    relations: Verbaliser = field(default_factory=lambda: Verbaliser(()))
    entity_types: tuple[str, ...] = ()
    reask: bool = True
    sampling: Sampling = AS_THE_ENDPOINT
    examples: tuple[Sentence, ...] = ()
    descriptions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.setting != "open" and not self.relations.names:
            raise UserError(
                f"{self.setting} extraction needs relations; the texts have no triples to take them from"
            )
        if "text" not in self.prompt.slots:
            raise UserError(
                f"prompt '{self.prompt.name}': expected {{{{text}}}} in one of its messages"
            )

    def request(self, sentence: Sentence, pair: tuple[str, str] | None = None) -> Request:
        """Return the request for one text (and one entity pair)."""
        values: dict[str, Any] = {
            "text": _on_one_line(sentence.text),
            "relations": "; ".join(sorted(self.relations.names.values())),
            "entity_types": "; ".join(self.entity_types) or "any",
            "described": self._described_relations(),
        }
        if pair is not None:
            values |= {"subject": pair[0], "object": pair[1]}
        request = self.prompt.request(sampling=self.sampling, **values)
        *before, last = request.messages
        for example in self.examples:
            before += self._example_messages(example, values)
        return replace(request, messages=(*before, last))

    def _described_relations(self) -> str:
        """Return one line per relation: plain name, and description if there is one."""
        lines = []
        for relation, name in sorted(self.relations.names.items(), key=lambda item: item[1]):
            description = self.descriptions.get(relation)
            lines.append(f"- {name}: {description}" if description else f"- {name}")
        return "\n".join(lines)

    def _example_messages(
        self, example: Sentence, values: Mapping[str, Any]
    ) -> list[Mapping[str, str]]:
        """Return an example as question and answer.

        Closed extraction asks about its first triple.
        """
        values = {**values, "text": _on_one_line(example.text)}
        triples = [
            (t.subject.text, self.relations(t.relation), t.object.text) for t in example.triples
        ]
        answer = json.dumps({"triples": triples}, ensure_ascii=False)
        if self.setting == "closed":
            values["subject"], answer, values["object"] = triples[0]
        question = self.prompt.render(**values)[-1]
        return [question, {"role": "assistant", "content": answer}]

    def requests(
        self, sentences: Iterable[Sentence]
    ) -> Iterator[tuple[int, tuple[str, str] | None, Request]]:
        """Yield ``(index of text, entity pair, request)``: per text, or (closed) per gold pair."""
        for number, sentence in enumerate(sentences):
            if self.setting != "closed":
                yield number, None, self.request(sentence)
                continue
            pairs = dict.fromkeys(
                (triple.subject.text, triple.object.text) for triple in sentence.triples
            )
            for pair in pairs:
                yield number, pair, self.request(sentence, pair)


@dataclass(frozen=True)
class Call:
    """One answer and what was read in it.

    ``repaired`` if it is the second one; ``unused`` is the other answer, if two were paid for.
    """

    answer: Answer
    parsed: Parsed
    pair: tuple[str, str] | None = None
    repaired: bool = False
    unused: Answer | None = None

    @property
    def paid(self) -> list[Answer]:
        """All answers that it took."""
        return [self.answer] if self.unused is None else [self.answer, self.unused]

    def to_json(self) -> dict[str, Any]:
        row: dict[str, Any] = {
            "text": self.answer.text,
            "status": self.answer.status,
            "finish_reason": self.answer.finish_reason,
            "parse_status": self.parsed.status,
            "dropped": self.parsed.dropped,
            "notes": list(self.parsed.notes),
            "usage": asdict(self.answer.usage),
            "cost": sum(answer.cost for answer in self.paid),
            "key": self.answer.key,
        }
        for name in ("reasoning", "served"):
            if getattr(self.answer, name):
                row[name] = getattr(self.answer, name)
        if self.pair is not None:
            row["pair"] = list(self.pair)
        if self.repaired:
            row["repaired"] = True
        if self.unused is not None:
            row["unused"] = {"text": self.unused.text, "key": self.unused.key}
        if self.answer.error:
            row["error"] = self.answer.error
        return row


@dataclass(frozen=True)
class Extraction:
    """The calls for one text and the triples read in them."""

    sentence: Sentence
    calls: tuple[Call, ...]

    @property
    def triples(self) -> tuple[ParsedTriple, ...]:
        return tuple(triple for call in self.calls for triple in call.parsed.records)

    @property
    def parse_status(self) -> str:
        """The worst status of the calls; ``empty`` for a text without a request."""
        statuses = {call.parsed.status for call in self.calls}
        return next((status for status in WORST_STATUS_FIRST if status in statuses), "empty")

    def to_json(self) -> dict[str, Any]:
        """Return the result row: text, triples as the model wrote them, statuses, and answers."""
        return {
            "id": self.sentence.id,
            "text": self.sentence.text,
            "triples": [triple.to_json() for triple in self.triples],
            "parse_status": self.parse_status,
            "answers": [call.to_json() for call in self.calls],
        }

    def prediction(self, relations: Verbaliser) -> Sentence:
        """Return the sentence with triples between spans and the corpus's own relation names.

        A string that does not occur in the text stays, without a position. Each distinct triple
        appears once.
        """
        text = self.sentence.text
        triples: dict[tuple[str, str, str], Triple] = {}
        for item in self.triples:
            triple = Triple(
                _span(text, item.subject), relations.back(item.relation), _span(text, item.object)
            )
            triples.setdefault(triple.strings, triple)
        return Sentence(self.sentence.id, self.sentence.text, tuple(triples.values()))


def extract(client: "Client", sentences: Sequence[Sentence], task: Task) -> list[Extraction]:
    """Ask a model about every text and read its answers.

    Raises:
        UserError: the endpoint does not answer or the budget is used up (what was answered is
            stored); content of answers never raises.
    """
    requests = list(task.requests(sentences))
    client.check_room(request for _, _, request in requests)
    conversations = {
        index: _talk(task, pair, request) for index, (_, pair, request) in enumerate(requests)
    }
    calls = client.drive(conversations, "extraction")
    by_text: dict[int, list[Call]] = {number: [] for number in range(len(sentences))}
    for (number, _, _), call in zip(requests, calls.values(), strict=True):
        by_text[number].append(call)
    return [
        Extraction(sentence, tuple(by_text[number])) for number, sentence in enumerate(sentences)
    ]


def summary(extractions: Sequence[Extraction]) -> dict[str, Any]:
    """Count texts, triples, statuses, tokens and money of an extraction; equal requests once."""
    calls = [call for item in extractions for call in item.calls]
    statuses = Counter(call.parsed.status for call in calls)
    return {
        "texts": len(extractions),
        "texts_with_triples": sum(bool(item.triples) for item in extractions),
        "triples": sum(triple.repeats for item in extractions for triple in item.triples),
        "distinct_triples": sum(len(item.triples) for item in extractions),
        "dropped": sum(call.parsed.dropped for call in calls),
        "answers": len(calls),
        "repaired": sum(call.repaired for call in calls),
        "statuses": {status: statuses[status] for status in STATUSES},
        "rejected": sum(call.answer.status == "error" for call in calls),
        **bill(answer for call in calls for answer in call.paid),
    }


def select_texts(
    sentences: Sequence[Sentence], limit: int | None = None, seed: int | None = None
) -> list[Sentence]:
    """Return texts of a data set in order: all, the first ``limit``, or a random sample by seed."""
    if limit is None or limit >= len(sentences):
        return list(sentences)
    if seed is None:
        return list(sentences[:limit])
    numbers = random.Random(seed).sample(range(len(sentences)), limit)
    return [sentences[number] for number in sorted(numbers)]


def reference(sentences: Iterable[Sentence], relations: Verbaliser) -> list[Sentence]:
    """Return gold sentences with plain names of relations, as generated triples have them."""
    renamed = []
    for sentence in sentences:
        triples = [
            replace(triple, relation=relations(triple.relation)) for triple in sentence.triples
        ]
        renamed.append(Sentence(sentence.id, sentence.text, tuple(triples)))
    return renamed


def write_texts(
    sentences: str | Path, dataset: Mapping[str, Any], texts: str | Path, reference_out: str | Path
) -> None:
    """Write the texts of a data set and their gold triples under plain relation names.

    Args:
        dataset: ``limit``, ``sample_seed``, ``relations`` and ``verbalise`` of the configuration.
    """
    available = load_sentences(sentences)
    chosen = select_texts(available, dataset.get("limit"), dataset.get("sample_seed"))
    save_sentences(texts, chosen)
    save_sentences(reference_out, reference(chosen, relations_of(dataset, chosen)))
    triples = sum(len(sentence.triples) for sentence in chosen)
    log.info("%d of %d texts, %d triples", len(chosen), len(available), triples)


def relations_of(dataset: Mapping[str, Any], sentences: Iterable[Sentence]) -> Verbaliser:
    """Return a data set's relations with plain names: those it lists, else the gold ones."""
    in_gold = {triple.relation for sentence in sentences for triple in sentence.triples}
    return Verbaliser(dataset.get("relations") or in_gold, dataset.get("verbalise"))


def build_task(
    system: Mapping[str, Any],
    dataset: Mapping[str, Any],
    sentences: Sequence[Sentence],
    examples: Iterable[Sentence] = (),
) -> Task:
    """Return the task of a system on a data set, both from the section ``generative``.

    Args:
        examples: the sentences that examples are drawn from; those among the texts are left out.

    Raises:
        UserError: a prompt does not exist, or relations are needed and there are none.
    """
    setting = system.get("setting") or "open"
    return Task(
        setting=setting,
        prompt=load_prompt(system.get("prompt") or setting),
        relations=relations_of(dataset, sentences),
        entity_types=tuple(dataset.get("entity_types") or ()),
        reask=bool(system.get("reask", True)),
        sampling=Sampling(**{name: system.get(name) for name in Sampling.model_fields}),
        examples=_draw_examples(system, sentences, examples),
    )


def _draw_examples(
    system: Mapping[str, Any], sentences: Sequence[Sentence], examples: Iterable[Sentence]
) -> tuple[Sentence, ...]:
    count = system.get("examples") or 0
    if not count:
        return ()
    tested = {sentence.text for sentence in sentences}
    usable = [sentence for sentence in examples if sentence.triples and sentence.text not in tested]
    if len(usable) < count:
        raise UserError(
            f"{count} examples are asked for, and the training split has {len(usable)} to show"
        )
    rng = random.Random(system.get("examples_seed") or 0)
    return tuple(rng.sample(usable, count))


def _read(task: Task, pair: tuple[str, str] | None, answer: Answer) -> Call:
    """Return an answer with the triples read in it."""
    if answer.status == "error":
        parsed = Parsed((), "failed", ("rejected by the server",))
    elif pair is None:
        parsed = parse_triples(answer, task.entity_types)
    else:
        relation, status = parse_label(answer, list(task.relations.names.values()))
        subject, object_ = pair
        triples = () if relation is None else (ParsedTriple(subject, relation, object_),)
        parsed = Parsed(triples, status)
    return Call(answer, parsed, pair)


def _talk(
    task: Task, pair: tuple[str, str] | None, request: Request
) -> Generator[Request, Answer, Call]:
    """Query the model, and query again once if the answer cannot be read.

    A second repetition that helps as little only costs money.
    """
    answer = yield request
    first = _read(task, pair, answer)
    if not task.reask or first.parsed.status != "failed" or not answer.text:
        return first
    reminder = {"role": "user", "content": task.prompt.render_reminder()}
    turns = (*request.messages, {"role": "assistant", "content": answer.text}, reminder)
    second_answer = yield replace(request, messages=turns)
    second = _read(task, pair, second_answer)
    if second.parsed.status in ("failed", "refused"):
        return replace(first, unused=second_answer)
    return replace(second, repaired=True, unused=answer)


def _span(text: str, name: str) -> Span:
    """Return the first mention of a name in a text, in any case; else a span without offsets."""
    positions, _ = find_spans(text, name)
    position = positions[0] if positions else _find_casefolded(text, name)
    if position is None:
        return Span(None, None, name)
    start, end = position
    return Span(start, end, text[start:end])


def _find_casefolded(text: str, name: str) -> tuple[int, int] | None:
    folded = text.casefold()
    start = folded.find(name.casefold())
    end = start + len(name)
    has_same_offsets = len(folded) == len(text)
    if start < 0 or not has_same_offsets or text[start:end].casefold() != name.casefold():
        return None
    return start, end


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
