"""The client of conversations: it also keeps the answers that the cache of single requests does not.

A truncated answer or a refusal decides how a thread goes on. If it were asked for again after an interruption, the
history of all later requests could change, and every one of them would be paid for again.
"""

import asyncio
import dataclasses
from pathlib import Path
from typing import Any

from tripleaudit.llm.cache import Cache
from tripleaudit.llm.client import Client
from tripleaudit.llm.endpoint import Answer, Endpoint, Request, Usage


class ThreadClient(Client):
    """A :class:`Client` that stores truncated and refused answers in ``<cache_dir>/turns``; arguments as there."""

    def __init__(self, endpoint: Endpoint, cache_dir: str | Path, **options: Any) -> None:
        super().__init__(endpoint, cache_dir, **options)
        self.turns = Cache(Path(cache_dir) / "turns")
        self._runner: asyncio.Runner | None = None

    def lookup(self, request: Request) -> Answer | None:
        """Return the stored answer of a request, whatever its status, or ``None``."""
        answer = super().lookup(request)
        if answer is not None:
            return answer
        record = self.turns.get(self.key(request))
        if record is None or not isinstance(record.get("answer"), dict):
            return None
        stored = record["answer"]
        return Answer(**{**stored, "usage": Usage(**stored["usage"]), "cached": True})

    async def complete(self, request: Request) -> Answer:
        answer = await super().complete(request)
        if answer.status in ("truncated", "refused") and not answer.cached:
            await asyncio.to_thread(self.turns.put, answer.key, {"answer": dataclasses.asdict(answer)})
        return answer

    def _run(self, work: Any) -> Any:
        """Run in one event loop for the client's whole life: threads ask often, and connections stay open."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self._runner = self._runner or asyncio.Runner()
            return self._runner.run(work)
        return super()._run(work)

    def close(self) -> None:
        if self._runner is not None:
            if self._state is not None:
                self._runner.run(self._state.close())
                self._state = None
            self._runner.close()
            self._runner = None
        super().close()
        self.turns.close()
