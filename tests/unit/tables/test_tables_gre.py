"""The GenRES tables: rows, reported values, modes, and what is not measured."""

import pytest

from support.scored import told
from tripleaudit.scoring.scores import Score, keys_of, write_scores
from tripleaudit.tables.building import build_table
from tripleaudit.tables.inputs import load_inputs
from tripleaudit.tables.study_facts import training_id


def rows(corpus, level, setting, system, mode="official", **values):
    keys = {
        "study": "s",
        "corpus": corpus,
        "protocol": f"gre-{level}-{setting}",
        "extractor": system,
    }
    keys |= {name: values.pop(name) for name in ("seed", "noise", "training") if name in values}
    given = {
        name: value if isinstance(value, tuple) else (value,) for name, value in values.items()
    }
    return [Score(keys_of(keys), "all", mode, name, *value) for name, value in given.items()]


@pytest.fixture
def inputs(tmp_path):
    def load(*parts, **options):
        write_scores(tmp_path / "s.csv", [row for part in parts for row in part])
        return load_inputs(scores=[tmp_path / "s.csv"], options=options)

    return load


def test_ground_truth_is_first_and_reported_values_stand_next_to_it(inputs, kept):
    parts = [
        rows("cdr", "document", "open", "openchat", ntri=8.555, fs=(0.974, 0.96, 0.98), coverage=1),
        rows("cdr", "document", "gold", "groundtruth", ntri=10.385, cs=1),
        rows("docred", "document", "open", "gpt-4", us=0.83),
        rows("wiki80", "sentence", "open", "gpt-4", us=0.6),
    ]
    kept("tables/gre-document.md", told(build_table("gre-document", inputs(*parts))))


def test_parse_failures_have_columns_where_there_are_answers(inputs):
    one = rows(
        "own", "sentence", "open", "smollm", mode="default", ntri=1, parse_failures=0.25, refusals=0
    )
    table = build_table("gre-sentence", inputs(one))
    assert table.cell("smollm", "Fail.").shown == "25.0"
    assert table.cell("smollm", "Ref.").shown == "0.0"
    assert any("Default rules" in note for note in table.notes)
    without = build_table("gre-sentence", inputs(rows("own", "sentence", "open", "smollm", ntri=1)))
    assert "Fail." not in [column.label for column in without.columns]
    assert [any("Ref.: share" in note for note in each.notes) for each in (table, without)] == [
        True,
        False,
    ]
    assert not any("Cohen" in note for note in table.notes)


def test_trained_extractors_come_last_and_are_averaged_over_seeds(inputs):
    parts = [
        rows(
            "own",
            "sentence",
            "trained",
            "casrel",
            training="nz",
            noise=noise,
            seed=seed,
            us=0.5 + 0.1 * int(seed),
        )
        for noise in ("none", "noising")
        for seed in ("1", "2")
    ]
    table = build_table(
        "gre-sentence", inputs(*parts, rows("own", "sentence", "open", "a-model", us=0.3))
    )
    assert [row.label for row in table.rows] == ["a-model", "CasRel (NZ)", "CasRel+EN (NZ)"]
    cell = table.cell("CasRel (NZ)", "US")
    assert (cell.shown, cell.seeds, round(cell.sd, 2)) == ("65.0", 2, 7.07)


def test_scores_of_trainings_that_still_rose_are_marked_whatever_the_data_set_is_called(
    inputs, tmp_path
):
    systems = (("casrel", "nz"), ("casrel", "wz"), ("prgc", "nz"))
    parts = [
        rows(
            corpus,
            "sentence",
            "trained",
            name,
            training=training,
            coverage=1,
            texts=60,
            cs=0.5,
            ntri=2,
        )
        for corpus in ("webnlg", "texts-of-webnlg")
        for name, training in systems
    ]
    parts += [rows("webnlg", "sentence", "open", "gpt-4", coverage=1, texts=60, cs=0.4, ntri=2)]
    found = inputs(*parts)
    late = {
        "corpus": "webnlg", "protocol": "original", "training": "nz", "extractor": "casrel",
    }  # fmt: skip
    found.facts.marks = {
        training_id(late): "†",
        training_id({**late, "training": "wz"}): "",
        training_id({**late, "extractor": "prgc"}): "",
    }
    for name in ("gre-sentence", "gre-hard-matching"):
        table = build_table(name, found)
        cells = [cell for row in table.rows for cell in row.cells if cell.of]
        marks = {(cell.of["extractor"], cell.of["training"]): cell.mark for cell in cells}
        assert marks == {
            ("casrel", "nz"): "†",
            ("casrel", "wz"): "",
            ("prgc", "nz"): "",
            ("gpt-4", ""): "",
        }
        assert any(note.startswith("†: the training was still rising") for note in table.notes)


@pytest.mark.parametrize("mode", ["default", "official"])
def test_hard_matching_shows_both_counting_rules(inputs, kept, mode):
    micro, macro = ("micro_", "") if mode == "official" else ("", "official_")
    closed = {f"{micro}f1": 0.25, f"{macro}f1": 0.275, "coverage": 1}
    found = rows("nyt10m", "bag", "closed", "gpt-3.5_closed", mode=mode, **closed)
    gold = rows("nyt10m", "bag", "gold", "groundtruth", mode=mode, f1=1, ntri=1.44)
    kept(
        f"tables/gre-hard-matching-{mode}.md",
        told(build_table("gre-hard-matching", inputs(found, gold))),
    )


def test_data_sets_of_the_paper_come_first_under_hard_matching(inputs):
    parts = [
        rows(corpus, "bag", "open", "gpt-4", f1=0.1)
        for corpus in ("wiki80", "nyt10m", "mine", "cdr")
    ]
    table = build_table("gre-hard-matching", inputs(*parts))
    assert [row.group for row in table.rows] == ["CDR", "NYT10m", "Wiki80", "mine"]
    assert any("older gold file" in note for note in table.notes)


def test_systems_stand_before_trained_extractors_with_notes_on_those_that_failed(inputs, kept):
    found = inputs(
        rows("demo", "sentence", "trained", "casrel", "default", cs=0.9, coverage=1, training="nz"),
        rows("demo", "sentence", "system", "mine", "default", cs=0.5, coverage=1),
        rows("demo", "sentence", "system", "some", "default", cs=1, coverage=1),
        rows("demo", "sentence", "system", "broken", "default", texts=0),
    )
    took = {"queried": 20, "of": 20, "triples": 9, "not_in_text": 0, "failed": None}
    facts = {
        "mine": took,
        "some": {**took, "queried": 5},
        "broken": {**took, "failed": "ends with exit status 1"},
    }
    keys = {"corpus": "demo", "protocol": "original"}
    found.facts.rows += [{"system": name, "keys": keys, **each} for name, each in facts.items()]
    kept("tables/gre-sentence.md", told(build_table("gre-sentence", found)))
    labelled = [row.label for row in build_table("gre-hard-matching", found).rows]
    assert "Not trained: mine" in labelled and "Trained: CasRel (NZ)" in labelled


def test_correlations_are_means_over_data_sets_with_intervals_over_systems(inputs, kept):
    """Two data sets at other levels, in which US falls as CS rises; taken together as they are,
    they would rise.
    """
    levels = {"wiki80": 0.4, "mine": 0.7}
    parts = [
        rows(
            corpus,
            "sentence",
            "open",
            f"m{number}",
            cs=level + 0.04 * number,
            us=level + (0.3 - 0.05 * number),
            ntri=2,
        )
        for corpus, level in levels.items()
        for number in range(6)
    ]
    others = (("gold", "groundtruth"), ("closed", "gpt-3.5_closed"))
    aside = [
        rows("wiki80", "sentence", setting, name, cs=0.9, us=0.9, fs=0.5)
        for setting, name in others
    ]
    table = build_table("gre-correlations", inputs(*parts, *aside))
    measured = table.rows[4]  # CS
    assert (measured.group, measured.label) == ("Measured", "CS")
    cell = measured.cells[1]
    assert (cell.value, cell.low, cell.high, cell.cases) == (-1, -1, -1, 6)
    assert measured.cells[5].value is None  # equally many triples: no order
    kept("tables/gre-correlations.md", told(table))
    few = build_table("gre-correlations", inputs(*parts[:4]))
    assert few.rows[4].cells[1].value is None  # four systems


@pytest.mark.parametrize(("texts", "measured"), [(9, False), (10, True)])
def test_scores_of_few_texts_take_part_in_no_correlation(inputs, texts, measured):
    systems = [
        rows(
            "own",
            "sentence",
            "open",
            f"model-{number}",
            ts=0.1 * number,
            us=0.05 * number,
            texts=texts,
        )
        for number in range(8)
    ]
    table = build_table("gre-correlations", inputs(*systems))
    assert (table.cell("TS", "US").value is not None) is measured


@pytest.mark.parametrize(("failures", "measured"), [(0.6, False), (0.2, True)])
def test_systems_with_mostly_unread_answers_take_part_in_no_correlation(inputs, failures, measured):
    unread = {"parse_failures": failures, "refusals": 0.0}
    systems = []
    for number in range(8):
        scores = {"ts": 0.1 * number, "us": 0.05 * number, "texts": 20}
        systems.append(rows("own", "sentence", "open", f"model-{number}", **scores, **unread))
    table = build_table("gre-correlations", inputs(*systems))
    assert (table.cell("TS", "US").value is not None) is measured


def test_observations_of_the_paper_are_computed_from_its_84_rows(inputs):
    table = build_table(
        "gre-correlations", inputs(rows("wiki80", "sentence", "open", "m", cs=0.5, us=0.5))
    )
    printed = {row.label: row.cells for row in table.rows if row.group == "Printed by GenRES"}
    columns = [column.label for column in table.columns]
    cs_fs = printed["CS"][columns.index("FS")]
    assert (
        cs_fs.value == pytest.approx(0.71, abs=0.005)
        and 0.4 < cs_fs.low < 0.55
        and 0.8 < cs_fs.high < 0.9
    )
    gs_tokens = printed["GS"][columns.index("#tok")]
    assert gs_tokens.value == pytest.approx(-0.39, abs=0.005) and gs_tokens.low < gs_tokens.high < 0
    notes = " ".join(table.notes)
    assert (
        "GPT-4-Turbo 3.0, GPT-3.5-Turbo-Instruct 4.4, OpenChat-3.5 4.8" in notes
        and "LLaMA-2-70B 6.0" in notes
    )
    assert "Wiki80 +2.7" in notes and "NYT10m +5.5" in notes
    own = build_table(
        "gre-correlations", inputs(rows("mine", "sentence", "open", "m", cs=0.5, us=0.5))
    )
    assert {row.group for row in own.rows} == {
        "Measured"
    }  # reported values stand in studies of the paper's data sets
