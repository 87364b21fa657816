import json

import pytest

from support.webnlg import sentence
from tripleaudit.cli import main
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.errors import UserError
from tripleaudit.protocols.cardinality import add_zero_sentences, apply_setting
from tripleaudit.protocols.splits import Splits

POSITIVE = sentence("Ada wrote Notes", ("Ada", "author", "Notes"), id_="p")
ZERO = sentence("It rained", id_="z")


def test_nz_drops_and_wz_keeps_zero_sentences():
    assert apply_setting([POSITIVE, ZERO], "nz") == [POSITIVE]
    assert apply_setting([POSITIVE, ZERO], "wz") == [POSITIVE, ZERO]


def test_an_unknown_setting_is_refused():
    with pytest.raises(UserError, match="'wn'"):
        apply_setting([], "wn")


@pytest.fixture
def raw_file(tmp_path):
    """A small file in the form of the raw NYT corpora: positives, sentences with None pairs only, and repetitions."""

    def line(text, label):
        mention = {"em1Text": "Ann", "em2Text": "Bonn", "label": label}
        return {"sentText": text, "articleId": "a", "relationMentions": [mention], "entityMentions": []}

    rows = [line(f"Ann went to Bonn in year {number} .\r\n", "None") for number in range(30)]
    rows += [
        line(f"Ann was born in Bonn , they say {number} .\r\n", "/people/person/place_of_birth") for number in range(9)
    ]
    rows.append(line("Ann was born in Bonn , they say 0 .\r\n", "None"))  # the same text, once without a relation
    rows.append(line('"Ann went to Bonn in year 1 ."\r\n', "None"))
    path = tmp_path / "train.json"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def raw_nyt(raw_file):
    return read_corpus(raw_file).sentences


def test_zero_sentences_of_the_raw_corpus_join_a_prepared_split(raw_nyt):
    positives = [row for row in raw_nyt if row.triples]
    splits = Splits(positives[:5], positives[5:6], positives[6:8])
    new, report = add_zero_sentences(splits, raw=raw_nyt, zero_sizes="12,3,4", seed=1)
    assert [sum(bool(row.triples) for row in part) for _, part in new] == [5, 1, 2]
    assert [sum(not row.triples for row in part) for _, part in new] == [12, 3, 4]
    assert report == {"zero_sentences_found": 30, "zero_sentences_used": 19}
    texts = [row.text for _, part in new for row in part]
    assert len(set(texts)) == len(texts)
    assert add_zero_sentences(splits, raw=raw_nyt, zero_sizes="12,3,4", seed=1)[0] == new
    assert add_zero_sentences(splits, raw=raw_nyt, zero_sizes="12,3,4", seed=2)[0] != new
    first = add_zero_sentences(splits, raw=raw_nyt, zero_sizes="12,3,4", seed=0)
    assert add_zero_sentences(splits, raw=raw_nyt, zero_sizes="12,3,4") == first


def test_too_few_sentences_are_refused(raw_nyt):
    with pytest.raises(UserError, match="30 different sentences with zero triples, expected at least 31"):
        add_zero_sentences(Splits([], [], []), raw=raw_nyt, zero_sizes="25,3,3")


def test_the_split_command_adds_zero_sentences(raw_file, raw_nyt, tmp_path, capsys):
    positives = [row for row in raw_nyt if row.triples]
    files = []
    for name, rows in (("train", positives[:5]), ("valid", positives[5:6]), ("test", positives[6:8])):
        save_sentences(tmp_path / f"{name}.jsonl", rows)
        files.append(str(tmp_path / f"{name}.jsonl"))
    arguments = ["split", *files, "--protocol", "cardinality", "--raw", str(raw_file), "--out", str(tmp_path / "wz")]
    assert main([*arguments, "--zero-sizes", "12,3,4"]) == 0
    sizes = json.loads((tmp_path / "wz" / "report.json").read_text())["sizes"]
    assert [size["zero_triple_sentences"] for size in sizes.values()] == [12, 3, 4]
    assert len(load_sentences(tmp_path / "wz" / "test.jsonl")) == 6
    arguments[-1] = str(tmp_path / "other")
    for wrong, message in (("1,2", "three whole numbers"), ("nyt24", "expected at least 155705")):
        assert main([*arguments, "--zero-sizes", wrong]) == 1
        assert message in capsys.readouterr().err
    assert main(arguments) == 1
    assert "expected the raw corpus and zero_sizes" in capsys.readouterr().err
