"""The option ``by`` of tables: the scores of ``tripleaudit score --by`` for every system."""

from dataclasses import replace

import pytest

import tripleaudit as ta
from support.scored import SPANS, make_study
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import write_jsonl
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.scoring.breakdown import PARTS
from tripleaudit.scoring.elements import entity_counts, mention_counts, relation_counts
from tripleaudit.scoring.rows import RunFiles, score_run
from tripleaudit.tables.building import build_table
from tripleaudit.tables.inputs import load_inputs

TEST, TRAIN = "test-nz", "train.jsonl"


def table_of(study, by, name="type-f1", **options):
    """Return a table of a study with the option ``by``."""
    inputs = load_inputs(
        scores=sorted((study / "scores").rglob("*.csv")),
        counts=sorted((study / "counts").rglob("*.csv")),
        options={"by": by, **options},
    )
    return build_table(name, inputs)


def with_scores(sentence: Sentence) -> Sentence:
    """Return a predicted sentence whose triples have a score from 0.15 to 0.85."""
    score = 0.15 + int(sentence.id[1:]) % 8 / 10
    return replace(
        sentence, triples=tuple(replace(triple, score=score) for triple in sentence.triples)
    )


def rescore(study, seeds, changed=with_scores) -> None:
    """Score every run again, after its predicted sentences were changed."""
    for seed in seeds:
        run = f"c/original-nz/casrel/none/seed{seed}"
        path = study / "predictions" / run / "test.jsonl"
        save_sentences(path, map(changed, load_sentences(path)))
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


def test_any_name_of_an_entity_counts_in_the_column_of_mentions(tmp_path) -> None:
    study = make_study(tmp_path, {"casrel": 0.7})
    gold = study / "protocols" / "c" / "original" / "nz" / "test.jsonl"
    names = (("Ann", "Emma"), ("Rome",))
    save_sentences(gold, [replace(row, names=names) for row in load_sentences(gold)])

    def with_other_name(sentence: Sentence) -> Sentence:
        """Return a predicted sentence that calls Ann Emma."""
        triples = [
            replace(triple, subject=SPANS["Emma"]) if triple.subject.text == "Ann" else triple
            for triple in sentence.triples
        ]
        return replace(sentence, triples=tuple(triples))

    rescore(study, (1,), with_other_name)
    cell = table_of(study, ["mentions"]).cell("CasRel", "Mentions")
    path = study / "predictions/c/original-nz/casrel/none/seed1/test.jsonl"
    by_id = {sentence.id: sentence for sentence in load_sentences(path)}
    right = load_sentences(gold)
    predicted = [by_id[sentence.id] for sentence in right]
    correct, found, expected = mention_counts(right, predicted, "exact-string").sum(axis=0)
    assert cell.value == pytest.approx(200 * correct / (found + expected), abs=1e-12)
    assert cell.low < cell.value < cell.high
    f1 = table_of(study, ["mentions"]).cell("CasRel", "F1")
    assert cell.value > f1.value + 20


def test_end_to_end_divides_the_scores_of_both_test_sets(tmp_path) -> None:
    study = make_study(tmp_path, {"casrel": 0.7}, seeds=(1, 2))
    table = table_of(study, ["entities", "overlap"], "end-to-end")
    sets = study / "protocols" / "c" / "original"
    f1 = {}
    for setting in ("nz", "wz"):
        gold = load_sentences(sets / setting / "test.jsonl")
        values = []
        for seed in (1, 2):
            path = study / f"predictions/c/original-nz/casrel/none/seed{seed}/test.jsonl"
            by_id = {sentence.id: sentence for sentence in load_sentences(path)}
            predicted = [by_id[sentence.id] for sentence in gold]
            correct, found, expected = entity_counts(gold, predicted, "exact-string").sum(axis=0)
            values.append(200 * correct / (found + expected))
        group = f"Test {setting.upper()}"
        cell = table.cell("CasRel", "Entities", "c, trained NZ", group)
        assert cell.value == pytest.approx(sum(values) / 2, abs=1e-12)
        overlap = table.cell("CasRel", "Normal", "c, trained NZ", f"{group}, Overlap")
        assert overlap.seeds == 2
        f1[setting] = cell.value
    assert f1["wz"] < f1["nz"]  # entities of sentences without triples are wrong


@pytest.mark.parametrize("name", ["sifted", "two-step"])
def test_tables_with_columns_of_corpora_divide_each_corpus(tmp_path, name) -> None:
    study = make_study(tmp_path, {"casrel": 0.7})
    sets = study / "protocols" / "c" / "original" / "wz"
    predictions = study / "predictions/c/original-nz/casrel/none/seed1/test.jsonl"
    gold = load_sentences(sets / "test.jsonl")
    decisions = study / "decisions.jsonl"
    rejected = {sentence.id for sentence in gold[::3]}
    write_jsonl(
        decisions, [{"id": row.id, "score": 0.1 if row.id in rejected else 0.9} for row in gold]
    )
    keys = {"study": study.name, "corpus": "c", "training": "nz", "noise": "none", "seed": 1}
    if name == "two-step":
        keys |= {"protocol": "original", "testing": "wz", "extractor": "zcc-binary+casrel"}
    else:
        keys |= {"protocol": "sift-1", "testing": "nz", "extractor": "casrel"}
    files = RunFiles(
        gold=sets / "test.jsonl",
        predictions=predictions,
        train=study / "protocols/c/original/nz/train.jsonl",
        decisions=decisions if name == "two-step" else None,
        out_scores=study / "scores/c/other.csv",
        out_counts=study / "counts/c/other.csv",
    )
    score_run(files, keys, 50)
    table = table_of(study, ["relations"], name)
    row = "CasRel" if name == "two-step" else "Sift-1"
    cell = table.cell(row, "Relations", column_group="c")
    by_id = {sentence.id: sentence for sentence in load_sentences(predictions)}
    predicted = [by_id[sentence.id] for sentence in gold]
    if name == "two-step":
        predicted = [
            replace(sentence, triples=() if sentence.id in rejected else sentence.triples)
            for sentence in predicted
        ]
    correct, found, expected = relation_counts(gold, predicted, "exact-string").sum(axis=0)
    assert cell.value == pytest.approx(200 * correct / (found + expected), abs=1e-12)


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
