"""The augmented test set T_ss + T_su + T_us + T_uu (rte-generalization 3.3 and appendix C).

The four parts differ in what they ask for: seen entities, which occur in training, or unseen ones,
which do not. Where the published files (``"files"``) do not do what the paper's text says
(``"text"``), both can be had by name; ``docs/explanation/test-sets.md`` has the counts behind them.
"""

import random
from collections import Counter
from collections.abc import Mapping, Set
from typing import Any, Final

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.words import segments
from tripleaudit.protocols.augmented.candidates import VECTORS, Found, find_candidates
from tripleaudit.protocols.augmented.masked_lm import MaskedLanguageModel
from tripleaudit.protocols.augmented.vectors import NearestWords
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.substitution import Layout, Words, lay_out, replaceable, rewrite
from tripleaudit.protocols.types import SeenTriples
from tripleaudit.protocols.variants import PARTS

DEFAULT_K = 11
DEFAULT_BEAMS = 5
OUTCOMES: Final = (
    "replaced",
    "no_candidate",
    "none_of_this_kind",
    "nested",
    "overlapping",
    "not_in_text",
)


def check_words(splits: Splits, nearest: NearestWords) -> None:
    """Look at what can be wrong before a model is trained or run.

    Raises:
        UserError: a test set without triples, or vectors that have no word of its entities.
    """
    spans = [
        span
        for row in splits.test
        for triple in row.triples
        for span in (triple.subject, triple.object)
    ]
    if not spans:
        raise UserError(
            "augmented: the test set has no sentence with triples, expected at least one"
        )
    words = sorted({word for span in spans for word in segments(span.text) if replaceable(word)})
    if words and all(nearest.key(word) is None for word in words):
        raise UserError(
            f"the word vectors ({len(nearest.vectors)} words, such as {nearest.vectors.index_to_key[0]!r}) have none "
            f"of the {len(words)} words of the test entities, such as {words[0]!r}; expected vectors of the corpus' "
            "language"
        )


def wants_seen(part: str, is_subject: bool, is_object: bool, roles: str = "files") -> bool:
    """Whether ``part`` asks for a training entity in this role."""
    first, second = (kind == "s" for kind in part)
    if is_subject and is_object:
        return first and second if roles == "files" else first or second
    return first if is_subject else second


def choose(
    layout: Layout,
    candidates: Mapping[str, Found],
    part: str,
    known: Set[str],
    seed: str,
    roles: str = "files",
    fallback: str = "files",
) -> tuple[dict[str, Words], Counter[str]]:
    """Draw a replacement for each entity, uniformly from its candidates for ``part``.

    An entity without such a candidate stays as it is, but see ``fallback``. No entity becomes equal
    to another one of the sentence, old or new.

    Args:
        part: one of :data:`tripleaudit.protocols.variants.PARTS`.
        seed: text that names this draw; equal texts draw alike.
        roles, fallback: see :func:`augment`.

    Returns:
        New words by entity string, and how many entities met each of :data:`OUTCOMES`.
    """
    subjects = {triple.subject.text for triple in layout.sentence.triples}
    objects = {triple.object.text for triple in layout.sentence.triples}
    taken = subjects | objects
    outcomes: Counter[str] = Counter(not_in_text=len(taken) - len(layout.entities))
    if layout.stays:
        outcomes[layout.stays] += len(layout.entities)
        return {}, outcomes
    chosen: dict[str, Words] = {}
    for text, entity in layout.entities.items():
        found = candidates.get(text) or Found("none")
        seen = wants_seen(part, text in subjects, text in objects, roles)
        free = [
            words for words in dict.fromkeys(found.words) if entity.with_words(words) not in taken
        ]
        options = [words for words in free if (entity.with_words(words) in known) == seen]
        if not options and found.way == VECTORS and fallback == "files":
            options = free
        if options:
            chosen[text] = random.Random(f"{seed} {part} {text}").choice(options)
            taken.add(entity.with_words(chosen[text]))
            outcomes["replaced"] += 1
        else:
            outcomes["none_of_this_kind" if found.words else "no_candidate"] += 1
    return chosen, outcomes


def augment(
    splits: Splits,
    model: MaskedLanguageModel,
    nearest: NearestWords,
    *,
    k: int = DEFAULT_K,
    beams: int = DEFAULT_BEAMS,
    roles: str = "files",
    fallback: str = "files",
    seed: int = 0,
) -> tuple[Splits, dict[str, Any]]:
    """Replace the entities of every test sentence four times; training and validation stay.

    Args:
        splits: the data set; "seen" means: an entity of a triple in ``splits.train``.
        k: similar entities to draw from.
        beams: partial candidates kept while an entity of several words is filled.
        roles: what su and us ask of an entity that is both subject and object: an unseen one in
            both (``files``), or a seen one in both (``text``).
        fallback: what a word with neighbours, none of them of the kind asked for, becomes: any
            neighbour (``files``), or it stays (``text``).
        seed: of the draws; each draw depends on the seed, the part, the sentence's number and the
            entity alone.

    Returns:
        The splits, whose test set holds the sentences of ss, su, us and uu one part after the other
        (ids end in ``.ss`` and so on) and then the zero-triple sentences, once; and a report:
        ``candidates`` (entities by the way their candidates were found), ``unchanged_sentences``
        (by reason) and ``parts`` (entities by outcome).
    """
    positives = [sentence for sentence in splits.test if sentence.triples]
    layouts = [lay_out(sentence) for sentence in positives]
    candidates = find_candidates(positives, layouts, model, nearest, k=k, beams=beams)
    known = SeenTriples(splits.train).entities
    test: list[Sentence] = []
    parts: dict[str, dict[str, int]] = {}
    for part in PARTS:
        total: Counter[str] = Counter()
        for number, layout in enumerate(layouts):
            chosen, outcomes = choose(
                layout, candidates[number], part, known, f"{seed} {number}", roles, fallback
            )
            test.append(rewrite(layout, chosen, f"{layout.sentence.id}.{part}"))
            total += outcomes
        parts[part] = {name: total[name] for name in OUTCOMES}
    ways = Counter(found.way for row in candidates for found in row.values())
    stay = Counter(layout.stays for layout in layouts if layout.stays)
    zero = [sentence for sentence in splits.test if not sentence.triples]
    report = {
        "candidates": dict(sorted(ways.items())),
        "unchanged_sentences": dict(stay),
        "parts": parts,
    }
    return Splits(splits.train, splits.valid, test + zero), report
