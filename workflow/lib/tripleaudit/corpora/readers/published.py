"""Formats of published corpora and annotation tools that are mappings of columns.

What is particular about one stands above its declaration. ``none`` are the labels of pairs that
have no relation.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.corpus import LeftOut
from tripleaudit.corpora.readers.common import (
    first_character,
    items,
    read_objects,
    shown,
    take,
)
from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.row_files import Probe, Row, Rows, has, lines
from tripleaudit.corpora.readers.side import Side
from tripleaudit.corpora.triple_forms import triple_of

# NYT24 and NYT11 as CoType published them, one JSON object a line; entities are called by their
# strings
NYT_RAW = form(
    "nyt-raw", place=10, keys=("sentText", "relationMentions"), detects=has("sentText"),
    text="sentText", triples="relationMentions", subject="em1Text", relation="label", object="em2Text",
    entities="entityMentions", key="text", name="text", type="label", none=("None", "NA"),
)  # fmt: skip

# SpERT's and PFN's form of CoNLL04, SciERC and ADE: positions of tokens, positions in the list of
# entities
ENTITY_RELATION = form(
    "entity-relation", place=9, keys=("tokens", "entities", "relations"),
    detects=has("tokens", "relations"),
    id=("orig_id", "id"), tokens="tokens", triples="relations", subject="head", relation="type", object="tail",
    entities="entities", start="start", end="end", type="type", name="text",
)  # fmt: skip


def _has_triple_list(probe: Probe) -> bool:
    return any(
        name in probe.value for name in ("triple_list", "triple_list_gold", "triple_list_pred")
    )


def with_lists(row: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a row with its triples as lists; CasRel writes objects in its results."""
    listed = row.get("triple_list")
    if not isinstance(listed, list) or not any(isinstance(item, dict) for item in listed):
        return row
    triples = []
    for item in listed:
        if isinstance(item, dict) and {"subject", "object"} <= item.keys():
            item = [item["subject"], item.get("relation", item.get("predicate")), item["object"]]
        triples.append(item)
    left_out = row.left_out if isinstance(row, Row) else ()
    return Row({**row, "triple_list": triples}, left_out)


# WebNLG, NYT24, NYT10-HRL and NYT11-HRL in most public repositories: [subject, relation, object].
# CasRel, OneRel and GRTE write their results so, too, with `triple_list_pred` next to
# `triple_list_gold` or `triple_list`
TRIPLE_LIST = form(
    "triple-list", place=8, keys=("text", "triple_list"), detects=_has_triple_list,
    plain=with_lists, id="id", text="text", triples="triple_list",
)  # fmt: skip

TRIPLE = ("subject", "predicate", "object")


NOWHERE = {"subj_char_span": [None] * 2, "obj_char_span": [None] * 2}
"""Spans of a triple of strings."""


def _with_objects(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose ``relation_list`` has objects also where it has triples without spans."""
    listed = row["relation_list"] if isinstance(row.get("relation_list"), list) else []
    if all(isinstance(item, dict) and "subj_char_span" in item for item in listed):
        return row
    objects = []
    for item in listed:
        triple = triple_of(item)
        has_spans = isinstance(item, dict) and "subj_char_span" in item
        objects.append(item if triple is None or has_spans else _without_spans(triple))
    new = {**row, "relation_list": objects}
    return Row(new, row.left_out, row.listed, row.names) if isinstance(row, Row) else new


def _without_spans(triple: Sequence[Any]) -> dict[str, Any]:
    """Return a triple of strings as an object of ``relation_list``."""
    return {**dict(zip(TRIPLE, triple, strict=True)), **NOWHERE}


def with_spans(path: Path, side: Side, occurrence: str = "first") -> Rows:
    """Yield the sentences of a list of triples with the character spans of every pair of mentions.

    Most files also list the triples as strings (``triple_list``), each once. With occurrence
    ``first`` only these strings are read, so that such a file and its twin without spans give equal
    sentences. Otherwise the triples with spans are read, and those strings that have no spans.
    """
    for where, row in side.rows(read_objects(path)):
        row = _with_objects(row)
        entities = _listed_entities(row)
        left_out = row.left_out if isinstance(row, Row) else ()
        kind = object if side.predicts else dict
        with_positions = items(row, "relation_list", kind, where)
        if "triple_list" not in row:
            yield where, Row(row, left_out, entities=entities)
            continue
        listed = items(row, "triple_list", list, where)
        for triple in listed:
            if len(triple) != len(TRIPLE):
                raise UserError(
                    f"{where}: expected a triple [subject, relation, object], got {shown(triple)}"
                )
        if occurrence == "first":
            triples = [_without_spans(triple) for triple in listed]
        else:
            placed = [
                [triple.get(part) for part in TRIPLE]
                for triple in with_positions
                if isinstance(triple, dict)
            ]
            others = [_without_spans(triple) for triple in listed if triple not in placed]
            triples = with_positions + others
        new = {**row, "relation_list": triples}
        yield where, Row(new, left_out, listed=len(listed), entities=entities)


def _listed_entities(row: dict[str, Any]) -> list[tuple[Any, Any, str | None]]:
    """Return start, end and type of the items of ``entity_list``."""
    listed = row.get("entity_list")
    entities = []
    for item in listed if isinstance(listed, list) else ():
        edges = item.get("char_span") if isinstance(item, dict) else None
        if isinstance(edges, list) and len(edges) == 2:
            type_ = item.get("type")
            entities.append((*edges, type_ if isinstance(type_, str) else None))
    return entities


# the same as TPLinker, UniRel and the generalisation papers spread it
TRIPLE_LIST_SPANS = form(
    "triple-list-spans", place=7, keys=("text", "relation_list"), detects=has("relation_list", "text"),
    rows=with_spans, id="id", text="text", triples="relation_list",
    subject="subject", relation="predicate", object="object",
    subject_start="subj_char_span.0", subject_end="subj_char_span.1",
    object_start="obj_char_span.0", object_end="obj_char_span.1",
)  # fmt: skip


def one_side(path: Path, side: Side) -> Rows:
    """Yield texts of a stored output with gold (``truth``) or predicted triples (``predict``)."""
    for where, row in read_objects(path):
        if side.name not in row:
            raise UserError(f"{where}: field {side.name!r} is missing")
        yield where, {**row, "triples": row[side.name]}


PREDICTIONS = form(
    "predictions", place=6, keys=("text", "predict", "truth"), detects=has("predict", "truth"), rows=one_side,
    text="text", triples="triples",
)  # fmt: skip

PAIR_END, TABS = "###END###", 5


def pairs(path: Path) -> Rows:
    """Yield rows of OpenNRE's two forms and of NRE's: tab-separated, words joined with ``_``."""
    if first_character(path) in ("{", "["):
        yield from read_objects(path)
        return
    for _, where, line in lines(path):
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) < TABS + 1:
            raise UserError(f"{where}: {len(fields)} fields between tabs, expected {TABS + 1}")
        subject, object_, relation, text = fields[2 : TABS + 1]
        text = text.removesuffix(PAIR_END).strip()
        subject, object_, text = (words.replace("_", " ") for words in (subject, object_, text))
        yield (
            where,
            {"text": text, "relation": relation, "h": {"name": subject}, "t": {"name": object_}},
        )


# one line an entity pair with its sentence, as the raw NYT10 corpus (Riedel et al. 2010) is spread
PAIRS = form(
    "pairs", place=11, keys=("text", "relation", "h", "t"), rows=pairs,
    detects=lambda probe: (
        (probe.line.count("\t") >= TABS and probe.line.rstrip().endswith(PAIR_END))
        or any({"relation", *keys} <= probe.value.keys() for keys in (("text", "h", "t"), ("sentence", "head", "tail")))
    ),
    text=("sentence", "text"), subject=("head.word", "h.name"), relation="relation", object=("tail.word", "t.name"),
    none=("None", "NA"),
)  # fmt: skip

# one pair a row, positions of tokens, ends inclusive
TACRED = form(
    "tacred", place=5.3, keys=("token", "relation", "subj_start", "obj_start"),
    id="id", tokens="token", relation="relation", none=("no_relation",), last="inclusive",
    subject_start="subj_start", subject_end="subj_end", subject_type="subj_type",
    object_start="obj_start", object_end="obj_end", object_type="obj_type",
)  # fmt: skip


def of_people(path: Path, side: Side, annotator: str = "") -> Rows:
    """Yield accepted rows of Prodigy, of ``annotator`` or of the first who accepted a text."""
    first: dict[str, Any] = {}
    for where, row in side.rows(read_objects(path)):
        names = row.get("_annotator_id"), row.get("_session_id")
        who = names[0] or names[1]
        if row.get("answer", "accept") != "accept":
            yield where, LeftOut("texts_not_accepted", where)
        elif annotator and annotator not in names:
            yield where, LeftOut("other_annotators", where)
        elif not annotator and first.setdefault(str(row.get("text")), who) != who:
            yield where, LeftOut("several_annotators", where)
        else:
            yield where, _with_ends(row, where)


def _with_ends(row: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a Prodigy row with the spans of its relations, which may be given by tokens."""
    spans, tokens = (
        items(row, key, dict, where) if row.get(key) else [] for key in ("spans", "tokens")
    )
    ends = {
        span["token_end"]: span for span in reversed(spans) if type(span.get("token_end")) is int
    }
    relations = []
    for relation in items(row, "relations", dict, where):
        found = {}
        for key in ("head", "child"):
            if given := relation.get(f"{key}_span"):
                edges = [
                    take(relation, f"{key}_span", dict, where).get(edge)
                    for edge in ("start", "end")
                ]
                same = (span for span in spans if [span.get("start"), span.get("end")] == edges)
                found[key] = {**next(same, {}), **given}  # the type may stand there alone
            else:
                token = relation[key] if type(relation.get(key)) is int else -1
                found[key] = ends.get(token) or (tokens[token] if 0 <= token < len(tokens) else {})
            if not found[key]:
                raise UserError(
                    f"{where}: a relation has neither {key}_span nor a span that ends at {key!r}"
                )
        relations.append({**relation, **found})
    return {**row, "spans": spans, "relations": relations}


# spaCy's annotation tool
PRODIGY = form(
    "prodigy", place=6.1, keys=("text", "spans", "relations"), rows=of_people,
    text="text", triples="relations", subject="head", relation="label", object="child",
    entities="spans", name="text", start="start", end="end", type="label",
)  # fmt: skip


def _is_doccano(probe: Probe) -> bool:
    entities, relations = probe.value.get("entities"), probe.value.get("relations")
    offsets = isinstance(entities, list) and (not entities or "start_offset" in str(entities[0]))
    return (
        offsets
        and isinstance(relations, list)
        and "text" in probe.value
        and "tokens" not in probe.value
    )


def marked(row: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a text of doccano.

    Without entities, the export does not tell whether the text was annotated.
    """
    empty = not items(row, "entities", dict, where) and not row.get("relations")
    return Row(row, [LeftOut("empty_annotations", where)] * empty)


DOCCANO = form(
    "doccano", place=6.2, keys=("text", "entities", "relations"), detects=_is_doccano, plain=marked,
    id="id", text="text", triples="relations", subject="from_id", relation="type", object="to_id",
    entities="entities", key="id", start="start_offset", end="end_offset", type="label",
)  # fmt: skip

WAYS = {"left": [("to_id", "from_id")], "bi": [("from_id", "to_id"), ("to_id", "from_id")]}


def tasks(path: Path, side: Side, annotator: str = "") -> Rows:
    """Yield tasks of Label Studio as text, regions and relations, one per label and direction.

    A task that was skipped, or that waits for its annotator, says nothing about its text. Of
    several annotations, that of the chosen annotator (id, e-mail or name), or the first. Where
    predictions are wanted and any task has ``predictions``, the first of each task is read, and
    none of the annotations.

    Raises:
        UserError: predictions are wanted, and every list of them is empty next to annotations.
    """
    rows = list(side.rows(read_objects(path)))
    has_predictions = any(row.get("predictions") for _, row in rows)
    has_empty_lists = any("predictions" in row and row.get("annotations") for _, row in rows)
    if side.predicts and not annotator and has_empty_lists and not has_predictions:
        raise UserError(
            f"{path}: 'predictions' is empty in every task, and 'annotations' are people's; export the tasks with "
            "predictions, or name whose annotations to score, with --predicted-column annotator=NAME"
        )
    if side.predicts and not annotator and has_predictions:
        yield from ((where, _predicted(row, where)) for where, row in rows)
    else:
        yield from ((where, _annotated(row, where, annotator)) for where, row in rows)


def _predicted(row: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the first prediction of a task; without one, nothing is predicted."""
    predictions = items(row, "predictions", dict, where) if "predictions" in row else []
    result = items(predictions[0], "result", dict, where) if predictions else []
    left_out = [LeftOut("several_predictions", where)] if len(predictions) > 1 else []
    return _linked(
        row, result, where, [LeftOut("predictions_read", f"{where}: 'predictions'"), *left_out]
    )


def _annotated(row: dict[str, Any], where: str, annotator: str) -> dict[str, Any] | LeftOut:
    made = items(row, "annotations", dict, where)
    kept = [one for one in made if not one.get("was_cancelled")]
    if not kept:
        return LeftOut("skipped" if made else "not_annotated", where)
    if annotator:
        kept = [one for one in kept if annotator in _names_of(one.get("completed_by"))]
        if not kept:
            return LeftOut("other_annotators", where)
    left_out = [LeftOut("several_annotators", where)] if len(kept) > 1 else []
    if row.get("predictions"):
        left_out.append(LeftOut("predictions_beside", f"{where}: 'predictions'"))
    return _linked(row, items(kept[0], "result", dict, where), where, left_out)


def _linked(
    row: dict[str, Any], result: list[dict[str, Any]], where: str, left_out: list[LeftOut]
) -> Row:
    """Return a task with the regions and relations of one annotation or prediction."""
    values = [(item["id"], item.get("value")) for item in result if "id" in item]
    regions = [
        {"id": name, **value}
        for name, value in values
        if isinstance(value, dict) and "start" in value
    ]
    links = []
    for item in (item for item in result if item.get("type") == "relation"):
        if not item.get("labels"):
            ends = f"{item.get('from_id')!r} to {item.get('to_id')!r}"
            left_out.append(LeftOut("unlabelled_relations", f"{where}: from {ends}"))
            continue
        for label in items(item, "labels", str, where):
            for ways in WAYS.get(str(item.get("direction")), [("from_id", "to_id")]):
                arguments = dict(
                    zip(("from_id", "to_id"), (item.get(way) for way in ways), strict=True)
                )
                links.append({"label": label, **arguments})
    data = row.get("data")
    return Row(
        {"id": row.get("id"), "data": data, **_text_of(data), "regions": regions, "links": links},
        left_out,
    )


def _text_of(data: Any) -> dict[str, str]:
    """Return the text of a task under another name, if it is the only string."""
    if not isinstance(data, dict) or "text" in data:
        return {}
    strings = [value for value in data.values() if isinstance(value, str)]
    return {"text": strings[0]} if len(strings) == 1 else {}


def _names_of(annotator: Any) -> list[str]:
    return list(map(str, annotator.values())) if isinstance(annotator, dict) else [str(annotator)]


# the JSON export
LABEL_STUDIO = form(
    "label-studio", place=6.3, keys=("data", "annotations"), rows=tasks, predictions=("predictions",),
    detects=lambda probe: "data" in probe.value and any(name in probe.value for name in ("annotations", "predictions")),
    id="id", text=("text", "data.text"), triples="links", subject="from_id", relation="label", object="to_id",
    entities="regions", key="id", name="text", start="start", end="end", type="labels",
)  # fmt: skip
