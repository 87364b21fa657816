"""The rearranged data set (rte-generalization 3.1): the sentences of the rarest triples become the test side.

Triples are taken one by one, the rarest first, and every sentence that holds a taken triple leaves training. What the
paper leaves open is a parameter here; ``docs/protocols.md`` has what each choice does to WebNLG.
"""

import heapq
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, Final

from tripleaudit.corpora.model import Sentence
from tripleaudit.descriptors import ProtocolSpec
from tripleaudit.errors import UserError
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.types import Strings, distinct_triples

COUNTS: Final = ("corpus", "remaining")
TIES: Final = ("most-triples", "corpus-order")


def rearrange(
    splits: Splits,
    *,
    valid_size: int | None = None,
    test_size: int | None = None,
    counts: str = "corpus",
    ties: str = "most-triples",
    seed: int = 0,
) -> tuple[Splits, dict[str, Any]]:
    """Divide a corpus anew so that validation and test hold its rarest triples.

    A triple whose sentences no longer fit into the room that is left is passed over, so that every moved sentence
    holds a triple that training lacks. Only where nothing fits is a triple's group cut to size; its sentences then go
    to validation first. A seeded shuffle divides the moved sentences between validation and test. Sentences with zero
    triples stay in their set. Each set keeps corpus order. Time grows as n log n in the number of triples.

    Args:
        splits: the data set; its sets are joined in the order train, valid, test.
        valid_size: validation sentences with triples; default: as many as now.
        test_size: test sentences with triples; default: as many as now.
        counts: how rare a triple is: ``"corpus"`` counts its sentences in the whole corpus, once; ``"remaining"``
            counts those that have not been moved yet, anew after each move.
        ties: among equally rare triples: ``"most-triples"`` takes the one with the sentence that holds the most
            triples, then corpus order; ``"corpus-order"`` takes the one mentioned first.
        seed: of the division between validation and test.

    Returns:
        The new splits and a report: ``hidden_triples`` (distinct, absent from training), ``largest_count`` (sentences
        of the most frequent triple that was taken) and ``test_sentences_without_hidden_triple`` (0 unless the sizes
        could not be met otherwise).

    Raises:
        UserError: an unknown choice, or sizes that the corpus cannot fill.
    """
    if counts not in COUNTS:
        raise UserError(f"rearranged: counts is {counts!r}, expected one of {', '.join(COUNTS)}")
    if ties not in TIES:
        raise UserError(f"rearranged: ties is {ties!r}, expected one of {', '.join(TIES)}")
    splits = splits.with_unique_ids()
    corpus = [sentence for _, sentences in splits for sentence in sentences if sentence.triples]
    if valid_size is None:
        valid_size = sum(bool(sentence.triples) for sentence in splits.valid)
    if test_size is None:
        test_size = sum(bool(sentence.triples) for sentence in splits.test)
    room = _checked_room(len(corpus), valid_size, test_size)

    triples = [distinct_triples(sentence) for sentence in corpus]
    moved, largest = _rarest_first(triples, room, counts, ties)
    gone = set(moved)
    seen = {triple for number, row in enumerate(triples) if number not in gone for triple in row}
    bare = [number for number in moved if seen.issuperset(triples[number])]
    test, valid = _divide(moved, set(bare), test_size, seed)

    def positives(numbers: set[int]) -> list[Sentence]:
        return [sentence for number, sentence in enumerate(corpus) if number in numbers]

    zero = {name: [sentence for sentence in sentences if not sentence.triples] for name, sentences in splits}
    report = {
        "hidden_triples": len({triple for number in moved for triple in triples[number]} - seen),
        "largest_count": largest,
        "test_sentences_without_hidden_triple": len(test.intersection(bare)),
    }
    rest = set(range(len(corpus))) - gone
    return Splits(
        positives(rest) + zero["train"], positives(valid) + zero["valid"], positives(test) + zero["test"]
    ), report


def _checked_room(available: int, valid_size: int, test_size: int) -> int:
    for name, size, least in (("valid_size", valid_size, 0), ("test_size", test_size, 1)):
        if size < least:
            raise UserError(f"rearranged: {name} is {size}, expected a whole number >= {least}")
    room = valid_size + test_size
    if room >= available:
        raise UserError(
            f"rearranged: the corpus has {available} sentences with triples, too few for {valid_size} validation and "
            f"{test_size} test sentences; expected at least {room + 1}"
        )
    return room


def _rarest_first(triples: Sequence[Sequence[Strings]], room: int, counts: str, ties: str) -> tuple[list[int], int]:
    """Return the numbers of ``room`` sentences in the order in which they were moved, and the largest count taken."""
    holders: dict[Strings, list[int]] = defaultdict(list)  # insertion order is corpus order
    for number, row in enumerate(triples):
        for triple in row:
            holders[triple].append(number)
    names = list(holders)
    rank = {triple: number for number, triple in enumerate(names)}
    fullest = {triple: max(len(triples[number]) for number in holders[triple]) for triple in names}
    left = {triple: len(numbers) for triple, numbers in holders.items()}

    def entry(triple: Strings, count: int) -> tuple[int, int, int]:
        return count, -fullest[triple] if ties == "most-triples" else 0, rank[triple]

    queue = [entry(triple, count) for triple, count in left.items()]
    heapq.heapify(queue)
    moved: list[int] = []
    gone: set[int] = set()
    passed_over: list[Strings] = []
    largest = 0
    while queue and len(moved) < room:
        count, _, place = heapq.heappop(queue)
        triple = names[place]
        if left[triple] == 0 or (counts == "remaining" and count != left[triple]):
            continue  # nothing left to move, or an entry that a newer one replaces
        if len(moved) + left[triple] > room:
            # Moves shrink the room at least as fast as this triple's rest, so it can never fit later.
            passed_over.append(triple)
            continue
        largest = max(largest, len(holders[triple]))
        touched: Counter[Strings] = Counter()
        for number in holders[triple]:
            if number not in gone:
                gone.add(number)
                moved.append(number)
                touched.update(triples[number])
        for other, times in touched.items():
            left[other] -= times
            if counts == "remaining" and left[other]:
                heapq.heappush(queue, entry(other, left[other]))
    for triple in passed_over:
        if len(moved) == room:
            break
        largest = max(largest, len(holders[triple]))
        rest = [number for number in holders[triple] if number not in gone][: room - len(moved)]
        moved += rest
        gone.update(rest)
    return moved, largest


def _divide(moved: Sequence[int], bare: set[int], test_size: int, seed: int) -> tuple[set[int], set[int]]:
    """Return (test, validation); sentences without a hidden triple are the last to enter the test set."""
    order = list(moved)
    random.Random(seed).shuffle(order)
    order.sort(key=lambda number: number in bare)
    return set(order[:test_size]), set(order[test_size:])


REARRANGED = ProtocolSpec(name="rearranged", label="Rearr.", order=1, build=rearrange)
