"""A whole study of language models, killed again and again while its services fail, next to one
that was left alone.

``python -m benchmarks.bench_faults [KILLS]`` runs extraction (open, closed), judging by a model
that reasons, and MINEA with ``snakemake``. Each time it waits for a request of a stage that has not
had its share of the kills yet, lets a random moment pass and kills everything; it prints one JSON
object. It fails unless the tables are the same byte for byte, nothing that was stored was asked
again, and the ledger agrees with the services' books.
"""

import contextlib
import hashlib
import json
import math
import random
import re
import select
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.fake_endpoint import (  # noqa: E402
    FakeEndpoint,
    Fault,
    Reply,
    Rules,
    cut,
    drop,
    hang,
    malformed,
    status,
)
from support.killing import Running, unlock  # noqa: E402
from support.needle_model import make_document  # noqa: E402
from tripleaudit.corpora.model import Sentence, Span, Triple  # noqa: E402
from tripleaudit.corpora.store import save_sentences  # noqa: E402
from tripleaudit.llm.store import Store  # noqa: E402

SEED, KILLS, LEAST_KILLS, CONCURRENCY, TEXTS = 20261122, 20, 17, 3, 40
STAGES = (
    "needles",
    "identification",
    "extraction",
    "judgement",
)  # what is asked, in the order of the jobs
FAULTS = (
    status(429, retry_after=0.05), status(500), status(503), status(408), drop(), cut(), malformed(), hang(8.0),
)  # fmt: skip
SHARE = 0.3  # of the requests that meet one
PRICES = {
    "plain": {"input": 3.0, "output": 7.0},
    "thinker": {"input": 1.0, "output": 9.0},
}
RESULTS = (
    "tables/*.*",
    "gre/scores.csv",
    "needles/scores.csv",
    "generative/**/predictions.jsonl",
    "plots/*.svg",
)


def stage_of(body: dict[str, Any]) -> str:
    """Tell what is being asked."""
    texts = [message["content"] for message in body["messages"]]
    if "These records were extracted" in texts[-1]:
        return "identification"
    if body["model"] == "thinker":
        return "judgement"
    return "extraction" if any("Passage: " in text for text in texts) else "needles"


def answer(body: dict[str, Any]) -> str | Reply:
    """What a model says depends on nothing but the question; a tenth each is cut off, refused,
    filtered, unreadable.
    """
    text, stage = body["messages"][-1]["content"], stage_of(body)
    digest = hashlib.sha256(json.dumps(body["messages"]).encode()).digest()[0]
    if stage == "identification":
        return json.dumps({"match": None if digest % 4 == 0 else 1})
    if stage == "needles":
        names = dict.fromkeys(re.findall(r"[A-Z][a-z]+ [A-Z][a-z]+", text))
        return json.dumps(
            {"entities": [{"type": "Person", "name": name} for name in [*names][: 8 + digest % 4]]}
        )
    if body["model"] == "thinker":
        return (
            ("true" if digest % 3 else "false")
            if "Claim" in text
            else '{"parts": [["a", "is", "b"]]}'
        )
    if "Subject: " in text:
        return "leader of" if digest % 4 else "no idea at all"
    words = text.rsplit("Passage: ", 1)[-1].split()
    triples = json.dumps(
        {"triples": [[words[0], "leads", words[-1]], [words[-1], "employs", words[0]]]}
    )
    kinds = {
        0: Reply(triples[:-20], "length"),
        1: Reply(None, refusal="no"),
        2: Reply("", "content_filter"),
    }
    return kinds.get(digest % 10, "what?" if digest % 10 == 3 else triples)


class Payment(NamedTuple):
    """One answer in a service's books; ``asked`` if its client still waited for it when it was
    ready.
    """

    model: str
    question: str
    reason: str
    money: float
    asked: bool


def identity(sent: dict[str, Any], messages: Any = None) -> str:
    """What a service sees of a request; equal ones may be several draws."""
    shown = sent["messages"] if messages is None else messages
    return json.dumps(
        [sent["model"], shown, sent.get("seed"), sent.get("temperature")], sort_keys=True
    )


class Service(FakeEndpoint):
    """A service that keeps its books request by request."""

    def __init__(self, model: str, faulty: bool, **options: Any) -> None:
        super().__init__(answer, faults=self._fault if faulty else (), latency=0.15, **options)
        self.model, self.faulty = model, faulty
        self.seen: Counter = Counter()  # requests by stage
        self.paid: list[Payment] = []
        self._here = threading.local()
        self._draw = random.Random(SEED)

    def _fault(self, number: int, body: dict[str, Any]) -> Fault | None:
        with self.lock:
            return self._draw.choice(FAULTS) if self._draw.random() < SHARE else None

    def _answer(self, handler: Any, number: int, body: dict[str, Any]) -> None:
        self._here.connection = handler.connection
        super()._answer(handler, number, body)

    def _work(self, handler: Any, body: dict[str, Any]) -> None:
        with self.lock:
            self.seen[stage_of(body)] += 1
        super()._work(handler, body)

    def _completion(self, position: int, body: dict[str, Any]) -> dict[str, Any]:
        payload = super()._completion(position, body)
        usage, price = payload["usage"], PRICES[self.model]
        money = (
            usage["prompt_tokens"] * price["input"] + usage["completion_tokens"] * price["output"]
        )
        ready, _, _ = select.select(
            [self._here.connection], [], [], 0
        )  # readable: the client has hung up
        money /= 1e6
        paid = Payment(
            self.model, identity(body), payload["choices"][0]["finish_reason"], money, not ready
        )
        with self.lock:
            self.paid.append(paid)
        return payload


def study(folder: Path, services: list[Service]) -> Path:
    """Write a study with every stage that asks a language model."""
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "report.txt").write_text(make_document(120).text, encoding="utf-8")
    sentences = []
    for number in range(TEXTS):
        text, cut_at = f"Person{number} leads Company{number}.", len(f"Person{number}")
        ends = (
            Span(0, cut_at, text[:cut_at]),
            Span(cut_at + 7, len(text) - 1, text[cut_at + 7 : -1]),
        )
        sentences.append(Sentence(str(number), text, (Triple(ends[0], "leaderOf", ends[1]),)))
    for name in ("train", "test"):
        save_sentences(folder / f"{name}.jsonl", sentences)
    common = {"concurrency": CONCURRENCY, "timeout": 5, "max_retries": 25}
    config = {
        "study": "faults",
        "corpora": {"mine": {"files": {"train": "train.jsonl", "test": "test.jsonl"}, "format": "jsonl"}},
        "generative": {
            "budget": 100,
            "endpoints": {
                one.model: {
                    "base_url": one.url,
                    "model": one.model,
                    "prices": PRICES[one.model],
                    "context": 60000,
                    **common,
                }
                for one in services
            },
            "datasets": {"few": {"corpus": "mine", "verbalise": {"leaderOf": "leader of"}}},
            "systems": {
                "open": {"endpoint": "plain"},
                "closed": {"endpoint": "plain", "setting": "closed"},
            },
        },
        "grescores": {
            "embedder": None,
            "bootstrap": 20,
            "judge": {"endpoint": "thinker"},
            "datasets": {"few": {"level": "sentence", "generative": "few", "extractors": False}},
        },
        "needles": {
            "documents": ["notes"], "models": ["plain"], "judge": "thinker", "schema": "demo", "per_type": 6,
            "parts": 2, "iterations": 1, "piece_chars": 3000, "reserve": 300,
        },
    }  # fmt: skip
    (folder / "study.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """All results that must not depend on what happened on the way."""
    base = folder / "results" / "faults"
    return {
        str(path.relative_to(base)): path.read_bytes()
        for pattern in RESULTS
        for path in sorted(base.glob(pattern))
        if path.is_file()
    }


def stored(folder: Path) -> list[tuple[str, float]]:
    """What a service saw of the requests whose answers lie in the cache, and what they cost."""
    found = []
    store = Store(folder / "results" / "cache" / "llm")
    for key in store.answer_keys():
        record = store.answer(key)
        found.append(
            (identity(record["sent"], record["request"]["messages"]), record["answer"]["cost"])
        )
    return found


class Kills(NamedTuple):
    """Where the kills hit, questions asked again although their answer was stored, and those in
    flight by kill.
    """

    at: Counter
    again: list[str]
    in_flight: list[Counter]


def kill_again_and_again(folder: Path, services: list[Service], kills: int) -> Kills:
    """Run the study and kill it while it sends, in each stage equally often as far as its work
    goes.
    """
    draw, found = random.Random(SEED), Kills(Counter(), [], [])
    while found.at.total() < kills:
        kept = Counter(question for question, _ in stored(folder))
        before = [len(service.requests) for service in services]
        seen = sum((service.seen for service in services), Counter())
        few = {stage for stage in STAGES if found.at[stage] < math.ceil(kills / len(STAGES))}
        run = Running(folder)

        def sending(seen: Counter = seen, few: set[str] = few) -> bool:
            return bool(few & {*(sum((service.seen for service in services), Counter()) - seen)})

        if run.wait_until(sending):
            time.sleep(draw.uniform(0, 0.4))
        now = sum((service.seen for service in services), Counter()) - seen
        place = run.kill()
        if not place:  # there is no more work to be killed at
            assert run.process.returncode == 0 and found.at.total() >= LEAST_KILLS, (
                f"{found.at}: {run.text[-2000:]}"
            )
            break
        stage = next(stage for stage in STAGES if stage in few & {*now})
        found.at[stage] += 1
        asked = {
            identity(body)
            for service, count in zip(services, before, strict=True)
            for body in service.requests[count:]
            if service.rules is None
            or service.rules.problem(body) is None  # what it rejects is not worked on
        }
        found.again.extend(asked & {*kept})
        found.in_flight.append(Counter(asked) - Counter(question for question, _ in stored(folder)))
        unlock(folder)
        said = f"kill {found.at.total()}: {stage} in {place}; {kept.total()} answers stored"
        print(said, file=sys.stderr, flush=True)
    return found


def extra(paid: list[Payment], surplus: Counter) -> float:
    """Return the money of what was paid again; equal questions cost the same."""
    money = {one.question: one.money for one in paid}
    return sum(count * money[question] for question, count in surplus.items())


def main(kills: int = KILLS) -> int:
    """Print what happened; 1 if something does not hold."""
    options: dict[str, dict[str, Any]] = {"plain": {}, "thinker": {"rules": Rules(reasoning=30)}}
    with tempfile.TemporaryDirectory() as work:
        with contextlib.ExitStack() as stack:
            services = [
                stack.enter_context(Service(name, False, **own)) for name, own in options.items()
            ]
            calm = study(Path(work) / "calm", services)
            run = Running(calm)
            assert run.wait(900) == 0, run.text[-4000:]
        with contextlib.ExitStack() as stack:
            services = [
                stack.enter_context(Service(name, True, **own)) for name, own in options.items()
            ]
            folder = study(Path(work) / "killed", services)
            found = kill_again_and_again(folder, services, kills)
            run = Running(folder)
            assert run.wait(900) == 0, run.text[-4000:]
        paid = [payment for service in services for payment in service.paid]
        kept = stored(folder)
        store = Store(folder / "results" / "cache" / "llm", "faults")
        books, spent, committed = sum(one.money for one in paid), store.spent(), store.committed()
        ours, theirs = contents(folder), contents(calm)
        differ = sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name))
    surplus = Counter(one.question for one in paid) - Counter(question for question, _ in kept)
    surplus -= Counter(
        [one.question for one in paid if one.model == "thinker"][:1]
    )  # learns that the model reasons
    in_flight = sum(found.in_flight, Counter())
    reasons = {one.question: one.reason for one in paid}
    held = {
        "kills in every stage": {*found.at} == {*STAGES},
        "results are the same": not differ and len(ours) > 5,
        "no stored answer is asked for again": not found.again,
        "paid again is only what was in flight when a kill came": not surplus - in_flight,
        "no more was in flight than allowed": max(each.total() for each in found.in_flight)
        <= CONCURRENCY,
        "ledger = books of the stored answers": math.isclose(
            spent, sum(cost for _, cost in kept), abs_tol=1e-12
        ),
        "books - what was paid again = ledger": math.isclose(
            books - extra(paid, surplus), spent, abs_tol=1e-12
        ),
        "books lie within what is committed": books <= committed + 1e-12,
    }
    said = {
        "kills": dict(found.at), "requests": sum(service.count for service in services),
        "answers_stored": len(kept),
        "finish_reasons_of_the_stored": dict(Counter(reasons[question] for question, _ in kept)),
        "in_flight_when_killed": in_flight.total(),
        "most_at_one_kill": max(each.total() for each in found.in_flight), "of_these_paid_twice": surplus.total(),
        "of_these_nobody_waited_any_more": sum(not one.asked for one in paid), "stored_asked_again": len(found.again),
        "books": books, "ledger": spent, "committed": committed, "files_compared": len(ours), "differ": differ,
        "held": held,
    }  # fmt: skip
    print(json.dumps(said, indent=2))
    return 0 if all(held.values()) else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
