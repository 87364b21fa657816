"""The option ``by`` of tables: the scores of ``tripleaudit score --by`` for every system."""

from dataclasses import replace

import pytest

import tripleaudit as ta
from support.scored import make_study
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.scoring.breakdown import PARTS
from tripleaudit.scoring.rows import RunFiles, score_run
from tripleaudit.tables.building import build_table
from tripleaudit.tables.inputs import load_inputs

TEST, TRAIN = "test-nz", "train.jsonl"


def table_of(study, by, **options):
    """Return ``type-f1`` of a study with the option ``by``."""
    inputs = load_inputs(
        scores=sorted((study / "scores").rglob("*.csv")),
        counts=sorted((study / "counts").rglob("*.csv")),
        options={"by": by, **options},
    )
    return build_table("type-f1", inputs)


def with_scores(sentence: Sentence) -> Sentence:
    """Return a predicted sentence whose triples have a score from 0.15 to 0.85."""
    score = 0.15 + int(sentence.id[1:]) % 8 / 10
    return replace(
        sentence, triples=tuple(replace(triple, score=score) for triple in sentence.triples)
    )


def rescore(study, seeds) -> None:
    """Score every run again, after the predicted triples got a score."""
    for seed in seeds:
        run = f"c/original-nz/casrel/none/seed{seed}"
        path = study / "predictions" / run / "test.jsonl"
        save_sentences(path, map(with_scores, load_sentences(path)))
        sets = study / "protocols" / "c" / "original" / "nz"
        files = RunFiles(
            gold=sets / "test.jsonl",
            predictions=path,
            train=sets / "train.jsonl",
            out_scores=study / "scores" / run / "test-nz.csv",
            out_counts=study / "counts" / run / "test-nz.csv",
        )
        keys = {"study": study.name, "corpus": "c", "protocol": "original", "training": "nz"}
        keys |= {"testing": "nz", "extractor": "casrel", "noise": "none", "seed": seed}
        score_run(files, keys, 50)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    study = make_study(tmp_path_factory.mktemp("study"), {"casrel": 0.7}, seeds=(1, 2))
    rescore(study, (1, 2))
    return study


def scores_by(study, seed):
    """Return what ``ta.score(by=...)`` reports on one seed."""
    sets = study / "protocols" / "c" / "original" / "nz"
    predictions = study / f"predictions/c/original-nz/casrel/none/seed{seed}/test.jsonl"
    by = [part for part in PARTS if part != "mentions"]
    gold = sets / "test.jsonl"
    wanted = {sentence.id for sentence in load_sentences(gold)}
    kept = study / f"kept-{seed}.jsonl"
    save_sentences(kept, [row for row in load_sentences(predictions) if row.id in wanted])
    return ta.score(gold, kept, train=sets / "train.jsonl", by=by, bootstrap=50)


COLUMNS = [
    ("Overlap", "Normal", lambda result: result.overlap["Normal"].f1),
    ("Gold triples", "1", lambda result: result.cardinality["1"].f1),
    ("", "Entities", lambda result: result.elements["entities"].f1),
    ("", "Relations", lambda result: result.elements["relations"].f1),
    ("", "Ign F1", lambda result: result.ign["f1"]),
    ("Score ≥ 0.5", "Prec.", lambda result: result.thresholds["0.5"].precision),
    ("Score ≥ 0.3", "Rec.", lambda result: result.thresholds["0.3"].recall),
]


def test_cells_are_means_of_what_score_by_reports(study) -> None:
    table = table_of(study, [part for part in PARTS if part != "mentions"])
    results = [scores_by(study, seed) for seed in (1, 2)]
    for group, column, value in COLUMNS:
        cell = table.cell("CasRel", column, column_group=group)
        first, second = map(value, results)
        assert first != second and cell.seeds == 2, column
        assert cell.value == pytest.approx(100 * (first + second) / 2, abs=1e-12)
        assert cell.sd == pytest.approx(100 * abs(first - second) / 2**0.5, abs=1e-12)
        assert (cell.low is None) == (column == "Ign F1")
        assert cell.low is None or cell.low < cell.value < cell.high


def test_intervals_of_one_seed_are_those_of_score_by(tmp_path) -> None:
    study = make_study(tmp_path, {"casrel": 0.7})
    rescore(study, (1,))
    table, result = table_of(study, ["overlap", "entities", "thresholds"]), scores_by(study, 1)
    expected = {
        ("Overlap", "Normal"): result.overlap["Normal"].intervals["f1"],
        ("", "Entities"): result.elements["entities"].intervals["f1"],
        ("Score ≥ 0.5", "Rec."): result.thresholds["0.5"].intervals["recall"],
    }
    for (group, column), bounds in expected.items():
        cell = table.cell("CasRel", column, column_group=group)
        assert [cell.low, cell.high] == pytest.approx([100 * bound for bound in bounds], abs=1e-12)


def test_columns_that_no_system_has_are_left_out(study) -> None:
    table = table_of(study, ["mentions", "overlap"])
    assert [column.label for column in table.columns][4:] == ["Normal"]
    assert any(note.startswith("Normal, SEO, EPO:") for note in table.notes)


def test_predictions_that_have_changed_are_refused(tmp_path) -> None:
    study = make_study(tmp_path, {"casrel": 0.7})
    path = study / "predictions/c/original-nz/casrel/none/seed1/test.jsonl"
    save_sentences(path, load_sentences(path)[::-1])
    with pytest.raises(UserError, match="has changed since .* was counted from it"):
        table_of(study, ["overlap"])
