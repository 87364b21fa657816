"""Documents: DocRED, DyGIE++, REBEL's linearisation, and GenRES's texts.

``docred`` (Re-DocRED too): ``{"title", "sents", "vertexSet", "labels"}``. A document is one
sentence here, because its triples hold between entities of the whole document. An entity's position
is its first mention; with occurrence ``all``, every pair of mentions is a position of the triple.

``dygie``: ``{"doc_key", "sentences", "ner", "relations"}`` with token positions in the document,
ends inclusive; a sentence of the document is one sentence. SciERC, ACE05 and GENIA are spread in
this form.

``crossre``: ``{"doc_key", "sentence", "ner", "relations"}``, the same of one sentence.

``rebel``: ``{"context" or "text", "triplets": "<triplet> subject <subj> object <obj> relation
…"}``, also as a model decodes it, with ``<s>`` and ``<pad>``, under ``generated_text`` or
``prediction``.

``genres`` and ``genres-processed``: dictionaries ``{text: [triple, ...]}`` of the GenRES project.
``genres`` (its data sets) orders a triple as subject, object, relation. CDR has a fourth member,
its label, which is the relation there: ``["D006220", "D002375", "NON-CROSS", "1:CID:2"]``; its
entities are MeSH ids and so never in the text. ``genres-processed`` (gold and extracted triples
after processing) orders subject, relation, object; extracted triples may lack a relation or hold
numbers, which is counted as malformed instead of refused.
"""

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.corpus import LeftOut, RawSentence
from tripleaudit.corpora.readers.common import items, load_json, read_objects, shown, take
from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.records import Mapped
from tripleaudit.corpora.readers.row_files import Malformed, Probe, Row, Rows, has
from tripleaudit.corpora.readers.side import Side
from tripleaudit.corpora.spec import CorpusFormat


def documents(path: Path, side: Side, occurrence: str = "first") -> Rows:
    """Yield the documents by title; those without ``labels`` (the blind test set) are left out."""
    yield from _with_links(side.rows(read_objects(path)), occurrence)


def _with_links(rows: Rows, occurrence: str) -> Rows:
    """Yield documents with their labels as links between mentions."""
    for where, value in rows:
        if value.get("labels") is None:
            yield where, LeftOut("without_labels", where)
            continue
        parts, labels = items(value, "sents", list, where), take(value, "labels", list, where)
        entities = [
            _mentions(mentions, parts, where) for mentions in items(value, "vertexSet", list, where)
        ]
        links: list[Any] = []
        for label in labels:
            try:
                links += _links_of_label(label, entities, where, occurrence)
            except UserError as error:
                links.append(Malformed(label, str(error)))
        tokens = [token for part in parts for token in part]
        row = {"title": take(value, "title", str, where), "tokens": tokens, "links": links}
        left_out = value.left_out if isinstance(value, Row) else []
        names = [
            [" ".join(map(str, tokens[mention["start"] : mention["end"]])) for mention in mentions]
            for mentions in entities
        ]
        mentions = [mention for group in entities for mention in group]
        spans = [(one["start"], one["end"], _type_of(one)) for one in mentions]
        yield where, Row(row, left_out, listed=len(labels), names=names, entities=spans)


def _type_of(mention: dict[str, Any]) -> str | None:
    """Return the type of a mention, if it is a string."""
    value = mention.get("type")
    return value if isinstance(value, str) else None


def _links_of_label(
    label: Any, entities: list[list[dict[str, Any]]], where: str, occurrence: str
) -> list[dict[str, Any]]:
    """Return a label as pairs of mentions: the first one, or with occurrence ``all`` every one."""
    if not isinstance(label, dict):
        raise UserError(f"{where}: 'labels' holds {shown(label)}, expected an object")
    head = take(label, "h", int, where)
    tail = take(label, "t", int, where)
    if not (0 <= head < len(entities) and 0 <= tail < len(entities)):
        wrong = tail if 0 <= head < len(entities) else head
        raise UserError(
            f"{where}: a label points to entity {wrong}, expected one of {len(entities)}"
        )
    relation = take(label, "r", str, where)
    pairs = list(product(entities[head], entities[tail]))
    if occurrence != "all":
        pairs = pairs[:1]
    return [{"h": subject, "r": relation, "t": object_} for subject, object_ in pairs]


def _mentions(found: list[Any], parts: list[list[Any]], where: str) -> list[dict[str, Any]]:
    """Return the mentions of one entity, in tokens of the document and in their order there."""
    mentions = []
    for mention in items({"vertexSet": found}, "vertexSet", dict, where):
        sentence, edges = take(mention, "sent_id", int, where), items(mention, "pos", int, where)
        if len(edges) != 2:
            raise UserError(
                f"{where}: the position of a mention is {shown(edges)}, expected [start, end]"
            )
        if not 0 <= sentence < len(parts):
            raise UserError(
                f"{where}: a mention is in sentence {sentence}, expected one of {len(parts)}"
            )
        begin, size = sum(map(len, parts[:sentence])), len(parts[sentence])
        if not 0 <= edges[0] < edges[1] <= size:
            raise UserError(
                f"{where}: the span [{edges[0]}, {edges[1]}) is outside sentence {sentence} of {size} tokens"
            )
        mentions.append(
            {"name": None, **mention, "start": begin + edges[0], "end": begin + edges[1]}
        )
    return sorted(mentions, key=lambda mention: mention["start"])


def parts_of(path: Path, side: Side) -> Rows:
    """Yield the sentences of documents."""
    yield from parts_of_documents(side.rows(read_objects(path)), side.predicts)


def parts_of_documents(documents: Rows, predicts: bool = True) -> Rows:
    """Yield the sentences of documents; ids are the document's key and the sentence's position."""
    for where, value in documents:
        if isinstance(value, LeftOut):
            yield where, value
            continue
        name = take(value, "doc_key", str, where)
        if value.get("relations") is None:
            yield where, LeftOut("without_labels", where)
            continue
        relations, ner = _annotations(value, predicts, where)
        left_out = value.left_out if isinstance(value, Row) else []
        begin = 0
        for number, tokens in enumerate(items(value, "sentences", list, where)):
            here = f"{where} sentence {number}"
            types = _types_by_edges(ner[number], begin, here)
            links = _links(relations[number], types, begin, here)
            entities = [(start, end, type_) for (start, end), type_ in types.items()]
            row = {"id": f"{name}-{number}", "tokens": tokens, "links": links}
            yield here, Row(row, left_out, entities=entities)
            left_out = []
            begin += len(tokens)


def single_sentences(path: Path, side: Side) -> Rows:
    """Yield the rows of CrossRE, each of one sentence."""
    for where, value in side.rows(read_objects(path)):
        tokens = items(value, "sentence", str, where)
        ner = items(value, "ner", list, where)
        types = _types_by_edges(ner, 0, where)
        links = _links(take(value, "relations", list, where), types, 0, where)
        left_out = value.left_out if isinstance(value, Row) else []
        entities = [(start, end, type_) for (start, end), type_ in types.items()]
        row = {"id": take(value, "doc_key", str, where), "tokens": tokens, "links": links}
        yield where, Row(row, left_out, entities=entities)


def _annotations(
    value: dict[str, Any], predicts: bool, where: str
) -> tuple[list[list[Any]], list[list[Any]]]:
    """Return the relations and the entities of a document, a list for each sentence."""
    parts = items(value, "sentences", list, where)
    by_key: dict[str, list[list[Any]]] = {}
    for key in ("relations", "ner"):
        lists = items(value, key, list, where) if value.get(key) else []
        if lists and len(lists) != len(parts):
            raise UserError(
                f"{where}: {len(lists)} lists of {key!r} for {len(parts)} sentences; expected one for each"
            )
        by_key[key] = lists or [[] for _ in parts]
    if predicts and "predicted_relations" in value and "predicted_ner" not in value:
        by_key["ner"] = [[] for _ in parts]  # the types of the gold are no predictions
    return by_key["relations"], by_key["ner"]


def _types_by_edges(ner: list[Any], begin: int, where: str) -> dict[tuple[int, int], str]:
    """Return the first and last token of each entity in its sentence -> its type."""
    types = {}
    for entity in ner:
        start, end, type_ = _edges(entity, 2, where)[:3]
        types[start - begin, end - begin] = type_
    return types


def _links(
    relations: list[Any], types: dict[tuple[int, int], str], begin: int, where: str
) -> list[Any]:
    """Return the relations of one sentence, which begins at a token of its document."""
    links: list[Any] = []
    for relation in relations:
        try:
            start, end, object_start, object_end, name = _edges(relation, 4, where)[:5]
        except UserError as error:
            links.append(Malformed(relation, str(error)))
            continue
        link = {"s": start - begin, "se": end - begin, "r": name}
        link |= {"o": object_start - begin, "oe": object_end - begin}
        link["st"] = types.get((start - begin, end - begin))
        link["ot"] = types.get((object_start - begin, object_end - begin))
        links.append(link)
    return links


def _edges(value: Any, count: int, where: str) -> list[Any]:
    """Return a list of so many positions and a name, checked; scores may stand behind."""
    kinds = [type(item) for item in value[: count + 1]] if isinstance(value, list) else []
    if kinds != [int] * count + [str]:
        what, positions = "an entity" if count == 2 else "a relation", "start, end, " * (count // 2)
        raise UserError(f"{where}: {what} is {shown(value)}, expected [{positions}type]")
    return value


REBEL_TEXTS = ("context", "text", "sentence", "input")
REBEL_SAID = ("triplets", "generated_text", "prediction", "output")
_SPECIAL = re.compile(r"</?s>|<pad>")  # what a tokenizer leaves of a decoded output


def linearised(row: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a row of REBEL with its linearised triples as lists."""
    key = next((key for key in REBEL_SAID if key in row), "triplets")
    answer = take(row, key, str, where)
    outside, *groups = _SPECIAL.sub(" ", answer).split("<triplet>")
    left_out = [*row.left_out] if isinstance(row, Row) else []
    if outside.strip():
        left_out.append(LeftOut("outside_marks", f"{where}: {shown(answer)}"))
    triples = [triple for group in groups for triple in _triples_of_group(group, where)]
    return Row({**row, "triples": triples}, left_out)


def _triples_of_group(group: str, where: str) -> list[Any]:
    """Return the triples of ``subject <subj> object <obj> relation <subj> …``."""
    subject, *rest = group.split("<subj>")
    if not rest and subject.strip():
        reason = f"{where}: {shown(group)} has no '<subj> object <obj> relation' after its subject"
        return [Malformed(group, reason)]
    triples: list[Any] = []
    for part in rest:
        object_, mark, relation = part.partition("<obj>")
        if mark and relation.strip():
            triples.append([subject.strip(), relation.strip(), object_.strip()])
        else:
            reason = f"{where}: {shown(group)} has no '<obj> relation' after its '<subj> object'"
            triples.append(Malformed(group, reason))
    return triples


def _is_rebel(probe: Probe) -> bool:
    return any("<triplet>" in str(probe.value.get(key, "")) for key in REBEL_SAID)


def results(path: Path, gold: Path) -> Iterator[RawSentence | LeftOut]:
    """Yield the documents of a gold file with the labels of ``result.json``, as DocRED asks for it.

    Raises:
        UserError: the gold file is not DocRED's, which has the entities, or a title is unknown.
    """
    labels: dict[str, list[Any]] = {}
    for where, item in read_objects(path):
        label = {"h": item.get("h_idx"), "t": item.get("t_idx"), "r": item.get("r")}
        labels.setdefault(take(item, "title", str, where), []).append(label)
    if not DOCRED.detects or not DOCRED.detects(Probe(gold)):
        raise UserError(
            f"{path}: results of DocRED point into its documents; expected these as the gold file, got {gold}"
        )
    titles = {document.get("title") for _, document in read_objects(gold)}
    unknown = [title for title in labels if title not in titles]
    if unknown:
        raise UserError(f"{path}: the title {unknown[0]!r} is of no document of {gold}")

    def predicted() -> Rows:
        for where, document in read_objects(gold):
            yield where, {**document, "labels": labels.get(document["title"], [])}

    documents_with_labels = _with_links(predicted(), "first")
    yield from Mapped(DOCRED_COLUMNS, "form docred", declared=True, predicts=True).sentences(
        documents_with_labels
    )


def _refuse_results(path: str | Path) -> Iterator[Any]:
    raise UserError(
        f"{path}: results of DocRED have no texts; expected as predictions next to DocRED's file, as in tripleaudit "
        f"score dev.json {Path(path).name}"
    )
    yield


DOCRED_RESULTS = CorpusFormat(
    name="docred-results",
    order=5.05,
    read=_refuse_results,
    keys=("title", "h_idx", "t_idx", "r"),
    detects=has("title", "h_idx", "t_idx", "r"),
    read_with_gold=results,
)


def _has_marker_results(probe: Probe) -> bool:
    """Return whether a file has PL-Marker's results: document number -> sentence number, relations."""
    value = probe.value if probe.first == "{" else {}
    return bool(value) and all(
        key.isdecimal() and isinstance(items, list) and all(map(_is_marker_sentence, items))
        for key, items in value.items()
    )


def _is_marker_sentence(item: Any) -> bool:
    is_pair = isinstance(item, list) and len(item) == 2
    return is_pair and type(item[0]) is int and isinstance(item[1], list)


def marker_results(path: Path, gold: Path) -> Iterator[RawSentence | LeftOut]:
    """Yield the sentences of a gold file with the relations that PL-Marker predicts.

    The format is that of ``pred_results.json``, which ``run_re.py`` of thunlp/PL-Marker writes (commit
    b4863d4): ``{document: [[sentence, [[[start, end], [start, end], label], ...]], ...]}``, where
    documents are lines of the test file, numbers count from 0, and positions are tokens of the
    document, the last one included. Sentences without a pair of entities do not occur.

    Raises:
        UserError: the gold file is not DyGIE++'s, or has no such document or sentence.
    """
    if not DYGIE.detects or not DYGIE.detects(Probe(gold)):
        raise UserError(
            f"{path}: results of PL-Marker point into a file of DyGIE++'s format, its test file; expected this as "
            f"the gold file, got {gold}"
        )
    by_document = load_json(path)

    def predicted() -> Rows:
        unknown = set(by_document)
        for number, (where, document) in enumerate(read_objects(gold)):
            unknown.discard(str(number))
            relations: list[list[Any]] = [[] for _ in document["sentences"]]
            for sentence, items_ in by_document.get(str(number), ()):
                if not 0 <= sentence < len(relations):
                    raise UserError(
                        f"{path}: document {number} has a sentence {sentence}, expected one of the {len(relations)} "
                        f"sentences of {where}"
                    )
                relations[sentence] += map(_flat_relation, items_)
            yield where, {**document, "relations": relations, "ner": []}
        if unknown:
            raise UserError(
                f"{path}: document {min(unknown)} is no document of {gold}; expected the file that was predicted"
            )

    yield from Mapped(DYGIE_COLUMNS, "form dygie", declared=True, predicts=True).sentences(
        parts_of_documents(predicted())
    )


def _flat_relation(item: Any) -> Any:
    """Return a relation of PL-Marker as DyGIE++ writes it; other items are unchanged."""
    is_relation = isinstance(item, list) and len(item) == 3
    if is_relation and all(isinstance(edges, list) for edges in item[:2]):
        return [*item[0], *item[1], item[2]]
    return item


def _refuse_marker_results(path: str | Path) -> Iterator[Any]:
    raise UserError(
        f"{path}: results of PL-Marker have no texts; expected as predictions next to the file of DyGIE++'s format "
        f"that was predicted, as in tripleaudit score test.json {Path(path).name}"
    )
    yield


MARKER_RESULTS = CorpusFormat(
    name="pl-marker-results",
    order=5.06,
    read=_refuse_marker_results,
    detects=_has_marker_results,
    read_with_gold=marker_results,
)
DOCRED_COLUMNS: dict[str, Any] = {
    "id": "title", "tokens": "tokens", "triples": "links",
    "subject": "h.name", "relation": "r", "object": "t.name",
    "subject_start": "h.start", "subject_end": "h.end", "subject_type": "h.type",
    "object_start": "t.start", "object_end": "t.end", "object_type": "t.type",
}  # fmt: skip
DOCRED = form(
    "docred", place=5.1, keys=("sents", "vertexSet"), rows=documents, **DOCRED_COLUMNS,
)  # fmt: skip
DYGIE_COLUMNS: dict[str, Any] = {
    "id": "id", "tokens": "tokens", "triples": "links", "relation": "r", "last": "inclusive",
    "subject_start": "s", "subject_end": "se", "subject_type": "st",
    "object_start": "o", "object_end": "oe", "object_type": "ot",
}  # fmt: skip
DYGIE = form(
    "dygie", place=5.2, rows=parts_of, keys=("doc_key", "sentences", "relations"), detects=has("doc_key", "sentences"),
    **DYGIE_COLUMNS,
)  # fmt: skip
CROSSRE = form(
    "crossre", place=5.25, rows=single_sentences, keys=("doc_key", "sentence", "ner", "relations"),
    id="id", tokens="tokens", triples="links", relation="r", last="inclusive",
    subject_start="s", subject_end="se", subject_type="st", object_start="o", object_end="oe", object_type="ot",
)  # fmt: skip
REBEL = form(
    "rebel", place=5.5, keys=("context", "triplets"), detects=_is_rebel, plain=linearised, predictions=("prediction",),
    id="id", text=REBEL_TEXTS, triples="triples",
)  # fmt: skip


def by_texts(path: Path) -> Rows:
    """Yield the documents of GenRES."""
    value = load_json(path)
    if not isinstance(value, dict):
        raise UserError(f"{path}: expected an object {{text: [triples]}}")
    for number, (text, triples) in enumerate(value.items(), 1):
        where = f"{path} item {number}"
        if not isinstance(triples, list):
            raise UserError(f"{where}: expected a list of triples")
        yield where, {"text": text, "triples": triples}


def _is_cdr(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 4


def _is_triple(row: Any) -> bool:
    return (
        isinstance(row, list) and [type(part) for part in row] == [str] * 3 and bool(row[1].strip())
    )


def by_text(probe: Probe) -> bool:
    """Whether a file is an object of lists of lists."""
    found = [*probe.value.values()] if probe.first == "{" else []
    lists = all(
        isinstance(rows, list) and all(isinstance(row, list) for row in rows) for rows in found
    )
    return bool(found) and lists


def guess_order(path: str | Path) -> str:
    """Distinguish ``sor`` from ``sro``.

    There are far fewer relations than arguments, and objects occur in the text.

    Raises:
        UserError: neither shows; the order must be named.
    """
    value = load_json(path)
    seconds, thirds, in_text, count = set(), set(), 0, 0
    for text, rows in value.items():
        for row in rows:
            if _is_cdr(row):
                return "sor"
            if _is_triple(row):
                seconds.add(row[1])
                thirds.add(row[2])
                in_text += row[2] in text
                count += 1
    if 2 * len(thirds) < len(seconds):
        return "sor"
    if 2 * len(seconds) < len(thirds) or 3 * in_text > count:
        return "sro"
    raise UserError(
        f"{path}: the order of the triples cannot be recognised from the content; name format genres (subject, object, "
        "relation) or genres-processed (subject, relation, object)"
    )


def with_labels(row: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a document of a data set, of CDR with the label of each triple as its relation."""
    return {
        **row,
        "triples": [each[:2] + each[3:] if _is_cdr(each) else each for each in row["triples"]],
    }


def well_formed(row: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a document of processed triples without what is none."""
    triples = [triple for triple in row["triples"] if _is_triple(triple)]
    wrong = [
        LeftOut("malformed", f"{where}: {shown(one)}")
        for one in row["triples"]
        if not _is_triple(one)
    ]
    return Row({**row, "triples": triples}, wrong, len(row["triples"]))


GENRES = form(
    "genres", place=13, rows=by_texts, plain=with_labels, text="text", triples="triples", order="sor",
    detects=lambda probe: by_text(probe) and guess_order(probe.path) == "sor",
)  # fmt: skip
PROCESSED = form(
    "genres-processed", place=14, rows=by_texts, plain=well_formed, text="text", triples="triples", detects=by_text,
)  # fmt: skip
