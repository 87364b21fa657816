import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from support.scored import KINDS, TEXT, TRAIN, Results, sentences_of, told
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence
from tripleaudit.tables.building import build_table
from tripleaudit.tables.cells import Table
from tripleaudit.tables.grid import notes
from tripleaudit.tables.inputs import TableInputs, load_inputs
from tripleaudit.tables.render import to_csv
from tripleaudit.tables.spec import TABLES
from tripleaudit.tables.study_facts import UNFINISHED, training_id

SCORED = [
    "augmented",
    "end-to-end",
    "matching-rules",
    "rearranged",
    "sifted",
    "two-step",
    "type-f1",
    "zcc",
]
OWN = [
    *SCORED,
    "cardinality-sizes",
    "split-sizes",
    "strata-sizes",
    "training-time",
    "trainings",
    "triple-types",
]


IN_ORDER = """type-f1 rearranged sifted augmented contamination unseen-relations end-to-end zcc two-step
clue-words training-time co-occurrence efficiency contrasts matching-rules trainings gre-sentence gre-bag gre-document
gre-hard-matching gre-correlations minea needle-criteria needle-example lost-in-the-middle iterations llm-comparison
triple-types split-sizes strata-sizes cardinality-sizes augmented-example leakage collection"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two extractors with and without noising on two corpora; NZ and WZ, classifiers and two
    steps on a third.
    """
    made = Results(tmp_path_factory.mktemp("results"))
    for protocol, lost in (
        ("original", 0),
        ("rearranged", 0.2),
        ("sift-1", 0.05),
        ("augmented", 0.3),
    ):
        for extractor, quality in (("casrel", 0.5), ("prgc", 0.9)):
            for noise, gain in (("none", 0.0), ("noising", 0.05)):
                seeds = (1, 2) if extractor == "prgc" else (1,)
                made.run(
                    extractor,
                    quality=quality + gain - lost,
                    noise=noise,
                    protocol=protocol,
                    seeds=seeds,
                )
    made.run("own", quality=0.8, corpus="my_corpus")
    for training, quality, alarms in (("nz", 0.9, 0.6), ("wz", 0.8, 0.1)):
        for testing, zero in (("nz", 0), ("wz", 200)):
            for extractor in ("pfn", "onerel"):
                shape = {
                    "training": training,
                    "testing": testing,
                    "zero": zero,
                    "corpus": "nyt24star",
                }
                made.run(extractor, quality=quality, false_alarms=alarms, seeds=(1, 2), **shape)
    for head in ("binary", "mcml"):
        made.classifier(f"zcc-{head}", quality=0.8, corpus="nyt24star")
        made.run(
            f"zcc-{head}+pfn",
            quality=0.85,
            testing="wz",
            zero=200,
            corpus="nyt24star",
            seeds=(1, 2),
        )
    for training, seconds in (("nz", 60.0), ("wz", 210.0)):
        keys = {
            "corpus": "nyt24star",
            "protocol": "original",
            "training": training,
            "extractor": "pfn",
        } | {"noise": "none"}
        for seed in (1, 2):
            took = {"seconds_per_epoch": seconds + 6 * (seed - 1), "seconds": 9 * seconds}
            made.fact(keys={**keys, "seed": seed}, **took, device="a CPU")
    made.fact(
        keys={**keys, "extractor": "zcc-mcml"}, seconds_per_epoch=60, seconds=900.0, device="a CPU"
    )
    test, with_zero = sentences_of(40), sentences_of(40, 90)
    for protocol in ("original", "sift-1", "augmented"):
        made.audit("webnlg", protocol, {"train": TRAIN, "valid": test[:8], "test": test})
    splits = {"train": TRAIN, "valid": test, "test": test}
    made.audit(
        "nyt24star", "original", splits, {"train": with_zero, "valid": test, "test": with_zero}
    )
    return made


@pytest.fixture(scope="module")
def inputs(results: Results) -> TableInputs:
    return results.inputs()


def test_tables_stand_in_a_report_in_the_order_of_the_papers_with_their_kin() -> None:
    assert sorted(TABLES, key=lambda name: (TABLES[name].order, name)) == IN_ORDER.split()


def rows_of(table: Table) -> list[tuple[str, str]]:
    return [(row.group, row.label) for row in table.rows]


@pytest.mark.parametrize("name", OWN)
def test_values_stand_next_to_those_of_the_paper_with_changes_drops_and_gains_against_their_baselines(
    name: str, inputs: TableInputs, kept: Callable[[str, str], None]
) -> None:
    kept(f"tables/{name}.md", told(build_table(name, inputs)))


@pytest.mark.parametrize("name", ["sifted", "rearranged"])
def test_no_table_says_how_many_sentences_would_show_a_difference(name: str, inputs) -> None:
    """The numbers that stood there were wrong in every simulated case."""
    text = told(build_table(name, inputs))
    assert not re.search(r"takes (about|more than) [\d,]+ (times the )?test sentences", text)


def test_pfn_trained_on_last_words_is_the_row_next_to_the_papers(tmp_path) -> None:
    made = Results(tmp_path)
    for extractor, quality in (("pfn", 0.6), ("pfn-star", 0.9)):
        for training in ("nz", "wz"):
            shape = {
                "training": training,
                "zero": 30,
                "testing": "wz",
                "corpus": "nyt24star",
                "seeds": (1,),
            }
            made.run(extractor, quality=quality, **shape)
    made.run(
        "zcc-mcml+pfn-star", quality=0.9, testing="wz", zero=30, corpus="nyt24star", seeds=(1,)
    )
    one = made.inputs()
    table = build_table("end-to-end", one)
    groups = ("NYT24*, trained NZ", "NYT24*, trained WZ")
    assert rows_of(table) == [(group, label) for group in groups for label in ("PFN", "PFN*")]
    assert (
        table.cell("PFN*", "F1", groups[0], "Test WZ").value
        > table.cell("PFN", "F1", groups[0], "Test WZ").value
    )
    assert table.cell("PFN*", "F1", groups[0], "Test WZ").reported == "0.694"
    assert build_table("two-step", one).cell("PFN*", "F1", "ZCC MCML").reported == "0.818"
    assert [label for _, label in rows_of(build_table("type-f1", one))] == ["PFN"]


def test_options_choose_decimals_caption_and_matching(results: Results) -> None:
    table = build_table(
        "type-f1", load_inputs(scores=results.scores, options={"digits": 2, "caption": "Mine."})
    )
    assert len(table.cell("PRGC", "F1").shown) == 5
    assert table.caption == "Mine."
    loaded = load_inputs(scores=results.scores, options={"matching": "partial-first"})
    table = build_table("type-f1", loaded)
    assert table.notes[0].startswith("Partial matching: entities are compared by their first word")
    assert table.cell("CasRel", "F1").reported is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"speed": 1}, "unknown option 'speed'; expected one of matching"),
        ({"extractors": ["prgc"]}, "unknown option 'extractors'"),
        ({"matching": "soft"}, "unknown matching rule 'soft'"),
    ],
)
def test_bad_options(options, message: str) -> None:
    with pytest.raises(UserError, match=message):
        build_table("type-f1", load_inputs(options=options))


def test_bad_audits(results: Results, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(UserError, match="not an audit; expected 'keys'"):
        load_inputs(audits=[tmp_path / "a.json"])
    with pytest.raises(
        UserError, match="a second audit of corpus 'webnlg' and protocol 'original'"
    ):
        load_inputs(audits=[results.audits[0], results.audits[0]])
    for facts in (
        "[1]",
        '[{"system": "a", "asked": 3, "of": 3}]',
    ):  # the second as an earlier version wrote them
        (tmp_path / "r.json").write_text(facts)
        with pytest.raises(
            UserError, match="not the facts of trainings and systems that this version writes"
        ):
            load_inputs(runs=[tmp_path / "r.json"])


def test_two_studies_do_not_share_a_table(results: Results, tmp_path: Path) -> None:
    other = Results(tmp_path, study="other")
    other.run("casrel", quality=0.5, sentences=8)
    with pytest.raises(
        UserError, match=r"scores of several studies \(other, study\) cannot share a table"
    ):
        load_inputs(scores=results.scores + other.scores)


def test_audit_of_sentences_without_triples(tmp_path: Path) -> None:
    made = Results(tmp_path)
    empty = [Sentence("z", TEXT)]
    made.audit("demo", "original", {"train": TRAIN, "valid": empty, "test": empty}, {"test": empty})
    audit = json.loads(made.audits[0].read_text())
    counted = {
        "sentences": 1,
        "sentences_with_triples": 0,
        "triples": 0,
        "zero_triple_sentences": 1,
    }
    assert audit["splits"]["test"] == counted
    assert set(KINDS) < set(audit["strata"])


def facts_of(training: str, *, sentences: int, zero: int, epochs: float, flat: bool | None) -> dict:
    keys = {
        "study": "study",
        "corpus": "webnlg",
        "protocol": "original",
        "training": training,
        "extractor": "prgc",
    }
    ended = {"flat": flat, "slope": 0.02 * (not flat), "error": 0.0}
    counts = {"sentences": sentences, "zero": zero}
    return {"keys": {**keys, "seed": 1}, "epochs": epochs, "counts": counts, "convergence": ended}


NO_SCORES = ("Sentences / s", "s / 1,000", "Money / 1,000", "Peak memory (MB)")


@pytest.mark.parametrize(
    "name",
    [name for name in OWN if TABLES[name].needs == "scores"] + ["efficiency", "contamination"],
)
def test_no_table_shows_a_score_of_an_unfinished_training_without_its_mark(
    results: Results, name: str
) -> None:
    inputs = results.inputs(runs=())
    runs = inputs.runs.to_dict("records")
    inputs.facts.marks = {
        training_id({**run, "training": run["training"] or "nz"}): UNFINISHED
        for run in runs
        if run["extractor"] in ("prgc", "pfn", "zcc-mcml") and run["protocol"] != "augmented"
    }
    took = {"sentences": 40, "peak_mb": 9, "device": "a CPU"}
    inputs.facts.rows += [
        {
            "keys": {**run, "seed": "1"},
            "predicted": {**took, "seconds": 1.0 + (run["extractor"] == "pfn")},
        }
        for run in runs
        if "+" not in run["extractor"]
    ]
    table = build_table(name, inputs)
    marked = 0
    for row in table.rows:
        for cell, column in zip(row.cells, table.columns, strict=True):
            if cell.value is None or cell.of is None or column.label in NO_SCORES:
                continue
            late = any(
                part in ("prgc", "pfn", "zcc-mcml") for part in cell.of["extractor"].split("+")
            )
            assert ("†" in cell.mark) == late, (row.group, row.label, column)
            marked += late
    assert marked or name not in (
        "type-f1",
        "augmented",
        "rearranged",
        "sifted",
        "end-to-end",
        "two-step",
        "zcc",
    )
    assert sum(note.startswith("†: the training was still rising") for note in table.notes) == bool(
        marked
    )
    assert ("†" in to_csv(table)) == bool(marked)


def test_a_change_carries_the_mark_of_either_training(results: Results) -> None:
    inputs = results.inputs(runs=())
    late = {"corpus": "webnlg", "protocol": "sift-1", "training": "nz", "extractor": "prgc"}
    inputs.facts.marks = {training_id(late): UNFINISHED}
    rows = {
        row.label: row.cells for row in build_table("sifted", inputs).rows if row.group == "PRGC"
    }
    assert rows["Sift-1"][0].mark == rows["Sift-1+EN"][0].mark == "†"
    assert rows["Original"][0].mark == rows["Original+EN"][0].mark == ""


def test_cells_of_unfinished_and_unequal_trainings_are_marked_and_explained(
    results: Results, tmp_path: Path
) -> None:
    cases = {
        mark: [facts_of("nz", sentences=900, zero=0, epochs=4, flat=flat)]
        for mark, flat in {"": True, "†": False, "§": None, "‡": True}.items()
    }
    cases["‡"].append(facts_of("wz", sentences=3600, zero=2700, epochs=1, flat=None))
    for number, (mark, facts) in enumerate(cases.items()):
        path = tmp_path / f"facts{number}.json"
        path.write_text(json.dumps(facts))
        inputs = results.inputs(runs=[path])
        rows = build_table("matching-rules", inputs)
        cell = rows.cell("PRGC", "exact-string", "WebNLG")
        assert cell.mark == mark
        assert rows.cell("CasRel", "exact-string", "WebNLG").mark == ""
        explained = [
            note for note in notes([cell], "exact-string") if note.startswith(("†", "‡", "§"))
        ]
        assert [note[0] for note in explained] == ([mark] if mark else [])
    equal = facts_of("wz", sentences=3600, zero=2700, epochs=3.8, flat=True)
    path.write_text(json.dumps([*cases[""], equal]))
    assert set(load_inputs(runs=[path]).facts.marks.values()) == {""}


def test_every_table_explains_its_settings_and_repeats_no_note(inputs):
    explained = set()
    for name in OWN:
        table = build_table(name, inputs)
        shown = [
            table.caption,
            *(text for one in (*table.columns, *table.rows) for text in (one.group, one.label)),
        ]
        if re.search(r"\b[NW]Z\b", " ".join(shown)):
            assert re.search(r"[NW]Z[:)]", " ".join(table.notes)), name
            explained.add(name)
        assert len(set(table.notes)) == len(table.notes), name
    assert explained
    assert (
        build_table("training-time", inputs).notes[0].startswith("NZ: sentences with triples only")
    )
