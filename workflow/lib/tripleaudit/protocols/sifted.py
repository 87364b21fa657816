"""Overlap-sifted training sets (rte-generalization 3.2): hide some test triples from training.

Two rules, because the published sets do not follow the published text (``docs/explanation/test-sets.md`` has the
evidence):

- ``frequency``: hide every test triple that occurs in at most ``max_count`` training sentences.
  Nothing is random; 2, 6 and 10 give the published WebNLG Sift-1, Sift-2 and Sift-3.
- ``sample``: hide ``percent`` % of the distinct test triples, drawn at random with ``seed``; the
  text has 5, 10, 15.
"""

import random
from collections import Counter
from typing import Any, Final

from tripleaudit.core.errors import UserError
from tripleaudit.protocols.spec import ProtocolSpec
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.types import distinct_triples

PUBLISHED: Final = {
    f"sift-{number}": {"rule": "frequency", "max_count": count}
    for number, count in ((1, 2), (2, 6), (3, 10))
}
"""What ``sift-1`` to ``sift-3`` mean unless options say otherwise: the sets published for
WebNLG.
"""


def sift(
    splits: Splits,
    *,
    rule: str,
    max_count: int | None = None,
    percent: float | None = None,
    seed: int = 0,
) -> tuple[Splits, dict[str, Any]]:
    """Drop training sentences with a hidden triple; all others keep their order.

    The paper selects models on the sifted test set itself (appendix A), which is why its table 6
    counts 703 validation sentences for WebNLG; that is a choice of the training, not of these sets.

    Args:
        rule: ``"frequency"`` (needs ``max_count``) or ``"sample"`` (needs ``percent``).
        max_count: a test triple in at most this many training sentences is hidden.
        percent: share of the distinct test triples to hide, 0 to 100; the number of triples is
            rounded half to even.
        seed: of the draw; ``frequency`` does not use it.

    Returns:
        The sifted splits and a report: ``chosen_triples`` of the test set, ``hidden_triples``
        (those of them that training had) and ``dropped_train_sentences``.

    Raises:
        UserError: an unknown rule, a missing number, or no training sentence would be left.
    """
    needed = {"frequency": ("max_count", max_count), "sample": ("percent", percent)}
    if rule not in needed:
        raise UserError(f"sifted: unknown rule {rule!r}, expected one of {', '.join(needed)}")
    name, number = needed[rule]
    if number is None:
        raise UserError(f"sifted: rule {rule!r} needs {name}")
    count = Counter(triple for sentence in splits.train for triple in distinct_triples(sentence))
    # First mention order, not set order: string hashes differ from one process to the next.
    candidates = list(
        dict.fromkeys(triple for sentence in splits.test for triple in distinct_triples(sentence))
    )
    if rule == "frequency":
        chosen = {triple for triple in candidates if count[triple] <= number}
    else:
        chosen = set(random.Random(seed).sample(candidates, round(len(candidates) * number / 100)))
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


SIFTED = ProtocolSpec(
    name="sifted", order=2, build=sift, pattern=r"sift-[A-Za-z0-9]+", defaults=PUBLISHED
)
