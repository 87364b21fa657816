import json
from pathlib import Path

import pytest

from support.published import webnlg
from support.scored import Results
from tripleaudit.cli import main
from tripleaudit.tables.audits import study_audit
from tripleaudit.tables.building import build_table
from tripleaudit.tables.inputs import load_inputs


def test_tables_of_webnlg_equal_the_paper_to_the_last_digit(
    tmp_path: Path,
) -> None:
    splits = dict(webnlg().original)
    path = tmp_path / "audit.json"
    path.write_text(
        json.dumps(study_audit({"study": "s", "corpus": "webnlg", "protocol": "original"}, splits))
    )
    inputs = load_inputs(audits=[path])
    for name, numbers in {
        "triple-types": ["91.10", "7.47", "1.43"],
        "split-sizes": ["5019", "500", "703"],
        "strata-sizes": ["580", "42", "17", "64", "703"],
    }.items():
        rows = [row.cells[0] for row in build_table(name, inputs).rows][: len(numbers)]
        assert [cell.shown for cell in rows] == numbers
        assert [cell.reported for cell in rows] == numbers
        assert {cell.difference for cell in rows} == {0.0}


def test_readable_audit(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    train = [{"text": "Ann wrote Emma", "triple_list": [["Ann", "wrote", "Emma"]]}]
    test = [
        {"text": "Ann wrote Emma", "triple_list": [["Ann", "wrote", "Emma"]] * 2},
        {"text": "Ann saw Bob", "triple_list": [["Ann", "s\x1b[31maw", "Bobby"]]},
        {"text": "Nothing", "triple_list": []},
    ]
    for name, rows in (("train", train), ("test", test)):
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    assert main(["audit", str(tmp_path / "train.json"), str(tmp_path / "test.json")]) == 0
    out = capsys.readouterr().out
    lines = {line[:28].strip(): line[28:].split() for line in out.splitlines()}
    assert lines["Sentences"] == ["1", "3"] and lines["with zero triples"] == ["0", "1"]
    assert lines["Total with triples"] == ["2"]
    assert "  Entirely seen                      1   50.00 %" in out
    assert "Triples repeated inside a test sentence: 1" in out
    assert "Entity mentions that are not in their test sentence: 1" in out
    assert "with their test triples: s\ufffd[31maw (1)" in out


def test_bad_input_gives_one_line_and_a_table_of_the_workflow_five_files(
    tmp_path: Path, refused, capsys: pytest.CaptureFixture
) -> None:
    assert refused("audit", tmp_path / "a.json", tmp_path / "b.json").endswith(
        "a.json: no such file"
    )
    made = Results(tmp_path)
    made.run("casrel", quality=0.7, sentences=20)
    out = tmp_path / "out"
    files = [
        "--scores",
        str(made.scores[0]),
        "--counts",
        str(made.counts[0]),
    ]
    tables = '{"type-f1": {"digits": 2}}'
    assert main(["tables", "--tables", tables, *files, "--out", str(out)]) == 0
    assert sorted(path.suffix for path in out.iterdir()) == [
        ".csv",
        ".html",
        ".json",
        ".md",
        ".tex",
    ]
    assert "CasRel" in (out / "type-f1.md").read_text()
    tables = '{"nothing": {}, "type-f1": {"pages": 2}, "sifted": {}}'
    assert main(["tables", "--tables", tables, *files, "--out", str(out)]) == 1
    unknown, options = capsys.readouterr().err.splitlines()
    assert "table nothing: there is no table 'nothing'" in unknown
    assert "table type-f1: options of the table: unknown option 'pages'" in options
    assert (out / "sifted.md").is_file()
