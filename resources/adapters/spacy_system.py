"""A spaCy pipeline as a system: a program that reads texts and writes triples as JSON lines.

Relations are taken from ``doc._.rel`` (``{(start of head, start of tail): {relation: score}}`` by tokens, as spaCy's
tutorial component of relation extraction sets it); without it, from the parse: subject, lemma of the verb, object.
In a study::

    systems:
      spacy:
        command: python resources/adapters/spacy_system.py en_core_web_sm
"""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

import spacy
from spacy.tokens import Doc, Span, Token

SUBJECTS, OBJECTS = {"nsubj", "nsubjpass", "nsubj:pass"}, {"dobj", "obj", "attr", "pobj", "obl"}


def triples(doc: Doc, threshold: float) -> Iterator[dict[str, Any]]:
    """Yield the triples of a document."""
    if Doc.has_extension("rel"):
        entities = {entity.start: entity for entity in doc.ents}
        for (head, tail), scores in doc._.rel.items():
            for relation, score in scores.items():
                if score >= threshold and head in entities and tail in entities:
                    yield _triple(entities[head], relation, entities[tail], score)
    elif doc.has_annotation("DEP"):
        yield from _parsed(doc)


def _parsed(doc: Doc) -> Iterator[dict[str, Any]]:
    for verb in doc:
        if verb.pos_ not in ("VERB", "AUX"):
            continue
        objects = [child for child in verb.children if child.dep_ in OBJECTS]
        places = [
            (child, last)
            for child in verb.children
            if child.dep_ == "prep"
            for last in child.children
        ]
        for subject in (child for child in verb.children if child.dep_ in SUBJECTS):
            for one in objects:
                yield _triple(_phrase(subject), verb.lemma_ or verb.text, _phrase(one))
            for preposition, last in places:
                if last.dep_ in OBJECTS:
                    yield _triple(
                        _phrase(subject),
                        f"{verb.lemma_ or verb.text} {preposition.text}",
                        _phrase(last),
                    )


def _phrase(token: Token) -> Span:
    """The named entity that a token belongs to, else its words with their modifiers on the left."""
    for entity in token.doc.ents:
        if entity.start <= token.i < entity.end:
            return entity
    left = token.i
    while left > token.left_edge.i and token.doc[left - 1].dep_ in ("compound", "amod", "flat"):
        left -= 1
    return token.doc[left : token.i + 1]


def _triple(
    subject: Span, relation: str, object_: Span, score: float | None = None
) -> dict[str, Any]:
    ends = [
        {"start": one.start_char, "end": one.end_char, "text": one.text}
        for one in (subject, object_)
    ]
    scored = {} if score is None else {"score": float(score)}
    return {"subject": ends[0], "relation": relation, "object": ends[1], **scored}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pipeline", help="name of an installed pipeline, or folder")
    parser.add_argument(
        "--code", help="a file of Python with components of your own, as spaCy's commands take it"
    )
    parser.add_argument(
        "--threshold", type=float, default=0.5, help="least score of doc._.rel (default: 0.5)"
    )
    args = parser.parse_args()
    if args.code:
        spacy.util.import_file("adapter_code", args.code)
    pipeline = spacy.load(args.pipeline)
    rows = ((row["text"], row["id"]) for row in map(json.loads, sys.stdin))
    for doc, name in pipeline.pipe(rows, as_tuples=True):
        answer = {"id": name, "triples": list(triples(doc, args.threshold))}
        sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
