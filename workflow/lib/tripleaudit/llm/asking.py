"""What the workflow tells every job that asks a language model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripleaudit.llm.client import Client
from tripleaudit.llm.section import open_client


@dataclass(frozen=True)
class Asking:
    """An endpoint of a study.

    Attributes:
        section: configuration section ``generative``.
        study: whose budget is used.
        endpoint: name of an endpoint of the section; empty for none.
        gguf: the file of a model that is served for this job.
        threads, server_log: CPU threads and output of its server.
    """

    section: Mapping[str, Any]
    study: str
    endpoint: str = ""
    gguf: Sequence[str | Path] = ()
    threads: int = 0
    server_log: str = ""

    def client(self) -> Client:
        """Return a client; close it after use.

        Raises:
            UserError: the endpoint is not defined, or cannot be asked.
        """
        gguf = next(iter(self.gguf), None)
        return open_client(self.section, self.endpoint, self.study, gguf, self.server_log or None, self.threads or None)
