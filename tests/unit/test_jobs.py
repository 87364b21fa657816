"""The code behind every rule of the workflow, against what Python's own compiler says that its command imports."""

import dis
import re
import shutil
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.workflow import ROOT
from tripleaudit import code, jobs
from tripleaudit.descriptors import GRE_SCORES, MATCHINGS
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
    for cached in (code._closure, code._path, code._tree, code._package, code._data_named):
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


def of_step(body: types.CodeType, function: str) -> Iterator[str]:
    """What a module imports at its top and in a function, with those of its functions and classes that this uses."""
    inside = functions(body)
    steps = {name for name, part in inside.items() if part.co_varnames[: part.co_argcount] == ("args",)} - {"run"}
    queue = [function, "configure", "run"]
    seen: set[str] = set()
    while queue:
        name = queue.pop()
        if name in inside and name not in seen:
            seen.add(name)
            yield from imported(inside[name])
            queue += mentioned(inside[name]) - (steps if name == "configure" else set())
    yield from imported(body, inside=False)


def expected(entries: tuple[str, ...], root: Path) -> set[str]:
    """The modules that the entries import, by their bytecode."""
    found, queue = set(), []
    for entry in entries:
        name, _, function = f"tripleaudit.{entry.removeprefix('tripleaudit.')}".partition(":")
        if function:
            found.add(name)
            queue += [name.rpartition(".")[0], *of_step(compiled(name, root), function)]
        else:
            queue.append(name)
    whole = set()
    while queue:
        name = queue.pop()
        if name in whole or name.split(".")[0] != "tripleaudit" or name.startswith(code.OUTSIDE):
            continue
        body = compiled(name, root)
        if body is not None:
            whole.add(name)
            queue += imported(body)
        queue.append(name.rpartition(".")[0])
    return found | whole


def test_what_stays_outside_imports_nothing_that_counts():
    outside = [name for name in code.OUTSIDE if compiled(name, PACKAGE)]
    folder = PACKAGE / "machine"
    outside += [f"tripleaudit.machine.{path.stem}" for path in folder.glob("*.py") if path.stem != "__init__"]
    assert len(outside) > 5 and set(code.OUTSIDE) == {"tripleaudit.machine", "tripleaudit.errors"}
    for name in outside:
        names = {one for one in imported(compiled(name, PACKAGE)) if one.startswith("tripleaudit.")}
        assert all(one.startswith(code.OUTSIDE) for one in names), name


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
        modules = expected(jobs.entries(jobs.command_of(shell)), copy)
        names = {each for module in modules for each in imported(compiled(module, copy))}
        for attribute, registry in (("MATCHINGS", MATCHINGS), ("GRE_SCORES", GRE_SCORES)):
            if f"tripleaudit.descriptors.{attribute}" in names:  # the command applies all that are registered
                modules |= expected(registry.homes, copy)
        wanted[name] = modules
    assert "tripleaudit.scoring.matching" in wanted["train"] and "tripleaudit.training.predict" not in wanted["train"]
    assert not any(module.startswith("tripleaudit.tables") for module in wanted["predict"])
    before = {name: jobs.rule_code(shell) for name, shell in SHELLS.items()}
    modules = [path for path in sorted(copy.rglob("*.py")) if "project" not in path.parts]
    assert len(modules) > 150
    for path in modules:
        text = path.read_text(encoding="utf-8")
        parts = path.relative_to(copy).with_suffix("").parts
        module = ".".join(["tripleaudit", *(parts[:-1] if parts[-1] == "__init__" else parts)])
        path.write_text(text + "\nCHANGED_BY_A_TEST = 1\n", encoding="utf-8")
        forget()
        changed = {name for name, shell in SHELLS.items() if jobs.rule_code(shell) != before[name]}
        path.write_text(text, encoding="utf-8")
        assert changed == {name for name, imports in wanted.items() if module in imports}, module
    forget()
