"""Escaping of untrusted names of relations, entities and corpora for four output formats."""

import html as _html
import unicodedata

_BIDI = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}
_MARKDOWN = set("\\`*_[]#~$")
_MATHS = {
    "−": "-",
    "±": "\\pm",
    "≥": "\\geq",
    "≤": "\\leq",
    "×": "\\times",
    "→": "\\rightarrow",
    "↑": "\\uparrow",
}
_MATHS |= {"↓": "\\downarrow", "Δ": "\\Delta", "·": "\\cdot", "°": "^\\circ", "κ": "\\kappa"}
_NAMED = {
    "\\": "textbackslash",
    "~": "textasciitilde",
    "^": "textasciicircum",
    "<": "textless",
    ">": "textgreater",
}
_NAMED |= {"|": "textbar", "…": "ldots"}
_LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    **{char: f"\\{name}{{}}" for char, name in _NAMED.items()},
    **{char: f"\\ensuremath{{{maths}}}" for char, maths in _MATHS.items()},
} | {"\ufffd": "?", "–": "--", "—": "---", "’": "'", "“": "``", "”": "''"}


def clean(text: str) -> str:
    """Make white space a blank, and control characters the replacement character U+FFFD.

    Control characters are Unicode's Cc, surrogates, and those that turn the direction of writing.
    """
    return "".join(
        " "
        if char.isspace()
        else "\ufffd"
        if unicodedata.category(char) in ("Cc", "Cs") or ord(char) in _BIDI
        else char
        for char in text
    )


def html(text: str) -> str:
    """Escape for element content and quoted attributes."""
    return _html.escape(clean(text), quote=True)


def markdown(text: str) -> str:
    """Escape for a cell of a Markdown table or a line of text, without markup or HTML.

    ``<``, ``>`` and ``&`` become entities, because a backslash does not stop HTML in every
    renderer.
    """
    entities = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "|": "&#124;"}
    return "".join(
        entities.get(char) or (f"\\{char}" if char in _MARKDOWN else char) for char in clean(text)
    )


def latex(text: str) -> str:
    """Escape for LaTeX text in the encodings ``T1`` and ``OT1``."""
    return "".join(_LATEX.get(char, char) for char in clean(text))


def csv(text: str) -> str:
    """Clean a label for CSV, so that spreadsheets do not take it for a formula."""
    text = clean(text)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
