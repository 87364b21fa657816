"""Which code a result depends on, tried on a package written for it."""

from pathlib import Path

import pytest

from tripleaudit import code, syntax

PACKAGE = {
    "__init__.py": '__version__ = "1"',
    "errors.py": "class UserError(Exception): ...",
    "machine/__init__.py": "",
    "machine/locks.py": "from tripleaudit.errors import UserError",
    "a/__init__.py": "",
    "a/command.py": """
        '''What it does.'''
        import json
        from typing import TYPE_CHECKING
        from tripleaudit.b import deep
        from tripleaudit.machine import locks
        if TYPE_CHECKING:
            from tripleaudit import typed
        def configure(parser):
            parser.add_argument("--n", help="a number")
            parser.set_defaults(work=_one)
            parser.set_defaults(work=_two)
        def _one(args):
            '''One.'''
            from tripleaudit.lazy import work
            return work(_help())
        def _two(args):
            from tripleaudit import other
        def _help(): return 1
    """,
    "b/__init__.py": "from tripleaudit.b.inner import thing",
    "b/inner.py": "thing = 1",
    "b/deep.py": "from .inner import thing",
    "lazy.py": "import tripleaudit.b.leaf\ndef work(n): return n",
    "b/leaf.py": "",
    "typed.py": "",
    "other.py": "",
    "alone.py": "import importlib\nimportlib.import_module('tripleaudit.' + 'other')",
}


def forget() -> None:
    for cached in vars(code).values():
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


def indented(text: str) -> str:
    import textwrap

    return textwrap.dedent(text).strip() + "\n"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Write the package and return a function that changes one of its files and gives the versions of entries."""
    root = tmp_path / "tripleaudit"
    monkeypatch.setattr(code, "ROOT", root)

    def write(name: str, text: str) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(indented(text), encoding="utf-8")

    def versions(*entries: str, files=(), **changed: str) -> dict[str, str]:
        forget()
        return code.versions(*entries, files=files)

    for name, text in PACKAGE.items():
        write(name, text)
    versions.write = write
    yield versions
    forget()


def test_what_a_module_imports_counts_with_all_that_it_imports(package):
    assert list(package("a.command")) == [
        "a", "a.command", "b", "b.deep", "b.inner", "b.leaf", "lazy", "other", "tripleaudit",
    ]  # fmt: skip
    assert list(package("b.deep")) == ["b", "b.deep", "b.inner", "tripleaudit"]


def test_names_that_are_chosen_at_run_time_do_not_count_unless_they_are_given(package):
    assert "other" not in package("alone")
    assert "other" in package("alone", "other")


def test_of_a_command_with_steps_the_other_steps_do_not_count(package):
    one, two = package("a.command:_one"), package("a.command:_two")
    assert "lazy" in one and "other" not in one
    assert "other" in two and "lazy" not in two
    package.write("a/command.py", PACKAGE["a/command.py"].replace("return 1", "return 2"))
    assert package("a.command:_two") == two
    changed = package("a.command:_one")
    assert {name for name in one if one[name] != changed[name]} == {"a.command:_one"}
    package.write("a/command.py", PACKAGE["a/command.py"].replace('"--n"', '"--m"'))
    assert package("a.command:_two") != two


def test_of_a_function_counts_what_it_uses_of_its_module(package):
    text = """
        import json
        from tripleaudit.b import deep
        LOW, HIGH = 1, 2
        TOTAL = LOW
        TOTAL = TOTAL + 1
        OTHER = 3
        def work(): return TOTAL
        def unused(): return deep
        for number in range(OTHER - 3):
            OTHER = number
    """
    package.write("parts.py", text)
    before = package("parts:work")
    assert "b.deep" not in before
    for old, new, changes in (
        ("LOW, HIGH = 1", "LOW, HIGH = 9", True),
        ("TOTAL + 1", "TOTAL + 2", True),
        ("return deep", "return 1", False),
        ("range(OTHER - 3)", "range(OTHER - 2)", True),  # a loop always runs, with what it uses
        ("OTHER = 3", "OTHER = 4", True),
    ):
        package.write("parts.py", text.replace(old, new))
        assert (package("parts:work") != before) is changes, old


# what stands in a module beside the function `work`, what `work` says, and the edit that is to change its version
RUNNING = {
    "a default argument": ("LOW = 1\ndef f(n=LOW): return n", "f()", "LOW = 1", "LOW = 2"),
    "a decorator": ("def deco(f): return f\n@deco\ndef f(): ...", "f()", "return f", "return None"),
    "a registering decorator": (
        "ALL = {}\ndef add(f): ALL[f.__name__] = f\n@add\ndef f(): return 1", "ALL['f']()", "return 1", "return 2",
    ),
    "a decorator of the package": ("from tripleaudit.b import add\n@add\ndef f(): return 1", "1", "n 1", "n 2"),
    "a class that its base adds": (
        "class B:\n    def __init_subclass__(cls): ...\nclass C(B): low = 1", "B.__subclasses__()", "w = 1", "w = 2",
    ),
    "a class that its metaclass adds": (
        "ALL = {}\nclass M(type):\n    def __init__(c, *a): ALL[1] = c\nclass C(metaclass=M): low = 1",
        "ALL[1].low", "low = 1", "low = 2",
    ),
    "a filled registry": ("ALL = {}\ndef f(): return 1\nALL['f'] = f", "ALL['f']()", "return 1", "return 2"),
    "an updated registry": ("ALL = {}\ndef f(): return 1\nALL.update(f=f)", "ALL['f']()", "return 1", "return 2"),
    "a registry's answer": ("ALL = {}\n_old = ALL.setdefault('f', 1)", "ALL['f']", "'f', 1", "'f', 2"),
    "a patched class": ("class C: ...\nC.low = 1", "C.low", "low = 1", "low = 2"),
    "an enumeration": ("import enum\nclass E(enum.Enum): A = 1", "E['A']", "A = 1", "A = 2"),
    "a dataclass": ("import dataclasses as d\nL = 1\n@d.dataclass\nclass D: n: int = L", "D()", "L = 1", "L = 2"),
    "a type by its name": (
        "import dataclasses as d\nclass C: low = 1\n@d.dataclass\nclass D: n: 'list[C]'", "D", "low = 1", "low = 2",
    ),
    "a type of what is returned": ("class C: low = 1\ndef f() -> 'C': ...", "f", "low = 1", "low = 2"),
    "a help text that is used": ("HELP = 'a'", "HELP", "'a'", "'b'"),
    "a version that is used": ("__version__ = 'a'\ndef f(): return __version__", "f()", "'a'", "'b'"),
    "a help text by its name": ("HELP = 'a'", "globals()['HELP']", "'a'", "'b'"),
    "a property": ("class C:\n    @property\n    def p(self): return L\nL = 1", "C().p", "L = 1", "L = 2"),
    "a partial": ("from functools import partial\ndef f(n): return 1\nG = partial(f, 1)", "G()", "n 1", "n 2"),
    "a cache": ("import functools\n@functools.cache\ndef f(): return 1", "f()", "n 1", "n 2"),
    "a text": ("UNIT = 'a'", "f'{UNIT:>5}'", "'a'", "'b'"),
    "a loop": ("for n in range(3): ...", "n", "3", "4"),
    "an addition": ("LOW = 1\nLOW += 1", "LOW", "+= 1", "+= 2"),
    "a global": ("LOW = 1\ndef f():\n    global LOW\n    LOW = 5", "f() or LOW", "LOW = 5", "LOW = 6"),
    "all names": ("def f(): return 1", "globals()['f']()", "n 1", "n 2"),
    "the module's name": ("import sys\ndef f(): return 1", "sys.modules[__name__].f()", "n 1", "n 2"),
}  # fmt: skip


LOOKED_UP = ("all names", "the module's name", "a help text by its name")


@pytest.mark.parametrize("kind", RUNNING)
def test_of_a_function_counts_whatever_alters_what_it_does(package, kind):
    beside, says, old, new = RUNNING[kind]
    assert beside.count(old) == 1
    text = f"def work(): return {says}\n{beside}\ndef other(): return 0"
    package.write("parts.py", text)
    before = package("parts:work")
    package.write("parts.py", text.replace("return 0", "return 'other'"))
    assert (package("parts:work") != before) is (kind in LOOKED_UP)
    package.write("parts.py", text.replace(old, new))
    assert package("parts:work") != before


@pytest.mark.parametrize(
    ("begin", "says"),
    [
        ("from tripleaudit.kept import value as other", "other"),
        ("from .kept import value", "value"),
        ("from tripleaudit.kept import *", "value"),
        ("import tripleaudit.kept as kept", "getattr(kept, 'value')"),
        ("import tripleaudit.kept", "tripleaudit.kept.value"),
        ("import importlib", "importlib.import_module('tripleaudit.kept')"),
        ("", "__import__('tripleaudit.kept')"),
        ("from tripleaudit.machine.modules import load_attribute", "load_attribute('tripleaudit.kept:value', '')"),
    ],
)
def test_a_module_counts_however_it_is_imported(package, begin, says):
    package.write("kept.py", "value = 1")
    package.write("parts.py", f"{begin}\ndef work(): return {says}")
    assert "kept" in package("parts:work") and "kept" in package("parts")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("a/command.py", "What it does.", "Other words."),
        ("a/command.py", "'''One.'''", ""),
        ("a/command.py", "a number", "some number"),
        ("a/command.py", "from tripleaudit import typed", "from tripleaudit import alone"),
        ("a/command.py", "import json", "import json  # for later"),
        ("a/command.py", 'parser.add_argument("--n", help', 'parser.add_argument(\n    "--n",\n    help'),
        ("__init__.py", '"1"', '"2"'),
        ("machine/locks.py", "import UserError", "import UserError as Bad"),
        ("errors.py", "UserError", "BadError"),
        ("typed.py", "", "x = 1"),
    ],
)
def test_what_cannot_alter_a_result_changes_nothing(package, name, old, new):
    before = package("a.command")
    text = indented(PACKAGE[name])
    assert old in text
    package.write(name, text.replace(old, new) if old else new)
    assert package("a.command") == before


@pytest.mark.parametrize("name", ["b/inner.py", "b/leaf.py", "lazy.py", "b/__init__.py", "other.py"])
def test_a_changed_module_is_named(package, name):
    before = package("a.command")
    package.write(name, PACKAGE[name] + "\nfresh = 1")
    after = package("a.command")
    changed = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    assert {part for part in before if before[part] != after[part]} == {changed}


def test_the_cache_is_only_faster(package):
    before = package("a.command")
    cache = next(Path(code.ROOT / "__pycache__").glob("*.json"))
    cache.write_text("{broken")
    assert package("a.command") == before
    cache.unlink()
    assert package("a.command") == before


def test_a_file_from_outside_counts_with_what_lies_beside_it(package, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "mine.py").write_text("import helper\nfrom tripleaudit.b import leaf\n")
    (own / "helper.py").write_text("import numpy\n")
    (own / "unused.py").write_text("")
    found = package(files=[own / "mine.py"])
    assert set(found) == {"mine.py", "helper.py", "tripleaudit", "b", "b.inner", "b.leaf"}
    (own / "helper.py").write_text("# words\nimport numpy\n")
    assert package(files=[own / "mine.py"]) == found
    (own / "helper.py").write_text("import numpy as np\n")
    after = package(files=[own / "mine.py"])
    assert {name for name in found if found[name] != after[name]} == {"helper.py"}
    own.rename(tmp_path / "moved")
    assert package(files=[tmp_path / "moved" / "mine.py"]) == after


def test_a_file_from_outside_counts_with_its_package_and_the_files_that_it_names(package, tmp_path):
    own = tmp_path / "site" / "own"
    (own / "lists").mkdir(parents=True)
    (own / "__init__.py").write_text("")
    (own / "plugin.py").write_text("from own.inner import one\nfrom . import two\n")
    (own / "inner.py").write_text("from own import deep\nWORDS = 'lists/words.txt'\n")
    (own / "deep.py").write_text("")
    (own / "two.py").write_text("import importlib\nimportlib.import_module('own.late')\n")
    (own / "late.py").write_text("")
    (own / "lists" / "words.txt").write_text("a")
    found = package(files=[own / "plugin.py"])
    names = {"__init__.py", "plugin.py", "inner.py", "deep.py", "two.py", "lists/words.txt"}
    assert set(found) >= names
    (own / "lists" / "words.txt").write_text("b")
    after = package(files=[own / "plugin.py"])
    assert {name for name in found if found[name] != after[name]} == {"lists/words.txt"}


def test_files_of_one_name_in_two_folders_count_both(package, tmp_path):
    files = [tmp_path / folder / "rules.py" for folder in ("one", "two")]
    for number, file in enumerate(files):
        file.parent.mkdir()
        file.write_text(f"from tripleaudit.b import leaf\nNUMBER = {number}\n")
    found = [package(files=files)]
    for file in files:
        file.write_text("NUMBER = 9\n")
        found.append(package(files=files))
    assert len({each["rules.py"] for each in found}) == 3


def test_a_data_file_counts_with_its_bytes(package, tmp_path):
    file = tmp_path / "prompt.yaml"
    file.write_text("a: 1")
    before = package(files=[file])
    file.write_text("a: 1 # words")
    assert list(before) == list(package(files=[file])) == ["prompt.yaml"]
    assert before != package(files=[file])


def test_data_counts_that_a_call_names_or_that_lies_beside_a_module(package):
    package.write("shipped.py", "DATA = 1")
    package.write(
        "read.py",
        """
        from tripleaudit.shipped import DATA
        def load(name): return open(DATA / "prompts" / f"{name}.yaml")
        def sums(): return load("sums")
        def products(): return load("products")
        def totals(): return sums()
        """,
    )
    names = ("closed", "open-first", "open-second", "sums", "products")
    for name in names:
        package.write(f"data/prompts/{name}.yaml", "a")
    package.write("data/facts.jsonl", "{}")
    package.write("a/looks/style.css", "a")

    def read_by(text: str) -> set[str]:
        package.write("user.py", text)
        return {name.removeprefix("data/") for name in package("user") if name.startswith("data/")}

    assert read_by("from tripleaudit.read import load\nload('closed')") == {"prompts/closed.yaml"}
    assert read_by("from tripleaudit.read import load\nload(closed)\nprint('closed')") == set()
    assert read_by("from tripleaudit.read import load\nfor n in '12': load(f'open-{n}')") == {
        "prompts/open-first.yaml",
        "prompts/open-second.yaml",
    }
    assert read_by("from tripleaudit import read\nread.totals()") == {"prompts/sums.yaml"}
    for file in ("DATA / 'facts.jsonl'", "DATA.joinpath('facts.jsonl')", "shipped('resources/facts.jsonl')"):
        assert read_by(f"from tripleaudit.shipped import DATA, shipped\nfile = {file}") == {"facts.jsonl"}
    for begin, called in (
        ("", "load(name='sums')"),
        ("NAME = 'sums'", "load(NAME)"),
        ("NAMES = {'a': 'sums'}", "load(NAMES['a'])"),
        ("", "[load(name) for name in ('sums',)]"),
    ):
        assert read_by(f"from tripleaudit.read import load\n{begin}\n{called}") == {"prompts/sums.yaml"}, called
    some = "from tripleaudit.read import load\nfor n in ('', f()): load(f'sum{n}s')"
    assert read_by(some) == {"prompts/sums.yaml"}
    many = "KIND = 'open'\ndef load(n='sums'): return DATA / 'prompts' / f'{KIND}-{n}'\nload()"
    assert read_by(f"from tripleaudit.shipped import DATA\n{many}") == {
        "prompts/open-first.yaml",
        "prompts/open-second.yaml",
        "prompts/sums.yaml",
    }
    read_by("from tripleaudit.shipped import DATA\nfile = DATA / 'facts.jsonl'")
    before = package("user", "a.command")
    assert "a/looks/style.css" in before
    for name, changes in (("a/looks/style.css", True), ("data/facts.jsonl", True), ("data/prompts/closed.yaml", False)):
        package.write(name, "changed")
        assert (package("user", "a.command") != before) is changes
        before = package("user", "a.command")


def test_a_class_from_outside_has_its_file_in_the_digest(tmp_path):
    inside = code.digest_with(syntax._Running, "errors")
    assert inside == code.digest_of("errors", "syntax")
    assert code.digest_with(Outside, "errors") == code.digest_of("errors", files=[__file__])


class Outside:
    """A class of this file."""


def test_what_an_editor_left_among_modules_changes_nothing(package):
    before = package("a")
    assert before
    for name in ("a/__init__.py.orig", "a/tdeer.py.bak", "a/.hidden.swp", "a/notes~"):
        package.write(name, "left over")
    assert package("a") == before
    package.write("a/looks/style.css", "b {}")
    assert package("a") != before
