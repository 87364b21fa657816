"""Relations that a study names or counts, held against those that its corpora have."""

import json

import pytest

from tripleaudit.errors import UserError
from tripleaudit.plan.study import Study

HELD_OUT = {"protocols": {"unseen_relations": {"relations": 2}}, "extractors": {"unirel": None}}
ASKED = {"generative": {"endpoints": {"e": {"base_url": "http://127.0.0.1:9/v1", "model": "m"}}}}


def problems(**config) -> list[str]:
    try:
        Study({"study": "s", **config})
    except UserError as error:
        return [line.removeprefix("- ") for line in str(error).splitlines()[1:]]
    return []


def corpus(folder, train: str, test: str, **more) -> dict:
    """A corpus whose sentences have one triple each, of the relations that letters stand for."""
    for split, letters in (("train", train), ("valid", train), ("test", test)):
        rows = [
            {"id": str(number), "text": "A b", "triples": [["A", f"rel_{letter}", "b"]]}
            for number, letter in enumerate(letters)
        ]
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    files = {split: str(folder / f"{split}.jsonl") for split in ("train", "valid", "test")}
    return {"mine": {"files": files, **more}}


@pytest.mark.parametrize(
    ("train", "test", "limit", "expected"),
    [
        ("aabbcc", "ab", {}, ""),
        ("ab", "ab", {}, "the training sentences of corpus mine have 2; expected fewer than these"),
        ("aabbcc", "ad", {}, "training and test sentences of corpus mine have 1 in common; expected at most these"),
        ("aabbcc", "ab", {"train": 3}, "the training sentences of corpus mine have 2; expected fewer than these"),
        ("aabbcc", "ab", {"test": 1}, "training and test sentences of corpus mine have 1 in common"),
    ],
)
def test_no_more_relations_are_held_out_than_there_are(tmp_path, train, test, limit, expected):
    found = problems(corpora=corpus(tmp_path, train, test, **({"limit": limit} if limit else {})), **HELD_OUT)
    assert len(found) == bool(expected)
    if expected:
        assert found[0].startswith(f"protocols/unseen_relations/relations: 2 relations, but {expected}")


def test_a_registered_corpus_has_as_many_relations_as_the_registry_says():
    most = {"protocols": {"unseen_relations": {"relations": 5}}, "extractors": {"unirel": None}}
    (found,) = problems(corpora={"conll04": None, "webnlg": None}, **most)
    assert "the training sentences of corpus conll04 have 5" in found
    assert not problems(corpora={"conll04": None, "webnlg": None}, **HELD_OUT)


def test_files_that_cannot_be_read_are_left_to_who_reads_them(tmp_path):
    mine = corpus(tmp_path, "ab", "ab")
    (tmp_path / "train.jsonl").write_text('{"id": "1", "text": "A b", "triples": 5}\n', encoding="utf-8")
    assert not problems(corpora=mine, **HELD_OUT)
    (tmp_path / "train.jsonl").unlink()
    assert [line.rpartition(": ")[2] for line in problems(corpora=mine, **HELD_OUT)] == ["no such file"]


def test_a_relation_like_none_is_refused_without_a_long_list(tmp_path):
    names = {"systems": {"x": {"endpoint": "e", "verbalise": {"zzzz": "z"}}}, **ASKED}
    few, many = corpus(tmp_path, "abc", "ab"), "abcdefghijklmnopqrstuvwxyzABCDEFG"
    assert problems(corpora=few, **names)[0].endswith("'zzzz'; known are rel_a, rel_b, rel_c")
    assert problems(corpora=corpus(tmp_path, many, "ab"), **names)[0].endswith("has the relation 'zzzz'")


def test_a_plain_name_is_of_a_relation_that_there_is(tmp_path):
    mine = corpus(tmp_path, "aabb", "abc", relations={"rel_told": "is told of"})
    known = dict.fromkeys(("rel_a", "rel_c", "rel_told"), "plain")
    for unknown, expected in (
        ({}, []),
        ({"rel_q": "q"}, ["no sentence of mine has the relation 'rel_q', did you mean 'rel_"]),
    ):
        texts = {"datasets": {"d": {"corpus": "mine", "verbalise": {**known, **unknown}}}}
        systems = {"x": {"endpoint": "e", "verbalise": {**known, **unknown}}}
        found = problems(corpora=mine, systems=systems, generative={**ASKED["generative"], **texts})
        places = [f"{where}/verbalise: " for where in ("systems/x", "generative/datasets/d")][: 2 * len(expected)]
        assert len(found) == len(places)
        for line, place in zip(found, places, strict=True):
            assert line.startswith(place + expected[0])
    named = {"corpus": "mine", "relations": ["rel_q"], "verbalise": {"rel_q": "q"}}  # asked for, found or not
    assert not problems(corpora=mine, generative={**ASKED["generative"], "datasets": {"d": named}})
    elsewhere = {"webnlg": None, **mine}  # of whose files none is here
    assert not problems(corpora=elsewhere, systems={"x": {"endpoint": "e", "verbalise": {"rel_q": "q"}}}, **ASKED)


def test_registered_files_that_are_here_are_looked_into(real_data):
    system = {"endpoint": "e", "verbalise": {"Kill": "kills", "Wrok_For": "works for"}}
    (found,) = problems(corpora={"conll04": None}, raw_root=str(real_data), systems={"x": system}, **ASKED)
    assert found == "systems/x/verbalise: no sentence of conll04 has the relation 'Wrok_For', did you mean 'Work_For'?"
