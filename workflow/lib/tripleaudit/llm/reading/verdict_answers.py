"""The verdict of an answer to a yes-or-no question."""

import re
from collections.abc import Iterator
from typing import Any

from tripleaudit.corpora.triple_forms import TO_ASCII
from tripleaudit.llm.reading.answer_text import strip_wrapping
from tripleaudit.llm.reading.json_values import decode

YES_WORDS = frozenset(["true", "yes", "supported", "correct", "accurate", "entailed"])
NO_WORDS = frozenset(
    ["false", "no", "unsupported", "incorrect", "inaccurate", "untrue", "wrong", "refuted"]
)
NO_WORDS |= {"contradicted", "contradicts", "contradictory"}
YES_WORDS |= {"是", "是的", "对", "对的", "正确", "正确的", "真", "真的", "属实", "支持", "成立"}
NO_WORDS |= {"否", "不", "不是", "不对", "错", "错误", "错误的", "不正确", "假", "假的", "不属实"}
NO_WORDS |= {"不支持", "不成立"}
_SHORT_VERDICTS = {"y": True, "t": True, "1": True, "n": False, "f": False, "0": False}

_ALTERNATIVES = re.compile(
    r"\b(?:true\s*(?:/|or)\s*false|yes\s*(?:/|or)\s*no|是\s*/\s*否)\b[?:]?", re.IGNORECASE
)
_QUESTION = re.compile(r"(?<![^.!?\n])[^.!?\n]*\?")  # from its start: linear in long texts
_FIRST_WORD = re.compile(
    r"\W*(\w+)[\"'*`_)\]]*[^\S\n]*(?:[.,;:!(\n]|[-–—](?![\w>])|$)"
)  # a word that ends its clause
_CERTAIN = re.compile(r"\b(?:no|without|beyond)(?: any| a)? (?:doubt|question)\b")
_NOT_TRUE = re.compile(
    r"\b(?:not|never|isn['’]?t|cannot be)(?: \w+){0,2} (?:true|supported|correct|accurate|entailed)\b"
)
_NOT_FALSE = re.compile(
    r"\b(?:not|never|isn['’]?t)(?: \w+){0,1} (?:false|unsupported|incorrect|inaccurate|untrue|wrong)\b"
)
_HEDGE = re.compile(
    r"\b(?:partial|partially|partly|most|mostly|mainly|largely|somewhat|only|cannot|can['’]t|could not|couldn['’]t"
    r"|unable|whether|neither|unclear|uncertain|unknown|not sure|might|may be|possibly|insufficient"
    r"|half|hardly|barely|scarcely|far from|anything but|doubtful|wouldn['’]t say|would not say)\b"
)
_SENTENCE_END = re.compile(r"[.!\n]+")
_CORRECTION = re.compile(
    r"\b(?:wait|actually|correction|sorry|scratch that|i mean|on second thought)\b"
)
_PLAIN_VERDICT = re.compile(
    r"(?:so |hence |thus |well |but |and )?(?:(?:it|that|this|the \w+)(?:['’]s| is| was) )?"
    r"(?:actually |really |indeed |definitely |rather |simply )?(\w+)"
)
# "there is no evidence" is no verdict
_NO_BEFORE_NOUN = re.compile(r"\bno (?=\w)")
_CLAUSE_END = re.compile(r"[.,;!\n]+")
_NAMED = re.compile(
    r"\b(?:answer|verdict|judge?ment|conclusion|result|claim|statement)\b\W*(?:is|:)?\W*(\w+)"
)


def parse_yes_no(text: str) -> bool | None:
    """Return whether an answer says yes (true, supported) or no; None if unclear.

    Answers with neither, both, or a partial verdict are unclear.

    Accepts a first word that ends its clause, an object with one such value, ``Answer: ...``, and a
    sentence in which only one of the two occurs. The model's thought, questions and hedged clauses
    ("partially true", "I cannot determine whether this is true") do not count. In Chinese, a clause
    that is a verdict counts.
    """
    text = strip_wrapping(text).translate(TO_ASCII)
    for value in decode(text).values:
        verdicts = {_polarity(str(member)) for member in _members(value)} - {None}
        if len(verdicts) == 1:
            return verdicts.pop()
    text = _QUESTION.sub(" ", _ALTERNATIVES.sub(" ", text))
    short = re.sub(r"[\W_]+", "", text).casefold()
    if short in _SHORT_VERDICTS:
        return _SHORT_VERDICTS[short]
    first = _FIRST_WORD.match(text)
    if first and (verdict := _polarity(first[1])) is not None:
        return _corrected(text, verdict)
    plain = _plain_verdicts(text)
    if plain and _CORRECTION.search(text.casefold()):
        return plain[-1]
    clauses = list(_certain_clauses(text))
    named = [_polarity(word) for clause in clauses for word in _NAMED.findall(clause)]
    named = [verdict for verdict in named if verdict is not None]
    if named:
        return named[-1]
    without_no = [_NO_BEFORE_NOUN.sub(" ", clause) for clause in clauses]
    words = [word for clause in without_no for word in re.findall(r"\w+", clause)]
    verdicts = {_polarity(word) for word in words} - {None}
    return verdicts.pop() if len(verdicts) == 1 else None


def _members(value: dict[str, Any] | list[Any]) -> list[Any]:
    """Return what a decoded value may give as the verdict: an object's values, or a single item."""
    if isinstance(value, dict):
        return list(value.values())
    return value if len(value) == 1 else []


def _corrected(text: str, verdict: bool) -> bool | None:
    """Return the verdict of an answer that begins with one and may take it back.

    The last verdict counts within the first sentence ("no, true") and in an answer with a word of
    correction ("no, wait, yes"). An answer whose sentences contradict each other ("Yes. No.") is
    unclear.

    Args:
        verdict: that of the first word.
    """
    verdicts = _plain_verdicts(text)
    if _CORRECTION.search(text.casefold()) and verdicts:
        return verdicts[-1]
    in_first_sentence = _plain_verdicts(_SENTENCE_END.split(text.strip())[0])
    others = verdicts[len(in_first_sentence) :]
    last = in_first_sentence[-1] if in_first_sentence else verdict
    return last if all(other == last for other in others) else None


def _plain_verdicts(text: str) -> list[bool]:
    """Return the verdicts of clauses that consist of one, such as "yes" and "it is true"."""
    matches = [_PLAIN_VERDICT.fullmatch(clause.strip()) for clause in _certain_clauses(text)]
    verdicts = [_polarity(match[1]) for match in matches if match]
    return [verdict for verdict in verdicts if verdict is not None]


def _certain_clauses(text: str) -> Iterator[str]:
    """Yield unhedged clauses of a text in lower case, with negated verdicts inverted."""
    for clause in _CLAUSE_END.split(text.casefold().replace("*", "")):
        plain = " ".join(clause.split())
        if plain and not _HEDGE.search(plain):
            plain = _NOT_FALSE.sub(" true ", _NOT_TRUE.sub(" false ", _CERTAIN.sub(" ", plain)))
            yield plain


def _polarity(word: str) -> bool | None:
    """Return True for a word such as "true", False for one such as "no", None for any other."""
    word = re.sub(r"^\W+|\W+$", "", word.casefold())
    if word in YES_WORDS:
        return True
    return False if word in NO_WORDS else None
