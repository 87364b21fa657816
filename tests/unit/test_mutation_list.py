"""The list of changes that change no result (``make mutate``) names changes that are made, and no others."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def mutate():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        from benchmarks import mutate as module

        yield module


def test_every_change_said_to_change_nothing_is_one_that_is_made(mutate):
    made, named = set(mutate.names(ROOT, mutate.mutations(ROOT)).values()), mutate.equivalents()
    assert sorted(named.keys() - made) == []
    several = {each[:4] for each in made if each[4] == 2}  # a reason says which of them it is about
    text = (ROOT / "benchmarks" / "equivalent.yaml").read_text(encoding="utf-8")
    assert text.count("numbers:") == len(several & {each[:4] for each in named})
    assert all(len(why.split()) > 2 for why in named.values())
