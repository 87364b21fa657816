from types import SimpleNamespace

import yaml

from support.workflow import problems
from tripleaudit.descriptors import FORMATS
from tripleaudit.files import write_json, write_jsonl
from tripleaudit.plan.study import Study
from tripleaudit.plan.systems import next_attempt

SETS = {"rearranged": {}, "sift-1": {"rule": "frequency", "max_count": 2, "train": False}, "augmented": {}}


GIVEN = {"study": "s", "corpora": {"webnlg": None}, "settings": ["nz", "wz"]}
SERVED = {"endpoints": {"e": {"base_url": "http://127.0.0.1:9/v1", "model": "m"}}}


def study(tmp_path, systems, **changes) -> Study:
    for name in ("out.jsonl", "more.jsonl", "model.py"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    return Study({**GIVEN, "systems": systems, **changes})


def test_a_system_is_scored_on_every_test_set_that_an_extractor_is(tmp_path):
    plan = study(tmp_path, {"mine": {"command": "python -"}}, protocols=SETS, baselines=[])
    files = [file.partition("/webnlg/")[2] for file in plan.score_files()]
    assert files == [
        *(f"original-nz/mine/{test}.csv" for test in ("test-nz", "test-wz", "augmented-nz")),
        "rearranged-nz/mine/test-nz.csv",
    ]
    assert len(plan.systems.reports()) == len(plan.systems.keys()) == 3  # one answer serves both testing settings
    assert {"type-f1", "rearranged", "augmented", "end-to-end"} <= set(plan.report.possible)


def test_a_system_is_scored_behind_each_trained_classifier(tmp_path):
    heads = {"zcc": {"binary": {}}, "seeds": [1, 2], "baselines": []}
    one = {"command": "python -", "gpus": 0, "mem_mb": 100}  # the least of both
    nz = {"predictions": str(tmp_path / "out.jsonl"), "protocols": []}
    plan = study(tmp_path, {"mine": one, "elsewhere": nz}, **heads)
    assert plan.two_step_systems == [("webnlg", "mine", "zcc-binary", seed) for seed in (1, 2)]
    files = [file.partition("/webnlg/")[2] for file in plan.score_files() if "mine/zcc" in file]
    assert files == [f"original-nz/mine/zcc-binary-seed{seed}.csv" for seed in (1, 2)]
    assert "two-step" in plan.report.possible
    assert "two-step" not in study(tmp_path, {"mine": one}).report.possible


def test_the_formats_of_stored_outputs_are_known_as_far_as_they_are_there(tmp_path):
    row = {"id": "0", "triples": [{"subject": "a", "relation": "r", "object": "b"}]}
    write_jsonl(tmp_path / "ids.jsonl", [row])
    write_jsonl(tmp_path / "texts.jsonl", [{**row, "text": "a b"}])
    systems = {name: {"predictions": str(tmp_path / f"{name}.jsonl")} for name in ("ids", "texts")}
    named = {"predictions": systems["texts"]["predictions"], "format": "brat"}
    plan = study(tmp_path, {**systems, "named": named}).systems
    assert [plan.formats(name) for name in ("ids", "texts", "named")] == [[], ["jsonl"], ["brat"]]
    (tmp_path / "texts.jsonl").unlink()
    assert plan.formats("texts") == list(FORMATS)


def test_stored_outputs_are_scored_where_there_are_some(tmp_path):
    out, more = str(tmp_path / "out.jsonl"), str(tmp_path / "more.jsonl")
    stored = {"webnlg": {"original": out, "augmented": [out, more]}}
    plan = study(tmp_path, {"mine": {"predictions": stored}, "short": {"predictions": out}}, protocols=SETS)
    assert plan.systems.predicted == [
        ("webnlg", "original-nz", "mine", "augmented"),
        ("webnlg", "original-nz", "mine", "test"),
        ("webnlg", "original-nz", "short", "test"),
    ]
    wildcards = {"corpus": "webnlg", "trainset": "original-nz", "extractor": "mine", "testset": "augmented"}
    given = plan.systems.inputs(SimpleNamespace(**wildcards))
    assert given["files"] == [out, more] and given["test"].endswith("/augmented/nz/test.jsonl")
    mine, short = (plan.systems.identity("webnlg", name) for name in ("mine", "short"))
    assert mine == short  # which files these are is no setting


def test_what_decides_an_answer_is_not_how_long_it_may_take(tmp_path):
    one, other = ({"command": "python -", "timeout": limit, "threads": limit} for limit in (1, 9))
    plan = study(tmp_path, {"one": one, "other": other, "named": {**one, "relations": True}})
    found = [plan.systems.identity("webnlg", name) for name in ("one", "other", "named")]
    assert found[0] == found[1] != found[2]
    assert plan.systems.json("one") != plan.systems.json("other")


def test_hidden_halves_are_queried_in_addition_to_the_test_sets(tmp_path):
    systems = {"plain": {"endpoint": "e"}, "probed": {"endpoint": "e", "completion": 5}}
    plan = study(tmp_path, systems, protocols={"augmented": {}}, generative=SERVED)
    assert plan.systems.probe.runs == [("webnlg", "probed")] and "completion" in plan.report.possible
    assert plan.systems.identity("webnlg", "plain") == plan.systems.identity("webnlg", "probed")
    found = plan.systems.probe.inputs(SimpleNamespace(corpus="webnlg", extractor="probed"))
    assert found["augmented"].endswith("/augmented/nz/test.jsonl") and found["model"] == []
    said = plan.systems.probe.identity("webnlg", "probed")
    assert said["completion"] == 5 and said["model"] == "m" and said["prompts"]
    assert "completion" not in study(tmp_path, {"plain": {"endpoint": "e"}}, generative=SERVED).report.possible
    (problem,) = problems({**GIVEN, "systems": systems, "generative": SERVED})
    assert problem.startswith("systems/probed/completion: the study has no protocol 'augmented'")
    (problem,) = problems({**GIVEN, "systems": {"a": {"command": "python -", "completion": 3}}})
    assert problem.startswith("systems/a/completion: a system by 'command' has no such key")


def test_a_trained_system_is_an_entry_of_extractors(tmp_path):
    plan = study(tmp_path, {"casrel": {"trained": {"epochs": 5}}, "pfn": {"trained": None}})
    same = study(tmp_path, {}, extractors={"casrel": {"epochs": 5}})
    assert plan.extractors == ["casrel", "pfn"] and plan.systems.runs == []
    assert plan.trainings.settings_of("webnlg", "casrel") == same.trainings.settings_of("webnlg", "casrel")


FAULTY = """
a: {}
b: {command: python -, python: x.py:Y}
c: {command: python -, batch_size: 3}
d: {command: no-such-program-anywhere}
e: {python: no/none.py:Model}
f: {python: Model}
g: {predictions: {webnlg: {sift-9: none.jsonl}, conll: out.jsonl}}
casrel: {command: python -}
j: {command: python -, files: [none.txt]}
novel: {trained: {}}
h: {command: 5, timeout: 0}
i: {command: "python 'unclosed"}
k: {endpoint: e, examples: 9999}
"""
SAID = (
    "systems/a: expected exactly one of trained, predictions, command, python",
    "systems/b: expected exactly one of trained, predictions, command, python",
    "command and python are several",
    "systems/c/batch_size: a system by 'command' has no such key",
    "systems/d/command: no-such-program-anywhere: no such program",
    "none.py: no such file",
    "systems/f/python: 'Model', expected path/to/file.py:Class",
    "systems/g/predictions/webnlg: there is no protocol 'sift-9'",
    "systems/g/predictions: there is no corpus 'conll'",
    "systems/g/predictions: none.jsonl: no such file",
    "systems/casrel: 'casrel' is the name of an extractor or a baseline",
    "systems/j/files: none.txt: no such file",
    "systems/novel/trained: unknown extractor 'novel'",
    "systems/h/command: expected a command, as a text or a list of words, got 5",
    "systems/h/timeout: expected more than 0",
    "systems/i/command: cannot be split into words",
    "systems/k/examples: 9999 sentences, but the training split of webnlg has 5019",
)


def test_all_problems_are_named_at_once():
    found = "\n".join(problems({**GIVEN, "systems": yaml.safe_load(FAULTY), "generative": SERVED}))
    assert [sentence for sentence in SAID if sentence not in found] == []


def test_stored_outputs_may_have_an_extractors_name_and_the_facts_of_its_training(tmp_path):
    made = tmp_path / "provenance.json"
    write_json(made, {"training": {"steps": 9}, "device": "cpu", "finished": "then"})
    outputs = {"predictions": str(tmp_path / "out.jsonl"), "training": str(made)}
    plan = study(tmp_path, {"casrel": outputs, "other": {"predictions": outputs["predictions"]}}, baselines=[])
    assert plan.report.trainings == [str(made)] and plan.report.runs()[0].endswith("trainings.json")
    (keys,) = plan.report.training_keys
    assert (keys["corpus"], keys["extractor"], keys["training"], keys["seed"]) == ("webnlg", "casrel", "nz", "")
    assert "training" not in plan.systems.identity("webnlg", "casrel")  # what is said of it changes no answer
    assert plan.systems.histories() == []
    (tmp_path / "history.jsonl").write_text("")
    assert plan.systems.histories() == [str(tmp_path / "history.jsonl")]
    elsewhere = {**outputs, "training": {"webnlg": str(tmp_path / "model.py"), "nyt": "there.json"}}
    both = {"systems": {"casrel": outputs, "other": elsewhere}, "extractors": {"casrel": None}}
    said = "\n".join(problems({**GIVEN, **both}))
    assert "systems/casrel: 'casrel' is the name of an extractor or a baseline" in said
    assert "systems/other/training: there is no corpus 'nyt'" in said
    assert "model.py: not the provenance of a training" in said
    for history, settings, expected in (
        ('{"f1": 0.5}\n', {}, "history.jsonl: not the history of a training; expected rows with 'step' and 'f1'"),
        ("5\n", {}, "history.jsonl: not the history of a training"),
        ("", 5, "provenance.json: not the provenance of a training"),
    ):
        (tmp_path / "history.jsonl").write_text(history)
        write_json(made, {"training": {"settings": settings}, "device": "cpu", "finished": "then"})
        assert expected in "\n".join(problems({**GIVEN, "systems": {"casrel": outputs}, "baselines": []}))


def test_a_system_that_failed_is_queried_again_and_one_that_answered_never(tmp_path):
    report = tmp_path / "report.json"
    tries = [next_attempt(report)]
    for failed in ("it crashed", "it crashed", None, None):
        write_json(report, {"failed": failed, "attempt": tries[-1]})
        tries.append(next_attempt(report))
    assert tries == [0, 1, 2, 2, 2]
