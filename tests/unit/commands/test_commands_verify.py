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
    assert capsys.readouterr().out == "3 of 3 files are unchanged\n"


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
        "0 of 3 files are unchanged",
        "delete these files and run the study again",
    ]


@pytest.mark.parametrize("damaged", [b"", b"[1, 2", b"[12]", b"\xff\x00", b"null"])
def test_a_file_whose_digest_is_damaged_does_not_count_as_unchanged(study, capsys, damaged):
    (study / ".digests" / "report.json.json").write_bytes(damaged)
    assert main(["verify", str(study)]) == 1
    output = capsys.readouterr().out.splitlines()
    assert output[0] == f"{study}/report.json: without a digest"
    assert output[1] == "2 of 3 files are unchanged"


def test_files_that_no_job_wrote_are_named(study, capsys):
    (study / ".digests" / "report.json.json").unlink()
    (study / "tables" / "added.csv").write_text("system,f1\nours,99\n")
    (study / "logs").mkdir()
    (study / "logs" / "train.log").touch()
    assert main(["verify", str(study)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "2 of 2 files are unchanged",
        f"{study}/report.json: not written by a job of this study (it has no digest)",
        f"{study}/tables/added.csv: not written by a job of this study (it has no digest)",
        "delete these files and run the study again",
    ]


def test_two_files_of_equal_size_that_were_swapped_are_named(study, capsys):
    report, table = study / "report.json", study / "tables" / "a.json"
    write_json(table, {"value": 13.5})
    content = report.read_bytes()
    assert len(content) == table.stat().st_size
    report.write_bytes(table.read_bytes())
    table.write_bytes(content)
    assert main(["verify", str(study)]) == 1
    output = capsys.readouterr().out.splitlines()
    assert output[:2] == [f"{report}: changed", f"{table}: changed"]


def test_a_folder_without_digests_is_refused(tmp_path, capsys):
    assert main(["verify", str(tmp_path)]) == 1
    assert "expected the folder of a finished study" in capsys.readouterr().err
