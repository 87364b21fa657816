"""Data sets of programs in their own storage: Hugging Face's, documents of spaCy.

``datasets``: from the hub (``hub:organisation/name@revision``) or a saved folder; one of Parquet
files is one, too. Its rows are read like those of files
(:mod:`~tripleaudit.corpora.readers.records`): names in common use need no mapping, ``columns`` says
which column is what otherwise.

``docbin``: documents of spaCy in one file, with relations as spaCy's relation projects keep them:
in the extension ``rel`` of a document, ``{(start of subject, start of object): {relation:
score}}``, with the starts of entities in tokens; a score of at least a half counts. A document is
one sentence.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError, first_line
from tripleaudit.core.files import check_file, read_json
from tripleaudit.corpora.corpus import LeftOut, RawSentence
from tripleaudit.corpora.readers.common import split_of
from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.records import Mapped, side_of
from tripleaudit.corpora.readers.row_files import Rows, read_parquet
from tripleaudit.corpora.spec import CorpusFormat
from tripleaudit.sources.data_sets import load_data_set

SAVED = (
    "dataset_dict.json",
    "dataset_info.json",
    "state.json",
)  # of a data set that was saved to a folder


def read(
    path: str | Path,
    split: str | None = None,
    columns: Mapping[str, str] | None = None,
    side: str = "truth",
) -> Iterator[RawSentence | LeftOut]:
    """Yield the sentences of one split.

    Args:
        path: ``hub:organisation/name[@revision]``, a folder made by ``save_to_disk``, or one of
            Parquet files.
        split: needed if the data set has several and ``path`` does not end in ``#SPLIT``.
        columns: ``{role: path}``, as of files.
        side: ``truth`` or ``predict``, which is read where rows hold gold triples and predictions.

    Raises:
        UserError: the data set cannot be read, or its columns do not fit.
    """
    chosen = side_of(side, columns, path)
    mapped = Mapped(columns, f"{path}: columns", predicts=chosen.predicts)
    base, named = split_of(path)
    if files := _parquet_files(base):
        rows = read_parquet(*files[_chosen(base, list(files), named or split)])
    else:
        rows = (
            (f"{path} row {number}", row)
            for number, row in enumerate(_load(base, named or split), 1)
        )
    return mapped.sentences(chosen.rows(rows))


def splits(path: str | Path) -> list[str]:
    """Return the splits of a saved data set or a folder of Parquet files; empty otherwise."""
    described = Path(path) / "dataset_dict.json"
    if described.is_file():
        listed = read_json(described)
        return (
            list(listed["splits"])
            if isinstance(listed, dict) and isinstance(listed.get("splits"), list)
            else []
        )
    return list(_parquet_files(path))


def _load(path: str | Path, split: str | None) -> Any:
    import datasets

    if str(path).startswith("hub:"):
        loaded = load_data_set(str(path))
    else:
        try:
            loaded = datasets.load_from_disk(str(path))
        except Exception as error:  # many kinds, all of them mean: this is no readable data set
            raise UserError(f"{path}: the data set cannot be read: {first_line(error)}") from error
    if isinstance(loaded, datasets.Dataset):
        return loaded
    return loaded[_chosen(path, list(loaded), split)]


def _chosen(path: str | Path, splits: list[str], split: str | None) -> str:
    if split is None and len(splits) > 1:
        raise UserError(
            f"{path}: the data set has the splits {', '.join(splits)}; name one as in {path}#{splits[0]}"
        )
    if split is not None and split not in splits:
        raise UserError(f"{path}: there is no split {split!r}, expected one of {', '.join(splits)}")
    return splits[0] if split is None else split


def _parquet_files(path: str | Path) -> dict[str, list[str]]:
    """Return Parquet files of a folder by split, the part of their names before the first ``-``."""
    found: dict[str, list[str]] = {}
    folder = Path(path)
    if not folder.is_dir() or any((folder / name).exists() for name in SAVED):
        return found
    for file in sorted([*folder.glob("*.parquet"), *folder.glob("data/*.parquet")]):
        found.setdefault(file.stem.partition("-")[0], []).append(str(file))
    return found


DATASETS = CorpusFormat(
    name="datasets",
    order=0,
    read=read,
    options=("split", "columns", "side"),
    detects=lambda probe: (
        probe.name.startswith("hub:")
        or any((probe.path / name).exists() for name in SAVED)
        or bool(_parquet_files(probe.path))
    ),
)


RELATIONS = ("._.", "rel", None, None)  # where spaCy keeps an extension of a document


def documents(path: Path) -> Rows:
    """Yield the documents.

    Raises:
        UserError: the file is no ``DocBin``, or no document of it has relations.
    """
    import spacy
    from spacy.tokens import DocBin

    check_file(path)
    try:
        found = list(DocBin().from_disk(path).get_docs(spacy.blank("xx").vocab))
    except Exception as error:  # of zlib, msgpack or numpy; all of them mean: this is no DocBin
        raise UserError(f"{path}: not a whole DocBin of spaCy ({first_line(error)})") from error
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
        positions = {entity.start: position for position, entity in enumerate(document.ents)}
        triples = []
        for (*starts,), scores in _pairs(document.user_data[RELATIONS], where):
            for relation in (name for name, score in scores.items() if score >= 0.5):
                if lost := [start for start in starts if start not in positions]:
                    raise UserError(
                        f"{where}: {relation} points to token {lost[0]}, where no entity begins"
                    )
                triples.append(
                    {"s": positions[starts[0]], "r": relation, "o": positions[starts[1]]}
                )
        entities = [
            {"start": each.start_char, "end": each.end_char, "type": each.label_}
            for each in document.ents
        ]
        yield where, {"text": document.text, "entities": entities, "triples": triples}


def _pairs(relations: Any, where: str) -> Iterator[tuple[Sequence[int], dict[str, float]]]:
    """Yield the validated pairs of a document and their scores; extensions may hold anything."""
    for pair, scores in relations.items() if isinstance(relations, dict) else ():
        numbers = scores.values() if isinstance(scores, dict) else [None]
        fits = isinstance(pair, tuple | list) and len(pair) == 2
        if not fits or not all(isinstance(number, int | float) for number in numbers):
            raise UserError(f"{where}: expected 'rel' as {{(start, start): {{relation: score}}}}")
        yield pair, scores


DOCBIN = form(
    "docbin", place=1, rows=documents, detects=lambda probe: probe.path.suffix == ".spacy",
    text="text", triples="triples", subject="s", relation="r", object="o",
    entities="entities", start="start", end="end", type="type",
)  # fmt: skip
