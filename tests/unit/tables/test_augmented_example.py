"""The table of one test sentence with its augmented variants."""

import json

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.registered import read_registered
from tripleaudit.corpora.store import save_sentences
from tripleaudit.protocols.variants import named_by_position
from tripleaudit.tables.audits import write_study_audit
from tripleaudit.tables.building import build_table
from tripleaudit.tables.loading import load_inputs


def sentence(name, subject, object_):
    text = f"{subject} leads {object_} ."
    return Sentence(name, text, (Triple(Span(0, len(subject), subject), "leads", Span(None, None, object_)),))


def table(tmp_path, train, test, augmented):
    paths = {}
    for name, sentences in (("train", train), ("valid", train[:1]), ("test", test), ("augmented", augmented)):
        paths[name] = tmp_path / f"{name}.jsonl"
        save_sentences(paths[name], sentences)
    keys = {"study": "s", "corpus": "webnlg", "protocol": "augmented"}
    splits = [paths["train"], paths["valid"], paths["augmented"]]
    write_study_audit(keys=keys, splits=splits, original=[paths["test"]], out=tmp_path / "a.json")
    assert len(json.loads((tmp_path / "a.json").read_text())["example"]) in (0, 3, 5)
    return build_table("augmented-example", load_inputs(audits=[tmp_path / "a.json"]))


def test_the_first_sentence_whose_variants_all_differ_is_shown(tmp_path):
    train = [sentence("t", "Ann", "Rome")]
    test = [sentence("a", "Ann", "Oslo"), sentence("b", "Bob", "Rome")]
    augmented = [
        *(sentence(f"a.{part}", "Ann", "Oslo") for part in ("ss", "uu")),
        *(sentence(f"b.{part}", *names) for part, names in (("ss", ("Ann", "Rome")), ("uu", ("Eve", "Lima")))),
    ]
    shown = table(tmp_path, train, test, augmented)
    assert [row.label for row in shown.rows] == ["Original", "ss", "uu"]
    assert [row.cells[1].text for row in shown.rows] == [
        "(Bob, leads, Rome): partially seen",
        "(Ann, leads, Rome): entirely seen",
        "(Eve, leads, Lima): unseen",
    ]
    assert shown.rows[2].cells[0].text == "Eve leads Lima ."
    assert shown.answer == (
        "Training has entirely seen 0 of the 1 triples of the sentence, and 1 of the 2 triples of its variants."
    )
    none = table(tmp_path, train, test[:1], augmented[:2])
    assert (none.rows, none.answer) == ([], "No sentence has variants that all differ.")


def test_webnlgs_published_variants(real_data, tmp_path):
    test, augmented = (read_registered(name, "test", real_data).sentences for name in ("webnlg", "webnlg-augmented"))
    train = read_registered("webnlg", "train", real_data).sentences
    shown = table(tmp_path, train, test, named_by_position(test, augmented))
    assert [row.label for row in shown.rows] == ["Original", "ss", "su", "us", "uu"]
    assert len({row.cells[0].text for row in shown.rows}) == 5
    assert "unseen" in shown.rows[4].cells[1].text
