"""One way to every protocol: from a name, a data set and options to the new sets and a report of what was done."""

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.corpora.model import Sentence
from tripleaudit.errors import UserError
from tripleaudit.protocols.cardinality import add_zero_sentences, parse_zero_sizes
from tripleaudit.protocols.rearranged import rearrange
from tripleaudit.protocols.sifted import sift
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.strata import audit_corpus

OPTIONS = {
    "original": (),
    "rearranged": ("valid_size", "test_size", "counts", "ties", "seed"),
    "sifted": ("rule", "max_count", "percent", "seed"),
    "cardinality": ("zero_sizes", "seed"),
    "augmented": ("k", "beams", "batch_size", "mlm_steps", "mlm_layers", "seed"),
}
"""Protocols and the options each understands."""

PUBLISHED_SIFTS: Mapping[str, Mapping[str, Any]] = {
    f"sift-{number}": {"rule": "frequency", "max_count": count} for number, count in ((1, 2), (2, 6), (3, 10))
}
"""What ``sift-1`` to ``sift-3`` mean unless options say otherwise: the sets published for WebNLG."""


def build_protocol(
    name: str,
    splits: Splits,
    options: Mapping[str, Any] | None = None,
    *,
    masked_lm: str | Path | None = None,
    vectors: str | Path | None = None,
    encoder: str | Path | None = None,
    raw: Sequence[Sentence] | None = None,
) -> tuple[Splits, dict[str, Any]]:
    """Build the sets of a protocol.

    Args:
        name: ``original``, ``rearranged``, ``sifted``, ``augmented``, ``cardinality``, or ``sift-…``, which is
            ``sifted`` by another name (for ``sift-1`` to ``sift-3`` with the published numbers as defaults).
        splits: the data set.
        options: see :data:`OPTIONS`; None stands for a missing value.
        masked_lm: for ``augmented``: folder of a masked language model; default: one trained from ``encoder``.
        vectors: for ``augmented``: file of word vectors; default: derived from ``encoder``.
        encoder: for ``augmented``: folder of an encoder.
        raw: for ``cardinality``: the sentences of the raw corpus.

    Returns:
        The sets and a report: ``protocol``, ``options``, ``sizes`` (sentences, triples each once a sentence, and
        zero-triple sentences of each set), ``audit`` (of the test set against training, see
        :func:`~tripleaudit.protocols.strata.audit_corpus`) and ``details`` of the protocol.

    Raises:
        UserError: an unknown protocol or option, impossible values, or unusable data.
    """
    kind = "sifted" if re.fullmatch(r"sift-[A-Za-z0-9]+", name) else name
    if kind not in OPTIONS:
        raise UserError(
            f"unknown protocol {name!r}, expected original, rearranged, sifted, sift-…, augmented or cardinality"
        )
    given = {key: value for key, value in (options or {}).items() if value is not None}
    unknown = sorted(set(given) - set(OPTIONS[kind]))
    if unknown:
        expected = ", ".join(OPTIONS[kind]) or "none"
        raise UserError(f"protocol {name}: unknown option {unknown[0]!r}, expected {expected}")
    if kind == "sifted":
        given = {**PUBLISHED_SIFTS.get(name, {}), **given} if "rule" not in given else given
        if "rule" not in given:
            raise UserError(f"protocol {name}: option 'rule' is missing, expected frequency or sample")
    if kind == "rearranged":
        built, details = rearrange(splits, **given)
    elif kind == "sifted":
        built, details = sift(splits, **given)
    elif kind == "cardinality":
        if raw is None or "zero_sizes" not in given:
            raise UserError("cardinality: expected the raw corpus and zero_sizes (nyt24, nyt29 or N,N,N)")
        built, details = add_zero_sentences(
            splits, raw, parse_zero_sizes(given["zero_sizes"]), seed=given.get("seed", 0)
        )
    elif kind == "augmented":
        built, details = _augment(splits, given, masked_lm, vectors, encoder)
    else:
        built, details = splits, {}
    sizes = {}
    for split, sentences in built:
        measured = audit_corpus((), sentences)
        sizes[split] = {key: measured[key] for key in ("sentences", "triples", "zero_triple_sentences")}
    report = {
        "protocol": name,
        "options": given,
        "sizes": sizes,
        "audit": audit_corpus(built.train, built.test),
        "details": details,
    }
    return built, report


def _augment(
    splits: Splits,
    options: dict[str, Any],
    masked_lm: str | Path | None,
    vectors: str | Path | None,
    encoder: str | Path | None,
) -> tuple[Splits, dict[str, Any]]:
    from tripleaudit.protocols.augmented import augment, check_request
    from tripleaudit.protocols.augmented.masked_lm import MaskedLanguageModel
    from tripleaudit.protocols.augmented.vectors import NearestWords, derive_vectors, load_vectors

    if (masked_lm is None or vectors is None) and encoder is None:
        raise UserError("augmented: expected a masked language model and word vectors, or an encoder to make them from")
    options = dict(options)
    batch_size = options.pop("batch_size", 64)
    training = {key: options.pop(f"mlm_{key}") for key in ("steps", "layers") if f"mlm_{key}" in options}
    known = load_vectors(vectors) if vectors else derive_vectors(encoder, [*splits.train, *splits.test])
    nearest = NearestWords(known)
    check_request(splits, nearest, **{name: options[name] for name in ("k", "beams") if name in options})
    with tempfile.TemporaryDirectory() as folder:
        if masked_lm is None:
            from tripleaudit.protocols.augmented.train_mlm import train_masked_lm

            masked_lm = folder
            train_masked_lm(encoder, splits.train, masked_lm, seed=options.get("seed", 0), **training)
        model = MaskedLanguageModel(masked_lm, batch_size=batch_size)
    return augment(splits, model, nearest, **options)
