"""Settings NZ and WZ, and data sets with zero-triple sentences (zero-cardinality 4).

NZ (no zero) keeps sentences with at least one triple; WZ (with zero) adds sentences without any.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.divide import deal, find_zero
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_set, save_sentences
from tripleaudit.protocols.spec import ProtocolSpec
from tripleaudit.protocols.splits import SPLIT_NAMES, Splits
from tripleaudit.sources import registry

PUBLISHED: Final = (
    "nyt24",
    "nyt29",
)  # with as many zero-triple sentences as the registered NYT24* and NYT29* have

log = logging.getLogger(__name__)


def parse_zero_sizes(text: str) -> tuple[int, ...]:
    """Return zero-triple counts (train, valid, test) of ``nyt24``, ``nyt29`` or ``N,N,N``.

    Raises:
        UserError: the text is none of these.
    """
    if text in PUBLISHED and (zero := registry.corpus(f"{text}star").zero):
        return tuple(zero.sizes[name] for name in SPLIT_NAMES)
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        raise UserError(
            f"zero_sizes is {text!r}, expected nyt24, nyt29 or three whole numbers N,N,N"
        )
    return tuple(map(int, parts))


def write_setting(sentences: str | Path, setting: str, out: str | Path) -> None:
    """Write a split in one setting: ``"nz"`` drops zero-triple sentences, ``"wz"`` keeps them."""
    given = load_set(sentences)
    kept = [sentence for sentence in given if sentence.triples or setting == "wz"]
    save_sentences(out, kept)
    log.info("%d of %d sentences belong to setting %s", len(kept), len(given), setting)


def add_zero_sentences(
    splits: Splits,
    *,
    zero_sizes: str | None = None,
    seed: int = 0,
    raw: Sequence[Sentence] | None = None,
) -> tuple[Splits, dict[str, Any]]:
    """Add zero-triple sentences of the raw corpus to each set (NYT24* and NYT29*).

    Zero-triple sentences are those that the raw corpus lists without any relation. A text that also
    occurs with triples, in ``splits`` or in the raw corpus, is no zero-triple sentence, and a text
    counts once. A seeded shuffle divides them: first test, then validation, then training. Other
    sentences without triples are dropped.

    Returns:
        The splits and a report: ``zero_sentences_found`` and ``zero_sentences_used`` (distinct
        texts).

    Raises:
        UserError: an input is missing, or the raw corpus has fewer zero-triple sentences than
            ``zero_sizes`` ask for (:func:`parse_zero_sizes`).
    """
    if raw is None or zero_sizes is None:
        raise UserError(
            "cardinality: expected the raw corpus and zero_sizes (nyt24, nyt29 or N,N,N)"
        )
    sizes = parse_zero_sizes(zero_sizes)
    positive = {name: [row for row in sentences if row.triples] for name, sentences in splits}
    texts = (sentence.text for sentences in positive.values() for sentence in sentences)
    zero = find_zero(texts, raw)
    if len(zero) < sum(sizes):
        raise UserError(
            f"the raw corpus has {len(zero)} different sentences with zero triples, expected at least {sum(sizes)} "
            f"({sizes[0]} for training, {sizes[1]} for validation, {sizes[2]} for testing)"
        )
    chosen = deal(zero, dict(zip(SPLIT_NAMES, sizes, strict=True)), seed)
    report = {"zero_sentences_found": len(zero), "zero_sentences_used": sum(sizes)}
    return Splits(
        *(positive[name] + chosen[name] for name in SPLIT_NAMES)
    ).with_unique_ids(), report


CARDINALITY = ProtocolSpec(name="cardinality", order=4, build=add_zero_sentences, inputs=("raw",))
