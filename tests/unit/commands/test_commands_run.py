"""``tripleaudit run`` in an empty folder: shipped studies and profiles by name, and what is
missing said at once.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tripleaudit.cli import main
from tripleaudit.core import extras
from tripleaudit.core.errors import UserError
from tripleaudit.core.shipped import PROJECT, studies, study_file
from tripleaudit.study import needs
from tripleaudit.study.study import Study


@pytest.fixture
def started(tmp_path, monkeypatch):
    """An empty folder, and the processes that would have been started in it."""
    found = []
    popen = subprocess.Popen

    def start(command, *args, **options):
        if "snakemake" in command:
            found.append((command, options.pop("env")))
            command = "true"
        return popen(command, *args, **options)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "Popen", start)
    return found


def bare(monkeypatch):
    """As if the workflow's own extra were installed alone."""
    there = {"snakemake", "datasets", "huggingface_hub", "pyarrow"}
    monkeypatch.setattr(extras, "missing", lambda extra: sorted({*BROUGHT[extra]} - there))


BROUGHT = {
    "train": ["gensim", "torch"],
    "llm": ["nltk", "openai"],
    "serve": ["accelerate", "gensim", "nltk", "openai", "torch"],
    "grescores": ["gensim", "nltk", "openai", "sentence_transformers", "torch"],
}


@pytest.mark.parametrize("name", studies())
def test_a_shipped_study_names_its_extras_before_anything_starts(
    started, monkeypatch, capsys, name
):
    bare(monkeypatch)
    try:
        asked = needs.extras(Study.read(study_file(name)))
    except UserError as error:  # texts that nobody may hand on
        assert main(["run", name]) == 1 and not started
        assert "raw_root" in str(error) and str(error) in capsys.readouterr().err
        return
    assert main(["run", name]) == bool(asked) and not (started and asked)
    message = capsys.readouterr().err
    named = message.rpartition("[")[2].rstrip("]'\n").split(",") if asked else []
    assert set(named) <= set(asked) and bool(named) == bool(asked)
    assert main(["run", name, "-n"]) == main(["run", name, "corpora"]) == 0


def test_the_demo_needs_what_its_language_model_and_its_scores_need(started, monkeypatch, refused):
    bare(monkeypatch)
    assert "[grescores,serve]'" in refused("run", "demo", "--cores", "2")
    assert main(["run", "demo", "--sdm", "conda"]) == 0
    monkeypatch.setattr(extras, "missing", lambda extra: [])
    assert main(["run", "demo"]) == 0
    assert str(PROJECT / "config" / "config.yaml") in started[-1][0]


def test_extras_are_complete_with_those_that_they_name(monkeypatch):
    reported = ["numpy>=2", "openai>=3; extra == 'llm'", "torch; extra == 'train'", "fastapi; extra == 'serve'",
            "tripleaudit[llm,train]; extra == 'serve'"]  # fmt: skip
    monkeypatch.setattr(extras.importlib.metadata, "requires", lambda name: reported)
    monkeypatch.setattr(extras.importlib.util, "find_spec", lambda name: None)
    assert sorted(extras.missing("serve")) == ["fastapi", "openai", "torch"]


@pytest.mark.parametrize(
    "profile", sorted(path.parent.name for path in PROJECT.glob("workflow/profiles/*/config.yaml"))
)
def test_a_profile_is_found_by_its_name_with_its_scripts(started, monkeypatch, capsys, profile):
    find = extras.importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: "_plugin_" in name or find(name))
    for form in (
        ["--workflow-profile", profile],
        [f"--workflow-profile=workflow/profiles/{profile}"],
    ):
        assert main(["run", "demo", *form, "-n"]) == 0, capsys.readouterr().err
        command, environment = started.pop()
        folder = command[command.index("--workflow-profile") + 1]
        assert os.path.isabs(folder)
        text = (PROJECT / "workflow" / "profiles" / profile / "config.yaml").read_text()
        if "submit.sh" in text:
            script = f"{environment['TRIPLEAUDIT_PROFILES']}/{profile}/submit.sh"
            assert f"${{{{TRIPLEAUDIT_PROFILES:-workflow/profiles}}}}/{profile}/submit.sh" in text
            assert os.access(script, os.X_OK) and os.access(f"{folder}/status.sh", os.X_OK)


def test_a_profile_of_ones_own_may_have_an_equals_sign_in_its_name(started):
    os.mkdir("own=1")
    assert main(["run", "demo", "--workflow-profile=own=1", "-n"]) == 0
    assert started[0][0][-3:] == ["--workflow-profile", "own=1", "-n"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--workflow-profile", "slurn"],
            "--workflow-profile slurn: no such profile, did you mean 'slurm'?",
        ),
        (["--workflow-profile", "htcondor"], "htcondor: this profile was removed; a profile of"),
        (["--workflow-profile", "slurm"], "the executor slurm is not installed"),
        (["--workflow-profile=mine"], "pip install snakemake-executor-plugin-lsf"),
        (["--executor=slurm"], "[cluster]'"),
        (["--workflow-profile", "kubernetes"], "the executor cluster-generic is not installed"),
    ],
)
def test_what_a_profile_lacks_is_one_sentence(started, monkeypatch, refused, options, said):
    os.mkdir("mine")
    Path("mine/config.yaml").write_text("executor: lsf\n")
    find = extras.importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if "_plugin_" in name else find(name)
    )
    assert said in refused("run", "demo", *options) and not started


def test_an_unknown_study_is_answered_by_the_names_of_those_that_ship_and_an_empty_one_named(
    started, capsys, refused
):
    open("empty.yaml", "w").close()
    assert refused("run", "empty.yaml", "-n").startswith("error: empty.yaml: is empty")
    said = refused("run", "webnlgg")
    assert "webnlgg: no such study" in said and "did you mean 'webnlg'" in said
    assert "known are conll04" in refused("run", "nothing.yaml")
    assert main(["validate", "webnlg"]) == 0
    assert capsys.readouterr().out.startswith("webnlg: this study can run")


@pytest.fixture
def poor(tmp_path, monkeypatch):
    """A folder that holds a study, its files, and the results of a system without scores."""
    monkeypatch.setattr(extras, "missing", lambda extra: [])
    folder = tmp_path / "n"
    folder.mkdir()
    (folder / "gold.jsonl").write_text(
        '{"id": "a", "text": "Ann wrote Emma", "triples": [["Ann", "wrote", "Emma"]]}\n'
    )
    rows = [
        {"id": str(n), "text": f"Bo wrote Eva {n}", "triples": [["Bo", "wrote", "Eva"]]}
        for n in range(20)
    ]
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "study.yaml").write_text(
        "study: s\ncorpora: {c: {files: {train: train.jsonl, test: gold.jsonl}}}\n"
    )
    (folder / "results" / "s").mkdir(parents=True)
    fact = {"system": "poor", "failed": "the budget of 1 is used up"}
    (folder / "results" / "s" / "systems.json").write_text(json.dumps([fact]))
    return folder


def test_a_study_of_which_a_system_has_no_scores_ends_with_3_and_says_why(
    started, poor, monkeypatch, capsys
):
    monkeypatch.chdir(poor)
    assert main(["run", "study.yaml"]) == 3
    assert capsys.readouterr().err == "error: poor has no scores: the budget of 1 is used up\n"


def test_a_finished_study_shows_its_results_although_no_job_had_to_run(
    started, poor, monkeypatch, capsys
):
    monkeypatch.chdir(poor)
    results = Path("results") / "s"
    (results / "systems.json").write_text("[]")
    (results / "report.html").touch()
    assert main(["run", "study.yaml"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "Study s: no job had to run",
        f"Report: {results / 'report.html'}",
    ]
    assert main(["run", "study.yaml", "--unlock"]) == main(["run", "study.yaml", "-n"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("form", ["-d{}", "--directory={}", "-d {}", "--directory {}", "-pd{}"])
def test_the_results_are_read_in_the_folder_of_the_run(started, poor, capsys, form):
    options = form.format(poor).split()
    assert main(["run", f"{poor}/study.yaml", *options]) == 3
    assert capsys.readouterr().err == "error: poor has no scores: the budget of 1 is used up\n"


@pytest.mark.parametrize(
    "options",
    ["-n", "-np", "-kn", "--dry-run", "--dryrun", "-nd .", "-j2 -pn", "type_f1 -n", "-q rules -n"],
)
def test_a_dry_run_reports_no_system(started, poor, monkeypatch, options):
    monkeypatch.chdir(poor)
    assert main(["run", "study.yaml", *options.split()]) == 0


def test_all_short_flags_of_snakemake_may_be_joined_with_a_dry_run(started, poor, monkeypatch):
    snakemake_cli = pytest.importorskip("snakemake.cli")
    monkeypatch.chdir(poor)
    actions = snakemake_cli.get_argument_parser()._actions
    names = [name for action in actions if action.nargs == 0 for name in action.option_strings]
    letters = sorted(name[1:] for name in names if len(name) == 2 and name not in ("-n", "-h"))
    assert len(letters) > 8
    for letter in letters:
        assert main(["run", "study.yaml", f"-{letter}n"]) == 0, letter


def test_a_profile_may_set_the_folder_and_a_dry_run(started, poor, monkeypatch):
    os.mkdir("mine")
    Path("mine/config.yaml").write_text(f"directory: {poor}\n")
    assert main(["run", f"{poor}/study.yaml", "--workflow-profile", "mine"]) == 3
    Path("mine/config.yaml").write_text("dry-run: true\n")
    monkeypatch.chdir(poor)
    profile = str(poor.parent / "mine")
    assert main(["run", "study.yaml", "--workflow-profile", profile]) == 0


def test_an_option_without_its_value_is_one_sentence(started, refused):
    assert "expected one argument" in refused("run", "demo", "-n", "--cores")
    assert not started


@pytest.fixture
def read_only(tmp_path):
    """A folder that cannot be written; skips where root may not mount one."""
    folder = tmp_path / "read-only"
    folder.mkdir()
    if os.geteuid() != 0:
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)
        return
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", folder])
    if mounted.returncode:
        pytest.skip("root writes everywhere, and may not mount a read-only folder here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize(
    "option", [None, ["--directory", "{}"], ["--directory={}"], ["-d", "{}"]], ids=str
)
def test_a_read_only_folder_is_one_sentence_before_anything_starts(
    started, monkeypatch, capsys, read_only, option
):
    monkeypatch.setattr(extras, "missing", lambda extra: [])
    if option is None:
        monkeypatch.chdir(read_only)
    options = [text.format(read_only) for text in option or []]
    assert main(["run", "demo", "--cores", "1", *options]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
    assert "expected a writable folder" in error or "a writable folder for results" in error
    assert not started


def test_a_study_may_run_in_another_folder_than_a_read_only_one(
    started, monkeypatch, read_only, tmp_path
):
    monkeypatch.setattr(extras, "missing", lambda extra: [])
    monkeypatch.chdir(read_only)
    assert main(["run", "demo", "--directory", str(tmp_path)]) == 0
    assert len(started) == 1


@pytest.mark.parametrize("command", ["run", "validate"])
@pytest.mark.parametrize("form", ["[{}]", "{{{}}}"])
def test_aliases_that_stand_for_too_many_values_are_refused_before_snakemake_reads_them(
    started, capsys, command, form
):
    """Snakemake copies every mapping that an alias stands for before it reads the workflow."""
    lines = ["study: bomb", "a0: &a0 {key: value}"]
    for level in range(1, 12):
        items = [f"k{number}: *a{level - 1}" for number in range(9)]
        lines.append(f"a{level}: &a{level} {form.format(', '.join(items))}")
    Path("bomb.yaml").write_text("\n".join(lines), encoding="utf-8")
    assert main([command, "bomb.yaml"]) == 1
    assert "its aliases stand for more than" in capsys.readouterr().err
    assert not started


SLOW_TO_STOP = """
import pathlib, signal, sys, time

def stop(number, frame):
    time.sleep(1)
    pathlib.Path("ended").touch()
    sys.exit(1)

for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, stop)
pathlib.Path("started").touch()
time.sleep(60)
"""


@pytest.mark.parametrize("stop", ["Ctrl-C", "SIGTERM"])
def test_a_stopped_run_waits_until_snakemake_has_ended(tmp_path, stop):
    """A Snakemake that is killed leaves its lock, one that outlives the command its jobs."""
    package = tmp_path / "packages" / "snakemake"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(SLOW_TO_STOP)
    (tmp_path / "study.yaml").write_text("study: small\n")
    command = [sys.executable, "-P", "-m", "tripleaudit", "run", "study.yaml"]
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not (tmp_path / "started").exists():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.02)
        if stop == "Ctrl-C":
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.terminate()
        assert process.wait(30) == 1
        assert (tmp_path / "ended").exists()
        assert process.stderr.read() == ""
