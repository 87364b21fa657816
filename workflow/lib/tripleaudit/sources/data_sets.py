"""Data sets of the Hugging Face hub, loaded by the package ``datasets``."""

from pathlib import Path
from typing import Any

from tripleaudit.core.errors import UserError, first_line
from tripleaudit.core.files import atomic_write
from tripleaudit.sources.source import parse_source


def parse_data_set(name: str) -> tuple[str, str | None]:
    """Return location and revision of a data set.

    Args:
        name: Folder with a copy of a data set's repository, or ``organisation/name[@revision]``.

    Raises:
        UserError: The name has another form, and there is no such folder.
    """
    if Path(name).is_dir():
        return name, None
    source = parse_source(name if name.startswith("hub:") else f"hub:{name}")
    return source.location, source.version


def load_data_set(name: str, subset: str | None = None) -> Any:
    """Load a data set; downloads go to the cache of ``datasets``.

    Args:
        name: As of :func:`parse_data_set`.
        subset: Name of a subset (configuration) of the data set.

    Returns:
        A ``DatasetDict`` or ``Dataset``.

    Raises:
        UserError: The data set cannot be loaded.
    """
    import datasets

    location, revision = parse_data_set(name)
    options = {} if subset is None else {"name": subset}
    try:
        return datasets.load_dataset(location, revision=revision, **options)
    except Exception as error:  # many kinds, all of them mean: this is no readable data set
        raise UserError(f"{name}: the data set cannot be read: {first_line(error)}") from error


def fetch_split(name: str, subset: str | None, split: str, destination: str | Path) -> None:
    """Write one split of a data set as a Parquet file, whole or not at all.

    Raises:
        UserError: The data set cannot be loaded or has no such split.
    """
    splits = load_data_set(name, subset)
    if split not in splits:
        known = ", ".join(map(str, splits))
        raise UserError(f"{name}: there is no split {split!r}, expected one of {known}")
    Path(destination).parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(destination, "wb") as stream:
        splits[split].to_parquet(stream)
