"""The version of the code behind a result: the modules that a command imports inside the package, and what they read.

A command's code is its module with every module of the package that it imports, directly or through others, at the top
or inside a function. Of each counts the syntax tree: what only speaks to people (comments, docstrings, help, the texts
of raised ``UserError``) does not, and neither does what type checkers alone import.

A module names the files of the package that it reads in ``READS``, patterns such as ``("data/prompts/minea-*.yaml",)``.
What a job chooses by a name, such as its extractor, its table or its prompt, is named with the command
(:mod:`tripleaudit.jobs`). Files from outside the package (an extractor of one's own, a plugin) count with the modules
with them that they import, the files that they name, and what they import of the package.

Outside stay modules that can alter no result: locks, devices and errors, options of commands, and the registries, of
whose entries counts what they say. So do the versions of libraries: an upgrade reruns nothing; the provenance
next to a result names them.
"""

import ast
import atexit
import contextlib
import hashlib
import importlib.util
import json
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tripleaudit.errors import UserError
from tripleaudit.files import atomic_write

PACKAGE, DIGITS = "tripleaudit", 8
ROOT, OWN = Path(__file__).resolve().parent, Path(__file__).read_bytes()
OUTSIDE = ("machine", "errors", "code", "arguments", "registries", "descriptors", "steps", "cli")
SAID = ("HELP", "__version__")
"""What modules of the package say of themselves, which is only printed."""


class Source(NamedTuple):
    """What counts of a file: the digest, the names that it imports, and the files that it names."""

    digest: str
    imports: list[str]
    reads: list[str]


def versions(*entries: str, files: Iterable[str | Path] = ()) -> dict[str, str]:
    """Return what a result's code consists of, each part with the first digits of its digest, in alphabetical order.

    Args:
        entries: modules of the package that a job runs (``commands.train``); of a function, its module.
        files: Python files and data files, from outside the package or in it.

    Raises:
        ModuleNotFoundError: the package has no such module.
    """
    found: dict[str, set[str]] = {}
    for begin in (*map(_module, entries), *map(Path, files)):
        for path in _closure(begin):
            found.setdefault(_name(path, begin.parent), set()).add(_source(path).digest)
    return {name: "+".join(sorted(digests)) for name, digests in sorted(found.items())}


def importers(name: str, *entries: str) -> set[str]:
    """Return which modules behind some entries import a name, such as ``descriptors.EXTRACTORS``."""
    paths = {path for entry in entries for path in _closure(_module(entry))}
    return {_name(path, ROOT) for path in paths if f"{PACKAGE}.{name}" in _source(path).imports}


def digest_of(*entries: str, files: Iterable[str | Path] = ()) -> str:
    """Return :func:`versions` as one SHA-256."""
    return hashlib.sha256(json.dumps(versions(*entries, files=files)).encode()).hexdigest()


# from file to file


def _module(entry: str) -> Path:
    name = entry.partition(":")[0].removeprefix(f"{PACKAGE}.")
    found = _files(ROOT, name)
    if not found or _name(found[-1], ROOT) != name:
        raise ModuleNotFoundError(f"the package has no module {name}")
    return found[-1]


@cache
def _closure(begin: Path) -> list[Path]:
    """Return a file and all that it imports and reads, directly or through others."""
    found, queue = {}, [begin]
    while queue:
        path = queue.pop()
        if path not in found and not _outside(path):
            found[path] = None
            queue += _used(path)
    return list(found)


@cache
def _outside(path: Path) -> bool:
    return path.is_relative_to(ROOT) and Path(path.relative_to(ROOT).parts[0]).stem in OUTSIDE


@cache
def _used(path: Path) -> list[Path]:
    """Return the modules that a file imports, the packages that it and these lie in, and the files that it reads."""
    if path.suffix != ".py":
        return []
    source, own = _source(path), path.is_relative_to(ROOT)
    top = next(folder for folder in path.parents if not (folder / "__init__.py").is_file())
    inside = path.relative_to(top).with_suffix("").parts
    found = [one for pattern in source.reads for one in sorted((ROOT if own else path.parent).glob(pattern))]
    for name in (".".join(inside), *source.imports):
        if dots := len(name) - len(name.lstrip(".")):
            name = ".".join((*inside[:-dots], name[dots:]))
        folders = (ROOT.parent,) if name.partition(".")[0] == PACKAGE else () if own else (path.parent, top)
        found += [one for folder in folders for one in _files(folder, name)]
    return found


@cache
def _files(folder: Path, name: str) -> list[Path]:
    """Return the files that a name stands for in a folder: of ``a.b.c`` those of ``a``, of ``a.b`` and of ``a.b.c``."""
    parts = name.split(".")
    bases = [folder.joinpath(*parts[: count + 1]) for count in range(len(parts))]
    return [one for base in bases for one in (base / "__init__.py", base.with_suffix(".py")) if one.is_file()]


@cache
def _name(path: Path, folder: Path) -> str:
    """Return how a file is called: a module of the package by its name, another file as seen from a folder."""
    if not path.is_relative_to(ROOT):
        return os.path.relpath(path, folder)
    inside = path.relative_to(ROOT)
    if path.suffix != ".py":
        return inside.as_posix()
    return ".".join(inside.with_suffix("").parts).removesuffix(".__init__").replace("__init__", PACKAGE)


# what counts of one file


@cache
def _source(path: Path) -> Source:
    if not path.is_file():
        return Source("missing", [], [])  # who reads it will say so
    data = path.read_bytes()
    with contextlib.suppress(SyntaxError, ValueError):  # who imports the file will hear of it
        if path.suffix == ".py":
            own = path.is_relative_to(ROOT)
            state = hashlib.sha256(OWN + bytes(own) + data).hexdigest()
            if state not in _known():
                _known()[state] = _analysed(ast.parse(data), own)
            return _known()[state]
    return Source(hashlib.sha256(data).hexdigest()[:DIGITS], [], [])


def _analysed(tree: ast.Module, own: bool) -> Source:
    tree.body = [node for node in tree.body if not own or _target(node) not in SAID]
    tree = _Quiet().visit(tree)
    reads = [text for node in tree.body if _target(node) == "READS" for text in ast.literal_eval(node.value)]
    if not own:  # a plugin's list of words and the like, which it names in full
        reads += [text for text in map(_path, ast.walk(tree)) if re.fullmatch(r"[\w-][\w./-]*\.\w+", text)]
    digest = hashlib.sha256(_spelled(tree).encode("utf-8", "backslashreplace")).hexdigest()[:DIGITS]
    return Source(digest, sorted(set(_imported(tree))), sorted(set(reads)))


def _path(node: ast.AST) -> str:
    """Return the relative path that an expression spells: a text, texts joined by ``/``, the arguments of a call."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    parts = [node.left, node.right] if isinstance(node, ast.BinOp) else node.args if isinstance(node, ast.Call) else []
    return "/".join(filter(None, map(_path, parts)))


def _target(node: ast.AST) -> str:
    """Return the name that an assignment gives a value to."""
    return _last(node.targets[0]) if isinstance(node, ast.Assign) else ""


def _last(node: ast.AST | None) -> str:
    """Return a name, or the last part of one with dots."""
    return getattr(node, "attr", getattr(node, "id", ""))


class _Quiet(ast.NodeTransformer):
    """Leaves out what does not run, or only speaks to people."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            texts = (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) for one in body)
            body[:] = [one for one, text in zip(body, texts, strict=True) if not text]
        return node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        return node.orelse if _last(node.test) == "TYPE_CHECKING" else node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if isinstance(node.exc, ast.Call) and _last(node.exc.func) == "UserError":
            node.exc.args = []
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if _last(node.func) in ("add_argument", "add_parser"):
            node.keywords = [word for word in node.keywords if word.arg not in ("help", "metavar", "description")]
        return node


def _spelled(node: object) -> str:
    """Return the spelling of a syntax tree without positions, equal in all versions of Python."""
    if isinstance(node, list):
        return f"[{','.join(map(_spelled, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = ((name, getattr(node, name, None)) for name in node._fields if name not in ("ctx", "kind", "type_comment"))
    said = (f"{name}={_spelled(value)}" for name, value in fields if value is not None and value != [])
    return f"{type(node).__name__}({','.join(said)})"


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = "." * node.level + (f"{node.module}." if node.module else "")
            yield from (f"{source}{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and _last(node.func) in ("import_module", "__import__", "load_attribute"):
            yield from (str(one.value).partition(":")[0] for one in node.args[:1] if isinstance(one, ast.Constant))


# files are parsed once


@cache
def _known() -> dict[str, Source]:
    """Return what was read off Python files, by digests of their content and of this module; at the end it is kept."""
    found: dict[str, Source] = {}
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
        found |= {key: Source(*value) for key, value in json.loads(_cache_file().read_bytes()).items()}
    atexit.register(_keep, found, len(found))
    return found


def _cache_file() -> Path:
    return Path(importlib.util.cache_from_source(str(ROOT / "code.py"))).with_suffix(".json")


def _keep(known: dict[str, Source], before: int = 0) -> None:
    if len(known) > before:
        # a package that cannot be written to is parsed each time
        with contextlib.suppress(OSError, UserError), atomic_write(_cache_file()) as stream:
            json.dump(dict([*known.items()][-1000:]), stream)
