"""Layers of packages: every import points down, no two modules import each other, light packages
need no torch.
"""

import itertools
import json
import re
import subprocess
import sys
from collections import defaultdict

from support.imports import IMPORTS, INSIDE, MODULES, imports_of
from support.workflow import ROOT

# from the bottom to the top; what stands in one line may use its neighbours, but no circle of
# modules
LAYERS = (
    "core __init__",
    "sources corpora",
    "protocols",
    "llm scoring",
    "extractors training",
    "grescores needles generative testing",
    "systems",
    "collection",
    "tables",
    "study",
    "report summary exchange evidence",
    "steps",
    "jobs",
    "api inspect_task",
    "commands",
    "cli",
    "__main__",
)
LIGHT = (
    "corpora",
    "protocols",
    "scoring",
    "tables",
    "study",
    "llm",
    "sources",
    "core",
    "report",
    "evidence",
    "commands",
    "api",
)
HEAVY = (
    "torch",
    "transformers",
    "sentence_transformers",
    "datasets",
    "gensim",
    "scipy",
    "snakemake",
)
HEAVY += ("pandas", "vl_convert")


def package_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def test_every_package_has_its_layer():
    assert {package_of(module) for module in MODULES} <= {
        package for layer in LAYERS for package in layer.split()
    }


def test_no_import_points_up():
    layer = {
        package: number for number, packages in enumerate(LAYERS) for package in packages.split()
    }
    pairs = [(module, name) for module, names in INSIDE.items() for name in names]
    assert not [(low, up) for low, up in pairs if layer[package_of(up)] > layer[package_of(low)]]


def test_no_two_packages_of_one_layer_use_each_other():
    used = defaultdict(set)
    for module, names in INSIDE.items():
        used[package_of(module)] |= {package_of(name) for name in names}
    both = [
        pair
        for pair in itertools.combinations(sorted(used), 2)
        if pair[1] in used[pair[0]] & set(used)
    ]
    assert not [(a, b) for a, b in both if a in used[b]]


def test_modules_form_no_circle():
    """Imports that only type checkers see count, too."""
    remaining = {
        module: imports_of(module, with_types=True) & MODULES.keys() - {module}
        for module in MODULES
    }
    while True:
        free = {module for module, names in remaining.items() if not names & remaining.keys()}
        if not free:
            break
        remaining = {module: names for module, names in remaining.items() if module not in free}
    assert not {module: sorted(names & remaining.keys()) for module, names in remaining.items()}


def test_snakemake_is_never_imported():
    assert not [
        module
        for module, names in IMPORTS.items()
        if {name.split(".")[0] for name in names} & {"snakemake"}
    ]


IMPORTS_OF_PACKAGES = """
import importlib, json, sys
packages, heavy = json.loads(sys.argv[1])
imported = {}
for package, modules in packages.items():
    before = set(sys.modules)
    for module in modules:
        importlib.import_module(module)
    imported[package] = sorted(set(heavy) & (set(sys.modules) - before))
print(json.dumps(imported))
"""


def test_light_packages_are_imported_without_heavy_packages():
    """One process imports them one after the other, so the first that needs one is named."""
    packages = {package: [] for package in (*LIGHT, "exchange")}
    for module in MODULES:
        if package_of(module) in packages:
            packages[package_of(module)].append(module)
    command = [sys.executable, "-c", IMPORTS_OF_PACKAGES, json.dumps([packages, HEAVY])]
    imported = subprocess.run(command, capture_output=True, text=True)
    assert imported.returncode == 0, imported.stderr[-1500:]
    assert json.loads(imported.stdout) == {package: [] for package in packages}


DOCUMENTED = {"source_path", "cores", "basedir"}
MAX_UNDOCUMENTED = 5


def test_rules_use_few_undocumented_attributes_of_snakemake():
    """Each of them is listed with its reason in docs/explanation/architecture.md."""
    rules = ROOT / "workflow" / "rules"
    files = [ROOT / "workflow" / "Snakefile", *rules.glob("*.smk")]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    used = set(re.findall(r"\bworkflow\.([a-z_]+)\b(?!/)", text)) - DOCUMENTED - {"rst"}
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `workflow\.([a-z_]+)", page, re.M))
    assert used == listed
    assert len(used) <= MAX_UNDOCUMENTED


def test_each_file_of_a_study_is_named_once():
    """Rules and Python take the pattern of a file from study/paths.py."""
    files = [*(ROOT / "workflow" / "rules").glob("*.smk")]
    files += [MODULES[module] for module in MODULES if package_of(module) == "study"]
    literal = re.compile(r'"<study>/|\{(?:[a-z_]+\.)*paths\.study\}/')
    repeated = [file.name for file in files if literal.search(file.read_text(encoding="utf-8"))]
    assert not repeated
