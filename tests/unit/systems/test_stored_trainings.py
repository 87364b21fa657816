"""Stored predictions of trainings, scored as a study does: counts are those that were stored with them."""

import json

import pytest

from tripleaudit.corpora.registered import read_registered
from tripleaudit.corpora.store import save_sentences
from tripleaudit.protocols.strata import STRATA
from tripleaudit.scoring.counts import load_counts
from tripleaudit.scoring.matching import PRIMARY
from tripleaudit.scoring.metrics import in_stratum, micro
from tripleaudit.scoring.rows import RunFiles, score_run
from tripleaudit.scoring.sides import load_side
from tripleaudit.systems.stored import matched

PARTS = ("ss", "su", "us", "uu")


@pytest.fixture(scope="module")
def gold(real_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gold")
    for name, corpus, split in (("train", "webnlg", "train"), ("test", "webnlg", "test"),
                                ("augmented", "webnlg-augmented", "test")):  # fmt: skip
        save_sentences(folder / f"{name}.jsonl", read_registered(corpus, split, real_data).sentences)
    return folder


@pytest.mark.parametrize("training", ["birte", "mp-casrel-en", "tplinker"])
def test_scores_are_those_that_were_stored_with_the_training(gold, real_data, tmp_path, training):
    stored = real_data / "gpu-webnlg" / training
    known = json.loads((stored / "scores.json").read_text())

    def counts(test, *files):
        sentences = load_side(gold / f"{test}.jsonl", "gold")
        found = [sentence for file in files for sentence in load_side(stored / file, "predict")]
        guess = tmp_path / f"{test}.jsonl"
        save_sentences(guess, matched(sentences, found, training))
        out = [tmp_path / f"{test}.{kind}.csv" for kind in ("scores", "counts")]
        keys = {"study": "s", "corpus": "webnlg", "protocol": test, "training": "nz", "testing": "nz", "extractor": "x"}
        score_run(RunFiles(gold / f"{test}.jsonl", guess, *out, train=gold / "train.jsonl"), keys)
        return load_counts(out[1])

    def compared(table, strata, expected):
        for name in ("all", *STRATA):
            rows = table if name == "all" else table[in_stratum(strata, name)]
            record = expected["micro"] if name == "all" else expected["strata"][name]
            measured = micro(rows).to_json()
            assert {key: measured[key] for key in record if key in measured} == pytest.approx(
                {key: record[key] for key in record if key in measured}, abs=1e-12
            )
            assert {"f1", "correct"} <= measured.keys() & record.keys()

    original = counts("test", "pred_test.jsonl")
    compared(original.counts[PRIMARY], original.strata, known["test"])
    augmented = counts("augmented", *(f"pred_aug_{part}.jsonl" for part in PARTS))
    table, size = augmented.counts[PRIMARY], len(original.ids)
    assert len(table) == len(PARTS) * size == 4 * 703
    for number, part in enumerate(PARTS):
        place = slice(number * size, (number + 1) * size)
        compared(table[place], augmented.strata[place], known[f"aug_{part}"])
