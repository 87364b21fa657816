"""Registries and plugins: what is built in, what a file adds, and what is said of a file that
cannot be used.
"""

import ast
import os
import subprocess
import sys

import pytest

from support.imports import MODULES
from tripleaudit.core.errors import UserError
from tripleaudit.core.plugins import VARIABLE, registries, use_plugins
from tripleaudit.corpora.model import Span
from tripleaudit.corpora.readers import detect_format, read_corpus, resolve_format
from tripleaudit.corpora.spec import FORMATS
from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.protocols.spec import PROTOCOLS
from tripleaudit.scoring.spec import MATCHINGS
from tripleaudit.tables.building import build_table
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.spec import TABLES

RULE = """
from tripleaudit.scoring.spec import MatchingRule

FOLDED = MatchingRule(name="folded", note="Without case.", reduce=lambda span: span.text.lower())
"""


def write(folder, text=RULE, name="plugin.py"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_every_shipped_spec_knows_its_module():
    for registry in registries():
        for name, spec in registry.items():
            assert spec.name == name and not spec.file
        assert {spec.module for spec in registry.values()} == set(registry.shipped)


def defines_spec(path, makers):
    """Whether a module assigns the result of one of some functions at its top level."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    values = [node.value for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    calls = [node for value in values if value for node in ast.walk(value)]
    called = {
        node.func.id
        for node in calls
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return bool(called & makers)


def test_every_module_with_a_spec_is_listed():
    """A spec in a module that its registry does not list would never be found."""
    listed = {module for registry in registries() for module in registry.shipped}
    kinds = {registry.kind.__name__ for registry in registries()}
    for module, path in MODULES.items():
        makers = kinds | {"form"} if "corpora.readers" in module else kinds
        assert module in listed or not defines_spec(path, makers), module


def test_kinds_keep_the_order_of_the_papers():
    rules = "exact-string exact-span strict partial-first partial-last"
    assert list(MATCHINGS) == [*rules.split(), "normalised", "pairs"]
    assert list(PROTOCOLS) == [
        "original",
        "rearranged",
        "sifted",
        "augmented",
        "unseen_relations",
        "cardinality",
    ]
    assert list(TABLES)[:6] == [
        "type-f1",
        "rearranged",
        "sifted",
        "augmented",
        "contamination",
        "unseen-relations",
    ]
    assert list(TABLES)[6] == "end-to-end"
    assert len({spec.order for spec in TABLES.values()}) == len(TABLES)
    assert (
        list(FORMATS)[-1] == "records"
    )  # it takes columns of any name, so the others are asked before


def test_a_file_adds_a_rule_which_comes_last_and_is_known_to_later_processes(tmp_path):
    file = write(tmp_path)
    use_plugins([file])
    assert list(MATCHINGS)[-1] == "folded"
    assert MATCHINGS["folded"].reduce(Span(0, 3, "ADA")) == "ada"
    assert (MATCHINGS["folded"].file, MATCHINGS["folded"].module) == (file, "")
    code = "from tripleaudit.scoring.spec import MATCHINGS; print('folded' in MATCHINGS)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "True", done.stderr


def test_a_plugin_is_loaded_once_however_it_is_named(tmp_path, monkeypatch, capsys):
    file = write(tmp_path, RULE + "\nprint('loaded')\n")
    monkeypatch.chdir(tmp_path)
    use_plugins(["plugin.py", file])
    use_plugins(["./plugin.py"])
    assert os.environ[VARIABLE] == file and capsys.readouterr().out == "loaded\n"


def test_an_extractor_is_named_without_being_loaded(tmp_path):
    file = write(tmp_path, "raise RuntimeError('not now')\n")
    use_plugins([f"mine={file}:Mine"])
    assert EXTRACTORS["mine"].file == file


def test_an_installed_package_adds_by_its_entry_point(tmp_path, monkeypatch):
    write(tmp_path, name="folding_rules.py")
    info = tmp_path / "folding-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: folding\nVersion: 1.0\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(
        "[tripleaudit.plugins]\nfolding = folding_rules\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    use_plugins(["folding"])
    assert MATCHINGS["folded"].file == str(tmp_path / "folding_rules.py")
    assert os.environ[VARIABLE] == "folding"
    with pytest.raises(
        UserError, match=r"plugin 'holding': no file and no installed entry .* installed are .*fold"
    ):
        use_plugins(["holding"])


TABLE = "from tripleaudit.tables.spec import TableSpec\nT = TableSpec(name='t', build=print, needs='score')\n"
BROKEN = {
    "adds nothing; expected at its top level one of TableSpec, ExtractorSpec, ProtocolSpec, MatchingR": "x = 1\n",
    r"plugin\.py line 2: cannot be loaded \(SyntaxError: invalid syntax\)": "x = 1\ny = x +\n",
    r"line 3: cannot be loaded \(ModuleNotFoundError: No module named 'no_such_mo": "\n\nimport no_such_module\n",
    r"line 4: cannot be loaded \(TypeError: .*keyword argument 'nose'": RULE.replace(
        "note=", "nose="
    ),
    r"plugin\.py line 3: cannot be loaded \(SystemExit: 3\)": "\nimport sys\nsys.exit(3)\n",
    r"plugin\.py: cannot be loaded \(SyntaxError: source code string cannot contain null bytes\)": "\0",
    r"'folded': reduce is 'lower'; expected callable": RULE.replace(
        "lambda span: span.text.lower()", "'lower'"
    ),
    r"MatchingRule 3: name is 3; expected a valid string": RULE.replace('"folded"', "3"),
    r"'a/b' is no name; expected letters, digits, '\.', '_' and '-'": RULE.replace("folded", "a/b"),
    "TableSpec 't': needs is 'score'; expected 'audits', 'scores', 'runs', 'classifiers'": TABLE,
    "the matching rule 'exact-span' has the name of one that is built i": RULE.replace(
        "folded", "exact-span"
    ),
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_broken_plugin_gives_one_sentence_and_adds_nothing(tmp_path, message):
    before = {id(registry): list(registry) for registry in registries()}
    with pytest.raises(UserError, match=message) as caught:
        use_plugins([write(tmp_path, BROKEN[message])])
    assert "\n" not in str(caught.value)
    assert {id(registry): list(registry) for registry in registries()} == before
    assert VARIABLE not in os.environ


def test_missing_files_and_taken_names_are_said(tmp_path):
    with pytest.raises(UserError, match=r"plugin .*none\.py: no such file"):
        use_plugins([str(tmp_path / "none.py")])
    with pytest.raises(
        UserError, match=r"plugin mine=.*none\.py:Mine: expected NAME=path/to/file.py:Class"
    ):
        use_plugins([f"mine={tmp_path}/none.py:Mine"])
    first, second = (
        write(tmp_path, name="one.py"),
        write(tmp_path, RULE.replace("lower", "upper"), name="two.py"),
    )
    with pytest.raises(
        UserError, match=r"two\.py: the matching rule 'folded' has the name of one of .*one\.py"
    ):
        use_plugins([first, second])


def test_a_format_is_distinguished_from_the_content(tmp_path):
    plugin = """
from tripleaudit.corpora.corpus import RawSentence, RawTriple
from tripleaudit.corpora.spec import CorpusFormat


def read(path, mark="->"):
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        text, _, triple = line.strip().partition(f" {mark} ")
        yield RawSentence(str(number), text, [RawTriple(*triple.split(" | "))], f"{path} line {number}")


ARROWS = CorpusFormat(name="arrows", read=read, options=("mark",), detects=lambda probe: " -> " in probe.line)
"""
    use_plugins([write(tmp_path, plugin)])
    file = tmp_path / "a.txt"
    file.write_text("Ada leads Apple . -> Ada | leads | Apple\n", encoding="utf-8")
    corpus = read_corpus(file)
    assert corpus.report.format == "arrows"
    assert corpus.sentences[0].triples[0].strings == ("Ada", "leads", "Apple")
    with pytest.raises(
        UserError, match="format arrows has no option 'order', expected one of mark"
    ):
        read_corpus(file, order="sro")


CLAIM = """
from tripleaudit.corpora.spec import CorpusFormat

OWN = CorpusFormat(name="own", read=lambda path: [], detects=lambda probe: KEY in probe.value)
"""


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            '{"text": "a", "relations": [], "score": 1}',
            "own",
        ),  # columns that another format takes under any name
        ('{"text": "a", "triples": []}', "jsonl"),
        (
            '{"text": "a", "triples": [], "score": 1}',
            r"looks like the formats jsonl \(of the program\) and own \(",
        ),
    ],
)
def test_a_format_of_a_plugin_has_its_say(tmp_path, row, expected):
    use_plugins([write(tmp_path, CLAIM.replace("KEY", "'score'"))])
    file = tmp_path / "rows.jsonl"
    file.write_text(row + "\n", encoding="utf-8")
    if expected in FORMATS:
        assert detect_format(file) == expected
    else:
        with pytest.raises(UserError, match=expected):
            detect_format(file)
        assert resolve_format(file, "own") == "own"


def test_a_format_that_fails_to_recognise_a_file_is_named(tmp_path):
    plugin = write(tmp_path, CLAIM.replace("KEY in probe.value", "probe.value['missing']"))
    use_plugins([plugin])
    file = tmp_path / "rows.jsonl"
    file.write_text('{"text": "a", "triples": []}\n', encoding="utf-8")
    with pytest.raises(
        UserError, match=r"plugin\.py: format own cannot tell what .*l is \(KeyError: 'missing'\)"
    ):
        detect_format(file)


def test_a_builder_of_a_plugin_makes_a_table_or_is_named(tmp_path):
    plugin = (
        "from tripleaudit.tables.spec import TableSpec\n"
        "WZ = TableSpec(name='wz', build=lambda inputs: None)\n"
    )
    use_plugins([write(tmp_path, plugin)])
    with pytest.raises(
        UserError, match="table wz: its builder returned NoneType, expected a Table"
    ):
        build_table("wz", TableInputs())
