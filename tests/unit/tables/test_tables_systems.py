"""Systems that the study does not train, in the tables: rows, notes, what they take, and what
they have memorised.
"""

import math
from pathlib import Path

import numpy as np
import pytest

from support.scored import tables_of, told
from tripleaudit.core.errors import UserError
from tripleaudit.report.overview import matrix
from tripleaudit.scoring.counts import SentenceCounts, load_counts, read_keys
from tripleaudit.scoring.scores import Score, keys_of
from tripleaudit.tables import panels
from tripleaudit.tables.builders.efficiency import costs_by_run
from tripleaudit.tables.building import build_table
from tripleaudit.tables.plots import f1_cost
from tripleaudit.tables.study_facts import training_id

RIGHT, WRONG = (1, 1, 1), (0, 1, 1)
KEYS = {"study": "s", "corpus": "demo", "training": "nz", "testing": "nz", "noise": "none"}


def fact(name: str, protocol: str = "original", **more) -> dict:
    keys = {**KEYS, "protocol": protocol, "extractor": name, "seed": ""}
    took = {
        "failed": None,
        "sentences": 20,
        "queried": 20,
        "of": 20,
        "triples": 20,
        "not_in_text": 0,
        "seconds": 5.0,
    }
    return {
        "keys": keys,
        "system": name,
        "kind": "command",
        "device": "cpu",
        "peak_mb": 12.0,
        **took,
        **more,
    }


def counts_of(
    name: str, rows: list, seed: str = "", reasons=(), ids=None, **keys
) -> SentenceCounts:
    """The counts of a run on unseen triples."""
    known = {**KEYS, "protocol": "original", "extractor": name, "seed": seed, **keys}
    names = ids or [str(n) for n in range(len(rows))]
    return SentenceCounts(
        known, names, ["unseen"] * len(rows), {"exact-string": np.array(rows)}, list(reasons)
    )


@pytest.fixture
def study(tmp_path: Path):
    """(system, protocol, seed) -> counts of each sentence, as inputs of tables."""

    def made(runs: dict, facts: list):
        counted = []
        for (name, protocol, seed), rows in runs.items():
            ids = [
                f"{n % 20}.{n // 20}" if protocol == "augmented" else f"{n}"
                for n in range(len(rows))
            ]
            counted.append(counts_of(name, rows, seed, ids=ids, protocol=protocol))
        return tables_of(tmp_path, counted, facts)

    return made


def test_a_system_competes_with_trainings_and_one_that_failed_is_named(study):
    trained = {("casrel", "original", seed): [WRONG] * 25 + [RIGHT] * 5 for seed in ("1", "2")}
    facts = [
        fact("good"),
        fact("bad", failed="ends with exit status 1"),
        fact("odd", not_in_text=3),
    ]
    inputs = study(
        {**trained, ("good", "original", ""): [RIGHT] * 30, ("odd", "original", ""): [WRONG] * 30},
        facts,
    )
    table = build_table("type-f1", inputs)
    assert [row.label for row in table.rows] == ["CasRel", "bad", "good", "odd"]
    assert table.cell("good", "F1").bold and table.cell("bad", "F1").value is None
    notes = " ".join(table.notes)
    assert "bad (Demo, Ori.) has no scores: ends with exit status 1." in notes
    assert "odd (Demo, Ori.): 3 of 20 triples name something that is not in the sentence" in notes
    assert "Not trained by this study: good, odd" in notes


def test_why_a_system_finds_next_to_nothing_stands_under_its_row(tmp_path):
    why = "no predicted relation occurs in the gold: predicted are 'A'; the gold has 'r'"
    names = {"odd": ["a", why], "good": [], "casrel": [why]}
    counted = [
        counts_of(
            name, [RIGHT if name == "good" else WRONG] * 20, "1" * (name == "casrel"), reasons
        )
        for name, reasons in names.items()
    ]
    facts = [fact("odd", renamed=3, names=2, not_in_text=5, written_otherwise=4), fact("good")]
    inputs = tables_of(tmp_path, counted, facts)
    for number, each in enumerate(counted):
        path = tmp_path / f"{number}.csv"
        assert (
            tuple(load_counts(path).reasons) == tuple(each.reasons) and read_keys(path) == each.keys
        )
    for name in ("type-f1", "matching-rules"):
        table = build_table(name, inputs)
        (note,) = (note for note in table.notes if "next to nothing" in note)
        assert note == f"odd (Demo, Ori.) finds next to nothing by exact matching: a; {why}."
        assert (
            "odd (Demo, Ori.): 3 of 20 triples have their relation by a map of 2 names."
            in table.notes
        )
        assert any(
            "(4 of them but for case, blanks or punctuation)" in note for note in table.notes
        )


@pytest.mark.parametrize("name", ["efficiency", "contamination", "end-to-end", "matching-rules"])
def test_every_table_names_a_system_that_failed_be_it_the_only_one(study, name):
    bad = fact("bad", failed="ends with exit status 1")
    scored = {("good", protocol, ""): [RIGHT] * 20 for protocol in ("original", "augmented")}
    for inputs in (study(scored, [fact("good"), bad]), study({}, [bad])):
        notes = build_table(name, inputs).notes
        assert [note for note in notes if "bad" in note] == [
            "bad (Demo, Ori.) has no scores: ends with exit status 1."
        ]


def test_a_system_queried_about_a_part_is_compared_with_none(study):
    runs = {("casrel", "original", "1"): [RIGHT] * 30, ("pfn", "original", "1"): [WRONG] * 30}
    few = fact("few", queried=5, sentences=5)
    table = build_table("type-f1", study({**runs, ("few", "original", ""): [RIGHT] * 5}, [few]))
    assert table.cell("CasRel", "F1").bold and not table.cell("few", "F1").bold
    assert any(
        "few (Demo, Ori.) was queried about 5 of 20 sentences" in note for note in table.notes
    )


def test_a_classifier_before_a_system_saves_what_it_holds_back(kept, tmp_path):
    gate, tested, half = "zcc-binary+model", {"testing": "wz"}, [RIGHT] * 10 + [(0, 1, 0)] * 10
    runs = (("model", "", half), (gate, "1", [RIGHT] * 10 + [(0, 0, 0)] * 10), (gate, "2", half))
    counted = [counts_of(name, rows, seed, **tested) for name, seed, rows in runs]
    more = {"1": {"let_through": 10, "money": 1.0}, "2": {"let_through": 20, "money": 2.0}}
    paid = [
        Score(keys_of(each.keys), "all", "", name, value)
        for each in counted[1:]
        for name, value in {**more[each.keys["seed"]], "money_ungated": 2.0}.items()
    ]
    inputs = tables_of(tmp_path, counted, [fact("model"), fact("free")], paid)
    table = build_table("two-step", inputs)
    row = {
        column.label: cell.value
        for column, cell in zip(table.columns, table.rows[0].cells, strict=True)
    }
    assert (row["Passed (%)"], row["Money / 1,000"], row["Saved (%)"]) == (75, 75, 25)
    # against itself, the same for each seed
    assert row["Change (points)"] == pytest.approx((100 + 200 / 3) / 2 - 200 / 3)
    kept("tables/two-step-of-a-system.md", told(table))
    classifier = {
        "corpus": KEYS["corpus"], "protocol": "original", "training": "wz", "extractor": "zcc-binary",
    }  # fmt: skip
    inputs.facts.marks = {training_id(classifier): "†"}
    assert [cell.mark for cell in build_table("two-step", inputs).rows[0].cells] == ["†"] * 7


def test_efficiency_has_what_was_measured_and_nothing_else(study, kept):
    runs = {
        (name, "original", ""): [RIGHT] * 20 for name in ("program", "model", "file", "memorise")
    }
    runs |= {("casrel", "original", seed): [RIGHT] * 20 for seed in ("1", "2")}
    facts = [
        fact("program"),
        fact("file", kind="predictions"),
        fact("model", kind="endpoint", money=0.5, seconds=None),
    ]
    for seed, seconds in (("1", 1.0), ("2", 3.0)):
        took = {"seconds": seconds, "sentences": 20, "peak_mb": 100.0, "device": "cpu"}
        facts.append(
            {
                "keys": {**KEYS, "protocol": "original", "extractor": "casrel", "seed": seed},
                "predicted": took,
            }
        )
    facts.append(fact("memorise", seconds=0.001))
    kept("tables/efficiency.md", told(build_table("efficiency", study(runs, facts))))


def test_f1_against_cost_has_a_point_for_each_system_or_says_why_not(study):
    names = ("fast", "slow", "file", "free", "memorise")
    runs = {(name, "original", ""): [RIGHT] * 10 + [WRONG] * 10 for name in names}
    facts = [
        fact("fast"),
        fact("slow", kind="endpoint", seconds=500.0, money=0.5),
        fact("memorise", seconds=0.02),
    ]
    facts += [
        fact("file", kind="predictions"),
        fact("free", seconds=None, money=0.0, queried=20, of=40),
        fact("odd"),
    ]
    time, money = f1_cost.draw(study(runs, facts))["concat"]
    for panel, points in (
        (time, {"fast": 250, "slow": 25000, "Memorised triples": 1}),
        (money, {"slow": 25}),
    ):
        rows = panel["data"]["values"]
        assert {row["series"]: row["cost"] for row in rows} == points
        assert all(row["value"] == 50 and row["low"] < 50 < row["high"] for row in rows)
        scale = panel["layer"][0]["encoding"]["x"]["scale"]
        low, high = scale["domain"]
        assert scale["type"] == "log"
        assert all(low < row["cost"] < high for row in rows)
    assert sorted(time["title"]["subtitle"]) == [
        "Not shown, seconds known, but no F1: odd",
        "Not shown, seconds not known: free (20 of 40 sentences) (F1 50.0 %)",
        "Not shown, seconds of stored outputs not known: file (F1 50.0 %)",
    ]
    reported = " ".join(money["title"]["subtitle"])
    assert all(name in reported for name in ("fast", "file", "free", "odd", "Memorised triples"))
    assert "slow" not in reported
    shapes = time["layer"][1]["encoding"]["shape"]["scale"]["range"]
    assert math.gcd(len(shapes), len(panels.COLOURS)) == 1


def test_what_is_known_memorised_is_lost_when_names_are_replaced(study, kept):
    by_heart = {("heart", "original", ""): [RIGHT] * 20, ("heart", "augmented", ""): [WRONG] * 40}
    reads = {("reads", "original", ""): [RIGHT] * 12 + [WRONG] * 8,
             ("reads", "augmented", ""): ([RIGHT] * 12 + [WRONG] * 8) * 2}  # fmt: skip
    facts = [
        fact(name, protocol)
        for name in ("heart", "reads")
        for protocol in ("original", "augmented")
    ]
    inputs = study({**by_heart, **reads}, facts)
    table = build_table("contamination", inputs)
    kept("tables/contamination.md", told(table))
    runs = {**by_heart, **reads, ("heart", "rearranged", ""): [RIGHT] * 15 + [WRONG] * 5}
    kept(
        "tables/contamination-of-rearranged-sets.md",
        told(build_table("contamination", study(runs, facts))),
    )
    runs = inputs.runs[inputs.runs["extractor"] == "heart"].to_dict("records")
    trained = {training_id(run) for run in runs}
    trained |= {training_id({**run, "protocol": "original"}) for run in runs}
    for mark in "†§":
        inputs = study({**by_heart, **reads}, facts)
        inputs.facts.marks = dict.fromkeys(trained, mark + "‡")
        cells = build_table("contamination", inputs).rows
        assert [cell.mark for row in cells for cell in row.cells if row.label == "heart"][2:] == [
            mark,
            mark,
        ]
    fewer = {**by_heart, ("heart", "augmented", ""): [WRONG] * 19}
    table = build_table("contamination", study(fewer, []))
    assert table.cell("heart", "Difference").cases == 19
    assert "Difference: of the 1 test sentences without a variant nothing is in it." in table.notes
    with pytest.raises(
        UserError, match="demo: the sentence '19.0' is a variant of no test sentence"
    ):
        build_table(
            "contamination", study({**by_heart, ("heart", "original", ""): [RIGHT] * 19}, [])
        )


def test_unseen_relations_name_who_can_name_them_and_give_the_others_zeros(study, kept):
    runs = {("casrel", "original", "1"): [RIGHT] * 40, ("unirel", "original", "1"): [RIGHT] * 40}
    runs |= {
        ("prgc", "original", "1"): [RIGHT] * 40,
        ("memorise", "original", ""): [RIGHT] * 40,
        ("program", "original", ""): [RIGHT] * 40,
    }
    runs[("unirel", "unseen_relations", "1")] = [RIGHT] * 10 + [WRONG] * 30
    kept(
        "tables/unseen-relations.md",
        told(build_table("unseen-relations", study(runs, [fact("program")]))),
    )
    able = build_table(
        "unseen-relations",
        study({run: rows for run, rows in runs.items() if run[0] == "unirel"}, []),
    )
    assert not any("by construction" in note for note in able.notes)


def trained(name: str, flat: bool | None, seed: str = "", **more) -> dict:
    came = {"flat": flat, "slope": 0.0125, "error": 0.003, "best_step": 80, "last_step": 100}
    rates = {
        "batch_size": 8,
        "accumulation": 2,
        "encoder_learning_rate": 3e-4,
        "head_learning_rate": 1e-3,
    }
    keys = {**KEYS, "protocol": "original", "extractor": name, "seed": seed}
    took = {
        "epochs": 4.0,
        "steps": 100,
        "best_f1": 0.5,
        "seconds": 90.0,
        "device": "NVIDIA H100",
        "settings": rates,
    }
    return {"keys": keys, "convergence": came, **took, **more}


def test_stored_outputs_carry_the_mark_of_the_training_behind_them(study):
    runs = {(name, "original", ""): [WRONG] * 12 for name in ("casrel", "pfn", "mine")}
    inputs = study(
        runs,
        [*map(fact, ("casrel", "pfn", "mine")), trained("casrel", False), trained("pfn", True)],
    )
    table = build_table("type-f1", inputs)
    assert [table.cell(row, "F1").mark for row in ("CasRel", "PFN", "mine")] == ["†", "", ""]


def test_trainings_say_their_settings_and_how_far_they_came(study, kept):
    facts = [
        trained("casrel", True, "1"),
        trained("casrel", False, "2", seconds=150.0),
        trained("pfn", None),
    ]
    inputs = study({}, [*facts, fact("mine")])
    table = build_table("trainings", inputs)
    kept("tables/trainings-that-rose.md", told(table))
    rows = matrix([table]).rows.items()
    seeds = {
        system: [(head, cell.shown) for (_, head), cell in row.items()] for system, row in rows
    }
    assert seeds == {("Demo", "CasRel"): [("Seeds", "2")], ("Demo", "PFN"): [("Seeds", "1")]}
    for one in facts[:2]:
        one["doubled"] = {"gain": 0.0042}
    kept("tables/trainings-doubled.md", told(build_table("trainings", study({}, facts))))


def test_the_same_predictions_by_every_rule_that_they_were_scored_by(tmp_path, kept):
    right, wrong = np.array([RIGHT] * 40), np.array([WRONG] * 40)
    typed, plain = (counts_of(name, [RIGHT] * 40) for name in ("typed", "plain"))
    typed.counts.update({"exact-span": right, "strict": wrong})
    plain.counts["exact-span"] = wrong
    known = counts_of("memorise", [RIGHT] * 40)
    known.counts["exact-span"] = wrong
    inputs = tables_of(tmp_path, [typed, plain, known])
    kept("tables/matching-rules-of-types.md", told(build_table("matching-rules", inputs)))


def test_what_trainings_in_two_settings_take_is_told_apart(study):
    def predicted(name: str, training: str) -> dict:
        one = fact(name)
        one["keys"] |= {"training": training, "noise": "none"}
        return {
            "keys": one["keys"],
            "predicted": {key: value for key, value in one.items() if key != "system"},
        }

    facts = [predicted("casrel", "wz"), predicted("casrel", "nz"), fact("mine")]
    names = costs_by_run(study({}, facts))["name"].tolist()
    assert names == ["CasRel (trained NZ)", "CasRel (trained WZ)", "mine"]
    assert costs_by_run(study({}, facts[1:2]))["name"].tolist() == ["CasRel"]
