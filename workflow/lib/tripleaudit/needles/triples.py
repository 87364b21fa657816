"""Triple needles: sentences that state known triples, infused into documents.

MINEA measures entities that a language model extracts. The same idea with triples puts trained extractors and language
models on one scale: the enriched documents become ordinary records (:class:`~tripleaudit.corpora.model.Sentence`, one
for each sentence, or one for each piece), any extractor predicts on them, and a triple counts as found when the
predictions for its document hold it. This is the project's own measure; no paper defines it.

Criteria, for a needle's triple and the triples predicted in its document:

- ``exact``: subject, relation and object are equal;
- ``partial``: the relation is equal, the entities have equal last words;
- ``verbalised``: relation and entities are equal as words, without case, articles and separators, so that
  ``place of birth`` is ``/people/person/place_of_birth``;
- ``pair``: both entities are equal as words, in any order, whatever the relation. It is reported next to the others and
  enters no MINEA.
"""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.errors import UserError
from tripleaudit.fields import CLOSED
from tripleaudit.llm.splitting import sentences as sentence_spans
from tripleaudit.llm.splitting import split
from tripleaudit.needles.entities import normalise
from tripleaudit.needles.haystack import TARGET, Document, Infusion, infuse, needed
from tripleaudit.needles.minea import rate_rows, type_scores
from tripleaudit.needles.needle import one_paragraph

CRITERIA = ("exact", "partial", "verbalised")
ALL_CRITERIA = (*CRITERIA, "pair")
RECORD = "#"  # a record's id is the document's, this mark, and a number
_ARTICLES = {"a", "an", "the"}


@dataclass(frozen=True, slots=True)
class TripleNeedle:
    """One infused triple: where it stands, and at which depth of its document (0 = first character, 1 = end)."""

    __pydantic_config__ = CLOSED

    id: str
    doc: str
    record: str
    source: str
    subject: str
    relation: str
    object: str
    depth: float


@dataclass(frozen=True)
class TripleCorpus:
    """Enriched documents as records with their gold triples, the needles, and how they were infused."""

    records: list[Sentence]
    needles: list[TripleNeedle]
    infusions: list[Infusion]


def haystacks(sentences: Iterable[Sentence], count: int, length: int, seed: int) -> list[Document]:
    """Join sentences without triples to ``count`` documents of ``length`` sentences each, four to a paragraph.

    Raises:
        UserError: there are too few such sentences.
    """
    bare = sorted({one_paragraph(sentence.text) for sentence in sentences if not sentence.triples} - {""})
    if len(bare) < count * length:
        raise UserError(
            f"triple needles: {count} documents of {length} sentences need {count * length} different sentences "
            f"without triples, but there are only {len(bare)}; lower 'documents' or 'sentences'"
        )
    random.Random(f"haystacks:{seed}").shuffle(bare)
    documents = []
    for number in range(count):
        own = bare[number * length : (number + 1) * length]
        text = "\n\n".join(" ".join(own[start : start + 4]) for start in range(0, length, 4))
        documents.append(Document(f"haystack{number + 1}", text + "\n"))
    return documents


def infuse_triples(
    documents: Sequence[Document],
    sentences: Sequence[Sentence],
    seed: int,
    piece_chars: int | None = None,
    **share: float,
) -> TripleCorpus:
    """Infuse sentences that state triples into documents.

    Args:
        sentences: the source of needles; those with located triples only are used, relations taking turns so that
            rare ones are there, too. No sentence and no triple is used twice.
        piece_chars: make records of this length (pieces) instead of sentences.
        share: of the needles in each enriched document, as :func:`.haystack.infuse` has it.

    Raises:
        UserError: no usable sentence is there, or the share cannot be reached.
    """
    pool = _in_turns(sentences, seed)
    if not pool:
        raise UserError("triple needles: the corpus has no sentence whose triples all have a position in it")
    records: list[Sentence] = []
    needles: list[TripleNeedle] = []
    infusions: list[Infusion] = []
    given = {document.id: pool[number :: len(documents)] for number, document in enumerate(documents)}
    for document in documents:
        known = document.text
        chosen = {s.id: s for s in given[document.id] if one_paragraph(s.text) not in known}
        chosen = _enough(chosen, len(known), share.get("target", TARGET))
        pairs = [(sentence.id, sentence.text) for sentence in chosen.values()]
        infusion = infuse(document, pairs, seed, **share)
        own = list(_records(infusion, chosen, piece_chars))
        infusions.append(infusion)
        for record, inside in own:
            records.append(record)
            for placed in inside:
                depth = round(placed.text_start / len(infusion.text), 6)
                for triple in chosen[placed.id].triples:
                    where = (f"{document.id}:{len(needles):04d}", document.id, record.id, placed.id)
                    needles.append(TripleNeedle(*where, *triple.strings, depth))
    return TripleCorpus(records, needles, infusions)


def found(needles: Sequence[TripleNeedle], predictions: Iterable[Sentence]) -> list[dict[str, Any]]:
    """Return one row per needle with a truth value for each criterion.

    Args:
        predictions: records with predicted triples; the part of a record's id before ``#`` names its document.

    Raises:
        UserError: no record belongs to the needles' documents.
    """
    by_doc: dict[str, list[Triple]] = {}
    for record in predictions:
        by_doc.setdefault(document_of(record.id), []).extend(record.triples)
    docs = {needle.doc for needle in needles}
    if needles and not docs & set(by_doc):
        raise UserError("triple needles: no prediction belongs to their documents; expected ids such as 'doc#0001'")
    keys = {doc: {c: {_key(t.strings, c) for t in by_doc.get(doc, ())} for c in ALL_CRITERIA} for doc in docs}
    rows = []
    for needle in needles:
        strings = (needle.subject, needle.relation, needle.object)
        hits = {c: _key(strings, c) in keys[needle.doc][c] for c in ALL_CRITERIA}
        rows.append({**asdict(needle), "type": needle.relation, **hits})
    return rows


def triple_rows(
    rows: Sequence[Mapping[str, Any]], bins: int
) -> Iterator[tuple[str, str, str, float, float | None, float | None]]:
    """Yield ``(stratum, matching, metric, value, low, high)`` by relation, by position and over all needles.

    Positions are ``bins`` equal parts of the documents, ``position:1`` the first. MINEA of a position is that of its
    needles: best criterion by relation, weighted by needles.
    """
    strata: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        strata.setdefault(f"relation:{row['relation']}", []).append(row)
    for number in range(bins):
        inside = [row for row in rows if min(int(row["depth"] * bins), bins - 1) == number]
        if inside:
            strata[f"position:{number + 1}"] = inside
    strata = dict(sorted(strata.items()))
    if rows:
        strata["all"] = list(rows)
    for stratum, inside in strata.items():
        found_by = {criterion: sum(row[criterion] for row in inside) for criterion in ALL_CRITERIA}
        yield from rate_rows(stratum, list(type_scores(inside, CRITERIA).values()), found_by)


def spurious(predictions: Iterable[Sentence], needles: Sequence[TripleNeedle]) -> tuple[int, int]:
    """Return ``(triples predicted, records)`` over the records that hold no needle."""
    holding = {needle.record for needle in needles}
    bare = [record for record in predictions if record.id not in holding]
    return sum(len(record.triples) for record in bare), len(bare)


def document_of(record: str) -> str:
    """Return the document that a record belongs to."""
    return record.rsplit(RECORD, 1)[0]


def verbalise(relation: str) -> str:
    """Return a relation's name as words: the last part of a path, camel case and separators undone."""
    name = re.split(r"[/:]", relation.strip("/"))[-1]
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return " ".join(re.findall(r"\w+", name.replace("_", " ").casefold()))


def _key(strings: tuple[str, str, str], criterion: str) -> Any:
    subject, relation, obj = strings
    if criterion == "exact":
        return normalise(subject), relation, normalise(obj)
    if criterion == "partial":
        return _last(subject), relation, _last(obj)
    if criterion == "verbalised":
        return _words(subject), verbalise(relation), _words(obj)
    return frozenset((_words(subject), _words(obj)))


def _last(text: str) -> str:
    return (normalise(text).split() or [""])[-1]


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in re.findall(r"\w+", normalise(text, True)) if word not in _ARTICLES)


def _in_turns(sentences: Sequence[Sentence], seed: int) -> list[Sentence]:
    """Usable sentences, shuffled, relations taking turns; a sentence belongs to the relation of its first triple."""
    usable = [s for s in sentences if s.triples and all(t.located for t in s.triples)]
    usable = [
        s for s in usable if "\n" not in s.text and "\r" not in s.text and s.text == s.text.strip()
    ]  # a paragraph
    random.Random(f"triples:{seed}").shuffle(usable)
    queues: dict[str, list[Sentence]] = {}
    triples: set[tuple[str, str, str]] = set()
    ids: set[str] = set()
    for sentence in usable:
        strings = {triple.strings for triple in sentence.triples}
        queue = queues.setdefault(sentence.triples[0].relation, [])
        if strings & triples or sentence.id in ids:
            continue
        triples |= strings
        ids.add(sentence.id)
        queue.append(sentence)
    order = sorted(queues)
    longest = max(map(len, queues.values()), default=0)
    return [queues[relation][turn] for turn in range(longest) for relation in order if turn < len(queues[relation])]


def _enough(sentences: dict[str, Sentence], length: int, target: float) -> dict[str, Sentence]:
    """The first sentences that fill the target share: those that are infused should keep the order of relations."""
    kept, size = {}, 0
    for key, sentence in sentences.items():
        if size >= needed(length, target):
            break
        kept[key] = sentence
        size += len(sentence.text) + 2
    return kept


def _records(
    infusion: Infusion, sources: Mapping[str, Sentence], piece_chars: int | None
) -> Iterator[tuple[Sentence, list]]:
    text, protected = infusion.text, infusion.spans()
    if piece_chars is None:
        cuts = {position for span in sentence_spans(text) for position in span}
        cuts = {position for position in cuts if not any(a < position < b for a, b in protected)}
        ends = sorted(cuts | {position for span in protected for position in span})
        spans = list(zip(ends, ends[1:], strict=False))
    else:
        spans = split(text, piece_chars, protected)
    number = 0
    for start, end in spans:
        body = text[start:end]
        stripped = body.strip()
        if not stripped:
            continue
        offset = start + body.index(stripped)
        inside = [p for p in infusion.needles if offset <= p.text_start and p.text_end <= offset + len(stripped)]
        triples = tuple(
            _shifted(triple, placed.text_start - offset) for placed in inside for triple in sources[placed.id].triples
        )
        yield Sentence(f"{infusion.doc}{RECORD}{number:04d}", stripped, triples), inside
        number += 1


def _shifted(triple: Triple, by: int) -> Triple:
    def moved(span: Span) -> Span:
        start, end = span.offsets  # no other sentence is infused
        return Span(start + by, end + by, span.text, span.type)

    return Triple(moved(triple.subject), triple.relation, moved(triple.object))
