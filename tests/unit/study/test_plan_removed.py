"""Keys that earlier versions had: each is refused with one sentence that names the replacement."""

import pytest

from support.workflow import problems

REMOVED = [
    (
        {"systems": {"lm": {"predictions": "a.jsonl", "completion": 5}}},
        "systems/lm/completion",
        "contamination",
    ),
    ({"needles": {"triples": {"corpus": "demo"}}}, "needles/triples", "F1 and GREScores"),
    (
        {"needles": {"identification": "one-to-one"}},
        "needles/identification",
        "by itself, as in the paper",
    ),
    ({"tables": {"triple-needles": None}}, "tables/triple-needles", "gre-scores"),
    ({"needles": {"samples": 2}}, "needles/samples", "another seed"),
    (
        {"collections": {"c": {"files": "a.txt", "gpu_share": 0.5}}},
        "collections/c/gpu_share",
        "workers",
    ),
    ({"tables": {"completion": None}}, "tables/completion", "contamination"),
    (
        {"generative": {"endpoints": {"e": {"batch": True}}}},
        "generative/endpoints/e/batch",
        "one by one",
    ),
    (
        {"generative": {"endpoints": {"e": {"backoff": 1}}}},
        "generative/endpoints/e/backoff",
        "max_retries",
    ),
    (
        {"generative": {"systems": {"s": {"samples": 2}}}},
        "generative/systems/s/samples",
        "another seed",
    ),
    ({"grescores": {"judge": {"others": ["e"]}}}, "grescores/judge/others", "second study"),
    ({"needles": {"separate_runs": True}}, "needles/separate_runs", "iterations"),
]


@pytest.mark.parametrize(
    ("section", "where", "replacement"), REMOVED, ids=[where for _, where, _ in REMOVED]
)
def test_a_removed_key_is_refused_with_what_replaces_it(section, where, replacement):
    sentences = [sentence for sentence in problems({"study": "s", **section}) if where in sentence]
    assert len(sentences) == 1
    assert (
        sentences[0].startswith(f"{where}: this key was removed; ") and replacement in sentences[0]
    )
