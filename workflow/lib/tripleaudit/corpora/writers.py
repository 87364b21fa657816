"""Sentences as CSV, Parquet, brat or DocRED; each is read back to equal triples."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import atomic_write, write_json
from tripleaudit.corpora import exports
from tripleaudit.corpora.model import Sentence, Span
from tripleaudit.corpora.store import save_sentences

if TYPE_CHECKING:
    import pyarrow
    from datasets import DatasetDict

COLUMNS = (
    "sentence_id",  # under this name, rows of one text stay apart when read back
    "text",
    "subject",
    "relation",
    "object",
    "subject_start",
    "subject_end",
    "object_start",
    "object_end",
)


def count_others(sentences: Iterable[Sentence]) -> exports.Losses:
    """Count the entities in no triple, for formats that contain triples only."""
    count = sum(len(sentence.other_entities) for sentence in sentences)
    return exports.Losses({exports.WITHOUT_TRIPLE: count})


def write_jsonl(path: Path, sentences: Sequence[Sentence]) -> exports.Losses:
    """Write the project's own form."""
    save_sentences(path, sentences)
    return count_others(sentences)


def write_csv(path: Path, sentences: Sequence[Sentence]) -> exports.Losses:
    """Write one triple a row; a sentence without triples is a row with its text alone.

    Raises:
        UserError: an entity is an empty string, which a table cannot tell from a missing one.
    """
    with atomic_write(path) as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(COLUMNS)
        for sentence in sentences:
            for triple in sentence.triples:
                if not triple.subject.text or not triple.object.text:
                    raise UserError(
                        f"{path.name}: an entity of {sentence.id} is an empty string; "
                        "name the entity, or remove its triple"
                    )
                positions = (
                    triple.subject.start,
                    triple.subject.end,
                    triple.object.start,
                    triple.object.end,
                )
                rows.writerow((sentence.id, sentence.text, *triple.strings, *positions))
            if not sentence.triples:
                rows.writerow((sentence.id, sentence.text, *[""] * (len(COLUMNS) - 2)))
    return count_others(sentences)


def table_of(sentences: Sequence[Sentence], like: Sequence[Sentence] = ()) -> "pyarrow.Table":
    """Return one sentence a row, its triples as a list of objects with spans.

    Offsets are of characters, end exclusive, null for an entity that is not in the text; types and
    scores are there where any of the sentences, or of those that it is to be ``like``, has one.
    """
    import pyarrow

    triples = [triple for sentence in (*sentences, *like) for triple in sentence.triples]
    position = {"start": pyarrow.int64(), "end": pyarrow.int64(), "text": pyarrow.string()}
    typed = {"type": pyarrow.string()} if any(triple.typed for triple in triples) else {}
    scored = (
        {"score": pyarrow.float64()} if any(triple.score is not None for triple in triples) else {}
    )
    span = pyarrow.struct({**position, **typed})
    triple = pyarrow.struct(
        {"subject": span, "relation": pyarrow.string(), "object": span, **scored}
    )
    schema = pyarrow.schema(
        {"id": pyarrow.string(), "text": pyarrow.string(), "triples": pyarrow.list_(triple)}
    )
    return pyarrow.Table.from_pylist([sentence.to_json() for sentence in sentences], schema=schema)


def write_parquet(path: Path, sentences: Sequence[Sentence]) -> exports.Losses:
    """Write :func:`table_of` sentences."""
    from pyarrow import parquet

    with atomic_write(path, "wb") as stream:
        parquet.write_table(table_of(sentences), stream)
    return count_others(sentences)


def to_dataset_dict(splits: Mapping[str, Iterable[Sentence]]) -> "DatasetDict":
    """Return one data set per split, a :func:`table_of` its sentences, read back equally."""
    from datasets import Dataset, DatasetDict

    lists = {name: list(sentences) for name, sentences in splits.items()}
    everything = [sentence for sentences in lists.values() for sentence in sentences]
    return DatasetDict(
        {name: Dataset(table_of(sentences, everything)) for name, sentences in lists.items()}
    )


def write_brat(path: Path, sentences: Sequence[Sentence]) -> exports.Losses:
    """Write the texts, one a line, and next to them (``.ann``) the entities and relations.

    Raises:
        UserError: a text has a line break, a relation a blank, or an entity no position; brat
            cannot say that.
    """
    text, lines, entities, relations = io.StringIO(), [], 0, 0
    losses = exports.Losses()
    for sentence in sentences:
        begin, names = text.tell(), {}
        if len(sentence.text.splitlines()) != 1 or not sentence.text.strip():
            raise UserError(
                f"{path.name}: the text of {sentence.id} is not one line, which a sentence is in brat; "
                "write it in one line, or use the form label-studio"
            )
        others = exports.located_others(sentence, losses)
        types = exports.types_of_entities(sentence.triples, others)
        for span, type_ in types.items():
            start, end = _position(path, sentence, span)
            entities += 1
            names[span] = f"T{entities}"
            kind = "_".join(type_.split()) or exports.UNTYPED  # without blanks
            lines.append(f"T{entities}\t{kind} {begin + start} {begin + end}\t{span.text}")
        for triple in sentence.triples:
            if len(triple.relation.split()) != 1 or triple.relation != triple.relation.strip():
                raise UserError(
                    f"{path}: the relation {triple.relation!r} of {sentence.id} has a blank, which brat does not "
                    "accept; rename it, for example with '_'"
                )
            relations += 1
            arguments = f"Arg1:{names[triple.subject]} Arg2:{names[triple.object]}"
            lines.append(f"R{relations}\t{triple.relation} {arguments}")
        text.write(f"{sentence.text}\n")
    with atomic_write(path.with_suffix(".txt")) as stream:
        stream.write(text.getvalue())
    with atomic_write(path.with_suffix(".ann")) as stream:
        stream.writelines(f"{line}\n" for line in lines)
    return losses


def write_docred(path: Path, sentences: Sequence[Sentence]) -> exports.Losses:
    """Write each sentence as a document; its tokens are what blanks separate.

    Raises:
        UserError: an entity has no position, or begins or ends inside a token.
    """
    documents = []
    losses = exports.Losses()
    for sentence in sentences:
        tokens = sentence.text.split(" ")
        ends = [end - 1 for end in accumulate(len(token) + 1 for token in tokens)]
        first = {
            end - len(token): number
            for number, (token, end) in enumerate(zip(tokens, ends, strict=True))
        }
        last = {end: number for number, end in enumerate(ends, 1)}
        spans = list(
            dict.fromkeys(
                part for triple in sentence.triples for part in (triple.subject, triple.object)
            )
        )
        entities = []
        for span in spans:
            start, end = _position(path, sentence, span)
            if start not in first or end not in last:
                raise UserError(
                    f"{path.name}: the entity {span.text!r} of {sentence.id} is not a sequence of whole tokens, "
                    "which DocRED needs; put blanks around it in the text, or export to spert, which "
                    "splits tokens at entities"
                )
            kind = span.type or "MISC"
            entities.append(
                [{"name": span.text, "sent_id": 0, "pos": [first[start], last[end]], "type": kind}]
            )
        for span in exports.located_others(sentence, losses):
            start, end = span.offsets
            if start not in first or end not in last:
                losses[exports.PARTIAL_TOKENS] += 1
                continue
            kind = span.type or "MISC"
            entities.append(
                [{"name": span.text, "sent_id": 0, "pos": [first[start], last[end]], "type": kind}]
            )
        labels = [
            {
                "h": spans.index(triple.subject),
                "t": spans.index(triple.object),
                "r": triple.relation,
                "evidence": [0],
            }
            for triple in sentence.triples
        ]
        documents.append(
            {"title": sentence.id, "sents": [tokens], "vertexSet": entities, "labels": labels}
        )
    write_json(path, documents)
    return losses


def _position(path: Path, sentence: Sentence, span: Span) -> tuple[int, int]:
    if span.start is None or span.end is None:
        raise UserError(
            f"{path}: the entity {span.text!r} of {sentence.id} is not in its text, which this form requires; "
            "correct or remove its triple, or use the form jsonl"
        )
    return span.start, span.end


WRITERS: Mapping[str, tuple[str, Callable[[Path, Sequence[Sentence]], exports.Losses]]] = {
    "jsonl": (".jsonl", write_jsonl),
    "csv": (".csv", write_csv),
    "parquet": (".parquet", write_parquet),
    "brat": (".ann", write_brat),
    "docred": (".json", write_docred),
    "spert": (".json", exports.write_spert),
    "dygie": (".jsonl", exports.write_dygie),
    "triple-list": (".json", exports.write_triple_list),
    "tplinker": (".json", exports.write_tplinker),
    "label-studio": (".json", exports.write_label_studio),
    "docbin": (".spacy", exports.write_docbin),
}
"""Form -> how its files end, and the function that writes one and returns what was lost."""
