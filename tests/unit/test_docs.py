"""What the documentation names exists: files, links, headings, targets, commands with their
options, keys, messages.
"""

import argparse
import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tripleaudit.cli import build_parser
from tripleaudit.commands.config_reference import reference
from tripleaudit.tables.spec import TABLES

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "config" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PACKAGE = ROOT / "workflow" / "lib" / "tripleaudit"
# options of snakemake that take a value, as the documentation uses them
TAKES_VALUE = {
    "--cores", "--jobs", "--configfile", "--config", "--executor", "--report", "--workflow-profile", "--resources",
    "--rerun-triggers", "--until", "--directory", "--snakefile", "--profile", "--list-changes", "--retries", "-R", "-s",
    "--rulegraph", "--set-scatter", "--set-resources", "--default-resources", "--group-components", "-j", "-c",
    "--shared-fs-usage",
}  # fmt: skip
CODE = re.compile(r"```[a-z]*\n(.*?)```|`([^`\n]+)`", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def codes(page: Path) -> Iterator[str]:
    """Code blocks line by line, continued lines joined, and code spans."""
    for block, span in CODE.findall(page.read_text(encoding="utf-8")):
        if block:
            yield from (
                line.split(" #")[0].strip() for line in block.replace("\\\n", " ").splitlines()
            )
        else:
            yield span


EVERY = [(page.name, code) for page in PAGES for code in codes(page)]


def words(line: str, program: str) -> list[str] | None:
    """The arguments of ``program`` in a line of a shell, None if it is something else."""
    try:
        parts = shlex.split(re.split(r"\s[|>&]", line)[0])
    except ValueError:
        return None
    while parts and re.fullmatch(r"\w+=.*", parts[0]):
        parts = parts[1:]
    return parts[1:] if parts and parts[0] == program else None


def ids(page: Path) -> set[str]:
    """Anchors of the headings, as GitHub makes them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


each_page = pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: f"{page.parent.name}-{page.name}"
)


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            name, _, anchor = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            assert file.exists() and (not anchor or anchor in ids(file)), target


@each_page
def test_files_of_the_project_exist(page: Path) -> None:
    path = re.compile(
        r"(?:docs|config|workflow|tests|envs|resources/(?!downloads))[\w./-]*/?[\w-]+\.[a-z]{2,5}"
    )
    names = {
        name
        for code in codes(page)
        for name in code.split()
        if path.fullmatch(name) and "NAME" not in name
    }
    assert [name for name in names if not (ROOT / name).exists()] == []


def targets() -> set[str]:
    """Names of all rules, and of the rules that are made of table names."""
    files = [ROOT / "workflow" / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]
    rule = re.compile(r"^\s*(?:rule|use rule \w+ as) (\w+)(?: with)?:", re.MULTILINE)
    names = {name for file in files for name in rule.findall(file.read_text())}
    return names | {name.replace("-", "_") for name in TABLES}


def study_options(code: str) -> list[str]:
    """Return the arguments of ``tripleaudit run STUDY`` behind the study, none for other lines."""
    given = words(code, "tripleaudit") or []
    return given[2:] if given[:1] == ["run"] else []


def test_targets_of_snakemake_exist() -> None:
    known, seen = targets(), 0
    assert {"tables", "report", "all", "sifted"} <= known
    for page, code in EVERY:
        given = words(code, "snakemake") or study_options(code)
        for before, word in zip(["", *given], given, strict=False):
            if before not in TAKES_VALUE and re.fullmatch(r"[a-z]\w*", word):
                seen += 1
                assert word in known, f"{page}: {code}"
    assert seen > 3


def test_the_picture_shows_rules_that_exist() -> None:
    drawn = re.findall(
        r"<text[^>]*>([^<]+)</text>", (ROOT / "docs" / "dag.svg").read_text(encoding="utf-8")
    )
    assert len(drawn) > 25 and {
        "train",
        "predict",
        "score",
        "tables",
        "write_report",
        "all",
    } <= set(drawn)
    assert set(drawn) <= targets()


def options_of(parser) -> set[str]:
    """The options of a command and of its steps, where it has any (``tripleaudit collection
    run``).
    """
    steps = [
        step
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for step in action.choices.values()
    ]
    own = {option for action in parser._actions for option in action.option_strings}
    return own.union(*(options_of(step) for step in steps))


def test_commands_and_their_options_exist() -> None:
    parsers = next(action for action in build_parser()._actions if action.dest == "command").choices
    seen = set()
    for page, code in EVERY:
        given = words(code.split("…")[0], "tripleaudit")
        if given and re.fullmatch(r"[a-z][a-z-]*", given[0]):
            assert given[0] in parsers, f"{page}: {code}"
            seen.add(given[0])
            options = {word.partition("=")[0] for word in given if re.match(r"--[a-z]", word)}
            # `run` hands on those of Snakemake
            assert given[0] == "run" or options <= options_of(parsers[given[0]]), f"{page}: {code}"
    assert len(seen) > 5


def test_keys_of_the_configuration_exist() -> None:
    known = re.findall(r"(?m)^\| `([^`]+)`", "\n".join(reference()))
    pattern = re.compile("|".join(re.sub(r"<[^/]*>", "[^/]+", key) for key in known))
    sections = {key.split("/")[0] for key in known if "/" in key} - {
        "corpora",
        "protocols",
    }  # folders of results, too
    named = [code for _, code in EVERY if re.fullmatch(r"[a-z_]+(/[\w<>-]+)+", code)]
    named = [code for code in named if code.split("/")[0] in sections]
    assert [code for code in named if not pattern.fullmatch(code)] == []
    assert len(named) > len(known) / 2


def messages() -> str:
    """All strings of the package, with a mark where a value is put in."""
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
            elif isinstance(node, ast.JoinedStr):
                found.append(
                    "".join(
                        part.value if isinstance(part, ast.Constant) else "\0"
                        for part in node.values
                    )
                )
    return "\n\n".join(found)


def test_quoted_messages_are_those_of_the_program() -> None:
    own, seen = messages(), 0
    text = (ROOT / "docs" / "howto" / "troubleshooting.md").read_text(encoding="utf-8")
    for quoted in re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE):
        for part in filter(None, map(str.strip, quoted.split("…"))):
            assert part in own, f"{quoted!r}: the program never says {part!r}"
            seen += 1
    assert seen > 40


def test_pages_and_the_program_have_the_words_of_the_field() -> None:
    """None that this project once used where the field says converged, memorised, passes, again
    or next to.
    """
    private = re.compile(
        r"\b(com\w+ to rest|by heart|anew|glance|beside|h[au]ng\w* on|gated|lets? through|is told)\b"
    )
    texts = {page.name: page.read_text(encoding="utf-8") for page in PAGES} | {
        "the program": messages()
    }
    assert {
        name: private.findall(text) for name, text in texts.items() if private.search(text)
    } == {}


def test_every_output_of_snakemakes_report_has_a_caption() -> None:
    seen = 0
    for file in sorted((ROOT / "workflow" / "rules").glob("*.smk")):
        for call in re.split(r"\breport\(", file.read_text())[1:]:
            caption = re.search(r'caption="\.\./report/(\w+\.rst)"', call[:200])
            assert caption, f"{file.name}: {call[:200]}"
            assert (ROOT / "workflow" / "report" / caption[1]).read_text().strip()
            seen += 1
    assert seen == 3  # tables, plots and the report


def test_every_table_is_described() -> None:
    described = {code for _, code in EVERY}
    assert [name for name in TABLES if name not in described] == []
