"""The version of the code behind a result: the modules that a command imports inside the package, and nothing else.

A command's code is its own module, or one function of it, and everything of the package that it imports, directly or
through others, at the top of a module or inside a function. Of each module counts what runs: comments, docstrings,
formatting, help texts and imports for type checkers do not, so that changing them makes no result anew.

Of the modules that declare what can be added, and of the options that commands share, which nearly every other module
imports, only what is used counts. The way to a command (``cli``: its help, its dispatch) is imported by none.

Files in folders of their own below a package count with it, and so do data files (``data/``) that a call names:
``load_prompt("minea-needles")``, or a call of a function that makes one.

Modules and data that are chosen at run time by a name (an extractor, a table, a prompt of a study) cannot be read off
the source; who chooses one names it beside the command. Files from outside the package (an extractor of one's own, a
plugin) count with the modules that they import, and the files that they name, from beside them. What can alter no
result, locks, devices and progress (``machine``) and the class of errors, stays outside, and so do the versions of
libraries: an upgrade makes nothing anew; the provenance beside a result names them.
"""

import ast
import contextlib
import functools
import hashlib
import importlib.util
import inspect
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tripleaudit import syntax
from tripleaudit.syntax import DIGITS, PACKAGE, Module, analysed, only_used

ROOT = Path(__file__).resolve().parent
OUTSIDE = tuple(f"{PACKAGE}.{name}" for name in ("machine", "errors", "code", "syntax"))
SHIPPED = tuple(f"{PACKAGE}.shipped.{name}" for name in ("DATA", "PACKAGE", "shipped"))
BY_NAME = tuple(f"{PACKAGE}.{name}" for name in ("descriptors", "registries", "arguments"))
"""Modules that nearly every other one imports: of these counts what is used, not all that they define."""


def versions(*entries: str, files: Iterable[str | Path] = ()) -> dict[str, str]:
    """Return what a result's code consists of, each part with the first digits of its digest, in alphabetical order.

    Args:
        entries: modules (``commands.train``) or functions (``scoring.scores:merge_scores``) of the package that a job
            runs; what they import counts, too. Of an entry that is a function count only those parts of its own module
            that it uses.
        files: Python files from outside the package, with the local modules that they import, and data files.
    """
    found = {_short(name): part for name, part in _closure(tuple(map(_full, entries))).items()}
    outside: dict[str, set[str]] = {}
    for file in files:  # of which several, in folders of their own, may have one name
        for name, part in _outside(Path(file)).items():
            outside.setdefault(name, set()).add(part)
    found |= {name: "+".join(sorted(parts)) for name, parts in outside.items()}
    return dict(sorted(found.items()))


def importers(name: str, *entries: str) -> set[str]:
    """Return which modules, and functions, behind some entries import a name, such as ``descriptors.EXTRACTORS``."""
    parts = [part for part in _closure(tuple(map(_full, entries))) if "/" not in part]
    return {_short(part) for part in parts if _full(name) in _read(part).imports}


def digest_of(*entries: str, files: Iterable[str | Path] = ()) -> str:
    """Return :func:`versions` as one SHA-256."""
    return hashlib.sha256(json.dumps(versions(*entries, files=files)).encode()).hexdigest()


def digest_with(used: type, *entries: str, files: Sequence[str | Path] = ()) -> str:
    """Return :func:`digest_of` with the module of a class, which may lie outside the package."""
    if used.__module__.partition(".")[0] == PACKAGE:
        return digest_of(*entries, used.__module__, files=files)
    return digest_of(*entries, files=[inspect.getfile(used), *files])


def has_function(module: str, name: str) -> bool:
    """Whether a module of the package defines a function of this name at its top."""
    return re.search(rf"^def {name}\(", _source(_full(module)).decode(), re.MULTILINE) is not None


def file_version(path: str | Path) -> str:
    """Return the first digits of the digest of a file: of a Python file, what runs; of another one, its bytes."""
    if not Path(path).is_file():
        return "missing"  # who reads it will say so
    data = Path(path).read_bytes()
    if str(path).endswith(".py"):
        with contextlib.suppress(SyntaxError):  # who imports the file will hear of it
            return analysed(ast.parse(data), "").digest
    return hashlib.sha256(data).hexdigest()[:DIGITS]


def _full(entry: str) -> str:
    return entry if entry.split(":")[0].split(".")[0] == PACKAGE else f"{PACKAGE}.{entry}"


def _short(name: str) -> str:
    return name.removeprefix(f"{PACKAGE}.")


@functools.cache
def _closure(entries: tuple[str, ...]) -> dict[str, str]:
    """Return module, or file of the package, -> digest of everything that the entries import and read."""
    read: dict[str, Module] = {}
    queue = [*entries, *(name for entry in entries for name in _with_parents(entry.partition(":")[0])[:-1])]
    while queue:
        name = queue.pop()
        if name not in read and not _is_outside(name):
            read[name] = _read(name)
            queue += _modules(read[name].imports)
    for name in [name for name in read if ":" in name and name.partition(":")[0] in read]:
        del read[name]  # the whole module counts already
    files = {file for name in read for file in _beside_modules(name)} | set(_data_read(read, entries))
    found = {name: module.digest for name, module in read.items()}
    return found | {f"{PACKAGE}.{file.relative_to(ROOT).as_posix()}": file_version(file) for file in sorted(files)}


def _read(name: str) -> Module:
    return _part(*name.split(":")) if ":" in name else _package()[name]


@functools.cache
def _beside_modules(name: str) -> list[Path]:
    """Return the files of a package in folders of their own, such as style sheets; those of the root are data.

    What lies among modules, or is hidden, was left there by an editor or a merge: no module reads it.
    """
    path = _path(name)
    if path is None or path.name != "__init__.py" or path.parent == ROOT:
        return []
    files = (file for file in path.parent.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return [file for file in files if not any(file.parent.glob("*.py")) and not file.name.startswith(".")]


def _data_read(read: dict[str, Module], entries: Sequence[str]) -> Iterator[Path]:
    """Yield the data files that the functions behind some entries name in calls.

    Followed are the uses of functions and classes from those of the entries on; a class counts with all its methods,
    and what stands at the top of a module always runs.
    """
    readers = {name for name, module in read.items() if any(one in module.imports for one in SHIPPED)}
    uses: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for place, module in read.items():
        for owner, used, text in module.uses:
            uses.setdefault((place.partition(":")[0], owner), []).append((used, text))
    begun = {entry.partition(":")[::2] for entry in entries}
    seen: set[tuple[str, str]] = set()
    queue = [node for node in uses if node[1] == "" or node in begun or (node[0], "") in begun]
    while queue:
        node = queue.pop()
        if node not in seen:
            seen.add(node)
            for used, text in uses.get(node, ()):
                module, name = _defined(used)
                queue.append((module, name))
                if text and (module in readers or used.startswith(SHIPPED)):
                    yield from _data_named(text)


@functools.cache
def _defined(used: str) -> tuple[str, str]:
    """Return the module and the name in it that a used name stands for, through packages that hand it on."""
    module, _, name = used.rpartition(".")
    while module and _path(module) is None:  # a method of a class
        module, _, name = module.rpartition(".")
    handed_on = [
        one for one in (_package()[module].imports if module in _package() else ()) if one.endswith(f".{name}")
    ]
    return _defined(handed_on[0]) if handed_on and handed_on[0] != used else (module, name)


@functools.cache
def _data_named(text: str) -> list[Path]:
    if not text:
        return []
    files = [file for file in (ROOT / "data").rglob("*") if file.is_file()]
    begin, star, _ = text.partition("*")
    if star and "/" in begin:
        return [file for file in files if f"/{begin}" in file.as_posix()]
    if star:
        return [file for file in files if file.name.startswith(begin)]
    return [file for file in files if Path(text).name in (file.name, file.stem)]


def _is_outside(name: str) -> bool:
    return any(name == outside or name.startswith(f"{outside}.") for outside in OUTSIDE)


def _modules(imports: Iterable[str]) -> list[str]:
    """Return the modules of the package that imported names stand for, with the packages that they lie in.

    Of a module of :data:`BY_NAME` it is ``module:name``.
    """
    found = []
    for imported in imports:
        name = imported
        while name and _path(name) is None:  # a name inside a module: `from tripleaudit.files import read_json`
            name = name.rpartition(".")[0]
        if name in BY_NAME and imported not in (name, f"{name}.*"):
            found += [*_with_parents(name)[:-1], f"{name}:{imported.removeprefix(name).split('.')[1]}"]
        elif name:
            found += _with_parents(name)
    return found


def _with_parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


@functools.cache
def _path(name: str) -> Path | None:
    """Return the file of a module of the package, None if there is none."""
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return None
    base = ROOT.joinpath(*parts[1:])
    return next((path for path in (base / "__init__.py", base.with_suffix(".py")) if path.is_file()), None)


@functools.cache
def _source(module: str) -> bytes:
    path = _path(module)
    if path is None:
        raise ModuleNotFoundError(f"the package has no module {module}")
    return path.read_bytes()


# all modules


@functools.cache
def _package() -> dict[str, Module]:
    """Return what was read off every module; what did not change since the last time is not parsed again."""
    known, found, current = _known(), {}, set()
    for path in sorted(ROOT.rglob("*.py")):
        data = path.read_bytes()
        parts = path.relative_to(ROOT).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join([PACKAGE, *(parts[:-1] if is_package else parts)])
        state = _state(data)
        current.add(state)
        key = f"{name} {state}"
        if key not in known:
            known[key] = analysed(ast.parse(data, str(path)), name, is_package)
        found[name] = known[key]
    for key in [key for key in known if key.partition(" ")[2] not in current]:
        del known[key]
    _store(known)
    return found


@functools.cache
def _part(module: str, name: str) -> Module:
    """Return what was read off one function, class or variable with those parts of its module that it uses."""
    known, key = _known(), f"{module}:{name} {_state(_source(module))}"
    if key not in known:
        known[key] = analysed(only_used(ast.parse(_source(module)), name), module)
        _store(known)
    return known[key]


def _state(data: bytes) -> str:
    return hashlib.sha256(data + _own_source()).hexdigest()


@functools.cache
def _own_source() -> bytes:
    return b"".join(path.read_bytes() for path in (Path(__file__), Path(syntax.__file__)))


def _cache_file() -> Path:
    return Path(importlib.util.cache_from_source(str(ROOT / "code.py"))).with_suffix(".json")


@functools.cache
def _known() -> dict[str, Module]:
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
        return {key: Module(*value) for key, value in json.loads(_cache_file().read_text(encoding="utf-8")).items()}
    return {}


def _store(known: dict[str, Module]) -> None:
    text, path = json.dumps(known), _cache_file()
    with contextlib.suppress(OSError):  # a package that cannot be written to is parsed each time
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as stream:
                stream.write(text)
            os.replace(stream.name, path)


# files from outside


def _outside(file: Path) -> dict[str, str]:
    """Return the digests of a file, of the modules beside it that it imports, and of what they import of the package.

    Files are named as seen from the folder of the first one, so that moving the folder changes nothing.
    """
    found: dict[str, str] = {}
    queue, entries = [file], []
    while queue:
        path = queue.pop()
        name = os.path.relpath(path, file.parent)
        if name in found:
            continue
        found[name] = file_version(path)
        if path.suffix == ".py":
            with contextlib.suppress(SyntaxError):
                top, tree = _top(path), ast.parse(path.read_bytes())
                module = ".".join(path.relative_to(top).with_suffix("").parts).removesuffix(".__init__")
                for imported in analysed(tree, module, path.name == "__init__.py").imports:
                    entries += _modules([imported])
                    queue += [one for folder in {path.parent, top} for one in _beside(folder, imported.split("."))]
                queue += _named_in(tree, path.parent)
    return found | {_short(name): part for name, part in _closure(tuple(entries)).items()}


def _top(path: Path) -> Path:
    """Return the folder from which a file is imported: its own, or that in which its package lies."""
    return next(folder for folder in path.parents if not (folder / "__init__.py").is_file())


def _beside(folder: Path, parts: Sequence[str]) -> list[Path]:
    """Return the files that a name imported from beside a file stands for."""
    found = []
    for count in range(1, len(parts) + 1):
        base = folder.joinpath(*parts[:count])
        found += [path for path in (base / "__init__.py", base.with_suffix(".py")) if path.is_file()]
    return found


def _named_in(tree: ast.AST, folder: Path) -> list[Path]:
    """Return the files beside a file, or below, that a string of it names in full, such as a list of words."""
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    named = sorted(text for text in texts if re.fullmatch(r"[\w-][\w./-]*\.\w+", text))
    return [folder / text for text in named if (folder / text).is_file()]
