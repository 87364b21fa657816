"""Full disks and folders that cannot be written, reported in one sentence."""

import contextlib
import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tripleaudit.core.errors import UserError
from tripleaudit.core.outputs import publish_file

FULL = (errno.ENOSPC, errno.EDQUOT)
CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS)
NETWORK_FILE_SYSTEMS = {
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "gpfs",
    "lustre",
    "nfs",
    "nfs4",
    "smb3",
    "wekafs",
}
# libraries that write files themselves (safetensors, PyTorch) pass the number or the words on in a
# text
NUMBERS = re.compile(r"\bOs \{ code: (\d+)|\bos error (\d+)")
# PyTorch's writer notices only that the end of its file is not where it should be
TORCH = re.compile(r"inline_container\.cc.*(unexpected pos|failed writing file)", re.DOTALL)
WORDS = {os.strerror(number): number for number in (errno.ENOSPC, errno.EDQUOT, errno.EROFS)}


def sentence(error: BaseException, path: str | Path | None = None) -> str | None:
    """Return what to tell the user if an error says that something cannot be stored, else None.

    One that passed through another library is recognised by its words; ``path`` is what was being
    written.
    """
    number = _number(error)
    if number not in (*FULL, *CLOSED):
        return None
    file = path or getattr(error, "filename2", None) or getattr(error, "filename", None)
    where = f"{file}: " if file else ""
    if number in FULL:
        return f"{where}the disk is full; free some space and run again, what was finished is kept"
    if number == errno.EROFS:
        return f"{where}this file system is read-only; expected a writable folder, or the study run in another one"
    return f"{where}permission denied; expected a readable file, or a writable folder for results"


@contextlib.contextmanager
def explained(path: str | Path | None = None) -> Iterator[None]:
    """Turn storage errors while ``path`` is written into a :class:`UserError`."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        message = sentence(error, path)
        if message is None:
            raise
        raise UserError(message) from error


@contextlib.contextmanager
def whole_folder(folder: Path) -> Iterator[None]:
    """Remove ``folder`` if the block that fills it fails, and explain an error about storage."""
    try:
        with explained(folder):
            yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def publish(folder: Path, out: Path) -> None:
    """Move the files of a folder, the weights of a model last: who sees them sees a whole model."""
    for path in sorted(folder.iterdir(), key=lambda path: path.name == "model.safetensors"):
        publish_file(path, out / path.name)


def check_writable(folder: str | Path) -> None:
    """Write and remove a small file.

    Raises:
        UserError: the disk is full, or the folder cannot be written.
    """
    with explained(folder):
        Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as stream:
            stream.write(bytes(4096))
            stream.flush()
            os.fsync(stream.fileno())


def is_network_folder(folder: str | Path) -> bool:
    """Return whether a folder is on a shared file system; False if unknown."""
    mounts = Path("/proc/mounts")
    if not mounts.is_file():
        return False
    folder, best_mount, best_kind = Path(folder).resolve(), Path("/"), ""
    for line in mounts.read_text(encoding="utf-8", errors="replace").splitlines():
        mount, kind = Path(line.split()[1].replace("\\040", " ")), line.split()[2]
        if folder.is_relative_to(mount) and len(mount.parts) >= len(best_mount.parts):
            best_mount, best_kind = mount, kind
    return best_kind in NETWORK_FILE_SYSTEMS or best_kind.startswith("fuse.")


def _number(error: BaseException) -> int | None:
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    text = str(error)
    if found := NUMBERS.search(text):
        return int(found[1] or found[2])
    if TORCH.search(text):
        return errno.ENOSPC
    return next((number for words, number in WORDS.items() if words in text), None)
