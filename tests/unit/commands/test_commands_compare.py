"""``compare``: missing predictions, and limits that fail a run and say why."""

import json
from pathlib import Path

import pytest

import tripleaudit as ta
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError

RIGHT = ["Ann", "wrote", "Emma"]
WRONG = ["Emma", "wrote", "Ann"]


def write(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def sentence(number: int, *triples: list[str]) -> dict:
    return {"id": f"s{number}", "text": f"Ann wrote Emma {number}", "triples": list(triples)}


@pytest.fixture
def files(tmp_path):
    """Gold, predictions that are right, and predictions of which every fourth is wrong."""
    rows = range(40)
    gold = write(tmp_path / "gold.jsonl", [sentence(n, RIGHT) for n in rows])
    good = write(tmp_path / "good.jsonl", [sentence(n, RIGHT) for n in reversed(rows)])
    worse = write(
        tmp_path / "worse.jsonl", [sentence(n, WRONG if n % 4 == 0 else RIGHT) for n in rows]
    )
    return [str(path) for path in (gold, good, worse)]


def test_a_limit_that_is_missed_is_named_with_the_change_and_its_interval(files, capsys) -> None:
    gold, good, worse = files
    assert main(["compare", good, worse, gold, "--fail-below", "0"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert (
        line.startswith("error: ")
        and "F1 fell by 25.0 points [" in line
        and line.endswith("(allowed: no loss)")
    )
    assert main(["compare", worse, good, gold, "--fail-below", "0"]) == 0
    assert capsys.readouterr().err == ""


def test_a_gain_that_is_required_is_missed_without_a_change(files, capsys) -> None:
    gold, good, _ = files
    assert main(["compare", good, good, gold, "--fail-below", "2"]) == 3
    assert capsys.readouterr().err.endswith("F1 did not change (required: +2)\n")


def test_no_changed_sentence_is_shown_where_none_is_asked_for(files, capsys) -> None:
    gold, good, worse = files
    assert main(["compare", good, worse, gold, "--show", "0"]) == 0
    shown = capsys.readouterr().out
    assert shown.rstrip().endswith("10 of 40 sentences changed: 0 for the better, 10 for the worse")


def test_predictions_with_their_own_gold_triples_need_the_same_ones(tmp_path) -> None:
    paths = []
    for name, gold in (("one", RIGHT), ("two", WRONG)):
        paths.append(tmp_path / f"{name}.json")
        row = {"text": "Ann wrote Emma", "predict": [RIGHT], "truth": [gold]}
        paths[-1].write_text(json.dumps([row]))
    with pytest.raises(UserError, match="other gold triples than"):
        ta.compare(*paths)


def test_significant_asks_that_the_whole_interval_is_below(tmp_path, files, capsys) -> None:
    gold, good, worse = files
    rows = [sentence(n, WRONG if n == 0 else RIGHT) for n in range(40)]
    slightly = str(write(tmp_path / "slightly.jsonl", rows))
    assert main(["compare", good, slightly, gold, "--fail-below", "0"]) == 3
    assert main(["compare", good, slightly, gold, "--fail-below", "0", "--significant"]) == 0
    assert main(["compare", good, worse, gold, "--fail-below", "0", "--significant"]) == 3
    capsys.readouterr()
    assert main(["compare", good, worse, gold, "--significant"]) == 1
    assert "--fail-below" in capsys.readouterr().err


def test_a_missing_prediction_can_count_as_empty_as_the_error_advises(
    tmp_path, files, capsys
) -> None:
    gold, good, _ = files
    part = str(write(tmp_path / "part.jsonl", [sentence(n, RIGHT) for n in range(39)]))
    assert main(["compare", good, part, gold]) == 1
    assert "--missing empty" in capsys.readouterr().err
    assert main(["compare", good, part, gold, "--missing", "empty", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"]
    assert ta.compare(good, part, gold, missing="empty").difference.change() == pytest.approx(
        2 * 39 / 79 - 1
    )
    with pytest.raises(UserError, match="39 predictions"):
        ta.compare(good, part, gold)


def test_score_fails_under_a_limit_and_says_so(files, capsys) -> None:
    gold, _, worse = files
    assert main(["score", gold, worse, "--fail-under", "75"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["score", gold, worse, "--fail-under", "80"]) == 3
    assert capsys.readouterr().err == "error: F1 is 75.0, below --fail-under 80\n"


def test_exchanged_entities_are_named_although_another_hint_concerns_more_triples(
    tmp_path, capsys
) -> None:
    gold = [sentence(n, RIGHT) for n in range(5)]
    misspelt = ["ann", "wrote", "emma"]
    found = [WRONG, misspelt, misspelt, RIGHT, RIGHT]
    predicted = [sentence(n, triple) for n, triple in enumerate(found)]
    paths = [
        str(write(tmp_path / name, rows))
        for name, rows in (("g.jsonl", gold), ("p.jsonl", predicted))
    ]
    assert main(["score", *paths]) == 0
    text = capsys.readouterr().out
    assert "1 more triple would be correct with subject and object exchanged" in text
    assert "2 more triples would be correct if case did not count" in text


def test_a_gate_that_cannot_be_decided_never_passes(tmp_path, files, capsys) -> None:
    gold, good, worse = files
    gate = ["--fail-below", "0", "--significant"]
    assert main(["compare", good, worse, gold, *gate, "--bootstrap", "0"]) == 1
    assert "--bootstrap 0" in capsys.readouterr().err
    assert main(["compare", good, worse, gold, *gate, "--shuffles", "5"]) == 4
    assert "--shuffles" in capsys.readouterr().err
    few = [
        str(write(tmp_path / f"few{name}", [sentence(n, triple) for n in range(6)]))
        for name, triple in (("gold", RIGHT), ("good", RIGHT), ("bad", WRONG))
    ]
    assert main(["compare", few[1], few[2], few[0], *gate]) == 4
    assert "at least 30" in capsys.readouterr().err
    assert main(["compare", few[1], few[2], few[0], "--fail-below", "0"]) == 3


@pytest.mark.parametrize(("sentences", "is_significant"), [(29, False), (30, True)])
def test_compare_and_which_have_one_rule_of_significance(
    tmp_path, capsys, sentences, is_significant
) -> None:
    names = ("gold", "good", "bad")
    triples = (RIGHT, RIGHT, WRONG)
    gold, good, bad = (
        str(write(tmp_path / f"{name}.jsonl", [sentence(n, triple) for n in range(sentences)]))
        for name, triple in zip(names, triples, strict=True)
    )
    gate = ["--fail-below", "0", "--significant"]
    assert main(["compare", good, bad, gold, *gate]) == (3 if is_significant else 4)
    row = next(line for line in capsys.readouterr().out.splitlines() if "-100.0" in line)
    assert ("-100.0*" in row) == is_significant
    ranking = ta.which(gold, predictions={"good": good, "bad": bad})
    assert (ranking.ranked[1].outcome == "shown") == is_significant
    result = ta.compare(good, bad, gold)
    assert result.difference.clear == is_significant


def test_significant_needs_an_interval_below_the_limit_and_tests_losses_only(files, capsys) -> None:
    gold, good, worse = files
    command = ["compare", good, worse, gold, "--significant", "--fail-below"]
    assert main([*command, "-5"]) == 3
    assert main([*command, "-24"]) == 0  # the loss is 25 points, its interval begins at about 12
    assert main([*command, "2"]) == 1
    assert "0 or less" in capsys.readouterr().err


def test_a_score_just_below_its_limit_is_printed_with_the_digits_that_show_it(
    tmp_path, capsys
) -> None:
    rows = range(1252)
    gold = str(write(tmp_path / "gold.jsonl", [sentence(n, RIGHT) for n in rows]))
    found = [sentence(n, RIGHT if n < 751 else WRONG) for n in rows]
    predicted = str(write(tmp_path / "predicted.jsonl", found))
    assert main(["score", gold, predicted, "--bootstrap", "0", "--fail-under", "60"]) == 3
    assert "F1 is 59.98, below" in capsys.readouterr().err
    command = ["compare", gold, predicted, gold, "--bootstrap", "0", "--shuffles", "1"]
    assert main([*command, "--fail-below", "-40"]) == 3
    assert "F1 fell by 40.02 points" in capsys.readouterr().err


def test_a_score_equal_to_its_limit_passes(tmp_path) -> None:
    rows = range(100)
    gold = str(write(tmp_path / "gold.jsonl", [sentence(n, RIGHT) for n in rows]))
    found = [sentence(n, RIGHT if n < 57 else WRONG) for n in rows]
    predicted = str(write(tmp_path / "predicted.jsonl", found))
    assert main(["score", gold, predicted, "--fail-under", "57"]) == 0


def test_files_without_a_correct_triple_are_explained_and_decide_nothing(
    tmp_path, files, capsys
) -> None:
    gold = files[0]
    paths = []
    for name in ("old", "new"):
        rows = [sentence(n, ["Ann", "Emma", "wrote"]) for n in range(40)]
        paths.append(str(write(tmp_path / f"{name}.jsonl", rows)))
    assert main(["compare", *paths, gold, "--fail-below", "0", "--significant"]) == 4
    error = capsys.readouterr().err
    assert "no predicted triple of either side is correct" in error
    assert error.count("order=sor") == 2
    empty = str(write(tmp_path / "empty.jsonl", [sentence(n) for n in range(40)]))
    assert main(["compare", paths[0], empty, gold, "--fail-below", "0"]) == 0
    assert "empty.jsonl: no triple is predicted for any sentence" in capsys.readouterr().err


def test_a_limit_on_a_gain_is_called_a_requirement(files, capsys) -> None:
    gold, good, worse = files
    assert main(["compare", good, worse, gold, "--fail-below", "2"]) == 3
    assert "F1 fell by 25.0 points [" in (error := capsys.readouterr().err)
    assert error.endswith("(required: +2)\n")


def test_a_limit_that_looks_like_a_fraction_is_noted(files, capsys) -> None:
    gold, _, worse = files
    assert main(["score", gold, worse, "--fail-under", "0.95"]) == 0
    assert "in percent: 0.95 means 0.95 %" in capsys.readouterr().err
    for limit in ("0", "1.5"):
        assert main(["score", gold, worse, "--fail-under", limit]) == 0
        assert capsys.readouterr().err == ""


def test_copies_of_gold_sentences_are_counted_and_named(tmp_path, caplog, capsys) -> None:
    rows = [sentence(n, RIGHT) for n in range(4)]
    copies = [{**rows[0], "id": "c0"}, {**rows[1], "id": "c1", "triples": [WRONG]}]
    gold = str(write(tmp_path / "gold.jsonl", [*rows, *copies]))
    predicted = str(write(tmp_path / "predicted.jsonl", rows))
    assert main(["score", gold, predicted]) == 1
    assert "2 sentences repeat the text of an earlier one, 1 of them with other" in caplog.text
    error = capsys.readouterr().err
    assert "2 gold sentences repeat the text of another one, such as id 'c0'" in error
    assert "--missing" not in error
    repeated = "".join(f"{n},wrote,Emma,{n} wrote Emma.\n" for n in ("Ann", "Bo", "Ann"))
    table = tmp_path / "gold.csv"
    table.write_text(f"subject,relation,object,text\n{repeated}", encoding="utf-8")
    caplog.clear()
    assert main(["which", str(table), "--predictions", f"a={table}"]) == 0
    assert "1 triple occurs again in the sentence and counts once" in caplog.text


def test_extra_and_second_predictions_are_named(tmp_path, capsys) -> None:
    rows = [sentence(n, RIGHT) for n in range(3)]
    gold = str(write(tmp_path / "gold.jsonl", rows))
    more = [*rows, {**rows[1], "id": "again"}, sentence(9)]
    assert main(["score", gold, str(write(tmp_path / "more.jsonl", more))]) == 1
    error = capsys.readouterr().err
    assert "second predictions for a sentence, such as id 'again'" in error
    assert "predictions for no gold sentence, such as id 's9'" in error
