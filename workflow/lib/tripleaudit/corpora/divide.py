"""Reproducible division of a corpus into training, validation and test sets.

Also zero-triple sentences of a raw corpus for a prepared data set (zero-cardinality 4, table 2):
the prepared NYT24 and NYT29 hold sentences with triples only; NYT24* and NYT29* add sentences that
the raw NYT11 and NYT10 training corpora list without any relation.
"""

import bisect
import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TypeVar

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.corpus import RawSentence
from tripleaudit.corpora.model import Sentence

S = TypeVar("S", Sentence, RawSentence)


def split_corpus(
    sentences: Sequence[S], parts: Mapping[str, float], seed: int = 0
) -> dict[str, list[S]]:
    """Divide sentences randomly by weights such as ``{"train": 8, "valid": 1, "test": 1}``.

    Sentences with the same text always share a part, so that no text is both trained and tested on;
    those with and without triples are each divided in these proportions. Each part keeps the
    corpus's order.

    Raises:
        UserError: a weight is not positive, or a part would be empty.
    """
    if not parts or any(not weight > 0 for weight in parts.values()):
        raise UserError(f"split: the weights {dict(parts)} are not all positive")
    has_triples = {
        sentence.text: bool(sentence.triples) for sentence in reversed(sentences)
    }  # where it comes first
    counts = Counter(sentence.text for sentence in sentences)
    part_of: dict[str, str] = {}
    for stratum in (True, False):
        texts = [text for text in counts if has_triples[text] is stratum]
        # a hash orders the texts, so that the result depends neither on Python's generator nor on
        # the corpus's order
        order = sorted(texts, key=lambda text: hashlib.sha256(f"{seed}\0{text}".encode()).digest())
        part_of.update(zip(order, _fill([counts[text] for text in order], parts), strict=True))
    result = {
        name: [sentence for sentence in sentences if part_of[sentence.text] == name]
        for name in parts
    }
    for name, members in result.items():
        if not members:
            raise UserError(f"split: part {name!r} of {len(sentences)} sentences would be empty")
    return result


def split_like(
    sentences: Sequence[S], examples: Mapping[str, Sequence[S]], seed: int = 0
) -> dict[str, list[S]]:
    """Divide a corpus like another version of it: sentences with the same ids go to the same parts.

    Sentences whose id is in no example, such as those without triples, are divided at random in the
    proportions of the examples' sizes.

    Raises:
        UserError: an id of an example is not in the corpus, or is in two examples.
    """
    part_of: dict[str, str] = {}
    for name, members in examples.items():
        for sentence in members:
            if part_of.setdefault(sentence.id, name) != name:
                raise UserError(
                    f"split: the sentence id {sentence.id!r} is in {part_of[sentence.id]!r} and {name!r}"
                )
    missing = set(part_of) - {sentence.id for sentence in sentences}
    if missing:
        raise UserError(
            f"split: {len(missing)} sentence ids of the example are not in the corpus, as {min(missing)!r}"
        )
    rest = [sentence for sentence in sentences if sentence.id not in part_of]
    if rest:
        weights = {name: float(len(members)) for name, members in examples.items()}
        for name, members in split_corpus(rest, weights, seed).items():
            part_of.update((sentence.id, name) for sentence in members)
    return {name: [s for s in sentences if part_of[s.id] == name] for name in examples}


def _fill(sizes: Sequence[int], parts: Mapping[str, float]) -> list[str]:
    """Assign groups of sentences to parts in order, so that parts end where their share ends."""
    total, weight = sum(sizes), sum(parts.values())
    names, ends = (
        list(parts),
        [round(total * share / weight) for share in accumulate(parts.values(), initial=0.0)][1:],
    )
    return [
        names[bisect.bisect(ends[:-1], last - size)]
        for size, last in zip(sizes, accumulate(sizes), strict=True)
    ]


def text_key(text: str) -> str:
    """Return the key by which sentences are equal: without blanks, case and enclosing quotes."""
    return " ".join(text.split()).strip("\" '").casefold()


def find_zero(positive: Iterable[str], raw: Iterable[S]) -> list[S]:
    """Return the sentences of a raw corpus that never have triples, each text once.

    Texts of ``positive`` have triples in the prepared data set; a raw sentence may occur with
    triples and without.
    """
    taken = {text_key(text) for text in positive}
    candidates: dict[str, S] = {}
    for sentence in raw:
        key = text_key(sentence.text)
        if sentence.triples:
            taken.add(key)
        else:
            candidates.setdefault(key, sentence)
    return [sentence for key, sentence in candidates.items() if key not in taken]


def deal(sentences: Sequence[S], sizes: Mapping[str, int], seed: int) -> dict[str, list[S]]:
    """Shuffle by ``seed``, fill the sets from last to first size, and restore their order."""
    order = list(range(len(sentences)))
    random.Random(seed).shuffle(order)
    chosen, at = {}, 0
    for name, size in reversed(list(sizes.items())):
        chosen[name] = [sentences[number] for number in sorted(order[at : at + size])]
        at += size
    return chosen


def fitting_sizes(found: int, sizes: Mapping[str, int], least: float, where: str) -> dict[str, int]:
    """Return ``sizes``, or if fewer sentences are there, all of them in the same proportions.

    Raises:
        UserError: less than the share ``least`` of the sizes' sum is there; ``where`` begins the
            message.
    """
    wanted = sum(sizes.values())
    if found >= wanted:
        return dict(sizes)
    if found < least * wanted:
        raise UserError(
            f"{where}: the raw corpus has {found} different sentences with zero triples, expected {wanted} as "
            f"published, or at least {least:.0%} of them"
        )
    fitted = {name: found * size // wanted for name, size in sizes.items()}
    fitted[next(iter(fitted))] += found - sum(fitted.values())
    return fitted
