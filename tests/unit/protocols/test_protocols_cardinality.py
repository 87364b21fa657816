import json

import pytest

from support.webnlg import sentence
from tripleaudit.cli import main
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.errors import UserError
from tripleaudit.protocols.cardinality import add_zero_sentences, write_setting
from tripleaudit.protocols.splits import Splits


def test_nz_drops_and_wz_keeps_zero_sentences(tmp_path):
    rows = [sentence("Ada wrote Notes", ("Ada", "author", "Notes"), id_="p"), sentence("It rained", id_="z")]
    save_sentences(tmp_path / "all.jsonl", rows)
    for setting, kept in (("nz", rows[:1]), ("wz", rows)):
        write_setting(tmp_path / "all.jsonl", setting, tmp_path / "out.jsonl")
        assert load_sentences(tmp_path / "out.jsonl") == kept


@pytest.fixture
def raw_file(tmp_path):
    """A small file in the form of the raw NYT corpora: positives, sentences with None pairs only, and repetitions."""

    def line(text, label):
        mention = {"em1Text": "Ann", "em2Text": "Bonn", "label": label}
        return {"sentText": text, "articleId": "a", "relationMentions": [mention], "entityMentions": []}

    born = "Ann was born in Bonn , they say {} .\r\n"
    rows = [line(f"Ann went to Bonn in year {number} .\r\n", "None") for number in range(30)]
    rows += [line(born.format(number), "/people/person/place_of_birth") for number in range(9)]
    rows.append(line(born.format(0), "None"))  # the same text, once without a relation
    rows.append(line('"Ann went to Bonn in year 1 ."\r\n', "None"))
    path = tmp_path / "train.json"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def raw_nyt(raw_file):
    return read_corpus(raw_file).sentences


@pytest.fixture
def splits(raw_nyt):
    positives = [row for row in raw_nyt if row.triples]
    return Splits(positives[:5], positives[5:6], positives[6:8])


def test_zero_sentences_of_the_raw_corpus_join_a_prepared_split(raw_nyt, splits):
    new, report = add_zero_sentences(splits, raw=raw_nyt, zero_sizes="12,3,4", seed=1)
    assert [sum(bool(row.triples) for row in part) for _, part in new] == [5, 1, 2]
    assert [sum(not row.triples for row in part) for _, part in new] == [12, 3, 4]
    assert report == {"zero_sentences_found": 30, "zero_sentences_used": 19}
    texts = [row.text for _, part in new for row in part]
    assert len(set(texts)) == len(texts)
    drawn = [add_zero_sentences(splits, raw=raw_nyt, zero_sizes="12,3,4", **seed) for seed in ({"seed": 0}, {})]
    assert drawn[0] == drawn[1] != (new, report)
    with pytest.raises(UserError, match="30 different sentences with zero triples, expected at least 31"):
        add_zero_sentences(Splits([], [], []), raw=raw_nyt, zero_sizes="25,3,3")


def test_the_split_command_adds_zero_sentences(raw_file, splits, tmp_path, capsys):
    for name, rows in splits:
        save_sentences(tmp_path / f"{name}.jsonl", rows)
    files = [str(tmp_path / f"{name}.jsonl") for name, _ in splits]
    arguments = ["split", *files, "--protocol", "cardinality", "--raw", str(raw_file), "--out", str(tmp_path / "wz")]
    assert main([*arguments, "--zero-sizes", "12,3,4"]) == 0
    sizes = json.loads((tmp_path / "wz" / "report.json").read_text())["sizes"]
    assert [size["zero_triple_sentences"] for size in sizes.values()] == [12, 3, 4]
    assert len(load_sentences(tmp_path / "wz" / "test.jsonl")) == 6
    arguments[-1] = str(tmp_path / "other")
    for wrong, message in (
        (["--zero-sizes", "1,2"], "three whole numbers"),
        (["--zero-sizes", "nyt24"], "expected at least 155705"),
        ([], "expected the raw corpus and zero_sizes"),
    ):
        assert main([*arguments, *wrong]) == 1
        assert message in capsys.readouterr().err
