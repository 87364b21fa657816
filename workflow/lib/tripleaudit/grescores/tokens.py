"""Word tokens for #tok and for the topic models: Penn Treebank rules after a light sentence splitter.

The published #tok values and dictionaries were made with NLTK 3.8 (``word_tokenize``: a Punkt sentence split, then
Treebank-style rules). NLTK 3.9 changed the rules (en dashes and opening single quotes are split off, up to 0.6 % more
tokens) and its Punkt model has to be downloaded, so the older behaviour is written out here: it needs no data file and
does not move with a library's version.

A sentence end matters only because a full stop is a token of its own at the end of a sentence and part of its word
elsewhere ("Gov. Spitzer" has two tokens if "Gov." is a known abbreviation, else three). :func:`sentences` therefore
knows the abbreviations that the Punkt model knows and no more. Instead of the model's table of 20,000 word frequencies
it uses a list of function words; ``docs/grescores.md`` says on how many texts that makes a difference.
"""

import re
from collections.abc import Iterator
from functools import lru_cache


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# English function words (the 179 of the usual stop-word list). Contractions stand as people write them.
STOP_WORDS = _set(
    """
    i me my myself we our ours ourselves you you're you've you'll you'd your yours yourself yourselves
    he him his himself she she's her hers herself it it's its itself they them their theirs themselves
    what which who whom this that that'll these those
    am is are was were be been being have has had having do does did doing
    a an the and but if or because as until while
    of at by for with about against between into through during before after above below to from up down in out on off
    over under again further then once here there when where why how
    all any both each few more most other some such no nor not only own same so than too very
    s t can will just don don't should should've now d ll m o re ve y ain
    aren aren't couldn couldn't didn didn't doesn doesn't hadn hadn't hasn hasn't haven haven't isn isn't ma
    mightn mightn't mustn mustn't needn needn't shan shan't shouldn shouldn't wasn wasn't weren weren't
    won won't wouldn wouldn't
    """
)

# Words that keep their full stop inside a sentence, as far as the reference model knows them. It does not know "No.",
# "Gov." or "Rev.", and that is part of the stored counts.
ABBREVIATIONS = _set(
    """
    mr mrs ms messrs dr prof sen rep reps gen col lt maj jr sr st ft co cos corp inc ltd bros cie
    jan feb aug sep sept oct nov dec tues wed fri
    ala ariz calif colo conn fla ga ill kan ky mich minn nev okla ok ore pa tenn va vt w.va wash wis
    adm ave chg ct mg sw v vs yr c d e f g h k l m n p r s t w
    u.s u.s.a u.s.s.r u.k u.n d.c n.c n.d n.h n.j n.m n.y n.v r.i s.c l.a b.f b.v c.v s.a s.p.a s.a.y
    a.m p.m ph.d m.b.a a.m.e c.i.t c.o.m.b i.m.s p.a.m m.d.c
    a.a a.c a.d a.g a.h a.s a.t d.h d.w e.f e.h e.l f.g f.j g.d g.f g.k h.c h.f h.m j.b j.c j.j j.k j.p j.r l.f l.p
    m.j r.a r.h r.j r.k r.t s.g s.s t.j w.c w.r w.w
    """
)
STARTERS = _set(
    """
    according although among both but despite even he however i if in indeed instead it many meanwhile moreover most
    nevertheless nonetheless nor sales separately similarly since so some the there these they this though thus under
    when while yet
    """
)


# Function words that the reference model never saw with a capital inside a sentence: capitalised, they begin one.
LOWER_ONLY = _set(
    """
    above being between does doing her here hers herself him himself into myself nor ours ourselves same so such them
    themselves through very were which whom your yourself
    """
)


TOKENIZER_VERSION = "treebank-1"

# Words that occur in lower case at all, so that "B. A" is no person's initials to the reference model.
_LOWER = {word for word in STOP_WORDS if len(word) > 1 and "'" not in word} | set("abz")
_NON_WORD = r")\";}\]*:@'({\[!?"  # characters that end a word without a blank, inside a character class
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

# The word rules, applied one after the other; blanks then separate the tokens. "$" is the end of the sentence.
_RULES = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # opening quotes
        (r"([«“‘„]|`+)", r" \1 "),
        (r'^"', " `` "),
        (r"(``)", r" \1 "),
        (r"([ (\[{<])(\"|'')", r"\1 `` "),
        (r"(?i)'(?!re|ve|ll|m|t|s|d|n)(\w)\b", r"' \1"),
        # punctuation: the last full stop, commas and colons that are not inside numbers, dots, symbols
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
    """Return ``len(tokens(text))``; remembered, because the same names recur in thousands of triples."""
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
        pieces.append(text[start : following + len(closers.group().rstrip())] if closers else text[start:end])
        start = closers.end() if closers else following
    pieces.append(text[start:].rstrip())
    return [piece for piece in pieces if piece]


def _words(sentence: str) -> list[str]:
    for pattern, replacement in _RULES:
        sentence = pattern.sub(replacement, sentence)
    return sentence.split()


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Yield (end of a sentence, start of the next one)."""
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
        if any(_is_break(word, following) for word, following in zip(pieces, pieces[1:], strict=False)):
            yield start + end, (start + end if inside else runs[number + 1][0])


def _is_break(word: str, following: str) -> bool:
    """Whether a sentence ends after ``word``, given the next token."""
    if word in ("?", "!"):
        return True
    if not word.endswith("."):
        return False
    stem, initial = word[:-1].lower(), bool(_INITIAL.match(word))
    ellipsis = word.endswith("..")
    known = not ellipsis and (stem in ABBREVIATIONS or stem.rsplit("-", 1)[-1] in ABBREVIATIONS)
    next_word = following.rstrip(".").lower()
    starter = _starts_sentence(following, next_word)
    if (known or ellipsis) and not initial:
        return starter is True or (following[0].isupper() and next_word in STARTERS)
    if known:  # an initial that is also an abbreviation
        return False
    if initial or _NUMBER.match(word):
        if starter is False:
            return False
        if initial and starter is None and following[0].isupper() and next_word not in _LOWER:
            return False
    return not ellipsis


def _starts_sentence(token: str, lowered: str) -> bool | None:
    """Whether the spelling of a token says that it begins a sentence; None if it says nothing."""
    if token in (";", ":", ",", ".", "!", "?"):
        return False
    if token[0].isupper():
        return True if lowered in LOWER_ONLY else None
    return False if token[0].islower() else None
