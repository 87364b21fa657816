"""Digests of the code behind a result: imported modules of the package and their data files.

The digest of a module is taken of its syntax tree without comments, docstrings, help texts and
messages of ``UserError``, which change no result. A module lists the data files that it reads in
``READS``, patterns such as ``("data/prompts/minea-*.yaml",)``. A plugin counts in the same way,
with the modules next to it that it imports; the patterns of its ``READS`` start at its own folder.

Modules in ``UNTRACKED`` cannot change a result. Versions of libraries are not part of a digest: an
upgrade reruns nothing, and the provenance of a result names them.
"""

import ast
import atexit
import contextlib
import hashlib
import json
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tripleaudit.core.errors import UserError
from tripleaudit.core.files import write_json

PACKAGE = "tripleaudit"
ROOT = Path(__file__).resolve().parents[1]
DIGITS = 8
UNTRACKED = frozenset(
    {
        "cli",
        "steps",
        "core.addresses",
        "core.arguments",
        "core.clock",
        "core.code",
        "core.devices",
        "core.errors",
        "core.extras",
        "core.locks",
        "core.memory",
        "core.modules",
        "core.outputs",
        "core.plugins",
        "core.progress",
        "core.storage",
        "corpora.spec",
        "extractors.spec",
        "protocols.spec",
        "scoring.spec",
        "systems.spec",
        "tables.spec",
    }
)
PRINTED_NAMES = frozenset({"HELP", "__version__"})
PRINTED_ARGUMENTS = frozenset({"help", "metavar", "description"})
DYNAMIC_IMPORTS = frozenset({"import_module", "__import__", "load_attribute"})


class Source(NamedTuple):
    """The code digest, imports and data files of one file.

    Attributes:
        digest: first digits of the SHA-256 of the code.
        imports: imported names with dots, relative ones with leading dots.
        reads: patterns of data files.
    """

    digest: str
    imports: list[str]
    reads: list[str]


def versions(*modules: str, files: Iterable[str | Path] = ()) -> dict[str, str]:
    """Return the digests of modules and files, and of everything that they import or read.

    Args:
        modules: modules of the package, such as ``commands.train``; a function's name after a colon
            is ignored.
        files: Python files (plugins) and data files, in the package or outside.

    Returns:
        Path -> digest. Paths start at the package, those of plugins at the plugin's folder.

    Raises:
        ModuleNotFoundError: The package has no such module.
    """
    starts = [module_file(module) for module in modules]
    starts += [Path(file) for file in files]
    return dict(_digests(tuple(starts)))


def digest_of(*modules: str, files: Iterable[str | Path] = ()) -> str:
    """Return one SHA-256 of :func:`versions`."""
    return hashlib.sha256(json.dumps(versions(*modules, files=files)).encode()).hexdigest()


@cache
def importers(name: str, module: str) -> frozenset[str]:
    """Return the files behind a module that import a name, such as ``tables.spec.TABLES``."""
    files = _closure(module_file(module))
    return frozenset(
        _display_name(path, ROOT) for path in files if f"{PACKAGE}.{name}" in _source(path).imports
    )


@cache
def module_file(module: str) -> Path:
    """Return the file of a module of the package.

    Raises:
        ModuleNotFoundError: The package has no such module.
    """
    name = module.partition(":")[0].removeprefix(f"{PACKAGE}.")
    for path in (
        ROOT.joinpath(*name.split("."), "__init__.py"),
        ROOT.joinpath(*name.split(".")).with_suffix(".py"),
    ):
        if path.is_file():
            return path
    raise ModuleNotFoundError(f"the package has no module {name}")


# from file to file


@cache
def _digests(starts: tuple[Path, ...]) -> dict[str, str]:
    """Return the digests of files and of everything that they import or read."""
    digests: dict[str, set[str]] = {}
    for start in starts:
        for path in _closure(start):
            name = _display_name(path, start.parent)
            digests.setdefault(name, set()).add(_source(path).digest)
    return {name: "+".join(sorted(digests[name])) for name in sorted(digests)}


@cache
def _closure(start: Path) -> frozenset[Path]:
    """Return a file with all files that it imports or reads, directly or through others."""
    visited: set[Path] = set()
    queue = [start]
    while queue:
        path = queue.pop()
        if path not in visited and not is_untracked(path):
            visited.add(path)
            queue += _dependencies(path)
    return frozenset(visited)


@cache
def is_untracked(path: Path) -> bool:
    """Return whether a file is a module of the package that cannot change a result."""
    if not path.is_relative_to(ROOT):
        return False
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return module in UNTRACKED


@cache
def _display_name(path: Path, folder: Path) -> str:
    """Return the path of a file below the package, or of a plugin's file below its folder."""
    if path.is_relative_to(ROOT):
        return path.relative_to(ROOT).as_posix()
    return os.path.relpath(path, folder)


@cache
def _dependencies(path: Path) -> tuple[Path, ...]:
    """Return the files that a Python file imports or reads, and the packages that it lies in."""
    if path.suffix != ".py":
        return ()
    source = _source(path)
    top = next(folder for folder in path.parents if not (folder / "__init__.py").is_file())
    module = path.relative_to(top).with_suffix("").parts
    own_package = module[0] if len(module) > 1 else None

    files = _module_files(top, ".".join(module))
    for name in source.imports:
        level = len(name) - len(name.lstrip("."))
        first = name.partition(".")[0]
        if level:
            files += _module_files(top, ".".join((*module[:-level], name[level:])))
        elif first == PACKAGE:
            files += _module_files(ROOT.parent, name)
        elif own_package in (None, first):  # a module next to a plugin, or in its package
            files += _module_files(top, name)

    patterns_start = ROOT if path.is_relative_to(ROOT) else path.parent
    for pattern in source.reads:
        files += sorted(patterns_start.glob(pattern))
    return tuple(files)


@cache
def _existing_modules(base: Path) -> list[Path]:
    return [path for path in (base / "__init__.py", base.with_suffix(".py")) if path.is_file()]


def _module_files(folder: Path, name: str) -> list[Path]:
    """Return the files of ``a``, ``a.b`` and ``a.b.c`` for the name ``a.b.c``."""
    files = []
    base = folder
    for part in name.split("."):
        base /= part
        files += _existing_modules(base)
    return files


# one file


@cache
def _source(path: Path) -> Source:
    if not path.is_file():
        return Source("missing", [], [])  # the job that reads it reports it
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if path.suffix != ".py":
        return Source(digest[:DIGITS], [], [])
    inside = path.is_relative_to(ROOT)
    key = digest if inside else f"plugin {digest}"
    parsed = _parsed_files()
    if key not in parsed:
        try:
            parsed[key] = _parse(data, inside)
        except (SyntaxError, ValueError):  # the job that imports it reports it
            parsed[key] = Source(digest[:DIGITS], [], [])
    return parsed[key]


def _parse(data: bytes, inside: bool) -> Source:
    tree = ast.parse(data)
    if inside:
        tree.body = [node for node in tree.body if not PRINTED_NAMES.intersection(_targets(node))]
    tree = _RemovePrinted().visit(tree)
    digest = hashlib.sha256(ast.unparse(tree).encode("utf-8", "backslashreplace")).hexdigest()[
        :DIGITS
    ]
    imports: list[str] = []
    for node in ast.walk(tree):
        imports += _imported_names(node)
    reads = [
        pattern
        for node in tree.body
        if "READS" in _targets(node)
        for pattern in ast.literal_eval(node.value)
    ]
    return Source(digest, sorted(set(imports)), sorted(set(reads)))


def _imported_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        prefix = "." * node.level + (f"{node.module}." if node.module else "")
        return [prefix + alias.name for alias in node.names]
    if isinstance(node, ast.Call) and _last_name(node.func) in DYNAMIC_IMPORTS:
        return [
            str(text.value).partition(":")[0]
            for text in node.args[:1]
            if isinstance(text, ast.Constant)
        ]
    return []


def _targets(node: ast.AST) -> set[str]:
    """Return the names that an assignment sets."""
    return {_last_name(target) for target in getattr(node, "targets", ())}


def _last_name(node: ast.AST | None) -> str:
    """Return a name, of one with dots the last part."""
    return getattr(node, "attr", getattr(node, "id", ""))


class _RemovePrinted(ast.NodeTransformer):
    """Removes what is only printed, and what only type checkers read."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        return node.orelse if _last_name(node.test) == "TYPE_CHECKING" else node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if isinstance(node.exc, ast.Call) and _last_name(node.exc.func) == "UserError":
            node.exc.args = []
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if _last_name(node.func) in ("add_argument", "add_parser"):
            node.keywords = [
                keyword for keyword in node.keywords if keyword.arg not in PRINTED_ARGUMENTS
            ]
        return node


# each content is parsed once


@cache
def _parsed_files() -> dict[str, Source]:
    """Return the parsed sources by content; they are stored next to the compiled modules."""
    version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    file = ROOT / "__pycache__" / f"code-{version}.json"
    parsed: dict[str, Source] = {}
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
        stored = json.loads(file.read_bytes())
        parsed = {key: Source(*fields) for key, fields in stored.items()}
    atexit.register(_store, file, parsed, len(parsed))
    return parsed


def _store(file: Path, parsed: dict[str, Source], count_before: int) -> None:
    if len(parsed) > count_before:
        # a package in a folder that cannot be written to is parsed in each process
        with contextlib.suppress(OSError, UserError):
            write_json(file, parsed)
