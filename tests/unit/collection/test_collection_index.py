"""Files, index and reading of a collection: every line is in exactly one shard, and whatever is wrong is said."""

import gzip
import json

import pytest

from tripleaudit.collection.files import collection_files
from tripleaudit.collection.index import build_index, count_lines, read_shard, shard_names, write_index
from tripleaudit.collection.reading import ShardReader
from tripleaudit.errors import UserError


def write(path, text, packed=False):
    data = text if isinstance(text, bytes) else text.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if packed else data)
    return str(path)


def read(index, **options):
    readers = [ShardReader(shard, **options) for shard in index["shards"]]
    return [list(reader) for reader in readers], readers


@pytest.fixture
def files(tmp_path):
    """Three files, of 7, 0 and 11 lines, the last one packed and without a last line feed."""
    first = "".join(f"first {number} é\n" for number in range(7))
    last = "\n".join(json.dumps({"text": f"last {number}", "id": f"n{number}"}) for number in range(11))
    return [
        write(tmp_path / "a.txt", first),
        write(tmp_path / "b.txt", ""),
        write(tmp_path / "c.jsonl.gz", last, packed=True),
    ]


@pytest.mark.parametrize("block", [1, 3, 7, 1 << 22])
@pytest.mark.parametrize("shards", [1, 2, 5, 18, 25])
def test_every_line_is_in_one_shard_in_order(files, shards, block, monkeypatch):
    monkeypatch.setattr("tripleaudit.collection.index.BLOCK", block)
    index = build_index(files, shards)
    assert [shard["name"] for shard in index["shards"]] == shard_names(shards)
    assert index["lines"] == 18
    sizes = [shard["lines"] for shard in index["shards"]]
    assert max(sizes) - min(sizes) <= 1
    found, readers = read(index)
    assert [len(lines) for lines in found] == sizes == [reader.counts["lines"] for reader in readers]
    every = [line for lines in found for line in lines]
    assert [line.text for line in every] == [f"first {n} é" for n in range(7)] + [f"last {n}" for n in range(11)]
    assert [line.number for line in every] == [*range(1, 8), *range(1, 12)]
    assert {line.source for line in every} == {files[0], files[2]}
    assert [line.id for line in every] == [f"{files[0]}:{n}" for n in range(1, 8)] + [f"n{n}" for n in range(11)]


def test_the_index_is_stored_and_says_what_it_lacks(files, tmp_path):
    index = build_index(files, 3)
    write_index(tmp_path / "index.json", index)
    assert read_shard(tmp_path / "index.json", "00001-of-00003") == index["shards"][1]
    with pytest.raises(UserError, match="has no shard '00001-of-00004'; expected 00000-of-00003"):
        read_shard(tmp_path / "index.json", "00001-of-00004")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(UserError, match="not the index of a collection"):
        read_shard(tmp_path / "other.json", "00000-of-00001")


def test_files_folders_and_patterns(tmp_path, monkeypatch):
    for name in ("in/b.txt", "in/deep/a.jsonl", "in/notes.md", "x1.txt.gz", "x2.txt"):
        write(tmp_path / name, "a\n", packed=name.endswith(".gz"))
    monkeypatch.chdir(tmp_path)
    assert collection_files(["in", "x*.txt*", "x2.txt"]) == ["in/b.txt", "in/deep/a.jsonl", "x1.txt.gz", "x2.txt"]
    (tmp_path / "empty").mkdir()
    for entry, message in (
        ("empty", "empty: this folder has no text files; expected text with a sentence a line"),
        ("none.txt", "none.txt: no such file or folder"),
        ("none*.txt", r"none\*.txt: no file fits this pattern"),
        ("in/notes.md", "in/notes.md: cannot tell what this file holds"),
    ):
        with pytest.raises(UserError, match=message):
            collection_files([entry])


@pytest.mark.parametrize("block", [1, 2, 3, 100])
@pytest.mark.parametrize("bad", [b"one\ntwo \xff\nthree\n", b"one\ntwo \xc3\xa9 \xc3", b"one\ntw\xed\xa0\x80\n"])
def test_text_that_is_not_utf8_names_file_and_line(tmp_path, bad, block, monkeypatch):
    monkeypatch.setattr("tripleaudit.collection.index.BLOCK", block)
    file = write(tmp_path / "a.txt", bad)
    with pytest.raises(UserError, match=r"a\.txt line 2: not UTF-8 text; convert the file, or leave broken lines out"):
        build_index([file], 1)
    index = build_index([file], 1, strict=False)
    (lines,), (reader,) = read(index, skip=True)
    assert reader.counts["broken"] == 1 and len(lines) == count_lines(file, strict=False) - 1
    with pytest.raises(UserError, match=r"a\.txt line 2: not UTF-8 text \(byte"):
        read(index)


def test_nothing_to_read_is_said(tmp_path):
    with pytest.raises(UserError, match=r"a\.txt: the collection is empty, expected at least one line"):
        build_index([write(tmp_path / "a.txt", "")], 2)
    packed = write(tmp_path / "b.txt.gz", "some text\n" * 50, packed=True)
    data = (tmp_path / "b.txt.gz").read_bytes()
    for broken in (data[:-12], b"no gzip at all"):
        (tmp_path / "b.txt.gz").write_bytes(broken)
        with pytest.raises(UserError, match=r"b\.txt\.gz: not a whole gzip file"):
            build_index([packed], 2)


def test_lines_that_are_no_sentences_are_counted(tmp_path, caplog):
    rows = ['{"text": "good", "id": 3}', "", "   ", '{"text": ""}', "{", '{"texts": 1}', "[1]", '{"text": "\\ud800"}']
    rows += [json.dumps({"text": "x" * 101}), '{"text": "x", "more": "' + "y" * 70_000 + '"}', "[" * 5000]
    rows += ['{"text": "\\ud83d\\ude00"}']
    file = write(tmp_path / "a.jsonl", "\r\n".join(rows))
    index = build_index([file], 1)
    (lines,), (reader,) = read(index, skip=True, max_chars=100)
    assert [(line.id, line.text, line.number) for line in lines] == [("3", "good", 1), (f"{file}:12", "😀", 12)]
    assert reader.counts == {"lines": 12, "empty": 3, "broken": 5, "too_long": 2}
    assert f"{file} line 5 is left out: not valid JSON" in caplog.text
    assert f"{file} line 10 is left out: longer than 100 characters" in caplog.text
    with pytest.raises(UserError, match=r"a\.jsonl line 5: not valid JSON"):
        read(index)


def test_a_line_without_end_takes_no_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("tripleaudit.collection.reading.OVERHEAD", 0)
    monkeypatch.setattr("tripleaudit.collection.reading.PIECE", 64)
    index = build_index([write(tmp_path / "a.txt", "\ufeffone\n" + "y" * 10_000 + "\ntwo\n")], 1)
    (lines,), (reader,) = read(index, max_chars=20)
    assert [(line.text, line.number) for line in lines] == [("one", 1), ("two", 3)]
    assert reader.counts["too_long"] == 1


def test_text_that_changed_since_it_was_indexed_is_refused(tmp_path):
    file = write(tmp_path / "a.txt", "one\ntwo\nthree\n")
    index = build_index([file], 2)
    write(tmp_path / "a.txt", "one\ntwx\nthree\n")
    assert [line.text for line in ShardReader(index["shards"][0])] == ["one"]
    with pytest.raises(UserError, match=r"a\.txt: changed since the index of the collection was made; run again"):
        list(ShardReader(index["shards"][1]))
