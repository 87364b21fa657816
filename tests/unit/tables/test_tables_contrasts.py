"""Contrasts and data frames of a study: differences recomputed from the counts, corrected
p-values, marks, doubling.
"""

import glob

import numpy as np
import pandas as pd
import pytest

import tripleaudit as ta
from support.scored import Results, pretend, sentences_of
from tripleaudit.core.errors import UserError
from tripleaudit.scoring.counts import load_counts
from tripleaudit.tables.building import build_table
from tripleaudit.tables.contrasts import AT_LEAST, OPEN, SHOWN, SYSTEMS
from tripleaudit.tables.frames import write_frames


def make_results(folder):
    made = Results(folder)
    for name, quality in (("casrel", 0.7), ("prgc", 0.3)):
        made.run(name, quality=quality, seeds=(1, 2, 3))
    made.run("casrel", quality=0.7, testing="wz", zero=100, seeds=(1, 2, 3))
    made.run("casrel", quality=0.9, noise="noising", seeds=(1, 2, 3))
    made.baseline("memorise", pretend(sentences_of(200), 0.5, 0, 5))
    return made


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Scored runs that no test changes."""
    return make_results(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def study(results):
    """The data frames of these runs."""
    return frames_of(results)


def frames_of(results, doubled=()):
    write_frames(results.folder, results.scores, results.counts, doubled, results.runs)
    return ta.load(results.folder)


def f1(counts):
    correct, predicted, gold = counts[["correct", "predicted", "gold"]].sum()
    return 2 * correct / (predicted + gold)


def test_every_difference_is_that_of_the_counts(study):
    keys = ("protocol", "training", "testing", "extractor", "noise")
    assert len(study.contrasts) > 10
    for row in study.contrasts.to_dict("records"):
        means = {}
        for side in ("first", "second"):
            counts = study.counts[study.counts["matching"] == "exact-string"]
            for key in keys:
                counts = counts[counts[key] == row[f"{key}_{side}"]]
            if row[f"stratum_{side}"] != "all":
                counts = counts[counts["stratum"].isin(row[f"stratum_{side}"].split("+"))]
            means[side] = np.mean([f1(part) for _, part in counts.groupby("seed", observed=True)])
            assert row[side] == pytest.approx(means[side])
        assert row["difference"] == pytest.approx(means["second"] - means["first"])
        assert row["low"] <= row["difference"] <= row["high"]


def test_the_interval_of_a_pair_is_that_of_resampling_sentences_and_runs(results, study):
    """An independent bootstrap: sentences with replacement, and Student's t times the spread of
    the seeds.
    """
    random = np.random.default_rng(5)
    (row,) = study.contrasts[
        study.contrasts["contrast"] == "zero-triple sentences in the test"
    ].to_dict("records")
    runs = [load_counts(path) for path in glob.glob(f"{results.folder}/*.counts.csv")]
    sides = {}
    for testing in ("nz", "wz"):
        chosen = [
            run for run in runs if run.keys["extractor"] == "casrel" and run.keys["noise"] == "none"
        ]
        chosen = sorted(
            (run for run in chosen if run.keys["testing"] == testing),
            key=lambda run: run.keys["seed"],
        )
        sides[testing] = np.stack([run.counts["exact-string"] for run in chosen], axis=1)
    first = np.concatenate(
        [sides["nz"], np.zeros((100, 3, 3), dtype=int)]
    )  # the same sentences, zero-triple ones empty
    drawn = []
    for _ in range(2000):
        positions = random.integers(0, len(first), len(first))
        totals = [side[positions].sum(axis=0) for side in (first, sides["wz"])]
        scores = [2 * total[:, 0] / (total[:, 1] + total[:, 2]) for total in totals]
        drawn.append((scores[1] - scores[0]).mean())
    sentences_only = np.quantile(drawn, [0.025, 0.975])
    assert row["low"] <= sentences_only[0] + 0.004 and row["high"] >= sentences_only[1] - 0.004
    assert row["high"] - row["low"] < 2.5 * np.ptp(sentences_only)


def side_counts(study, row, side: str) -> pd.DataFrame:
    """The counts of one side of a contrast of single seeds, by sentence."""
    counts = study.counts[study.counts["matching"] == row["matching"]]
    for key in ("protocol", "training", "testing", "extractor", "noise"):
        counts = counts[counts[key] == row[f"{key}_{side}"]]
    stratum = row[f"stratum_{side}"]
    if stratum != "all":
        counts = counts[counts["stratum"].isin(stratum.split("+"))]
    return counts.set_index("id")[["correct", "predicted", "gold"]]


def resampled_f1(counts: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """F1 of each resample, from how often it draws each sentence ``[resamples, sentences]``."""
    correct, predicted, gold = (draws @ counts).T
    return 2 * correct / (predicted + gold)


def test_every_interval_of_single_seeds_is_that_of_a_plain_bootstrap(tmp_path):
    """Resample sentences: the same ones of both sides where they are paired."""
    made = Results(tmp_path)
    for name, quality in (("casrel", 0.7), ("prgc", 0.45)):
        for testing, zero in (("nz", 0), ("wz", 100)):
            made.run(name, quality=quality, testing=testing, zero=zero)
    made.run("casrel", quality=0.85, noise="noising")
    study, random = frames_of(made), np.random.default_rng(7)
    rows = study.contrasts.to_dict("records")
    assert len(rows) > 10 and {row["paired"] for row in rows} == {True, False}
    for row in rows:
        first, second = (side_counts(study, row, side) for side in ("first", "second"))
        if row["paired"]:
            # sentences without triples are in one test set alone
            ids = first.index.union(second.index)
            first, second = (side.reindex(ids, fill_value=0) for side in (first, second))
        draws = [
            random.multinomial(len(side), np.full(len(side), 1 / len(side)), 4000)
            for side in (first, second)
        ]
        if row["paired"]:
            draws[1] = draws[0]
        differences = resampled_f1(second.to_numpy(), draws[1]) - resampled_f1(
            first.to_numpy(), draws[0]
        )
        low, high = np.quantile(differences, [0.025, 0.975])
        tolerance = 0.08 * (high - low)  # of two random resamplings
        assert row["difference"] == pytest.approx(f1(second) - f1(first))
        assert (row["low"], row["high"]) == pytest.approx((low, high), abs=tolerance)


def test_frames_are_parquet_and_csv(results, study):
    for name in ("scores", "counts", "cells", "contrasts"):
        frame = pd.read_parquet(results.folder / f"{name}.parquet")
        assert len(frame) and frame.equals(getattr(study, name))
    assert len(pd.read_csv(results.folder / "contrasts.csv")) == len(study.contrasts)
    cells = study.cells.set_index(
        ["extractor", "noise", "testing", "stratum", "matching", "metric"]
    )
    cell = cells.loc[("casrel", "none", "nz", "all", "exact-string", "f1")]
    table = build_table("type-f1", results.inputs()).cell("CasRel", "F1")
    assert (100 * cell["mean"], 100 * cell["low"], cell["seeds"]) == pytest.approx(
        (table.value, table.low, 3)
    )
    with pytest.raises(UserError, match="no such folder"):
        ta.load(results.folder / "absent")


def test_frames_hold_every_score_and_every_counted_sentence(results):
    frames_of(results)
    scores, counts, cells = (
        pd.read_parquet(results.folder / f"{name}.parquet")
        for name in ("scores", "counts", "cells")
    )
    keys = [
        name for name in scores.columns if name not in ("study", "seed", "value", "low", "high")
    ]
    assert len(scores) == sum(len(pd.read_csv(path)) for path in results.scores)
    files = [load_counts(path) for path in results.counts]
    assert len(counts) == sum(len(file.ids) * len(file.counts) for file in files)
    means = scores.groupby(keys)["value"].mean()
    assert cells.set_index(keys)["mean"].to_dict() == pytest.approx(means.to_dict())


def test_baselines_are_not_counted_in_the_correction(study):
    frame = study.contrasts
    pairs = frame[frame["contrast"] == SYSTEMS]
    corrected = pairs[pairs["p_holm"].notna()]
    assert set(corrected["extractor_first"]) | set(corrected["extractor_second"]) == {
        "casrel",
        "prgc",
    }
    assert corrected["p_holm"].tolist() == pytest.approx(
        corrected["p"].tolist()
    )  # of one pair nothing is corrected


def test_a_contrast_of_a_rising_training_is_a_lower_bound_after_twice_the_epochs(tmp_path):
    results = make_results(tmp_path)
    rising = {"slope": 0.02, "error": 0.001, "flat": False, "best_step": 9}
    keys = {
        "corpus": "webnlg",
        "protocol": "original",
        "training": "nz",
        "extractor": "casrel",
        "noise": "noising",
    }
    results.fact(keys={**keys, "seed": 1}, convergence=rising, seconds=1.0, epochs=10)
    name = "with Entity Noising, all triples"

    def outcome(doubled):
        frame = frames_of(results, doubled).contrasts
        (row,) = frame[frame["contrast"] == name].to_dict("records")
        return row

    assert outcome(())["outcome"] == OPEN
    (tmp_path / "doubled").mkdir()
    longer = Results(tmp_path / "doubled")
    longer.run("casrel", quality=0.72)
    longer.run("casrel", quality=0.95, noise="noising")
    row = outcome(longer.counts)
    assert row["outcome"] == AT_LEAST and row["low_doubled"] > 0
    results.runs.clear()
    assert outcome(())["outcome"] == SHOWN


def test_the_table_of_contrasts_has_their_differences(results, study):
    table, frame = build_table("contrasts", results.inputs()), study.contrasts
    (row,) = frame[frame["contrast"] == "entirely seen to unseen"][
        lambda rows: rows["extractor_first"] == "prgc"
    ].index
    cell = table.cell("PRGC", "Difference", row_group="entirely seen to unseen")
    assert cell.value == pytest.approx(100 * frame.loc[row, "difference"])
    assert cell.low == pytest.approx(100 * frame.loc[row, "low"])


def test_every_row_of_the_table_says_on_which_test_set(tmp_path):
    results = make_results(tmp_path)
    results.run("casrel", quality=0.5, protocol="augmented", seeds=(1, 2, 3))
    table = build_table("contrasts", results.inputs())
    systems = [row.label for row in table.rows if row.group == "entirely seen to unseen"]
    noised = [name for name in systems if name.startswith("CasRel")]
    assert sorted(noised) == ["CasRel", "CasRel (Aug.)", "CasRel+EN"]
