"""Protocols by name: new sets from a data set and options, with a report."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence
from tripleaudit.protocols.augmented.train_mlm import STEPS, train_masked_lm
from tripleaudit.protocols.spec import PROTOCOLS, ProtocolSpec
from tripleaudit.protocols.splits import Splits
from tripleaudit.protocols.strata import audit_corpus, counts
from tripleaudit.protocols.variants import named_by_position, variants_of


def spec_of(name: str) -> ProtocolSpec:
    """Return the protocol that a name stands for, such as ``sifted`` for ``sift-1``.

    Raises:
        UserError: there is none.
    """
    found = next((spec for spec in PROTOCOLS.values() if spec.means(name)), None)
    if found is None:
        raise UserError(f"unknown protocol {name!r}, expected {', '.join(PROTOCOLS)} or sift-…")
    return found


def build_protocol(
    name: str, splits: Splits, options: Mapping[str, Any] | None = None, **inputs: Any
) -> tuple[Splits, dict[str, Any]]:
    """Build the sets of a protocol.

    Args:
        name: of a protocol, or ``sift-…``, which is ``sifted`` by another name (for ``sift-1`` to
            ``sift-3`` with the published numbers as defaults).
        splits: the data set; with the option ``source: published`` the published sets, or with
            ``source: files`` the user's, passed on as they are but for the ids of published
            variants.
        options: those of the protocol's spec; None stands for a missing value.
        inputs: what the protocol needs besides
            (:attr:`tripleaudit.protocols.spec.ProtocolSpec.inputs`); what it does not need is
            left aside. ``original`` are the test sentences whose variants a given test set holds.

    Returns:
        The sets and a report: ``protocol``, ``options``, ``sizes`` (sentences, triples each once a
        sentence, and zero-triple sentences of each set), ``audit`` (of the test set against
        training, see :func:`~tripleaudit.protocols.strata.audit_corpus`) and ``details`` of the
        protocol.

    Raises:
        UserError: an unknown protocol or option, impossible values, or unusable data.
    """
    spec = spec_of(name)
    given = {key: value for key, value in (options or {}).items() if value is not None}
    source = given.pop("source", "made") if spec.published else "made"
    if source != "made" and given:
        raise UserError(
            f"protocol {name}: option {next(iter(given))!r} has no meaning with source: {source}"
        )
    if unknown := sorted(set(given) - set(spec.options)):
        expected = ", ".join(spec.options) or "none"
        raise UserError(f"protocol {name}: unknown option {unknown[0]!r}, expected {expected}")
    if not set(spec.required) <= set(given):
        given = {**spec.defaults.get(name, {}), **given}
    if missing := [option for option in spec.required if option not in given]:
        raise UserError(f"protocol {name}: option {missing[0]!r} is missing")
    if source == "made":
        built, details = spec.build(
            splits, **given, **{key: inputs.get(key) for key in spec.inputs}
        )
    else:
        built, details, given = (
            _paired(splits, source, inputs.get("original")),
            {},
            {"source": source},
        )
    return built, {
        "protocol": name,
        "options": given,
        "sizes": {split: counts(sentences) for split, sentences in built},
        "audit": audit_corpus(built.train, built.test),
        "details": details,
    }


def _paired(splits: Splits, source: str, original: list[Sentence] | None) -> Splits:
    """Return given sets, of which variants of test sentences name the one that they are of."""
    if original is None:
        return splits
    if source == "published":
        return Splits(splits.train, splits.valid, named_by_position(original, splits.test))
    variants_of(
        [row.id for row in original], [row.id for row in splits.test], "corpora/…/files/augmented"
    )
    return splits


def _augmented(
    splits: Splits,
    *,
    masked_lm: str | Path | None = None,
    vectors: str | Path | None = None,
    encoder: str | Path | None = None,
    batch_size: int = 64,
    mlm_steps: int = STEPS,
    mlm_layers: int | None = None,
    **options: Any,
) -> tuple[Splits, dict[str, Any]]:
    from tripleaudit.protocols.augmented.masked_lm import MaskedLanguageModel
    from tripleaudit.protocols.augmented.replaced import augment, check_words
    from tripleaudit.protocols.augmented.vectors import NearestWords, derive_vectors, load_vectors

    source = encoder or masked_lm
    if source is None:
        raise UserError(
            "augmented: expected a masked language model, or an encoder to make one from"
        )
    derived = derive_vectors(source, [*splits.train, *splits.test])
    nearest = NearestWords(load_vectors(vectors), derived) if vectors else NearestWords(derived)
    check_words(splits, nearest)
    with tempfile.TemporaryDirectory() as folder:
        if masked_lm is None:
            masked_lm = folder
            own = {"steps": mlm_steps, "layers": mlm_layers, "seed": options.get("seed", 0)}
            train_masked_lm(source, splits.train, masked_lm, **own)
        model = MaskedLanguageModel(masked_lm, batch_size=batch_size)
    return augment(splits, model, nearest, **options)


ORIGINAL = ProtocolSpec(name="original", label="Ori.", order=0, build=lambda splits: (splits, {}))
AUGMENTED = ProtocolSpec(
    name="augmented",
    label="Aug.",
    order=3,
    build=_augmented,
    options=("k", "beams", "roles", "fallback", "batch_size", "mlm_steps", "mlm_layers", "seed"),
    inputs=("masked_lm", "vectors", "encoder"),
    train=False,
    published=True,
)
