"""Keys and studies that earlier versions had: each is refused with one sentence that names the replacement."""

import re
from typing import Any

import pytest

from support.workflow import ROOT, problems
from tripleaudit.core.errors import UserError
from tripleaudit.core.shipped import REMOVED_STUDIES, study_file
from tripleaudit.study.removed import REMOVED_KEYS


def config_with(path: str) -> dict[str, Any]:
    """Return a study that sets one key."""
    config: Any = 1
    for key in reversed(path.split("/")):
        config = {key: config}
    return {"study": "s", **config}


@pytest.mark.parametrize("path", REMOVED_KEYS)
def test_a_removed_key_is_refused_with_what_replaces_it(path):
    key = path.replace("*", "own")
    removed = [sentence for sentence in problems(config_with(key)) if "removed" in sentence]
    assert removed == [f"{key}: this key was removed; {REMOVED_KEYS[path]}"]


@pytest.mark.parametrize("path", REMOVED_KEYS)
def test_the_changelog_names_every_removed_key(path):
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    table = text.partition("### Removed")[2].partition("\n## ")[0]
    assert path.rpartition("/")[2] in table


def test_removed_keys_of_one_study_are_all_named():
    config = {
        "study": "s",
        "needles": {"triples": {"corpus": "demo"}, "samples": 2},
        "tables": {"completion": None},
    }
    removed = [sentence for sentence in problems(config) if "removed" in sentence]
    assert len(removed) == 3


def test_every_study_that_the_changelog_lists_as_removed_is_refused_with_its_replacement():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:study|studies) (`[^|]*`) \|", changelog, re.M)
    names = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert sorted(names) == sorted(REMOVED_STUDIES)


@pytest.mark.parametrize("name", REMOVED_STUDIES)
def test_a_removed_study_is_refused_with_what_replaces_it(name):
    with pytest.raises(UserError, match=f"{name}: this study was removed; "):
        study_file(name)
