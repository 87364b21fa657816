"""Prompt files: YAML with messages, ``{{name}}`` placeholders and the answer's schema.

description: one line for people
messages:
  - role: system
    content: …
  - role: user
    content: "Passage: {{text}}"
schema: {…}     # optional JSON schema of the answer, sent where the endpoint offers structured outputs
reminder: …     # optional, asks again after an answer that cannot be read
"""

import difflib
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field

from tripleaudit.core.errors import UserError
from tripleaudit.core.fields import Section, Text
from tripleaudit.core.rows import row_of
from tripleaudit.core.shipped import DATA, shipped
from tripleaudit.core.yaml_files import LOADER
from tripleaudit.llm.endpoint import AS_THE_ENDPOINT, Request, Sampling

FOLDER = DATA / "prompts"
REMINDER = "That cannot be read. Answer in the form that was asked for, and nothing else."
_SLOT = re.compile(r"\{\{\s*([a-z][a-z0-9_]*)\s*\}\}")


class _Message(Section):
    role: Literal["system", "user", "assistant"]
    content: str


class _File(Section):
    description: str = ""
    messages: Annotated[list[_Message], Field(min_length=1)]
    schema_: dict[str, Any] | None = Field(None, alias="schema")
    reminder: Text = REMINDER


@dataclass(frozen=True)
class Prompt:
    """A prompt file.

    Attributes:
        name: file name without its ending.
        messages: roles and templates.
        schema: JSON schema of the answer, or None.
        reminder: asks again after an answer that cannot be read.
        sha256: hash of the file, part of every result that was made with it.
    """

    name: str
    messages: tuple[Mapping[str, str], ...]
    schema: Mapping[str, Any] | None = None
    description: str = ""
    reminder: str = REMINDER
    sha256: str = field(default="", compare=False)

    @property
    def slots(self) -> set[str]:
        """Names that the messages need values for."""
        return {name for message in self.messages for name in _SLOT.findall(message["content"])}

    def render(self, **values: Any) -> list[dict[str, str]]:
        """Return the messages with every ``{{name}}`` replaced once; insertions are not expanded.

        Raises:
            UserError: a value for a slot of the prompt is missing. Values that the prompt does not
                use are ignored.
        """
        return [
            {"role": message["role"], "content": self._fill(message["content"], values)}
            for message in self.messages
        ]

    def render_reminder(self, **values: Any) -> str:
        """Return the reminder with its slots filled as by :meth:`render`."""
        return self._fill(self.reminder, values)

    def _fill(self, template: str, values: Mapping[str, Any]) -> str:
        for name in _SLOT.findall(template):
            if name not in values:
                raise UserError(
                    f"prompt '{self.name}': nothing to fill in for {{{{{name}}}}}; "
                    f"known here: {sorted(values)}"
                )
        return _SLOT.sub(lambda match: str(values[match[1]]), template).strip()

    def request(
        self, *, sampling: Sampling = AS_THE_ENDPOINT, sample: int = 0, **values: Any
    ) -> Request:
        """Return the request for these values, with the prompt's schema."""
        messages = tuple(self.render(**values))
        return Request(messages, schema=self.schema, sampling=sampling, sample=sample)


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
    names = sorted(item.stem for item in FOLDER.glob("*.yaml"))
    close = difflib.get_close_matches(text, names, 1)
    hint = f"expected one of {', '.join(names)}, or the path of a file"
    if close:
        hint = f"did you mean '{close[0]}'?"
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
        reminder=file.reminder,
        sha256=hashlib.sha256(data).hexdigest(),
    )
