"""The commands prepare, fetch and export, as a user and the workflow call them."""

import hashlib
import json

import pytest

from support.serving import web_server
from tripleaudit.cli import main
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.store import load_sentences
from tripleaudit.sources import registry
from tripleaudit.sources.source import parse_source

ITEMS = [
    {"text": f"Rome {n} , Rome", "triple_list": [["Rome", "r", str(n)]] * 2} for n in range(20)
]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "raw.json"
    path.write_text(json.dumps(ITEMS))
    return path


def call(*args):
    return main([str(arg) for arg in args])


def test_prepare_divides_and_limits(source, tmp_path):
    sizes = {}
    for part in ("train", "valid", "test"):
        out = tmp_path / f"{part}.jsonl"
        args = ["prepare", "--source", source, "--divide", "train=8,valid=1,test=1", "--seed", 3]
        assert call(*args, "--part", part, "--out", out) == 0
        sizes[part] = {sentence.id for sentence in load_sentences(out)}
    assert {part: len(ids) for part, ids in sizes.items()} == {"train": 16, "valid": 2, "test": 2}
    assert len(set.union(*sizes.values())) == 20
    assert call("prepare", "--source", source, "--limit", 3, "--out", tmp_path / "few.jsonl") == 0
    assert [sentence.id for sentence in load_sentences(tmp_path / "few.jsonl")] == ["0", "1", "2"]


def test_prepare_reads_registered_corpora(real_data, tmp_path):
    args = ["--corpus", "conll04-full", "--split", "test", "--raw-root", real_data]
    assert call("prepare", *args, "--out", tmp_path / "a.jsonl") == 0
    assert len(load_sentences(tmp_path / "a.jsonl")) == 288 + 814


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--source", "nothing.json"], "nothing.json: no such file"),
        (["--source", "SOURCE", "--format", "xml"], "format: 'xml' is unknown"),
        (
            ["--source", "SOURCE", "--divide", "train=8,test", "--part", "train"],
            "expected PART=WEIGHT",
        ),
        (
            ["--source", "SOURCE", "--divide", "train=8,test=x", "--part", "train"],
            "expected PART=WEIGHT",
        ),
        (
            ["--source", "SOURCE", "--divide", "train=8,test=1", "--part", "dev"],
            "'dev', expected one of train, test",
        ),
        (["--corpus", "webnlg"], "a registered corpus needs --split and --raw-root"),
        (
            ["--corpus", "webnlg", "--split", "test", "--raw-root", ".", "--divide", "a=1"],
            "leave out --format",
        ),
        (["--corpus", "x", "--split", "test", "--raw-root", "."], "corpus 'x' is not registered"),
    ],
)
def test_prepare_refuses_bad_calls_in_one_line_and_writes_nothing(
    source, tmp_path, refused, args, message
):
    args = [str(source) if arg == "SOURCE" else arg for arg in args]
    assert message in refused("prepare", *args, "--out", tmp_path / "out" / "a.jsonl")
    assert not (tmp_path / "out").exists()


def test_export(source, tmp_path, capsys, refused):
    call("prepare", "--source", source, "--out", tmp_path / "a.jsonl")
    assert (
        call(
            "export", f"train={source}", f"test={tmp_path / 'a.jsonl'}", "--out", tmp_path / "data"
        )
        == 0
    )
    assert "train 20 sentences, test 20 sentences" in capsys.readouterr().out
    assert read_corpus(tmp_path / "data", split="train").sentences == load_sentences(
        tmp_path / "a.jsonl"
    )
    assert "already exists" in refused("export", f"train={source}", "--out", tmp_path / "data")
    assert "requires named splits" in refused("export", "train", "--out", tmp_path / "more")


def test_fetch(tmp_path, refused):
    digest = hashlib.sha256(b"hello").hexdigest()
    with web_server() as server:
        url = server.serve("a.txt", b"hello")
        assert (
            call(
                "fetch",
                "--source",
                url,
                "--sha256",
                digest,
                "--size",
                5,
                "--out",
                tmp_path / "a.txt",
            )
            == 0
        )
        assert (tmp_path / "a.txt").read_bytes() == b"hello"
        said = refused("fetch", "--source", url, "--sha256", "0" * 64, "--out", tmp_path / "b.txt")
    assert f"sha256 is {digest}, expected 0000" in said and not (tmp_path / "b.txt").exists()
    said = refused("fetch", "--raw", "nyt29/train.sent", "--out", tmp_path / "c")
    assert "cannot be fetched; get it from https://" in said


def test_fetch_a_model_from_a_folder(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "model.safetensors").write_bytes(b"w")
    (tmp_path / "m" / "train.py").write_text("evil")
    assert call("fetch", "--model", tmp_path / "m", "--out", tmp_path / "copy") == 0
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["model.safetensors"]


@pytest.mark.parametrize("faults", [[], ["change"]])
def test_fetch_a_real_file_by_its_registered_hash(real_data, tmp_path, monkeypatch, capsys, faults):
    """This machine stands in for the public server, which sends the file or another one."""
    name = "webnlg/val_triples.json"
    with web_server() as server:
        url = server.serve("val_triples.json", (real_data / name).read_bytes(), *faults)
        file = registry.raw_file(name).model_copy(update={"source": parse_source(url)})
        monkeypatch.setattr(registry, "raw_file", lambda name: file)
        status = call("fetch", "--raw", name, "--out", tmp_path / name)
    if faults == ["change"]:
        assert status == 1
        assert f"expected {file.sha256}" in capsys.readouterr().err
        assert list((tmp_path / "webnlg").iterdir()) == []
    else:
        assert status == 0
        assert read_corpus(tmp_path / name).report.triples_raw == 1224
