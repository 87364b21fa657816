"""Requests as batches (``/files`` and ``/batches`` of the OpenAI protocol): cheaper, answered within a day.

What is sent as a batch is recorded next to the cache before it is sent, under a token that the service keeps with the
batch. So a run that was killed finds its batch again, whenever that happened, and waits for it instead of paying twice;
so does another job that wants the same answers. What a batch does not answer (it expired, a request failed) is left to
be sent singly.
"""

import asyncio
import json
import logging
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from tripleaudit.files import write_json
from tripleaudit.llm.endpoint import Endpoint, Request, canonical_key, tokens_at_most, usage_of
from tripleaudit.llm.slots import POLL
from tripleaudit.llm.transport import EndpointError, NoBatches, Transport, failed, tidy
from tripleaudit.machine.locks import try_lock

if TYPE_CHECKING:
    from tripleaudit.llm.sending import Sender

log = logging.getLogger(__name__)
MOST_REQUESTS, MOST_BYTES = 50_000, 150_000_000  # of one batch; services take 50,000 requests and 200 MB
ENDED = ("completed", "failed", "expired", "cancelled")


async def send(sender: "Sender", transport: Transport, requests: Mapping[str, Request]) -> None:
    """Have requests answered by batches, stored and entered in the ledger; what is not stored then is left over.

    Raises:
        BudgetExceeded: the budget does not allow the next request.
        EndpointError: the service turns us away, or does not answer after all attempts.
    """
    folder = sender.cache.folder / "batches"
    folder.mkdir(parents=True, exist_ok=True)
    tried: set[str] = set()
    while missing := [key for key in requests if key not in tried and sender.lookup(requests[key]) is None]:
        paths = _with(missing, folder, sender.endpoint)
        if not paths:
            if sender.ledger:  # waits for other jobs' reservations, or says that the money is spent
                await sender._reserve(sender.ledger, missing[0], _amount(sender, requests[missing[0]]), recorded=True)
            with FileLock(folder / ".lock"):
                paths = _with(missing, folder, sender.endpoint)
                paths = paths or [_record(sender, folder, {key: requests[key] for key in missing})]
        for path in paths:
            tried |= await _collect(sender, transport, path)


def _with(keys: list[str], folder: Path, endpoint: Endpoint) -> list[Path]:
    """Return the records of batches that hold some of these requests."""
    found = {path: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    own = {path: record["requests"] for path, record in found.items() if record["endpoint"] == _name(endpoint)}
    return [path for path, requests in own.items() if {*keys} & {*requests}]


def _record(sender: "Sender", folder: Path, requests: Mapping[str, Request]) -> Path:
    """Write down what is to be sent, as much as fits into a batch and into the budget."""
    chosen: dict[str, Any] = {}
    size = 0
    for key, request in requests.items():
        body = sender.known.body(request, sender.endpoint)
        size += len(json.dumps(body)) + 200
        if chosen and (len(chosen) == MOST_REQUESTS or size > MOST_BYTES):
            break
        if sender.ledger and not sender.ledger.reserve(key, _amount(sender, request), recorded=True):
            break
        chosen[key] = {"request": sender._canonical(request), "body": body}
    token = uuid.uuid4().hex
    path = folder / f"{token}.json"
    write_json(path, {"token": token, "endpoint": _name(sender.endpoint), "id": None, "requests": chosen})
    return path


async def _collect(sender: "Sender", transport: Transport, path: Path) -> set[str]:
    """Wait for the batch of a record, send it where that did not happen, store its answers; return its keys."""
    while (lock := try_lock(path.with_suffix(".lock"))) is None:  # another job waits for it
        await asyncio.sleep(POLL)
    try:
        if not path.exists():
            return set()
        record = json.loads(path.read_text(encoding="utf-8"))
        keys = set(record["requests"])
        try:
            if record["id"] is None:
                record["id"] = await _submit(transport, record)
                write_json(path, record)
            batch = await _wait(transport, record["id"])
        except NoBatches as problem:
            log.warning("endpoint '%s': no batch (%s); requests are sent singly", sender.endpoint.name, problem)
            _enter(sender, record, {})
        else:
            rows: dict[str, Any] = {}
            for kind in ("output_file_id", "error_file_id"):
                if batch.get(kind):
                    text = await transport.batch_call("reading a batch", f"/files/{batch[kind]}/content", text=True)
                    found = (json.loads(line) for line in text.splitlines() if line.strip())
                    rows |= {row["custom_id"]: row for row in found}
            if batch["status"] != "completed":
                said = "; ".join(str(row.get("message")) for row in (batch.get("errors") or {}).get("data") or [])
                log.warning(
                    "endpoint '%s': batch %s %s%s; %d of its %d requests have no answer and are sent singly, at the "
                    "full price",
                    *(sender.endpoint.name, batch["id"], batch["status"], f" ({said})" if said else ""),
                    *(len(keys - set(rows)), len(keys)),
                )
            _enter(sender, record, rows)
        path.unlink()
        return keys
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise EndpointError(
            f"endpoint '{sender.endpoint.name}': what it says of a batch cannot be read ({type(error).__name__}); "
            f"run again, or delete {path} to send its requests singly"
        ) from error
    finally:
        path.with_suffix(".lock").unlink(missing_ok=True)
        lock.release()


async def _submit(transport: Transport, record: Mapping[str, Any]) -> str:
    """Return the id of the record's batch: one that a killed run sent already, or a new one."""
    known = await transport.batch_call("listing batches", "/batches?limit=100")
    for batch in known.get("data") or []:
        if (batch.get("metadata") or {}).get("tripleaudit") == record["token"]:
            return batch["id"]
    rows = (
        {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": own["body"]}
        for key, own in record["requests"].items()
    )
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    file = await transport.batch_call("uploading a batch", "/files", upload=lines.encode())
    body = {"input_file_id": file["id"], "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    body |= {"metadata": {"tripleaudit": record["token"]}}
    batch = await transport.batch_call("sending a batch", "/batches", body=body)
    log.info("batch %s: %d requests", batch["id"], len(record["requests"]))
    return batch["id"]


async def _wait(transport: Transport, name: str) -> dict[str, Any]:
    pause = max(transport.endpoint.backoff, POLL)
    while True:
        batch = await transport.batch_call("waiting for a batch", f"/batches/{name}")
        if batch["status"] in ENDED:
            return batch
        await asyncio.sleep(pause)
        pause = min(2 * pause, max(transport.endpoint.max_backoff, POLL))


def _enter(sender: "Sender", record: Mapping[str, Any], rows: Mapping[str, Any]) -> None:
    """Store the answers of a batch and settle what was reserved for them; what failed costs nothing."""
    if sender.ledger:
        sender.ledger.spent()  # reads what a killed run has left
    for key, own in record["requests"].items():
        stored = sender.cache.get(key)
        if stored is not None:  # a killed run came so far
            if sender.ledger and sender.ledger.orphaned(key):
                sender.ledger.settle(key, stored["answer"]["cost"])
            continue
        response = (rows.get(key) or {}).get("response") or {}
        payload = tidy(response.get("body"), "choices") if response.get("status_code") == 200 else None
        body, prices = own["body"], sender.endpoint.prices
        most = tokens_at_most(own["request"]), body.get("max_completion_tokens") or body["max_tokens"]
        if payload is None or failed(payload["choices"][0]):
            if response.get("status_code") == 200 and sender.ledger:  # perhaps billed
                sender.ledger.lose(key, prices.batch * prices.cost(*most))
            sender._settle(key, 0.0)
            continue
        usage = usage_of(payload, body, most)
        cost = prices.of(usage) * prices.batch
        with sender.cache.room(key, 0) as room:
            sender._store(key, own["request"], own["body"], payload, usage, cost, room)
        sender._settle(key, cost)
        sender._count(usage, cost, 1)


def _amount(sender: "Sender", request: Request) -> float:
    """The most that a request can cost in a batch."""
    body = sender.known.body(request, sender.endpoint)
    prices = sender.endpoint.prices
    return prices.batch * prices.cost(tokens_at_most(sender._canonical(request)), body[sender.known.token_field])


def _name(endpoint: Endpoint) -> str:
    return canonical_key([endpoint.base_url, endpoint.model])
