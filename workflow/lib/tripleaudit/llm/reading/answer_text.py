"""The text of an answer without what models and chat templates wrap around it."""

import re

from tripleaudit.llm.response import THOUGHT_MARKS, split_thought

_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\r?\n?(.*?)(?:```|\Z)", re.DOTALL)
_THOUGHT = re.compile(rf"<{THOUGHT_MARKS}>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_CHANNEL_HEADER = re.compile(
    r"(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*(\w+)[^<]*<\|message\|>"
)  # gpt-oss
_DECODED_CHANNELS = re.compile(
    r"\Aanalysis.*assistantfinal", re.DOTALL
)  # the same without its special tokens
_THOUGHT_MARK = re.compile(
    r"\[(/?)THINK\]"  # Mistral
    r"|◁(/?)think▷"  # Kimi
    r"|<(/?)seed:think>"
    r"|<\|(?:START|(END))_THINKING\|>"  # Command
    r"|<\|(?:begin|(end))_of_thought\|>"
)
_SPECIAL_TOKEN = re.compile(r"<\|[A-Za-z_]+\|>|</?s>")

_REFUSAL = re.compile(
    r"\W*(i['’]?m sorry|i am sorry|sorry,|i can(no|['’])t (help|assist|comply|do|provide|extract|process|fulfil)|"
    r"i am (unable|not able) to|i['’]?m (unable|not able) to|as an ai\b|i must decline|很?抱歉|对不起)",
    re.IGNORECASE,
)
_ITEMS = r"(?:relation(?:ship)?s?|triples?|triplets?|entit(?:y|ies)|facts?|records?|statements?|items?|match(?:es)?)"
_NOTHING_WORD = re.compile(
    r"\W*(?:none|null|nothing|n/?a|not applicable|无|没有|空)\W*", re.IGNORECASE
)
_NOT_APPLICABLE = re.compile(r"\W*n/a\b", re.IGNORECASE)
_NOTHING_SENTENCE = re.compile(
    rf"(?:.*\b(?:no|not any|none of the|without any)(?: [\w/-]+){{0,3}} {_ITEMS}\b.*"
    rf"|.*(?:\bnot|n['’]t|\bunable to|\bcannot)(?: \w+)? (?:find|identify|see|detect|extract|contain|state|mention)s?"
    rf" any(?: \w+){{0,3}} {_ITEMS}\b.*"
    r"|\w{0,12}(?:没有|无|未)\w{0,10}(?:三元组|关系|实体|事实|记录|匹配)\w{0,4}\W*)",
    re.IGNORECASE,
)
EXCEPTION = re.compile(r"\b(?:but|except|however|other than|only)\b|除|但", re.IGNORECASE)
MAX_NOTHING_CHARACTERS = 300  # a longer text says more than that there is nothing


def strip_wrapping(text: str) -> str:
    """Return an answer without thought, special tokens, and code fences around brackets."""
    text = strip_thought(text)
    fences = [inside.strip() for inside in _FENCE.findall(text)]
    with_brackets = [inside for inside in fences if "[" in inside or "{" in inside]
    return "\n".join(with_brackets) if with_brackets else text


def strip_thought(text: str) -> str:
    """Return an answer without byte-order mark, special tokens and the model's thought.

    The thought of gpt-oss (channels), Mistral, Kimi, Seed and Command is recognised as well as tags
    such as ``<think>``. A thought that never ends leaves an empty text.
    """
    text = _DECODED_CHANNELS.sub("", _final_channel(text.lstrip("\ufeff")))
    text = _THOUGHT_MARK.sub(lambda mark: "</think>" if any(mark.groups()) else "<think>", text)
    text = _THOUGHT.sub("", split_thought(text)[1])
    return _SPECIAL_TOKEN.sub("", text).strip()


def _final_channel(text: str) -> str:
    """Return what stands in the channel "final" of an answer with channels, else the text."""
    headers = list(_CHANNEL_HEADER.finditer(text))
    if not headers:
        return text
    final = [header.end() for header in headers if header[1] == "final"]
    return text[final[-1] :] if final else ""


def is_refusal(text: str) -> bool:
    """Return whether an answer begins with the words of a refusal."""
    return _REFUSAL.match(strip_wrapping(text)) is not None


def says_nothing(text: str) -> bool:
    """Return whether a text states absence: "None.", "No further entities.", "N/A (...)".

    Args:
        text: an element of an answer, or an answer without its wrapping.
    """
    text = text.strip()
    if _NOTHING_WORD.fullmatch(text) or (_NOT_APPLICABLE.match(text) and "[" not in text):
        return True
    is_short = len(text) <= MAX_NOTHING_CHARACTERS and "\n" not in text and "|" not in text
    return is_short and _NOTHING_SENTENCE.fullmatch(text) is not None and not EXCEPTION.search(text)
