"""The code behind every rule of the workflow, against what the modules of its command import."""

import ast
import json
import re
import shutil
from pathlib import Path

import pytest

from support.imports import INSIDE, MODULES
from support.versions import forget
from support.workflow import ROOT
from tripleaudit import jobs
from tripleaudit.core import code
from tripleaudit.corpora.spec import FORMATS
from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.needles.schema import schema_file
from tripleaudit.protocols.spec import PROTOCOLS
from tripleaudit.scoring.spec import MATCHINGS
from tripleaudit.systems.spec import SYSTEM_KINDS
from tripleaudit.tables.spec import TABLES

RULES = ROOT / "workflow" / "rules"
PACKAGE = ROOT / "workflow" / "lib" / "tripleaudit"


def is_outside(module: str) -> bool:
    return module in code.UNTRACKED


BODIES = {
    name: body
    for path in RULES.glob("*.smk")
    for name, body in re.findall(
        r"^ *rule (\w+):\n(.*?)(?=^ *(?:use )?rule |^\S|\Z)", path.read_text(), re.M | re.S
    )
}
SHELLS = {
    name: "".join(map(ast.literal_eval, re.findall(r"""^ +("[^\n]*"|'[^\n]*')$""", shell, re.M)))
    for name, body in BODIES.items()
    if (shell := body.partition("    shell:\n")[2])
}


def test_every_rule_that_makes_something_is_one_command():
    made = {name for name, body in BODIES.items() if "    output:" in body}
    assert made == set(SHELLS) - {"estimate"} and len(made) > 30
    for name, shell in SHELLS.items():
        assert jobs.command_of(shell), name
        assert shell.count("tripleaudit") == 1, name
    assert not (ROOT / "workflow" / "scripts").exists()


def parameter_functions() -> str:
    return (RULES / "functions.smk").read_text(encoding="utf-8")


@pytest.mark.parametrize("rule", SHELLS)
def test_a_rule_counts_the_code_of_its_command(rule):
    (value,) = re.findall(r"^ +code=(.+),$", BODIES[rule], re.M)
    if re.fullmatch(r"\w+", value):
        value = parameter_functions().partition(f"def {value}(")[2].partition("\ndef ")[0]
    assert f'jobs.command_code("{jobs.command_of(SHELLS[rule])}")' in value


@pytest.mark.parametrize("rule", SHELLS)
def test_a_rule_names_its_environment(rule):
    """Rules whose command imports torch get the larger environment."""
    (environment,) = re.findall(r"^ +conda:\n +\"(.+?)\"(?: +#.*)?$", BODIES[rule], re.M)
    assert environment in {"../../envs/light.yaml", "../../envs/torch.yaml"}
    assert (RULES / environment).is_file()


COMPARED = {"answering", "code", "deciding", "identity", "made", "own_files", "pinned", "system"}
"""Parameters that only make a job run again."""


def test_what_a_rule_asks_of_the_plan_reaches_its_command():
    handed = set()
    for name, body in BODIES.items():
        params = re.findall(
            r"^ {8,12}(\w+)=", body.partition("    params:\n")[2].partition("    shell:")[0], re.M
        )
        unused = {param for param in params if f"{{params.{param}" not in SHELLS.get(name, "")}
        assert unused <= COMPARED, name
        handed |= {*params} - unused
    assert {"options", "files", "settings"} <= handed


# what modules import


def behind(*entries: str) -> set[str]:
    """The modules that some entries import, each with the packages around it."""
    found, queue = set(), [f"tripleaudit.{entry.partition(':')[0]}" for entry in entries]
    while queue:
        name = queue.pop()
        if not name or name in found:
            continue
        queue.append(name.rpartition(".")[0])
        if not is_outside(name.removeprefix("tripleaudit.")):
            found.add(name)
            queue += INSIDE[name]
    return found


@pytest.mark.parametrize("rule", SHELLS)
def test_a_rule_counts_the_modules_that_its_command_imports_and_no_other(rule):
    used = jobs.command_module(jobs.command_of(SHELLS[rule]))
    applied = (
        ["scoring.matching"]
        if code.importers("scoring.spec.MATCHINGS", used) and used != "commands.train"
        else []
    )
    counted = {
        name for name in jobs.command_code(jobs.command_of(SHELLS[rule])) if name.endswith(".py")
    }
    expected = {MODULES[name].relative_to(PACKAGE).as_posix() for name in behind(used, *applied)}
    assert counted == expected and {"__init__.py", "core/files.py"} < counted


def test_what_stays_outside_imports_little_that_counts():
    """Registries find what is chosen, steps and the way in what is called: by names that rules
    give.
    """
    found = set()
    for name in MODULES:
        if is_outside(name.removeprefix("tripleaudit.")):
            found |= INSIDE[name]
    inside = {name for name in found if not is_outside(name.removeprefix("tripleaudit."))}
    assert inside == {f"tripleaudit.{name}" for name in ("commands", "core.files", "core.version")}


# data files


def test_every_file_that_is_named_is_there():
    patterns = []
    for path in MODULES.values():
        for text in re.findall(
            r"^READS = (\(.*?\))$", path.read_text(encoding="utf-8"), re.M | re.S
        ):
            patterns += ast.literal_eval(text)
    assert len(patterns) > 15 and all(list(PACKAGE.glob(pattern)) for pattern in patterns)


# edits


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package that a test may change, and that versions are read off."""
    root = tmp_path_factory.mktemp("copy") / "tripleaudit"
    shutil.copytree(PACKAGE, root, ignore=shutil.ignore_patterns("__pycache__", "project"))
    for registry in (EXTRACTORS, FORMATS, MATCHINGS, PROTOCOLS, SYSTEM_KINDS, TABLES):
        assert list(registry)  # of what specs say, that of the original counts
    patch = pytest.MonkeyPatch()
    patch.setattr(code, "ROOT", root)
    yield root
    patch.undo()
    forget()


def codes(root: Path) -> dict[str, str]:
    """Rule -> the code of its jobs: that of its command and of what they choose."""
    forget()
    found = {rule: [jobs.command_code(jobs.command_of(shell))] for rule, shell in SHELLS.items()}
    for rule, command, registry, names in (
        ("train", "train", MATCHINGS, ["exact-string"]),
        ("tables", "tables", TABLES, list(TABLES)),
        ("build_protocol", "build-protocol", PROTOCOLS, ["sifted"]),
        ("build_augmented", "build-protocol", PROTOCOLS, ["augmented"]),
        ("predict_system", "predict-system", SYSTEM_KINDS, ["predictions", "command"]),
        ("prepare_corpus", "prepare", FORMATS, ["jsonl"]),
    ):
        found[rule] += [jobs.described_code(command, registry, name) for name in names]
    for command in ("train", "predict"):
        found[command] += [
            jobs.extractor_code(command, name) for name in ("casrel", "onerel", "zcc-binary")
        ]
    drawn = [f"tables.plots.{path.stem}" for path in (root / "tables/plots").glob("[a-z]*.py")]
    found["plots"] += [jobs.chosen_code("plots", module) for module in drawn]
    schema = root / "data" / "schemas" / schema_file("demo").name
    for step in ("make-needles", "extract-needles", "score-needles"):
        found[step.replace("-", "_")].append(jobs.chosen_code(step, files=[schema]))
    return {rule: json.dumps(one, sort_keys=True) for rule, one in found.items()}


@pytest.fixture(scope="module")
def before(copy):
    return codes(copy)


NOTHING: set[str] = set()
MORE = ("", "")  # one more statement at the end of a module
SHOWN = {"tables", "plots", "write_report"}
SCORED = {"score", "score_classifier", "estimate", "frames"} | SHOWN
COLLECTION = {"divide_collection", "extract_collection", "finish_collection"}
READ = COLLECTION | {"train", "predict", "prepare_corpus", "select_texts", "generate"}
MADE = {"build_protocol", "build_augmented", "train_masked_lm", "predict_baseline"}
PLACED = SCORED | READ | MADE | {"predict_system", "original_split"}
FACTS = {"system_facts", "training_facts"}
TOPICS = {"train_topics", "score_triples", "estimate"}
EXTRACTED = {"extract_needles", "estimate"}
NEEDLES = {"make_needles", "extract_needles", "rate_needles", "score_needles"}
LOCAL = "    with open_text(path) as {0}, json_explained(path):\n        return json.load({0})"
EDITS = {
    "a docstring": ("scoring/matching.py", ('"""', '"""Other words. '), NOTHING),
    "a comment": ("training/trainer.py", ("\nimport ", "\n# a comment\nimport "), NOTHING),
    "a help text": ("commands/train.py", ('help="', 'help="Really: '), NOTHING),
    "what a command is for": ("commands/train.py", ('HELP = "', 'HELP = "Really: '), NOTHING),
    "an error of many": ("core/files.py", ('no such file")', 'no such file here")'), NOTHING),
    "an error of one": (
        "commands/predict.py",
        ("expected one --out for", "expected an --out for"),
        NOTHING,
    ),
    "the version": ("core/version.py", ('__version__ = "', '__version__ = "9.'), NOTHING),
    "the help": ("cli.py", ('"Evaluate predictions"', '"Evaluate"'), NOTHING),
    "how plugins are loaded": (
        "core/plugins.py",
        ("in absolute:", "in sorted(absolute):"),
        NOTHING,
    ),
    "a further step": ("steps.py", ("STEPS = {", 'STEPS = {"b": Step("a:b", ""),'), NOTHING),
    "a further registry": (
        "tables/spec.py",
        ("TABLES: Final", "OTHERS = 1\nTABLES: Final"),
        NOTHING,
    ),
    "a field of protocols": (
        "protocols/spec.py",
        ("published: bool = False", "published: bool = 0"),
        NOTHING,
    ),
    "a lock": ("core/locks.py", MORE, NOTHING),
    "what computes versions": ("core/code.py", MORE, NOTHING),
    "a preset": (
        "data/presets.yaml",
        ("schedule: constant,", "schedule: linear,"),
        NOTHING,
    ),  # jobs have its settings
    "a prompt of a study": (
        "data/prompts/open.yaml",
        ("You read", "You now read"),
        NOTHING,
    ),  # and its content
    "a prompt of the judge": ("data/prompts/judge.yaml", ("messages:", "messages:  #"), NOTHING),
    "a label": ("tables/labels.py", ('"WebNLG"', '"Web NLG"'), SHOWN | {"frames"}),
    "a matching rule": ("scoring/matching.py", MORE, SCORED | FACTS | {"train"}),
    "where entities are": ("corpora/spans.py", MORE, PLACED | FACTS),
    "an audit": ("tables/audits.py", ("number > 0 for", "number >= 1 for"), {"audit"}),
    "types of triples": (
        "protocols/types.py",
        MORE,
        SCORED | MADE - {"train_masked_lm"} | {"audit"},
    ),
    "the bootstrap": (
        "scoring/bootstrap.py",
        MORE,
        SCORED | FACTS | {"score_triples"} | NEEDLES - {"make_needles"},
    ),
    "an extractor": ("extractors/casrel.py", MORE, {"train", "predict"}),
    "settings of an extractor": (
        "extractors/specs/casrel.py",
        MORE,
        {"train", "predict"},
    ),
    "noise of entities": ("protocols/noising.py", MORE, FACTS | {"train", "estimate"}),
    "a table": ("tables/builders/training_time.py", MORE, {"tables"}),
    "a paper's values": ("data/reported/rte_eval.csv", ("\n", " \n"), {"tables"}),
    "the page's style": ("report/assets/page.css", ("body", "body "), {"write_report"}),
    "MINEA's prompt": ("data/prompts/minea-extract.yaml", ("messages:", "messages:  #"), EXTRACTED),
    "a schema": (
        "data/schemas/demo.json",
        ("{", "{ "),
        {"make_needles", "extract_needles", "score_needles"},
    ),
    "scores of needles": ("needles/score_rows.py", MORE, {"score_needles"}),
    "a class in a program of its own": (
        "systems/child.py",
        MORE,
        {"predict_system", "estimate"},  # which validates the study with its programs
    ),
    "a description that is kept": (
        "grescores/topics.py",
        ('"topics": topics,', '"topics": 1,'),
        TOPICS,
    ),
    "a template": ("tables/render/templates/table.html", ("\n", "\n\n"), SHOWN),
    # the one edit that starts more than it alters: it renames a variable of a function
    "a name in a function": (
        "core/files.py",
        (LOCAL.format("stream"), LOCAL.format("content")),
        {*SHELLS},
    ),
}
"""What is edited -> file, old and new text, the rules whose jobs start because of it."""


@pytest.mark.parametrize("kind", EDITS)
def test_an_edit_starts_the_jobs_that_depend_on_it_and_no_others(copy, before, kind):
    name, (old, new), expected = EDITS[kind]
    path = copy / name
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{name} no longer has {old!r}; edit something else"
    path.write_text(
        text.replace(old, new, 1) if new else f"{text}\nCHANGED = 1\n", encoding="utf-8"
    )
    after = codes(copy)
    path.write_text(text, encoding="utf-8")
    assert {rule for rule in before if before[rule] != after[rule]} == expected


def test_a_default_of_specs_counts_and_a_further_field_that_is_empty_does_not(monkeypatch):
    table, rule, extractor = (
        vars(TABLES["type-f1"]),
        vars(MATCHINGS["exact-string"]),
        vars(EXTRACTORS["casrel"]),
    )

    def said():
        chosen = jobs.described_code("tables", TABLES, "type-f1") | jobs.extractor_code(
            "train", "casrel"
        )
        return {**chosen, **jobs.command_code("score-run")}

    before = said()
    for of in (table, rule, extractor):
        monkeypatch.setitem(of, "further", "")
    assert said() == before
    for of, key, value, part in (
        (table, "order", 9.0, "table"),
        (rule, "relation", str.casefold, "matching rule"),
        (extractor, "defaults", {"epochs": 1}, "extractor"),
    ):
        monkeypatch.setitem(of, key, value)
        assert {name for name, digest in said().items() if digest != before[name]} == {
            f"{part} as described"
        }
        monkeypatch.undo()


def test_no_setting_of_scoring_hides_behind_a_rule_s_input():
    """Snakemake compares no parameter that is made from the input: what decides scores stands in
    others.
    """
    found = []
    lines = (
        r"^ +\w+=lambda wildcards, input[^\n]*",
        r"^def \w+\(wildcards, input.*?(?=^\S)",
        r"^    def \w+\(self, wildcards: Any, input.*?(?=^    def )",
    )
    for path in [
        *RULES.glob("*.smk"),
        *(RULES.parent / "lib" / "tripleaudit" / "study").glob("*.py"),
    ]:
        for text in re.findall("|".join(lines), path.read_text(), re.M | re.S):
            found.append(re.match(r" *(?:def )?(\w+)", text)[1])
            assert not re.search(r"RESAMPLING|GATE\b|scoring", text), (path.name, text)
    assert {"unaffecting_options", "own", "section_for_job", "job_param"} <= set(found)
