"""Prompts of a conversation (thread) about a document, for entities or for triples."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tripleaudit.llm.conversation import Talk
from tripleaudit.llm.prompts import Prompt


class Prompts(NamedTuple):
    """The three prompts of a thread.

    Attributes:
        first: two messages: the system message, and the one that shows a piece of the document.
        more: asks for results that are still missing.
        remind: asks again after an answer that cannot be read.
    """

    first: Prompt
    more: Prompt
    remind: Prompt

    def talk(self, opening: Mapping[str, str], **reading: Any) -> Talk:
        """Return the messages of a thread.

        Args:
            opening: values for the placeholders of ``first``, except the piece and its number.
            reading: the arguments of :class:`.Talk` for reading answers (``parse``, ...).
        """
        system_message = self.first.render(**opening, part="", parts="", text="")[0]

        def show(index: int, total: int, text: str) -> str:
            messages = self.first.render(**opening, part=index + 1, parts=total, text=text)
            return messages[1]["content"]

        def more(index: int, total: int) -> str:
            return self.more.render(part=index + 1, parts=total)[-1]["content"]

        def remind(notes: str) -> str:
            return self.remind.render(problem=notes or "no JSON was found")[-1]["content"]

        return Talk(
            opening=system_message["content"], show=show, more=more, remind=remind, **reading
        )
