"""Statements about one difference agree: contrasts, bold marks, contamination and headlines."""

import numpy as np
import pytest

import tripleaudit as ta
from support.scored import tables_of
from tripleaudit.scoring.counts import SentenceCounts
from tripleaudit.tables import grid
from tripleaudit.tables.building import build_table
from tripleaudit.tables.contrasts import FEW, NOT_SHOWN, SHOWN, SYSTEMS, UNREADABLE, contrasts
from tripleaudit.tables.headlines import make_headlines
from tripleaudit.tables.ranking import ranking_lines
from tripleaudit.tables.study_facts import UNREAD

RUN = {"study": "s", "corpus": "c", "protocol": "original", "training": "nz", "testing": "nz"}
PATTERNS = ("ss", "su", "us", "uu")


def counts_of(extractor, right, ids=None, groups=(), **keys):
    """Return the counts of a system that predicts one triple for each sentence."""
    right = np.asarray(right).astype(int)
    counts = np.stack([right, np.ones_like(right), np.ones_like(right)], axis=1)
    keys = {**RUN, "extractor": extractor, "noise": "none", "seed": "1", **keys}
    ids = ids or [f"s{number}" for number in range(len(right))]
    unit = "shared-triple" if groups else "sentence"
    strata = ["unseen"] * len(right)
    return SentenceCounts(keys, ids, strata, {"exact-string": counts}, groups=groups, unit=unit)


def training_fact(extractor, is_flat):
    """Return the facts of a training that was flat, or still rising."""
    keys = {**RUN, "extractor": extractor, "noise": "none", "seed": "1"}
    slope = 0.0 if is_flat else 0.02
    ending = {"slope": slope, "error": 0.0001, "flat": is_flat, "best_step": 10, "last_step": 10}
    return {"keys": keys, "convergence": {**ending, "evaluations": 10}, "device": "cpu"}


def model_fact(name, answers, truncated):
    """Return the facts of a language model with truncated answers."""
    keys = {**RUN, "extractor": name, "noise": "none", "seed": ""}
    counted = dict.fromkeys(("queried", "of", "sentences", "triples"), answers)
    unread = {"answers": answers, "unreadable": 0, "truncated": truncated}
    fact = {"keys": keys, "system": name, "kind": "endpoint", "device": "a service"}
    return {**fact, **counted, **unread, "failed": None, "not_in_text": 0}


def contrasts_of(inputs, **conditions):
    frame = contrasts(inputs.frames, "exact-string")
    for name, value in conditions.items():
        frame = frame[frame[name] == value]
    return frame


def headlines_of(inputs):
    return make_headlines(contrasts_of(inputs).to_dict("records"))


def augmented_ids(sentences):
    return [f"s{number}.{pattern}" for number in range(sentences) for pattern in PATTERNS]


def test_a_converged_system_keeps_its_f1_next_to_a_rising_rival(tmp_path):
    random = np.random.default_rng(0)
    runs = [counts_of("casrel", random.random(200) < 0.8), counts_of("prgc", [False] * 200)]
    facts = [training_fact("casrel", True), training_fact("prgc", False)]
    found = headlines_of(tables_of(tmp_path, runs, facts))
    casrel, prgc = found.ranking
    assert casrel.f1 is not None and prgc.f1 is None
    assert "%" in ranking_lines(found.ranking)[1]


def test_a_model_with_mostly_truncated_answers_is_in_no_ranking_and_no_family(tmp_path):
    random = np.random.default_rng(0)
    runs = [
        counts_of("tiny-llm", random.random(200) < 0.9, seed=""),
        counts_of("casrel", random.random(200) < 0.7),
        counts_of("prgc", random.random(200) < 0.5),
    ]
    facts = [training_fact("casrel", True), training_fact("prgc", True)]
    inputs = tables_of(tmp_path, runs, [*facts, model_fact("tiny-llm", 200, 190)])
    frame = contrasts_of(inputs, contrast=SYSTEMS)
    unread = frame["mark"].str.contains(UNREAD)
    assert unread.sum() == 2
    assert set(frame[unread]["outcome"]) == {UNREADABLE} and frame[unread]["p_holm"].isna().all()
    assert frame[~unread]["p_holm"].tolist() == frame[~unread]["p"].tolist()
    found = headlines_of(inputs)
    assert [entry.system for entry in found.ranking] == ["casrel", "prgc"]
    assert found.headlines[0].title.startswith("CasRel leads")
    assert any("tiny-llm" in remark for remark in found.remarks)


def test_contamination_has_the_corrected_p_of_the_contrasts(tmp_path):
    random = np.random.default_rng(17)
    sentences = 150
    ids = augmented_ids(sentences)
    runs = []
    for extractor in ("casrel", "prgc"):
        for noise, loss in (("none", 0.03), ("noising", 0.0)):
            original = random.random(sentences) < 0.75
            drawn = random.random(4 * sentences)
            changed = np.where(np.repeat(original, 4), drawn > 0.08 + loss, drawn < 0.24)
            runs.append(counts_of(extractor, original, noise=noise))
            runs.append(counts_of(extractor, changed, ids, protocol="augmented", noise=noise))
    inputs = tables_of(tmp_path, runs)
    table = build_table("contamination", inputs)
    frame = contrasts_of(inputs, contrast="original to augmented", noise_first="none")
    assert len(frame) == len(table.rows) == 2
    for (_, row), line in zip(frame.iterrows(), table.rows, strict=True):
        _, _, loss, p_value = line.cells
        assert p_value.value == pytest.approx(row["p_holm"])
        assert loss.value == pytest.approx(-100 * row["difference"])
        assert loss.cases == row["cases"] == sentences


@pytest.mark.parametrize(("seed", "is_bold"), [(17, False), (None, True)])
def test_a_mark_is_bold_only_if_every_contrast_is_shown(tmp_path, seed, is_bold):
    """The world 17 has a p-value that survives four comparisons and not all ten pairs."""
    random = np.random.default_rng(seed or 0)
    names = ("casrel", "prgc", "pfn", "onerel", "birte")
    base = random.random(200)
    chances = (0.74, 0.64, 0.64, 0.64, 0.64) if seed else (0.95, 0.5, 0.5, 0.5, 0.5)
    runs = [
        counts_of(name, base + random.normal(0, 0.25, 200) < chance)
        for name, chance in zip(names, chances, strict=True)
    ]
    inputs = tables_of(tmp_path, runs)
    frame = contrasts_of(inputs, contrast=SYSTEMS)
    of_best = frame[
        (frame["extractor_first"] == "casrel") | (frame["extractor_second"] == "casrel")
    ]
    assert (set(of_best["outcome"]) == {SHOWN}) is is_bold
    assert build_table("type-f1", inputs).cell("CasRel", "F1").bold is is_bold
    assert ("leads" in headlines_of(inputs).headlines[0].title) is is_bold


def rows_of(right):
    """Return one sentence with one triple for each value; the triple is wrong where it is False."""
    return [
        {"id": f"s{number}", "text": f"t {number}", "triples": [["a" if found else "x", "r", "b"]]}
        for number, found in enumerate(right)
    ]


@pytest.mark.parametrize("seed", [17, 0])
def test_which_has_the_corrected_p_and_the_outcome_of_the_contrasts(tmp_path, seed):
    random = np.random.default_rng(seed)
    names = ("casrel", "prgc", "pfn", "onerel", "birte")
    base = random.random(200)
    chances = (0.74, 0.64, 0.64, 0.64, 0.64)
    right = {
        name: base + random.normal(0, 0.25, 200) < chance
        for name, chance in zip(names, chances, strict=True)
    }
    inputs = tables_of(tmp_path, [counts_of(name, found) for name, found in right.items()])
    frame = contrasts_of(inputs, contrast=SYSTEMS)
    predictions = {name: rows_of(found) for name, found in right.items()}
    result = ta.which(rows_of([True] * 200), predictions=predictions)
    best, *others = result.ranked
    for row in others:
        sides = (
            frame[["extractor_first", "extractor_second"]].isin([best.name, row.name]).all(axis=1)
        )
        (contrast,) = frame[sides].to_dict("records")
        assert (row.p, row.outcome) == (pytest.approx(contrast["p_holm"]), contrast["outcome"])
    is_best = all(row.outcome == SHOWN for row in others)
    assert ("significantly above every other" in result.conclusion) is is_best
    if seed == 17:  # a p-value that survives four comparisons and not all ten pairs
        assert "not significant: p = .053 (Holm)" in result.conclusion


@pytest.mark.parametrize(
    ("sentences", "bootstrap", "words"),
    [
        (9, 1000, "not significant: no interval was computed (too few sentences)"),
        (150, 0, "not significant: no interval was computed (the number of resamples is 0)"),
        (20, 1000, "not significant: fewer than 30 sentences"),
    ],
)
def test_which_states_why_a_lead_with_a_small_p_is_not_shown(sentences, bootstrap, words):
    predictions = {"all": rows_of([True] * sentences), "none": rows_of([False] * sentences)}
    gold = rows_of([True] * sentences)
    result = ta.which(gold, predictions=predictions, bootstrap=bootstrap)
    assert result.ranked[1].p < 0.05
    assert result.conclusion == f"all has the highest F1; its lead over none is {words}."


def test_which_counts_a_sentence_with_its_variants_once():
    ids = augmented_ids(12)
    gold, wrong = (
        [{**row, "id": id_} for row, id_ in zip(rows_of([found] * 48), ids, strict=True)]
        for found in (True, False)
    )
    result = ta.which(gold, predictions={"all": gold, "none": wrong})
    assert result.ranked[1].outcome == FEW


def test_systems_without_training_count_in_the_bold_marks_of_trained_ones(tmp_path):
    """They are in the family of pairs, although their rows have a heading of their own."""
    random = np.random.default_rng(0)
    good, bad = random.random(120) < 0.9, random.random(120) < 0.4
    runs = []
    for testing in ("nz", "wz"):
        runs.append(counts_of("casrel", good, testing=testing))
        runs.append(counts_of("prgc", bad, testing=testing))
        runs.append(counts_of("model", good, testing=testing, seed=""))
    inputs = tables_of(tmp_path, runs, [model_fact("model", 120, 0)])
    table = build_table("end-to-end", inputs)
    assert not any(cell.bold for cell in table.cells)


def test_few_sentences_have_no_bold_mark(tmp_path):
    runs = [counts_of("casrel", [True] * 29), counts_of("prgc", [False] * 29)]
    inputs = tables_of(tmp_path, runs)
    assert not build_table("type-f1", inputs).cell("CasRel", "F1").bold
    assert set(contrasts_of(inputs)["outcome"]) == {FEW}


def test_cases_are_original_sentences_and_not_their_variants(tmp_path):
    sentences = 12
    changed = np.repeat(np.arange(sentences) % 3 == 0, 4)
    ids = augmented_ids(sentences)
    runs = [
        counts_of("casrel", [True] * sentences),
        counts_of("casrel", changed, ids, protocol="augmented"),
    ]
    inputs = tables_of(tmp_path, runs)
    (row,) = contrasts_of(inputs, contrast="original to augmented").to_dict("records")
    assert (row["cases"], row["outcome"]) == (sentences, FEW)
    assert headlines_of(inputs).headlines == []


def test_cases_are_groups_where_groups_are_drawn(tmp_path):
    groups = [f"s{number % 10}" for number in range(40)]
    found = [number % 10 < 3 for number in range(40)]
    runs = [
        counts_of("casrel", [True] * 40, groups=groups),
        counts_of("prgc", found, groups=groups),
    ]
    (row,) = contrasts_of(tables_of(tmp_path, runs)).to_dict("records")
    assert (row["cases"], row["unit"], row["outcome"]) == (10, "shared-triple", FEW)


def test_cases_of_added_zero_triple_sentences_are_those_of_the_smaller_test_set(tmp_path):
    """F1 without zero-triple sentences is of 20 sentences, however many are added."""
    found = np.arange(20) % 2 == 0
    small = counts_of("casrel", found)
    large = counts_of("casrel", [*found, *[False] * 100], testing="wz")
    large.counts["exact-string"][20:, 2] = 0
    large.strata = ["unseen"] * 20 + [None] * 100
    inputs = tables_of(tmp_path, [small, large])
    (row,) = contrasts_of(inputs, contrast="zero-triple sentences in the test").to_dict("records")
    assert (row["cases"], row["outcome"]) == (20, FEW)


def test_a_single_added_zero_triple_sentence_gives_no_conclusion(tmp_path):
    found = np.arange(100) % 2 == 0
    small = counts_of("rules", found, seed="")
    large = counts_of("rules", [*found, False], testing="wz", seed="")
    large.counts["exact-string"][100:, 1:] = 0
    large.strata = ["unseen"] * 100 + [None]
    inputs = tables_of(tmp_path, [small, large])
    (row,) = contrasts_of(inputs, contrast="zero-triple sentences in the test").to_dict("records")
    assert (row["cases"], row["outcome"], row["seeds"]) == (1, FEW, 0)
    assert headlines_of(inputs).headlines == []


def test_seeds_of_a_trained_and_a_program_are_those_of_the_training(tmp_path):
    runs = [counts_of("casrel", [True] * 40, seed=str(seed)) for seed in (1, 2, 3)]
    runs.append(counts_of("rules", [True] * 40, seed=""))
    (row,) = contrasts_of(tables_of(tmp_path, runs)).to_dict("records")
    assert row["seeds"] == 3


def test_a_column_of_any_metric_stands_next_to_bold_marks(tmp_path):
    runs = [counts_of("casrel", [True] * 200), counts_of("prgc", [False] * 200)]
    inputs = tables_of(tmp_path, runs)
    columns = grid.score_columns(only_f1=True, scale=100, digits=1)
    predicted = columns.assign(column="Predicted", metric="predicted", scale=1, digits=0)
    rows = grid.extractor_rows(inputs, ["original"])
    heads = ("Method", "Corpus")
    frame = grid.score_frame(inputs, rows, grid.concat_columns([columns, predicted]), heads=heads)
    table = grid.score_table(inputs, "F1 and predicted triples.", frame)
    assert [table.cell("CasRel", name).shown for name in ("F1", "Predicted")] == ["100.0", "200"]
    assert table.cell("CasRel", "F1").bold and not table.cell("CasRel", "Predicted").bold


def test_the_note_on_bold_marks_is_true_with_a_better_baseline(tmp_path):
    runs = [counts_of("casrel", np.arange(200) % 4 > 0), counts_of("prgc", [False] * 200)]
    runs.append(counts_of("memorise", [True] * 200, seed=""))
    table = build_table("type-f1", tables_of(tmp_path, runs))
    assert table.cell("CasRel", "F1").bold and not table.cell("Memorised triples", "F1").bold
    assert any("Not compared are baselines" in note for note in table.notes)


def test_extractors_of_last_words_are_ranked_by_last_words_alone(tmp_path):
    runs = [counts_of(name, [True] * 40) for name in ("casrel", "pfn", "pfn-star")]
    frame = contrasts_of(tables_of(tmp_path, runs), contrast=SYSTEMS)
    assert frame[["extractor_first", "extractor_second"]].to_numpy().tolist() == [["casrel", "pfn"]]
    assert set(frame["outcome"]) == {NOT_SHOWN}


@pytest.mark.parametrize("parts", [PATTERNS, ("v1", "v2", "v3", "v4")])
def test_variants_of_any_name_are_one_unit_with_zero_triple_sentences_aside(tmp_path, parts):
    """Four equal variants of 60 sentences have the interval of 60 sentences."""
    found = np.random.default_rng(0).random(60) < 0.5
    ids = [f"doc.{number}.{part}" for number in range(60) for part in parts]
    augmented = counts_of("casrel", np.repeat(found, 4), ids, protocol="augmented")
    inputs = tables_of(tmp_path, [augmented])
    assert len(set(inputs.frames.units(inputs.runs.to_dict("records")[0]))) == 60
    with_zero = counts_of(
        "casrel",
        [*np.repeat(found, 4), False, False],
        [*ids, "zero.1", "zero.2"],
        protocol="augmented",
    )
    with_zero.counts["exact-string"][-2:] = 0
    (folder := tmp_path / "zero").mkdir()
    inputs = tables_of(folder, [with_zero])
    assert len(set(inputs.frames.units(inputs.runs.to_dict("records")[0]))) == 62


def test_a_zero_triple_sentence_leaves_the_units_of_variants_as_they_are():
    """Its interval would else be that of 240 independent sentences."""
    found = np.random.default_rng(0).random(60) < 0.5
    triples = [["Ann", "knows", "Bob"]]
    gold = [{"id": id_, "text": f"t {id_}", "triples": triples} for id_ in augmented_ids(60)]
    predicted = [
        {**sentence, "triples": triples if is_found else []}
        for sentence, is_found in zip(gold, np.repeat(found, 4), strict=True)
    ]
    zero = [{"id": "z1", "text": "nothing here", "triples": []}]
    alone = ta.score(gold, predicted).micro.intervals["f1"]
    assert ta.score(gold + zero, predicted + zero).micro.intervals["f1"] == pytest.approx(
        alone, abs=0.02
    )


def test_equal_systems_have_no_negative_zero(tmp_path):
    found = [True, False] * 40
    runs = [counts_of(name, found) for name in ("casrel", "prgc")]
    result = headlines_of(tables_of(tmp_path, runs))
    text = " ".join([result.headlines[0].numbers, *ranking_lines(result.ranking)])
    assert "0.0 points [0.0, 0.0]" in text and "\N{MINUS SIGN}0.0" not in text
