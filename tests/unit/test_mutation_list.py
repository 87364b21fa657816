"""The list of changes that change no result (``make mutate``) names changes that are made, and no others."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def mutate():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        from tests.benchmarks import mutate as module

        yield module


def test_every_change_said_to_change_nothing_is_one_that_is_made(mutate):
    lines, made = {}, set()
    for mutation in mutate.mutations(ROOT):
        text = lines.setdefault(mutation.file, (ROOT / mutation.file).read_text(encoding="utf-8").splitlines())
        made.add((mutation.file, text[mutation.line - 1].strip(), mutation.was, mutation.now))
    named = mutate.equivalents(ROOT)
    assert sorted(named.keys() - made) == []
    assert all(len(why.split()) > 2 for why in named.values())
