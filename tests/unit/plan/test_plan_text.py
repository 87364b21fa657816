"""The whole plan of every study of ``config``, and of those in ``tests/data/plan``, against a text kept there."""

import difflib
import os

import pytest
import yaml

from support.plan_text import plan_text
from tripleaudit.plan.configuration import read_files

WRITE = "TRIPLEAUDIT_WRITE_PLAN"


def test_every_study_is_planned_as_the_kept_text_says(root, monkeypatch):
    monkeypatch.chdir(root)
    folder = root / "tests" / "data" / "plan"
    kept = folder / "plan.txt"
    every = yaml.safe_load_all((folder / "studies.yaml").read_text(encoding="utf-8"))
    own = [(study["study"], study) for study in every]
    shipped = [(path.stem, read_files([path])[0]) for path in sorted((root / "config").glob("*.yaml"))]
    planned = plan_text([*shipped, *own], in_full=dict(own))
    if os.environ.get(WRITE):
        kept.write_text(planned, encoding="utf-8")
    before, after = (text.splitlines() for text in (kept.read_text(encoding="utf-8"), planned))
    changed = list(difflib.unified_diff(before, after, "kept", "planned", lineterm="", n=8))
    if changed:
        how = f"if studies are to be planned so, write {kept.name} again: {WRITE}=1 pytest {__file__}"
        pytest.fail("\n".join([f"the plan of studies has changed; {how}", *changed[:300]]), pytrace=False)
