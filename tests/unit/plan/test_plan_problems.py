"""Every fault of every section in one message, one line each, before anything runs; the same without Snakemake."""

import json
import os

import pytest
import yaml

from support.workflow import ROOT, problems, said, snakemake
from tripleaudit import fields, jobs
from tripleaudit.cli import main
from tripleaudit.extractors.registry import resolve
from tripleaudit.plan.study import Study
from tripleaudit.training.run import split_settings
from tripleaudit.training.settings import TrainingSettings

STUDY = """
study: s
raw_root: raw
gpu: maybe
seeds: [1, 1]
encoder: {model: minilm, layers: 99}
corpora:
  webnlgg:
  webnlg: {limit: {train: 999999}}
  mine: {files: {train: there.jsonl, test: nowhere.jsonl}, format: conll}
protocols:
  sift-1: {rule: frequency}
  rearranged: {seed: 1.5}
  rearanged: {}
settings: [nz, wz]
extractors:
  casrel: {model: {foo: 1, prior: 2, max_length: 0}}
  grte: {dropuot: 0.1}
  onerel: {preset: webnlg, epochs: 5}
  prgc: {preset: nowhere, head_learning_rate: .nan}
  tplinkr:
training: {epochs: 0, model: {layout: squares}}
zcc: {binary: {model: {head: other}}}
noising: {probability: 2}
tables: {triple-types: {digits: 9}, gre-bag: , gre-document: , type-f2: }
generative:
  endpoints:
    remote: {base_url: "ftp://host/v1", model: m}
    local: {serve: {source: smolm2}}
  datasets: {d: {corpus: webnlgx}}
  systems: {a: {endpoint: remotee}, b: {endpoint: local, temperature: .inf}}
grescores:
  embedder: {model: minilmm}
  judge: {endpoint: local, most_unreadable: 3}
  datasets:
    g: {level: bag, gold: {triples: no.json}, systems: {x: {triples: there.jsonl, judge: true, seed: -1}}}
needles:
  documents: [no-folder]
  models: [local]
  words: [50, 20]
  triples: {corpus: webnlg, target: 0.9}
collections:
  news: {files: none/*.txt, extractor: casrel, gate: zcc-mcml, corpus: webnlg, block: 0}
unknown: 1
"""

EXPECTED = [
    "(top level): unknown key 'unknown'",
    "gpu: expected one of auto, 0, 1, got 'maybe'",
    "seeds: expected each once, got 1 twice",
    "encoder/layers: 99, but the encoder minilm has 6; expected 1 to 6",
    "corpora/webnlgg: corpus 'webnlgg' is not registered",
    "corpora/webnlg/limit/train: 999999 sentences, but the split has 5019; expected at most that",
    "corpora/webnlg: ",  # below raw_root
    "corpora/mine/files/test: nowhere.jsonl: no such file",
    "corpora/mine/format: unknown format 'conll', did you mean 'conll04'?",
    "protocols/sift-1: the rule 'frequency' needs the key 'max_count'",
    "protocols/rearranged/seed: expected integer, got 1.5",
    "protocols: unknown key 'rearanged', did you mean 'rearranged'?",
    "extractors/casrel/model: unknown key 'foo'",
    "extractors/casrel/model/prior: expected a probability inside 0 to 1, got 2",
    "extractors/casrel/model/max_length: expected at least 8, got 0",
    "extractors/grte: unknown key 'dropuot'",
    "extractors/onerel/evaluate_from: the first evaluation is after epoch 21, but the training has 5",
    "extractors/prgc/preset: unknown preset 'nowhere'",
    "extractors/prgc/head_learning_rate: expected a finite number, got nan",
    "extractors/tplinkr: unknown extractor 'tplinkr', did you mean 'tplinker'?",
    "training/epochs: expected at least 1, got 0",
    "training/model/layout: expected one of subword, marker, got 'squares'",
    "training/model/layout: expected marker, without which onerel finds no entity of one token, got 'squares'",
    "zcc/binary/model/head: expected one of binary, mcml, got 'other'",
    "noising/probability: expected at most 1, got 2",
    "tables/triple-types/digits: expected at most 6, got 9",
    "tables: unknown table 'type-f2', did you mean 'type-f1'?",
    "tables: this study cannot fill gre-document; it can fill ",
    "generative/endpoints/remote: 'base_url' must be",
    "generative/endpoints/local/serve/source: smolm2: no such file, did you mean 'smollm2'?",
    "generative/datasets/d/corpus: unknown corpus 'webnlgx', did you mean 'webnlg'?",
    "generative/systems/a/endpoint: unknown endpoint 'remotee', did you mean 'remote'?",
    "generative/systems/b/temperature: expected a finite number, got inf",
    "grescores/embedder/model: minilmm: no such folder; expected the folder of a model",
    "grescores/judge/most_unreadable: expected at most 1, got 3",
    "grescores/datasets/g/gold/triples: no.json: no such file",
    "grescores/datasets/g/systems/x/seed: expected at least 0, got -1",
    "needles/documents: no-folder: no such file or folder, neither here nor under raw_root (raw)",
    "needles/words: expected the least number first, got [50, 20]",
    "needles/triples: the shares must obey minimum <= target <= maximum, got 0.1, 0.9 and 0.3",
    "collections/news/files: none/*.txt: no file fits this pattern",
    "collections/news/gate: the study has no training webnlg/original-wz/zcc-mcml/none/seed1",
    "collections/news/block: expected at least 1, got 0",
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(STUDY)
    (tmp_path / "there.jsonl").write_text("{}\n")
    (tmp_path / "raw").mkdir()
    return tmp_path


def check(lines: list[str]) -> None:
    for expected in EXPECTED:
        assert any(line.startswith(expected) for line in lines), (expected, lines)
    unexpected = [line for line in lines if not any(line.startswith(expected) for expected in EXPECTED)]
    assert not unexpected
    assert len(lines) >= len(EXPECTED) - 1 >= 20


def test_one_message_has_all_faults_of_all_sections(folder, capsys):
    assert main(["validate", "study.yaml"]) == 1
    error = capsys.readouterr().err
    check(said(error))
    assert "Traceback" not in error


@pytest.mark.slow
def test_the_workflow_says_the_same(folder):
    pytest.importorskip("snakemake", reason="snakemake, the extra `workflow`, is not installed")
    result = snakemake(folder, "-n")
    assert result.returncode == 1
    check(said(result.stdout + result.stderr))


def test_an_entry_that_does_not_fit_is_not_missed_by_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    endpoints = {"e": {"base_url": "http://127.0.0.1:9/v1", "model": "m"}}
    generative = {"endpoints": endpoints, "systems": {"a": {}}, "datasets": {"d": {"split": "test"}}}
    grescores = {"datasets": {"g": {"level": "bag", "generative": "d"}}}
    assert problems({"study": "s", "generative": generative, "grescores": grescores}) == [
        "generative/datasets/d: the key 'corpus' is missing",
        "generative/systems/a: the key 'endpoint' is missing",
    ]


def test_a_study_that_can_run_is_summed_up(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main(["validate", "config/config.yaml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "demo: this study can run; results go to results/demo"
    assert "4 trainings, 28 scores" in lines
    assert any(" tables: type-f1, " in line and "minea" in line for line in lines)
    assert main(["validate", "config/nyt29star.yaml"]) == 0
    assert "cannot be fetched; get it from https://" in capsys.readouterr().out


def test_raw_root_may_be_given_and_is_looked_into(tmp_path, capsys):
    study = tmp_path / "study.yaml"
    study.write_text(yaml.safe_dump({"study": "s", "corpora": {"webnlg": None}}))
    assert main(["validate", str(study)]) == 0
    assert main(["validate", str(study), "--raw-root", str(tmp_path)]) == 1
    assert f"no such file, expected below raw_root {tmp_path}" in capsys.readouterr().err


def test_a_missing_key_hides_no_fault_of_its_section_or_of_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    collections = {"n": {"files": "t.jsonl", "extractor": "x", "batch_size": float("inf"), "block": 2.5}}
    collections["m"] = {"files": [], "gate": None}
    assert problems({"study": "s", "threads": 0, "collections": collections}) == [
        "threads: expected at least 1, got 0",
        "collections/n: the key 'gate' is missing",
        "collections/n/batch_size: expected integer, got inf",
        "collections/n/block: expected integer, got 2.5",
        "collections/m/files: expected at least 1 of them, got []",
        "collections/m: the key 'extractor' is missing",
    ]


ABSURD = """
study: s
1: 2
threads: 100000000000
seeds: [4294967296]
corpora:
  c: {files: {train: t.jsonl, valid: nothing, test: ./t.jsonl}, limit: {train: 3}}
  d: {files: {train: t.jsonl, test: latin.txt}}
protocols:
  sift-3: {rule: frequency, max_count: -1}
extractors: {casrel: {runtime: never}, tdeer: {runtime: 1.5 days}}
training: {encoder_learning_rate: 1.0e+300, warmup: .nan, model: {foo: 1, prior: 2}}
encoder: {layers: 99}
generative:
  endpoints:
    a: {base_url: "http://127.0.0.1:9/v1", model: m, temperature: 55}
    far: {base_url: "http://host:99999/v1", model: m}
    open: {base_url: "http://[::1", model: m}
needles: {documents: [latin.txt, empty.txt], models: [a]}
"""


def test_absurd_values_and_files_are_refused_each_in_a_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(ABSURD)
    (tmp_path / "t.jsonl").write_text("{}\n")
    (tmp_path / "nothing").mkdir()
    (tmp_path / "latin.txt").write_bytes("a\nb\nKöln\n".encode("latin-1"))
    (tmp_path / "empty.txt").write_text(" \n")
    assert main(["validate", "study.yaml"]) == 1
    address = "'base_url' must be an http or https address such as https://host/v1"
    assert [line.partition("; ")[0] for line in said(capsys.readouterr().err)] == [
        "(top level): YAML reads the key 1 as no text",
        "seeds/0: expected at most 4294967295, got 4294967296",
        "threads: expected at most 1024, got 100000000000",
        "protocols/sift-3/max_count: expected at least 1, got -1",
        "extractors/casrel/runtime: expected minutes, or a time such as '4h', got 'never'",
        "training/encoder_learning_rate: expected at most 1, got 1e+300",
        "training/warmup: expected a finite number, got nan",
        "generative/endpoints/a/temperature: expected at most 2, got 55",
        "encoder/layers: 99, but the encoder minilm has 6",
        "corpora/c/files/valid: nothing: the folder is empty, expected a data set or a file",
        "corpora/c/files/test: ./t.jsonl: the model would be tested on its training sentences",
        "corpora/c/limit/train: 3 sentences, but the split has 1",
        "corpora/d/files/test: latin.txt line 3 (byte 2): not UTF-8 text",
        "training/model/prior: expected a probability inside 0 to 1, got 2",
        "training/model: unknown key 'foo'",
        f"generative/endpoints/far: {address}",
        f"generative/endpoints/open: {address}",
        "needles/documents: latin.txt line 3 (byte 2): not UTF-8 text",
        "needles/documents: empty.txt: the document is empty, expected plain text",
    ]


def test_a_validation_set_that_is_the_test_set_is_noted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("t.jsonl", "u.jsonl"):
        (tmp_path / name).write_text("{}\n")
    files = {"train": "t.jsonl", "valid": "u.jsonl", "test": "u.jsonl"}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump({"study": "s", "corpora": {"c": {"files": files}}}))
    assert main(["validate", "study.yaml"]) == 0
    note = "note: corpora/c: u.jsonl is validation and test set; the best epoch is chosen on the test set"
    assert note in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("format", ["auto", "jsonl", "docbin", "triple-list", "conll04"])
def test_an_empty_file_is_said_in_the_plan_whatever_its_format(tmp_path, monkeypatch, capsys, format):
    monkeypatch.chdir(tmp_path)
    for name in ("train", "valid", "test"):
        (tmp_path / name).write_bytes(b"" if name == "test" else b"[1]\n")
    files = "{train: train, valid: valid, test: test}"
    (tmp_path / "study.yaml").write_text(f"study: s\ncorpora: {{c: {{format: {format}, files: {files}}}}}\n")
    assert main(["validate", "study.yaml"]) == 1
    assert said(capsys.readouterr().err) == [
        "corpora/c/files/test: test: the corpus is empty, expected at least one sentence"
    ]


def test_what_is_set_and_read_by_nothing_is_said_in_the_plan():
    config = yaml.safe_load("""
        study: s
        corpora: {webnlg: }
        settings: [nz, wz]
        training: {restart_epochs: 3, clip_norm: 2}  # pfn clips
        extractors:
          casrel: {learning_rate_points: [[0, 1]]}
          pfn: {learning_rate_points: [[0, 1]], head_schedule: steps}
          onerel: {clip_norm: 1}
        zcc: {binary: {learning_rate_points: [[0, 1]], schedule: linear}}
        generative: {datasets: {d: {corpus: webnlg}}}
        grescores: {embedder: , datasets: {g: {level: sentence, generative: d, extractors_judged: true}}}
    """)
    assert problems(config) == [
        "extractors/casrel/learning_rate_points: has no meaning without schedule: steps",
        "extractors/onerel/clip_norm: has no meaning without clip: global or clip: parameter",
        "zcc/binary/learning_rate_points: has no meaning without schedule: steps",
        "training/restart_epochs: has no meaning without schedule: cosine_restarts",
        "grescores/datasets/g/extractors_judged: there is no grescores/judge",
    ]
    config["training"]["schedule"] = "cosine_restarts"
    assert not any(line.startswith("training/") for line in problems(config))


def test_a_key_is_checked_once_in_a_run(monkeypatch):
    """When the study is read: not for each extractor and corpus, and not in the job again."""
    rule = next(one for one in TrainingSettings.model_fields["matching"].metadata if isinstance(one, fields.one_of))
    checks, names = [], rule.known()
    monkeypatch.setattr(rule, "known", lambda: checks.append("") or names)
    shared = {"matching": "boundaries", "schedule": "steps", "learning_rate_points": [[1, 1], [2, 0.5]]}
    extractors = {"extractors": {"casrel": {"batch_size": 3}, "pfn": None}, "noising": {"probability": 0.2}}
    study = Study({"study": "s", "corpora": {"webnlg": None, "conll04": None}, "training": shared, **extractors})
    given = [
        (run.extractor, json.loads(study.trainings.training_json(run.corpus, run.extractor, run.noise)))
        for run in study.runs
    ]
    assert len(checks) == 1 and len(given) == 8
    at_hand = [split_settings(values, *resolve(name)) for name, values in given]
    assert len(checks) == 9  # a command at hand checks what it is given
    monkeypatch.setattr(os, "environ", {**os.environ})
    jobs.export_environment(None, gpu=0)  # as the workflow does for its jobs
    assert [split_settings(values, *resolve(name)) for name, values in given] == at_hand
    assert len(checks) == 9


def test_settings_that_an_extractor_of_ones_own_brings_are_checked_in_the_plan(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from tripleaudit.extractors.declared.casrel_settings import CasRelSettings\n"
        "class Mine:\n    class settings(CasRelSettings):\n        training_defaults = {'epochs': 2, 'warmup': 2}\n"
    )
    own = {"study": "s", "own_extractors": {"mine": f"{tmp_path}/mine.py:Mine"}, "extractors": {"mine": None}}
    assert problems(own) == ["own_extractors/mine: training_defaults/warmup: expected at most 1, got 2"]
