"""Prompt files: YAML with messages, ``{{name}}`` placeholders and the answer's schema.

description: one line for people
messages:
  - role: system
    content: …
  - role: user
    content: "Passage: {{text}}"
schema: {…}     # optional JSON schema of the answer, sent where the endpoint offers structured outputs
"""

import difflib
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field

from tripleaudit.core.errors import UserError
from tripleaudit.core.fields import Section, row_of
from tripleaudit.core.shipped import DATA, shipped
from tripleaudit.core.yaml_files import LOADER
from tripleaudit.llm.endpoint import Request

FOLDER = DATA / "prompts"
_SLOT = re.compile(r"\{\{\s*([a-z][a-z0-9_]*)\s*\}\}")


class _Message(Section):
    role: Literal["system", "user", "assistant"]
    content: str


class _File(Section):
    description: str = ""
    messages: Annotated[list[_Message], Field(min_length=1)]
    schema_: dict[str, Any] | None = Field(None, alias="schema")


@dataclass(frozen=True)
class Prompt:
    """A prompt file.

    Attributes:
        name: file name without its ending.
        messages: roles and templates.
        schema: JSON schema of the answer, or None.
        sha256: hash of the file, part of every result that was made with it.
    """

    name: str
    messages: tuple[Mapping[str, str], ...]
    schema: Mapping[str, Any] | None = None
    description: str = ""
    sha256: str = field(default="", compare=False)

    @property
    def slots(self) -> set[str]:
        """Names that must be filled in."""
        return {name for message in self.messages for name in _SLOT.findall(message["content"])}

    def render(self, **values: Any) -> list[dict[str, str]]:
        """Return the messages with every ``{{name}}`` replaced once; insertions are not expanded.

        Raises:
            UserError: a value for a slot of the prompt is missing. Values that the prompt does not
                use are ignored.
        """
        missing = sorted(self.slots - set(values))
        if missing:
            raise UserError(
                f"prompt '{self.name}': nothing to fill in for {{{{{missing[0]}}}}}; known here: {sorted(values)}"
            )
        return [
            {
                "role": message["role"],
                "content": _SLOT.sub(
                    lambda match: str(values[match[1]]), message["content"]
                ).strip(),
            }
            for message in self.messages
        ]

    def request(self, *, max_tokens: int | None = None, sample: int = 0, **values: Any) -> Request:
        """Return the request for these values, with the prompt's schema."""
        return Request(
            tuple(self.render(**values)), schema=self.schema, max_tokens=max_tokens, sample=sample
        )


def with_reminder(request: Request, reminder: str) -> Request:
    """Return a request with a reminder at the end of its last message.

    The same words would bring the same answer.
    """
    *before, last = request.messages
    return replace(
        request, messages=(*before, {**last, "content": f"{last['content']}\n\n{reminder}"})
    )


def _path(name: str | Path) -> Path:
    text = str(name)
    if "/" in text or text.endswith((".yaml", ".yml")):
        path = Path(shipped(text))
        if path.is_file():
            return path
        raise UserError(f"{text}: no such prompt file")
    path = FOLDER / f"{text}.yaml"
    if path.is_file():
        return path
    known = sorted(item.stem for item in FOLDER.glob("*.yaml"))
    close = difflib.get_close_matches(text, known, 1)
    hint = (
        f"did you mean '{close[0]}'?"
        if close
        else f"expected one of {', '.join(known)}, or the path of a file"
    )
    raise UserError(f"prompt '{text}': no such prompt; {hint}")


def load_prompt(name: str | Path) -> Prompt:
    """Read a prompt by its name (a file of ``data/prompts``) or by its path.

    Raises:
        UserError: it does not exist, or the file is not a prompt; the message names the file.
    """
    path = _path(name)
    data = path.read_bytes()
    try:
        value = yaml.load(data, LOADER)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid YAML ({' '.join(str(error).split())})") from error
    file = row_of(value, _File, str(path))
    return Prompt(
        name=path.stem,
        messages=tuple(message.model_dump() for message in file.messages),
        schema=file.schema_,
        description=file.description,
        sha256=hashlib.sha256(data).hexdigest(),
    )
