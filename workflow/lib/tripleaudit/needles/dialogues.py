"""What is said about a document: entities of its pieces as MINEA needs them (section 4.1), one thread with history."""

import dataclasses
from collections.abc import Generator, Iterable
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
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.needles.entities import Entity, parse_entities
from tripleaudit.needles.schema import Schema
from tripleaudit.needles.thread_prompts import Prompts

READS = (
    "data/prompts/minea-extract.yaml",
    "data/prompts/minea-continue.yaml",
    "data/prompts/minea-remind.yaml",
)


def entity_prompts() -> Prompts:
    """Return the prompts that ask for entities."""
    return Prompts(*map(load_prompt, ("minea-extract", "minea-continue", "minea-remind")))


def entity_talk(prompts: Prompts, schema: Schema) -> Talk:
    """Return the messages of a thread about ``schema``."""
    return prompts.talk(opening={"schema": schema.prompt()}, parse=parse_entities)


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
