import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.webnlg import sentence
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import write_json, write_jsonl
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import save_sentences
from tripleaudit.scoring import gate
from tripleaudit.scoring.counts import SentenceCounts, load_counts
from tripleaudit.scoring.rows import RunFiles, score_classifier, score_run
from tripleaudit.scoring.scores import (
    COLUMNS,
    Score,
    keys_of,
    merge_scores,
    read_scores,
    sidecar_of,
    write_scores,
)
from tripleaudit.scoring.sides import align, load_pair, load_side
from tripleaudit.scoring.spec import MATCHINGS

KEYS = {
    "study": "demo",
    "corpus": "c",
    "protocol": "original",
    "training": "nz",
    "testing": "wz",
    "seed": 1,
}


ULYSSES, EMMA, ROME = (
    ("Ann", "wrote", "Ulysses"),
    ("Ann", "wrote", "Emma"),
    ("Bob", "built", "Rome"),
)
TRAIN = [sentence("Ann wrote Ulysses", ULYSSES, id_="t1")]
ROWS = {  # text -> gold and predicted triples
    "Ann wrote Ulysses": ([ULYSSES], [ULYSSES]),
    "Ann wrote Emma": ([EMMA], [EMMA, ("Emma", "wrote", "Ann")]),
    "Bob built Rome": ([ROME], []),
    "Bob saw Rome": ([], [ROME]),
    "Ann wrote Ulysses and Emma": ([ULYSSES, EMMA], [ULYSSES]),
}
GOLD, PREDICTIONS = (
    [
        sentence(text, *sides[side], id_=str(number))
        for number, (text, sides) in enumerate(ROWS.items(), 1)
    ]
    for side in (0, 1)
)
DECISIONS = [("1", 0.9), ("2", 0.8), ("3", 0.7), ("4", 0.2), ("5", 0.5)]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    paths = {
        name: tmp_path / f"{name}.jsonl"
        for name in ("gold", "predictions", "train", "decisions", "report", "nz")
    }
    save_sentences(paths["gold"], GOLD)
    save_sentences(paths["nz"], [row for row in GOLD if row.triples])
    save_sentences(paths["predictions"], PREDICTIONS)
    save_sentences(paths["train"], TRAIN)
    write_jsonl(paths["decisions"], [{"id": id_, "score": score} for id_, score in DECISIONS])
    # the first answer cost nothing and is not listed
    write_json(
        paths["report"],
        {"failed": None, "queried": 5, "of": 5, "money_of": {"2": 2, "3": 4, "4": 8, "5": 16}},
    )
    return paths


def scored(
    files: dict[str, Path], tmp_path: Path, *given: str, gold: str = "gold", **options
) -> list[Score]:
    out = {"out_scores": tmp_path / "scores.csv", "out_counts": tmp_path / "counts.csv"}
    further = {name: files[name] for name in ("predictions", *given)}
    score_run(RunFiles(gold=files[gold], **further, **out), KEYS, **options)
    return read_scores(out["out_scores"])


def values(rows: list[Score], *matchings: str) -> dict[str, float]:
    return {f"{row.stratum} {row.metric}": row.value for row in rows if row.matching in matchings}


@pytest.mark.parametrize(
    ("given", "options", "expected"),
    [
        (["train"], {}, {"all correct": 3, "all predicted": 5, "all gold": 5, "all sentences": 5, "all f1": 0.6,
                         "entirely_seen f1": 1, "partially_seen precision": 0.5, "unseen recall": 0,
                         "others recall": 0.5}),
        ([], {"only_with_triples": True}, {"all predicted": 4, "all gold": 5, "all sentences": 4}),
        ([], {"gold": "nz"}, {"all predicted": 4, "all gold": 5, "all sentences": 4}),  # of WZ predictions
        # sentence 4 is rejected rightly, sentence 5 with a score of exactly the default threshold
        # wrongly
        (["decisions"], {}, {"all correct": 2, "all predicted": 3, "all gold": 5, "all let_through": 3}),
        (["decisions"], {"threshold": 0.4}, {"all correct": 3, "all predicted": 4, "all let_through": 4}),
        (["decisions", "report"], {}, {"all let_through": 3, "all money": 6, "all money_ungated": 30}),
        (["report"], {}, {"all sentences": 5, "all money": None}),  # without a gate
    ],
)  # fmt: skip
def test_scores_of_a_run_by_hand(
    files: dict[str, Path], tmp_path: Path, given, options, expected: dict
) -> None:
    found = values(scored(files, tmp_path, *given, **options), "exact-string", "")
    assert {key: found.get(key) for key in expected} == pytest.approx(expected)


def test_a_run_has_its_keys_and_strata_without_sentences_no_scores(
    files: dict[str, Path], tmp_path: Path
) -> None:
    save_sentences(files["train"], GOLD)
    rows = scored(files, tmp_path, "train")
    assert all(
        (row.low, row.high) == (None, None) for row in rows
    )  # five sentences are too few for an interval
    assert {row.keys for row in rows} == {keys_of(KEYS)} and rows[0].key("testing") == "wz"
    assert {row.matching for row in rows} == set(MATCHINGS) - {"strict"}
    found = values(rows, "exact-string")
    assert found["unseen sentences"] == 0 and "unseen f1" not in found


def test_gate_needs_a_decision_for_every_sentence() -> None:
    with pytest.raises(UserError, match="1 of 5 sentences have no decision .*id '5'"):
        gate.scores_for(
            PREDICTIONS, {id_: gate.Decision(id_, score) for id_, score in DECISIONS[:4]}
        )


SCORES = ",".join(COLUMNS) + "\n,,,,,,,,all,m,f1,"


@pytest.mark.parametrize(
    ("load", "text", "message"),
    [
        (gate.load_decisions, '{"score": 0.1}', "line 1: the key 'id' is missing"),
        (
            gate.load_decisions,
            '{"id": "1", "score": 0}\n{"id": "2", "score": 1.5}',
            "line 2/score: expected at most 1",
        ),
        (
            gate.load_decisions,
            '{"id": "1", "score": 1}\n{"id": "1", "score": 0}',
            "the id '1' occurs twice",
        ),
        (load_counts, "a,b\n1,2\n", "not a file of per-sentence counts"),
        (read_scores, "study,corpus\n", "line 1: not a scores file; column 'protocol' is missing"),
        (read_scores, f"{SCORES}one,,\n", "line 2: expected finite numbers in value, low and high"),
        (
            lambda path: merge_scores([path, path], path, path),
            f"{SCORES}0.5,,\n",
            "x: holds the same score as .*x",
        ),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, load: Callable, text: str, message: str) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(UserError, match=message):
        load(tmp_path / "x")


def test_classifier_scores_by_hand(files: dict[str, Path], tmp_path: Path) -> None:
    curve = tmp_path / "curve.json"
    out = {
        "out_scores": tmp_path / "zcc.csv",
        "out_counts": tmp_path / "zcc.counts.csv",
        "out_curve": curve,
    }
    chosen = RunFiles(gold=files["gold"], decisions=files["decisions"], **out)
    score_classifier(chosen, {**KEYS, "extractor": "zcc-binary"})
    value = {row.metric: row.value for row in read_scores(tmp_path / "zcc.csv")}
    assert (value["correct"], value["predicted"], value["gold"], value["sentences"]) == (3, 3, 4, 5)
    assert (value["precision"], value["recall"], value["threshold"]) == (1.0, 0.75, 0.5)
    assert value["average_precision"] == 1.0
    stored = json.loads(curve.read_text())
    assert stored["operating_point"]["recall"] == 0.75
    assert [point["recall"] for point in stored["points"]] == [0.25, 0.5, 0.75, 1.0, 1.0]
    assert stored["points"][-1]["precision"] == 0.8


def test_counts_file_round_trip(tmp_path: Path) -> None:
    tables = {
        "exact-string": np.array([[1, 2, 3], [0, 0, 0]]),
        "partial-last": np.array([[1, 1, 3], [0, 1, 0]]),
    }
    counts = SentenceCounts(
        {"study": "é", "corpus": "c,\n1"}, ['a"b', "é"], ["unseen", None], tables
    )
    counts.save(tmp_path / "counts.csv")
    first = (tmp_path / "counts.csv").read_text(encoding="utf-8").splitlines()[0]
    assert (
        first == r'# {"corpus": "c,\n1", "study": "\u00e9"}'
    )  # the same keys always make the same line
    again = load_counts(tmp_path / "counts.csv")
    assert (again.keys, again.ids, again.strata) == (counts.keys, counts.ids, counts.strata)
    assert all((again.counts[name] == tables[name]).all() for name in tables)
    assert again.of("partial-last", "unseen").tolist() == [[1, 1, 3]]
    assert again.of("partial-last").shape == (2, 3)


def test_scores_merge_with_their_provenance(files: dict[str, Path], tmp_path: Path) -> None:
    scored(files, tmp_path)
    other = tmp_path / "other.csv"
    write_scores(other, [Score(keys_of({"corpus": "d"}), "all", "exact-string", "f1", 0.25)])
    merge_scores([tmp_path / "scores.csv", other], tmp_path / "all.csv", tmp_path / "all.json")
    assert read_scores(tmp_path / "all.csv") == read_scores([tmp_path / "scores.csv", other])
    provenance = json.loads((tmp_path / "all.json").read_text())["files"]
    first = provenance[str(tmp_path / "scores.csv")]["provenance"]
    assert (
        set(first["inputs"]) == {"gold", "predictions"}
        and first["settings"]["keys"]["corpus"] == "c"
    )
    assert "provenance" not in provenance[str(other)]
    assert sidecar_of("a/b.csv") == Path("a/b.provenance.json")


@pytest.mark.parametrize("failed", [None, "ends with exit status 1"])
def test_every_file_behind_a_score_is_an_input_of_it(
    files: dict[str, Path], tmp_path: Path, failed: str | None
) -> None:
    """Of a system that failed, the report alone decides."""
    write_json(files["report"], {"failed": failed, "queried": 5, "of": 5})
    scored(files, tmp_path, "train", "decisions", "report")
    inputs = json.loads(sidecar_of(tmp_path / "scores.csv").read_text())["inputs"]
    read = ["gold", "predictions", "train", "decisions", "report"]
    expected = ["report"] if failed else read
    assert {name: file["path"] for name, file in inputs.items()} == {
        name: str(files[name]) for name in expected
    }


def test_predictions_are_aligned_by_id_then_by_position() -> None:
    assert align(GOLD, PREDICTIONS[::-1], "g", "p") == PREDICTIONS
    anonymous = [replace(row, id=f"x{number}") for number, row in enumerate(PREDICTIONS)]
    assert align(GOLD, anonymous, "g", "p") == anonymous


@pytest.mark.parametrize(
    ("gold", "predictions", "message"),
    [
        (
            GOLD,
            PREDICTIONS[:4],
            r"p: 4 predictions for the 5 sentences of g; .*for 1 of them, such as id '5'",
        ),
        (
            GOLD,
            [replace(PREDICTIONS[0], text="Bob slept"), *PREDICTIONS[1:]],
            r"p: sentence 1 \(id '1'\) reads 'Bob slept', but g has",
        ),
        (
            [Sentence("1", "y")],
            [Sentence("1", "x" * 60)],
            f"reads '{'x' * 60}', but g has 'y' there",
        ),
        (
            [Sentence("1", "y")],
            [Sentence("1", "x" * 61)],
            f"reads '{'x' * 57}…', but g has 'y' there",
        ),
        (
            [Sentence("1", "y"), Sentence("2", "z")],
            [Sentence("1", "x")],
            "same ids or texts; no text is the same$",
        ),
    ],
)
def test_predictions_that_do_not_fit_are_refused(
    gold: list[Sentence], predictions: list, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        align(gold, predictions, "g", "p")


def test_texts_may_differ_in_blanks_and_accents(caplog: pytest.LogCaptureFixture) -> None:
    gold, guess = [Sentence("1", "Cancún ( Mexico )")], [Sentence("1", "Cancun (Mexico)")]
    assert align(gold, guess, "g", "p") == guess
    assert "1 texts differ from g in blanks or accents only" in caplog.text


@pytest.mark.parametrize(
    ("row", "load", "message"),
    [
        ({"predict": []}, lambda path: load_pair(path, path), "nothing is known to be the triples"),
        (
            {"predict": []},
            lambda path: load_pair(path, path, "predictions"),
            "item 1: field 'truth' is missing",
        ),
        (
            {},
            lambda path: load_side(path, "predict", "predictions"),
            "item 1: field 'predict' is missing",
        ),
        (
            {},
            lambda path: load_side(path, "predict"),
            "the format cannot be recognised from the content",
        ),
    ],
)
def test_what_stored_predictions_lack_is_said(
    tmp_path: Path, row: dict, load: Callable, message: str
) -> None:
    path = tmp_path / "stored.json"
    path.write_text(json.dumps([{"text": "Ann", **row}]))
    with pytest.raises(UserError, match=message):
        load(path)


FENCED = 'Here it is:\n```json\n[["Ann", "wrote", "Emma"]]\n```'


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "Ann wrote Emma", "triples": FENCED}, "'triples' is an answer .* a code fence"),
        ({"id": "0", "triples": FENCED}, "if one holds the answers of a language model"),
    ],
)
def test_answers_in_a_field_of_triples_are_refused_with_the_option_that_reads_them(
    tmp_path: Path, row: dict, message: str
) -> None:
    gold, found = tmp_path / "gold.jsonl", tmp_path / "found.jsonl"
    save_sentences(gold, [sentence("Ann wrote Emma", EMMA, id_="0")])
    found.write_text(json.dumps(row) + "\n")
    with pytest.raises(UserError, match=f"{message}.*--predicted-column answer="):
        load_pair(gold, found)
    right, guess = load_pair(gold, found, predicted_columns={"answer": "triples"})
    assert [item.triples for item in guess] == [item.triples for item in right]


def test_predictions_may_have_another_format_than_the_corpus(tmp_path: Path) -> None:
    gold, found = tmp_path / "gold.json", tmp_path / "found.jsonl"
    gold.write_text(json.dumps([{"text": "Ann wrote Emma", "triple_list": [EMMA]}]))
    save_sentences(found, [sentence("Ann wrote Emma", EMMA, id_="0")])
    right, guess = load_pair(gold, found, "triple-list")
    assert right == guess
    found.write_text(json.dumps([{"text": "Ann wrote Emma", "truth": [], "predict": [EMMA]}]))
    for options in ({}, {"predicted_format": "predictions"}):
        assert load_pair(gold, found, "triple-list", **options)[1] == guess


def test_answers_without_texts_are_found_by_their_ids_each_once(
    files: dict[str, Path], caplog
) -> None:
    write_jsonl(files["predictions"], [{"id": str(n), "triples": [ULYSSES]} for n in (5, 1)])
    gold, guess = load_pair(files["gold"], files["predictions"], missing="empty")
    assert guess == [sentence(row.text, *[ULYSSES] * (row.id in "15"), id_=row.id) for row in GOLD]
    assert (
        "3 of 5 sentences have no prediction and count as without triples, such as '2' and '3'"
        in caplog.text
    )
    for id_, said in (("1", "comes a second time"), ("6", "is no id of the gold")):
        write_jsonl(files["predictions"], [{"id": each, "triples": []} for each in ("1", id_)])
        with pytest.raises(UserError, match=f"line 2: '{id_}' {said}"):
            load_pair(files["gold"], files["predictions"])


def test_a_curve_has_one_point_for_each_different_score() -> None:
    gold = [GOLD[0], GOLD[3], GOLD[0], GOLD[3]]
    found = gate.precision_recall_curve(gold, np.array([0.9, 0.5, 0.5, 0.1]))
    assert [tuple(point.values()) for point in found["points"]] == [
        (0.9, 1, 0.5),
        (0.5, 0.666667, 1),
        (0.1, 0.5, 1),
    ]
    assert found["average_precision"] == pytest.approx(0.5 + 0.5 * 2 / 3)
    many = gate.precision_recall_curve([GOLD[0]] * 401, np.linspace(0, 1, 401))["points"]
    assert len(many) == 201  # over 400, every second one
    assert (
        len(gate.precision_recall_curve([GOLD[0]] * 400, np.linspace(0, 1, 400))["points"]) == 400
    )


def test_clue_words_are_counted_by_hand_the_most_frequent_first() -> None:
    """Sentence 2 has a score of exactly the threshold; whether a word is of an entity's name,
    case does not decide.
    """
    clues = [
        ("1", 0.9, "WROTE"),
        ("2", 0.5, "Emma"),
        ("3", 0.6, "bob"),
        ("4", 0.6, "Bob"),
        ("5", 0.8, "ann"),
    ]
    found = gate.clue_words(
        [*GOLD, sentence("It rains", id_="6")],
        {id_: gate.Decision(id_, *rest) for id_, *rest in [*clues, ("6", 1, "")]},
    )
    assert [*found["passed"].items()] == [
        ("bob", [2, 1, 1]),
        ("ann", [1, 1, 1]),
        ("wrote", [1, 1, 0]),
    ]
    assert found["rejected"] == {"emma": [1, 1, 1]}


@pytest.mark.parametrize(
    ("given", "explained"), [(["report"], True), ([], False), (["decisions", "report"], False)]
)
def test_counts_of_a_queried_system_say_why_it_has_few_matches(
    files: dict[str, Path], tmp_path: Path, given: list[str], explained: bool
) -> None:
    save_sentences(files["predictions"], [replace(each, triples=()) for each in PREDICTIONS])
    scored(files, tmp_path, *given)
    assert bool(load_counts(tmp_path / "counts.csv").reasons) == explained


def test_a_system_is_scored_on_the_sentences_that_it_was_queried_about(
    files: dict[str, Path], tmp_path: Path
) -> None:
    save_sentences(files["predictions"], PREDICTIONS[:3])
    with pytest.raises(UserError, match="3 predictions for the 5 sentences"):  # two were lost
        scored(files, tmp_path, "report")
    write_json(files["report"], {"failed": None, "queried": 3, "of": 5})
    assert values(scored(files, tmp_path, "report"), "exact-string")["all sentences"] == 3


def test_repeated_texts_are_said_once_they_are_matched_by_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gold = [Sentence("a", "one"), Sentence("b", "two"), Sentence("c", "one")]
    assert align(gold[:2], [Sentence("x", "two"), Sentence("y", "one")], "g", "p")[0].id == "y"
    assert not caplog.messages
    guess = [Sentence("x", "two"), Sentence("y", "one"), Sentence("z", "one")]
    assert [row.id for row in align(gold, guess, "g", "p")] == ["y", "x", "z"]
    assert "some texts stand several times" in caplog.text


def test_columns_that_are_named_are_read_where_usual_ones_are_there_too(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    row = {
        "text": "Ann saw Bob",
        "triples": [["Ann", "r", "Bob"]],
        "checked": [["Bob", "r", "Ann"]],
    }
    path.write_text(json.dumps(row) + "\n")
    for columns, subject in ((None, "Ann"), ({"triples": "checked"}, "Bob")):
        (sentence,) = load_side(path, "truth", columns=columns)
        assert [triple.subject.text for triple in sentence.triples] == [subject]
