"""The rearranged data set (rte-generalization 3.1): sentences of rare triples become the test side.

Two rules by name, because the published files do not follow the published text; ``docs/explanation/test-sets.md``
has what each does to WebNLG.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, Final

from tripleaudit.core.errors import UserError
from tripleaudit.protocols.spec import ProtocolSpec
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.types import Strings, distinct_triples

RULES: Final = ("key-triple", "every-triple")
PUBLISHED_MAX_COUNT: Final = 3
"""In the published WebNLG files every moved sentence has a triple that occurs in at most this
many sentences.
"""


def rearrange(
    splits: Splits,
    *,
    valid_size: int | None = None,
    test_size: int | None = None,
    rule: str = "key-triple",
    seed: int = 0,
) -> tuple[Splits, dict[str, Any]]:
    """Divide a corpus again, so that validation and test hold its rare triples.

    Sentences with zero triples stay in their set. Each set keeps corpus order. Time grows as n log
    n in the number of triples.

    Args:
        splits: the data set; its sets are joined in the order train, valid, test.
        valid_size: validation sentences with triples; default: as many as now.
        test_size: test sentences with triples; default: as many as now.
        rule: ``"key-triple"`` as the published files were made: each sentence gets one of its
            triples, drawn at random, as its key; the sentences of one key form a group; whole
            groups whose key is rare are moved in random order, the last one cut to size. A key is
            rare if at most 3 sentences of the corpus hold it as in the published files, or, where
            these do not fill the sets, the smallest number that does. ``"every-triple"`` as the
            paper's text reads: triples one by one, the rarest in the whole corpus first (of equally
            rare ones that with the sentence that holds the most triples, then corpus order), and
            with each every sentence that holds it.

    Returns:
        The new splits and a report: ``rule``; ``hidden_triples`` (distinct, absent from training);
        ``test_sentences_without_hidden_triple``; for key-triple ``max_count`` and
        ``moved_by_key_count`` (moved sentences by the number of sentences that hold their key), for
        every-triple ``largest_count`` (sentences of the most frequent triple that was taken).

    Raises:
        UserError: an unknown rule, or sizes that the corpus cannot fill.
    """
    if rule not in RULES:
        raise UserError(f"rearranged: rule is {rule!r}, expected one of {', '.join(RULES)}")
    splits = splits.with_unique_ids()
    corpus = [sentence for _, sentences in splits for sentence in sentences if sentence.triples]
    valid_size, test_size = (
        sum(bool(each.triples) for each in sentences) if size is None else size
        for sentences, size in ((splits.valid, valid_size), (splits.test, test_size))
    )
    room = valid_size + test_size
    if test_size < 1 or room >= len(corpus):
        raise UserError(
            f"rearranged: the corpus has {len(corpus)} sentences with triples, too few for {valid_size} validation and "
            f"{test_size} test sentences; expected at least {room + 1}, and one test sentence"
        )
    triples = [distinct_triples(sentence) for sentence in corpus]
    draw = random.Random(seed)
    moved, details = (
        _key_groups(triples, room, draw) if rule == "key-triple" else _rarest_first(triples, room)
    )
    gone = set(moved)
    seen = {triple for number, row in enumerate(triples) if number not in gone for triple in row}
    bare = {number for number in moved if seen.issuperset(triples[number])}
    draw.shuffle(moved)
    if rule == "every-triple":  # what hides nothing is the last to enter the test set
        moved.sort(key=bare.__contains__)
    test = set(moved[:test_size])

    report = {
        "rule": rule,
        "hidden_triples": len({triple for number in moved for triple in triples[number]} - seen),
        "test_sentences_without_hidden_triple": len(test & bare),
        **details,
    }
    parts = set(range(len(corpus))) - gone, set(moved[test_size:]), test
    return Splits(
        *(
            [corpus[number] for number in sorted(numbers)]
            + [each for each in sentences if not each.triples]
            for numbers, (_, sentences) in zip(parts, splits, strict=True)
        )
    ), report


def _key_groups(
    triples: Sequence[Sequence[Strings]], room: int, draw: random.Random
) -> tuple[list[int], dict[str, Any]]:
    """Return ``room`` sentences in groups of one key (the last partial), and rareness of keys."""
    held = Counter(triple for row in triples for triple in row)
    groups: dict[Strings, list[int]] = defaultdict(list)
    for number, row in enumerate(triples):
        groups[draw.choice(row)].append(number)
    rarity = sorted(
        held[key] for key, members in groups.items() for _ in members
    )  # of each sentence's key
    max_count = max(PUBLISHED_MAX_COUNT, rarity[room - 1])
    keys = [key for key in groups if held[key] <= max_count]
    draw.shuffle(keys)
    chosen = [(number, held[key]) for key in keys for number in groups[key]][:room]
    by_count = Counter(count for _, count in chosen)
    return [number for number, _ in chosen], {
        "max_count": max_count,
        "moved_by_key_count": {str(count): by_count[count] for count in sorted(by_count)},
    }


def _rarest_first(
    triples: Sequence[Sequence[Strings]], room: int
) -> tuple[list[int], dict[str, Any]]:
    """Return ``room`` sentences in the order of moving, and the largest count taken."""
    holders: dict[Strings, list[int]] = defaultdict(list)  # insertion order is corpus order
    for number, row in enumerate(triples):
        for triple in row:
            holders[triple].append(number)
    fullest = {
        triple: max(len(triples[number]) for number in numbers)
        for triple, numbers in holders.items()
    }
    moved: dict[int, None] = {}
    largest = 0
    for cut in (
        False,
        True,
    ):  # whole groups, then what still has room of those that were passed over
        for triple in sorted(holders, key=lambda triple: (len(holders[triple]), -fullest[triple])):
            if len(moved) == room:
                break
            left = [number for number in holders[triple] if number not in moved]
            if left and (cut or len(moved) + len(left) <= room):
                largest = max(largest, len(holders[triple]))
                moved |= dict.fromkeys(left[: room - len(moved)])
    return [*moved], {"largest_count": largest}


REARRANGED = ProtocolSpec(
    name="rearranged", label="Rearr.", order=1, build=rearrange, published=True
)
