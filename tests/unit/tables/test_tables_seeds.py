"""Tables of a study with several seeds: means and deviations, joint intervals, tests, marks, in
every form.
"""

import functools
import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.scored import Results, sentences_of, told
from tripleaudit.scoring.bootstrap import intervals
from tripleaudit.scoring.counts import load_counts
from tripleaudit.scoring.significance import holm, randomisation_test
from tripleaudit.tables.building import build_table
from tripleaudit.tables.cells import Cell, Table
from tripleaudit.tables.grid import ONE_SEED, notes
from tripleaudit.tables.inputs import TableInputs, load_inputs

SEEDS = (1, 2, 3)
QUALITY = {"casrel": 0.55, "prgc": 0.60, "onerel": 0.92}  # the first two are too close to call


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    made = Results(tmp_path_factory.mktemp("seeds"))
    for extractor, quality in QUALITY.items():
        others = ("rearranged", "sift-1", "augmented") if extractor == "casrel" else ()
        for protocol in ("original", *others):
            made.run(extractor, quality=quality, protocol=protocol, seeds=SEEDS, sentences=80)
        for training, testing, zero in (("nz", "wz", 60), ("wz", "nz", 0), ("wz", "wz", 60)):
            shape = {"training": training, "testing": testing, "zero": zero}
            made.run(extractor, quality=quality, seeds=SEEDS, sentences=80, **shape)
        made.run(
            f"zcc-binary+{extractor}",
            quality=quality,
            testing="wz",
            zero=60,
            seeds=SEEDS,
            sentences=80,
        )
    made.classifier("zcc-binary", quality=0.8, corpus="webnlg", seeds=SEEDS)
    made.classifier("zcc-mcml", quality=0.5, corpus="webnlg", seeds=SEEDS)
    return made


@pytest.fixture(scope="module")
def inputs(results: Results) -> TableInputs:
    return results.inputs()


@pytest.fixture(scope="module")
def table(inputs: TableInputs) -> Callable[[str], Table]:
    """Builds each table once."""
    return functools.cache(lambda name: build_table(name, inputs))


def stacked(results: Results, extractor: str) -> np.ndarray:
    """Counts ``[sentences, seeds, 3]`` of the original nz runs, read from the files."""
    files = [
        path
        for path in results.counts
        if path.name.startswith(f"webnlg-original-nz-nz-{extractor}-none-")
    ]
    assert len(files) == len(SEEDS)
    return np.stack([load_counts(path).of("exact-string", "all") for path in files], axis=1)


@pytest.mark.parametrize(
    ("seeds", "trained", "several", "two"),
    [
        ([1], "1 seed.", False, False),
        ([1, 3], "1 to 3 seeds; values are means", False, False),
        ([2], "2 seeds; values are means", True, True),
        ([3], "3 seeds; values are means", True, False),
    ],
)
def test_notes_say_what_the_number_of_seeds_means(
    seeds: list[int], trained: str, several: bool, two: bool
) -> None:
    said = " ".join(notes([Cell(1.0, seeds=number, bold=True) for number in seeds], None))
    assert f"Trained with {trained}" in said
    assert ("sentences and trained runs" in said, "over sentences and runs" in said) == (
        several,
        several,
    )
    assert (ONE_SEED in said, "Two runs hardly" in said) == (not several, two)


def test_mean_deviation_and_interval_by_hand(results: Results, table: Callable) -> None:
    cell = table("type-f1").cell("CasRel", "F1")
    counts = stacked(results, "casrel")
    f1 = [200 * c / (p + g) for c, p, g in counts.sum(axis=0)]
    assert cell.value == pytest.approx(statistics.fmean(f1))
    assert cell.sd == pytest.approx(statistics.stdev(f1)) and cell.sd > 0
    bound = intervals(counts)["f1"]
    assert (cell.low, cell.high) == pytest.approx((100 * bound.low, 100 * bound.high))
    assert cell.seeds == 3


@pytest.mark.parametrize(
    "name", ["type-f1", "rearranged", "sifted", "augmented", "end-to-end", "two-step", "zcc"]
)
def test_every_table_of_scores_has_means_deviations_and_intervals(
    name: str, table: Callable, kept: Callable
) -> None:
    kept(f"tables/{name}-of-three-seeds.md", told(table(name)))


def test_winner_over_several_seeds_follows_from_holm_corrected_tests(
    results: Results, table: Callable
) -> None:
    bold = {row.label for row in table("type-f1").rows if row.cells[0].bold}
    assert bold == {"OneRel"}
    best, *rivals = (stacked(results, name) for name in ("onerel", "prgc", "casrel"))
    assert max(holm([randomisation_test(best, rival) for rival in rivals])) < 0.05
    assert (
        randomisation_test(*rivals) > 0.05
    )  # the other two, so that none of them could win without OneRel
    two = results.inputs()
    two.frames.runs = two.runs[two.runs["extractor"] != "onerel"]
    assert not any(cell.bold for row in build_table("type-f1", two).rows for cell in row.cells[:1])
    without = build_table(
        "type-f1", load_inputs(scores=results.scores)
    )  # the counts, which the test needs
    assert not any(cell.bold for cell in without.cells)
    # and of the luck of the runs the seeds' own intervals know nothing
    own, joint = (each.cell("CasRel", "F1") for each in (without, table("type-f1")))
    assert (own.value, own.sd, own.low, own.high) == (joint.value, joint.sd, None, None)


def test_baselines_stand_last_without_seeds_and_outside_the_contest(
    tmp_path: Path, kept: Callable
) -> None:
    made = Results(tmp_path)
    for name, quality in (("casrel", 0.5), ("onerel", 0.9)):
        made.run(name, quality=quality, seeds=SEEDS, sentences=80)
    made.classifier("zcc-mcml", quality=0.5, corpus="webnlg", seeds=SEEDS)
    plain = made.inputs()
    made.baseline("memorise", sentences_of(80))
    made.baseline("nothing", [replace(one, triples=()) for one in sentences_of(80)])
    made.baseline("always-yes")
    both = made.inputs()

    for name in ("type-f1", "zcc"):
        kept(f"tables/{name}-with-baselines.md", told(build_table(name, both)))
    without = build_table("type-f1", plain)
    assert not any("Baselines" in note for note in without.notes)


def test_drops_are_means_of_differences_by_seed(inputs: TableInputs, table: Callable) -> None:
    cell = table("end-to-end").cell("CasRel", "NZ→WZ", "WebNLG, trained NZ")
    scores = inputs.scores.query(
        "protocol == 'original' and training == 'nz' and extractor == 'casrel' and noise == 'none' "
        "and stratum == 'all' and matching == 'exact-string' and metric == 'f1'"
    )
    f1 = scores.set_index(["testing", "seed"])["value"]
    falls = [100 * (f1["nz", seed] - f1["wz", seed]) for seed in ("1", "2", "3")]
    assert cell.value == pytest.approx(statistics.fmean(falls))
    assert cell.sd == pytest.approx(statistics.stdev(falls))
