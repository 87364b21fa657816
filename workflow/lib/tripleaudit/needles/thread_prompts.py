"""The prompts of a thread about a document, whichever they are: for entities or for triples."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tripleaudit.llm.conversation import Talk
from tripleaudit.llm.prompts import Prompt, load_prompt


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
