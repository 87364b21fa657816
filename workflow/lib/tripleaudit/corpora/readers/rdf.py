"""``rdf``: Turtle, N-Triples, JSON-LD, TriG and N-Quads, or rows with such texts.

TriG and N-Quads have one graph for each sentence.

A sentence is a file of a folder (``ID.ttl``, ``ID.nt``, ``ID.jsonld``), a named graph of a file, or
a row of JSON whose field (``turtle``, ``json-ld``, or an answer of a language model) is one. Its
text stands in its row, or in ``ID.txt`` next to its file; without texts, such outputs are
predictions, which go by id.

A name is the node's label, its literal, or the last part of its address, with blanks for
underscores; a relation is the last part of its address. Nothing is fetched, nor dropped where
JSON-LD drops what no context explains.
"""

import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import open_text
from tripleaudit.corpora.corpus import LeftOut
from tripleaudit.corpora.readers.common import read_objects, shown, unique_keys
from tripleaudit.corpora.readers.documents import REBEL_SAID
from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.row_files import Probe, Row, Rows

SYNTAX: Final = {"ttl": "turtle", "nt": "nt", "jsonld": "json-ld", "trig": "trig", "nq": "nquads"}
FILE: Final = re.compile(rf"(.+)\.({'|'.join(SYNTAX)})(?:\.gz|\.zst)?")
FIELD: Final = re.compile(r"turtle|ttl|n-?t(riples)?|json-?ld|rdf", re.IGNORECASE)
SAID: Final = (
    "triples",
    *REBEL_SAID,
    "response",
    "answer",
    "completion",
)  # which may be anything else
SIGNS: Final = re.compile(
    r"@?prefix\s+[\w.-]*:\s*<|<(https?|urn|file):[^>]*>|\"@(context|graph|id)\"", re.IGNORECASE
)
JSON_LD: Final = re.compile(r"\s*(\{|\[\s*[{\]])")
FENCED: Final = re.compile(r"```[\w-]*\s(.*?)```", re.DOTALL)
BASE: Final = "http://_/"  # of addresses that say none
RDF_, RDFS, OWL, SKOS = (
    f"http://www.w3.org/{name}#"
    for name in (
        "1999/02/22-rdf-syntax-ns",
        "2000/01/rdf-schema",
        "2002/07/owl",
        "2004/02/skos/core",
    )
)
NAMES = (
    *(f"{base}name" for base in ("http://schema.org/", "https://schema.org/", BASE)),
    "http://xmlns.com/foaf/0.1/name",
)
LABELS = (f"{RDFS}label", f"{SKOS}prefLabel", f"{BASE}label", *NAMES)
NO_TRIPLES = (RDF_, RDFS, OWL, *LABELS)


def local(address: str) -> str:
    """Return the last part of an address."""
    address = address.rstrip("/#")
    return unquote(address[address.rfind(next((m for m in "#/:" if m in address), " ")) + 1 :])


def statements(
    text: str, syntax: str, where: str, gone: list[LeftOut]
) -> dict[str, list[dict[str, Any]]]:
    """Return the triples of every named graph by its name; what stands in none has the empty name.

    Args:
        gone: what is left out is added.

    Raises:
        UserError: the text is not of this syntax.
    """
    import rdflib

    logging.getLogger("rdflib").setLevel(logging.ERROR)  # an address with blanks is no fault here
    found, before, context = rdflib.Dataset(), rdflib.NORMALIZE_LITERALS, {}
    try:
        rdflib.NORMALIZE_LITERALS = False  # 007 stays as it is written
        if syntax == "json-ld":
            value = json.loads(text, object_pairs_hook=lambda pairs: _explained(pairs, where, gone))
            if wrong := [
                each
                for each in (value if isinstance(value, list) else [value])
                if not isinstance(each, dict)
            ]:
                raise UserError(f"expected objects, got {shown(wrong[0])}")
            text, context = json.dumps(value), {"context": {"@vocab": BASE}}
        found.parse(data=text, format=syntax, publicID=BASE, **context)
    except Exception as error:  # of many kinds
        reason = " ".join(str(error).partition(" at ^")[0].split())
        raise UserError(f"{where}: no whole {syntax} ({reason[:120]})") from error
    finally:
        rdflib.NORMALIZE_LITERALS = before
    names, types, triples = (
        dict[Any, Any](),
        dict[Any, str](),
        dict[str, list[dict[str, Any]]]({"": []}),
    )
    listed = sorted(found.quads(), key=lambda quad: [*map(str, quad)])
    for node, predicate, value, _ in listed:
        if str(predicate) in LABELS and isinstance(value, rdflib.Literal):
            rank = LABELS.index(str(predicate)), value.language or "", str(value)
            names[node] = min(names.get(node, rank), rank)
        elif predicate == rdflib.RDF.type and not str(value).startswith(NO_TRIPLES):
            types.setdefault(node, local(str(value)))
    for node, predicate, value, graph in listed:
        ends, relation = [], local(str(predicate))
        for end in (node, value):
            unnamed = isinstance(end, rdflib.BNode) or str(end) == BASE
            said = (
                str(end) if isinstance(end, rdflib.Literal) else local(str(end)).replace("_", " ")
            )
            ends.append(names[end][-1] if end in names else "" if unnamed else said)
        example = f"{where}: {ends[0]!r} {relation} {ends[1]!r}"
        if str(predicate).startswith(NO_TRIPLES):
            gone.append(LeftOut("schema_statements", example))
        elif not all(ends):
            gone.append(LeftOut("blank_nodes", example))
        else:
            named = isinstance(graph, rdflib.URIRef) and str(graph) != "urn:x-rdflib:default"
            parts = {"subject": ends[0], "relation": relation, "object": ends[1]}
            of = triples.setdefault(local(str(graph)) if named else "", [])
            of.append({**parts, "subject_type": types.get(node), "object_type": types.get(value)})
    return triples


def _explained(pairs: list[tuple[str, Any]], where: str, gone: list[LeftOut]) -> dict[str, Any]:
    """Return a JSON-LD object whose names are all resolved; unchanged without a context."""
    value = unique_keys(where)(pairs)
    value |= {
        key: quote(value[key], ":/?#@%") for key in ("@id", "id") if isinstance(value.get(key), str)
    }
    if "@import" in value:
        raise UserError(f"the context {value['@import']!r} is not fetched")
    if given := value.get("@context"):
        given = given if isinstance(given, list) else [given]
        gone += [LeftOut("contexts", f"{where}: {each}") for each in given if isinstance(each, str)]
        alone = {"@vocab": BASE, "id": "@id", "type": "@type"}
        value["@context"] = [
            {"@vocab": BASE},
            *(alone if isinstance(each, str) else each for each in given if each),
        ]
    return value


def rows(path: Path, columns: Mapping[str, str] | None = None) -> Rows:
    """Yield ``{"id", "triples"}`` of the sentences of a file or folder.

    They have a ``text`` where it is known; ``columns`` has no meaning for RDF.
    """
    if not path.is_dir():
        yield from (
            _of_file if FILE.fullmatch(path.name) or _is_json_ld(Probe(path)) else _answers
        )(path)
        return
    files = sorted(path.iterdir())
    known = {match[1]: file for file in files if (match := FILE.fullmatch(file.name))}
    read = [
        *known.values(),
        *(file for file in files if file.suffix == ".txt" and file.stem in known),
    ]
    others = [LeftOut("other_files", str(file)) for file in files if file not in read]
    for file in files:
        for where, row in _of_file(file) if FILE.fullmatch(file.name) else ():
            row.left_out += others
            yield where, row
            others = []


def _of_file(path: Path) -> Rows:
    match, gone, text = FILE.fullmatch(path.name), list[LeftOut](), {}
    name, syntax = (match[1], SYNTAX[match[2]]) if match else (path.stem, "json-ld")
    with open_text(path) as stream:
        found = statements(stream.read(), syntax, str(path), gone)
    outside = found.pop("")
    gone += [
        LeftOut("outside_graphs", f"{path}: {[*one.values()][:3]}") for one in outside if found
    ]
    if not found and (text_file := path.with_name(f"{name}.txt")).is_file():
        with open_text(text_file) as stream:
            text = {"text": stream.read()}
    for number, (each, triples) in enumerate((found or {name: outside}).items()):
        row = {"id": each, **text, "triples": triples}
        yield f"{path} {each}", Row(row, () if number else gone)


def _answers(path: Path) -> Rows:
    """Yield the rows of a file; answers of models that are no valid RDF have no triples."""
    for where, row in read_objects(path):
        key = field_of(row) or next((key for key in SAID if key in row), "rdf")
        said, gone, found = row.get(key), list[LeftOut](), {}
        gone += [LeftOut("null_triples", where)] * (said is None)
        text = said if isinstance(said, str) else json.dumps(said or {})
        if fenced := FENCED.findall(text):
            gone += [LeftOut("outside_marks", where)] * bool(FENCED.sub("", text).strip())
            text = "\n".join(fenced)
        try:
            found = statements(text, "json-ld" if JSON_LD.match(text) else "turtle", where, gone)
        except UserError as error:
            gone.append(LeftOut("broken_answers", str(error)))
        triples = [triple for listed in found.values() for triple in listed]
        known: dict[str, Any] = {name: row[name] for name in ("id", "text") if name in row}
        yield where, Row({**known, "triples": triples}, gone)


def _is_json_ld(probe: Probe) -> bool:
    return bool({"@context", "@graph", "@id"} & probe.value.keys())


def field_of(row: dict[str, Any]) -> str | None:
    """Return the field of a row that holds RDF by its name, or by what it holds."""
    named = next(
        (key for key in row if FIELD.fullmatch(key) and not isinstance(row.get("triples"), list)),
        None,
    )
    texts = {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in row.items()
        if key in SAID
    }
    return named or next((key for key, value in texts.items() if SIGNS.search(value)), None)


def is_rdf(probe: Probe) -> bool:
    """Whether a file or folder is RDF by its name, or by its first object."""
    if probe.path.is_dir():
        return any(FILE.fullmatch(file.name) for file in probe.path.iterdir())
    return (
        bool(FILE.fullmatch(probe.path.name))
        or _is_json_ld(probe)
        or field_of(probe.value) is not None
    )


def with_texts(path: Path) -> Rows:
    """Yield the rows of a corpus.

    Raises:
        UserError: one has no text.
    """
    for where, row in rows(path):
        if "text" not in row:
            wanted = f"{row.get('id', 'ID')}.txt next to it, or 'text' in its row"
            raise UserError(
                f"{where}: RDF has no text; expected {wanted}; predictions need none and go by id"
            )
        yield where, row


RDF = form(
    "rdf", place=5.4, predictions=("prediction",), rows=with_texts, detects=is_rdf, rows_without_texts=rows,
    id="id", text="text", triples="triples", subject="subject", relation="relation", object="object",
    subject_type="subject_type", object_type="object_type",
)  # fmt: skip
