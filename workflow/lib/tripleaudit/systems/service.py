"""``address``: a service that answers POSTed ``{"id", "text"}`` with ``{"triples"}``."""

import functools
import http.client
import json
import logging
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from tripleaudit.core.addresses import (
    FROM_ENVIRONMENT,
    has_login_or_query,
    is_literal_secret,
    is_web_address,
)
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers.common import shown
from tripleaudit.systems.queries import Answered, Answers, Query
from tripleaudit.systems.spec import SystemKind

logger = logging.getLogger(__name__)
PAUSE = 0.5  # seconds before the second try, doubled each time
AGAIN = (408, 429, 500, 502, 503, 504)
LONGEST = 64 * 2**20  # bytes of an answer


class _Here(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: another host would get the texts, and the secrets in their headers."""

    def redirect_request(self, *_: Any) -> None:
        return None


OPENER = urllib.request.build_opener(_Here)


def problems(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield ``key: sentence`` for an invalid address."""
    address = settings["address"]
    if not is_web_address(address):
        given = "an invalid address" if "@" in address else repr(address)  # it may hold a password
        yield f"address: {given}, expected one such as http://127.0.0.1:8000/extract"
    elif has_login_or_query(address):  # an address is written into logs and reports
        yield "address: must not hold credentials or a query; send a header whose value is 'env:NAME' instead"
    for name, value in (settings.get("headers") or {}).items():
        if is_literal_secret(name, str(value)):
            yield (
                f"headers/{name}: must not hold the value, which may be secret; name an environment "
                "variable, 'env:NAME'"
            )


def answer(query: Query) -> Answered:
    """Ask about every sentence, some at a time.

    Raises:
        UserError: the service cannot be reached, lets one wait, or answers something else.
    """
    answers, rows = Answers(query), list(query.rows())
    headers = {"Content-Type": "application/json", **_headers(query.settings.get("headers") or {})}
    with ThreadPoolExecutor(query.settings["concurrency"]) as pool:
        futures = [pool.submit(_post, query.settings, headers, row) for row in rows]
        try:
            for row, future in zip(rows, futures, strict=True):
                said = future.result()
                said = {**said, "id": row["id"]} if isinstance(said, dict) else said
                answers.add(said, f"the answer about {row['id']!r}")
        except UserError:
            pool.shutdown(cancel_futures=True)
            raise
    return Answered(
        answers.sentences("its answers"), {"device": "a service", "requests": len(rows)}
    )


def _headers(given: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for name, value in given.items():
        variable = value.removeprefix(FROM_ENVIRONMENT)
        if value.startswith(FROM_ENVIRONMENT) and variable not in os.environ:
            raise UserError(
                f"the header {name} comes from the environment variable {variable}, which is not set"
            )
        found[name] = os.environ[variable].strip() if value.startswith(FROM_ENVIRONMENT) else value
        if value.startswith(FROM_ENVIRONMENT) and not (
            found[name].isascii() and found[name].isprintable()
        ):
            raise UserError(
                f"the header {name}: the environment variable {variable} holds more than one line of ASCII"
            )
    return found


def _clean(text: str, headers: Mapping[str, str]) -> str:
    """Return a text of the service without the secrets that it was sent and may repeat."""
    words = " ".join(value for name, value in headers.items() if name != "Content-Type").split()
    for word in sorted(words, key=len, reverse=True):
        text = text.replace(word, "[key]") if len(word) > len("Bearer") else text
    return text


def _within(seconds: float, send: Callable[[], bytes]) -> bytes:
    """Return the result of ``send``; slow responses have the same time limit as none.

    The thread of a request that is given up ends with the process.

    Raises:
        TimeoutError: it takes longer; and what ``send`` raises.
    """
    future: Future[bytes] = Future()

    def run() -> None:
        try:
            future.set_result(send())
        except BaseException as error:  # noqa: BLE001  raised again in the thread that waits
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future.result(seconds)


def _send(request: urllib.request.Request, limit: float) -> bytes:
    """Send a request and read its answer, no further than :data:`LONGEST`.

    Raises:
        http.client.IncompleteRead: it is shorter than it says; OverflowError: it is longer. And
        what ``urlopen`` has.
    """
    with OPENER.open(request, timeout=limit) as reply:
        data: bytes = reply.read(LONGEST + 1)
        if len(data) > LONGEST:
            raise OverflowError
        if reply.length:
            raise http.client.IncompleteRead(b"", reply.length)
    return data


def _post(settings: Mapping[str, Any], headers: Mapping[str, str], row: Mapping[str, Any]) -> Any:
    """Return the decoded answer about one text; tried again where that may help."""
    address, limit = settings["address"], settings["timeout"]
    body = json.dumps(row).encode()
    for attempt in range(settings["restarts"] + 1):
        if attempt:
            time.sleep(PAUSE * 2 ** (attempt - 1))
        try:
            request = urllib.request.Request(address, body, dict(headers))
            data = _within(limit, functools.partial(_send, request, limit))
            break
        except urllib.error.HTTPError as error:
            problem = f"answers with status {error.code}"
            if 300 <= error.code < 400:
                target = str(error.headers.get("location", "nowhere")).partition("?")[0]
                problem = f"redirects to {target}; expected that as its 'address', if you trust it,"
            if error.code not in AGAIN:
                attempt = settings["restarts"]
        except TimeoutError:
            problem = f"gives no answer within {limit:g} s"
        except OSError as error:
            problem = f"cannot be reached ({getattr(error, 'reason', error)})"
        except http.client.HTTPException as error:
            problem = f"answers with no HTTP ({type(error).__name__})"
        except OverflowError:
            problem = f"answers with more than {LONGEST >> 20} MB"
            attempt = settings["restarts"]
        except ValueError as error:  # a header or an address, its own or one that it refers to, that HTTP cannot send
            problem = f"cannot be reached ({error})"
            attempt = settings["restarts"]
        problem = _clean(problem, headers)
        logger.warning("%s %s", address, problem)
        if attempt == settings["restarts"]:
            raise UserError(f"{address} {problem} at the sentence {row['id']!r}")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        said = _clean(data.decode("utf-8", "replace"), headers)[:200]
        raise UserError(
            f"{address} answers with no JSON: {shown(said)} at the sentence {row['id']!r}"
        ) from error


KIND = SystemKind(
    name="address",
    label="service",
    order=5,
    answer=answer,
    options=("timeout", "restarts", "relations", "headers", "concurrency", "files"),
    problems=problems,
    network=True,
    takes_schema=True,
)
