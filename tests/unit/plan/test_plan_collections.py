import copy
import json

import pytest

from tripleaudit.errors import UserError
from tripleaudit.plan.collections import gate_run, model_run, problems, settings_json
from tripleaudit.plan.configuration import validated
from tripleaudit.plan.study import Study

STUDY = {
    "study": "s",
    "corpora": {"webnlg": None},
    "settings": ["nz", "wz"],
    "extractors": {"casrel": None},
    "zcc": {"binary": {}},
    "seeds": [7, 8],
}


def collection(**changes):
    section = {"files": "texts", "extractor": "casrel", "gate": "zcc-binary", **changes}
    return validated({**copy.deepcopy(STUDY), "collections": {"news": section}})


def found(config):
    study = Study(config)
    section = config["collections"]["news"]
    runs, classifiers = ([run.path for run in part] for part in (study.runs, study.classifier_runs))
    return list(problems("news", section, runs, classifiers, study.corpora, study.seeds))


def test_the_models_of_a_study_are_found():
    config = collection()
    section = config["collections"]["news"]
    assert model_run(section, ["webnlg"], [7, 8]) == "webnlg/original-nz/casrel/none/seed7"
    assert gate_run(section, ["webnlg"], [7, 8]) == "webnlg/original-wz/zcc-binary/none/seed7"
    assert found(config) == []
    other = collection(seed=8, trainset="original-wz", gate=None)
    assert model_run(other["collections"]["news"], ["webnlg"], [7]) == "webnlg/original-wz/casrel/none/seed8"
    assert gate_run(other["collections"]["news"], ["webnlg"], [7]) is None
    assert found(other) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"extractor": "pfn"},
            "extractor: the study has no training webnlg/original-nz/pfn/none/seed7; expected one of",
        ),
        ({"gate": "zcc-mcml"}, "gate: the study has no training webnlg/original-wz/zcc-mcml/none/seed7"),
        ({"noise": "noising"}, "extractor: the study has no training webnlg/original-nz/casrel/noising/seed7"),
        ({"extractor": "no/such"}, "extractor: no/such: not a trained extractor, it has no config.json"),
        ({"gate": "no/such"}, "gate: no/such: not a trained extractor, it has no config.json"),
    ],
)
def test_a_model_that_is_not_there_is_named(changes, message):
    (problem,) = found(collection(**changes))
    assert problem.startswith(f"collections/news/{message}")


def test_the_corpus_must_be_told_where_there_are_several():
    config = collection()
    config["corpora"]["nyt24"] = None
    (problem,) = found(config)
    assert problem == (
        "collections/news/corpus: expected the corpus whose extractor reads the collection; known are webnlg, nyt24"
    )


def test_a_gate_must_be_chosen_or_left_out_knowingly():
    with pytest.raises(UserError, match="collections/news: 'gate' is a required property"):
        validated({**STUDY, "collections": {"news": {"files": "texts", "extractor": "casrel"}}})


def test_what_decides_the_triples_is_kept_apart_from_what_does_not():
    settings = json.loads(settings_json(collection(shards=3)["collections"]["news"]))
    assert set(settings) == {"batch_size", "window", "threshold", "max_chars", "write", "on_error"}
