"""Keys that earlier versions had: each is refused with one sentence that names the replacement."""

import pytest

from support.workflow import problems

REMOVED = [
    ({"systems": {"lm": {"predictions": "a.jsonl", "completion": 5}}}, "systems/lm/completion", "contamination"),
    ({"tables": {"completion": None}}, "tables/completion", "contamination"),
]


@pytest.mark.parametrize(("section", "where", "replacement"), REMOVED, ids=[where for _, where, _ in REMOVED])
def test_a_removed_key_is_refused_with_what_replaces_it(section, where, replacement):
    sentences = [sentence for sentence in problems({"study": "s", **section}) if where in sentence]
    assert len(sentences) == 1
    assert sentences[0].startswith(f"{where}: this key was removed; ") and replacement in sentences[0]
