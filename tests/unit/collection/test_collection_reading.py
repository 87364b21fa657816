"""Files, blocks and reading of a collection: every row is in exactly one block, and whatever is
wrong is said.
"""

import csv
import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from tripleaudit.collection.addresses import explained, text_files
from tripleaudit.collection.reading import Reading, divide, read_blocks
from tripleaudit.core.errors import UserError

ROWS = [
    (f"n{number}", f"text {number} é, of\nmore" if number % 3 else f"text {number}")
    for number in range(11)
]


def write(path, data):
    data = data if isinstance(data, bytes) else data.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        data = gzip.compress(data)
    elif path.suffix == ".zst":
        data = pa.compress(data, codec="zstd", asbytes=True)
    path.write_bytes(data)
    return str(path)


def table_file(path, rows=ROWS, names=("id", "text")):
    """A file of any kind of table with these rows."""
    if path.suffix == ".parquet":
        columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
        parquet.write_table(pa.table(columns), path, row_group_size=4)
        return str(path)
    if ".jsonl" in path.name:
        return write(
            path, "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)
        )
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t" if ".tsv" in path.name else ",")
    writer.writerows([names, *rows])
    return write(path, text.getvalue())


def read(entries, reading, only=None):
    """Blocks of files, and what they hold, read as the pipeline's tasks do."""
    files = text_files(entries)
    blocks = [block for file in files for block in divide(file, reading)]
    wanted = [block for number, block in enumerate(blocks) if only is None or number in only]
    own = [(file, [block for block in wanted if block.file == file.name]) for file in files]
    return blocks, [found for file, group in own for found in read_blocks(file, group, reading)]


@pytest.mark.parametrize("size", [1, 2, 5, 11, 100])
def test_every_line_is_in_one_block_in_order(tmp_path, size):
    last = "\n".join(
        json.dumps({"text": f"last {number}", "id": f"n{number}"}) for number in range(11)
    )
    files = [
        write(tmp_path / "a.txt", "".join(f"first {number} é\n" for number in range(7))),
        write(tmp_path / "b.txt", ""),
        write(tmp_path / "c.jsonl.gz", last),
    ]
    blocks, found = read(files, Reading(size))
    assert [block.rows for block in blocks if block.file == files[0]] == [size] * (7 // size) + [
        7 % size
    ] * (7 % size > 0)
    assert [one.counts["lines"] for one in found] == [block.rows for block in blocks]
    every = [line for one in found for line in one.lines]
    assert [line.text for line in every] == [f"first {n} é" for n in range(7)] + [
        f"last {n}" for n in range(11)
    ]
    assert [line.number for line in every] == [*range(1, 8), *range(1, 12)]
    assert [one.block.file for one in found] == [block.file for block in blocks]
    assert [line.id for line in every] == [f"{files[0]}:{n}" for n in range(1, 8)] + [
        f"n{n}" for n in range(11)
    ]


@pytest.mark.parametrize(
    "name", ["a.jsonl", "a.jsonl.zst", "a.csv", "a.csv.gz", "a.tsv", "a.tsv.zst", "a.parquet"]
)
@pytest.mark.parametrize("only", [None, {0}, {1, 3}, {2}])
def test_any_kind_of_file_gives_the_same_rows(tmp_path, name, only):
    file = table_file(tmp_path / name)
    blocks, found = read([file], Reading(3), only)
    assert [block.rows for block in blocks] == [3, 3, 3, 2]
    wanted = [number for number in range(11) if only is None or number // 3 in only]
    every = [line for one in found for line in one.lines]
    assert [(line.id, line.text, line.number) for line in every] == [
        (*ROWS[n], n + 1) for n in wanted
    ]


def test_what_stands_between_the_fields_of_a_table_shows_in_its_header(tmp_path):
    for folder, name in (("dump.tsv.parts", "a.csv"), ("plain", "a.tsv"), ("plain", "tabs.csv")):
        path = tmp_path / folder / name
        write(path, "id,text\n1,one\n" if folder != "plain" else "id\ttext\n1\tone\n")
        _, (found,) = read([str(path)], Reading())
        assert [(line.id, line.text) for line in found.lines] == [("1", "one")]


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("timed out reading s3://texts/part-0403.txt", False),
        ("timeout on run-1403", False),
        ("Parquet magic bytes not found in file signature", False),
        ("no such bucket at s3://texts/credentials/forbidden", False),
        ("AWS Error ACCESS_DENIED during GetObject operation", True),
        (
            "AWS Error UNKNOWN (HTTP status 403) during HeadObject operation: No response body.",
            True,
        ),
        ("An error occurred (403) when calling the HeadObject operation: Forbidden", True),
        ("The request signature we calculated does not match the signature you provided.", True),
        ("Unable to locate credentials", True),
    ],
)
def test_a_store_that_refuses_is_distinguished_from_one_that_fails(text, denied):
    with pytest.raises(UserError) as caught, explained("s3://texts/part-0403.txt"):
        raise OSError(text)
    assert ("refuses access or there are no credentials" in str(caught.value)) is denied


def test_columns_have_names_of_ones_own(tmp_path):
    for name in ("a.jsonl", "a.csv", "a.parquet"):
        file = table_file(tmp_path / name, names=("key", "sentence"))
        _, (found,) = read([file], Reading(100, "sentence", "key"))
        assert [(line.id, line.text) for line in found.lines] == ROWS
        with pytest.raises(
            UserError,
            match=rf"{name}: has no column 'text'; it has key, sentence: name it|line 1: expected",
        ):
            read([file], Reading())


def test_a_file_that_grew_keeps_its_blocks(tmp_path):
    for name in ("a.txt", "a.csv", "a.parquet"):
        kept = []
        for many in (7, 9):
            write(tmp_path / "a.txt", "".join(f"{n}\n" for n in range(many)))
            if name != "a.txt":
                table_file(tmp_path / name, ROWS[:many])
            kept.append(read([str(tmp_path / name)], Reading(3))[0])
        assert kept[0][:2] == kept[1][:2] and kept[0][2] not in kept[1]


def test_files_folders_and_patterns(tmp_path, monkeypatch):
    for name in (
        "b.txt",
        "deep/a.jsonl",
        "notes.md",
        "../x1.txt.gz",
        "../x2.txt",
        "t.csv.zst",
        "p.parquet.gz",
    ):
        write(tmp_path / "in" / name, "a\n")
    monkeypatch.chdir(tmp_path)
    found = ["in/b.txt", "in/deep/a.jsonl", "in/t.csv.zst", "x1.txt.gz", "x2.txt"]
    assert [file.name for file in text_files(["in", "x*.txt*", "x2.txt"])] == found
    (tmp_path / "empty").mkdir()
    for entry, message in (
        ("empty", "empty: this folder has no text files; expected text with a sentence a line"),
        ("none.txt", "none.txt: no such file or folder"),
        ("none*.txt", r"none\*.txt: no file fits this pattern"),
        ("in/notes.md", "in/notes.md: cannot recognise what this file holds"),
        ("nosuch://a/b.txt", "nosuch://a/b.txt: .*expected a path or an address"),
    ):
        with pytest.raises(UserError, match=message):
            text_files([entry])


@pytest.mark.parametrize(
    "bad", [b"one\ntwo \xff\nthree\n", b"one\ntwo \xc3\xa9 \xc3", b"one\ntw\xed\xa0\x80\n"]
)
def test_text_that_is_not_utf8_names_file_and_line(tmp_path, bad):
    file = write(tmp_path / "a.txt", bad)
    for size in (1, 2, 10):
        with pytest.raises(
            UserError, match=r"a\.txt line 2: not UTF-8 text; convert the file, or leave broken"
        ):
            read([file], Reading(size))
    blocks, (found,) = read([file], Reading(skip=True))
    assert found.counts["broken"] == 1 and len(found.lines) == blocks[0].rows - 1
    with pytest.raises(UserError, match=r"a\.txt line 2: not UTF-8 text"):
        list(read_blocks(text_files([file])[0], blocks, Reading()))


def test_a_table_that_is_not_utf8_names_file_and_line(tmp_path):
    file = write(tmp_path / "a.csv", b"text\none\ntwo \xff\nthree\n")
    with pytest.raises(UserError, match=r"a\.csv line 3: not UTF-8 text"):
        read([file], Reading())
    _, (found,) = read([file], Reading(skip=True))
    assert [line.text for line in found.lines] == ["one", "three"] and found.counts["broken"] == 1
    file = write(tmp_path / "b.csv", 'text\n"one\n' + "x" * 200_000)
    with pytest.raises(
        UserError, match=r"b\.csv line \d: broken table \(field larger .*; is a quote missing\?"
    ):
        read([file], Reading())


@pytest.mark.parametrize("name", ["b.txt.gz", "b.txt.zst", "b.csv.gz", "b.parquet"])
def test_a_broken_file_is_named(tmp_path, name):
    path = tmp_path / name
    if name.endswith("parquet"):
        table_file(path)
    else:
        write(path, "text\n" + "some text\n" * 5000)
    for broken in (path.read_bytes()[:-12], b"nothing of the kind"):
        path.write_bytes(broken)
        with pytest.raises(UserError, match=rf"{name}: cannot be read"):
            read([str(path)], Reading())


def test_lines_that_are_no_sentences_are_counted(tmp_path, caplog):
    rows = [
        json.dumps({"text": "g" * 100, "id": 3}),
        "",
        "   ",
        '{"text": ""}',
        "{",
        '{"texts": 1}',
        "[1]",
        '{"text": "\\ud800"}',
    ]
    rows += [
        json.dumps({"text": "x" * 101}),
        '{"text": "x", "more": "' + "y" * 70_000 + '"}',
        "[" * 5000,
    ]
    rows += ['{"text": "\\ud83d\\ude00"}', "}"]
    file = write(tmp_path / "a.jsonl", "\r\n".join(rows))
    _, (found,) = read([file], Reading(max_chars=100, skip=True))
    assert [(line.id, line.text, line.number) for line in found.lines] == [
        ("3", "g" * 100, 1),
        (f"{file}:12", "😀", 12),
    ]
    assert found.counts == {"lines": 13, "empty": 3, "broken": 6, "too_long": 2}
    assert caplog.text.count("left out") == 5 + 2
    assert f"left out: {file} line 5: not valid JSON" in caplog.text
    assert f"left out: {file} line 10: longer than 100 characters" in caplog.text
    with pytest.raises(UserError, match=r"a\.jsonl line 5: not valid JSON"):
        read([file], Reading())


def test_a_line_without_end_takes_no_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("tripleaudit.collection.reading.OVERHEAD", 0)
    monkeypatch.setattr("tripleaudit.collection.reading.PIECE", 64)
    file = write(tmp_path / "a.txt", "\ufeffone\n" + "y" * 10_000 + "\ntwo\n")
    _, (found,) = read([file], Reading(max_chars=20))
    assert [(line.text, line.number) for line in found.lines] == [("one", 1), ("two", 3)]
    assert found.counts["too_long"] == 1
    for length in (79, 80):  # without a line's end, of four bytes a character
        file = write(tmp_path / "b.jsonl", json.dumps({"text": "a", "more": "b" * (length - 25)}))
        assert len(read([file], Reading(max_chars=20))[1][0].lines) == (length < 80)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.csv"])
def test_text_that_changed_since_it_was_divided_is_refused(tmp_path, name):
    file = write(tmp_path / name, "text\ntwo\nthree\nfour\n")
    (found,) = text_files([file])
    first, second = divide(found, Reading(2))
    write(tmp_path / name, "text\ntwo\nthree\nfoux\n")
    assert next(read_blocks(found, [first], Reading(2))).lines
    with pytest.raises(
        UserError, match=r"changed since the collection was divided into blocks; run again"
    ):
        list(read_blocks(found, [second], Reading(2)))
