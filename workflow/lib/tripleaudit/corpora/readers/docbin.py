"""``docbin``: documents of spaCy in one file (``.spacy``), with relations as spaCy's relation projects keep them.

A relation stands in the extension ``rel`` of a document, ``{(start of subject, start of object): {relation: score}}``,
with the starts of entities in tokens; a score of at least a half counts. A document is one sentence.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tripleaudit.corpora.corpus import RawSentence, RawTriple
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError
from tripleaudit.files import check_file

RELATIONS = ("._.", "rel", None, None)  # where spaCy keeps an extension of a document


def read(path: str | Path) -> Iterator[RawSentence]:
    """Yield the documents; ids are their places from 0.

    Raises:
        UserError: the file is no ``DocBin``, or no document of it has relations.
    """
    documents = _documents(check_file(path))
    if not any(RELATIONS in document.user_data for document in documents):
        raise UserError(
            f"{path}: this DocBin keeps no relations; expected documents with the extension 'rel' and "
            "store_user_data=True, or the JSON lines that Prodigy writes (db-out)"
        )
    for number, document in enumerate(documents):
        where = f"{path} document {number + 1}"
        entities = {entity.start: entity for entity in document.ents}
        triples = []
        for pair, scores in _pairs(document.user_data.get(RELATIONS), where):
            for relation, score in scores.items():
                if score < 0.5:
                    continue
                for start in pair:
                    if start not in entities:
                        raise UserError(f"{where}: {relation} points to token {start}, where no entity begins")
                subject, object_ = (entities[start] for start in pair)
                places = subject.start_char, object_.start_char
                types = subject.label_ or None, object_.label_ or None
                triples.append(RawTriple(subject.text, relation, object_.text, *places, *types))
        yield RawSentence(str(number), document.text, triples, where, entities=len(entities))


def _pairs(relations: Any, where: str) -> Iterator[tuple[tuple[int, int], dict[str, float]]]:
    """Yield the pairs of one document, checked: what stands in an extension may be anything."""
    for pair, scores in relations.items() if isinstance(relations, dict) else ():
        numbers = scores.values() if isinstance(scores, dict) else [None]
        if (
            not isinstance(pair, tuple | list)
            or len(pair) != 2
            or not all(isinstance(number, int | float) for number in numbers)
        ):
            raise UserError(f"{where}: expected 'rel' as {{(start, start): {{relation: score}}}}")
        yield (pair[0], pair[1]), scores


def _documents(path: Path) -> list[Any]:
    import spacy
    from spacy.tokens import DocBin

    try:
        return list(DocBin().from_disk(path).get_docs(spacy.blank("xx").vocab))
    except Exception as error:  # of zlib, msgpack or numpy; all of them mean: this is no DocBin
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise UserError(f"{path}: not a whole DocBin of spaCy ({reason})") from error


FORMAT = CorpusFormat(name="docbin", order=1, read=read, detects=lambda probe: probe.path.suffix == ".spacy")
