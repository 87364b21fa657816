"""What a careful colleague would say about a corpus file before anything is trained on it."""

import difflib
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tripleaudit.corpora.corpus import Corpus
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.remarks import remarks
from tripleaudit.corpora.spans import find_spans
from tripleaudit.corpora.verbaliser import bare
from tripleaudit.corpora.words import segment_spans, segments
from tripleaudit.protocols.leakage import Copies
from tripleaudit.protocols.types import distinct_triples

FEW: Final = 5  # examples of a relation below which nothing can be learned or measured
SHOWN: Final = 3
MISSING: Final = {
    "case": "entities are in their sentence in another case only; uncased: true (prepare --uncased) reads them",
    "blanks": "entities are in their sentence with other blanks only, as where tokens were joined in two ways",
    "strings": "entities are not in their sentence; their triples count as gold and cannot be trained on",
}


@dataclass(frozen=True)
class Finding:
    """One thing to look at.

    Attributes:
        check, count: short name of what was looked at, and how often it was found.
        text: one sentence, with what to do where something can be done.
        examples: some of them.
    """

    check: str
    count: int
    text: str
    examples: tuple[str, ...] = ()


def _found(check: str, examples: Sequence[str], text: str) -> Finding:
    """Return what was found in some examples; ``text`` follows their number."""
    return Finding(check, len(examples), f"{len(examples)} {text}", tuple(examples[:SHOWN]))


def findings(corpus: Corpus, train: Corpus | None = None) -> list[Finding]:
    """Return what is noticeable about a corpus; of a test set, also against its training set."""
    sentences = corpus.sentences
    found = itertools.chain(
        _missing(sentences),
        _not_words(sentences),
        _forms(sentences),
        _copies(sentences),
        (Finding(kind.replace("_", "-"), *each) for kind, each in remarks(corpus.report).items()),
        _relations(corpus, train),
        _noise(sentences),
        _nesting(sentences),
    )
    return [finding for finding in found if finding.count]


def _names(sentence: Sentence) -> list[str]:
    return sorted(
        {part.text for triple in sentence.triples for part in (triple.subject, triple.object)}
    )


def _missing(sentences: Sequence[Sentence]) -> Iterator[Finding]:
    """Entities that are not in the text, by what is different."""
    kinds: dict[str, Counter[tuple[str, str]]] = {kind: Counter() for kind in MISSING}
    for text, entity in (
        (sentence.text, entity) for sentence in sentences for entity in _names(sentence)
    ):
        if entity not in text:
            folded, joined = (
                entity.casefold() in text.casefold(),
                "".join(entity.split()) in "".join(text.split()),
            )
            kinds["case" if folded else "blanks" if joined else "strings"][entity, text] += 1
    for kind, examples in kinds.items():
        near = (
            (entity, nearest(entity, text)) for entity, text in itertools.islice(examples, SHOWN)
        )
        shown = (
            f"{entity!r}, nearest is {one!r}" if one else f"{entity!r}, nothing is near"
            for entity, one in near
        )
        yield Finding(
            f"missing-{kind}", examples.total(), f"{examples.total()} {MISSING[kind]}", tuple(shown)
        )


def _not_words(sentences: Sequence[Sentence]) -> Iterator[Finding]:
    """Return entities that are no words: marks alone, or strings that cut a word."""
    examples = []
    for sentence in sentences:
        for entity in _names(sentence):
            only_marks = not any(char.isalnum() for char in entity)
            if only_marks or find_spans(sentence.text, entity)[1] == "substring":
                examples.append(f"{sentence.id}: {entity!r}")
    yield _found(
        "not-words",
        examples,
        "entities are no words of their sentence: marks alone, or cut inside a word",
    )


def nearest(entity: str, text: str) -> str:
    """Return the words of a text that are most like a string; empty if none are like it."""
    spans, size = segment_spans(text), len(segments(entity))
    windows = [
        text[spans[first][0] : spans[first + length - 1][1]]
        for length in range(max(size - 1, 1), size + 2)
        for first in range(len(spans) - length + 1)
    ]
    folded: dict[str, str] = {}
    for window in windows:
        folded.setdefault(window.casefold(), window)
    close = difflib.get_close_matches(entity.casefold(), folded, 1, cutoff=0.6)
    return folded[close[0]] if close else ""


def _forms(sentences: Sequence[Sentence]) -> Iterator[Finding]:
    """Blanks around strings, and names of one relation in several spellings."""
    strings = Counter(text for s in sentences for triple in s.triples for text in triple.strings)
    padded = [text for text in strings if text != text.strip()]
    yield Finding(
        "blanks",
        sum(strings[text] for text in padded),
        f"{len(padded)} different strings of triples begin or end with blanks",
        tuple(map(repr, padded[:SHOWN])),
    )
    spelled: dict[str, set[str]] = defaultdict(set)
    for relation in {triple.relation for sentence in sentences for triple in sentence.triples}:
        spelled[bare(relation)].add(relation)
    several = [" / ".join(sorted(names)) for _, names in sorted(spelled.items()) if len(names) > 1]
    yield _found("spelling", several, "relations are spelled in several ways")


def _copies(sentences: Sequence[Sentence]) -> Iterator[Finding]:
    copies = Copies([sentence.text for sentence in sentences])
    examples: dict[str, list[str]] = defaultdict(list)
    for copy in copies.of():
        one, other = sentences[copy.position], sentences[copy.other]
        cut = one.text if len(one.text) <= 80 else f"{one.text[:79]}…"
        examples["near" if copy.kind == "near" else "again"].append(
            f"{one.id} is like {other.id}: {cut}"
        )
        if copy.kind == "equal" and set(distinct_triples(one)) != set(distinct_triples(other)):
            examples["differing"].append(f"{one.id} and {other.id}")
    yield _found(
        "repeated", examples["again"], "sentences are repeated (up to case and punctuation)"
    )
    near = f"sentences share at least {copies.threshold:.0%} of their words with another one"
    yield _found("near-repeated", examples["near"], near)
    yield _found(
        "contradictory-copies",
        examples["differing"],
        "repeated sentences have other triples than their copy",
    )


def _relations(corpus: Corpus, train: Corpus | None) -> Iterator[Finding]:
    counts = corpus.report.relation_counts
    if train is None:
        few = [f"{name} ({count})" for name, count in counts.items() if count < FEW]
        text = f"{len(few)} relations have fewer than {FEW} triples"
        yield Finding("rare-relations", len(few), text, tuple(few[-SHOWN:]))
    else:
        unknown = [
            f"{name} ({count})"
            for name, count in counts.items()
            if name not in train.report.relation_counts
        ]
        yield _found("unknown-relations", unknown, "relations have no training triple")


def _noise(sentences: Sequence[Sentence]) -> Iterator[Finding]:
    """Return hints at label noise: several relations of a pair, loops, both directions."""
    several, loops, both = [], [], []
    for sentence in sentences:
        relations: dict[tuple[str, str], set[str]] = defaultdict(set)
        for subject, relation, object_ in sorted(distinct_triples(sentence)):
            relations[subject, object_].add(relation)
            if subject == object_:
                loops.append(f"{sentence.id}: ({subject}; {relation}; {object_})")
        for (subject, object_), names in relations.items():
            if len(names) > 1:
                several.append(f"{sentence.id}: {subject} – {object_}: {', '.join(sorted(names))}")
            if subject < object_ and names & relations.get((object_, subject), set()):
                both.append(f"{sentence.id}: {subject} – {object_}")
    exclusive = "entity pairs have several relations in one sentence; do they exclude each other?"
    yield _found("several-relations", several, exclusive)
    yield _found("loops", loops, "triples have the same subject and object")
    yield _found("both-directions", both, "entity pairs have the same relation in both directions")


def _nesting(sentences: Sequence[Sentence]) -> Iterator[Finding]:
    nested = []
    for sentence in sentences:
        spans = {
            part
            for triple in sentence.triples
            for part in (triple.subject, triple.object)
            if part.located
        }
        if len(spans) < 2:
            continue
        for outer, inner in itertools.permutations(sorted(spans, key=lambda span: span.offsets), 2):
            (start, end), (first, last) = outer.offsets, inner.offsets
            if start <= first and last <= end:
                nested.append(f"{sentence.id}: {inner.text!r} in {outer.text!r}")
    yield _found(
        "nesting",
        nested,
        "entities stand inside another one; some extractors cannot represent that",
    )
