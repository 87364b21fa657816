"""Which code a result depends on, tried on a package written for it."""

import textwrap

import pytest

from support.reading import write
from support.versions import forget
from tripleaudit.core import code

PACKAGE = {
    "__init__.py": '__version__ = "1"',
    "core/errors.py": "class UserError(Exception): ...",
    "core/__init__.py": "",
    "core/locks.py": "from tripleaudit.core.errors import UserError",
    "a/__init__.py": "",
    "a/command.py": """
        '''What it does.'''
        import json
        from typing import TYPE_CHECKING
        from tripleaudit.b import deep
        from tripleaudit.core.errors import UserError
        from tripleaudit.core import locks
        HELP = "a command"
        if TYPE_CHECKING:
            from tripleaudit import typed
        def configure(parser):
            parser.add_argument("--n", help="a number")
        def run(args):
            '''Runs.'''
            from tripleaudit.lazy import work
            if args.n < 0:
                raise UserError(f"--n: {args.n}")
            return work(1)
    """,
    "b/__init__.py": "from tripleaudit.b.inner import thing",
    "b/inner.py": "thing = 1",
    "b/deep.py": "from .inner import thing",
    "lazy.py": "import tripleaudit.b.leaf\ndef work(n): return n",
    "b/leaf.py": "",
    "typed.py": "",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Write the package and return a function that changes one of its files and gives the
    versions of entries.
    """
    root = tmp_path / "tripleaudit"
    monkeypatch.setattr(code, "ROOT", root)

    def of_package(name: str, text: str) -> None:
        write(root, {name: textwrap.dedent(text).strip() + "\n"})

    def versions(*entries: str, files=()) -> dict[str, str]:
        forget()
        return code.versions(*entries, files=files)

    for name, text in PACKAGE.items():
        of_package(name, text)
    versions.write = of_package
    yield versions
    forget()


def differing(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {part for part in before if before[part] != after[part]}


def test_what_a_module_imports_counts_with_all_that_it_imports(package):
    assert list(package("a.command")) == [
        "__init__.py",
        "a/__init__.py",
        "a/command.py",
        "b/__init__.py",
        "b/deep.py",
        "b/inner.py",
        "b/leaf.py",
        "core/__init__.py",
        "lazy.py",
    ]
    assert list(package("b.deep")) == ["__init__.py", "b/__init__.py", "b/deep.py", "b/inner.py"]


def test_a_module_that_there_is_not_is_said(package):
    for name in ("nothing", "a.nothing", "a.command.nothing"):
        with pytest.raises(ModuleNotFoundError, match=f"the package has no module {name}"):
            package(name)


@pytest.mark.parametrize(
    ("begin", "says"),
    [
        ("from tripleaudit.kept import value as other", "other"),
        ("from .kept import value", "value"),
        ("from . import kept", "kept.value"),
        ("from tripleaudit.kept import *", "value"),
        ("import tripleaudit.kept as kept", "getattr(kept, 'value')"),
        ("import tripleaudit.kept", "tripleaudit.kept.value"),
        ("import importlib", "importlib.import_module('tripleaudit.kept')"),
        ("", "__import__('tripleaudit.kept')"),
        (
            "from tripleaudit.core.modules import load_attribute",
            "load_attribute('tripleaudit.kept:value', '')",
        ),
    ],
)
def test_a_module_counts_however_it_is_imported(package, begin, says):
    package.write("kept.py", "value = 1")
    package.write("parts.py", f"{begin}\ndef work(): return {says}")
    assert "kept.py" in package("parts:work")
    package.write(
        "parts.py", f"def work():\n    {begin or 'pass'}\n    return {says}".replace("*", "value")
    )
    assert "kept.py" in package("parts")


@pytest.mark.parametrize("name", ["b/inner.py", "b/leaf.py", "lazy.py", "b/__init__.py"])
def test_a_changed_module_is_named(package, name):
    before = package("a.command")
    package.write(name, PACKAGE[name] + "\nfresh = 1")
    assert differing(before, package("a.command")) == {name}


def test_a_module_names_the_files_that_it_reads(package):
    for name in ("a", "b", "c"):
        package.write(f"data/{name}.txt", "1")
    package.write("lazy.py", 'READS = ("data/a.txt", "data/b*.txt")\ndef work(n): return n')
    before = package("a.command")
    assert {"data/a.txt", "data/b.txt"} < set(before) and "data/c.txt" not in before
    package.write("data/b.txt", "2")
    assert differing(before, package("a.command")) == {"data/b.txt"}


def test_who_imports_a_name_is_known(package):
    assert code.importers("b.inner.thing", "a.command") == {"b/__init__.py"}


def test_a_file_from_outside_counts_with_what_lies_next_to_it(package, tmp_path):
    own = tmp_path / "own"
    write(
        own,
        {
            "mine.py": "import helper\nfrom tripleaudit.b import leaf\n",
            "helper.py": "import numpy\n",
        },
    )
    write(own, {"unused.py": ""})
    found = package(files=[own / "mine.py"])
    assert set(found) == {
        "mine.py",
        "helper.py",
        "__init__.py",
        "b/__init__.py",
        "b/inner.py",
        "b/leaf.py",
    }
    (own / "helper.py").write_text("# words\nimport numpy\n")
    assert package(files=[own / "mine.py"]) == found
    (own / "helper.py").write_text("import numpy as np\n")
    after = package(files=[own / "mine.py"])
    assert differing(found, after) == {"helper.py"}
    own.rename(tmp_path / "moved")
    assert package(files=[tmp_path / "moved" / "mine.py"]) == after


def test_what_modules_say_of_themselves_counts_from_outside(package, tmp_path):
    plugin = tmp_path / "plugin.py"
    for name in ("HELP", "DESCRIPTION", "description"):
        before, own = package("a.command"), []
        for text in ("one", "two"):
            plugin.write_text(f"{name} = {text!r}\n")
            own.append(package(files=[plugin]))
            package.write(
                "a/command.py", PACKAGE["a/command.py"].rstrip() + f"\n        {name} = {text!r}"
            )
        assert own[0] != own[1]
        assert (package("a.command") == before) is (name == "HELP")


def test_a_file_from_outside_counts_with_its_package_and_the_files_that_it_names(package, tmp_path):
    own = tmp_path / "site" / "own"
    texts = {
        "__init__.py": "",
        "plugin.py": "from own.inner import one\nfrom . import two\n",
        "inner.py": "from own import deep\nREADS = ('lists/words.txt',)\n",
        "deep.py": "",
        "two.py": "import importlib\nimportlib.import_module('own.late')\n",
        "late.py": "",
        "lists/words.txt": "a",
    }
    write(own, texts)
    found = package(files=[own / "plugin.py"])
    names = {"__init__.py", "plugin.py", "inner.py", "deep.py", "two.py", "lists/words.txt"}
    assert set(found) >= names
    (own / "lists" / "words.txt").write_text("b")
    assert differing(found, package(files=[own / "plugin.py"])) == {"lists/words.txt"}


def test_a_plugin_names_the_files_that_it_reads(package, tmp_path):
    digests = set()
    for text in "ab":
        plugin = write(
            tmp_path, {"plugin.py": "READS = ('lists/*.txt',)\n", "lists/words.txt": text}
        )
        digests.add(package(files=[plugin])["lists/words.txt"])
    assert len(digests) == 2


def test_a_library_with_the_name_of_an_installed_plugin_s_neighbour_does_not_count(
    package, tmp_path
):
    site = tmp_path / "site"
    write(
        site,
        {"own/__init__.py": "", "own/plugin.py": "import library\n", "library/__init__.py": ""},
    )
    assert set(package(files=[site / "own" / "plugin.py"])) == {"__init__.py", "plugin.py"}


def test_a_file_that_is_missing_or_broken_is_left_to_who_reads_it(package, tmp_path):
    broken = write(tmp_path, {"broken.py": "x ="})
    found = package(files=[broken, tmp_path / "none.yaml"])
    assert found["none.yaml"] == "missing" and len(found["broken.py"]) == code.DIGITS
