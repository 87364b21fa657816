"""``datasets``: a Hugging Face data set, from the hub (``hub:organisation/name@revision``) or a saved folder.

``columns`` says which column is what. Three shapes are understood:

* ``text`` and ``triples``, each triple a list ``[subject, relation, object]``, or an object with ``subject``,
  ``relation`` and ``object`` that are strings or ``{"start", "end", "text"}`` (what
  :func:`tripleaudit.corpora.store.to_dataset_dict` writes);
* ``tokens``, ``entities`` and ``relations`` as in ``entity-relation``;
* ``text``, ``subject``, ``relation`` and ``object``, one triple a row; rows that follow one another with the same text
  make one sentence, and an empty relation means that the row states none.
"""

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tripleaudit.corpora.corpus import RawSentence, RawTriple
from tripleaudit.corpora.model import span_from_json
from tripleaudit.corpora.readers.common import string_triple, take
from tripleaudit.corpora.readers.entity_relation import sentence_of_tokens
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError

SAVED = ("dataset_dict.json", "dataset_info.json", "state.json")  # of a data set that was saved to a folder
ROLES = ("id", "text", "triples", "tokens", "entities", "relations", "subject", "relation", "object")


def read(
    path: str | Path,
    split: str | None = None,
    columns: dict[str, str] | None = None,
    names: dict[str, str] | None = None,
) -> Iterator[RawSentence]:
    """Yield the sentences of one split.

    Args:
        path: ``hub:organisation/name[@revision]``, or a folder made by ``save_to_disk``.
        split: needed if the data set has several.
        columns: ``{role: column}`` for the roles whose column has another name; roles are :data:`ROLES`.
        names: ``{field: name}`` of the fields inside triples, entities and relations that have other names than
            ``subject``, ``relation``, ``object``, ``start``, ``end``, ``type``, ``head``, ``tail``.

    Raises:
        UserError: the data set cannot be read, or its columns do not fit.
    """
    rows = _load(path, split)
    mapping = {role: role for role in ROLES} | dict(columns or {})
    if unknown := sorted(set(mapping) - set(ROLES)):
        raise UserError(f"{path}: unknown column role {unknown[0]!r}, expected some of {', '.join(ROLES)}")
    have = set(rows.column_names)
    for role, column in (columns or {}).items():
        if column not in have:
            raise UserError(f"{path}: there is no column {column!r} ({role}); columns are {', '.join(sorted(have))}")
    renamed = {column: role for role, column in mapping.items() if column in have}
    present = set(renamed.values())
    named = ({own: standard for standard, own in (names or {}).items()}) | {}
    where = (
        (f"{path} row {number}", {renamed[c]: v for c, v in row.items() if c in renamed})
        for number, row in enumerate(rows)
    )
    if {"tokens", "entities", "relations"} <= present:
        return _of_tokens(where, named)
    if {"text", "triples"} <= present:
        return _of_triples(where, named)
    if {"text", "subject", "relation", "object"} <= present:
        return _of_rows(where)
    raise UserError(
        f"{path}: the columns {', '.join(sorted(have))} do not make a corpus; map them to text and triples, to tokens, "
        "entities and relations, or to text, subject, relation and object"
    )


def _load(path: str | Path, split: str | None) -> Any:
    import datasets

    try:
        if str(path).startswith("hub:"):
            from tripleaudit.sources.source import parse_source

            source = parse_source(str(path))
            loaded = datasets.load_dataset(source.location, revision=source.version)
        else:
            loaded = datasets.load_from_disk(str(path))
    except UserError:
        raise
    except Exception as error:  # many kinds, all of them mean: this is no readable data set
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise UserError(f"{path}: the data set cannot be read: {reason}") from error
    if isinstance(loaded, datasets.Dataset):
        return loaded
    splits = list(loaded)
    if split is None and len(splits) > 1:
        raise UserError(f"{path}: the data set has the splits {', '.join(splits)}; name one")
    if split is not None and split not in splits:
        raise UserError(f"{path}: there is no split {split!r}, expected one of {', '.join(splits)}")
    return loaded[split if split is not None else splits[0]]


def _of_triples(rows: Iterable[tuple[str, dict[str, Any]]], named: dict[str, str]) -> Iterator[RawSentence]:
    for number, (where, row) in enumerate(rows):
        text = take(row, "text", str, where)
        triples = [_triple(item, where, named) for item in take(row, "triples", list, where)]
        yield RawSentence(_name(row, number), text, triples, where)


def _triple(item: Any, where: str, named: dict[str, str]) -> RawTriple:
    if not isinstance(item, dict):
        return string_triple(item, where)
    item = {named.get(key, key): value for key, value in item.items()}
    relation = take(item, "relation", str, where)
    if not relation.strip():
        raise UserError(f"{where}: a triple has no relation")
    arguments = []
    for key in ("subject", "object"):
        if isinstance(item.get(key), dict):
            try:
                span = span_from_json(item[key])
            except UserError as error:
                raise UserError(f"{where}: {error}") from error
            arguments.append((span.text, span.start))
        else:
            arguments.append((take(item, key, str, where), None))
    (subject, subject_start), (object_, object_start) = arguments
    return RawTriple(subject, relation, object_, subject_start, object_start)


def _of_tokens(rows: Iterable[tuple[str, dict[str, Any]]], named: dict[str, str]) -> Iterator[RawSentence]:
    for number, (where, row) in enumerate(rows):
        for role in ("entities", "relations"):
            row[role] = [
                {named.get(key, key): value for key, value in item.items()} if isinstance(item, dict) else item
                for item in take(row, role, list, where)
            ]
        yield sentence_of_tokens(row, where, _name(row, number))


def _of_rows(rows: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[RawSentence]:
    groups = itertools.groupby(rows, key=lambda pair: take(pair[1], "text", str, pair[0]))
    for number, (text, group) in enumerate(groups):
        triples, name, first = [], None, ""
        for where, row in group:
            first = first or where
            name = _name(row, number) if name is None else name
            if row["relation"]:
                triples.append(string_triple([row["subject"], row["relation"], row["object"]], where))
        yield RawSentence(name or str(number), text, triples, first)


def _name(row: dict[str, Any], number: int) -> str:
    return str(row["id"]) if row.get("id") is not None else str(number)


FORMAT = CorpusFormat(
    name="datasets",
    order=0,
    read=read,
    options=("split", "columns", "names"),
    detects=lambda probe: probe.name.startswith("hub:") or any((probe.path / name).exists() for name in SAVED),
)
