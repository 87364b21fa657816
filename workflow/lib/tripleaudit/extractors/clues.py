"""Clue words of a zero-cardinality classifier: the word of a sentence that its decision depends on most.

"90% F1 Score in Relational Triple Extraction: Is it Real?" (section 3, table 1) takes it that words such as "born" show
that a sentence has a triple, without its entities. Here each word is masked in turn (occlusion).
"""

import math
import re
from collections.abc import Sequence

from tripleaudit.extractors.base import Extractor
from tripleaudit.scoring.gate import THRESHOLD

MOST = 500  # sentences, each read once a word
_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")


def clues(classifier: Extractor, texts: Sequence[str], batch_size: int = 32) -> dict[str, str]:
    """Find the clue words of at most :data:`MOST` texts, spread evenly over all.

    Returns:
        text -> the word whose masking lowers the log odds of a sentence that passes most, or raises that of
        another most; ``""`` where no word does. Of equal words of a sentence one is masked at a time.
    """
    distinct = list(dict.fromkeys(texts))
    chosen = distinct[:: math.ceil(len(distinct) / MOST)] if distinct else []
    mask = classifier.aligner.tokenizer.mask_token or ""
    words = {text: list(_WORD.finditer(text)) for text in chosen}
    masked = {(text, word): text[: word.start()] + mask + text[word.end() :] for text in chosen for word in words[text]}
    readings = classifier.log_odds(list(dict.fromkeys([*chosen, *masked.values()])), batch_size)
    odds = {text: value for own, values in readings for text, value in zip(own, values.tolist(), strict=True)}
    bound, found = math.log(THRESHOLD / (1 - THRESHOLD)), {}
    for text in chosen:
        sign = 1 if odds[text] > bound else -1
        moved = [(sign * (odds[text] - odds[masked[text, word]]), word.group()) for word in words[text]]
        most, clue = max(moved, key=lambda pair: pair[0], default=(0.0, ""))
        found[text] = clue if most > 0 else ""
    return found
