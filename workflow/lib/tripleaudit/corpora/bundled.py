"""Bundles of results as they are read: a zip archive, or its unpacked folder, that lists every file with its digest.

:mod:`tripleaudit.exchange.bundling` writes them.
"""

import json
import zipfile
from pathlib import Path
from typing import Any, Final

from tripleaudit.corpora.model import Sentence, sentence_from_json
from tripleaudit.corpora.readers.row_files import read_parquet
from tripleaudit.corpora.store import load_sentences
from tripleaudit.errors import UserError
from tripleaudit.files import is_sha256, read_json, sha256
from tripleaudit.sources.archives import DAMAGED, extract

MANIFEST: Final = "bundle.json"
FORMAT: Final = 1
LARGEST: Final = 1 << 26  # bytes of a manifest that are read


def is_bundle(path: Path) -> bool:
    """Whether a file or folder says that it is a bundle; it may still be a damaged one."""
    if path.is_dir():
        return (path / MANIFEST).is_file()
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return MANIFEST in archive.namelist()
    except DAMAGED:
        return False


def open_bundle(path: Path, into: Path) -> Path:
    """Unpack a bundle into a folder that does not exist yet, verify every file, and return the folder.

    An unpacked bundle is verified where it lies.

    Raises:
        UserError: it is no bundle, a path leads out of it, or a file is not the one that was bundled.
    """
    if not is_bundle(path):
        raise UserError(f"{path}: not a bundle of results; expected what tripleaudit bundle writes")
    folder = path
    if not path.is_dir():
        try:
            with zipfile.ZipFile(path) as archive:
                with archive.open(MANIFEST) as stream:
                    listed = _listed(json.loads(stream.read(LARGEST)), path)
                sizes = {info.filename: info.file_size for info in archive.infolist()}
        except (*DAMAGED, RuntimeError) as error:  # RuntimeError: encrypted, packed in an unknown way, too deep
            raise UserError(f"{path}: the bundle is damaged ({error})") from error
        for name, size in sizes.items():  # before anything is unpacked
            if name != MANIFEST and (name not in listed or listed[name]["bytes"] != size):
                raise _changed(path, name)
        extract(path, "", into)
        folder = into
    for name, entry in _listed(read_json(folder / MANIFEST), path).items():
        inside = (folder / name).resolve()
        if not inside.is_relative_to(folder.resolve()) or not inside.is_file():
            raise UserError(f"{path}: {name} is missing; the bundle was changed or is damaged")
        if sha256(inside) != entry["sha256"]:
            raise _changed(path, name)
    return folder


def _changed(path: Path, name: str) -> UserError:
    return UserError(f"{path}: {name} is not the file that was bundled; the bundle was changed or is damaged")


def _listed(manifest: Any, path: Path) -> dict[str, Any]:
    files = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(files, dict) or manifest.get("format") != FORMAT:
        raise UserError(f"{path}: {MANIFEST} is of another format; expected format {FORMAT} with 'files'")
    for name, entry in files.items():
        if not isinstance(entry, dict) or not is_sha256(entry.get("sha256")) or not isinstance(entry.get("bytes"), int):
            raise UserError(f"{path}: {MANIFEST} lists {name} without its size and SHA-256")
    return files


def predictions_of(folder: Path) -> list[Path]:
    """Return the prediction files of an unpacked bundle."""
    return sorted((folder / "predictions").rglob("*.parquet"))


def read_sentences(path: Path) -> list[Sentence]:
    """Read sentences of a study (JSON lines) or of a bundle (Parquet), exactly as they were written.

    Raises:
        UserError: the file holds something else.
    """
    if path.suffix != ".parquet":
        return load_sentences(path)
    return [sentence_from_json(row, where) for where, row in read_parquet(path)]
