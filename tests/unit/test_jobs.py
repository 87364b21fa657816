"""The code behind every rule of the workflow, against what Python's own compiler says that its command imports."""

import ast
import dis
import functools
import re
import shutil
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.workflow import ROOT
from tripleaudit import code, jobs
from tripleaudit.descriptors import MATCHINGS
from tripleaudit.errors import UserError

RULES = ROOT / "workflow" / "rules"
PACKAGE = ROOT / "workflow" / "lib" / "tripleaudit"


def shells() -> dict[str, str]:
    """Rule -> text of its shell directive."""
    found = {}
    for path in RULES.glob("*.smk"):
        for name, body in re.findall(r"^ *rule (\w+):\n(.*?)(?=^ *rule |^\S|\Z)", path.read_text(), re.M | re.S):
            shell = body.partition("    shell:\n")[2]
            if shell:
                found[name] = "".join(re.findall(r'"(.*)"', shell))
    return found


SHELLS = shells()


def forget() -> None:
    for cached in vars(code).values():
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


def test_every_rule_that_makes_something_is_one_command():
    made = {
        name
        for path in RULES.glob("*.smk")
        for name, body in re.findall(r"^ *rule (\w+):\n(.*?)(?=^ *rule |^\S|\Z)", path.read_text(), re.M | re.S)
        if "    output:" in body
    }
    assert made == set(SHELLS) - {"estimate"} and len(made) > 30
    for name, shell in SHELLS.items():
        assert jobs.command_of(shell), name
        assert shell.count("tripleaudit") == 1, name
    assert not (ROOT / "workflow" / "scripts").exists()
    with pytest.raises(UserError, match="a rule calls several commands"):
        jobs.command_of("python -m tripleaudit table a; python -m tripleaudit plots b")


# what the compiler says


@functools.cache
def compiled(name: str, root: Path) -> types.CodeType | None:
    """The module's code object, what only type checkers see left out by the compiler."""
    base = root.joinpath(*name.split(".")[1:])
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.is_file() and name.split(".")[0] == "tripleaudit":
            text = path.read_text(encoding="utf-8").replace("if TYPE_CHECKING:", "if 0:")
            return compile(text, str(path), "exec", dont_inherit=True)
    return None


def imported(body: types.CodeType, inside: bool = True) -> Iterator[str]:
    """Every name that a code object imports, with or without those inside it."""
    steps = list(dis.get_instructions(body))
    for place, step in enumerate(steps):
        if step.opname == "IMPORT_NAME":
            level, names = (steps[place - back].argval for back in (2, 1))
            assert level == 0, "the package has no relative imports"
            yield step.argval
            yield from (f"{step.argval}.{name}" for name in names or ())
    for constant in body.co_consts:
        if inside and isinstance(constant, types.CodeType):
            yield from imported(constant)


def functions(body: types.CodeType) -> dict[str, types.CodeType]:
    return {constant.co_name: constant for constant in body.co_consts if isinstance(constant, types.CodeType)}


def mentioned(body: types.CodeType) -> set[str]:
    inner = (mentioned(constant) for constant in body.co_consts if isinstance(constant, types.CodeType))
    return set(body.co_names).union(*inner)


@functools.cache
def all_imported(name: str, root: Path) -> set[str]:
    body = compiled(name, root)
    return set(imported(body)) if body else set()


@functools.cache
def parts(body: types.CodeType) -> dict[str, tuple[set[str], set[str]]]:
    """For each name that a module binds at its top: what is imported for it, and the names that it is made of."""
    found = {}
    source, stored, imports, names = "", "", set(), set()
    for step in dis.get_instructions(body):
        if step.opname == "IMPORT_NAME":
            source, imports = step.argval, {step.argval}
        elif step.opname == "IMPORT_FROM":
            imports = {source, f"{source}.{step.argval}"}
        elif isinstance(step.argval, types.CodeType):
            imports, names = imports | set(imported(step.argval)), names | mentioned(step.argval)
        elif step.opname == "LOAD_NAME":
            names.add(step.argval)
        elif step.opname == "STORE_NAME":
            found[step.argval] = made = (imports, names)
            imports, names = set(), set()
            if stored and made == (set(), set()):  # several names bound at once
                found[step.argval] = found[stored]
        stored = step.argval if step.opname == "STORE_NAME" else ""
    return found


def used_by(body: types.CodeType, *names: str) -> set[str]:
    """Names that a module binds at its top and that some of them use, with these themselves."""
    known, seen, queue = parts(body), set(), list(names)
    while queue:
        name = queue.pop()
        if name in known and name not in seen:
            seen.add(name)
            queue += known[name][1] - (steps_of(body) if name == "configure" else set())
    return seen


def steps_of(body: types.CodeType) -> set[str]:
    inside = functions(body)
    return {name for name, part in inside.items() if part.co_varnames[: part.co_argcount] == ("args",)} - {"run"}


def of_step(body: types.CodeType, function: str) -> Iterator[str]:
    """What a module imports for a function and for those of its functions, classes and variables that this uses."""
    for name in used_by(body, function, "configure", "run"):
        yield from parts(body)[name][0]


def expected(entries: tuple[str, ...], root: Path) -> tuple[set[str], set[str]]:
    """The modules that the entries import, by their bytecode, and every name that these import."""
    found, queue = set(), []
    for entry in entries:
        name, _, function = f"tripleaudit.{entry.removeprefix('tripleaudit.')}".partition(":")
        if function:
            found.add(name)
            queue += [name.rpartition(".")[0], *of_step(compiled(name, root), function)]
        else:
            queue.append(name)
    whole, names = set(), set(queue)
    while queue:
        name = queue.pop()
        if name in whole or name.split(".")[0] != "tripleaudit" or name.startswith(code.OUTSIDE):
            continue
        body = compiled(name, root)
        if body is not None:
            whole.add(name)
            inside = all_imported(name, root)
            queue += inside
            names |= inside if name not in code.BY_NAME else set()
        queue.append(name.rpartition(".")[0])
    return found | whole, names


def test_what_stays_outside_imports_nothing_that_counts():
    outside = [name for name in code.OUTSIDE if compiled(name, PACKAGE)]
    folder = PACKAGE / "machine"
    outside += [f"tripleaudit.machine.{path.stem}" for path in folder.glob("*.py") if path.stem != "__init__"]
    assert len(outside) > 5
    assert {name.partition(".")[2] for name in code.OUTSIDE} == {"machine", "errors", "code", "syntax"}
    for name in outside:
        names = {one for one in imported(compiled(name, PACKAGE)) if one.startswith("tripleaudit.")}
        assert all(one.startswith(code.OUTSIDE) for one in names), name


UNSEEN = {
    "files beside the code": {"provenance", "report.page", "shipped"},
    "modules by a computed name": {"cli", "registries", "steps", "tables.plots", "training.trackers"},
    "several data files at once": {"llm.prompts", "needles.schema"},
}
"""What the source does not show -> modules that do it: the way in, a page's assets, and lists of what a job chooses."""


def unseen_in(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "__file__" or ast.unparse(node) == "importlib.resources":
            yield "files beside the code"
        if isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if called in ("import_module", "__import__") and not isinstance(node.args[0], ast.Constant):
                yield "modules by a computed name"
            if called in ("glob", "rglob", "iterdir") and re.match(
                r"\(?(DATA|PACKAGE|FOLDER)\b", ast.unparse(node.func)
            ):
                yield "several data files at once"


def test_what_the_source_does_not_show_stands_in_few_places():
    found = {kind: set() for kind in UNSEEN}
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        if not f"tripleaudit.{module}".startswith(code.OUTSIDE) and "project" not in path.relative_to(PACKAGE).parts:
            for kind in unseen_in(ast.parse(path.read_text(encoding="utf-8"))):
                found[kind].add(module)
    assert found == UNSEEN
    shown = "importlib.import_module('tripleaudit.a')\nDATA / 'a.txt'"
    assert not list(unseen_in(ast.parse(shown)))


READERS = {"cli", "exchange.bundling", "exchange.cards", "provenance", "report.origin", "scoring.scores"}
READERS.add("sources.download")  # tells servers who asks
"""Modules that read what other modules say of themselves, and print it beside a result: help and version."""


def test_what_modules_say_of_themselves_is_only_printed():
    found = set()
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = {alias.name for alias in node.names} if isinstance(node, ast.ImportFrom) else set()
            names |= {node.attr} - {"__version__"} if isinstance(node, ast.Attribute) else set()
            if names & {"HELP", "DESCRIPTION", "__version__"}:
                found.add(module)
    assert found == READERS


def test_no_class_hears_of_classes_that_other_modules_make_of_it():
    """Of a step's module count the classes that the step names: another one must add itself nowhere."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                inside = {getattr(part, "name", "") for part in node.body}
                assert "__init_subclass__" not in inside, (path, node.name)
                made_by = [word.value for word in node.keywords if word.arg == "metaclass"]
                assert not made_by and "type" not in map(ast.unparse, node.bases), (path, node.name)


def test_a_new_list_of_prices_makes_nothing_anew():
    """What an answer cost when it was paid for is kept with it; jobs are given the prices of what they will pay."""
    told = {name for name, shell in SHELLS.items() if "data/prices.yaml" in dict(jobs.rule_code(shell))}
    assert told == {"estimate"}
    arithmetic = {name for name, shell in SHELLS.items() if "llm.prices" in dict(jobs.rule_code(shell))}
    assert {"generate", "judge_triples", "extract_needles"} < arithmetic


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package that a test may change, and that versions are read off."""
    root = tmp_path_factory.mktemp("copy") / "tripleaudit"
    shutil.copytree(PACKAGE, root, ignore=shutil.ignore_patterns("__pycache__"))
    patch = pytest.MonkeyPatch()
    patch.setattr(code, "ROOT", root)
    forget()
    yield root
    patch.undo()
    forget()


@pytest.mark.slow
def test_a_changed_module_reruns_the_rules_whose_command_imports_it_and_no_other(copy):
    wanted = {}
    for name, shell in SHELLS.items():
        modules, names = expected(jobs.entries(jobs.command_of(shell)), copy)
        for attribute, registry in (("MATCHINGS", MATCHINGS),):
            if f"tripleaudit.descriptors.{attribute}" in names:  # the command applies all that are registered
                modules |= expected(registry.homes, copy)[0]
        wanted[name] = modules
    assert "tripleaudit.scoring.matching" in wanted["train"] and "tripleaudit.training.predict" not in wanted["train"]
    assert "tripleaudit.protocols.noising" in wanted["train"] - wanted["predict"]
    assert not any(module.startswith("tripleaudit.tables") for module in wanted["predict"])
    before = {name: jobs.rule_code(shell) for name, shell in SHELLS.items()}
    modules = [path for path in sorted(copy.rglob("*.py")) if "project" not in path.parts]
    assert len(modules) > 150
    for path in modules:
        text = path.read_text(encoding="utf-8")
        parts = path.relative_to(copy).with_suffix("").parts
        module = ".".join(["tripleaudit", *(parts[:-1] if parts[-1] == "__init__" else parts)])
        path.write_text(text + "\n[]  # a statement that always runs\n", encoding="utf-8")
        forget()
        changed = {name for name, shell in SHELLS.items() if jobs.rule_code(shell) != before[name]}
        path.write_text(text, encoding="utf-8")
        assert changed == {name for name, imports in wanted.items() if module in imports}, module
    forget()


def named(node: ast.stmt) -> set[str]:
    """The function, class or variable that a statement makes."""
    targets = [node, *getattr(node, "targets", []), getattr(node, "target", None)]
    found = {getattr(target, "id", getattr(target, "name", None)) for target in targets}
    return {name for name in found if name and not name.startswith("__")}


def altered(source: str, name: str) -> str:
    """A module with another body of one function or class, or another value of one variable, of it."""
    tree = ast.parse(source)
    for node in tree.body:
        if getattr(node, "name", None) == name:
            node.body.insert(0, ast.parse("[]").body[0])
        targets = [*getattr(node, "targets", []), getattr(node, "target", None)]
        if name in {getattr(target, "id", None) for target in targets}:
            node.value = ast.parse(f"[{ast.unparse(node.value)}][0]", mode="eval").body
    return ast.unparse(tree)


@pytest.mark.slow
@pytest.mark.parametrize("module", code.BY_NAME)
def test_of_what_declares_kinds_and_registries_the_used_names_count(copy, module):
    """A field of a table's descriptor trains nothing anew, nor does how plugins are listed."""
    bodies = {name: compiled(name, copy) for name in code.BY_NAME}
    wanted = {}
    for name, shell in SHELLS.items():
        _, names = expected(jobs.entries(jobs.command_of(shell)), copy)
        homes = [
            registry.homes
            for attribute, registry in (("MATCHINGS", MATCHINGS),)
            if f"tripleaudit.descriptors.{attribute}" in names
        ]
        names = names.union(*(expected(home, copy)[1] for home in homes))
        wanted[name] = used_names(names, bodies)
    before = {name: jobs.rule_code(shell) for name, shell in SHELLS.items()}
    path = copy / f"{module.rpartition('.')[2]}.py"
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    own = {name for node in tree.body for name in named(node)}
    users = set()
    for name in sorted(own):
        path.write_text(altered(text, name), encoding="utf-8")
        forget()
        changed = {rule for rule, shell in SHELLS.items() if jobs.rule_code(shell) != before[rule]}
        path.write_text(text, encoding="utf-8")
        assert changed == {rule for rule, names in wanted.items() if (module, name) in names}, name
        users.add(frozenset(changed))
    assert len(users) > 2
    forget()


def used_names(imports: set[str], bodies: dict[str, types.CodeType]) -> set[tuple[str, str]]:
    """(module, name) of what of the modules that declare is behind some imports."""
    queue, found = list(imports), set()
    while queue:
        module, _, name = queue.pop().rpartition(".")
        for one in used_by(bodies[module], name) if module in bodies else ():
            if (module, one) not in found:
                found.add((module, one))
                queue += parts(bodies[module])[one][0]
    return found


def test_no_setting_of_scoring_hides_behind_a_rule_s_input():
    """Snakemake compares no parameter that is made from the input: what decides scores stands in others."""
    found = []
    for path in RULES.glob("*.smk"):
        for name, value in re.findall(
            r"^ +(\w+)=lambda wildcards, input\b.*?:(.*?)(?=^ +\w+=|^    \w|^\S|\Z)", path.read_text(), re.M | re.S
        ):
            found.append(name)
            assert not re.search(r"RESAMPLING|GATE\b|scoring", value), (path.name, name)
    assert {"settings", "report", "options"} <= set(found)
