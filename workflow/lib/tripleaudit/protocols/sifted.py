"""Overlap-sifted training sets (rte-generalization 3.2): hide some test triples from training.

Two rules, because the published sets do not follow the published text (``docs/methods.md`` has the evidence):

- ``frequency``: hide every test triple that occurs in at most ``max_count`` training sentences. Nothing is random;
  2, 6 and 10 give the published WebNLG Sift-1, Sift-2 and Sift-3.
- ``sample``: hide ``percent`` % of the distinct test triples, drawn at random with ``seed``; the text has 5, 10, 15.
"""

import random
from collections import Counter
from typing import Any, Final

from tripleaudit.descriptors import ProtocolSpec
from tripleaudit.errors import UserError
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.types import Strings, distinct_triples

RULES: Final = ("frequency", "sample")
PUBLISHED: Final = {
    f"sift-{number}": {"rule": "frequency", "max_count": count} for number, count in ((1, 2), (2, 6), (3, 10))
}
"""What ``sift-1`` to ``sift-3`` mean unless options say otherwise: the sets published for WebNLG."""


def sift(
    splits: Splits,
    *,
    rule: str,
    max_count: int | None = None,
    percent: float | None = None,
    seed: int = 0,
) -> tuple[Splits, dict[str, Any]]:
    """Drop every training sentence that holds a hidden triple; all other sentences stay where they are.

    The paper selects models on the sifted test set itself (appendix A), which is why its table 6 counts 703 validation
    sentences for WebNLG; that is a choice of the training, not of these sets.

    Args:
        splits: the data set.
        rule: ``"frequency"`` (needs ``max_count``) or ``"sample"`` (needs ``percent``).
        max_count: a test triple in at most this many training sentences is hidden; whole number >= 0.
        percent: share of the distinct test triples to hide, 0 to 100; the number of triples is rounded half to even.
        seed: of the draw; ``frequency`` does not use it.

    Returns:
        The sifted splits and a report: ``chosen_triples`` of the test set, ``hidden_triples`` (those of them that
        training had) and ``dropped_train_sentences``.

    Raises:
        UserError: an unknown rule, a missing or impossible number, or no training sentence would be left.
    """
    count = Counter(triple for sentence in splits.train for triple in distinct_triples(sentence))
    chosen = _chosen_triples(splits, count, rule, max_count, percent, seed)
    train = [sentence for sentence in splits.train if chosen.isdisjoint(distinct_triples(sentence))]
    if not any(sentence.triples for sentence in train):
        raise UserError(
            f"sifted: hiding {len(chosen)} test triples leaves no training sentence with triples; "
            "expected a smaller max_count or percent"
        )
    report = {
        "chosen_triples": len(chosen),
        "hidden_triples": sum(triple in count for triple in chosen),
        "dropped_train_sentences": len(splits.train) - len(train),
    }
    return Splits(train, splits.valid, splits.test), report


def _chosen_triples(
    splits: Splits,
    count: Counter[Strings],
    rule: str,
    max_count: int | None,
    percent: float | None,
    seed: int,
) -> set[Strings]:
    # First mention order, not set order: string hashes differ from one process to the next.
    candidates = list(dict.fromkeys(triple for sentence in splits.test for triple in distinct_triples(sentence)))
    if rule == "frequency":
        if not isinstance(max_count, int) or isinstance(max_count, bool) or max_count < 0:
            raise UserError(f"sifted: rule 'frequency' needs max_count, a whole number >= 0, got {max_count!r}")
        return {triple for triple in candidates if count[triple] <= max_count}
    if rule == "sample":
        if not isinstance(percent, (int, float)) or isinstance(percent, bool) or not 0 <= percent <= 100:
            raise UserError(f"sifted: rule 'sample' needs percent, a number from 0 to 100, got {percent!r}")
        return set(random.Random(seed).sample(candidates, round(len(candidates) * percent / 100)))
    raise UserError(f"sifted: unknown rule {rule!r}, expected one of {', '.join(RULES)}")


SIFTED = ProtocolSpec(name="sifted", order=2, build=sift, pattern=r"sift-[A-Za-z0-9]+", defaults=PUBLISHED)
