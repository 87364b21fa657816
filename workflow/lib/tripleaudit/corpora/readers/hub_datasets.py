"""``datasets``: a Hugging Face data set, from the hub (``hub:organisation/name@revision``) or a saved folder.

Its rows are read like those of files (:mod:`~tripleaudit.corpora.readers.records`): names in common use need no
mapping, ``columns`` says which column is what otherwise. A folder of Parquet files is one, too.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tripleaudit.corpora.corpus import LeftOut, RawSentence
from tripleaudit.corpora.readers.common import split_of
from tripleaudit.corpora.readers.records import Mapped
from tripleaudit.corpora.readers.row_files import read_parquet
from tripleaudit.descriptors import CorpusFormat
from tripleaudit.errors import UserError
from tripleaudit.files import read_json

SAVED = ("dataset_dict.json", "dataset_info.json", "state.json")  # of a data set that was saved to a folder


def read(
    path: str | Path, split: str | None = None, columns: Mapping[str, str] | None = None
) -> Iterator[RawSentence | LeftOut]:
    """Yield the sentences of one split.

    Args:
        path: ``hub:organisation/name[@revision]``, a folder made by ``save_to_disk``, or one of Parquet files.
        split: needed if the data set has several and ``path`` does not end in ``#SPLIT``.
        columns: ``{role: path}``, as of files.

    Raises:
        UserError: the data set cannot be read, or its columns do not fit.
    """
    mapped = Mapped(columns, f"{path}: columns")
    base, named = split_of(path)
    if files := _parquet_files(base):
        rows = read_parquet(*files[_chosen(base, list(files), named or split)])
    else:
        rows = ((f"{path} row {number}", row) for number, row in enumerate(_load(base, named or split), 1))
    return mapped.sentences(rows)


def splits(path: str | Path) -> list[str]:
    """Return the names of the splits of a saved data set or a folder of Parquet files; empty for anything else."""
    described = Path(path) / "dataset_dict.json"
    if described.is_file():
        listed = read_json(described)
        return list(listed["splits"]) if isinstance(listed, dict) and isinstance(listed.get("splits"), list) else []
    return list(_parquet_files(path))


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
    return loaded[_chosen(path, list(loaded), split)]


def _chosen(path: str | Path, splits: list[str], split: str | None) -> str:
    if split is None and len(splits) > 1:
        raise UserError(f"{path}: the data set has the splits {', '.join(splits)}; name one as in {path}#{splits[0]}")
    if split is not None and split not in splits:
        raise UserError(f"{path}: there is no split {split!r}, expected one of {', '.join(splits)}")
    return splits[0] if split is None else split


def _parquet_files(path: str | Path) -> dict[str, list[str]]:
    """Return the Parquet files of a folder by split: what stands before the first ``-`` of their names."""
    found: dict[str, list[str]] = {}
    folder = Path(path)
    if not folder.is_dir() or any((folder / name).exists() for name in SAVED):
        return found
    for file in sorted([*folder.glob("*.parquet"), *folder.glob("data/*.parquet")]):
        found.setdefault(file.stem.partition("-")[0], []).append(str(file))
    return found


FORMAT = CorpusFormat(
    name="datasets",
    order=0,
    read=read,
    options=("split", "columns"),
    detects=lambda probe: (
        probe.name.startswith("hub:")
        or any((probe.path / name).exists() for name in SAVED)
        or bool(_parquet_files(probe.path))
    ),
)
