"""Publishing: a bundle and a trained extractor reach a hub's API as they are; refusals are one sentence."""

import zipfile

import pytest

from support.hub import FakeHub
from support.scored_study import make_study
from tripleaudit.cli import main


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    study = make_study(folder / "mine", {"casrel": 0.8}, sentences=20)
    assert main(["bundle", str(study), "--out", str(folder / "mine.zip")]) == 0
    return folder / "mine.zip"


@pytest.fixture
def hub(monkeypatch):
    with FakeHub() as hub:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        monkeypatch.setenv("HF_TOKEN", "hf_" + "x" * 34)
        yield hub


def test_a_bundle_is_pushed_as_it_is(bundle, hub, capsys):
    assert main(["bundle", str(bundle), "--push", "me/mine", "--private"]) == 0
    assert capsys.readouterr().out.strip().endswith("/datasets/me/mine/commit/1")
    with zipfile.ZipFile(bundle) as archive:
        assert hub.repositories == {"me/mine": {name: archive.read(name) for name in archive.namelist()}}
    assert hub.private == {"me/mine": True}
    assert hub.tokens == {"Bearer hf_" + "x" * 34}


def test_what_cannot_be_pushed_is_said_in_one_sentence(bundle, hub, tmp_path, capsys):
    def error(*arguments):
        capsys.readouterr()
        assert main(["bundle", *map(str, arguments)]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        return line

    hub.refuses = 403
    assert "me/mine: cannot be pushed to" in error(bundle, "--push", "me/mine")
    hub.refuses = 0
    assert "cannot be pushed" in error(bundle, "--push", "not a name!")
    assert "not a bundle of results" in error(bundle.parent / "mine", "--push", "me/mine")
    assert "expected one of them" in error(bundle, "--push", "me/mine", "--out", tmp_path / "x")
    assert "expected --out FILE" in error(bundle)
    broken = tmp_path / "broken.zip"
    broken.write_bytes(bundle.read_bytes()[:-50])
    assert "not a bundle of results" in error(broken, "--push", "me/mine")
    assert hub.repositories in ({}, {"me/mine": {}})
