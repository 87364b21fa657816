"""Mutation testing of the rooms that results hang on: a sample of small changes, each of which a test should notice.

``python -m tests.benchmarks.mutate [--sample 100] [--seed 0] [--only PART …]`` changes one place of one module in a
copy of the project at a time (a number, a comparison, an operator, a condition), runs the unit tests that import the
module until one fails, and prints the share caught; survivors come with file and line. Below ``--goal`` the exit
status is 1.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = Path("workflow/lib/tripleaudit")
ROOMS = ("scoring", "protocols", "training", "extractors")
COMPARED = {ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
            ast.In: ast.NotIn, ast.NotIn: ast.In}  # fmt: skip
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
            ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd}  # fmt: skip
TIMEOUT = 240


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
        if any(isinstance(target, ast.Name) and "AT_ONCE" in target.id for target in node.targets):
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
        if ast.unparse(node.func).startswith(("log", "watched", "Progress", "warnings")):
            return node
        return self.generic_visit(node)

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
    """Yield every change of every module of the rooms whose path has one of the parts ``only``."""
    for room in ROOMS:
        for path in sorted((root / PACKAGE / room).rglob("*.py")):
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


def tests_of(root: Path, file: str) -> list[str]:
    """Return the unit tests that name the module, those of its own room first."""
    parts = Path(file).relative_to("workflow/lib").with_suffix("").parts
    dotted = ".".join(parts)
    found = []
    for path in sorted((root / "tests" / "unit").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if f"{dotted} " in text or f"{dotted}\n" in text or f"{dotted}." in text or parts[-1] in path.stem:
            found.append(str(path.relative_to(root)))
    return sorted(found, key=lambda name: (parts[-1] not in name, parts[1] not in name))[:8]


def survives(copy: Path, mutation: Mutation) -> bool:
    """Whether no test notices the change."""
    path = copy / mutation.file
    kept = path.read_text(encoding="utf-8")
    path.write_text(mutated(copy, mutation), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", "-m", "not slow"]
    environment = {**os.environ, "PYTHONPATH": str(copy / "workflow" / "lib"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [*command, *tests_of(copy, mutation.file)], cwd=copy, env=environment, capture_output=True, timeout=TIMEOUT
        )
        return done.returncode == 0
    except subprocess.TimeoutExpired:
        return False  # a loop without end is noticed
    finally:
        path.write_text(kept, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=100, help="changes to try (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--only", nargs="+", default=[""], help="parts of the modules' paths")
    parser.add_argument("--goal", type=float, default=0.95, help="share to be caught")
    parser.add_argument("--out", type=Path, help="survivors and shares as JSON")
    args = parser.parse_args()
    every = list(mutations(ROOT, args.only))
    chosen = random.Random(args.seed).sample(every, min(args.sample, len(every)))
    print(f"{len(chosen)} of {len(every)} changes", flush=True)
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project" / "main"
        ignored = shutil.ignore_patterns(".git", ".venv", "results", ".snakemake", "__pycache__")
        shutil.copytree(ROOT, copy, ignore=ignored, symlinks=True)
        if (ROOT.parent / "shared").exists():
            (copy.parent / "shared").symlink_to((ROOT.parent / "shared").resolve())
        for number, mutation in enumerate(chosen, 1):
            if survives(copy, mutation):
                survivors.append(mutation)
                print(f"survived: {mutation.file}:{mutation.line}: {mutation.was} -> {mutation.now}", flush=True)
            if number % 10 == 0:
                print(f"{number} tried, {number - len(survivors)} caught", flush=True)
    share = 1 - len(survivors) / len(chosen)
    print(f"caught {len(chosen) - len(survivors)} of {len(chosen)} ({share:.1%})")
    if args.out:
        args.out.write_text(
            json.dumps({"tried": len(chosen), "survivors": [asdict(one) for one in survivors]}, indent=1)
        )
    return 0 if share >= args.goal else 1


if __name__ == "__main__":
    raise SystemExit(main())
