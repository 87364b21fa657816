"""Needles without a language model: paragraphs from word lists, for tests and demos.

Needles that a model invents are better, because they fit the topic of the document. A template
gives an unusual name, a paragraph of 40 to 120 words, and six keywords that occur in the paragraph
word for word. Every such needle is marked: its ``generator.model`` is ``templates``.
"""

import functools
import random
from collections.abc import Sequence
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.core.shipped import PACKAGE
from tripleaudit.core.yaml_files import read_yaml
from tripleaudit.needles.entities import normalise
from tripleaudit.needles.haystack import Document
from tripleaudit.needles.needle import Needle
from tripleaudit.needles.needle_check import problem
from tripleaudit.needles.plan import NeedleSettings

READS = ("data/needles.yaml",)
MAX_CANDIDATES = 100  # per requested needle; candidates that break the plan are dropped


@functools.cache
def _words() -> dict[str, Any]:
    return read_yaml(PACKAGE / READS[0])


def template_needles(
    document: Document, kind: str, count: int, plan: NeedleSettings, taken: Sequence[Needle] = ()
) -> list[Needle]:
    """Return ``count`` valid needles of type ``kind`` for a document.

    Args:
        document: no name of a needle occurs in its text. The random numbers are seeded by its
            identifier, ``kind`` and the seed of the plan.
        plan: requirements; a template gives at most six keywords and about 65 words.
        taken: needles of the document that the new ones must differ from.

    Raises:
        UserError: the templates cannot give such needles.
    """
    rng = random.Random(f"{plan.seed}:{document.id}:{kind}")
    needles: list[Needle] = []
    origin = {"model": "templates", "seed": plan.seed}
    for _ in range(MAX_CANDIDATES * count):
        if len(needles) == count:
            break
        paragraph, name, description, slots = _candidate(rng, kind)
        identifier = f"{document.id}:{kind}:t{len(needles):02d}"
        needle = Needle(
            identifier,
            document.id,
            kind,
            paragraph,
            name,
            description,
            slots[: plan.keywords],
            origin,
        )
        reason = problem(needle, document.text, (*taken, *needles), plan)
        if reason is None:
            needles.append(needle)
    if len(needles) < count:
        raise UserError(
            f"templates gave only {len(needles)} of {count} needles of type {kind!r}: {reason}"
        )
    return needles


def _candidate(rng: random.Random, kind: str) -> tuple[str, str, str, tuple[str, ...]]:
    """Return paragraph, name, description and keywords of a random needle."""
    words = _words()
    shape = words["types"].get(kind, words["types"]["Thing"])
    name = shape["name"].format(w=_word(rng), v=_word(rng), given=rng.choice(words["given"]))
    phrases = {
        slot: f"{rng.choice(first)} {rng.choice(second)}"
        for slot, (first, second) in words["slots"].items()
    }
    paragraph = shape["paragraph"].format(name=name, **phrases)
    normal_paragraph = normalise(paragraph, casefold=True)
    keywords = [
        phrase
        for phrase in phrases.values()
        if normalise(phrase, casefold=True) in normal_paragraph
    ]
    description = shape["what"].format(**phrases) + "."
    return paragraph, name, description, tuple(keywords)


def _word(rng: random.Random) -> str:
    """Return an invented word of two syllables."""
    words = _words()
    syllables = [rng.choice(words["onsets"]) + rng.choice(words["nuclei"]) for _ in range(2)]
    word = "".join(syllables) + rng.choice(words["codas"])
    return word.capitalize()
