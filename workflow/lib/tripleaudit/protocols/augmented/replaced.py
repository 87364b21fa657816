"""The augmented test set T_ss + T_su + T_us + T_uu (rte-generalization 3.3 and appendix C)."""

from collections import Counter
from typing import Any

from tripleaudit.corpora.model import Sentence
from tripleaudit.errors import UserError
from tripleaudit.protocols.augmented.candidates import find_candidates
from tripleaudit.protocols.augmented.choose import OUTCOMES, Rules, choose
from tripleaudit.protocols.augmented.masked_lm import WordFiller
from tripleaudit.protocols.augmented.mentions import lay_out, rewrite
from tripleaudit.protocols.augmented.surface import replaceable
from tripleaudit.protocols.augmented.vectors import NearestWords
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.types import SeenTriples
from tripleaudit.protocols.variants import PARTS

DEFAULT_K = 11
DEFAULT_BEAMS = 5


def check_request(
    splits: Splits, nearest: NearestWords, *, k: int = DEFAULT_K, beams: int = DEFAULT_BEAMS, **rules: str
) -> None:
    """Look at everything that can be wrong before a model is trained or run.

    Raises:
        UserError: k or beams below 1, an unknown rule, a test set without triples, or vectors that have no word of its
            entities.
    """
    for name, value in (("k", k), ("beams", beams)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise UserError(f"augmented: {name} is {value!r}, expected a whole number >= 1")
    Rules(**rules).check()
    spans = [span for row in splits.test for triple in row.triples for span in (triple.subject, triple.object)]
    if not spans:
        raise UserError("augmented: the test set has no sentence with triples, expected at least one")
    nearest.check_overlap(sorted({word for span in spans for word in span.text.split() if replaceable(word)}))


def augment(
    splits: Splits,
    model: WordFiller,
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
        model: fills masks.
        nearest: finds neighbours of words.
        k: similar entities to draw from, >= 1.
        beams: partial candidates kept while an entity of several words is filled, >= 1.
        roles: see :class:`~tripleaudit.protocols.augmented.choose.Rules`.
        fallback: likewise.
        seed: of the draws; each draw depends on the seed, the part, the sentence's number and the entity alone.

    Returns:
        The splits, whose test set holds the sentences of ss, su, us and uu one part after the other (ids end in
        ``.ss`` and so on) and then the zero-triple sentences, once; and a report: ``candidates`` (entities by the way
        their candidates were found), ``unchanged_sentences`` (by reason) and ``parts`` (entities by outcome).

    Raises:
        UserError: as :func:`check_request`.
    """
    rules = Rules(roles, fallback)
    check_request(splits, nearest, k=k, beams=beams, roles=roles, fallback=fallback)
    positives = [sentence for sentence in splits.test if sentence.triples]
    layouts = [lay_out(sentence) for sentence in positives]
    candidates = find_candidates(positives, layouts, model, nearest, k=k, beams=beams)
    known = SeenTriples(splits.train).entities
    test: list[Sentence] = []
    parts: dict[str, dict[str, int]] = {}
    for part in PARTS:
        total: Counter[str] = Counter()
        for number, layout in enumerate(layouts):
            chosen, outcomes = choose(layout, candidates[number], part, known, f"{seed} {number}", rules)
            test.append(rewrite(layout, chosen, f"{layout.sentence.id}.{part}"))
            total += outcomes
        parts[part] = {name: total[name] for name in OUTCOMES}
    ways = Counter(found.way for row in candidates for found in row.values())
    stay = Counter(layout.stays for layout in layouts if layout.stays)
    zero = [sentence for sentence in splits.test if not sentence.triples]
    report = {"candidates": dict(sorted(ways.items())), "unchanged_sentences": dict(stay), "parts": parts}
    return Splits(splits.train, splits.valid, test + zero), report
