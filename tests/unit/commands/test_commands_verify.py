"""The command ``verify`` on the files of a study."""

import pytest

from tripleaudit.cli import main
from tripleaudit.core.files import write_json


@pytest.fixture
def study(tmp_path, monkeypatch):
    folder = tmp_path / "results" / "small"
    monkeypatch.setenv("TRIPLEAUDIT_STUDY_FOLDER", str(folder))
    for name in ("report.json", "tables/a.json", "tables/b.json"):
        write_json(folder / name, {"value": 12.5})
    return folder


def test_an_untouched_study_is_verified(study, capsys):
    assert main(["verify", str(study)]) == 0
    assert capsys.readouterr().out == "3 of 3 files are as their jobs wrote them\n"


def test_every_damaged_file_is_named(study, capsys):
    (study / "report.json").write_bytes(b"")
    edited = study / "tables" / "a.json"
    edited.write_text(edited.read_text().replace("12.5", "92.5"))
    (study / "tables" / "b.json").unlink()
    assert main(["verify", str(study)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{study}/report.json: empty",
        f"{study}/tables/a.json: changed",
        f"{study}/tables/b.json: missing",
        "0 of 3 files are as their jobs wrote them",
        "delete the files that are named, and run the study again",
    ]


def test_a_folder_without_digests_is_refused(tmp_path, capsys):
    assert main(["verify", str(tmp_path)]) == 1
    assert "expected the folder of a study that has run" in capsys.readouterr().err
