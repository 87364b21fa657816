"""What an installation brings: environments, extras, pins and versions agree, and a missing
extra is named.
"""

import json
import re
import tomllib
from types import SimpleNamespace

import pytest
import yaml

from support.workflow import ROOT
from tripleaudit import __version__
from tripleaudit.core import extras

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def requirements(*names: str) -> set[str]:
    """Requirements of the core and of extras, those of the extras that they name included."""
    found = set(PROJECT["dependencies"])
    for name in names:
        for requirement in EXTRAS[name]:
            inner = re.fullmatch(r"tripleaudit\[(.*)\]", requirement)
            found |= requirements(*inner[1].split(",")) if inner else {requirement}
    return found


@pytest.mark.parametrize(
    ("environment", "names"),
    [("light", ["llm", "hub", "serve"]), ("torch", ["llm", "hub", "train", "grescores", "serve"])],
)
def test_environments_of_rules_are_those_of_the_metadata(environment, names):
    text = yaml.safe_load((ROOT / "envs" / f"{environment}.yaml").read_text(encoding="utf-8"))
    (pip,) = (entry["pip"] for entry in text["dependencies"] if isinstance(entry, dict))
    assert sorted(pip) == sorted(requirements(*names))
    assert f"python {PROJECT['requires-python']}" in text["dependencies"]


def test_versions_are_ranges_in_the_metadata_and_exact_in_the_constraints():
    assert PROJECT["requires-python"] == ">=3.11"
    assert not [requirement for requirement in requirements(*EXTRAS) if "==" in requirement]
    pins = (
        (ROOT / "envs" / "constraints.txt")
        .read_text(encoding="utf-8")
        .lower()
        .replace("_", "-")
        .splitlines()
    )
    pinned = {pin.partition("==")[0] for pin in pins if "==" in pin}
    named = {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in requirements(*EXTRAS)}
    assert named - pinned == {"torch"}, "the Makefile names torch, which is installed first"
    assert re.search(
        r"^TORCH := \d+\.\d+\.\d+$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )


def test_all_is_everything_but_what_developers_need_and_what_does_not_go_with_it():
    assert requirements("all") == requirements(
        *(set(EXTRAS) - {"all", "dev", "docs", "inspect", "wandb"})
    )


def test_changelog_and_citation_name_the_last_release():
    sections = re.findall(
        r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    is_development = ".dev" in __version__
    assert (sections[0] == "Unreleased") >= is_development
    releases = [section for section in sections if section != "Unreleased"]
    if is_development:
        numbers = [tuple(map(int, name.split(".")[:3])) for name in (releases[0], __version__)]
        assert numbers[0] < numbers[1]
    else:
        assert releases[0] == __version__
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == releases[0]


def test_the_catalog_is_promised_what_is_there():
    """The keys are those that the Snakemake workflow catalog reads; an image that must be built
    is not promised.
    """
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text(encoding="utf-8"))[
        "usage"
    ]
    assert set(usage) == {"mandatory-flags", "software-stack-deployment", "report"}
    deployment = usage["software-stack-deployment"]
    snakefile = (ROOT / "workflow" / "Snakefile").read_text(encoding="utf-8")
    assert deployment["apptainer"] == ("\ncontainer: " in snakefile)
    assert deployment["report"] == usage["report"] == ("\nreport: " in snakefile)
    assert deployment["conda"] and (ROOT / "envs" / "light.yaml").is_file()


@pytest.mark.parametrize(
    ("module", "command", "extra"),
    [
        ("torch", "train", "train"),
        ("openai", "generate", "llm"),
        ("torch.nn", "gre-score", "grescores"),
        ("sentence_transformers", "gre-score", "grescores"),
        ("xllamacpp", "generate", "serve"),
        ("datasets", "prepare", "hub"),
        ("snakemake", "run", "workflow"),
    ],
)
def test_a_missing_module_is_answered_by_the_extra_that_brings_it(
    monkeypatch, module, command, extra
):
    reported = [f"{one}; extra == '{name}'" for name in extras.EXTRAS for one in EXTRAS[name]]
    monkeypatch.setattr(extras.importlib.metadata, "requires", lambda name: reported)
    said = extras.advice(ModuleNotFoundError(name=module), command)
    assert said is not None and said.endswith(f"[{extra}]'") and "pip install '" in said
    assert extras.advice(ModuleNotFoundError(name="elsewhere"), command) is None


def test_a_command_without_its_extra_refuses_in_one_sentence(monkeypatch, refused, tmp_path):
    monkeypatch.setattr(extras, "extras_by_module", lambda: {"snakemake": ["workflow"]})
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    (tmp_path / "study.yaml").write_text("study: s\n")
    assert "[workflow]'" in refused("run", tmp_path / "study.yaml")


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'tripleaudit[llm,train]'"),
        ({"url": "file:///nowhere/at/all"}, "pip install 'tripleaudit[llm,train]'"),
        ({"url": "{checkout}", "dir_info": {}}, "pip install '{folder}[llm,train]'"),
        (
            {"url": "https://host/t.git", "vcs_info": {"vcs": "git", "commit_id": "0"}},
            "pip install 'tripleaudit[llm,train] @ git+https://host/t.git'",
        ),
    ],
)
def test_extras_are_installed_from_where_the_package_came_from(
    monkeypatch, tmp_path, origin, command
):
    checkout = tmp_path / "a clone"
    checkout.mkdir()
    (checkout / "pyproject.toml").touch()
    record = json.dumps(origin).replace("{checkout}", checkout.as_uri()) if origin else None
    distribution = SimpleNamespace(read_text=lambda name: record)
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: distribution)
    monkeypatch.setattr(extras, "CHECKOUT", tmp_path)
    assert extras.install_command(["train", "llm"]) == command.format(folder=checkout)


def test_a_checkout_names_itself(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert extras.install_command(["train"]) == f"pip install '{ROOT}[train]'"
    monkeypatch.chdir(ROOT)
    assert extras.install_command(["train"]) == "pip install '.[train]'"


def test_every_step_of_the_image_finds_what_it_names():
    """The image cannot be built where there is no container runtime; what its steps name can be
    looked up.
    """
    steps = dict(
        re.findall(
            r"^([A-Z]+) (.*)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE
        )
    )
    run = re.findall(r"^RUN (.*)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    make = (ROOT / "Makefile").read_text(encoding="utf-8")
    python = re.search(r"^PYTHON \?= (.*)$", make, re.MULTILINE)[1]
    torch = re.search(r"^TORCH := (.*)$", make, re.MULTILINE)[1]
    assert (steps["FROM"], steps["ARG"]) == (
        f"{python.replace('python', 'python:')}-slim",
        f"TORCH={torch}",
    )
    # what is copied, what is installed of it, and under which name it is called
    assert steps["COPY"] == ". ."
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"][
        "build"
    ]["targets"]
    pins = re.search(r"install --no-cache-dir -c (\S+) '\.\[(\w+)\]'", run[-1])
    wanted = [
        *wheel["wheel"]["packages"],
        *wheel["wheel"]["force-include"],
        "pyproject.toml",
        PROJECT["readme"],
    ]
    for path in [*wanted, pins[1], *PROJECT["license-files"]]:
        assert (ROOT / path).exists(), path
        assert not [one for one in ignored if f"{path}/".startswith(f"{one}/")], path
    assert pins[2] in EXTRAS and '"torch==$TORCH"' in run[-1]
    assert yaml.safe_load(steps["ENTRYPOINT"]) == list(PROJECT["scripts"])
    assert f"docker build --tag {PROJECT['name']} .\n" in make
