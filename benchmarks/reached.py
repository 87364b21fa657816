"""Which unit tests run which lines of the modules that :mod:`benchmarks.mutate` changes, and how long they take.

A change is tried on the tests that run the changed statement, near and quick ones first. What is found out about a file
of tests is kept until the file or a module that it runs changes.
"""

import ast
import hashlib
import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

PACKAGE = Path("workflow/lib/tripleaudit")
FEW, MOST = 3, 12  # test files for a module, beside those of its package
OF_TEXT = ("test_benchmarks.py", "test_jobs.py")  # tests that read the package's text, which a change writes again
Lines = dict[str, list[int]]  # of modules, by their paths from the root


@cache
def imported(path: Path) -> set[str]:
    """Return the dotted names that a file imports, inside functions too."""
    text = path.read_text(encoding="utf-8")
    found: set[str] = set()
    if "tripleaudit.extractors.registry import" in text:  # which gives extractors by their names
        found |= {f"tripleaudit.extractors.{name}" for name in re.findall(r'"(\w+)"', text)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {str(node.module)} | {f"{node.module}.{name.name}" for name in node.names}
    return found


def dotted(root: Path, path: Path) -> str:
    return ".".join(path.relative_to(root / "workflow" / "lib").with_suffix("").parts).removesuffix(".__init__")


def asked_for(root: Path, path: Path) -> tuple[set[str], set[str]]:
    """Return names by which tests ask for what a module holds (a command, table, plot), and modules that take them."""
    module, text = dotted(root, path), path.read_text(encoding="utf-8")
    given = {"tripleaudit.cli", "tripleaudit.cli.main"}
    if path.parent.name == "commands":
        return {path.stem.replace("_", "-")}, given
    if path.parent.name == "builders":
        return {*re.findall(r"\bname=f?['\"]([\w-]+)", text)}, {"tripleaudit.tables.building"}
    if path.parent.name == "plots":
        return {*re.findall(r"^NAME = ['\"]([\w-]+)", text, re.MULTILINE)}, {"tripleaudit.tables.plots"}
    steps = (root / PACKAGE / "steps.py").read_text(encoding="utf-8")
    return {*re.findall(rf'"([\w-]+)": Step\("{module.removeprefix("tripleaudit.")}:', steps)}, given


def mirrored(test: Path, module: str) -> bool:
    """Return whether tests are called like a module or its package, in its package."""
    parts = module.split(".")
    return parts[1:2] == [test.parent.name] and test.stem.endswith((f"_{parts[-1]}", f"_{parts[-2]}"))


def tests_of(root: Path, file: str) -> list[str]:
    """Return the unit tests of a module: those called like it first, then those that import it or ask for it.

    Those of its own package come first. A module that fewer than ``FEW`` files of tests import has those of the modules
    that import it, too, and so on. The rest of its package follows, and those that keep whole outcomes, of which most
    run through many packages.
    """
    package, own = Path(file).parts[3], dotted(root, root / file)
    every = (path for path in sorted((root / "tests" / "unit").rglob("test_*.py")) if path.name not in OF_TEXT)
    tests = {path: imported(path) for path in every}
    modules = {dotted(root, path): imported(path) for path in (root / PACKAGE).rglob("*.py")}
    wanted, above = set(), {own}
    found = [path for path in tests if mirrored(path, own)]
    named, takers = asked_for(root, root / file)
    quoted = re.compile(rf'"({"|".join(sorted(named))})')
    asking = {path for path, names in tests.items() if names & takers and named and quoted.search(path.read_text())}
    while len(found) < FEW and not above <= wanted:
        wanted |= above
        asking |= {path for path in tests for module in above if mirrored(path, module)}
        more = [path for path, names in tests.items() if (names & wanted or path in asking) and path not in found]
        found += sorted(more, key=lambda path: (path.parent.name != package, path not in asking))
        above = {module for module, names in modules.items() if names & wanted}
    near = [path for path in tests if path.parent.name == package]
    whole = [path for path in tests if re.search(r'\bkept\(f?"', path.read_text(encoding="utf-8"))]
    return [str(path.relative_to(root)) for path in dict.fromkeys([*found[:MOST], *near, *whole])]


class Tracer:
    """A plugin of pytest that notes the lines of modules that each test runs, with those of its fixtures."""

    def __init__(self, root: Path, folders: Sequence[Path]):
        self.root, self.folders = root, folders
        self.notes: dict[str, Callable | None] = {}
        self.running: list[set[tuple[str, int]]] = []
        self.of_fixtures: dict[str, set[tuple[str, int]]] = {}
        self.found: dict[str, tuple[float, Lines]] = {}

    def _called(self, frame: FrameType, event: str, argument: Any) -> Callable | None:
        file = frame.f_code.co_filename
        if file not in self.notes:
            inside = any(Path(file).is_relative_to(folder) for folder in self.folders)
            self.notes[file] = self._note(str(Path(file).relative_to(self.root))) if inside else None
        return None if frame.f_code.co_name == "<module>" else self.notes[file]

    def _note(self, name: str) -> Callable:
        def note(frame: FrameType, event: str, argument: Any) -> Callable:
            if self.running:
                self.running[-1].add((name, frame.f_lineno))
            return note

        return note

    @contextmanager
    def _noted(self) -> Iterator[set[tuple[str, int]]]:
        self.running.append(set())
        sys.settrace(self._called)
        threading.settrace(self._called)
        try:
            yield self.running[-1]
        finally:
            self.running.pop()
            if not self.running:
                sys.settrace(None)
                threading.settrace(None)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Any:
        with self._noted() as lines:
            outcome = yield
        self.of_fixtures.setdefault(fixturedef.argname, set()).update(lines)
        return outcome

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        started = time.process_time()
        with self._noted() as lines:
            outcome = yield
        for fixture in item.fixturenames:
            lines |= self.of_fixtures.get(fixture, set())
        by_module: Lines = {}
        for name, line in sorted(lines):
            by_module.setdefault(name, []).append(line)
        test = item.nodeid.partition("::")[2].partition("[")[0]  # with the class that it may stand in
        seconds, known = self.found.get(test, (0.0, {}))
        for name, numbers in known.items():
            by_module[name] = sorted({*by_module.get(name, ()), *numbers})
        self.found[test] = (seconds + time.process_time() - started, by_module)
        return outcome


def _state(root: Path, test: str, modules: Sequence[str]) -> str:
    texts = [(root / name).read_bytes() if (root / name).exists() else b"" for name in (test, *sorted(modules))]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


class Reached:
    """The tests of files, found out when they are first asked for, by ``run`` (pytest's arguments, its plugin)."""

    def __init__(self, root: Path, folders: Sequence[Path], kept: Path, run: Callable[[str, Tracer, Path], None]):
        self.root, self.folders, self.kept, self.run = root, folders, kept, run
        self.known: dict[str, dict[str, tuple[float, Lines]]] = {}
        if kept.exists():
            for line in kept.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                if row["state"] == _state(root, row["test"], row["modules"]):
                    self.known[row["test"]] = row["found"]

    def of(self, test: str) -> dict[str, tuple[float, Lines]]:
        """Return the tests of a file: seconds, and lines of modules."""
        if test not in self.known:
            part = self.kept.with_suffix(".part")
            part.unlink(missing_ok=True)
            self.run(test, Tracer(self.root, self.folders), part)
            found = json.loads(part.read_text(encoding="utf-8")) if part.exists() else {}
            modules = sorted({name for _, lines in found.values() for name in lines})
            row = {"test": test, "modules": modules, "state": _state(self.root, test, modules), "found": found}
            with self.kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            self.known[test] = found
        return self.known[test]

    def tests(self, files: Sequence[str], module: str, line: int) -> list[str]:
        """Return the tests of files that run what stands at a line of a module, quick ones first."""
        wanted = statement(ast.parse((self.root / module).read_text(encoding="utf-8")), line)
        found = [
            (seconds, f"{file}::{name}")
            for file in files
            for name, (seconds, lines) in self.of(file).items()
            if wanted & set(lines.get(module, ()))
        ]
        return [name for _, name in sorted(found)]


def statement(tree: ast.Module, line: int) -> set[int]:
    """Return the lines of the statement at a line, of the whole function where it is a default of its arguments.

    Outside functions, the lines of the class, or those where the name occurs that a module gives a value.
    """
    found: set[int] = set()
    inside = False
    node: ast.AST = tree
    while True:
        children = [each for each in ast.walk(node) if isinstance(each, ast.stmt) and each is not node]
        around = [each for each in children if each.lineno <= line <= (each.end_lineno or each.lineno)]
        if not around:
            return found
        node = max(around, key=lambda each: (each.end_lineno or each.lineno) - each.lineno)
        whole = set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        body = getattr(node, "body", [])
        if isinstance(node, ast.FunctionDef):
            if line < body[0].lineno:
                return whole
            inside = True
        elif isinstance(node, ast.ClassDef):
            found = whole
        elif inside:
            found = whole if not body or line >= body[0].lineno else set(range(node.lineno, body[0].lineno))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and not found:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
            return {each.lineno for each in ast.walk(tree) if isinstance(each, ast.Name) and each.id in names}


def at_import(tree: ast.Module, line: int) -> bool:
    """Return whether a line runs when its module is imported, where no test is seen to run it: defaults, constants."""
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    return not any(each.body[0].lineno <= line <= (each.end_lineno or line) for each in functions)
