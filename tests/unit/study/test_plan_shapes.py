"""A value of the wrong shape is one problem: what the study lacks without it is no second one."""

import copy
from typing import Any

import pytest
import yaml

from support.workflow import problems
from tripleaudit.study.study import Study

FAULTS = {
    "seeds": {"a": 1},
    "settings": {"nz": True},
    "encoder": ["minilm"],
    "corpora": ["demo"],
    "corpora/demo": "demo",
    "corpora/demo/format": ["jsonl"],
    "corpora/demo/files": ["train.jsonl"],
    "corpora/demo/files/train": {"a": "train.jsonl"},
    "protocols": 3,
    "protocols/augmented": [],
    "extractors": ["casrel"],
    "extractors/casrel": 3,
    "zcc": ["binary"],
    "zcc/binary": "yes",
    "systems": ["nearest"],
    "systems/nearest/predictions": 3,
    "systems/smollm2/endpoint": ["smollm2"],
    "generative": None,
    "generative/endpoints": ["smollm2"],
    "generative/endpoints/smollm2": None,
    "generative/endpoints/smollm2/serve": "smollm2",
    "generative/endpoints/smollm2/serve/source": None,
    "generative/datasets": ["demo"],
    "generative/datasets/demo": "demo",
    "grescores": [],
    "grescores/judge": "smollm2",
    "grescores/datasets/demo": ["sentence"],
    "grescores/datasets/demo/generative": ["demo"],
    "needles": "craft",
    "needles/documents": None,
    "needles/models": "smollm2",
    "needles/reserve": [320],
    "collections": ["news"],
    "collections/news/corpus": ["demo"],
    "collections/news/extractor": {"casrel": None},
    "plugins": [["plugin.py"]],
    "tables": ["type-f1"],
    "tables/type-f1": ["exact"],
    "tables/type-f1/matching": ["exact"],
}


@pytest.fixture
def demo(root, monkeypatch) -> dict[str, Any]:
    """Return the demo study with a collection and chosen tables."""
    monkeypatch.chdir(root)
    study = yaml.safe_load((root / "config" / "config.yaml").read_text(encoding="utf-8"))
    study["collections"] = {
        "news": {
            "files": "resources/demo/*.txt",
            "extractor": "casrel",
            "gate": "zcc-binary",
            "corpus": "demo",
        }
    }
    study["tables"] = {
        "triple-types": None,
        "type-f1": {},
        "gre-sentence": None,
        "collection": None,
    }
    return study


def _replace(study: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(study)
    *parents, key = path.split("/")
    section = changed
    for parent in parents:
        section = section[parent]
    section[key] = value
    return changed


def test_the_study_without_a_fault_has_no_problem(demo):
    Study(demo)


@pytest.mark.parametrize("path", FAULTS)
def test_a_value_of_the_wrong_shape_is_one_problem(demo, path):
    (problem,) = problems(_replace(demo, path, FAULTS[path]))
    assert problem.partition(": ")[0].removesuffix("/0") == path


def test_an_unknown_key_is_one_problem_at_every_depth(demo):
    sections = [
        "",
        "encoder",
        "corpora/demo",
        "corpora/demo/files",
        "protocols/rearranged",
        "noising",
        "training",
        "extractors/casrel",
        "extractors/casrel/model",
        "zcc",
        "zcc/binary",
        "systems/nearest",
        "generative/endpoints/smollm2/serve",
        "grescores/datasets/demo/topics",
        "needles",
        "collections/news",
    ]
    for section in sections:
        path = "/".join(filter(None, [section, "unheard"]))
        (problem,) = problems(_replace(demo, path, 1))
        assert "unheard" in problem


def test_true_problems_of_other_sections_are_reported_with_a_wrong_shape(demo):
    demo["extractors"] = ["casrel"]
    demo["grescores"]["judge"] = {"endpoint": "unheard"}
    locations = [problem.partition(": ")[0] for problem in problems(demo)]
    assert locations == ["extractors", "grescores/judge/endpoint"]


def test_a_training_that_no_section_names_is_a_problem_next_to_a_wrong_shape(demo):
    demo["seeds"] = {"a": 1}
    demo["collections"]["news"]["gate"] = "zcc-mcml"
    locations = [problem.partition(": ")[0] for problem in problems(demo)]
    assert locations == ["seeds", "collections/news/gate"]
