"""From rows of a file to sentences with spans: entities located, duplicates removed, counted.

Readers yield :class:`RawSentence` objects; :func:`build_corpus` alone is where spans are found,
duplicates are removed and problems are counted, so that every format is treated alike.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tripleaudit.core.errors import UserError, hint
from tripleaudit.core.memory import paused_collection
from tripleaudit.corpora.corpus_report import CorpusReport
from tripleaudit.corpora.model import Sentence, Span, Triple, misfit
from tripleaudit.corpora.remarks import SHOWN, describe
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
        "empty_relations",
    )
)
"""Kinds of notes that tell of relations that are there and are not read."""
MALFORMED = "(no triple)"
"""Relation of an item of a system's output that is no triple: a wrong prediction."""
MANY = 10  # triples; fewer say nothing about the order of their parts
NONE = frozenset(("none", "na", "norelation"))
"""How files call a pair without a relation, but for case and punctuation."""
Strings = tuple[str, str, str]
"""Subject, relation and object of a triple."""
BROKEN = re.compile(r"[\ufffd\ufeff]|Ã[\x80-\xbf\u0152-\u2122]|Â[\xa0-\xbf]|â€")
"""What is left of characters that were read in another encoding than they were written in."""


class RawTriple(NamedTuple):
    """A triple as a file states it; a start is a character offset, None if only strings are given.

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


class RawEntity(NamedTuple):
    """An annotated entity as a file states it; its start is None if only a name is given."""

    text: str
    start: int | None = None
    type: str | None = None


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
        names: the names of each entity, where the format says which mentions are of one entity.
        annotated: the entities that the format lists, of triples and others.
    """

    id: str
    text: str
    triples: list[RawTriple]
    where: str
    listed: int | None = None
    left_out: list["LeftOut"] = field(default_factory=list)
    entities: int = 0
    names: Sequence[Sequence[str]] = ()
    annotated: list[RawEntity] = field(default_factory=list)


class LeftOut(NamedTuple):
    """Something that a reader left out or changed, yielded among or noted at its sentences.

    Attributes:
        kind: of :data:`tripleaudit.corpora.remarks.KINDS`.
        example: where it was, and what.
        reason: why, as an error would say it.
    """

    kind: str
    example: str
    reason: str = ""


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
    builder = _CorpusBuilder(CorpusReport(source, format, occurrence))
    with paused_collection():
        sentences = [builder.add(item) for item in raw]
    if not sentences:
        raise UserError(f"{source}: the corpus is empty, expected at least one sentence")
    return Corpus(sentences, builder.complete_report())


class _CorpusBuilder:
    """Makes the sentences of one corpus and counts what is in them.

    Args:
        report: the counts so far, none; :meth:`complete_report` returns it.
    """

    def __init__(self, report: CorpusReport) -> None:
        self.report = report
        self.strings: dict[str, str] = {}  # all triples with the same name share one string
        self.texts: set[str] = set()
        self.unique: set[Strings] = set()
        self.ids: set[str] = set()
        self.repeated_ids: Counter[str] = Counter()
        self.relations: Counter[str] = Counter()
        self.levels: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.inside: Counter[str] = Counter()  # parts of triples that their text has
        self.cut: list[str] = []
        self.turned: list[str] = []
        self.with_entities: list[str] = []
        self.first_malformed: LeftOut | None = None

    def add(self, item: RawSentence) -> Sentence:
        """Return the sentence that a file states, and count it.

        Raises:
            UserError: as :func:`build_corpus`.
        """
        strings = [item.id, item.text]
        for raw_triple in item.triples:
            strings += raw_triple[:3]
        check_characters(strings, item.where)
        finder = _Finder(item, self.report.occurrence)
        triples: list[Triple] = []
        levels: dict[Strings, tuple[str, str]] = {}  # on which subject and object were found
        for raw_triple in item.triples:
            _, _, _, start, other_start, type_, other_type, score = raw_triple
            subject = self.strings.setdefault(raw_triple.subject, raw_triple.subject)
            relation = self.strings.setdefault(raw_triple.relation, raw_triple.relation)
            object_ = self.strings.setdefault(raw_triple.object, raw_triple.object)
            if not relation:
                raise UserError(f"{item.where}: the triple {raw_triple[:3]!r} has no relation")
            subjects, subject_level = finder.spans(subject, start, type_)
            objects, object_level = finder.spans(object_, other_start, other_type)
            levels.setdefault((subject, relation, object_), (subject_level, object_level))
            for first in subjects:
                triples += [Triple(first, relation, second, score) for second in objects]
        if len(set(triples)) < len(triples):
            triples = _without_repeats(triples)
        name = self._unique_id(item)
        self._note(item, name)
        self.cut += finder.cut
        not_in_text = self.report.triples_not_in_text
        self._count(item, levels)
        if self.report.triples_not_in_text == not_in_text:  # all have positions
            self.report.spans += len(triples)
        else:
            self.report.spans += sum(triple.located for triple in triples)
        self.report.zero_triple_sentences += not triples
        names = tuple(tuple(dict.fromkeys(group)) for group in item.names)
        others = _entities_in_no_triple(item, triples) if item.annotated else ()
        return Sentence(name, item.text, tuple(triples), names, others)

    def _unique_id(self, item: RawSentence) -> str:
        """Return the id of a sentence, with a number where one before has it."""
        name = item.id
        while name in self.ids:
            self.repeated_ids[item.id] += 1
            name = f"{item.id}#{self.repeated_ids[item.id] + 1}"
        self.ids.add(name)
        return name

    def _note(self, item: RawSentence, name: str) -> None:
        """Count what was left out or changed of a sentence."""
        notes = [*item.left_out, *_odd_names(item)]
        if name != item.id:
            notes.insert(0, LeftOut("renamed_ids", f"{item.where} ({item.id})"))
        for note in notes:
            self.notes[note.kind] += 1
            examples = self.report.examples.setdefault(note.kind, [])
            if len(examples) < SHOWN:
                examples.append(note.example)
            if note.kind == "malformed_predictions" and self.first_malformed is None:
                self.first_malformed = note
        if item.entities:
            self.with_entities.append(item.where)

    def _count(self, item: RawSentence, levels: Mapping[Strings, tuple[str, str]]) -> None:
        """Count the text and the triples of a sentence.

        Args:
            levels: its different triples -> the levels that subject and object were found on.
        """
        report = self.report
        self.texts.add(item.text)
        self.unique.update(levels)
        for strings, (subject_level, object_level) in levels.items():
            subject, relation, object_ = strings
            self.relations[relation] += 1
            self.levels[subject_level] += 1
            self.levels[object_level] += 1
            report.triples_not_in_text += subject_level == "missing" or object_level == "missing"
            # an empty string is on the level "missing", but part of any text
            subject_inside = subject_level != "missing" or not subject
            object_inside = object_level != "missing" or not object_
            relation_inside = relation in item.text
            self.inside["subject"] += subject_inside
            self.inside["relation"] += relation_inside
            self.inside["object"] += object_inside
            if relation_inside and not (subject_inside and object_inside):
                self.turned.append(f"{item.where}: {strings}")
        listed, different = item.listed, len(levels)
        if listed is None:
            listed = len(item.triples)
            if listed > 1:
                different = len({triple[:5] for triple in item.triples})
        malformed = 0
        if item.left_out:
            malformed = sum(one.kind == "malformed" for one in item.left_out)
        report.triples_raw += listed
        report.duplicates += listed - different - malformed
        report.triples += len(levels)

    def complete_report(self) -> CorpusReport:
        """Return the report about all sentences.

        Raises:
            UserError: every item of a system's output is malformed, so that it has another layout.
        """
        report, relations, unique = self.report, self.relations, self.unique
        if self.first_malformed is not None and relations.keys() == {MALFORMED}:
            raise UserError(
                f"{self.first_malformed.reason}; no item of the predictions is a triple, so they have another "
                "layout: --predicted-column names their fields"
            )
        report.sentences = len(self.ids)
        report.texts = len(self.texts)
        report.unique_triples = len(unique)
        report.relations = len(relations)
        by_frequency = sorted(relations.items(), key=lambda pair: (-pair[1], pair[0]))
        report.relation_counts = dict(by_frequency)
        for kind, examples in self._suspicions().items():
            if examples:
                self.notes[kind] = len(examples)
                report.examples[kind] = list(dict.fromkeys(examples))[:SHOWN]
        report.found = {
            level: self.levels[level]
            for level in ("given", "word", "token", "substring", "missing")
        }
        report.notes = dict(sorted(self.notes.items()))
        return report

    def _suspicions(self) -> dict[str, list[str]]:
        """Return kind of note -> examples, of what shows only once all sentences are read."""
        relations, unique, inside = self.relations, self.unique, self.inside
        suspicions: dict[str, list[str]] = {}
        if not (unique or RELATIONS_LEFT_OUT & self.notes.keys()):
            suspicions["without_any_relation"] = self.with_entities
        if 2 * len(self.cut) > self.levels["given"]:
            suspicions["cut_names"] = self.cut
        like_none = [name for name in relations if bare(name) in NONE and name not in MISSING]
        suspicions["names_like_none"] = [
            repr(name) for name in like_none for _ in range(relations[name])
        ]
        if self.report.triples < MANY:
            return suspicions
        half = self.report.triples / 2
        for kind, part, position in (("order_rso", "subject", 0), ("order_sor", "object", 2)):
            few = 2 * len({triple[position] for triple in unique}) < len(relations)
            if few or inside["relation"] > half > inside[part]:
                suspicions[kind] = self.turned or [str(triple) for triple in sorted(unique)]
        return suspicions


def _without_repeats(triples: Sequence[Triple]) -> list[Triple]:
    """Return each triple once, with its highest score."""
    highest: dict[Triple, Triple] = {}
    for triple in triples:
        kept = highest.setdefault(triple, triple)
        if (triple.score or 0) > (kept.score or 0):
            highest[triple] = triple
    return list(highest.values())


def _entities_in_no_triple(item: RawSentence, triples: Sequence[Triple]) -> tuple[Span, ...]:
    """Return the annotated entities that are neither subject nor object; a name is in any place."""
    arguments = [span for triple in triples for span in (triple.subject, triple.object)]
    positions = {(span.start, span.end) for span in arguments}
    names = {span.text for span in arguments}
    others: dict[Span, None] = {}
    for text, start, type_ in item.annotated:
        if start is None:
            if not text.strip() or text in names:
                continue
            found, _ = find_spans(item.text, text, every=False)
            if not found:
                others.setdefault(Span(None, None, text, type_))
                continue
            start = found[0][0]
        end = start + len(text)
        if (start, end) not in positions and not misfit(item.text, start, end, text):
            others.setdefault(Span(start, end, text, type_))
    return tuple(others)


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
        why = "; ".join(describe(kind, count) for kind, count in counts.items())
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
        if triple.relation == MALFORMED:
            continue  # an item of predictions that is no triple, which is counted as such
        strings = triple[:3]
        if not (triple.subject.strip() and triple.object.strip()):
            yield LeftOut("empty_names", f"{item.where}: {strings}")
        elif not MISSING.isdisjoint(strings):
            missing = next(part for part in strings if part in MISSING)
            yield LeftOut("names_like_missing", f"{item.where}: {missing!r} in {strings}")


def check_characters(texts: Iterable[str], where: str) -> None:
    """Refuse half characters, which JSON can spell and no file can hold."""
    for text in texts:
        if not text.isascii() and half_character(text):
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
    """Return sentences whose triples all have these relations, or all sentences if none is named.

    Sentences without triples are included.

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
    annotated = [
        RawEntity(plain(text), moved(start), type_) for text, start, type_ in item.annotated
    ]
    return replace(item, text=plain(item.text), triples=triples, annotated=annotated)


def plain(text: str) -> str:
    """Return ``text`` in lower case without accents, character by character.

    Parts and whole agree.
    """
    return "".join(
        part
        for character in text
        for part in unicodedata.normalize("NFD", character.lower())
        if unicodedata.category(part) != "Mn"
    )
