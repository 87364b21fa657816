"""From what a file says to sentences with spans: locating entities, removing duplicates, counting
everything.

Readers yield :class:`RawSentence` objects; :func:`build_corpus` alone is where spans are found,
duplicates are removed and problems are counted, so that every format is treated alike.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

from tripleaudit.core.errors import UserError, hint
from tripleaudit.corpora.corpus_report import CorpusReport
from tripleaudit.corpora.model import Sentence, Span, Triple, misfit
from tripleaudit.corpora.remarks import KINDS, SHOWN
from tripleaudit.corpora.spans import OCCURRENCES, find_spans
from tripleaudit.corpora.verbaliser import bare
from tripleaudit.corpora.words import cuts_word

MISSING = frozenset(
    ("nan", "NaN", "NAN", "NULL", "Null", "null", "<NA>", "NaT", "#N/A", "N/A", "n/a", "None")
)
"""How tables write a value that is missing."""
RELATIONS_LEFT_OUT = frozenset(
    (
        "in_pieces",
        "relations_between_lines",
        "relations_to_events",
        "unlabelled_relations",
        "pairs_without_relation",
    )
)
"""Kinds of notes that tell of relations that are there and are not read."""
MALFORMED = "(no triple)"
"""Relation of an item of a system's output that is no triple: a wrong prediction."""
MANY = 10  # triples; fewer say nothing about the order of their parts
NONE = frozenset(("none", "na", "norelation"))
"""How files call a pair without a relation, but for case and punctuation."""
BROKEN = re.compile(r"[\ufffd\ufeff]|Ã[\x80-\xbf\u0152-\u2122]|Â[\xa0-\xbf]|â€")
"""What is left of characters that were read in another encoding than they were written in."""


class RawTriple(NamedTuple):
    """A triple as a file states it; a start is a character offset, or None where the file gives
    strings only.

    Types are those of the entities, None where the file has none. ``score`` is that of a predicted
    triple.
    """

    subject: str
    relation: str
    object: str
    subject_start: int | None = None
    object_start: int | None = None
    subject_type: str | None = None
    object_type: str | None = None
    score: float | None = None


@dataclass(slots=True)
class RawSentence:
    """One sentence as a file states it.

    Attributes:
        id, text: its name in the file, or its position; the text without line ends.
        triples: in the file's order, duplicates included.
        where: file and line or item, the start of every error message.
        listed: number of triples listed, where ``triples`` repeats or lacks some of them.
        left_out: what was left out or changed here, or before it in the file.
        entities: number of entities that are annotated, where the format lists them.
    """

    id: str
    text: str
    triples: list[RawTriple]
    where: str
    listed: int | None = None
    left_out: list["LeftOut"] = field(default_factory=list)
    entities: int = 0


class LeftOut(NamedTuple):
    """Something that a reader left out or changed; it yields it among its sentences, or notes it at
    one of them.

    Attributes:
        kind: of :data:`tripleaudit.corpora.remarks.KINDS`.
        example: where it was, and what.
    """

    kind: str
    example: str


@dataclass(slots=True)
class Corpus:
    """Sentences and the report about them."""

    sentences: list[Sentence]
    report: CorpusReport


def build_corpus(
    raw: Iterable[RawSentence], *, source: str, format: str, occurrence: str = "first"
) -> Corpus:
    """Locate the arguments of all triples, remove repeated triples inside sentences, and count.

    Ids of sentences are unique in the result: where one comes again (in the next of several files),
    the first of ``#2`` and so on that no sentence before has is added, which the note
    ``renamed_ids`` counts.

    Args:
        occurrence: ``first`` or ``all`` occurrences of a string that has no position of its own;
            ``given`` refuses such strings if they are in the text. With ``all``, every subject is
            paired with every object.

    Raises:
        UserError: a position does not fit the text, a position is missing with ``given``, there is
            no sentence, or ``occurrence`` is none of the three.
    """
    if occurrence not in OCCURRENCES:
        raise UserError(
            f"occurrence: {occurrence!r} is unknown, expected one of {', '.join(OCCURRENCES)}"
        )
    report = CorpusReport(source, format, occurrence)
    sentences: list[Sentence] = []
    texts, unique, ids = set[str](), set[Any](), set[str]()
    relations, found, notes, times, inside = (Counter[Any]() for _ in range(5))
    cut, turned, with_entities = [], [], []
    for item in raw:
        check_characters(
            (item.id, item.text, *(part for t in item.triples for part in t[:3])), item.where
        )
        listed = len(item.triples) if item.listed is None else item.listed
        finder = _Finder(item, occurrence)
        triples: list[Triple] = []
        strings: dict[Any, Any] = {}
        for raw_triple in item.triples:
            subject, relation, object_, *starts, subject_type, object_type, score = raw_triple
            if not relation:
                raise UserError(f"{item.where}: the triple {raw_triple[:3]!r} has no relation")
            subjects, subject_level = finder.spans(subject, starts[0], subject_type)
            objects, object_level = finder.spans(object_, starts[1], object_type)
            strings.setdefault(raw_triple[:3], (subject_level, object_level))
            pairs = product(subjects, objects)
            triples += [Triple(first, relation, second, score) for first, second in pairs]
        name = item.id
        while name in ids:
            times[item.id] += 1
            name = f"{item.id}#{times[item.id] + 1}"
        ids.add(name)
        renamed = [LeftOut("renamed_ids", f"{item.where} ({item.id})")] * (name != item.id)
        for kind, example in (*renamed, *item.left_out, *_odd_names(item)):
            notes[kind] += 1
            if len(kept := report.examples.setdefault(kind, [])) < SHOWN:
                kept.append(example)
        if item.entities:
            with_entities.append(item.where)
        different = dict.fromkeys(triples) if len(triples) > 1 else triples
        sentences.append(Sentence(name, item.text, tuple(different)))
        texts.add(item.text)
        unique.update(strings)
        for strings_, levels in strings.items():
            relations[strings_[1]] += 1
            for level in levels:
                found[level] += 1
            report.triples_not_in_text += "missing" in levels
            subject_inside, relation_inside, object_inside = (
                part in item.text for part in strings_
            )
            inside["subject"] += subject_inside
            inside["relation"] += relation_inside
            inside["object"] += object_inside
            if relation_inside and not (subject_inside and object_inside):
                turned.append(f"{item.where}: {strings_}")
        cut += finder.cut
        entries = (
            len({triple[:5] for triple in item.triples}) if item.listed is None else len(strings)
        )
        report.triples_raw += listed
        report.duplicates += (
            listed - entries - sum(one.kind == "malformed" for one in item.left_out)
        )
        report.triples += len(strings)
        report.spans += sum(triple.located for triple in sentences[-1].triples)
        report.zero_triple_sentences += not triples
    if not sentences:
        raise UserError(f"{source}: the corpus is empty, expected at least one sentence")
    report.sentences, report.texts, report.unique_triples = len(sentences), len(texts), len(unique)
    report.relations = len(relations)
    report.relation_counts = dict(sorted(relations.items(), key=lambda pair: (-pair[1], pair[0])))
    several = {
        "without_any_relation": []
        if unique or RELATIONS_LEFT_OUT & notes.keys()
        else with_entities,
        "cut_names": cut if 2 * len(cut) > found["given"] else [],
        "names_like_none": [
            repr(name)
            for name in relations.elements()
            if bare(name) in NONE and name not in MISSING
        ],
    }
    for kind, part, position in (("order_rso", "subject", 0), ("order_sor", "object", 2)):
        few = 2 * len({triple[position] for triple in unique}) < len(relations)
        if report.triples >= MANY and (
            few or inside["relation"] > report.triples / 2 > inside[part]
        ):
            several[kind] = turned or [str(triple) for triple in sorted(unique)]
    for kind, examples in several.items():
        if examples:
            notes[kind], report.examples[kind] = (
                len(examples),
                list(dict.fromkeys(examples))[:SHOWN],
            )
    report.found = {
        level: found[level] for level in ("given", "word", "token", "substring", "missing")
    }
    report.notes = dict(sorted(notes.items()))
    return Corpus(sentences, report)


def with_left_out(found: Iterable[RawSentence | LeftOut], source: object) -> Iterator[RawSentence]:
    """Yield the sentences; what was left out between them is noted at the last one.

    Raises:
        UserError: everything was left out.
    """
    last, gone = None, []
    for item in found:
        if isinstance(item, LeftOut):
            gone.append(item)
            continue
        if last is not None:
            yield last
        last = item
    if last is not None:
        last.left_out += gone
        yield last
    elif gone:
        counts = Counter(one.kind for one in gone)
        why = "; ".join(f"{count} {KINDS.get(kind, kind)}" for kind, count in counts.items())
        raise UserError(
            f"{source}: no sentence is left, {why}; expected at least one. The first is {gone[0].example}"
        )


def _odd_names(item: RawSentence) -> Iterator[LeftOut]:
    """Yield what of a sentence is missing rather than a text or a name."""
    if not item.text.strip():
        yield LeftOut("empty_texts", item.where)
    if not item.text.isascii() and (broken := BROKEN.search(item.text)):
        yield LeftOut("broken_characters", f"{item.where}: {broken[0]!r} in {item.text[:40]!r}")
    if "<e1>" in item.text or "[E1]" in item.text:
        yield LeftOut("marks", f"{item.where}: {item.text[:40]!r}")
    for triple in item.triples:
        if not (triple.subject.strip() and triple.object.strip()):
            yield LeftOut("empty_names", f"{item.where}: {triple[:3]}")
        elif missing := [part for part in triple[:3] if part in MISSING]:
            yield LeftOut("names_like_missing", f"{item.where}: {missing[0]!r} in {triple[:3]}")


def check_characters(texts: Iterable[str], where: str) -> None:
    """Refuse half characters, which JSON can spell and no file can hold."""
    for text in texts:
        if half_character(text):
            raise UserError(
                f"{where}: {text[:60]!r} has half a character (a lone surrogate), expected whole ones"
            )


def half_character(text: str) -> bool:
    """Whether a text holds half of a surrogate pair."""
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


class _Finder:
    """Spans of the strings of one sentence, each string looked up once."""

    def __init__(self, item: RawSentence, occurrence: str) -> None:
        self.item, self.occurrence = item, occurrence
        self.known: dict[str, tuple[list[Span], str]] = {}
        self.cut: list[str] = []  # given spans that begin or end inside a word, or with a blank

    def spans(self, entity: str, start: int | None, type_: str | None) -> tuple[list[Span], str]:
        text, where = self.item.text, self.item.where
        if start is not None:
            end = start + len(entity)
            if problem := misfit(text, start, end, entity):
                raise UserError(f"{where}: the span {problem}")
            if entity != entity.strip() or cuts_word(text, start, end):
                self.cut.append(f"{where}: {entity!r}")
            return [Span(start, end, entity, type_)], "given"
        if entity not in self.known:
            if self.occurrence == "given" and entity and entity in text:
                raise UserError(
                    f"{where}: no position of {entity!r} is given; expected occurrence 'first' or 'all'"
                )
            positions, level = find_spans(text, entity, every=self.occurrence == "all")
            spans = [Span(start, end, entity) for start, end in positions] or [
                Span(None, None, entity)
            ]
            self.known[entity] = spans, level
        spans, level = self.known[entity]
        return (spans if type_ is None else [replace(span, type=type_) for span in spans]), level


def of_relations(
    members: Iterable[RawSentence],
    relations: Collection[str],
    source: str,
    some_absent: bool = False,
) -> list[RawSentence]:
    """Return the sentences all of whose triples have these relations, those without triples too;
    all if none is named.

    Raises:
        UserError: a relation is in no triple, and not ``some_absent``, as in a small split.
    """
    members = list(members)
    if not relations:
        return members
    known = {triple.relation for item in members for triple in item.triples}
    if unknown := [name for name in relations if name not in known and not some_absent]:
        raise UserError(
            f"{source}: no triple has the relation '{unknown[0]}', which is to be kept{hint(unknown[0], known)}"
        )
    return [
        item for item in members if all(triple.relation in relations for triple in item.triples)
    ]


def uncased(item: RawSentence) -> RawSentence:
    """Return a sentence in lower case and without accents, text and arguments of triples alike.

    Given positions move with the characters, since a character may become two (İ) or none (a
    combining accent).
    """
    starts = [0]
    for character in item.text:
        starts.append(starts[-1] + len(plain(character)))

    def moved(start: int | None) -> int | None:
        return starts[start] if start is not None and 0 <= start < len(starts) else start

    triples = [
        RawTriple(plain(subject), relation, plain(object_), moved(start), moved(other), *more)  # type: ignore[arg-type]
        for subject, relation, object_, start, other, *more in item.triples
    ]
    return replace(item, text=plain(item.text), triples=triples)


def plain(text: str) -> str:
    """``text`` in lower case without accents, character by character, so that parts and whole
    agree.
    """
    return "".join(
        part
        for character in text
        for part in unicodedata.normalize("NFD", character.lower())
        if unicodedata.category(part) != "Mn"
    )
