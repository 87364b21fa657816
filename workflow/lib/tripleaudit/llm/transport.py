"""Sending one request until it is answered: retries, Retry-After, time-outs, and what a failure means."""

import asyncio
import email.utils
import json
import logging
import os
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tripleaudit.errors import UserError
from tripleaudit.llm.capabilities import Problem
from tripleaudit.llm.endpoint import Endpoint

log = logging.getLogger(__name__)

RETRIED = {408, 409, 425, 429}
REJECTED = {400, 413, 422}  # this request is not acceptable; others may be
NO_MONEY = {"insufficient_quota", "billing_hard_limit_reached"}  # sent as 429, but waiting does not help
NO_MODEL = {"model_not_found", "invalid_model"}  # sent as 400 by some
LONGEST_RETRY_AFTER = 600.0
UNREACHED = {"ConnectError", "ConnectTimeout", "UnsupportedProtocol"}  # of the HTTP library: nothing was sent


class EndpointError(UserError):
    """The endpoint cannot be used, or does not answer after all attempts."""


class EndpointUnusable(EndpointError):
    """Asking on is pointless: no key, no permission, no such model, no quota."""


class RequestRejected(Exception):
    """The server answers, but refuses to work on this one request (400, 413, 422); ``problem`` holds its words."""

    def __init__(self, text: str, problem: Problem) -> None:
        super().__init__(text)
        self.problem = problem


class NoBatches(Exception):
    """The service offers no batches, or does not take this one."""


class Transport:
    """A connection to one endpoint, for one event loop.

    The key is read from the environment here and nowhere else; it is cut out of every text that comes back, because
    servers like to repeat it in their messages.

    Args:
        endpoint: address, model and retry settings.
        base_url: replaces the endpoint's own address (a server that was started on a free port).
        slower: called when the server says that requests come too fast.

    Raises:
        EndpointUnusable: there is no address, or the environment variable of the key or of a header is not set.
    """

    def __init__(
        self, endpoint: Endpoint, base_url: str | None = None, slower: Callable[[], None] = lambda: None
    ) -> None:
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        for name in ("httpx", "httpx2", "openai"):  # one line a request would drown everything else
            logging.getLogger(name).setLevel(logging.WARNING)
        self.endpoint = endpoint
        base_url = base_url or endpoint.base_url
        if base_url is None:
            raise EndpointUnusable(f"endpoint '{endpoint.name}' has no address: its local server is not running")
        key = self._variable(endpoint.api_key_env, "the key of the endpoint") if endpoint.api_key_env else ""
        headers = {
            name: self._variable(value[4:], f"the header '{name}'") if value.startswith("env:") else value
            for name, value in endpoint.headers.items()
        }
        self._secrets = [key, *(text for name, text in headers.items() if text != endpoint.headers[name])]
        local = urlsplit(base_url).hostname in ("localhost", "127.0.0.1", "::1")
        self._where = f"endpoint '{endpoint.name}' ({base_url})"
        self._slower = slower
        self._not_before = 0.0
        self._random = random.Random()
        self._openai = AsyncOpenAI(
            api_key=key or "none",  # an own value, or the library would send OPENAI_API_KEY to any server
            base_url=base_url,
            timeout=endpoint.timeout,
            max_retries=0,
            default_headers=headers,
            default_query=dict(endpoint.query),
            http_client=DefaultAsyncHttpxClient(
                trust_env=not local,  # no proxy to ourselves
                event_hooks={} if key else {"request": [_without_key]},
            ),
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._openai.close()

    async def post(
        self,
        kind: str,
        body: dict[str, Any],
        before: Callable[[], Awaitable[None]] | None = None,
        lost: Callable[[], None] = lambda: None,
    ) -> dict[str, Any]:
        """Send ``body`` to ``chat`` or ``embeddings`` and return the parsed answer.

        Args:
            before: awaited before each attempt.
            lost: called after each attempt that may have been worked on, and billed, although no answer came back.

        Raises:
            EndpointUnusable: the endpoint turns us away (401, 403, 404, no quota), or no attempt reached it.
            EndpointError: every attempt failed.
            RequestRejected: the server rejects this request; sending it again would not help.
        """
        reached = False
        for attempt in range(self.endpoint.max_retries + 1):
            while (pause := self._not_before - time.monotonic()) > 0:  # another request was told to wait
                await asyncio.sleep(pause)
            if before is not None:
                await before()
            try:
                outcome = await self._attempt(kind, body)
            except BaseException:  # stopped while the server was at work
                lost()
                raise
            reached |= outcome.reached
            if outcome.billed:
                lost()
            if outcome.answer is not None:
                return outcome.answer
            if outcome.then == "reject":
                raise RequestRejected(outcome.problem, outcome.details)
            if outcome.then == "stop":
                raise EndpointUnusable(f"{self._where} turns us away: {outcome.problem}")
            if attempt < self.endpoint.max_retries:
                delay = self._delay(attempt, outcome.wait)
                log.warning("%s: %s; attempt %d follows in %.1f s", self._where, outcome.problem, attempt + 2, delay)
                await asyncio.sleep(delay)
        kind = EndpointError if reached else EndpointUnusable  # other requests would not get there either
        raise kind(f"{self._where} does not answer after {attempt + 1} attempts: {outcome.problem}")

    async def batch_call(
        self, what: str, path: str, body: dict[str, Any] | None = None, upload: bytes | None = None, text: bool = False
    ) -> Any:
        """Ask for a file or a batch: GET, or POST with a body or a file to upload.

        A POST is not repeated where the service may have got it: the caller's record tells what became of it.

        Raises:
            NoBatches: the service does not know such a thing, or rejects it.
            EndpointUnusable: the endpoint turns us away (401, 403, no quota).
            EndpointError: every attempt failed.
        """
        import openai

        for attempt in range(self.endpoint.max_retries + 1):
            try:
                if upload is not None:
                    file = await self._openai.files.create(file=("batch.jsonl", upload), purpose="batch")
                    return {"id": file.id}
                if body is not None:
                    raw = await self._openai.post(path, body=body, cast_to=str)
                else:
                    raw = await self._openai.get(path, cast_to=str)
                raw = self._clean(raw)
                return raw if text else json.loads(raw)
            except openai.APIStatusError as error:
                problem = self._clean(f"status {error.status_code}: {_message(error)}")
                if error.status_code in (401, 403) or _inner(error.body).get("code") in NO_MONEY:
                    raise EndpointUnusable(f"{self._where} turns us away: {problem}") from None
                if error.status_code not in RETRIED and error.status_code < 500 or error.status_code == 501:
                    raise NoBatches(problem) from None
                wait = _retry_after(error.response.headers)
            except (openai.APIConnectionError, ValueError) as error:
                problem, wait = self._clean(f"the connection failed ({error.__cause__ or error})"), None
                if body is not None:
                    break
            if attempt < self.endpoint.max_retries:
                await asyncio.sleep(self._delay(attempt, wait))
        raise EndpointError(f"{self._where}: {what} failed: {problem}")

    async def _attempt(self, kind: str, body: dict[str, Any]) -> "_Outcome":
        """Make one attempt; faults leave as values, since an exception of the library may hold the key."""
        import openai

        path = "/chat/completions" if kind == "chat" else "/embeddings"
        try:  # as text, and past the library's own checks of each field, which take a fifth of a request's time
            raw = await asyncio.wait_for(self._openai.post(path, body=body, cast_to=str), self.endpoint.timeout)
            payload = json.loads(raw)
        except (TimeoutError, openai.APITimeoutError):
            return _Outcome(f"no answer within {self.endpoint.timeout:g} s", billed=True)
        except openai.APIStatusError as error:
            problem = self._clean(f"status {error.status_code}: {_message(error)}")
            if {_inner(error.body).get("code"), _inner(error.body).get("type")} & (NO_MONEY | NO_MODEL):
                return _Outcome(problem, then="stop")
            if error.status_code == 429:
                self._slower()
            if error.status_code in RETRIED or error.status_code >= 500:
                wait = _retry_after(error.response.headers)
                if wait is not None:  # let all requests of this endpoint wait, not only the one that was told to
                    self._not_before = max(self._not_before, time.monotonic() + wait)
                return _Outcome(problem, wait=wait)
            inner = _inner(error.body)
            details = Problem(_message(error), inner.get("param"), inner.get("code"))
            return _Outcome(problem, then="reject" if error.status_code in REJECTED else "stop", details=details)
        except openai.APIConnectionError as error:
            reached = type(error.__cause__).__name__ not in UNREACHED
            problem = self._clean(f"the connection failed ({error.__cause__ or error})")
            return _Outcome(problem, billed=reached, reached=reached)
        except (ValueError, openai.APIError) as error:  # the body is no JSON
            return _Outcome(f"malformed answer ({type(error).__name__})", billed=True)
        if not _well_formed(kind, payload):
            return _Outcome("malformed answer (nothing in it)", billed=True)
        return _Outcome(answer=json.loads(self._clean(json.dumps(payload))))

    def _delay(self, attempt: int, wait: float | None) -> float:
        exponential = min(self.endpoint.max_backoff, self.endpoint.backoff * 2**attempt)
        jittered = exponential * (0.5 + 0.5 * self._random.random())
        return jittered if wait is None else wait + 0.1 * jittered

    def _clean(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[key]") if len(secret) >= 4 else text
        return text

    def _variable(self, name: str, what: str) -> str:
        value = os.environ.get(name, "").strip()
        if not value:
            raise EndpointUnusable(
                f"endpoint '{self.endpoint.name}': the environment variable {name} is not set; expected it to hold "
                f"{what}"
            )
        return value


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One attempt: an answer, or a problem and what to do ``then`` (again, reject, stop) after ``wait`` seconds.

    ``billed`` says that the server may have worked on it all the same, ``reached`` that there is one.
    """

    problem: str = ""
    answer: dict[str, Any] | None = None
    then: str = "again"
    wait: float | None = None
    billed: bool = False
    reached: bool = True
    details: Problem = Problem("")


async def _without_key(request: Any) -> None:
    """Send no made-up key: a service whose key stands in another header may turn that away."""
    if request.headers.get("authorization") == "Bearer none":
        del request.headers["authorization"]


def _well_formed(kind: str, payload: Any) -> bool:
    rows = payload.get("choices" if kind == "chat" else "data") if isinstance(payload, dict) else None
    return isinstance(rows, list) and bool(rows) and all(isinstance(row, dict) for row in rows)


def _inner(body: Any) -> dict[str, Any]:
    """Return the error object in the body of a refusal; some servers send it bare."""
    if not isinstance(body, dict):
        return {}
    return body["error"] if isinstance(body.get("error"), dict) else body


def _message(error: Any) -> str:
    """Return the server's own words, on one line and not too long."""
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = inner.get("message", inner.get("detail", inner)) if isinstance(inner, dict) else inner
    text = " ".join(str(body if body else error.message).split())
    return text if len(text) <= 300 else text[:300] + "…"


def _retry_after(headers: Any) -> float | None:
    """Return the seconds that the server asks to wait: ``retry-after-ms``, seconds, or an HTTP date."""
    seconds: float | None = None
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        elif "retry-after" in headers:
            seconds = float(headers["retry-after"])
    except ValueError:
        parsed = email.utils.parsedate_tz(headers["retry-after"])
        seconds = email.utils.mktime_tz(parsed) - time.time() if parsed else None
    if seconds is None or not seconds >= 0:
        return None
    return min(seconds, LONGEST_RETRY_AFTER)
