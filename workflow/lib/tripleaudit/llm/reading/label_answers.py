"""The relation name that an answer chooses."""

import itertools
import re
from collections.abc import Sequence

from tripleaudit.llm.endpoint import Answer
from tripleaudit.llm.reading.answer_text import is_refusal, says_nothing, strip_wrapping
from tripleaudit.llm.reading.json_values import decode
from tripleaudit.llm.reading.parsed import text_and_status

_DENIED = (  # with the plain name of a label
    r" (?:no|not|never|neither|nor|than|instead of)(?: the| an?| relation)* {0}(?= )|"
    r" {0}(?= (?:relation )?(?:(?:is|are|was|were|does|do|did|can|could|has) ?(?:not|n t)|cannot) )"
)
_LABEL_KEYS = ("relation", "label", "answer", "predicate", "relation_type", "关系", "答案")


def parse_label(
    answer: Answer | str, labels: Sequence[str], none: str = "NONE"
) -> tuple[str | None, str]:
    """Read one name out of ``labels``: ``(label, status)``.

    Case, quotes, punctuation around it and underscores do not matter; an object with one value
    counts as that value. ``empty`` is the answer ``none``, also as a word of a sentence, and other
    words for it ("N/A", "no relation"); ``repaired`` a sentence in which exactly one label occurs
    that is not denied there.
    """
    text, status = text_and_status(answer)
    if status == "refused":
        return None, "refused"
    text = _only_value(strip_wrapping(text))
    by_name = {_plain(label): label for label in labels}
    lines = [line for line in text.splitlines() if _plain(line)]
    first_line = lines[0] if lines else ""
    if _plain(first_line) in by_name:
        return by_name[_plain(first_line)], "ok" if len(lines) == 1 else "repaired"
    if _plain(first_line) == _plain(none) or re.search(
        rf"(?<!not )(?<!than )\b{re.escape(none)}\b", text
    ):
        return None, "empty"
    plain_text = f" {_plain(text)} "
    if f" answer is {_plain(none)} " in plain_text:
        return None, "empty"
    names = _labels_not_denied(plain_text, list(by_name))
    if len(names) == 1:
        return by_name[names.pop()], "repaired"
    if not names and (
        f" {_plain(none)} " in plain_text or says_nothing(first_line.replace("_", " "))
    ):
        return None, "empty"
    if is_refusal(text):
        return None, "refused"
    return None, "truncated" if status == "truncated" else "failed"


def _only_value(text: str) -> str:
    """Return the only element of the first list or object, or its relation, else the text."""
    values = decode(text).values
    if not values:
        return text
    first = values[0]
    if isinstance(first, list):
        return str(first[0]) if len(first) == 1 else text
    if len(first) == 1:
        (value,) = first.values()
        return str(value)
    chosen = [first[key] for key in _LABEL_KEYS if isinstance(first.get(key), str)]
    return chosen[0] if chosen else text


def _labels_not_denied(plain_text: str, names: Sequence[str]) -> set[str]:
    """Return the names in a text, without denied ones and parts of longer ones."""
    for name in sorted(names, key=len, reverse=True):
        plain_text = re.sub(_DENIED.format(re.escape(name)), " ", plain_text)
    present = {name for name in names if f" {name} " in plain_text}
    parts = {
        part for part, longer in itertools.permutations(present, 2) if f" {part} " in f" {longer} "
    }
    return present - parts


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w/:]+", " ", text.replace("_", " ")).casefold().split())
