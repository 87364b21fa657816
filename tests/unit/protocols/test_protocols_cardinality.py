import json

import pytest

from support.webnlg import sentence
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.protocols.cardinality import add_zero_sentences, write_setting
from tripleaudit.protocols.splits import Splits


def test_nz_drops_and_wz_keeps_zero_sentences(tmp_path):
    rows = [
        sentence("Ada wrote Notes", ("Ada", "author", "Notes"), id_="p"),
        sentence("It rained", id_="z"),
    ]
    save_sentences(tmp_path / "all.jsonl", rows)
    for setting, kept in (("nz", rows[:1]), ("wz", rows)):
        write_setting(tmp_path / "all.jsonl", setting, tmp_path / "out.jsonl")
        assert load_sentences(tmp_path / "out.jsonl") == kept


BORN = "Ann was born in Bonn , they say {} ."
RAW = [  # sentences without a triple, others, and of each one again: without its triple, and in quotes
    *(
        sentence(f"Ann went to Bonn in year {number} .", id_=f"zero{number}")
        for number in range(30)
    ),
    *(
        sentence(BORN.format(number), ("Ann", "born in", "Bonn"), id_=str(number))
        for number in range(9)
    ),
    sentence(BORN.format(0), id_="again"),
    sentence('"Ann went to Bonn in year 1 ."', id_="quoted"),
]
SPLITS = Splits(RAW[30:35], RAW[35:36], RAW[36:38])


def test_zero_sentences_of_the_raw_corpus_join_a_prepared_split():
    new, report = add_zero_sentences(SPLITS, raw=RAW, zero_sizes="12,3,4", seed=1)
    assert [sum(bool(row.triples) for row in part) for _, part in new] == [5, 1, 2]
    assert [sum(not row.triples for row in part) for _, part in new] == [12, 3, 4]
    assert report == {"zero_sentences_found": 30, "zero_sentences_used": 19}
    texts = [row.text for _, part in new for row in part]
    assert len(set(texts)) == len(texts)
    drawn = [
        add_zero_sentences(SPLITS, raw=RAW, zero_sizes="12,3,4", **seed)
        for seed in ({"seed": 0}, {})
    ]
    assert drawn[0] == drawn[1] != (new, report)
    with pytest.raises(
        UserError, match="30 different sentences with zero triples, expected at least 31"
    ):
        add_zero_sentences(Splits([], [], []), raw=RAW, zero_sizes="25,3,3")


def test_the_split_command_adds_zero_sentences(tmp_path, capsys):
    for name, rows in (*SPLITS, ("raw", RAW)):
        save_sentences(tmp_path / f"{name}.jsonl", rows)
    *files, raw = (str(tmp_path / f"{name}.jsonl") for name in ("train", "valid", "test", "raw"))
    arguments = [
        "split",
        *files,
        "--protocol",
        "cardinality",
        "--raw",
        raw,
        "--out",
        str(tmp_path / "wz"),
    ]
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
