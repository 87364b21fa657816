"""Every fault of every section in one message, one line each, before anything runs; the same
without Snakemake.
"""

import json
from pathlib import Path

import pytest
import yaml

from support.workflow import problems, refusal, said, snakemake
from tripleaudit.cli import main
from tripleaudit.core import fields
from tripleaudit.core.errors import UserError
from tripleaudit.study.study import Study
from tripleaudit.training.settings import TrainingSettings


@pytest.fixture
def faulty(root):
    """Return a study with faults in all sections."""
    file = root / "tests" / "data" / "plan" / "faulty.yaml"
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def test_the_command_says_all_faults_of_all_sections_in_one_message(
    faulty, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(faulty, sort_keys=False))
    assert main(["validate", "study.yaml"]) == 1
    error = capsys.readouterr().err
    assert said(error) == said(refusal(tmp_path)) == problems(faulty)
    assert len(said(error)) > 40 and "Traceback" not in error


@pytest.mark.slow
def test_the_workflow_says_the_same(faulty, tmp_path):
    pytest.importorskip("snakemake", reason="snakemake, the extra `workflow`, is not installed")
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(faulty, sort_keys=False))
    result = snakemake(tmp_path, "-n")
    assert result.returncode == 1
    assert said(result.stdout + result.stderr) == problems(faulty)


def test_raw_root_may_be_given_and_is_looked_into(tmp_path, capsys):
    study = tmp_path / "study.yaml"
    study.write_text(yaml.safe_dump({"study": "s", "corpora": {"webnlg": None}}))
    assert main(["validate", str(study)]) == 0
    assert main(["validate", str(study), "--raw-root", str(tmp_path)]) == 1
    assert f"no such file, expected below raw_root {tmp_path}" in capsys.readouterr().err


def test_files_that_hold_no_text_are_refused_each_in_a_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.jsonl").write_text("{}\n")
    (tmp_path / "nothing").mkdir()
    (tmp_path / "latin.txt").write_bytes("a\nb\nKöln\n".encode("latin-1"))
    (tmp_path / "empty.txt").write_text(" \n")
    corpora = {"c": {"train": "t.jsonl", "valid": "nothing", "test": "./t.jsonl"}}
    corpora["d"] = {"train": "t.jsonl", "test": "latin.txt"}
    given = {"study": "s", "corpora": {name: {"files": files} for name, files in corpora.items()}}
    found = problems({**given, "needles": {"documents": ["latin.txt", "empty.txt"]}})
    assert [line.partition("; ")[0] for line in found] == [
        "corpora/c/files/valid: nothing: the folder is empty, expected a data set or a file",
        "corpora/c/files/test: ./t.jsonl: the model would be tested on its training sentences",
        "corpora/d/files/test: latin.txt line 3 (byte 2): not UTF-8 text",
        "needles/documents: latin.txt line 3 (byte 2): not UTF-8 text",
        "needles/documents: empty.txt: the document is empty, expected plain text",
    ]


def test_a_validation_set_that_is_the_test_set_is_noted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("t.jsonl", "u.jsonl"):
        (tmp_path / name).write_text(
            '{"text": "Ada leads Delta", "triples": [["Ada", "leads", "Delta"]]}\n'
        )
    files = {"train": "t.jsonl", "valid": "u.jsonl", "test": "u.jsonl"}
    (tmp_path / "study.yaml").write_text(
        yaml.safe_dump({"study": "s", "corpora": {"c": {"files": files}}})
    )
    assert main(["validate", "study.yaml"]) == 0
    note = "note: corpora/c: u.jsonl is validation and test set; the best epoch is chosen on the test set"
    assert note in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("format", ["auto", "jsonl", "docbin", "triple-list", "conll04"])
def test_an_empty_file_is_said_in_the_plan_whatever_its_format(
    tmp_path, monkeypatch, capsys, format
):
    if format == "docbin":
        pytest.importorskip("spacy")
    monkeypatch.chdir(tmp_path)
    for name in ("train", "valid", "test"):
        (tmp_path / name).write_bytes(b"" if name == "test" else b"[1]\n")
    files = "{train: train, valid: valid, test: test}"
    (tmp_path / "study.yaml").write_text(
        f"study: s\ncorpora: {{c: {{format: {format}, files: {files}}}}}\n"
    )
    assert main(["validate", "study.yaml"]) == 1
    assert said(capsys.readouterr().err) == [
        "corpora/c/files/test: test: the corpus is empty, expected at least one sentence"
    ]


def test_a_key_is_checked_once_in_a_run(monkeypatch):
    """When the study is read, not for each extractor and corpus."""
    rule = next(
        one
        for one in TrainingSettings.model_fields["matching"].metadata
        if isinstance(one, fields.one_of)
    )
    checks, names = [], rule.known()
    monkeypatch.setattr(rule, "known", lambda: checks.append("") or names)
    shared = {
        "matching": "boundaries",
        "schedule": "steps",
        "learning_rate_points": [[1, 1], [2, 0.5]],
    }
    extractors = {
        "extractors": {"casrel": {"batch_size": 3}, "pfn": None},
        "noising": {"probability": 0.2},
    }
    study = Study(
        {
            "study": "s",
            "corpora": {"webnlg": None, "conll04": None},
            "training": shared,
            **extractors,
        }
    )
    given = [
        (run.extractor, json.loads(study.trainings.settings_json(run)))
        for run in study.runs.extractors
    ]
    assert len(checks) == 1 and len(given) == 8


def test_settings_that_an_extractor_of_ones_own_brings_are_checked_in_the_plan(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from tripleaudit.extractors.specs.casrel import CasRelSettings\n"
        "class Mine:\n    class settings(CasRelSettings):\n        training_defaults = {'epochs': 2, 'warmup': 2}\n"
    )
    own = {
        "study": "s",
        "own_extractors": {"mine": f"{tmp_path}/mine.py:Mine"},
        "extractors": {"mine": None},
    }
    assert problems(own) == [
        "own_extractors/mine: training_defaults/warmup: expected at most 1, got 2"
    ]


@pytest.mark.parametrize(
    ("section", "where"),
    [
        ({"own_extractors": {"mine": "mine.py:Mine"}, "extractors": {"mine": {"share": 0.3}}}, "extractors/mine"),
        ({"extractors": {"casrel": {"share": 0.3}}}, None),
        ({"training": {"max_length": 64}}, "training"),
        ({"systems": {"casrel": {"trained": {"max_length": 64}}}}, "systems/casrel/trained"),
        ({"zcc": {"binary": {"max_length": 64}}}, "zcc/binary"),
    ],
)  # fmt: skip
def test_a_field_of_an_extractor_among_the_settings_of_its_training_is_named_with_its_place(
    section, where, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "from tripleaudit.extractors.specs.casrel import CasRelSettings\n"
        "class Mine:\n    name = 'mine'\n    class settings(CasRelSettings):\n        share: float = 0.5\n"
    )
    sentences = "\n".join(problems({"study": "s", **section}))
    if where is None:
        assert (
            "extractors/casrel: unknown key 'share'" in sentences and "under model" not in sentences
        )
    else:
        field = "share" if "own_extractors" in section else "max_length"
        assert f"{where}: '{field}' is a field of the extractor" in sentences
        assert f"model: {{{field}: ...}}" in sentences


def bomb(levels: int = 9) -> str:
    lines = ["study: bomb", "a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for level in range(1, levels + 1):
        aliases = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} [{aliases}]")
    return "\n".join(lines) + "\n"


def test_the_workflow_refuses_aliases_that_stand_for_too_many_values(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(bomb())
    with pytest.raises(UserError, match="its aliases stand for more than"):
        Study.of_workflow(yaml.safe_load(path.read_text()), [path])


@pytest.mark.parametrize("section", ["corpora", "systems"])
def test_names_that_no_file_can_have_are_refused(tmp_path, capsys, section):
    study = tmp_path / "study.yaml"
    study.write_text(yaml.safe_dump({"study": "s", section: {"a" * 300: {}}}))
    assert main(["validate", str(study)]) == 1
    error = capsys.readouterr().err
    assert section in error and "at most 80 characters" in error


def test_the_shared_folder_of_answers_is_no_name_of_a_study(tmp_path, capsys):
    study = tmp_path / "study.yaml"
    study.write_text(yaml.safe_dump({"study": "cache", "corpora": {"webnlg": None}}))
    assert main(["validate", str(study)]) == 1
    assert "results/cache is the folder that studies share" in capsys.readouterr().err


def test_credentials_in_addresses_of_texts_and_models_are_refused_and_not_repeated(
    tmp_path, capsys
):
    study = tmp_path / "study.yaml"
    collection = {"files": ["s3://KEY:HIDDEN@bucket/a.txt"], "extractor": "casrel", "gate": None}
    sections = {
        "corpora": {"webnlg": None},
        "collections": {"texts": collection},
        "encoder": {"model": "https://host/m.zip?token=HIDDEN"},
    }
    study.write_text(yaml.safe_dump({"study": "s", **sections}))
    assert main(["validate", str(study)]) == 1
    error = capsys.readouterr().err
    assert "HIDDEN" not in error
    assert "collections/texts/files: an address must not hold credentials" in error
    assert "encoder/model: an address must not hold credentials" in error


@pytest.mark.parametrize(
    ("setting", "place"),
    [
        ({"headers": {"Authorization": "Bearer HIDDEN"}}, "headers/Authorization"),
        ({"headers": {"Ocp-Apim-Subscription-Key": "HIDDEN"}}, "headers/Ocp-Apim-Subscription-Key"),
        ({"headers": {"User-Agent": "Basic HIDDEN"}}, "headers/User-Agent"),
        ({"headers": {"X-Door": "HIDDEN"}}, "headers/X-Door"),
        ({"query": {"api-key": "HIDDEN"}}, "query/api-key"),
        ({"extra": {"api_key": "HIDDEN"}}, "extra/api_key"),
        ({"extra": {"API-Key": "HIDDEN"}}, "extra/API-Key"),
        ({"extra": {"tools": [{"server": {"token": "HIDDEN"}}]}}, "extra/tools/server/token"),
    ],
    ids=str,
)
def test_secrets_in_the_settings_of_an_endpoint_are_refused_and_not_repeated(
    tmp_path, capsys, setting, place
):
    """Settings of endpoints are parameters of rules, which Snakemake writes down."""
    study = tmp_path / "study.yaml"
    endpoint = {"base_url": "http://127.0.0.1:9/v1", "model": "m", **setting}
    generative = {"endpoints": {"e": endpoint}}
    config = {"study": "s", "corpora": {"webnlg": None}, "generative": generative}
    study.write_text(yaml.safe_dump(config))
    assert main(["validate", str(study)]) == 1
    error = capsys.readouterr().err
    assert place in error and "env:NAME" in error and "HIDDEN" not in error


def test_harmless_headers_queries_and_fields_of_an_endpoint_are_taken(tmp_path, capsys):
    study = tmp_path / "study.yaml"
    endpoint = {
        "base_url": "http://127.0.0.1:9/v1",
        "model": "m",
        "headers": {"X-Title": "audit", "api-key": "env:NAME"},
        "query": {"api-version": "2024-10-21"},
        "extra": {"max_completion_tokens": 10, "template": {"max_tokens": 5}},
    }
    config = {
        "study": "s",
        "corpora": {"webnlg": None},
        "generative": {"endpoints": {"e": endpoint}},
    }
    study.write_text(yaml.safe_dump(config))
    main(["validate", str(study)])
    assert "endpoints/e" not in capsys.readouterr().err


@pytest.mark.parametrize("place", ["corpora", "plugins", "encoder"])
def test_a_link_to_itself_is_refused_in_one_sentence(tmp_path, monkeypatch, capsys, place):
    monkeypatch.chdir(tmp_path)
    Path("loop.py").symlink_to("loop.py")
    section = {
        "corpora": {"c": {"files": {"train": "loop.py", "test": "loop.py"}, "format": "jsonl"}},
        "plugins": ["loop.py"],
        "encoder": {"model": "./loop.py"},
    }[place]
    config = {"study": "s", "corpora": {"webnlg": None}, place: section}
    Path("study.yaml").write_text(yaml.safe_dump(config))
    assert main(["validate", "study.yaml"]) == 1
    error = capsys.readouterr().err
    assert "loop.py" in error and "Traceback" not in error
