"""What a finished study makes again after an edit of the program or of its settings: the right jobs
and no others.

The study runs once. An edit of the program is made in a copy of the project's tree, and Snakemake's
own dry-run on the finished study says which jobs it starts and which follow from those.
"""

import json
import os
import pkgutil
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from support.fake_endpoint import FakeEndpoint
from support.needle_model import NeedleModel, make_document
from support.workflow import ROOT, change, jobs, ran, write_study
from tripleaudit import jobs as jobs_
from tripleaudit.core import code
from tripleaudit.core.plugins import registries
from tripleaudit.extractors.spec import EXTRACTORS
from tripleaudit.tables import plots
from tripleaudit.tables.spec import TABLES as TABLE_SPECS

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

PARTS = ("Snakefile", "workflow", "profiles", "config", "envs", "resources/demo")
CHANGED = "params have changed since last execution:"


class Model(NeedleModel):
    """Finds needles, and in every other text one triple."""

    def __call__(self, body):
        shown = body["messages"][-1]["content"]
        if shown.startswith("Passage: "):
            return json.dumps({"triples": [["it", "is", shown.split()[1]]]})
        return super().__call__(body)


PROGRAM = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "triples": []}))
"""


SETTINGS = """
protocols: {{original: , sift-1: {{rule: frequency, max_count: 1}}}}
extractors:
  casrel: {{epochs: 1, model: {{prior: 0.01}}}}
  onerel: {{preset: webnlg, epochs: 1, evaluate_from: 1}}
noising:
zcc: {{binary: {{}}}}
generative:
  endpoints: {{fake: {{base_url: "{url}", model: fake, max_retries: 0}}}}
  datasets: {{few: {{corpus: tiny, limit: 4}}}}
  systems: {{open: {{endpoint: fake}}, semi: {{endpoint: fake, setting: semi-open}}}}
systems:
  stored: {{predictions: test.jsonl}}
  program: {{command: ["{python}", program.py]}}
grescores: {{embedder: , bootstrap: 9, datasets: {{few: {{level: sentence, corpus: tiny}}}}}}
needles:
  {{documents: ["{document}"], models: [fake], schema: demo, iterations: 0, piece_chars: 3000, reserve: 300}}
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory, tiny_encoder):
    """The folder of a study with every kind of job, run to its end; a large file of raw
    sentences among its inputs.
    """
    folder = tmp_path_factory.mktemp("study")
    document = folder / "report.txt"
    document.write_text(make_document(60).text, encoding="utf-8")
    (folder / "trace").mkdir()
    with FakeEndpoint(Model()) as fake:
        settings = SETTINGS.format(url=fake.url, python=sys.executable, document=document)
        write_study(folder, tiny_encoder, **yaml.safe_load(settings))
        (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
        with (folder / "train.jsonl").open("ab") as stream:
            stream.write(b" " * 30 * 2**20 + b"\n")  # a large file that takes no longer to read
        ran(folder, "--", "all", "generative", TRIPLEAUDIT_TRACE=str(folder / "trace"))
    return folder


def test_what_commands_used_when_they_ran_is_their_code(finished):
    """The modules that were imported and the data files that were opened, as Python itself saw
    it.
    """
    # registries import the modules of all specs that ship; those that a job does not use do not
    # affect its result
    modules = [module for registry in registries() for module in registry.shipped]
    homes = code.versions("__main__", "commands", *modules)
    seen = set()
    for path in (finished / "trace").glob("*.json"):
        used = json.loads(path.read_text())
        arguments = used["arguments"]
        command = jobs_.command_of(f"-m tripleaudit {' '.join(arguments[:2])}")
        seen.add(command)
        counted = code.versions(jobs_.command_module(command))
        if command in ("train", "predict"):
            name = next(
                part for part in " ".join(arguments).replace("/", " ").split() if part in EXTRACTORS
            )
            counted |= jobs_.extractor_code(command, name)
        if command == "tables":
            names = json.loads(arguments[2])
            counted |= jobs_.described_code("tables", TABLE_SPECS, *names)
        if command == "plots":
            counted |= code.versions(
                *(f"tables.plots.{info.name}" for info in pkgutil.iter_modules(plots.__path__))
            )
        for module in used["modules"]:
            path = code.module_file("__init__" if module == "tripleaudit" else module)
            file = path.relative_to(code.ROOT).as_posix()
            assert file in counted | homes or code.is_untracked(path), (command, module)
        for file in used["data"]:
            chosen = file.startswith(("prompts/open", "prompts/semi-open", "schemas/demo"))
            # official settings count as specs name them
            decides_nothing = file in ("templates/model-card.md", "presets.yaml")
            assert f"data/{file}" in counted or chosen or decides_nothing, (command, file)
    assert {
        "train",
        "predict",
        "tables",
        "score-run",
        "generate",
        "extract-needles",
        "write-report",
    } <= seen


@pytest.fixture
def tree(tmp_path):
    """A copy of the project that a test may edit."""
    for part in PARTS:
        source, target = ROOT / part, tmp_path / "tree" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True)  # with what was compiled and parsed
        else:
            shutil.copy(source, target)
    return tmp_path / "tree"


@pytest.fixture
def copy(finished, tmp_path):
    """A copy of the finished study whose settings and files a test may change."""
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder, copy_function=shutil.copy2)
    return folder


def dry_run(folder: Path, *arguments: str, tree: Path = ROOT):
    return ran(folder, "-n", *arguments, "--", "all", "generative", snakefile=tree / "Snakefile")


def started(result) -> set[str]:
    """The rules of which jobs run because of a changed parameter."""
    text = (result.stdout + result.stderr).rpartition("Reasons:")[2]
    lines = text.splitlines()
    found = [lines[place + 1] for place, line in enumerate(lines) if line.strip() == CHANGED]
    return {name.strip() for line in found for name in line.split(",")}


def edit(tree: Path, name: str, old: str = "", new: str = "") -> None:
    """Replace the first ``old`` of a file of the package, or add a statement."""
    path = tree / "workflow" / "lib" / "tripleaudit" / name
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{name} no longer has {old!r}; edit something else"
    path.write_text(
        text.replace(old, new, 1) if new else f"{text}\nCHANGED = 1\n", encoding="utf-8"
    )


NOTHING: set[str] = set()


def test_other_words_in_a_copy_of_the_project_make_nothing_again(finished, tree):
    edit(tree, "scoring/matching.py", '"""', '"""Other words. ')
    edit(tree, "training/trainer.py", "\nimport ", "\n# a comment\nimport ")
    edit(tree, "core/files.py", 'no such file")', 'no such file here")')
    edit(tree, "commands/train.py", 'help="', 'help="Really: ')
    assert jobs(dry_run(finished, "--quiet", "rules", tree=tree)) == {}


def test_an_edit_starts_the_jobs_that_depend_on_it_and_a_reason_names_it(finished, tree):
    """Which rules an edit concerns is shown for every kind of edit by the unit tests of jobs."""
    edit(tree, "extractors/casrel.py")
    result = dry_run(finished, tree=tree)
    assert started(result) == {"train"}
    found = jobs(result)
    assert (found["train"], found["predict"]) == (3, 3) and "prepare_corpus" not in found
    reasons = re.findall(r"before: (\S.*?) now: (\S.*)", result.stdout)
    assert reasons and all(
        "'extractors/casrel.py'" in old and "'extractors/casrel.py'" in new for old, new in reasons
    )


ENDPOINT = {"base_url": "http://127.0.0.1:9/v1", "prices": {"input": 1, "output": 2}}
CHANGES = {
    "checkpoints": ({"training": {"save_minutes": 1, "save_every": 7}}, NOTHING),
    "a tracker": ({"training": {"report_to": "trackio"}}, NOTHING),
    "time-outs": (
        {
            "generative": {"endpoints": {"fake": {"timeout": 7}}},
            "systems": {"program": {"timeout": 7}},
        },
        NOTHING,
    ),
    "prediction": ({"prediction": {"batch_size": 3}}, NOTHING),
    "prices, addresses": ({"generative": {"endpoints": {"fake": ENDPOINT}}}, NOTHING),
    "a table's caption": ({"tables": {"training-time": {"caption": "Other words."}}}, {"tables"}),
    "the description": ({"description": "Other words."}, {"write_report"}),
    "thresholds": ({"needles": {"thresholds": [0.5, 0.6, 0.7, 0.9]}}, {"rate_needles"}),
    "one learning rate": ({"extractors": {"onerel": {"head_learning_rate": 2e-3}}}, {"train"}),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_changed_setting_starts_the_jobs_that_depend_on_it(copy, kind):
    changes, expected = CHANGES[kind]
    change(copy, changes)
    result = dry_run(copy, "--quiet", "rules")
    assert started(result) == expected
    assert expected or jobs(result) == {}


def test_a_further_system_makes_nothing_of_the_others_again(copy):
    before = len(list((copy / "results/small/scores").rglob("*.csv")))
    change(
        copy, {"systems": {"further": {"command": [sys.executable, "program.py"], "restarts": 0}}}
    )
    found = jobs(dry_run(copy, "--quiet", "rules"))
    assert (
        found["predict_system"] == 2 and found["score"] == 4
    )  # original and sifted; nz, wz and behind the classifier
    everything = {"merge_scores", "system_facts", "tables", "plots", "write_report", "all"}
    scored = {"score", "score_triples"}
    assert set(found) == everything | {"predict_system", "frames"} | scored and before > 20
    (copy / "program.py").write_text("raise SystemExit('broken')\n", encoding="utf-8")
    found = jobs(dry_run(copy, "--quiet", "rules"))
    assert (
        found["predict_system"] == 4
    )  # the two systems of the program, and not the stored outputs


def test_a_touched_file_of_any_size_makes_nothing_again(copy):
    assert (copy / "train.jsonl").stat().st_size > 30e6
    for path in [
        *copy.glob("*.jsonl"),
        copy / "report.txt",
        *(copy / "results/small/corpora").rglob("*.jsonl"),
    ]:
        os.utime(path)
    assert jobs(dry_run(copy, "--quiet", "rules")) == {}
    with open(copy / "train.jsonl", "a") as stream:
        stream.write("\n")
    assert "prepare_corpus" in jobs(dry_run(copy, "--quiet", "rules"))
