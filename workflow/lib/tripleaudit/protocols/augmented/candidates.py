"""Similar entities for every entity of a test sentence (rte-generalization, appendix C).

A single word that the masked language model has as one piece is masked and filled by the model; a
single word of several pieces is replaced by its nearest words in a vector space; the words of a
longer entity are masked and filled one after the other, left to right, each in sight of those
before it. All words of all entities of the sentence are masked at the same time, one mask a word,
so that the candidates of an entity do not depend on the other entities.
"""

import itertools
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

from tripleaudit.core.progress import watched
from tripleaudit.corpora.model import Sentence
from tripleaudit.protocols.augmented.masked_lm import MaskedLanguageModel, Ranked
from tripleaudit.protocols.augmented.vectors import NearestWords
from tripleaudit.protocols.substitution import (
    Entity,
    Layout,
    Offsets,
    Words,
    like,
    replace_at,
    replaceable,
    same,
)

log = logging.getLogger(__name__)

VECTORS: Final = "vectors"
"""The way of candidates that are nearest words in the vector space."""


class Found(NamedTuple):
    """The similar entities of one entity, best first, and the way in which they were found."""

    way: str
    words: Sequence[Words] = ()


@dataclass(slots=True)
class _Search:
    """The unfinished candidates of one entity: words so far, the sum of their log-probabilities."""

    sentence: int
    entity: Entity
    open: list[int]  # numbers of the words still to be filled, left to right
    beam: list[tuple[float, Words]]
    others: dict[Offsets, str] = field(
        default_factory=dict
    )  # masks of the sentence's other entities


def find_candidates(
    sentences: Sequence[Sentence],
    layouts: Sequence[Layout],
    model: MaskedLanguageModel,
    nearest: NearestWords,
    *,
    k: int,
    beams: int,
) -> list[dict[str, Found]]:
    """Return for each sentence what was found for its entities; none for a sentence that stays.

    Args:
        k: candidates of an entity.
        beams: partial candidates of an entity of several words that are kept after each word but
            the last.

    Returns:
        By entity string, found by way of ``masked_word``, ``vectors``, ``masked_words`` or
        ``no_words`` (nothing to replace).
    """
    found: list[dict[str, Found]] = [{} for _ in sentences]
    searches: list[_Search] = []
    near = cache(lambda word: nearest.nearest(word, k))
    for number, layout in enumerate(watched(layouts, "looking for words", "sentences")):
        if layout.stays:
            continue
        masks = {
            slot: model.mask_token
            for entity in layout.entities.values()
            for mention in entity.mentions
            for slot, word in zip(entity.slots(mention), entity.words, strict=True)
            if replaceable(word)
        }
        for text, entity in layout.entities.items():
            open_words = [
                position for position, word in enumerate(entity.words) if replaceable(word)
            ]
            if not open_words:
                found[number][text] = Found("no_words")
            elif len(entity.words) == 1 and not model.is_single_piece(text):
                found[number][text] = Found(VECTORS, [(word,) for word in near(text)])
            else:
                searches.append(_Search(number, entity, open_words, [(0.0, entity.words)], masks))
    while searches:
        log.info(
            "%d entities have words to fill, at most %d each",
            len(searches),
            max(len(s.open) for s in searches),
        )
        _extend(searches, sentences, model, k=k, beams=beams)
        for search in searches:
            if not search.open:
                way = "masked_words" if len(search.entity.words) > 1 else "masked_word"
                found[search.sentence][search.entity.text] = Found(
                    way, [words for _, words in search.beam]
                )
        searches = [search for search in searches if search.open]
    return found


def _extend(
    searches: Sequence[_Search],
    sentences: Sequence[Sentence],
    model: MaskedLanguageModel,
    *,
    k: int,
    beams: int,
) -> None:
    """Fill the next word of every search, all in one pass of the model."""
    wanted = [
        [
            _masked(sentences[search.sentence].text, search, words, model.mask_token)
            for _, words in search.beam
        ]
        for search in searches
    ]
    queries: defaultdict[str, set[int]] = defaultdict(set)
    for text, number in itertools.chain(*wanted):
        queries[text].add(number)
    # Two more than needed: the word itself is dropped, in small letters and capitals.
    answers = model.fill({text: sorted(numbers) for text, numbers in queries.items()}, k + 2)
    for search, keys in zip(searches, wanted, strict=True):
        position = search.open.pop(0)
        width = beams if search.open else k
        grown = [
            (score + more, (*words[:position], word, *words[position + 1 :]))
            for (score, words), key in zip(search.beam, keys, strict=True)
            for word, more in _spelled(
                answers.get(key, []), search.entity.words[position], model.cased
            )
        ]
        search.beam = sorted(grown, key=lambda item: -item[0])[
            :width
        ]  # stable: ties keep the order of the beam
        if not search.beam:
            search.open.clear()


def _masked(text: str, search: _Search, words: Words, mask: str) -> tuple[str, int]:
    """Return the sentence with masks for the open words, and the next one's mask number."""
    slots = dict(search.others)
    for mention in search.entity.mentions:
        for position, slot in enumerate(search.entity.slots(mention)):
            if replaceable(search.entity.words[position]):
                slots[slot] = mask if position in search.open else words[position]
    target = search.entity.slots(search.entity.mentions[0])[search.open[0]]
    masked, shift = replace_at(text, slots)
    return masked, masked[: shift(target[0])].count(mask)  # a text may quote the mask token itself


def _spelled(ranked: Ranked, original: str, cased: bool) -> Ranked:
    """Give words of an uncased model the case of the replaced word; drop that word itself."""
    spelled: dict[str, float] = {}
    for word, score in ranked:
        if not same(word, original):
            spelled.setdefault(word if cased else like(word, original), score)
    return list(spelled.items())
