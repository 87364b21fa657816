"""Word tokens for #tok and topic models: Penn Treebank rules after a sentence splitter.

The published #tok values and dictionaries were made with NLTK 3.8 (``word_tokenize``: a Punkt
sentence split, then Treebank-style rules). NLTK 3.9 changed the rules (en dashes and opening single
quotes are split off, up to 0.6 % more tokens) and its Punkt model has to be downloaded, so the
older behaviour is written out here: it needs no data of NLTK's and does not move with a library's
version.

A sentence end matters only because a full stop is a token of its own at the end of a sentence and
part of its word elsewhere ("Gov. Spitzer" has two tokens if "Gov." is a known abbreviation, else
three). :func:`sentences` therefore knows the abbreviations that the Punkt model knows and no more.
Instead of the model's table of 20,000 word frequencies it uses a list of function words;
``docs/reference/grescores.md`` says on how many texts that makes a difference.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from tripleaudit.core.shipped import PACKAGE
from tripleaudit.core.yaml_files import read_yaml

READS = ("data/tokens.yaml",)
TOKENIZER_VERSION = "treebank-1"
_LISTS = {name: frozenset(words.split()) for name, words in read_yaml(PACKAGE / READS[0]).items()}
STOP_WORDS = _LISTS["stop_words"]

# Words that the reference model has seen in lower case. After an initial, such a word may begin a
# sentence; any other capitalised word is taken for the rest of a name ("J. Smith").
_LOWER = {word for word in STOP_WORDS if len(word) > 1 and "'" not in word} | set("abz")
_NON_WORD = (
    r")\";}\]*:@'({\[!?"  # characters that end a word without a blank, inside a character class
)
_PIECE = re.compile(
    rf"""-{{2,}} | \.{{2,}}
    | [^\s(\"`{{\[:;&\#*@)}}\]\-,] \S*? (?= \s | $ | [{_NON_WORD}] | -{{2}} | \.{{2}}
                                        | , (?: \s | $ | [{_NON_WORD}] | -{{2}} | \.{{2}} ) )
    | \S""",
    re.VERBOSE,
)
_RUN = re.compile(r"\S+")
_MARK = re.compile(rf"[.?!](?=[{_NON_WORD}]|$)")
_CLOSERS = re.compile(r"[\"')\]}]+?(?:\s+|(?=--)|$)")
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*\.?$")
_INITIAL = re.compile(r"[^\W\d]\.$")

# The word rules, applied one after the other; blanks then separate the tokens. "$" is the end of
# the sentence.
_RULES = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # opening quotes
        (r"([«“‘„]|`+)", r" \1 "),
        (r'^"', " `` "),
        (r"(``)", r" \1 "),
        (r"([ (\[{<])(\"|'')", r"\1 `` "),
        (r"(?i)'(?!re|ve|ll|m|t|s|d|n)(\w)\b", r"' \1"),
        # punctuation: the last full stop, commas and colons that are not inside numbers, dots,
        # symbols
        (r"([^.])(\.)([\])}>\"'»”’ ]*)\s*$", r"\1 \2 \3 "),
        (r"([:,])(\D)", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"(\.{2,})", r" \1 "),
        (r"([;@#$%&?!*])", r" \1 "),
        (r"([^'])' ", r"\1 ' "),
        (r"([\]\[(){}<>])", r" \1 "),
        (r"--", " -- "),
        (r"\A|\Z", " "),
        # closing quotes and clitics
        (r"([»”’])", r" \1 "),
        (r"''", " '' "),
        (r'"', " '' "),
        (r"([^' ])('[sSmMdD]|') ", r"\1 \2 "),
        (r"([^' ])('(?:ll|LL|re|RE|ve|VE)|n't|N'T) ", r"\1 \2 "),
        # contractions written as one word
        (r"(?i)\b(can)(not)\b", r" \1 \2 "),
        (r"(?i)\b(d)('ye)\b", r" \1 \2 "),
        (r"(?i)\b(gim|lem)(me)\b", r" \1 \2 "),
        (r"(?i)\b(gon)(na)\b", r" \1 \2 "),
        (r"(?i)\b(got)(ta)\b", r" \1 \2 "),
        (r"(?i)\b(more)('n)\b", r" \1 \2 "),
        (r"(?i)\b(wan)(na)(?=\s)", r" \1 \2 "),
        (r"(?i) ('t)(is|was)\b", r" \1 \2 "),
    )
]


def tokens(text: str) -> list[str]:
    """Return the word tokens of a text."""
    return [token for sentence in sentences(text) for token in _words(sentence)]


@lru_cache(maxsize=1 << 17)
def count_tokens(text: str) -> int:
    """Return ``len(tokens(text))``, cached because names recur in thousands of triples."""
    return len(tokens(text))


def sentences(text: str) -> list[str]:
    """Split a text at sentence ends."""
    if not any(mark in text for mark in ".?!"):  # nearly every name and relation
        return [text]
    ends = list(_breaks(text))
    pieces, start = [], 0
    for end, following in ends:
        # Closing brackets and quotes after the full stop belong to the sentence that it ends.
        closers = _CLOSERS.match(text, following)
        pieces.append(
            text[start : following + len(closers.group().rstrip())] if closers else text[start:end]
        )
        start = closers.end() if closers else following
    pieces.append(text[start:].rstrip())
    return [piece for piece in pieces if piece]


def _words(sentence: str) -> list[str]:
    for pattern, replacement in _RULES:
        sentence = pattern.sub(replacement, sentence)
    return sentence.split()


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Yield (end of a sentence, start of the next one).

    A run of non-blank characters has at most one sentence end, which is after its last mark.
    """
    runs = [(match.start(), match.group()) for match in _RUN.finditer(text)]
    for number, (start, run) in enumerate(runs):
        marks = [match.end() for match in _MARK.finditer(run)]
        if number + 1 == len(runs) and marks and marks[-1] == len(run):
            marks.pop()  # nothing follows the end of the text
        if not marks:
            continue
        end = marks[-1]
        inside = end < len(run)
        after = run[end] if inside else runs[number + 1][1]
        pieces = _PIECE.findall(run[:end]) + _PIECE.findall(after)[:1]
        if any(
            _is_break(word, following) for word, following in zip(pieces, pieces[1:], strict=False)
        ):
            yield start + end, (start + end if inside else runs[number + 1][0])


def _is_break(word: str, following: str) -> bool:
    """Return whether a sentence ends after ``word``, by the rules of the Punkt model.

    Args:
        word: a token.
        following: the next token.
    """
    if word in ("?", "!"):
        return True
    if not word.endswith("."):
        return False
    stem = word[:-1].lower()
    is_initial = bool(_INITIAL.match(word))
    is_ellipsis = word.endswith("..")
    is_abbreviation = not is_ellipsis and (
        stem in _LISTS["abbreviations"] or stem.rpartition("-")[2] in _LISTS["abbreviations"]
    )
    next_word = following.rstrip(".").lower()
    is_capitalised = following[0].isupper()
    begins_sentence = _starts_sentence(following, next_word)
    if (is_abbreviation or is_ellipsis) and not is_initial:
        is_starter = is_capitalised and next_word in _LISTS["starters"]
        return begins_sentence is True or is_starter
    if is_abbreviation:  # an initial that is also an abbreviation
        return False
    if is_initial or _NUMBER.match(word):
        if begins_sentence is False:
            return False
        is_undecided = begins_sentence is None
        if is_initial and is_undecided and is_capitalised and next_word not in _LOWER:
            return False  # the initial of a name
    return not is_ellipsis


def _starts_sentence(token: str, lowered: str) -> bool | None:
    """Return whether a token begins a sentence by its spelling; None if that does not decide it."""
    if token in (";", ":", ",", ".", "!", "?"):
        return False
    if token[0].isupper():
        return True if lowered in _LISTS["lower_only"] else None
    return False if token[0].islower() else None
