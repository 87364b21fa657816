"""Audits of a protocol of a corpus: triple types, strata and sizes of the splits."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.core.files import write_json
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.remarks import stored_remarks
from tripleaudit.corpora.store import load_sentences, load_set
from tripleaudit.protocols.leakage import leakage
from tripleaudit.protocols.strata import audit_corpus
from tripleaudit.protocols.types import SeenTriples, distinct_triples
from tripleaudit.protocols.variants import original_of, variants_of
from tripleaudit.scoring.units import triple_groups

SPLITS = ("train", "valid", "test")


def sizes(sentences: Sequence[Sentence]) -> dict[str, int]:
    """Count sentences with triples, their distinct triples, and sentences without triples."""
    triples = [len(distinct_triples(sentence)) for sentence in sentences]
    return {
        "sentences": len(sentences),
        "sentences_with_triples": sum(number > 0 for number in triples),
        "triples": sum(triples),
        "zero_triple_sentences": sum(number == 0 for number in triples),
    }


def study_audit(
    keys: Mapping[str, str],
    splits: Mapping[str, Sequence[Sentence]],
    with_zero: Mapping[str, Sequence[Sentence]] | None = None,
    original: Sequence[Sentence] = (),
) -> dict[str, Any]:
    """Audit a protocol's test set against its training set and count its splits.

    Args:
        keys: ``study``, ``corpus`` and ``protocol``.
        splits: ``train``, ``valid`` and ``test``; the NZ sets.
        with_zero: the same splits with their zero-triple sentences (WZ), if the study has them.
        original: the test sentences whose variants the test set has, if it has such.

    Returns:
        :func:`tripleaudit.protocols.strata.audit_corpus` plus ``keys``, ``splits`` (split ->
        :func:`sizes`) and ``cardinality`` (the same of the WZ splits, empty without them), and
        ``leakage``: what the test set shares with training, and of the original splits, what each
        pair shares (:mod:`tripleaudit.protocols.leakage`); ``groups``, the number of groups of test
        sentences that share gold triples. With ``original`` there is an ``example``, too
        (:func:`example`).
    """
    pairs = [("train", "test")]
    if keys["protocol"] == "original":
        pairs = [("train", "valid"), ("train", "test"), ("valid", "test")]
    shared = [
        {"from": one, "into": other, **leakage(splits[one], splits[other])}
        for one, other in pairs
        if splits.get(one) and splits.get(other)
    ]
    test = splits.get("test", ())
    originals = [original_of(sentence.id) if original else sentence.id for sentence in test]
    groups = len(set(triple_groups(test, originals)))
    shown = (
        {"example": example(original, splits["test"], SeenTriples(splits["train"]))}
        if original
        else {}
    )
    return {
        "keys": dict(keys),
        **audit_corpus(splits["train"], splits["test"]),
        "splits": {name: sizes(sentences) for name, sentences in splits.items()},
        "leakage": shared,
        "groups": groups,
        "cardinality": {name: sizes(sentences) for name, sentences in (with_zero or {}).items()},
        **shown,
    }


def example(
    original: Sequence[Sentence], augmented: Sequence[Sentence], seen: SeenTriples
) -> list[dict[str, Any]]:
    """Return a test sentence and its variants with triples and their types.

    It is the first sentence whose variants all differ; nothing without such a sentence
    (rte-generalization, Fig. 2). Each has ``name`` (empty for the sentence itself), ``text`` and
    ``triples`` (three strings and a type).
    """

    def shown(each: Sentence, name: str) -> dict[str, Any]:
        triples = [[*triple, seen.type_of(triple)] for triple in distinct_triples(each)]
        return {"name": name, "text": each.text, "triples": triples}

    found = variants_of([each.id for each in original], [each.id for each in augmented])
    for sentence, positions in zip(original, found, strict=True):
        several = [sentence, *(augmented[position] for position in positions)]
        if (
            len(positions) > 1
            and sentence.triples
            and len({each.text for each in several}) == len(several)
        ):
            return [shown(each, each.id[len(sentence.id) + 1 :]) for each in several]
    return []


def _load_splits(paths: Sequence[str | Path]) -> dict[str, list[Sentence]]:
    train, valid, test = paths
    return {
        "train": load_set(train),
        "valid": load_sentences(valid),
        "test": load_set(test),
    }


def write_study_audit(
    *,
    keys: Mapping[str, str],
    splits: Sequence[str | Path],
    out: str | Path,
    with_zero: Sequence[str | Path] = (),
    counts: Sequence[str | Path] = (),
    original: Sequence[str | Path] = (),
) -> None:
    """Read the splits of a protocol and write their :func:`study_audit` as JSON.

    The ``remarks`` come from the reports on reading the corpus's splits (``counts``).
    """
    loaded = _load_splits(splits)
    zero = _load_splits(with_zero) if with_zero else {}
    remarks = [
        f"{Path(path).name.partition('.')[0]}: {text}"
        for path in counts
        for text in stored_remarks(path)
    ]
    tested = [sentence for path in original for sentence in load_sentences(path)]
    write_json(out, {**study_audit(keys, loaded, zero, tested), "remarks": remarks})
