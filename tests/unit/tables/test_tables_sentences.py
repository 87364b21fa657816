"""Tables that show sentences and words: variants of one sentence, clue words, and what splits
share.
"""

import json

from support.published import webnlg
from support.scored import told
from tripleaudit.cli import main
from tripleaudit.core.files import write_jsonl
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.store import save_sentences
from tripleaudit.protocols.variants import named_by_position
from tripleaudit.tables.audits import write_study_audit
from tripleaudit.tables.building import ResultFiles, build_table, make_tables
from tripleaudit.tables.inputs import load_inputs
from tripleaudit.tables.render.data_forms import read_table


def sentence(name, subject, object_):
    text = f"{subject} leads {object_} ."
    return Sentence(
        name, text, (Triple(Span(0, len(subject), subject), "leads", Span(None, None, object_)),)
    )


def example(tmp_path, train, test, augmented):
    paths = {}
    for name, sentences in (
        ("train", train),
        ("valid", train[:1]),
        ("test", test),
        ("augmented", augmented),
    ):
        paths[name] = tmp_path / f"{name}.jsonl"
        save_sentences(paths[name], sentences)
    keys = {"study": "s", "corpus": "webnlg", "protocol": "augmented"}
    splits = [paths["train"], paths["valid"], paths["augmented"]]
    write_study_audit(keys=keys, splits=splits, original=[paths["test"]], out=tmp_path / "a.json")
    assert len(json.loads((tmp_path / "a.json").read_text())["example"]) in (0, 3, 5)
    return build_table("augmented-example", load_inputs(audits=[tmp_path / "a.json"]))


def test_the_first_sentence_whose_variants_all_differ_is_shown(tmp_path, kept):
    train = [sentence("t", "Ann", "Rome")]
    test = [sentence("a", "Ann", "Oslo"), sentence("b", "Bob", "Rome")]
    augmented = [
        *(sentence(f"a.{part}", "Ann", "Oslo") for part in ("ss", "uu")),
        *(
            sentence(f"b.{part}", *names)
            for part, names in (("ss", ("Ann", "Rome")), ("uu", ("Eve", "Lima")))
        ),
    ]
    kept("tables/augmented-example.md", told(example(tmp_path, train, test, augmented)))
    none = example(tmp_path, train, test[:1], augmented[:2])
    assert none.rows == []


def test_webnlgs_published_variants(tmp_path):
    train, test = webnlg().original.train, webnlg().original.test
    augmented = [sentence for part in webnlg().augmented.values() for sentence in part]
    shown = example(tmp_path, train, test, named_by_position(test, augmented))
    assert [row.label for row in shown.rows] == ["Original", "ss", "su", "us", "uu"]
    assert len({row.cells[0].text for row in shown.rows}) == 5
    assert "unseen" in shown.rows[4].cells[1].text


def curve(folder, name, passed, rejected=None):
    path = folder / f"{name}.json"
    keys = {"corpus": "demo", "extractor": "zcc-binary"}
    path.write_text(
        json.dumps({"keys": keys, "clues": {"passed": passed, "rejected": rejected or {}}})
    )
    return path


def test_seeds_are_counted_together_and_names_distinguished_from_other_words(tmp_path, kept):
    files = [
        curve(tmp_path, "1", {"born": [20, 19, 0], "harrow": [10, 5, 10]}, {"weather": [4, 1, 0]}),
        curve(tmp_path, "2", {"born": [10, 9, 0], **{f"rare{n}": [1, 1, 0] for n in range(5)}}),
    ]
    kept(
        "tables/clue-words.md",
        told(build_table("clue-words", load_inputs(files={"curves": files}))),
    )


TRAIN = [Sentence(str(n), f"Person {n} works for company {n} in town {n} .") for n in range(20)]


def leakage(folder, test, name="nan"):
    rows = [{"text": s.text, "triples": [["a", "r", name]] if s is TRAIN[0] else []} for s in TRAIN]
    counts = []
    for split in ("train", "valid", "test"):
        write_jsonl(folder / "raw.jsonl", rows)
        counts.append(str(folder / f"{split}.counts.json"))
        out = folder / f"{split}.prepared.jsonl"
        assert (
            main(
                [
                    "prepare",
                    "--source",
                    str(folder / "raw.jsonl"),
                    "--out",
                    str(out),
                    "--report",
                    counts[-1],
                ]
            )
            == 0
        )
        rows = rows[-1:]
    for split, sentences in (
        ("train", TRAIN),
        ("valid", [Sentence("v", "It rained .")]),
        ("test", test),
    ):
        save_sentences(folder / f"{split}.jsonl", sentences)
    keys = {"study": "s", "corpus": "demo", "protocol": "original"}
    splits = [folder / f"{split}.jsonl" for split in ("train", "valid", "test")]
    write_study_audit(keys=keys, splits=splits, out=folder / "audit.json", counts=counts)
    make_tables(ResultFiles(audits=[folder / "audit.json"]), {"leakage": {}}, folder)
    return read_table(folder / "leakage.json")


def test_sentences_of_a_test_set_that_training_has_stand_in_a_table_and_above_the_page(
    tmp_path, kept
):
    others = [Sentence("n", "Nobody is here ."), Sentence("o", "It snowed .")]
    found = leakage(tmp_path, [TRAIN[0], Sentence("c", TRAIN[1].text.upper()), *others])
    kept("tables/leakage.md", told(found))
    leak, left = found.warnings
    said = "2 of 4 test sentences of Demo, Ori. are in training, up to case and punctuation, such as 0: "
    assert leak.startswith(said)
    assert (
        left.startswith("Demo, train: 1 triple has a name like nan or NULL")
        and str(tmp_path) not in left
    )
    assert left in found.notes
    assert len(leakage(tmp_path, others).warnings) == 1  # nothing is shared: what reading found
