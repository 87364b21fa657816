"""Values that are nested too deeply for any reader."""

import pytest

from tripleaudit.cli import main


@pytest.mark.parametrize("opening", ["[", '{"a":', "[["])
def test_deeply_nested_values_of_an_unknown_format_are_refused_in_one_sentence(
    tmp_path, capsys, opening
):
    closing = "".join({"[": "]", "{": "}"}.get(character, "") for character in opening)
    path = tmp_path / "deep.json"
    path.write_text(opening * 100_000 + "1" + closing * 100_000 + "\n", encoding="utf-8")
    outputs = ["--out", str(tmp_path / "o.jsonl"), "--report", str(tmp_path / "r.json")]
    assert main(["prepare", "--source", str(path), *outputs]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
