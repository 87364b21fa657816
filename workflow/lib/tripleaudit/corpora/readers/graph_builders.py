"""Outputs of knowledge-graph builders, open extractors and their wrappers.

Most keep the text with its triples; one that does not (``kg-gen``, ``gliner2``) is read with the
text in its row, ``{"text": …, **output}``, or as predictions without texts, by id or by order.
"""

from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.corpus import LeftOut
from tripleaudit.corpora.readers.common import items, shown, take
from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.row_files import (
    ABSENT,
    Row,
    Rows,
    at,
    has,
    read_parquet,
    read_rows,
)

# LangChain: GraphDocument.model_dump()
LANGCHAIN = form(
    "langchain", place=5.71, keys=("nodes", "relationships", "source"), text="source.page_content",
    triples="relationships", subject="source.id", relation="type", object="target.id",
    entities="nodes", key="id", name="id", type="type",
)  # fmt: skip

# LlamaIndex: the nodes of a property-graph extractor, TextNode.to_dict() or model_dump()
LLAMA_INDEX = form(
    "llama-index", place=5.72, keys=("id_", "metadata", "text"), id="id_", text="text",
    detects=lambda probe: "id_" in probe.value and at(probe.value, "metadata.relations") is not ABSENT,
    triples="metadata.relations", subject="source_id", relation="label", object="target_id",
    entities="metadata.nodes", key="name", name="name", type="label",
)  # fmt: skip

# KGGen: Graph.model_dump(), with its text
KG_GEN = form(
    "kg-gen", place=5.73, keys=("text", "entities", "edges", "relations"), id="id", text="text", triples="relations",
)  # fmt: skip


def units(path: Path) -> Rows:
    """Yield the text units of a GraphRAG index with the relationships that were found in each."""
    ending = "parquet" if (path / "text_units.parquet").is_file() else "csv"
    read = read_parquet if ending == "parquet" else read_rows
    texts = {str(row["id"]): row for _, row in read(path / f"text_units.{ending}")}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in texts}
    for where, row in read(path / f"relationships.{ending}"):
        listed = row.get("text_unit_ids")
        if isinstance(listed, str):
            listed = listed.strip("[]").replace("'", "").split()
        if not listed:
            yield where, LeftOut("unknown_units", where)
        for name in listed or ():
            edge, name = {key: take(row, key, str, where) for key in EDGE}, str(name).strip(",")
            if name in found:
                found[name].append(edge)
            else:
                yield where, LeftOut("unknown_units", f"{where}: {name}")
    for name, row in texts.items():
        yield f"{path} {name}", {"id": name, "text": row["text"], "relationships": found[name]}


EDGE = ("source", "description", "target")

# GraphRAG: the folder `output` of an index; a relationship has a description in place of a name
GRAPHRAG = form(
    "graphrag", place=-1, rows=units, id="id", text="text", triples="relationships",
    detects=lambda probe: any((probe.path / f"text_units.{ending}").is_file() for ending in ("parquet", "csv")),
    subject="source", relation="description", object="target",
)  # fmt: skip

ARGUMENTS = (("subject", "object"), ("head", "tail"), ("source", "target"))


def grounded(row: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a LangExtract document with the extractions that name a subject and an object."""
    links, gone = [], []
    for one in items(row, "extractions", dict, where):
        attributes = take(one, "attributes", dict, where) if one.get("attributes") else {}
        if sum(bool(attributes.get(end)) for ends in ARGUMENTS for end in ends) == 1:
            gone = [LeftOut("no_object", f"{where}: {shown(attributes)}")]
        pairs = ([attributes.get(end) for end in ends] for ends in ARGUMENTS)
        if pair := next(filter(all, pairs), None):
            relation = (
                attributes.get("relation") or attributes.get("type") or one.get("extraction_class")
            )
            links.append({"s": pair[0], "r": relation, "o": pair[1]})
    unread = [one for one in items(row, "extractions", dict, where) if one.get("attributes")]
    if unread and not links and not gone:
        gone = [LeftOut("other_attributes", f"{where}: {shown(unread[0]['attributes'])}")]
    return Row({"id": row.get("document_id"), "text": row.get("text"), "links": links}, gone)


# LangExtract: the JSON lines that it saves; relations are extractions with attributes
LANGEXTRACT = form(
    "langextract", place=5.76, detects=has("extractions", "text"), plain=grounded,
    id="id", text="text", triples="links", subject="s", relation="r", object="o",
)  # fmt: skip


def by_relation(row: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a GLiNER2 output {relation: [pairs]} as triples; a pair is a list or an object."""
    links = []
    found = take(row, "relation_extraction", dict, where)
    for relation, pairs in found.items():
        for pair in take(found, relation, list, where) if pairs else ():
            ends = [pair.get("head"), pair.get("tail")] if isinstance(pair, dict) else pair
            if not isinstance(ends, list) or len(ends) != 2:
                raise UserError(
                    f"{where}: a pair of {relation!r} is {shown(pair)}, expected a head and a tail"
                )
            subject, object_ = (SPAN | end if isinstance(end, dict) else end for end in ends)
            links.append({"s": subject, "r": relation, "o": object_})
    return {**row, "links": links}


SPAN = {"start": None, "end": None}  # of a name whose position is not asked for

# GLiNER2: what extract_relations returns, with its text
GLINER2 = form(
    "gliner2", place=5.77, detects=has("text", "relation_extraction"), plain=by_relation, id="id", text="text",
    triples="links", subject="s", relation="r", object="o", name="text", start="start", end="end",
)  # fmt: skip
