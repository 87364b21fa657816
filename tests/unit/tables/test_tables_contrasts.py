"""Contrasts and data frames of a study: differences recomputed from the counts, corrected
p-values, marks, doubling.
"""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import tripleaudit as ta
from support.scored import Results, pretend, sentences_of
from support.workflow import ROOT
from tripleaudit.core.errors import UserError
from tripleaudit.scoring.counts import load_counts
from tripleaudit.scoring.scores import KEYS, Score, keys_of, write_scores
from tripleaudit.tables.building import build_table
from tripleaudit.tables.contrasts import (
    AT_LEAST,
    FEW,
    OPEN,
    SHOWN,
    SYSTEMS,
    contrast_names,
    contrasts,
)
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


def load_counts_of(path) -> pd.DataFrame:
    columns = ["correct", "predicted", "gold"]
    return pd.DataFrame(load_counts(path).counts["exact-string"], columns=columns)


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


SIDE_KEYS = ("protocol", "training", "testing", "extractor", "noise", "stratum")
DRAWS = 3000


def side_counts(study, row, side: str) -> pd.DataFrame:
    """Return the counts of one side of a contrast: a row for each sentence, columns by seed."""
    counts = study.counts[study.counts["matching"] == row["matching"]]
    for key in SIDE_KEYS[:-1]:
        counts = counts[counts[key] == row[f"{key}_{side}"]]
    stratum = row[f"stratum_{side}"]
    if stratum != "all":
        counts = counts[counts["stratum"].isin(stratum.split("+"))]
    columns = ["correct", "predicted", "gold"]
    return counts.pivot(index="id", columns="seed", values=columns).swaplevel(axis=1)


def by_seed(counts: pd.DataFrame) -> np.ndarray:
    """Return such counts as ``[sentences, seeds, 3]``."""
    seeds = sorted(counts.columns.unique(0))
    return np.stack([counts[seed][["correct", "predicted", "gold"]] for seed in seeds], axis=1)


def mean_f1(totals: np.ndarray) -> np.ndarray:
    """Return F1 of totals ``[..., seeds, 3]``, the mean over seeds."""
    return f1_by_seed(totals).mean(axis=-1)


def f1_by_seed(totals: np.ndarray) -> np.ndarray:
    return 2 * totals[..., 0] / (totals[..., 1] + totals[..., 2])


def drawn_totals(weights: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return totals ``[draws, seeds, 3]``, from how often each draw has each sentence."""
    totals = weights @ counts.reshape(len(counts), -1)
    return totals.reshape(len(weights), *counts.shape[1:])


def weight_of_sentences(counts: np.ndarray) -> np.ndarray:
    """Return by how much each sentence moves F1, ``[sentences, seeds]`` (linearised)."""
    size = counts[..., 1] + counts[..., 2]
    score = f1_by_seed(counts.sum(axis=0))
    return (2 * counts[..., 0] - score * size) / size.sum(axis=0)


def spread_of_seeds(first: np.ndarray, second: np.ndarray, same_models: bool) -> float:
    """Return the variance of a difference of means over seeds that stems from the seeds."""
    scores = [f1_by_seed(side.sum(axis=0)) for side in (first, second)]
    variances = [side.var(ddof=1) / len(side) if len(side) > 1 else 0 for side in scores]
    if min(map(len, scores)) < 2:
        return sum(variances)
    of_pairs = (scores[1] - scores[0]).var(ddof=1) / len(scores[0])
    if same_models:
        return of_pairs
    return sum(variances) - max(sum(variances) - of_pairs, 0) / 2


def degrees_of_freedom(first: np.ndarray, second: np.ndarray, same_models: bool) -> int:
    varying = [side for side in (first, second) if (side != side[:, :1]).any()]
    freedom = [side.shape[1] - 1 for side in varying]
    return max(freedom, default=0) if same_models else sum(freedom)


def expected_differences(
    first: np.ndarray, second: np.ndarray, paired: bool, same_models: bool, random
) -> np.ndarray:
    """Resample sentences, the same ones of both sides where they are paired, and add the seeds'
    spread times Student's t.
    """
    weights = [
        random.multinomial(len(side), np.full(len(side), 1 / len(side)), DRAWS)
        for side in (first, second)
    ]
    if paired:
        weights[1] = weights[0]
    differences = mean_f1(drawn_totals(weights[1], second)) - mean_f1(
        drawn_totals(weights[0], first)
    )
    freedom = degrees_of_freedom(first, second, same_models)
    if freedom:
        variance = spread_of_seeds(first, second, same_models)
        if paired and same_models:
            variance = max(variance - resampled_already(first, second), variance / 2)
        differences += variance**0.5 * random.standard_t(freedom, DRAWS)
    return differences


def resampled_already(first: np.ndarray, second: np.ndarray) -> float:
    """Return the seeds' variance that drawing sentences draws with them."""
    change = weight_of_sentences(second) - weight_of_sentences(first)
    return change.var(axis=1, ddof=1).sum() / change.shape[1]


def expected_p(first: np.ndarray, second: np.ndarray, same_models: bool, random) -> float:
    """Exchange the sides of random sentences, and add the seeds' spread times Student's t."""
    observed = mean_f1(second.sum(axis=0)) - mean_f1(first.sum(axis=0))
    exchanged = random.integers(0, 2, (DRAWS, len(first)))
    moved = drawn_totals(exchanged, second - first)
    null = mean_f1(second.sum(axis=0) - moved) - mean_f1(first.sum(axis=0) + moved)
    freedom = degrees_of_freedom(first, second, same_models)
    if freedom:
        variance = spread_of_seeds(first, second, same_models)
        if same_models:
            variance = max(variance - resampled_already(first, second), variance / 2)
        else:
            sides = [weight_of_sentences(side) for side in (first, second)]
            chance = sum(side.var(axis=1, ddof=1).sum() for side in sides) / first.shape[1]
            total = ((sides[1].mean(axis=1) - sides[0].mean(axis=1)) ** 2).sum()
            null *= max(0, 1 - chance / total) ** 0.5
            variance = max(variance, chance)
        null += variance**0.5 * random.standard_t(freedom, DRAWS)
    return (1 + (abs(null) >= abs(observed) - 1e-12).sum()) / (1 + DRAWS)


def holm_corrected(p_values: list[float]) -> list[float]:
    """Multiply the smallest by their number, the next by one less, and never fall."""
    order = np.argsort(p_values)
    corrected = np.empty(len(p_values))
    corrected[order] = np.maximum.accumulate(
        np.sort(p_values) * np.arange(len(p_values), 0, -1)
    ).clip(max=1)
    return corrected.tolist()


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param((1,), marks=pytest.mark.thorough, id="one seed"),
        pytest.param((1, 2, 3), id="three seeds"),
    ],
)
def test_every_interval_and_p_value_is_that_of_an_independent_computation(tmp_path, seeds):
    made = Results(tmp_path)
    for name, quality in (("casrel", 0.7), ("prgc", 0.62), ("onerel", 0.66)):
        made.run(name, quality=quality, seeds=seeds)
    for training in ("nz", "wz"):
        made.run("casrel", quality=0.7, training=training, testing="wz", zero=100, seeds=seeds)
    made.run("casrel", quality=0.75, noise="noising", seeds=seeds)
    made.baseline("memorise", pretend(sentences_of(200), 0.6, 0.05, 5))
    study, random = frames_of(made), np.random.default_rng(7)
    rows = study.contrasts.to_dict("records")
    assert len(rows) > 15 and {row["paired"] for row in rows} == {True, False}
    families: dict[tuple, list[dict]] = {}
    for row in rows:
        frames = [side_counts(study, row, side) for side in ("first", "second")]
        if row["paired"]:
            # sentences without triples are in one test set alone
            ids = frames[0].index.union(frames[1].index)
            frames = [frame.reindex(ids, fill_value=0) for frame in frames]
        first, second = map(by_seed, frames)
        if first.shape[1] != second.shape[1]:  # the baseline has no seeds: it is the same for each
            first, second = (
                np.repeat(side, len(seeds) // side.shape[1], axis=1) for side in (first, second)
            )
        same_models = all(
            row[f"{key}_first"] == row[f"{key}_second"]
            for key in ("protocol", "training", "extractor", "noise")
        )
        label = [row["contrast"], row["extractor_first"], row["extractor_second"]]
        assert row["difference"] == pytest.approx(
            mean_f1(second.sum(axis=0)) - mean_f1(first.sum(axis=0))
        )
        differences = expected_differences(first, second, row["paired"], same_models, random)
        # the ends of an interval from 1,000 resamples, within three standard errors of their share
        error = 3 * (0.025 * 0.975 / 1000) ** 0.5
        ends = np.quantile(
            differences, [0.025 - error, 0.025 + error, 0.975 - error, 0.975 + error]
        )
        assert ends[0] < row["low"] < ends[1] and ends[2] < row["high"] < ends[3], label
        if not row["paired"]:
            assert np.isnan(row["p"])
            continue
        p_value = expected_p(first, second, same_models, random)
        tolerance = 5 * (p_value * (1 - p_value) / DRAWS) ** 0.5
        assert row["p"] == pytest.approx(p_value, abs=tolerance), label
        if "memorise" in label:
            assert np.isnan(row["p_holm"])
        else:
            test_set = [row[f"{key}_first"] for key in ("training", "testing")]
            family = (row["contrast"], *test_set)
            families.setdefault(family, []).append(row)
    assert max(map(len, families.values())) == 3
    for family in families.values():
        corrected = holm_corrected([row["p"] for row in family])
        assert [row["p_holm"] for row in family] == pytest.approx(corrected)


def test_frames_are_parquet_and_csv(results, study):
    for name in ("scores", "counts", "cells", "contrasts"):
        frame = pd.read_parquet(results.folder / f"{name}.parquet")
        assert len(frame) and frame.equals(getattr(study, name))
    for name in ("cells", "contrasts"):
        assert len(pd.read_csv(results.folder / f"{name}.csv")) == len(getattr(study, name))
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


def test_damaged_and_missing_frames_are_named(tmp_path):
    (tmp_path / "cells.parquet").write_bytes(b"PAR1 damaged")
    with pytest.raises(UserError, match="cells.parquet: not a Parquet file; make it again"):
        _ = ta.load(tmp_path).cells
    with pytest.raises(UserError, match="contrasts.parquet: no such file; run the study first"):
        _ = ta.load(tmp_path).contrasts


def test_frames_of_another_version_are_refused_with_their_missing_columns(study, tmp_path):
    study.contrasts.drop(columns=["unit", "seeds"]).to_parquet(tmp_path / "contrasts.parquet")
    with pytest.raises(UserError, match="made by another version, without the columns unit, seeds"):
        _ = ta.load(tmp_path).contrasts


def test_corpora_and_test_sets_are_families_of_their_own(tmp_path):
    results = Results(tmp_path)
    for corpus in ("webnlg", "nyt"):
        for testing, zero in (("nz", 0), ("wz", 50)):
            for name, quality in (("casrel", 0.7), ("prgc", 0.6)):
                results.run(name, quality=quality, corpus=corpus, testing=testing, zero=zero)
    frame = contrasts(results.inputs().frames, "exact-string", names=[SYSTEMS])
    test_sets = zip(frame["corpus"], frame["testing_first"], strict=True)
    assert sorted(test_sets) == [("nyt", "nz"), ("nyt", "wz"), ("webnlg", "nz"), ("webnlg", "wz")]
    assert frame["p_holm"].tolist() == frame["p"].tolist()  # one pair on each test set


def test_systems_behind_a_classifier_are_in_no_pair(tmp_path):
    results = Results(tmp_path)
    for name in ("casrel", "prgc", "zcc-binary+casrel"):
        results.run(name, quality=0.6, testing="wz", zero=20)
    frame = contrasts(results.inputs().frames, "exact-string", names=[SYSTEMS])
    assert frame[["extractor_first", "extractor_second"]].values.tolist() == [["casrel", "prgc"]]


@pytest.mark.parametrize(("sentences", "outcome"), [(29, FEW), (30, SHOWN)])
def test_a_conclusion_needs_thirty_sentences(tmp_path, sentences, outcome):
    results = Results(tmp_path)
    for name, quality in (("casrel", 1), ("prgc", 0.1)):
        results.run(name, quality=quality, sentences=sentences)
    (row,) = contrasts(results.inputs().frames, "exact-string", names=[SYSTEMS]).to_dict("records")
    assert (row["cases"], row["outcome"]) == (sentences, outcome)


def test_the_unit_of_a_variant_is_its_original_sentence(tmp_path):
    results = Results(tmp_path)
    originals = sentences_of(12)
    variants = [
        replace(sentence, id=f"{sentence.id}.{name}")
        for sentence in originals
        for name in ("su", "uu")
    ]
    of = ("webnlg", "augmented", "nz", "nz", "casrel", "none", 1)
    results.score(of, variants, variants)
    counts = frames_of(results).counts
    assert set(counts["unit"]) == {sentence.id for sentence in originals}
    assert set(counts["id"]) == {variant.id for variant in variants}


@pytest.mark.parametrize("runs", [0, 1])
def test_columns_of_numbers_are_numbers_where_all_values_are_missing(tmp_path, runs):
    results = Results(tmp_path)
    for _ in range(runs):  # seen to unseen alone: no p-value, nothing doubled
        results.run("casrel", quality=0.7)
    frame = frames_of(results).contrasts
    numbers = ["first", "second", "difference", "low", "high", "p", "p_holm"]
    numbers += ["difference_doubled", "low_doubled", "high_doubled"]
    assert set(frame[numbers].dtypes) == {np.dtype(float)}
    assert frame["cases"].dtype.kind == frame["seeds"].dtype.kind == "i"
    assert frame["paired"].dtype == bool
    assert frame["p"].isna().all() and bool(len(frame)) == bool(runs)


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


def test_what_is_not_trained_has_no_seeds(study):
    frame = study.contrasts
    seeds = frame[frame["contrast"] == "entirely seen to unseen"].groupby("extractor_first")[
        "seeds"
    ]
    assert seeds.unique().str[0].to_dict() == {"casrel": 3, "prgc": 3, "memorise": 0}
    assert set(study.cells.query("extractor == 'memorise'")["seeds"]) == {0}


def test_a_contrast_of_a_rising_training_is_a_lower_bound_after_twice_the_epochs(tmp_path):
    results = Results(tmp_path)
    results.run("casrel", quality=0.7, seeds=(1, 2, 3))
    results.run("casrel", quality=0.9, noise="noising", seeds=(1, 2, 3))
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

    alone = outcome(())
    assert (alone["outcome"], alone["mark_first"], alone["mark_second"]) == (OPEN, "", "†")
    twice = {}
    for noised in (0.95, 0.4):
        folder = tmp_path / f"doubled-{noised}"
        folder.mkdir()
        longer = Results(folder)
        longer.run("casrel", quality=0.72)
        longer.run("casrel", quality=noised, noise="noising")
        twice[noised] = outcome(longer.counts)
        without, with_noise = (f1(load_counts_of(path)) for path in longer.counts)
        assert twice[noised]["difference_doubled"] == pytest.approx(with_noise - without)
    assert twice[0.95]["outcome"] == AT_LEAST and twice[0.95]["low_doubled"] > 0
    # the sign of the difference turns with twice the epochs
    assert twice[0.4]["outcome"] == OPEN and twice[0.4]["high_doubled"] < 0
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


def test_stored_trainings_of_equal_names_are_compared_once_for_each_test_set(tmp_path):
    """The same two stored systems were trained for two corpora and for two protocols."""
    results = Results(tmp_path)
    ended = {"flat": True, "slope": 0.001, "error": 0.0, "best_step": 9, "last_step": 10}
    for name, probability, quality in (("plain", None, 0.5), ("noised", 0.05, 0.8)):
        for corpus in ("webnlg", "nyt"):
            for protocol in ("original", "rearranged"):
                results.run(name, quality=quality, corpus=corpus, protocol=protocol)
                keys = {"corpus": corpus, "protocol": protocol, "training": "nz"}
                results.fact(
                    keys={**keys, "extractor": name, "noise": "none"},
                    device="cpu",
                    convergence=ended,
                    extractor="casrel",
                    noise_probability=probability,
                )
    frame = contrasts(results.inputs().frames, "exact-string")
    noising = frame[frame["contrast"].str.startswith("with Entity Noising")]
    assert {"webnlg", "nyt"} == set(noising["corpus"])
    assert not noising.duplicated(["contrast", "corpus"]).any()
    assert set(noising["seeds"]) == {1}


@pytest.mark.parametrize("name", ["scores", "counts", "cells", "contrasts"])
def test_the_page_on_python_lists_the_columns_of_every_frame_and_their_types(study, name):
    page = (ROOT / "docs/reference/python.md").read_text()
    (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
    keys = {"corpus", "protocol", "training", "testing", "extractor", "noise"}
    if name == "contrasts":
        sides = {f"{key}_{side}" for key in SIDE_KEYS for side in ("first", "second")}
        keys = sides | {"corpus"}
    frame = getattr(study, name)
    listed = set(re.findall(r"`(\w+)`", row.split("|")[3]))
    assert set(frame.columns) == keys | listed
    integers = {"correct", "predicted", "gold", "seeds", "cases"}
    floats = {"value", "mean", "sd", "low", "high", "first", "second", "p", "p_holm"}
    for column, dtype in frame.dtypes.items():
        if column in integers:
            assert pd.api.types.is_integer_dtype(dtype), column
        elif column in floats or column.startswith(("difference", "low_", "high_")):
            assert pd.api.types.is_float_dtype(dtype), column
        elif column == "paired":
            assert pd.api.types.is_bool_dtype(dtype)
        else:
            assert pd.api.types.is_string_dtype(dtype) or dtype == "category", column


def test_scores_and_cells_have_the_same_keys_also_of_what_is_not_trained(tmp_path):
    results = Results(tmp_path)
    keys = dict(zip(KEYS, ("study", "c", "needles", "", "", "model", "", ""), strict=True))
    write_scores(tmp_path / "needles.csv", [Score(keys_of(keys), "all", "any", "minea", 0.5)])
    results.scores.append(tmp_path / "needles.csv")
    study = frames_of(results)
    shared = [column for column in study.cells.columns if column in study.scores.columns]
    merged = study.scores.merge(
        study.cells, on=[name for name in shared if name not in ("low", "high")]
    )
    assert merged[["noise", "value", "mean"]].values.tolist() == [["none", 0.5, 0.5]]


def test_the_page_on_python_lists_all_contrasts() -> None:
    page = (ROOT / "docs/reference/python.md").read_text()
    assert all(f"`{name}`" in page for name in contrast_names())
