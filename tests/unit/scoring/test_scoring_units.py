"""What intervals and tests rest on: predictions, seeds of the same models, variants, sentences
that share triples.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tripleaudit as ta
from support.scored import KINDS, TEXT, TRAIN, Results, keys_of, tables_of, triple
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import save_sentences
from tripleaudit.scoring.bootstrap import difference_intervals, intervals, scores_of
from tripleaudit.scoring.counts import SentenceCounts, load_counts
from tripleaudit.scoring.difference import between
from tripleaudit.scoring.rows import RunFiles, score_run
from tripleaudit.tables.building import build_table
from tripleaudit.tables.comparisons import compare_cells

SCORE_INTERVAL_1_OF_2 = (0.0267, 0.9733)
"""Wilson's with a continuity correction, by hand."""


def test_an_interval_of_precision_rests_on_predictions():
    gold = [[("Ann", "wrote", f"book {number}")] for number in range(500)]
    predicted = [gold[0], [("Ann", "wrote", "nothing")], *([] for _ in range(498))]
    result = ta.score(gold, predicted)
    assert result.micro.intervals["precision"] == pytest.approx(SCORE_INTERVAL_1_OF_2, abs=1e-3)
    none = ta.score(gold, [[] for _ in gold])
    assert none.micro.intervals["precision"] == [
        0,
        1,
    ]  # nothing is known of a precision without predictions
    assert none.micro.intervals["recall"][1] == pytest.approx(0.0076, abs=1e-3)


def counts_in_few_sentences(
    random: np.random.Generator, sentences: int, predictions: int, agreement: float
) -> np.ndarray:
    """Counts of 500 sentences, of which few have predictions of a precision of .9.

    Args:
        predictions: in each of these sentences.
        agreement: correlation of the predictions of one sentence.
    """
    counts = np.zeros((500, 3), dtype=int)
    counts[:, 2] = 1
    counts[:sentences, 1] = predictions
    shared = random.random((sentences, 1)) < 0.9
    separate = random.random((sentences, predictions)) < 0.9
    is_shared = random.random((sentences, predictions)) < agreement**0.5
    counts[:sentences, 0] = np.where(is_shared, shared, separate).sum(axis=1)
    return counts


@pytest.mark.parametrize("agreement", [0.0, pytest.param(0.5, marks=pytest.mark.thorough), 1.0])
@pytest.mark.parametrize(
    ("sentences", "predictions"),
    [
        (5, 1),
        pytest.param(10, 1, marks=pytest.mark.thorough),
        pytest.param(20, 1, marks=pytest.mark.thorough),
        (4, 5),
        pytest.param(2, 5, marks=pytest.mark.thorough),
        pytest.param(6, 5, marks=pytest.mark.thorough),
        (20, 3),
    ],
)
def test_the_interval_of_few_predictions_covers_their_precision(sentences, predictions, agreement):
    random = np.random.default_rng(sentences)
    covered = 0
    for _ in range(150):
        counts = counts_in_few_sentences(random, sentences, predictions, agreement)
        bound = intervals(counts, replicates=20)["precision"]
        covered += bound.low <= 0.9 <= bound.high
    assert covered / 150 >= 0.92


@pytest.mark.parametrize("sentences", [1, 2, 4, 30])
@pytest.mark.parametrize("correct", [1, 3, 9])
def test_the_interval_of_few_sentences_holds_their_score_inside(sentences, correct):
    """Ten predictions in one sentence, one of them right: resampling would end at .1."""
    counts = np.zeros((500, 3), dtype=int)
    counts[:, 2] = 1
    counts[:sentences, :2] = [correct, 10]
    bounds = intervals(counts, replicates=200)
    precision = bounds["precision"]
    assert precision.low < correct / 10 < precision.high
    assert precision.high - precision.low > 0.05
    change = difference_intervals(counts, counts // [2, 1, 1], replicates=200)["precision"]
    fall = (correct // 2 - correct) / 10
    assert change.low < fall < change.high


@pytest.mark.parametrize("precision", [0.05, 0.95])
@pytest.mark.parametrize("sentences", [1, 2, 4])
def test_the_interval_of_few_sentences_covers_extreme_precisions(sentences, precision):
    random = np.random.default_rng(7)
    covered = 0
    for _ in range(150):
        counts = np.zeros((500, 3), dtype=int)
        counts[:, 2] = 1
        counts[:sentences, 1] = 10
        counts[:sentences, 0] = random.binomial(10, precision, sentences)
        bound = intervals(counts, replicates=20)["precision"]
        covered += bound.low <= precision <= bound.high
    assert covered / 150 >= 0.92


def test_a_sentence_with_most_predictions_leaves_the_precision_open():
    """A long document has 1,000 of 1,040 predictions: the others hardly add evidence."""
    counts = np.ones((41, 3), dtype=int)
    counts[0] = [100, 1000, 100]
    bound = intervals(counts)["precision"]
    assert bound.high - bound.low > 0.5


def fall(random, seeds: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts of the same models on 300 sentences, without and with 300 zero-triple ones: F1
    falls by 1.2 points.
    """
    luck = random.normal(0, 0.6, seeds)
    latent = random.normal(0, 1, 300)[:, None] + random.normal(0, 0.7, (300, seeds)) + luck + 1
    with_zero = np.zeros((600, seeds, 3), dtype=int)
    with_zero[:300, :, 1:] = 1
    with_zero[:300, :, 0] = latent > 0
    tempting = random.random(300) < 0.06
    with_zero[300:, :, 1] = tempting[:, None] & (random.random((300, seeds)) < 0.5)
    without = np.zeros_like(with_zero)
    without[:300] = with_zero[:300]
    return without, with_zero


def no_change(random, seeds: int, common: float) -> tuple[np.ndarray, np.ndarray]:
    """Counts of the same models under a change that costs nothing on average, in part the same
    for all runs.
    """
    luck = random.normal(0, 0.6, seeds)
    latent = random.normal(0, 1, 300)[:, None] + random.normal(0, 0.7, (300, seeds)) + luck + 1
    shift = random.normal(0, 0.5, 300)[:, None] * common + random.normal(0, 0.5, (300, seeds)) * (
        1 - common
    )
    first, second = (np.ones((300, seeds, 3), dtype=int) for _ in range(2))
    first[..., 0], second[..., 0] = latent > 0, latent + shift > 0
    swapped = random.random(300) < 0.5
    first[swapped], second[swapped] = second[swapped].copy(), first[swapped].copy()
    return first, second


def share_shown(worlds: int, make, **how) -> float:
    random = np.random.default_rng(1)
    pairs = (make(random) for _ in range(worlds))
    return float(
        np.mean(
            [
                between(*pair, shared=True, shuffles=500, replicates=200, **how).shown
                for pair in pairs
            ]
        )
    )


def test_three_seeds_of_the_same_models_show_a_fall_of_each():
    assert share_shown(40, lambda random: fall(random, 3), same_models=True) >= 0.75
    assert share_shown(40, lambda random: no_change(random, 3, 0.5), same_models=True) <= 0.05


@pytest.mark.thorough
@pytest.mark.parametrize("seeds", [3, 5])
@pytest.mark.parametrize("common", [0.0, 0.5, 1.0])
def test_false_positives_of_the_same_models(seeds, common):
    assert (
        share_shown(150, lambda random: no_change(random, seeds, common), same_models=True) <= 0.05
    )


def counted(
    protocol: str, ids: list[str], right: np.ndarray, extractor: str = "casrel", **keys: str
) -> SentenceCounts:
    """Counts of one triple in each sentence, found or replaced by a wrong one."""
    values = (
        "s",
        "c",
        protocol,
        "nz",
        keys.get("testing", "nz"),
        extractor,
        "none",
        keys.get("seed", "1"),
    )
    counts = np.stack([right.astype(int), np.ones(len(ids), int), np.ones(len(ids), int)], axis=1)
    return SentenceCounts(keys_of(*values), ids, ["unseen"] * len(ids), {"exact-string": counts})


def test_tables_know_the_same_models_on_two_test_sets(tmp_path):
    """Each of three seeds loses a point and a half of F1 where zero-triple sentences are added."""
    random, runs = np.random.default_rng(4), []
    without, with_zero = fall(random, 3)
    ids = [f"s{number}" for number in range(600)]
    for testing, counts in (("nz", without[:300]), ("wz", with_zero)):
        for seed in range(3):
            run = counted(
                "original", ids[: len(counts)], counts[:, seed, 0], testing=testing, seed=str(seed)
            )
            run.counts["exact-string"] = counts[:, seed]
            runs.append(run)
    table = tables_of(tmp_path, runs)
    of = {
        "corpus": "c",
        "protocol": "original",
        "training": "nz",
        "extractor": "casrel",
        "noise": "none",
    }
    of |= {"stratum": "all", "matching": "exact-string"}
    difference = compare_cells(table.frames, {**of, "testing": "nz"}, {**of, "testing": "wz"})
    falls = scores_of(with_zero.sum(axis=0))[:, 2] - scores_of(without.sum(axis=0))[:, 2]
    assert difference.shown and difference.change() == pytest.approx(falls.mean())


VARIANTS = [f"s{number}.{part}" for number in range(120) for part in ("ss", "su", "us", "uu")]


def test_variants_of_a_sentence_are_drawn_together(tmp_path):
    random = np.random.default_rng(2)
    together = np.repeat(random.random(120) < 0.6, 4)  # the variants of a sentence are alike
    by_sentence = counted("original", [f"s{number}" for number in range(120)], together[::4])
    table = build_table(
        "augmented", tables_of(tmp_path, [by_sentence, counted("augmented", VARIANTS, together)])
    )
    wide = intervals(by_sentence.counts["exact-string"], replicates=100)["f1"]
    cell = table.cell("CasRel", "F1")
    assert (cell.low, cell.high) == pytest.approx((100 * wide.low, 100 * wide.high))
    assert cell.cases == 480


def test_systems_that_are_equal_on_original_sentences_are_equal_on_variants():
    """Null worlds: all variants of a sentence are exchanged between two systems."""
    random, shown = np.random.default_rng(3), 0
    base = np.repeat(random.random((120, 2)) < [0.6, 0.5], 4, axis=0)
    units = counted("augmented", VARIANTS, base[:, 0]).units()
    assert len(set(units)) == 120
    for _ in range(100):
        swapped = np.repeat(random.random(120) < 0.5, 4)[:, None]
        sides = np.where(swapped, base[:, ::-1], base)
        runs = [
            counted("augmented", VARIANTS, sides[:, side]).counts["exact-string"] for side in (0, 1)
        ]
        shown += between(*runs, units=(units, units), shuffles=400, replicates=200).shown
    assert shown / 100 <= 0.07


def test_compare_draws_variants_together(tmp_path):
    random = np.random.default_rng(5)
    gold = [Sentence(id_, TEXT, (KINDS["unseen"],)) for id_ in VARIANTS]
    for name in ("a", "b"):
        found = np.repeat(random.random(120) < 0.5, 4)
        predicted = [
            Sentence(one.id, TEXT, one.triples if right else ())
            for one, right in zip(gold, found, strict=True)
        ]
        save_sentences(tmp_path / f"{name}.jsonl", predicted)
    save_sentences(tmp_path / "gold.jsonl", gold)
    widths = []
    for part in (None, ".ss"):
        files = [tmp_path / f"{name}.jsonl" for name in ("a", "b", "gold")]
        if part:
            for path in files:
                lines = [line for line in path.read_text().splitlines() if f'{part}"' in line]
                path.write_text("\n".join(lines) + "\n")
        bound = ta.compare(*files).difference.bounds["f1"]
        widths.append(bound.high - bound.low)
    assert widths[0] == pytest.approx(
        widths[1], rel=0.1
    )  # four equal variants say no more than one


def test_score_draws_variants_together(tmp_path):
    """Four equal variants say as much as one of them."""
    found = np.repeat(np.random.default_rng(7).integers(0, 2, 120), 4)
    gold = [Sentence(id_, TEXT, (KINDS["unseen"],)) for id_ in VARIANTS]
    predicted = [
        replace(one, triples=one.triples[:right]) for one, right in zip(gold, found, strict=True)
    ]
    bounds = []
    for step in (1, 4):
        for name, sentences in {"gold": gold, "predictions": predicted}.items():
            save_sentences(tmp_path / f"{name}.jsonl", sentences[::step])
        result = ta.score(tmp_path / "gold.jsonl", tmp_path / "predictions.jsonl", bootstrap=200)
        bounds.append(result.micro.intervals["f1"])
    assert bounds[0] == pytest.approx(bounds[1])


@pytest.mark.parametrize(("unit", "is_bold"), [("sentence", True), ("shared-triple", False)])
def test_bold_marks_rest_on_units(unit, is_bold, tmp_path):
    """One system is right in 12 groups of five sentences, the other in 6; 22 groups are equal."""
    numbers = np.arange(200)
    group = numbers // 5
    runs = []
    for name, right in {"casrel": group >= 6, "prgc": (group < 6) | (group >= 18)}.items():
        run = counted("original", [f"s{number}" for number in numbers], right, name)
        run.groups, run.unit = [f"s{5 * number}" for number in group], unit
        runs.append(run)
    table = build_table("type-f1", tables_of(tmp_path, runs))
    assert table.cell("CasRel", "F1").bold == is_bold


def test_sentences_that_share_a_triple_may_be_one_unit(tmp_path):
    """Of twelve triples with five sentences each, half are found in all of their sentences."""
    gold = [
        Sentence(f"s{number}", TEXT, (triple("Ann", f"r{number % 12}", "Rome"),))
        for number in range(60)
    ]
    predicted = [
        replace(one, triples=one.triples[: position % 2]) for position, one in enumerate(gold)
    ]
    for name, sentences in {"gold": gold, "train": TRAIN, "predictions": predicted}.items():
        save_sentences(tmp_path / f"{name}.jsonl", sentences)
    files = {name: tmp_path / f"{name}.jsonl" for name in ("gold", "train", "predictions")}
    out = RunFiles(**files, out_scores=tmp_path / "scores.csv", out_counts=tmp_path / "counts.csv")
    widths = {}
    for unit, units in (("sentence", 60), ("shared-triple", 12)):
        rows = score_run(
            out, keys_of("s", "c", "original", "nz", "wz", "casrel", "none", 1), unit=unit
        )
        f1 = next(
            row
            for row in rows
            if (row.stratum, row.matching, row.metric) == ("all", "exact-string", "f1")
        )
        widths[unit] = f1.high - f1.low
        assert len(set(load_counts(tmp_path / "counts.csv").units())) == units
    assert widths["shared-triple"] > 1.8 * widths["sentence"]


def test_the_leakage_table_has_the_design_effect(tmp_path):
    """The four sentences of a group are all found or all missed, so that one says it all."""
    results = Results(tmp_path)
    gold = [
        Sentence(f"s{number}", TEXT, (triple("Ann", f"r{number // 4}", "Rome"),))
        for number in range(40)
    ]
    predicted = [
        replace(one, triples=one.triples[: (number // 4) % 2]) for number, one in enumerate(gold)
    ]
    results.score(("webnlg", "original", "nz", "nz", "casrel", "none", 1), gold, predicted)
    results.audit("webnlg", "original", {"train": TRAIN, "test": gold})
    table = build_table("leakage", results.inputs())
    (row,) = table.rows
    cells = dict(zip([column.label for column in table.columns], row.cells, strict=True))
    assert cells["Groups"].value == 10
    assert cells["Design effect"].value == pytest.approx(4)


def test_counts_keep_groups_and_unit(tmp_path: Path):
    counts = counted("original", ["a", "b", "c"], np.array([1, 0, 1]))
    counts.groups, counts.unit = ["a", "a", "c"], "shared-triple"
    counts.save(tmp_path / "counts.csv")
    again = load_counts(tmp_path / "counts.csv")
    assert (again.units(), again.unit, again.keys) == (
        ["a", "a", "c"],
        "shared-triple",
        counts.keys,
    )


def test_no_system_is_bold_while_a_training_of_its_group_still_rises(tmp_path):
    results = Results(tmp_path)
    still, flat = (
        {"slope": 0.02, "error": 0.001, "flat": False},
        {"slope": 0.0, "error": 0.0001, "flat": True},
    )
    for noise, quality in (("none", 0.4), ("noising", 0.9)):
        results.run("casrel", quality=quality, noise=noise, seeds=(1, 2, 3))
    bold = {}
    for rising in ("", "none", "noising"):
        results.runs = []
        for noise in ("none", "noising"):
            keys = {
                "corpus": "webnlg",
                "protocol": "original",
                "training": "nz",
                "extractor": "casrel",
                "noise": noise,
            }
            history = still if noise == rising else flat
            results.fact(
                keys={**keys, "seed": 1},
                convergence={**history, "best_step": 9},
                seconds=1.0,
                epochs=10,
            )
        bold[rising] = build_table("type-f1", results.inputs()).cell("CasRel+EN", "F1").bold
    assert bold == {"": True, "none": False, "noising": False}


def test_contamination_states_a_loss_by_its_corrected_p_value(tmp_path):
    """Of six systems one loses a little: by itself significant, not among six; baselines are not
    counted.
    """
    ids, variants = [f"s{n}" for n in range(200)], [f"s{n}.su" for n in range(200)]
    first, second = (np.arange(200) < 140 for _ in range(2))
    second[:20], second[-8:] = False, True
    names, runs = ("casrel", "prgc", "pfn", "onerel", "birte", "grte"), []
    for name in (*names, "memorise", "nothing"):
        seed = {} if name in names else {"seed": ""}
        runs.append(counted("original", ids, first, extractor=name, **seed))
        runs.append(
            counted(
                "augmented", variants, second if name == "casrel" else first, extractor=name, **seed
            )
        )
    table = build_table("contamination", tables_of(tmp_path, runs))
    of = {"corpus": "c", "training": "nz", "testing": "nz", "noise": "none", "stratum": "all"}
    of |= {"matching": "exact-string", "extractor": "casrel"}
    alone = compare_cells(
        tables_of(tmp_path, runs).frames,
        {**of, "protocol": "original"},
        {**of, "protocol": "augmented"},
    )
    corrected = table.cell("CasRel", "p").value
    assert alone.p < 0.05 < corrected <= 6 * alone.p + 1e-9
    assert all(table.cell(row.label, "p").value is None for row in table.rows[6:])
