"""What is said about a document: entities of its pieces as MINEA needs them (section 4.1), one thread with history."""

import dataclasses
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tripleaudit.errors import UserError
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
from tripleaudit.needles.entities import Entity, identity, parse_entities
from tripleaudit.needles.schema import Schema

READS = (
    "data/prompts/minea-extract.yaml",
    "data/prompts/minea-continue.yaml",
    "data/prompts/minea-remind.yaml",
)

Offsets = tuple[int, int]


@dataclass(frozen=True)
class Prompts:
    """The three prompts of an extraction; ``extract`` has the opening and the message that shows a piece."""

    extract: Prompt
    more: Prompt
    remind: Prompt

    @classmethod
    def load(cls) -> "Prompts":
        """Read the prompts.

        Raises:
            UserError: a prompt is missing or lacks a message or slot that the extraction fills.
        """
        prompts = cls(load_prompt("minea-extract"), load_prompt("minea-continue"), load_prompt("minea-remind"))
        if [message["role"] for message in prompts.extract.messages] != ["system", "user"]:
            raise UserError(f"prompt '{prompts.extract.name}': expected one system message and then one user message")
        if "text" not in prompts.extract.slots or "schema" not in prompts.extract.slots:
            raise UserError(f"prompt '{prompts.extract.name}': expected the slots {{{{schema}}}} and {{{{text}}}}")
        return prompts

    def hashes(self) -> dict[str, str]:
        """The prompts' names and SHA-256, part of every result."""
        return {prompt.name: prompt.sha256 for prompt in (self.extract, self.more, self.remind)}

    def talk(self, schema: Schema, structured: bool = False) -> Talk:
        """Return the messages of a thread about ``schema``; ``structured`` sends the JSON schema of the answer."""
        described = schema.prompt()

        def show(index: int, total: int, text: str) -> str:
            return self.extract.render(schema=described, part=index + 1, parts=total, text=text)[1]["content"]

        return Talk(
            opening=self.extract.render(schema=described, part="", parts="", text="")[0]["content"],
            show=show,
            more=lambda index, total: self.more.render(part=index + 1, parts=total)[-1]["content"],
            remind=lambda notes: self.remind.render(problem=notes or "no JSON was found")[-1]["content"],
            parse=parse_entities,
            identity=identity,
            schema=schema.answer_schema() if structured else None,
        )


def as_pieces(text: str, spans: Sequence[Offsets], protected: Sequence[Offsets] = ()) -> list[Piece]:
    """Return the pieces to show, each with the protected spans inside it."""
    return [
        Piece(index, text[a:b], tuple((c - a, d - a) for c, d in protected if a <= c and d <= b))
        for index, (a, b) in enumerate(spans)
    ]


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
