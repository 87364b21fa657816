"""Sentences in the forms of other programs: SpERT, DyGIE++, lists of triples, TPLinker, Label Studio, spaCy.

A form that cannot hold something leaves it out and counts it (:class:`Losses`). Forms of tokens
split a text at blanks and at the edges of entities, because natural text has entities that touch a
punctuation mark. Read back, such a text has a blank there, which scoring ignores.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.core.files import atomic_write, write_json, write_jsonl
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.spans import find_spans

Losses = Counter[str]
"""What a form could not hold, as a text for :func:`tripleaudit.core.wording.counted` -> how often."""
UNTYPED = "Entity"
"""Type of an entity that has none, in forms that require one."""
WITHOUT_POSITION = "triple{s} {have} an entity without a position in the text and {are} left out"
OVERLAPPING = "triple{s} {have} an entity that overlaps another one and {are} left out"
EDGE_BLANKS = "triple{s} {have} an entity that begins or ends with a blank and {are} left out"
SAME_STRINGS = "triple{s} {have} the strings of another one of its sentence and {are} left out"
LEFT_OUT_TRIPLES = (WITHOUT_POSITION, OVERLAPPING, EDGE_BLANKS, SAME_STRINGS)
"""Losses that count triples that are not written."""
OTHER_POSITION = "triple{s} {have} an entity that is not at its first mention; the position is lost"
EXTRA_BLANKS = (
    "text{s} get{v} an extra blank when read back, where an entity touches a punctuation mark"
)
OTHER_BLANKS = "text{s} {have} single blanks between tokens when read back, unlike the original"
WITHOUT_TRIPLE = "entit{y} {are} in no triple, which this format requires, and {are} left out"
ENTITY_WITHOUT_POSITION = "entit{y} in no triple {have} no position in the text and {are} left out"
ENTITY_OVERLAP = "entit{y} in no triple overlap{v} another entity and {are} left out"
PARTIAL_TOKENS = "entit{y} in no triple {do} not consist of whole tokens and {are} left out"
RELATION_KEY = ("._.", "rel", None, None)
"""Where spaCy keeps the extension ``rel`` of a document."""
_PIECE = re.compile(r"\S+|\s+")


def located_triples(sentence: Sentence, losses: Losses) -> list[Triple]:
    """Return the triples whose entities have positions; the others are counted."""
    located = [triple for triple in sentence.triples if triple.located]
    losses[WITHOUT_POSITION] += len(sentence.triples) - len(located)
    return located


def located_others(sentence: Sentence, losses: Losses) -> list[Span]:
    """Return the entities in no triple that have a position; the others are counted."""
    located = [span for span in sentence.other_entities if span.located]
    losses[ENTITY_WITHOUT_POSITION] += len(sentence.other_entities) - len(located)
    return located


def tokenise(text: str, entities: Iterable[Span]) -> list[tuple[int, int]]:
    """Return the tokens of a text as character spans, split at blanks and at edges of entities."""
    edges = {edge for span in entities for edge in span.offsets}
    tokens = []
    for match in _PIECE.finditer(text):
        if match[0].isspace():
            continue
        inner = sorted(edge for edge in edges if match.start() < edge < match.end())
        starts = [match.start(), *inner]
        tokens += list(zip(starts, [*inner, match.end()], strict=True))
    return tokens


def _tokens_of(
    sentence: Sentence, entities: Iterable[Span], losses: Losses
) -> tuple[list[str], dict[Span, tuple[int, int]]]:
    """Return the tokens of a sentence, and of each entity the first token and the one behind it."""
    tokens = tokenise(sentence.text, entities)
    words = [sentence.text[start:end] for start, end in tokens]
    if " ".join(words) != sentence.text:
        is_split = any(left[1] == right[0] for left, right in zip(tokens, tokens[1:], strict=False))
        losses[EXTRA_BLANKS if is_split else OTHER_BLANKS] += 1
    spans = {}
    for span in entities:
        start, end = span.offsets
        inside = [number for number, token in enumerate(tokens) if start <= token[0] < end]
        spans[span] = inside[0], inside[-1] + 1
    return words, spans


def types_of_entities(triples: Sequence[Triple], others: Sequence[Span] = ()) -> dict[Span, str]:
    """Return each entity with its type: those of the triples in their order, then the others."""
    types: dict[Span, str] = {}
    arguments = [span for triple in triples for span in (triple.subject, triple.object)]
    for span in (*arguments, *others):
        types.setdefault(span, span.type or UNTYPED)
    return types


def write_spert(path: Path, sentences: Sequence[Sentence]) -> Losses:
    """Write SpERT's form: tokens, entities and relations between positions in their list."""
    losses = Losses()
    rows = []
    for sentence in sentences:
        triples = located_triples(sentence, losses)
        types = types_of_entities(triples, located_others(sentence, losses))
        tokens, spans = _tokens_of(sentence, types, losses)
        positions = {span: number for number, span in enumerate(types)}
        entities = [
            {"type": kind, "start": spans[span][0], "end": spans[span][1]}
            for span, kind in types.items()
        ]
        relations = [
            {
                "type": triple.relation,
                "head": positions[triple.subject],
                "tail": positions[triple.object],
            }
            for triple in triples
        ]
        row = {"tokens": tokens, "entities": entities, "relations": relations}
        rows.append({**row, "orig_id": sentence.id})
    write_json(path, rows)
    return losses


def write_dygie(path: Path, sentences: Sequence[Sentence]) -> Losses:
    """Write DyGIE++'s form, a document for each sentence; ends are inclusive."""
    losses = Losses()
    rows = []
    for sentence in sentences:
        triples = located_triples(sentence, losses)
        types = types_of_entities(triples, located_others(sentence, losses))
        tokens, spans = _tokens_of(sentence, types, losses)
        edges = {span: [start, end - 1] for span, (start, end) in spans.items()}
        ner = [[*edges[span], kind] for span, kind in types.items()]
        relations = [
            [*edges[triple.subject], *edges[triple.object], triple.relation] for triple in triples
        ]
        row = {"doc_key": sentence.id, "sentences": [tokens], "ner": [ner]}
        rows.append({**row, "relations": [relations]})
    write_jsonl(path, rows)
    return losses


def write_triple_list(path: Path, sentences: Sequence[Sentence]) -> Losses:
    """Write texts with lists of subject, relation and object, as CasRel and others read them."""
    losses = Losses()
    rows = []
    for sentence in sentences:
        losses[WITHOUT_TRIPLE] += len(sentence.other_entities)
        for triple in sentence.triples:
            spans = (triple.subject, triple.object)
            losses[OTHER_POSITION] += any(_is_elsewhere(span, sentence.text) for span in spans)
        strings = list(dict.fromkeys(triple.strings for triple in sentence.triples))
        losses[SAME_STRINGS] += len(sentence.triples) - len(strings)
        row = {"id": sentence.id, "text": sentence.text, "triple_list": [list(s) for s in strings]}
        rows.append(row)
    write_json(path, rows)
    return losses


def _is_elsewhere(span: Span, text: str) -> bool:
    """Return whether an entity has another position than its string is found at."""
    positions, _ = find_spans(text, span.text, every=False)
    return span.located and span.offsets not in positions


def write_tplinker(path: Path, sentences: Sequence[Sentence]) -> Losses:
    """Write TPLinker's form with character spans; its own scripts add the spans of tokens."""
    losses = Losses()
    rows = []
    for sentence in sentences:
        triples = located_triples(sentence, losses)
        relations = [
            {
                "subject": triple.subject.text,
                "predicate": triple.relation,
                "object": triple.object.text,
                "subj_char_span": list(triple.subject.offsets),
                "obj_char_span": list(triple.object.offsets),
            }
            for triple in triples
        ]
        entities = [
            {"text": span.text, "type": kind, "char_span": list(span.offsets)}
            for span, kind in types_of_entities(triples, located_others(sentence, losses)).items()
        ]
        row = {"id": sentence.id, "text": sentence.text, "relation_list": relations}
        rows.append({**row, "entity_list": entities})
    write_json(path, rows)
    return losses


def write_label_studio(path: Path, sentences: Sequence[Sentence]) -> Losses:
    """Write tasks of Label Studio with one annotation each; offsets count units of UTF-16."""
    losses = Losses()
    tasks = []
    for number, sentence in enumerate(sentences, 1):
        triples = located_triples(sentence, losses)
        types = types_of_entities(triples, located_others(sentence, losses))
        names = {span: f"e{position}" for position, span in enumerate(types)}
        regions = [_region(names[span], span, kind, sentence.text) for span, kind in types.items()]
        relations = [
            {
                "type": "relation",
                "from_id": names[triple.subject],
                "to_id": names[triple.object],
                "direction": "right",
                "labels": [triple.relation],
            }
            for triple in triples
        ]
        data = {"text": sentence.text, "id": sentence.id}
        annotation = {"id": number, "was_cancelled": False, "result": [*regions, *relations]}
        tasks.append({"id": sentence.id, "data": data, "annotations": [annotation]})
    write_json(path, tasks)
    return losses


def _region(name: str, span: Span, kind: str, text: str) -> dict[str, Any]:
    start, end = (len(text[:edge].encode("utf-16-le")) // 2 for edge in span.offsets)
    value = {"start": start, "end": end, "text": span.text, "labels": [kind]}
    return {"id": name, "type": "labels", "from_name": "label", "to_name": "text", "value": value}


def write_docbin(path: Path, sentences: Sequence[Sentence]) -> Losses:
    """Write documents of spaCy with entities and the extension ``rel``.

    spaCy's entities do not overlap, so that of overlapping ones the first is kept.
    """
    import spacy
    from spacy.tokens import Doc, DocBin

    losses = Losses()
    vocabulary = spacy.blank("xx").vocab
    documents = DocBin(store_user_data=True)
    for sentence in sentences:
        triples = _without_overlap(located_triples(sentence, losses), losses)
        others = _separate_entities(triples, located_others(sentence, losses), losses)
        types = types_of_entities(triples, others)
        pieces = list(_spacy_tokens(sentence.text, types))
        document = Doc(
            vocabulary,
            words=[word for word, _ in pieces],
            spaces=[has_space for _, has_space in pieces],
        )
        entities = {
            span: document.char_span(*span.offsets, label=kind) for span, kind in types.items()
        }
        document.ents = [entity for entity in entities.values() if entity is not None]
        relations: dict[tuple[int, int], dict[str, float]] = {}
        for triple in triples:
            subject, object_ = entities[triple.subject], entities[triple.object]
            if subject is None or object_ is None:
                losses[EDGE_BLANKS] += 1
                continue
            pair = subject.start, object_.start
            relations.setdefault(pair, {})[triple.relation] = 1.0
        document.user_data[RELATION_KEY] = relations
        documents.add(document)
    with atomic_write(path, "wb") as stream:
        stream.write(documents.to_bytes())
    return losses


def _without_overlap(triples: Sequence[Triple], losses: Losses) -> list[Triple]:
    """Return the triples whose entities overlap none of the triples before."""
    spans: set[tuple[int, int]] = set()
    kept = []
    for triple in triples:
        new = {triple.subject.offsets, triple.object.offsets}
        ordered = sorted(spans | new)
        if any(right[0] < left[1] for left, right in zip(ordered, ordered[1:], strict=False)):
            losses[OVERLAPPING] += 1
            continue
        spans |= new
        kept.append(triple)
    return kept


def _separate_entities(
    triples: Sequence[Triple], others: Sequence[Span], losses: Losses
) -> list[Span]:
    """Return the entities in no triple that overlap no entity of a triple and none before."""
    taken = [span.offsets for triple in triples for span in (triple.subject, triple.object)]
    kept = []
    for span in others:
        start, end = span.offsets
        if any(start < other_end and other_start < end for other_start, other_end in taken):
            losses[ENTITY_OVERLAP] += 1
            continue
        taken.append(span.offsets)
        kept.append(span)
    return kept


def _spacy_tokens(text: str, entities: Iterable[Span]) -> Iterator[tuple[str, bool]]:
    """Yield the tokens of a text with whether a blank follows; other white space is a token."""
    position = 0
    for start, end in tokenise(text, entities):
        if start > position:
            yield text[position:start], False
        has_space = text[end : end + 1] == " "
        yield text[start:end], has_space
        position = end + has_space
    if position < len(text):
        yield text[position:], False
