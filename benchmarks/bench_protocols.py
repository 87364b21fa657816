"""Time of rearranging and sifting a synthetic corpus of 100,000 sentences, on one core.

Facts follow a Zipfian distribution, as in the benchmarks: a few are in thousands of sentences, most
in one or two. ``python -m benchmarks.bench_protocols`` prints one JSON object and fails above a
minute.
"""

import json
import random
import sys
import time
from collections.abc import Callable

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.protocols.rearranged import rearrange
from tripleaudit.protocols.sifted import sift
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.strata import audit_corpus

SENTENCES, FACTS, LIMIT = 100_000, 60_000, 60.0


def synthetic_corpus(sentences: int = SENTENCES, facts: int = FACTS, seed: int = 0) -> Splits:
    """Return splits of 85, 7.5 and 7.5 % with one to four facts a sentence, fact number n with
    weight 1/n.
    """
    draw = random.Random(seed)
    weights = [1 / number for number in range(1, facts + 1)]
    numbers = iter(draw.choices(range(facts), weights, k=4 * sentences))
    rows = []
    for number in range(sentences):
        picked = [next(numbers) for _ in range(draw.randint(1, 4))]
        words = [
            (f"subject{fact // 3}", f"relation{fact % 50}", f"object{fact // 2}") for fact in picked
        ]
        text, triples = "", []
        for subject, relation, object_ in words:
            start = len(text)
            middle = start + len(subject) + 1
            text += f"{subject} {object_} "
            triples.append(
                Triple(
                    Span(start, middle - 1, subject),
                    relation,
                    Span(middle, middle + len(object_), object_),
                )
            )
        rows.append(Sentence(str(number), text, tuple(triples)))
    cut = sentences * 85 // 100, sentences * 925 // 1000
    return Splits(rows[: cut[0]], rows[cut[0] : cut[1]], rows[cut[1] :])


def measure() -> dict[str, float]:
    """Return seconds by job."""
    splits = synthetic_corpus()
    jobs: dict[str, Callable[[], object]] = {
        "rearranged": lambda: rearrange(splits),
        "rearranged_every": lambda: rearrange(splits, rule="every-triple"),
        "sift_frequency": lambda: sift(splits, rule="frequency", max_count=6),
        "sift_sample": lambda: sift(splits, rule="sample", percent=10),
        "audit": lambda: audit_corpus(splits.train, splits.test),
    }
    seconds = {}
    for name, job in jobs.items():
        began = time.perf_counter()
        job()
        seconds[name] = round(time.perf_counter() - began, 3)
    return seconds


def main() -> int:
    """Print the measurements; 1 if rearranging and sifting together take longer than the limit."""
    seconds = measure()
    total = sum(value for name, value in seconds.items() if name != "audit")
    print(
        json.dumps(
            {"benchmark": "protocols", "sentences": SENTENCES, "seconds": seconds, "limit": LIMIT}
        )
    )
    return int(total > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
