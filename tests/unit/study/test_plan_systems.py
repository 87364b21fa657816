import pytest

from support.workflow import problems
from tripleaudit.core.files import write_json
from tripleaudit.corpora.spec import FORMATS
from tripleaudit.study.study import Study
from tripleaudit.study.systems import next_attempt

GIVEN = {"study": "s", "corpora": {"webnlg": None}, "settings": ["nz", "wz"]}


def test_stored_outputs_that_are_not_there_yet_may_have_any_format(tmp_path):
    (tmp_path / "texts.jsonl").write_text('{"text": "a b", "triples": []}\n', encoding="utf-8")
    systems = Study(
        {**GIVEN, "systems": {"texts": {"predictions": str(tmp_path / "texts.jsonl")}}}
    ).systems
    assert systems.formats("texts") == ["jsonl"]
    (tmp_path / "texts.jsonl").unlink()
    assert systems.formats("texts") == list(FORMATS)


def test_the_facts_of_the_training_of_stored_outputs_are_looked_into(tmp_path):
    made, history, out = (
        tmp_path / name for name in ("provenance.json", "history.jsonl", "out.jsonl")
    )
    out.write_text("{}", encoding="utf-8")
    for trained, rows, expected in (
        (
            {},
            '{"f1": 0.5}\n',
            "history.jsonl: not the history of a training; expected rows with 'step' and 'f1'",
        ),
        ({}, "5\n", "history.jsonl: not the history of a training"),
        ({"settings": 5}, "", "provenance.json: not the provenance of a training"),
        (None, "", "provenance.json: not the provenance of a training"),
        ({}, "", "systems/stored/training: unknown corpus 'nyt'"),
    ):
        write_json(
            made,
            {"training": trained, "device": "cpu", "finished": "then"}
            if trained is not None
            else [],
        )
        history.write_text(rows)
        stored = {"predictions": str(out), "training": {"webnlg": str(made), "nyt": "there.json"}}
        assert expected in "\n".join(problems({**GIVEN, "systems": {"stored": stored}}))


def test_a_system_that_failed_is_queried_again_and_one_that_answered_never(tmp_path):
    report = tmp_path / "report.json"
    tries = [next_attempt(report)]
    for failed in ("it crashed", "it crashed", None, None):
        write_json(report, {"failed": failed, "attempt": tries[-1]})
        tries.append(next_attempt(report))
    assert tries == [0, 1, 2, 2, 2]


SOURCE = """
import json

class Plain:
    def extract(self, texts): ...

class Options:
    def __init__(self, path, *, lower=False, relations=()): ...
    def extract(self, texts): ...

class Open(Plain):
    pass

class Anything:
    def __init__(self, **options): ...
    def extract(self, texts): ...

class Silent:
    pass

made = type("made", (Plain,), {})
"""
PYTHON_SYSTEMS = [
    ({"python": "own.py:Plain"}, ""),
    ({"python": "own.py:Plain", "options": {"lower": True}}, "options/lower: Plain has no argument"),
    ({"python": "own.py:Plain", "relations": True}, "relations: Plain has no argument 'relations'"),
    ({"python": "own.py:Plane"}, "python: own.py: has no class 'Plane', did you mean 'Plain'?"),
    ({"python": "own.py:Options"}, "python: Options needs the argument 'path'"),
    ({"python": "own.py:Options", "options": {"path": "a"}, "relations": True}, ""),
    ({"python": "own.py:Options", "options": {"path": "a", "lowr": 1}}, "options/lowr: .* 'lower'?"),
    ({"python": "own.py:Options", "options": {"path": "{train}"}}, ""),
    ({"python": "own.py:Options", "options": {"path": "{trian}"}}, "options/path: .*expected {train}"),
    ({"python": "own.py:Open", "options": {"lower": True}}, ""),
    ({"python": "own.py:Anything", "options": {"lower": True}, "relations": True}, ""),
    ({"python": "own.py:Silent"}, "python: the class Silent has no method extract"),
    ({"python": "own.py:made"}, ""),
    ({"python": "bad.py:Plain"}, "python: bad.py line 1: cannot be read as Python"),
    ({"command": "python own.py {train} --out={name}"}, ""),
    ({"command": "python owm.py"}, "command: owm.py: no such file"),
    ({"command": "python -u owm.py"}, "command: owm.py: no such file"),
    ({"command": "python -m some.module"}, ""),
    ({"command": "python own.py {trian}"}, "command: unknown placeholder '{trian}'; expected {train}"),
    ({"command": "python own.py --dev={valid}"}, "command: unknown placeholder '{valid}'"),
]  # fmt: skip


@pytest.mark.parametrize(("system", "expected"), PYTHON_SYSTEMS)
def test_a_class_or_a_command_that_cannot_run_is_a_problem_before_anything_runs(
    system, expected, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(SOURCE)
    (tmp_path / "bad.py").write_text("class Plain(:")
    study = {**GIVEN, "systems": {"mine": system}}
    if not expected:
        assert Study(study).systems.kinds
        return
    (sentence,) = problems(study)
    start, _, end = f"systems/mine/{expected}".partition(".*")
    assert sentence.startswith(start) and end in sentence


def test_a_file_is_not_run_to_look_for_its_class(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n{SOURCE}")
    assert Study({**GIVEN, "systems": {"mine": {"python": f"{file}:Plain"}}}).systems.kinds
    assert not (tmp_path / "ran").exists()


def test_the_training_file_is_refused_where_no_corpus_has_one(tmp_path):
    test = tmp_path / "test.jsonl"
    test.write_text('{"text": "Ada met Ben .", "triples": [["Ada", "met", "Ben"]]}\n')
    corpus = {"files": {"test": str(test)}, "relations": {"met": ""}}
    study = {"study": "s", "systems": {"mine": {"command": "cat {train}"}}}
    assert problems({**study, "corpora": {"mine": corpus}}) == [
        "systems/mine: asks for {train}, and no corpus has training sentences; name them under "
        "corpora"
    ]
