"""Mutation testing of the package: small changes, each of which a test should notice.

``python -m benchmarks.mutate [--sample 100] [--seed 0] [--only PART …]`` changes one place of one module in a copy of
the project at a time (a number, a comparison, an operator, a condition), runs the unit tests that run this place until
one fails, and prints the share caught among the changes that matter; survivors come with file and line. A change does
not matter if ``equivalent.yaml`` says why it changes no result. A test that fails must pass on the same copy without
the change, or everything would seem caught: its file is set aside. Below ``--goal`` the exit status is 1. What was
tried is kept in ``--keep``, so that the same command goes on after a break, as long as package and tests stay the same.
"""

import argparse
import ast
import compileall
import hashlib
import json
import os
import py_compile
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import hypothesis.extra.numpy  # noqa: F401  these, so that large libraries are there in every fork
import pydantic  # noqa: F401
import pytest
import safetensors.torch  # noqa: F401
import torch.utils.data  # noqa: F401
import transformers.generation.utils
import transformers.models.bert.modeling_bert  # noqa: F401
import yaml

from benchmarks.reached import FEW, PACKAGE, Reached, Tracer, at_import, tests_of

ROOT = Path(__file__).parents[1]
COMPARED = {ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
            ast.In: ast.NotIn, ast.NotIn: ast.In}  # fmt: skip
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
            ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd}  # fmt: skip
GUARDS = ("strict", "slots", "frozen", "local_files_only")  # arguments that change no result of a program that is right
TOLD = ("log", "logger", "logging", "watched", "Progress", "warnings")  # whose calls are words to the user
SECONDS = 120  # of the processor for the tests of one change; what needs more is taken for a loop without end
WAITED = 900  # seconds by the clock, after which they wait for what never comes
MEMORY = 8 * 2**30  # bytes that they may write, so that a change that asks for all fails in place of the machine


@dataclass(frozen=True)
class Mutation:
    """One change: ``was`` becomes ``now`` at ``line`` of ``file``; ``place`` numbers it among those of the file."""

    file: str
    line: int
    place: int
    was: str
    now: str


class _Changer(ast.NodeTransformer):
    """Lists all changes of a module, or makes the one of a number. Annotations and docstrings are left alone."""

    def __init__(self, wanted: int = -1):
        self.wanted, self.found = wanted, []

    def _change(self, node: ast.AST, fresh: ast.AST) -> ast.AST:
        number = len(self.found)
        self.found.append((node.lineno, ast.unparse(node), ast.unparse(fresh)))
        return ast.copy_location(fresh, node) if number == self.wanted else node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if "AT_ONCE" in ast.unparse(node):
            return node  # portions of memory, which change nothing else
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [self.visit(part) for part in node.body]
        node.args.defaults = [self.visit(part) for part in node.args.defaults]
        node.args.kw_defaults = [part and self.visit(part) for part in node.args.kw_defaults]
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node  # words of a message

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if ast.unparse(node.func).split(".")[0] in TOLD:
            return node
        return self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        return node if node.arg in GUARDS else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool):
            return self._change(node, ast.Constant(not node.value))
        if isinstance(node.value, int):
            return self._change(node, ast.Constant(node.value + 1))
        if isinstance(node.value, float):
            return self._change(node, ast.Constant(node.value * 2 + (node.value == 0)))
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        kind = COMPARED.get(type(node.ops[0]))
        return (
            node
            if kind is None
            else self._change(node, ast.Compare(node.left, [kind(), *node.ops[1:]], node.comparators))
        )

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        kind = COMPUTED.get(type(node.op))
        return node if kind is None else self._change(node, ast.BinOp(node.left, kind(), node.right))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        return self._change(node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return self._change(node, node.operand) if isinstance(node.op, ast.Not | ast.USub | ast.Invert) else node

    def visit_If(self, node: ast.If) -> ast.AST:
        if all(isinstance(part, ast.Raise) for part in node.body):
            return node  # refusals: their words and ranges have tests of their own
        return self.generic_visit(node)


def mutations(root: Path, only: Sequence[str] = ("",)) -> Iterator[Mutation]:
    """Yield every change of every module whose path has one of the parts ``only``."""
    for path in sorted((root / PACKAGE).rglob("*.py")):
        name = str(path.relative_to(root))
        if any(part in name for part in only):
            changer = _Changer()
            changer.visit(ast.parse(path.read_text(encoding="utf-8")))
            for place, (line, was, now) in enumerate(changer.found):
                yield Mutation(name, line, place, was, now)


def mutated(root: Path, mutation: Mutation) -> str:
    """Return the module's code with the change made."""
    tree = ast.parse((root / mutation.file).read_text(encoding="utf-8"))
    return ast.unparse(ast.fix_missing_locations(_Changer(mutation.place).visit(tree)))


def forked(copy: Path, log: Path, tests: Sequence[str], tracer: Tracer | None = None, part: Path | None = None) -> int:
    """Run tests of a copy in a process of its own and return its exit status, negative for a signal.

    The process is a fork of this one, which has the large libraries at hand and nothing of the project.
    """
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        with log.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        if tracer is None:
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
            signal.alarm(WAITED)
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))  # drawing plots reserves terabytes
        os.chdir(copy)
        os.environ["PYTHONPATH"] = str(copy / "workflow" / "lib")
        for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "tripleaudit")]:
            del sys.modules[name]
        options = ["-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not slow", *(["-x"] if tracer is None else [])]
        status = int(pytest.main([*options, *tests], plugins=[tracer] if tracer else []))
        if tracer and part:
            part.write_text(json.dumps(tracer.found), encoding="utf-8")
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def failing(copy: Path, tests: Sequence[str]) -> str:
    """Run tests and return the one that failed, "time" if they did not end, or ""."""
    log = copy.parent / "tests.log"
    status = forked(copy, log, tests) if tests else 0
    if status <= 0 or status == pytest.ExitCode.NO_TESTS_COLLECTED:
        return "time" if status < 0 else ""
    said = log.read_text(errors="replace")
    named = re.findall(r"^(?:FAILED|ERROR) (\S+?\.py(?:::\w+)?)", said, re.MULTILINE)
    if (
        status == pytest.ExitCode.USAGE_ERROR and not named
    ):  # such as a test that was renamed, which would seem to notice
        raise SystemExit(said)
    return named[0] if named else f"no test: {said[-300:]}"


def portions(root: Path, reached: Reached, mutation: Mutation, aside: Container[str]) -> Iterator[list[str]]:
    """Yield tests for a change: those that run its place, file by file, the mirror's first; near files as a whole.

    None are of the files ``aside``.

    Of the others, files whose lines are known come first: finding them out takes longer than trying.
    """
    files = [file for file in tests_of(root, mutation.file) if file not in aside]
    for file in files[:1] + sorted(files[1:], key=lambda each: each not in reached.known):
        yield reached.tests([file], mutation.file, mutation.line)
    tree = ast.parse((ROOT / mutation.file).read_text(encoding="utf-8"))
    yield from ([file] for file in (files if at_import(tree, mutation.line) else files[:FEW]))


def caught(copy: Path, mutation: Mutation, tests: Iterator[list[str]]) -> str:
    """Return what notices the change, ``""`` for nothing."""
    path = copy / mutation.file
    kept = path.read_text(encoding="utf-8")
    path.write_text(mutated(copy, mutation), encoding="utf-8")
    try:
        portion, test = next(((portion, test) for portion in tests if (test := failing(copy, portion))), ([], ""))
    finally:
        path.write_text(kept, encoding="utf-8")
    if test == "time" and failing(copy, portion) == test:
        raise SystemExit(f"these tests do not end without a change, too: {' '.join(portion)}")
    return test


Named = tuple[str, str, str, str, int]


def equivalents() -> dict[Named, str]:
    """Return why changes change no result, by what :func:`names` calls them."""
    rows = yaml.safe_load(Path(__file__).with_name("equivalent.yaml").read_text(encoding="utf-8")) or []
    return {
        (str(PACKAGE / row["file"]), row["line"], row["was"], row["now"], number): row["why"]
        for row in rows
        for number in row.get("numbers", [1])
    }


def names(root: Path, every: Iterable[Mutation]) -> dict[Mutation, Named]:
    """Return for each change of whole modules its module, the line's text, what stood there, what was put there.

    Behind these its number, from 1, among those of which all this is the same; no numbers of lines, which move.
    """
    read, seen, named = cache(lambda file: (root / file).read_text(encoding="utf-8").splitlines()), Counter(), {}
    for mutation in every:
        place = mutation.file, read(mutation.file)[mutation.line - 1].strip(), mutation.was, mutation.now
        seen[place] += 1
        named[mutation] = (*place, seen[place])
    return named


def state_of(root: Path) -> str:
    """Return a digest of the package and its tests: what was tried with others says nothing about these."""
    texts = [path.read_bytes() for part in (PACKAGE, Path("tests")) for path in sorted((root / part).rglob("*.py"))]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=100, help="changes to try (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--only", nargs="+", default=[""], help="parts of the modules' paths")
    parser.add_argument("--goal", type=float, default=0.95, help="share of those that matter to be caught")
    parser.add_argument("--keep", type=Path, default=ROOT / "results" / "mutation", help="folder for what was found")
    args = parser.parse_args()
    every = list(mutations(ROOT, args.only))
    chosen = random.Random(args.seed).sample(every, min(args.sample, len(every)))
    print(f"{len(chosen)} of {len(every)} changes", flush=True)
    args.keep.mkdir(parents=True, exist_ok=True)
    tried = args.keep / "tried.jsonl"
    rows = [json.loads(line) for line in tried.read_text(encoding="utf-8").splitlines()] if tried.exists() else []
    state = state_of(ROOT)
    before = {Mutation(**row["change"]): row["test"] for row in rows if row["state"] == state}
    reasons, named, outcomes = equivalents(), names(ROOT, every), []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project" / "main"
        ignored = shutil.ignore_patterns(".git", ".venv", "results", ".snakemake", "__pycache__")
        shutil.copytree(ROOT, copy, ignore=ignored, symlinks=True)
        if (ROOT.parent / "shared").exists():
            (copy.parent / "shared").symlink_to((ROOT.parent / "shared").resolve())
        reached = Reached(
            ROOT,
            [ROOT / PACKAGE],
            args.keep / "reached.jsonl",
            lambda test, tracer, part: forked(ROOT, copy.parent / "tests.log", [test], tracer, part) and None,
        )
        for path in {copy / mutation.file for mutation in chosen}:  # written as a change writes them: without comments
            path.write_text(ast.unparse(ast.parse(path.read_text(encoding="utf-8"))), encoding="utf-8")
        by_hash = py_compile.PycInvalidationMode.CHECKED_HASH  # times and sizes do not tell one change from the next
        compileall.compile_dir(copy / PACKAGE, quiet=1, invalidation_mode=by_hash)
        sound, aside = {"", "time"}, set()
        for number, mutation in enumerate(chosen, 1):
            why = reasons.get(named.get(mutation), "")
            if mutation in before:
                test = before[mutation]
            else:
                test = caught(copy, mutation, portions(copy, reached, mutation, aside))
                while test not in sound and failing(copy, [test]):
                    print(f"set aside, for {test} fails without a change, too", flush=True)
                    aside.add(test.partition("::")[0])
                    test = caught(copy, mutation, portions(copy, reached, mutation, aside))
                sound.add(test)
                with tried.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"state": state, "change": asdict(mutation), "test": test}) + "\n")
            outcomes.append((test, why))
            place = f"{mutation.file.removeprefix(f'{PACKAGE}/')}:{mutation.line}: {mutation.was} -> {mutation.now}"
            print(f"{number:3} {test or (f'no result: {why}' if why else 'SURVIVED')}  {place}", flush=True)
    found = sum(bool(test) for test, _ in outcomes)
    matter = sum(bool(test or not why) for test, why in outcomes)
    by_time = sum(test == "time" for test, _ in outcomes)
    print(f"caught {found} of {matter} that matter ({found / max(1, matter):.1%}), {by_time} of them by time", end="; ")
    print(f"{len(outcomes) - matter} of {len(outcomes)} change no result")
    return 0 if found >= args.goal * matter else 1


if __name__ == "__main__":
    raise SystemExit(main())
