import json
from pathlib import Path

import pytest

from tripleaudit.cli import main
from tripleaudit.core.files import write_jsonl

ORACLES = {
    "webnlg_best_test_results.json": (84.25, 81.89, 83.05, 1316, 1562, 1607),
    "webnlg_best_dev_results.json": (84.53, 82.67, 83.59, 1011, 1196, 1223),
    "nyt_multi_best_test_results.json": (85.48, 71.63, 77.94, 5816, 6804, 8120),
}
STRATA = {
    "entirely_seen": (86.40, 86.53, 86.47, 580),
    "partially_seen": (63.83, 60.00, 61.86, 42),
    "unseen": (57.14, 23.53, 33.33, 17),
    "others": (74.58, 62.56, 68.04, 64),
}


def percent(score: dict) -> tuple[float, ...]:
    return tuple(round(100 * score[name], 2) for name in ("precision", "recall", "f1"))


@pytest.mark.parametrize("name", ORACLES)
def test_stored_model_predictions(real_data: Path, told, name: str) -> None:
    path = real_data / "jointer-predictions" / name
    value = told("score", path, path)
    score = value["micro"]
    assert (*percent(score), score["correct"], score["predicted"], score["gold"]) == ORACLES[name]
    assert (value["matching"], value["strata"]) == ("exact-string", {})


def test_strata_of_stored_model_predictions(real_data: Path, told) -> None:
    path = real_data / "jointer-predictions" / "webnlg_best_test_results.json"
    gold, train = (real_data / "webnlg" / f"{name}_triples.json" for name in ("test", "train"))
    strata = told("score", gold, path, "--train", train)["strata"]
    assert {name: (*percent(score), score["sentences"]) for name, score in strata.items()} == STRATA


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "stored.json"
    rows = [
        {
            "text": "Ann Lee wrote Emma",
            "predict": [["Lee", "wrote", "Emma"]],
            "truth": [["Ann Lee", "wrote", "Emma"]],
        },
        {"text": "Bob saw Rome", "predict": [], "truth": []},
    ]
    path.write_text(json.dumps(rows))
    return path


def test_stratum_without_sentences_shows_a_gap(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    train = tmp_path / "train.json"
    train.write_text(
        json.dumps([{"text": "Bob saw Rome", "triple_list": [["Bob", "saw", "Rome"]]}])
    )
    assert main(["score", str(stored), str(stored), "--train", str(train)]) == 0
    lines = capsys.readouterr().out.splitlines()[3:]
    rows = {line.strip().split("  ")[0]: line.split() for line in lines if line}
    assert rows["Entirely seen"][2:] == ["0", "–", "–", "–", "0", "0", "0"]
    assert rows["Unseen"][1:] == ["1", "0.00", "0.00", "0.00", "0", "1", "1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{stored}", "{stored}", "--matching", "soft"], "unknown matching rule 'soft'"),
        (["{stored}", "{stored}.gone"], "no such file"),
        (["{stored}", "{other}"], "1 predictions for the 2 sentences"),
    ],
)
def test_bad_input_gives_one_line(
    stored: Path, tmp_path: Path, refused, arguments: list[str], message: str
) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps([{"text": "Bob saw Rome", "predict": [], "truth": []}]))
    assert message in refused("score", *(a.format(stored=stored, other=other) for a in arguments))


NAMES = ("Ada Lund", "Ben Ode", "Cleo Ray", "Dan Moss", "Eva Hill", "Finn Roy")
GOLD = [
    {
        "id": f"s{n}",
        "text": f"{name} works for Harrow {n} in Oslo .",
        "triples": [[name, "works for", f"Harrow {n}"]],
    }
    for n, name in enumerate(NAMES * 2)
]


@pytest.fixture
def score(tmp_path: Path, told):
    """Scores rows against rows of gold."""

    def run(gold: list[dict], guess: list[dict], *more: str) -> dict:
        for name, rows in (("gold", gold), ("guess", guess)):
            write_jsonl(tmp_path / f"{name}.jsonl", rows)
        return told("score", tmp_path / "gold.jsonl", tmp_path / "guess.jsonl", *more)

    return run


def test_the_advised_order_is_that_of_the_predictions_alone(score) -> None:
    guess = [{**row, "triples": [[s, o, r] for s, r, o in row["triples"]]} for row in GOLD]
    assert score(GOLD, guess, "--predicted-column", "order=sor")["micro"]["f1"] == 1
    options = ("--column", "order=sor", "--predicted-column", "order=sor")
    assert score(guess, guess, *options)["micro"]["f1"] == 1
