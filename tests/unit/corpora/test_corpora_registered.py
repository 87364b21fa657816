"""Splits of registered corpora: raw files are checked before they are used."""

from collections import Counter

import pytest

from support.reading import write
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.registered import check_raw_file, read_registered
from tripleaudit.sources import registry

ITEMS = [{"text": f"Rome {n}", "triple_list": [["Rome", "r", str(n)]] * 2} for n in range(5)]


def raw(**fields):
    return registry.RawFile(
        name="x/train.json", page="somewhere", licence="MIT", format="triple-list", **fields
    )


@pytest.fixture
def path(tmp_path):
    return write(tmp_path, {"train.json": ITEMS})


def test_a_file_whose_hash_is_not_known_is_counted(path):
    check_raw_file(raw(expect={"sentences": (4, 5), "triples": (5,)}), path)
    check_raw_file(
        raw(expect={"sentences": (5,), "triples": (10,)}), path
    )  # repeated triples counted, too
    with pytest.raises(UserError, match="train.json: 5 sentences, expected 56196$"):
        check_raw_file(raw(expect={"sentences": (56196,)}), path)
    with pytest.raises(UserError, match="train.json: 5 or 10 triples, expected 6 or 7"):
        check_raw_file(raw(expect={"triples": (6, 7)}), path)


def test_a_missing_or_changed_raw_file(tmp_path):
    with pytest.raises(UserError, match="no such file, expected webnlg/test_triples.json"):
        read_registered("webnlg", "test", tmp_path)
    write(tmp_path, {"webnlg/test_triples.json": []})
    with pytest.raises(UserError, match=r"test_triples.json: sha256 is \w{64}, expected \w{64}$"):
        read_registered("webnlg", "test", tmp_path)
    with pytest.raises(
        UserError, match="corpus 'webnlg' has no split 'dev', expected one of train, valid, test"
    ):
        read_registered("webnlg", "dev", tmp_path)


def test_the_nyt29_text_files_are_found_by_their_names(tmp_path, monkeypatch):
    contents = {"sent": "rome in italy\n", "tup": "rome ; italy ; in\n", "pointer": "0 0 2 2 in\n"}
    write(tmp_path, {f"nyt29/train.{suffix}": content for suffix, content in contents.items()})
    with pytest.raises(UserError, match="train.sent: 1 sentences, expected 63306"):
        read_registered("nyt29", "train", tmp_path)
    known, name = registry.raw_files(), "nyt29/train.sent"
    for named in ("sent-tup", None):
        one = known | {name: known[name].model_copy(update={"expect": {}, "format": named})}
        monkeypatch.setattr(registry, "raw_files", lambda one=one: one)
        corpus = read_registered("nyt29", "train", tmp_path, occurrence="all")
        assert corpus.sentences[0].triples[0].object.start == 8
    (tmp_path / "nyt29" / "train.tup").unlink()
    with pytest.raises(UserError, match="train.tup: no such file"):
        read_registered("nyt29", "train", tmp_path)


def test_the_ten_relations_of_webnlg_are_those_that_keep_most_sentences(real_data, root):
    from tripleaudit.study.study import Study

    plan = Study.read(root / "config" / "webnlg-ten.yaml", raw_root=str(real_data))
    named = plan.data.sections["webnlg-ten"].only_relations
    whole = {
        split: read_registered("webnlg", split, real_data) for split in ("train", "valid", "test")
    }
    sets = [{t.relation for t in s.triples} for corpus in whole.values() for s in corpus.sentences]
    chosen: list[str] = []
    while len(chosen) < len(named):
        missing = [relations - set(chosen) for relations in sets]
        gains = Counter(min(relations) for relations in missing if len(relations) == 1)
        chosen.append(max(sorted(gains), key=lambda relation: gains[relation]))
    assert chosen == named
    kept = {split: read_registered("webnlg", split, real_data, only=named) for split in whole}
    assert [corpus.report.sentences for corpus in kept.values()] == [1692, 155, 213]
    for split, corpus in kept.items():
        assert corpus.report.notes["of_other_relations"] == len(whole[split].sentences) - len(
            corpus.sentences
        )
    first = read_registered("webnlg", "test", real_data, only=named, limit=5).sentences
    assert first == kept["test"].sentences[:5]
    with pytest.raises(
        UserError,
        match="webnlg/train: no triple has the relation 'contry'.* did you mean 'country'",
    ):
        read_registered("webnlg", "train", real_data, only=["contry"])


def test_limit_keeps_the_first_sentences(real_data):
    whole = read_registered("webnlg", "test", real_data)
    first = read_registered("webnlg", "test", real_data, limit=10)
    assert first.sentences == whole.sentences[:10]
    assert first.report.sentences == 10
    whole = read_registered("webnlg-augmented", "test", real_data).sentences
    parts = [whole[start : start + 3] for start in range(0, len(whole), 703)]
    each = read_registered("webnlg-augmented", "test", real_data, limit_each=3).sentences
    assert [sentence.text for sentence in each] == [
        sentence.text for part in parts for sentence in part
    ]
