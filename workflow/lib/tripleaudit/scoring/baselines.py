"""Baselines that learn nothing: what a score is worth shows next to theirs.

``nothing``     extracts nothing. Its F1 is 0, also where a test set without triples leaves nothing to miss.
``memorise``    looks training triples up. Of every two entity strings that some training triple joins, it keeps the
                triple that most training sentences have (of equally many the one seen first). It predicts that triple
                for each sentence that has both strings, case by case, with no letter or digit touching them. Their
                first occurrences are the spans. Nothing in a sentence says whether the relation holds, so right
                triples are those that two names alone give away; none of them is partially seen or unseen.
``always-yes``  says of each sentence that it has triples.

They are deterministic: they have no seed, and no interval over runs.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tripleaudit.core import memory
from tripleaudit.core.files import write_json, write_jsonl
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.spans import find_spans
from tripleaudit.corpora.store import load_set, save_sentences
from tripleaudit.protocols.types import Strings, distinct_triples


def _memorised(train: Sequence[Sentence], test: Sequence[Sentence]) -> Iterator[tuple[Triple, ...]]:
    # two entity strings, one where a triple has the same twice -> its triples
    counted: dict[frozenset[str], Counter[Strings]] = defaultdict(Counter)
    for sentence in train:
        for triple in distinct_triples(sentence):
            counted[frozenset((triple[0], triple[2]))][triple] += 1
    likeliest = {pair: max(triples, key=triples.__getitem__) for pair, triples in counted.items()}
    names = sorted({name for pair in likeliest for name in pair})
    for sentence in test:
        found = {name: span for name in names if (span := first_mention(sentence.text, name))}
        pairs = [frozenset((one, other)) for one in found for other in found if one <= other]
        known = [likeliest[pair] for pair in pairs if pair in likeliest]
        yield tuple(
            Triple(found[subject], relation, found[object_]) for subject, relation, object_ in known
        )


def first_mention(text: str, name: str) -> Span | None:
    """Return where a string stands in a text for the first time, as whole words."""
    if name not in text:  # by far the most
        return None
    spans, level = find_spans(text, name)
    return Span(*spans[0], name) if level in ("word", "token") else None


def write_predictions(baseline: str, train: Path, test: Path, out: Path) -> None:
    """Write predictions, or decisions, of a baseline on a test set.

    Raises:
        UserError: a file cannot be read.
    """
    spec, sentences = BASELINES[baseline], load_set(test)
    start = time.monotonic()
    said = list(spec.predict(load_set(train), sentences))
    took = {
        "seconds": round(time.monotonic() - start, 3),
        "sentences": len(sentences),
        "device": "cpu",
    }
    write_json(f"{out}.provenance.json", {**took, "peak_mb": memory.peak_mb()})
    pairs = zip(sentences, said, strict=True)
    if spec.classifier:
        write_jsonl(out, ({"id": sentence.id, "score": score} for sentence, score in pairs))
    else:
        save_sentences(out, [replace(sentence, triples=triples) for sentence, triples in pairs])


@dataclass(frozen=True)
class Baseline:
    """A system that learns nothing, as a row next to those that do.

    Attributes:
        label: as people read it.
        predict: ``(training sentences, test sentences) -> Iterable``, for each test sentence its
            triples, or of a classifier the score in [0, 1] that it has any.
        note: under every table that has it.
        classifier: whether it says only which sentences have triples.
    """

    label: str
    predict: Callable[[Any, Any], Iterable[Any]]
    note: str
    classifier: bool = False


BASELINES = {
    "memorise": Baseline(
        "Memorised triples",
        _memorised,
        "Memorised triples: no training. Of every two entity strings that a training triple joins, its most frequent "
        "triple is predicted wherever a sentence has both.",
    ),
    "nothing": Baseline(
        "Nothing", lambda train, test: [()] * len(test), "Nothing: no triple is ever extracted."
    ),
    "always-yes": Baseline(
        "Always yes",
        lambda train, test: [1.0] * len(test),
        "Always yes: every sentence is said to have triples.",
        classifier=True,
    ),
}
