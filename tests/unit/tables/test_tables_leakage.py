"""What a study says of sentences that its splits share, and of what reading left out."""

from tripleaudit.cli import main
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import save_sentences
from tripleaudit.files import write_jsonl
from tripleaudit.tables.audits import write_study_audit
from tripleaudit.tables.building import make_table
from tripleaudit.tables.render.json_form import read_table

TRAIN = [Sentence(str(n), f"Person {n} works for company {n} in town {n} .") for n in range(20)]


def table(folder, test, name="nan"):
    rows = [{"text": s.text, "triples": [["a", "r", name]] if s is TRAIN[0] else []} for s in TRAIN]
    counts = []
    for split in ("train", "valid", "test"):
        write_jsonl(folder / "raw.jsonl", rows)
        counts.append(str(folder / f"{split}.counts.json"))
        out = folder / f"{split}.prepared.jsonl"
        assert main(["prepare", "--source", str(folder / "raw.jsonl"), "--out", str(out), "--report", counts[-1]]) == 0
        rows = rows[-1:]
    for split, sentences in (("train", TRAIN), ("valid", [Sentence("v", "It rained .")]), ("test", test)):
        save_sentences(folder / f"{split}.jsonl", sentences)
    keys = {"study": "s", "corpus": "demo", "protocol": "original"}
    splits = [folder / f"{split}.jsonl" for split in ("train", "valid", "test")]
    write_study_audit(keys=keys, splits=splits, out=folder / "audit.json", counts=counts)
    make_table("leakage", folder / "leakage", audits=[folder / "audit.json"])
    return read_table(folder / "leakage.json")


def test_sentences_of_a_test_set_that_training_has_stand_in_a_table_and_above_the_page(tmp_path):
    others = [Sentence("n", "Nobody is here ."), Sentence("o", "It snowed .")]
    found = table(tmp_path, [TRAIN[0], Sentence("c", TRAIN[1].text.upper()), *others])
    values = {row.label: [cell.value for cell in row.cells] for row in found.rows}
    assert values["Train → Test"][:4] == [1, 1, 0, 50] and values["Train → Valid"][:4] == [0, 0, 0, 0]
    leak, left = found.warnings
    said = "2 of 4 test sentences of Demo, Ori. are in training, up to case and punctuation, such as 0: "
    assert leak.startswith(said)
    assert left.startswith("Demo, train: 1 triples have a name like nan or NULL") and str(tmp_path) not in left
    assert left.endswith("such as raw.jsonl line 1: 'nan' in ('a', 'r', 'nan').") and left in found.notes
    assert found.answer == f"{leak} {left}"
    assert len(table(tmp_path, others).warnings) == 1  # nothing is shared: what reading found


def test_the_answer_counts_test_sentences_that_are_near_ones_of_training(tmp_path):
    near = Sentence("n", f"{TRAIN[0].text} Yes .")
    found = table(tmp_path, [near, Sentence("o", "It snowed .")], name="x")
    assert found.answer == "No test sentence is in training; near one of training are Demo, Ori.: 1 (50.0 %)."
