"""``docbin``: documents of spaCy in one file (``.spacy``), with relations as spaCy's relation projects keep them.

A relation stands in the extension ``rel`` of a document, ``{(start of subject, start of object): {relation: score}}``,
with the starts of entities in tokens; a score of at least a half counts. A document is one sentence; ids are places
from 0.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tripleaudit.corpora.corpus import LeftOut
from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.row_files import Rows
from tripleaudit.errors import UserError
from tripleaudit.files import check_file

RELATIONS = ("._.", "rel", None, None)  # where spaCy keeps an extension of a document


def documents(path: Path) -> Rows:
    """Yield the documents.

    Raises:
        UserError: the file is no ``DocBin``, or no document of it has relations.
    """
    found = _unpacked(check_file(path))
    if not any(RELATIONS in document.user_data for document in found):
        raise UserError(
            f"{path}: this DocBin keeps no relations; expected documents with the extension 'rel' and "
            "store_user_data=True, or the JSON lines that Prodigy writes (db-out)"
        )
    for number, document in enumerate(found, 1):
        where = f"{path} document {number}"
        if RELATIONS not in document.user_data:
            yield where, LeftOut("not_annotated", where)
            continue
        places = {entity.start: place for place, entity in enumerate(document.ents)}
        triples = []
        for pair, relation in _pairs(document.user_data[RELATIONS], where):
            for start in pair:
                if start not in places:
                    raise UserError(f"{where}: {relation} points to token {start}, where no entity begins")
            triples.append({"s": places[pair[0]], "r": relation, "o": places[pair[1]]})
        entities = [{"start": each.start_char, "end": each.end_char, "type": each.label_} for each in document.ents]
        yield where, {"text": document.text, "entities": entities, "triples": triples}


def _pairs(relations: Any, where: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the pairs of one document and their relations, checked: what stands in an extension may be anything."""
    for pair, scores in relations.items() if isinstance(relations, dict) else ():
        numbers = scores.values() if isinstance(scores, dict) else [None]
        if (
            not isinstance(pair, tuple | list)
            or len(pair) != 2
            or not all(isinstance(number, int | float) for number in numbers)
        ):
            raise UserError(f"{where}: expected 'rel' as {{(start, start): {{relation: score}}}}")
        yield from (((pair[0], pair[1]), relation) for relation, score in scores.items() if score >= 0.5)


def _unpacked(path: Path) -> list[Any]:
    import spacy
    from spacy.tokens import DocBin

    try:
        return list(DocBin().from_disk(path).get_docs(spacy.blank("xx").vocab))
    except Exception as error:  # of zlib, msgpack or numpy; all of them mean: this is no DocBin
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise UserError(f"{path}: not a whole DocBin of spaCy ({reason})") from error


FORMAT = form(
    "docbin", order=1, rows=documents, detects=lambda probe: probe.path.suffix == ".spacy",
    text="text", triples="triples", subject="s", relation="r", object="o",
    entities="entities", start="start", end="end", type="type",
)  # fmt: skip
