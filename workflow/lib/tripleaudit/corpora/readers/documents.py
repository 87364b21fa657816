"""Documents: DocRED, DyGIE++, REBEL's linearisation, and GenRES's texts.

``docred`` (Re-DocRED too): ``{"title", "sents", "vertexSet", "labels"}``. A document is one
sentence here, because its triples hold between entities of the whole document. An entity's position
is its first mention; with occurrence ``all``, every pair of mentions is a position of the triple.

``dygie``: ``{"doc_key", "sentences", "ner", "relations"}`` with token positions in the document,
ends inclusive; a sentence of the document is one sentence. SciERC, ACE05 and GENIA are spread in
this form.

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
from itertools import product
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.corpus import LeftOut
from tripleaudit.corpora.readers.common import items, load_json, read_objects, shown, take
from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.row_files import Probe, Row, Rows, has
from tripleaudit.corpora.readers.side import Side


def documents(path: Path, side: Side, occurrence: str = "first") -> Rows:
    """Yield the documents; ids are their titles. One without ``labels``, as in the blind test
    set, is left out.
    """
    for where, value in side.rows(read_objects(path)):
        if value.get("labels") is None:
            yield where, LeftOut("without_labels", where)
            continue
        parts, labels = items(value, "sents", list, where), items(value, "labels", dict, where)
        entities = [
            _mentions(found, parts, where) for found in items(value, "vertexSet", list, where)
        ]
        links = []
        for label in labels:
            ends = [take(label, key, int, where) for key in ("h", "t")]
            if not max(ends) < len(entities) or min(ends) < 0:
                raise UserError(
                    f"{where}: a label points to entity {max(ends)}, expected one of {len(entities)}"
                )
            pairs = list(product(*(entities[end] for end in ends)))
            relation = take(label, "r", str, where)
            links += [
                {"h": h, "r": relation, "t": t}
                for h, t in (pairs if occurrence == "all" else pairs[:1])
            ]
        row = {
            "title": take(value, "title", str, where),
            "tokens": [token for part in parts for token in part],
        }
        yield where, Row({**row, "links": links}, listed=len(labels))


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
    """Yield the sentences of documents; ids are the document's key and the sentence's position
    in it.
    """
    for where, value in side.rows(read_objects(path)):
        name, begin = take(value, "doc_key", str, where), 0
        if value.get("relations") is None:
            yield where, LeftOut("without_labels", where)
            continue
        relations, ner = (
            items(value, key, list, where) if value.get(key) else [] for key in ("relations", "ner")
        )
        if side.predicts and "predicted_relations" in value and "predicted_ner" not in value:
            ner = []  # the types of the gold are no predictions
        left_out = value.left_out if isinstance(value, Row) else []
        parts = items(value, "sentences", list, where)
        for key, found in (("relations", relations), ("ner", ner)):
            if found and len(found) != len(parts):
                raise UserError(
                    f"{where}: {len(found)} lists of {key!r} for {len(parts)} sentences; expected one for each"
                )
        for number, tokens in enumerate(parts):
            here = f"{where} sentence {number}"
            entities = [_edges(one, 2, here) for one in ner[number]] if ner else []
            types = {str(one[:2]): one[2] for one in entities}
            links = []
            for one in relations[number] if relations else []:
                edges, relation = _edges(one, 4, here), one[4]
                pairs = edges[:2], edges[2:4]
                (s, se), (o, oe) = ([edge - begin for edge in pair] for pair in pairs)
                st, ot = (types.get(str(pair)) for pair in pairs)
                links.append(
                    {"s": s, "se": se, "st": st, "r": relation, "o": o, "oe": oe, "ot": ot}
                )
            yield here, Row({"id": f"{name}-{number}", "tokens": tokens, "links": links}, left_out)
            left_out = []
            begin += len(tokens)


def _edges(value: Any, count: int, where: str) -> list[Any]:
    """Return a list of so many positions and a name, checked; scores may stand behind."""
    kinds = [type(each) for each in value[: count + 1]] if isinstance(value, list) else []
    if kinds != [int] * count + [str]:
        what, positions = "an entity" if count == 2 else "a relation", "start, end, " * (count // 2)
        raise UserError(f"{where}: {what} is {shown(value)}, expected [{positions}type]")
    return value


REBEL_TEXTS = ("context", "text", "sentence", "input")
REBEL_SAID = ("triplets", "generated_text", "prediction", "output")
_SPECIAL = re.compile(r"</?s>|<pad>")  # what a tokenizer leaves of a decoded output


def linearised(row: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a row of REBEL with its linearised triples as lists."""
    triples = []
    said = take(row, next((key for key in REBEL_SAID if key in row), "triplets"), str, where)
    outside, *groups = _SPECIAL.sub(" ", said).split("<triplet>")
    left_out = [LeftOut("outside_marks", f"{where}: {shown(said)}")] * bool(outside.strip())
    for group in groups:
        subject, *rest = group.split("<subj>")
        if not rest and subject.strip():
            raise UserError(
                f"{where}: {shown(group)} has no '<subj> object <obj> relation' after its subject"
            )
        for part in rest:
            object_, mark, relation = part.partition("<obj>")
            if not mark or not relation.strip():
                raise UserError(
                    f"{where}: {shown(group)} has no '<obj> relation' after its '<subj> object'"
                )
            triples.append([subject.strip(), relation.strip(), object_.strip()])
    return Row({**row, "triples": triples}, left_out)


def _is_rebel(probe: Probe) -> bool:
    return any("<triplet>" in str(probe.value.get(key, "")) for key in REBEL_SAID)


DOCRED = form(
    "docred", place=5.1, keys=("sents", "vertexSet"), rows=documents, id="title",
    tokens="tokens", triples="links", subject="h.name", relation="r", object="t.name",
    subject_start="h.start", subject_end="h.end", subject_type="h.type",
    object_start="t.start", object_end="t.end", object_type="t.type",
)  # fmt: skip
DYGIE = form(
    "dygie", place=5.2, rows=parts_of, keys=("doc_key", "sentences", "relations"), detects=has("doc_key", "sentences"),
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
    """Tell ``sor`` from ``sro``: there are far fewer relation names than arguments, and objects
    occur in the text.

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
