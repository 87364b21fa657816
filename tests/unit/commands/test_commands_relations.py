"""``tripleaudit relations``: what it proposes, from which sentences, and that the map then
scores.
"""

from pathlib import Path

import pytest

from tripleaudit.cli import main
from tripleaudit.core.files import write_jsonl

PAIRS = [
    ("Ada", "works for", "Harrow"),
    ("Ben", "lives in", "Oslo"),
    ("Cleo", "works for", "Delta"),
]
SAID = {"works for": "EMPLOYED_BY", "lives in": "LIVES_IN"}


def write(path: Path, rows: list[dict]) -> str:
    write_jsonl(path, rows)
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    gold, guess = [], []
    for number in range(6):
        subject, relation, object_ = PAIRS[number % 3]
        text = f"{number} {subject} {relation} {object_} ."
        gold.append({"text": text, "triples": [[subject, relation, object_]]})
        said = [subject.upper(), SAID[relation], object_]  # written otherwise, too
        guess.append(
            {
                "text": text,
                "triples": [said[::-1] if number == 3 else said, ["Ada", "MENTIONED", "Ada"]],
            }
        )
    return write(tmp_path / "valid.jsonl", gold), write(tmp_path / "said.jsonl", guess)


def test_names_are_guessed_by_pairs_that_are_right_and_a_map_scores(files, tmp_path, told, capsys):
    gold, guess = files
    found = told("relations", gold, guess)
    assert found["relations"] == {"EMPLOYED_BY": "works for", "LIVES_IN": "lives in"}
    by_name = {one["name"]: one for one in found["names"]}
    assert [by_name["EMPLOYED_BY"][key] for key in ("count", "pairs", "support", "turned")] == [
        4,
        4,
        4,
        1,
    ]
    assert (by_name["MENTIONED"]["guess"], by_name["MENTIONED"]["pairs"]) == ("", 0)

    assert main(["relations", gold, guess, "--out", str(tmp_path / "map.yaml")]) == 0
    shown = capsys.readouterr().out
    assert shown == (tmp_path / "map.yaml").read_text() and '# "MENTIONED": ?' in shown
    assert (
        '"EMPLOYED_BY": "works for"  # 4 triples; 4 of 4 pairs that the gold joins, 1 of them turned round'
        in shown
    )
    for options, f1 in (([], 0), (["--relations", str(tmp_path / "map.yaml")], 2 * 5 / (6 + 12))):
        value = told("score", gold, guess, "--matching", "normalised", "--bootstrap", "0", *options)
        # without a map "LIVES_IN" is "lives in" but for its spelling
        assert value["micro"]["f1"] == pytest.approx(f1 or 2 * 2 / (6 + 12))
        assert value.get("renamed") == (6 if options else None)


def test_one_pair_is_no_reason_and_a_tie_is_none_either(tmp_path, told):
    one, two = ({"text": "c d", "triples": [["c", name, "d"]]} for name in ("r", "W"))
    gold = write(
        tmp_path / "train.jsonl",
        [{"text": "a b", "triples": [["a", "r", "b"], ["a", "q", "b"]]}] * 2 + [one],
    )
    guess = write(
        tmp_path / "p.jsonl",
        [{"text": "a b", "triples": [["a", "Z", "b"], ["b", "Q", "c"]]}] * 2 + [two],
    )
    assert told("relations", gold, guess)["relations"] == {"Q": "q"}  # by its name


def test_a_test_set_is_refused(files, tmp_path, refused):
    gold, guess = files
    test = tmp_path / "my-test.jsonl"
    test.write_bytes(Path(gold).read_bytes())
    message = refused("relations", test, guess)
    assert "my-test.jsonl: " in message and "test set" in message and "--anyway" in message
    assert main(["relations", str(test), guess, "--anyway"]) == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [("no: works for", "expected two names"), ("- a", "expected keys with values"), ("a: ''", "expected two names"),
     ("a: [b]", "expected two names"), (None, "no such file")],
)  # fmt: skip
def test_a_map_that_is_none_is_refused(files, tmp_path, refused, text, expected):
    if text is not None:
        (tmp_path / "map.yaml").write_text(text)
    assert expected in refused("score", *files, "--relations", tmp_path / "map.yaml")
