"""Documents in plain text, the haystacks of MINEA."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import open_text
from tripleaudit.core.rows import CLOSED
from tripleaudit.llm.units import paragraphs


@dataclass(frozen=True, slots=True)
class Document:
    """A plain text with an identifier that is unique within a study."""

    __pydantic_config__ = CLOSED

    id: str
    text: str


def read_document(path: str | Path, max_chars: int | None = None) -> Document:
    """Read one UTF-8 text file; its name without the suffix becomes the identifier.

    Args:
        max_chars: keep at most this many characters, cut at the last paragraph end before that; a
            longer first paragraph is kept whole.

    Raises:
        UserError: the file is missing, binary, not UTF-8, or holds only whitespace.
    """
    path = Path(path)
    if path.is_file():
        with path.open("rb") as stream:
            if b"\0" in stream.read(8192):
                raise UserError(
                    f"{path}: this is a binary file, expected a document in plain UTF-8 text"
                )
    with open_text(path) as stream:
        text = stream.read().removeprefix("\ufeff")
    if not text.strip():
        raise UserError(f"{path}: the document is empty, expected plain text")
    return Document(path.stem, shorten(text, max_chars))


def read_documents(
    paths: Iterable[str | Path], max_chars: int | None = None, limit: int | None = None
) -> list[Document]:
    """Read text files, and ``*.txt`` and ``*.md`` files of folders, in the order given.

    Raises:
        UserError: nothing was found, a file is not usable, or two files have the same name.
    """
    files = document_files(paths, limit)
    documents = [read_document(path, max_chars) for path in files]
    if not documents:
        raise UserError("no documents: expected at least one text file or a folder of them")
    seen: dict[str, Path] = {}
    for document, path in zip(documents, files, strict=True):
        if document.id in seen:
            raise UserError(
                f"{path}: a document named {document.id!r} was read from {seen[document.id]} already"
            )
        seen[document.id] = path
    return documents


def document_files(paths: Iterable[str | Path], limit: int | None = None) -> list[Path]:
    """Return text files of paths: files themselves, folders' ``.txt`` and ``.md`` files.

    Raises:
        UserError: a folder holds no such file.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(
                p for p in path.iterdir() if p.suffix.lower() in (".txt", ".md") and p.is_file()
            )
            inside = [p for p in inside if p.stem.upper() not in ("LICENSE", "LICENCE", "README")]
            if not inside:
                raise UserError(f"{path}: the folder has no .txt or .md file")
            files += inside
        else:
            files.append(path)
    return files if limit is None else files[:limit]


def shorten(text: str, max_chars: int | None) -> str:
    """Return the longest run of paragraphs from the start within ``max_chars`` characters.

    A first paragraph that is longer by itself is kept whole: a document is never cut inside a
    paragraph.
    """
    if max_chars is None or len(text) <= max_chars:
        return text
    first, *others = paragraphs(text)
    kept = first
    for paragraph in others:
        if len(kept) + len(paragraph) > max_chars:
            break
        kept += paragraph
    return kept.rstrip() + "\n"
