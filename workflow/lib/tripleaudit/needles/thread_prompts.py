"""The prompts of a thread about a document, whichever they are: for entities or for triples."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tripleaudit.llm.conversation import Talk
from tripleaudit.llm.prompts import Prompt


class Prompts(NamedTuple):
    """The three prompts of a thread; ``first`` opens it and shows a piece."""

    first: Prompt
    more: Prompt
    remind: Prompt

    def talk(self, opening: Mapping[str, str], **reading: Any) -> Talk:
        """Return the messages of a thread.

        Args:
            reading: how answers are read, as :class:`.Talk` has it.
        """

        def first(number: int, part: Any, parts: Any, text: str) -> str:
            return self.first.render(**opening, part=part, parts=parts, text=text)[number][
                "content"
            ]

        return Talk(
            opening=first(0, "", "", ""),
            show=lambda index, total, text: first(1, index + 1, total, text),
            more=lambda index, total: self.more.render(part=index + 1, parts=total)[-1]["content"],
            remind=lambda notes: self.remind.render(problem=notes or "no JSON was found")[-1][
                "content"
            ],
            **reading,
        )
