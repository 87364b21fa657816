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
