"""Unpacking archives so that nothing lands outside the folder it was meant for."""

import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from tripleaudit.errors import UserError

Wanted = Callable[[str], bool]


def extract(archive: str | Path, inner: str, destination: Path, wanted: Wanted = lambda name: True) -> list[str]:
    """Write one member, or every file below a folder of an archive, to ``destination``.

    Args:
        archive: zip, wheel, tar or compressed tar.
        inner: member file (written as ``destination``) or folder (its files are written below ``destination``);
            empty for the whole archive.
        destination: a path that does not exist yet.
        wanted: which files of a folder to write, by their path below it.

    Returns:
        The paths below ``inner`` that were not wanted.

    Raises:
        UserError: the file is no archive, a member's path leaves the archive, a wanted member is a link or device,
            or ``inner`` is not in the archive.
    """
    inner_parts = PurePosixPath(inner).parts
    written, left = 0, []
    try:
        for name, open_member in _members(archive):
            parts = _checked(name, archive)
            if parts[: len(inner_parts)] != inner_parts:
                continue
            below = parts[len(inner_parts) :]
            if not below and written == 0:
                target = destination
            elif below and wanted("/".join(below)):
                target = destination.joinpath(*below)
            else:
                left.append("/".join(below))
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            with open_member() as source, open(target, "wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
            written += 1
    except (zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
        raise UserError(f"{archive}: the archive is damaged ({error})") from error
    if not written and not left:
        raise UserError(f"{archive}: there is no {inner!r} in the archive")
    return left


def _members(archive: str | Path) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    """Yield name and opener of each regular file; folders are skipped, anything else is refused."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as container:
            for info in container.infolist():
                mode = info.external_attr >> 16
                if stat.S_ISLNK(mode):
                    raise UserError(f"{archive}: member {info.filename!r} is a link, which is not unpacked")
                if not info.is_dir():
                    yield info.filename, lambda info=info: container.open(info)
    elif tarfile.is_tarfile(archive):
        with tarfile.open(archive) as container:
            for info in container:
                if info.isdir():
                    continue
                if not info.isreg():
                    raise UserError(f"{archive}: member {info.name!r} is a link or device, which is not unpacked")
                yield info.name, lambda info=info: container.extractfile(info)
    else:
        raise UserError(f"{archive}: expected a zip, wheel or tar archive")


def _checked(name: str, archive: str | Path) -> tuple[str, ...]:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in path.parts[0] or "\0" in name:
        raise UserError(f"{archive}: member {name!r} would be unpacked outside its folder")
    return tuple(part for part in path.parts if part != ".")
