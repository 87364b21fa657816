"""What is said about a document: entities of its pieces as MINEA needs them (section 4.1), one thread with history."""

import dataclasses
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tripleaudit.llm.conversation import (
    Conversation,
    Limits,
    Piece,
    State,
    Talk,
    TokenCounter,
    Turn,
    converse,
)
from tripleaudit.llm.endpoint import Answer, Request
from tripleaudit.llm.prompts import Prompt, load_prompt
from tripleaudit.needles.entities import Entity, parse_entities
from tripleaudit.needles.schema import Schema

READS = (
    "data/prompts/minea-extract.yaml",
    "data/prompts/minea-continue.yaml",
    "data/prompts/minea-remind.yaml",
)


@dataclass(frozen=True)
class Prompts:
    """The three prompts of a thread; ``first`` has the opening and the message that shows a piece."""

    first: Prompt
    more: Prompt
    remind: Prompt

    @classmethod
    def load(cls, first: str, more: str, remind: str) -> "Prompts":
        """Read the prompts of these names."""
        return cls(load_prompt(first), load_prompt(more), load_prompt(remind))

    def hashes(self) -> dict[str, str]:
        """The prompts' names and SHA-256, part of every result."""
        return {prompt.name: prompt.sha256 for prompt in (self.first, self.more, self.remind)}

    def talk(self, schema: Mapping[str, Any] | None = None, *, opening: Mapping[str, str], **reading: Any) -> Talk:
        """Return the messages of a thread.

        Args:
            schema: JSON schema of an answer, for servers with structured outputs.
            opening: what fills the slots of the opening.
            reading: how answers are read, as :class:`.Talk` has it.
        """

        def first(number: int, part: Any, parts: Any, text: str) -> str:
            return self.first.render(**opening, part=part, parts=parts, text=text)[number]["content"]

        return Talk(
            opening=first(0, "", "", ""),
            show=lambda index, total, text: first(1, index + 1, total, text),
            more=lambda index, total: self.more.render(part=index + 1, parts=total)[-1]["content"],
            remind=lambda notes: self.remind.render(problem=notes or "no JSON was found")[-1]["content"],
            schema=schema,
            **reading,
        )


def entity_prompts() -> Prompts:
    """Return the prompts that ask for entities."""
    return Prompts.load("minea-extract", "minea-continue", "minea-remind")


def entity_talk(prompts: Prompts, schema: Schema, structured: bool = False) -> Talk:
    """Return the messages of a thread about ``schema``; ``structured`` sends the JSON schema of the answer."""
    answer = schema.answer_schema() if structured else None
    return prompts.talk(answer, opening={"schema": schema.prompt()}, parse=parse_entities)


def branch(
    piece: Piece, total: int, talk: Talk, limits: Limits, counter: TokenCounter, state: State
) -> Generator[Request, Answer, Conversation]:
    """Show a copy of ``piece`` as one more part after the last, in a copy of a finished thread (MINEA, section 4.2).

    Every branch starts from the same ``state``, which it leaves as it is; none continues another.
    """
    shown = dataclasses.replace(talk, show=lambda _i, _n, text: talk.show(total, total + 1, text))
    shown = dataclasses.replace(shown, more=lambda _i, _n: talk.more(total, total + 1))
    return (yield from converse([piece], shown, limits, counter, state))


def entities_of(turns: Iterable[Turn], doc: str, variant: str, schema: Schema) -> list[Entity]:
    """Return the entities of all turns in order of extraction, with keys outside the schema moved to ``extra``.

    Entities outside the schema keep all they have as properties.
    """
    entities: list[Entity] = []
    for turn in turns:
        for record in turn.parsed.records:
            kind = schema.types.get(record["type"])
            known = record["properties"] if kind is None else {}
            extra: dict[str, Any] = {}
            if kind is not None:
                known = {k: v for k, v in record["properties"].items() if k in kind.properties}
                extra = {k: v for k, v in record["properties"].items() if k not in kind.properties}
            entities.append(
                Entity(
                    doc,
                    variant,
                    turn.piece,
                    turn.iteration,
                    turn.thread,
                    len(entities),
                    record["type"],
                    record["name"],
                    known,
                    extra,
                    turn.answer.key,
                )
            )
    return entities
