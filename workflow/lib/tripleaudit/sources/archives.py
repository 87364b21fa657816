"""Archives, unpacked inside their folder and with limits."""

import errno
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from tripleaudit.core import storage
from tripleaudit.core.errors import UserError

Wanted = Callable[[str], bool]
LITTLE = 1 << 30  # bytes that any archive may unpack to
RATIO = (
    50  # how many times its own size a larger one may; text packs ten times, weights hardly at all
)
DEEPEST = 64  # folders, one in another
DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    ValueError,
)
_BLOCK = 1 << 20


def extract(
    archive: str | Path, inner: str, destination: Path, wanted: Wanted = lambda name: True
) -> list[str]:
    """Write one member, or the files below a folder, to ``destination``, which is new.

    Args:
        archive: zip, wheel, tar or compressed tar.
        inner: member file (written as ``destination``) or folder (its files are written below
            ``destination``); empty for the whole archive.
        wanted: which files of a folder to write, by their path below it; the paths of all others
            are returned.

    Raises:
        UserError: the file is no archive, or a damaged or encrypted one; a member's path leaves the
            archive or cannot be a file's; a wanted member is a link or device; more is in it than
            :data:`LITTLE` and :data:`RATIO` allow; or ``inner`` is not in the archive.
    """
    inner_parts = PurePosixPath(inner).parts
    written, left = False, []
    most = room = max(LITTLE, RATIO * Path(archive).stat().st_size)
    try:
        for name, open_member in _members(archive):
            parts = _checked(name, archive)
            if parts[: len(inner_parts)] != inner_parts:
                continue
            below = parts[len(inner_parts) :]
            if not below and not written:
                target = destination
            elif below and wanted("/".join(below)):
                target = destination.joinpath(*below)
            else:
                left.append("/".join(below))
                continue
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                with open_member() as source, target.open("wb") as sink:
                    while block := source.read(_BLOCK):
                        room -= len(block)
                        if room < 0:
                            raise UserError(
                                f"{archive}: unpacks to more than {most:,} bytes, {RATIO} times its size; expected a "
                                "corpus or a model"
                            )
                        sink.write(block)
            except OSError as error:
                raise UserError(_unwritable(archive, name, error)) from error
            written = True
    except DAMAGED as error:
        raise UserError(f"{archive}: the archive is damaged ({error})") from error
    except RuntimeError as error:  # of zipfile
        expected = "expected an open archive, packed by deflate, bzip2 or LZMA"
        raise UserError(
            f"{archive}: member {name!r} is encrypted or packed in another way; {expected}"
        ) from error
    if not written and not left:
        raise UserError(f"{archive}: there is no {inner!r} in the archive")
    return left


def _unwritable(archive: str | Path, name: str, error: OSError) -> str:
    shown = name if len(name) <= 80 else f"{name[:77]}..."
    if isinstance(error, FileExistsError | IsADirectoryError | NotADirectoryError):
        return f"{archive}: member {shown!r} has the path of another one, which one is a folder and one a file"
    if error.errno in (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ):
        return (
            f"{archive}: member {shown!r} has a name that no file here can have ({error.strerror})"
        )
    return (
        storage.sentence(error, str(archive))
        or f"{archive}: member {shown!r} cannot be unpacked ({error})"
    )


def _members(archive: str | Path) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    """Yield name and opener of each regular file; folders are skipped, anything else is refused."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as container:
            for info in container.infolist():
                mode = info.external_attr >> 16
                if stat.S_ISLNK(mode):
                    raise UserError(
                        f"{archive}: member {info.filename!r} is a link, which is not unpacked"
                    )
                if not info.filename.endswith("/"):
                    yield info.filename, lambda info=info: container.open(info)
    elif tarfile.is_tarfile(archive):
        with tarfile.open(archive) as container:
            for info in container:
                if info.isdir():
                    continue
                if not info.isreg():
                    raise UserError(
                        f"{archive}: member {info.name!r} is a link or device, which is not unpacked"
                    )
                yield info.name, lambda info=info: container.extractfile(info)
    else:
        raise UserError(f"{archive}: expected a zip, wheel or tar archive")


def _checked(name: str, archive: str | Path) -> tuple[str, ...]:
    parts = tuple(part for part in PurePosixPath(name.replace("\\", "/")).parts if part != ".")
    if not parts:
        raise UserError(f"{archive}: member {name!r} names no file")
    if parts[0] == "/" or parts[0] == "//" or ".." in parts or ":" in parts[0] or "\0" in name:
        raise UserError(f"{archive}: member {name!r} would be unpacked outside its folder")
    if len(parts) > DEEPEST:
        raise UserError(f"{archive}: member {name[:60]!r}... lies more than {DEEPEST} folders deep")
    return parts
