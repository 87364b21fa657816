"""The audit of one protocol of one corpus as the tables read it: triple types, strata and the sizes of the splits."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.remarks import stored_remarks
from tripleaudit.corpora.store import load_sentences
from tripleaudit.files import write_json
from tripleaudit.protocols.leakage import leakage
from tripleaudit.protocols.strata import audit_corpus
from tripleaudit.protocols.types import distinct_triples

SPLITS = ("train", "valid", "test")


def sizes(sentences: Sequence[Sentence]) -> dict[str, int]:
    """Count sentences with triples, their triples (each once a sentence), and sentences with zero triples."""
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
) -> dict[str, Any]:
    """Audit a protocol's test set against its training set and count its splits.

    Args:
        keys: ``study``, ``corpus`` and ``protocol``.
        splits: ``train``, ``valid`` and ``test``; the NZ sets.
        with_zero: the same splits with their zero-triple sentences (WZ), if the study has them.

    Returns:
        :func:`tripleaudit.protocols.strata.audit_corpus` plus ``keys``, ``splits`` (split -> :func:`sizes`) and
        ``cardinality`` (the same of the WZ splits, empty without them), and ``leakage``: what the test set shares with
        training, and of the original splits, what each pair shares (:mod:`tripleaudit.protocols.leakage`).
    """
    pairs = [("train", "test")]
    if keys["protocol"] == "original":
        pairs = [("train", "valid"), ("train", "test"), ("valid", "test")]
    shared = [
        {"from": one, "into": other, **leakage(splits[one], splits[other])}
        for one, other in pairs
        if splits.get(one) and splits.get(other)
    ]
    return {
        "keys": dict(keys),
        **audit_corpus(splits["train"], splits["test"]),
        "splits": {name: sizes(sentences) for name, sentences in splits.items()},
        "leakage": shared,
        "cardinality": {name: sizes(sentences) for name, sentences in (with_zero or {}).items()},
    }


def write_study_audit(
    *,
    keys: Mapping[str, str],
    splits: Sequence[str | Path],
    out: str | Path,
    with_zero: Sequence[str | Path] = (),
    counts: Sequence[str | Path] = (),
) -> None:
    """Read project JSONL splits, each as train, valid, test, and write their :func:`study_audit` as JSON.

    Args:
        counts: reports on reading the corpus's splits; the ``remarks`` are what they left out or changed.
    """
    loaded, zero = (
        dict(zip(SPLITS, map(load_sentences, paths), strict=True)) if paths else {} for paths in (splits, with_zero)
    )
    remarks = [f"{Path(path).name.partition('.')[0]}: {text}" for path in counts for text in stored_remarks(path)]
    write_json(out, {**study_audit(keys, loaded, zero), "remarks": remarks})
