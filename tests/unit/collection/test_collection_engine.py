"""From files to finished blocks, in this process and in several, and the blocks read as one file
by every reader.
"""

import gzip
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pyarrow.parquet as parquet
import pytest

from tripleaudit.cli import main
from tripleaudit.collection import engine, pipeline
from tripleaudit.collection.cost import forecast
from tripleaudit.collection.engine import Collection, run_collection
from tripleaudit.collection.finished import folder_of, write_block
from tripleaudit.collection.pipeline import Models, System, predictions
from tripleaudit.collection.reading import Line, Reading
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import plain_row, read_jsonl, sha256
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.extractors.zcc import ZCC
from tripleaudit.grescores.systems import read_system
from tripleaudit.tables.building import ResultFiles, make_tables
from tripleaudit.testing import build_extractor, toy_sentences
from tripleaudit.training.stream import Extracted

COPIES, SIZE = 12, 20


@pytest.fixture(scope="module")
def models(tmp_path_factory, tiny_encoder):
    """A CasRel that finds something everywhere (its biases say so), and a classifier with scores
    on both sides.
    """
    folder = tmp_path_factory.mktemp("models")
    extractor = build_extractor(CasRel, tiny_encoder, prior=0.4)
    extractor.save_pretrained(folder / "casrel")
    classifier = build_extractor(ZCC, tiny_encoder)
    scores = sorted(classifier.decide([each.text for each in toy_sentences()]))
    middle = (scores[3] + scores[4]) / 2  # half of the sentences are above
    classifier.classifier.bias.data -= math.log(middle / (1 - middle))
    classifier.save_pretrained(folder / "zcc")
    return folder


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """The toy sentences, many times, as a stored corpus with ids of its own."""
    folder = tmp_path_factory.mktemp("texts")
    rows = [(f"{copy}-{each.id}", each) for copy in range(COPIES) for each in toy_sentences()]
    lines = [json.dumps({**each.to_json(), "id": id_}) for id_, each in rows]
    (folder / "gold.jsonl").write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    return folder


def collection(files, models, out, gate=True, size=SIZE, reading=(), **changes):
    what = Models(str(models / "casrel"), str(models / "zcc") if gate else None, batch_size=8)
    return Collection(
        "toys", [str(files)], folder_of(str(out)), what, Reading(size, **dict(reading)), **changes
    )


@pytest.fixture(scope="module")
def extracted(models, texts, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    return out, run_collection(collection(texts / "gold.jsonl", models, out))


def rows_of(out):
    return [row for _, row in read_jsonl(out)]


def triples_of(out):
    return [(row["id"], row["triples"]) for row in rows_of(out)]


def blocks_of(out):
    return {
        path.name: (path.stat().st_mtime_ns, path.stat().st_ino)
        for path in Path(out).glob("blocks/*.parquet")
    }


def made(work):
    """Run a collection; returns its manifest, and the names of the blocks that were made, new or
    again.
    """
    before = blocks_of(work.target.location)
    manifest = run_collection(work)
    return manifest, {
        name for name, file in blocks_of(work.target.location).items() if file != before.get(name)
    }


def test_the_blocks_read_as_one_file_and_equal_the_extractor_behind_the_gate(
    extracted, models, texts
):
    out, manifest = extracted
    rows, gold = rows_of(out), load_sentences(texts / "gold.jsonl")
    assert [row["id"] for row in rows] == [each.id for each in gold]
    assert [row["line"] for row in rows] == list(range(1, len(gold) + 1))
    assert {row["source"] for row in rows} == {str(texts / "gold.jsonl")}
    classifier, extractor = (
        ZCC.from_pretrained(models / "zcc"),
        CasRel.from_pretrained(models / "casrel"),
    )
    known = [each.text for each in toy_sentences()]
    scores = dict(zip(known, classifier.decide(known), strict=True))
    expected = {each.text: {t.strings for t in each.triples} for each in extractor.extract(known)}
    passed = 0
    for row, sentence in zip(rows, load_sentences(out), strict=True):
        let_through = scores[row["text"]] > 0.5
        passed += let_through
        assert row["gate"] == pytest.approx(scores[row["text"]], abs=1e-3)
        assert {t.strings for t in sentence.triples} == (
            expected[row["text"]] if let_through else set()
        )
    assert 0 < passed < len(rows) and manifest["counts"]["triples"] > 0
    assert manifest["counts"] == {
        "lines": len(rows) + 1, "empty": 1, "broken": 0, "too_long": 0, "sentences": len(rows), "let_through": passed,
        "cut": 0, "with_triples": sum(bool(row["triples"]) for row in rows),
        "triples": sum(len(row["triples"]) for row in rows),
    }  # fmt: skip
    assert sum(manifest["relations"].values()) == manifest["counts"]["triples"]
    assert manifest["rows"] == len(rows) and len(manifest["blocks"]) == math.ceil(
        (len(rows) + 1) / SIZE
    )
    assert manifest["seconds"]["tokenisation"] > 0 and manifest["peak_mb"] > 50


def test_every_reader_reads_the_folder(extracted, texts, capsys):
    import datasets
    import duckdb
    import pandas

    out, manifest = extracted
    assert len(read_corpus(out).sentences) == COPIES * len(toy_sentences())
    assert set(read_system(out).texts) == {each.text for each in toy_sentences()}
    assert main(["score", str(texts / "gold.jsonl"), str(out)]) == 0
    assert "Matching:" in capsys.readouterr().out
    counts = manifest["counts"]
    assert len(pandas.read_parquet(out / "blocks")) == counts["sentences"]
    found = duckdb.sql(
        f"select count(*), sum(len(triples)) from '{out}/blocks/*.parquet'"
    ).fetchall()[0]
    assert found == (counts["sentences"], counts["triples"])
    loaded = datasets.Dataset.from_parquet(
        sorted(map(str, out.glob("blocks/*.parquet"))), cache_dir=str(out / "cache")
    )
    assert plain_row(loaded[0]) == rows_of(out)[0]
    shutil.rmtree(out / "cache")


def test_a_lost_or_torn_block_alone_is_made_again(extracted, models, texts, tmp_path):
    out, manifest = extracted
    shutil.copytree(out, tmp_path / "copy")
    lost, torn = (manifest["blocks"][number]["file"] for number in (1, 3))
    (tmp_path / "copy" / lost).unlink()
    with pytest.raises(
        UserError, match=rf"{lost}: this block is missing, but collection\.json lists it"
    ):
        rows_of(tmp_path / "copy")
    whole = (tmp_path / "copy" / torn).read_bytes()
    (tmp_path / "copy" / torn).write_bytes(whole[:-20])
    with pytest.raises(UserError, match=rf"{lost}: this block is missing"):
        rows_of(tmp_path / "copy")
    _, again = made(collection(texts / "gold.jsonl", models, tmp_path / "copy"))
    assert again == {Path(lost).name, Path(torn).name}
    assert rows_of(tmp_path / "copy") == rows_of(out)


def test_files_that_are_added_changed_or_gone_touch_only_their_blocks(models, texts, tmp_path):
    lines, folder = [each.text for each in toy_sentences()] * 5, tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    for name, own in (("a.txt", lines), ("b.txt", lines[::-1]), ("deep/a.txt", lines)):
        (folder / name).write_text("\n".join(own) + "\n")
    work = collection(folder, models, tmp_path / "out", size=10)
    run_collection(work)
    assert len({row["id"] for row in rows_of(tmp_path / "out")}) == 3 * len(lines)
    (folder / "c.txt").write_text("\n".join(lines[:7]) + "\n")
    assert [name[:5] for name in made(work)[1]] == ["c.txt"]
    changed = [
        *lines[:15],
        f"Now {lines[15]}",
        *lines[16:],
        "one more",
    ]  # the block of the longer line, and the last
    (folder / "a.txt").write_text("\n".join(changed) + "\n")
    (folder / "b.txt").unlink()
    manifest, again = made(work)
    assert sorted(name[:15] for name in again) == ["a.txt-000000011", f"a.txt-{len(changed):09}"]
    assert not any(name.startswith("b.txt") for name in blocks_of(tmp_path / "out"))
    rows = rows_of(tmp_path / "out")
    assert [row["text"] for row in rows if row["source"] == str(folder / "a.txt")] == changed
    assert manifest["counts"]["sentences"] == len(rows) == len(changed) + len(lines) + 7


def test_a_file_of_the_same_size_is_read_again_if_its_time_of_change_differs(models, tmp_path):
    lines = [each.text for each in toy_sentences()]
    work, file = collection(tmp_path / "a.txt", models, tmp_path / "out"), tmp_path / "a.txt"
    file.write_text("\n".join(lines))
    changed = file.stat().st_mtime_ns
    run_collection(work)
    lines[2] = lines[2].swapcase()
    file.write_text("\n".join(lines))
    os.utime(file, ns=(changed, changed + 10**9))
    run_collection(work)
    assert [row["text"] for row in rows_of(tmp_path / "out")] == lines


def test_what_decides_the_triples_decides_the_blocks(models, texts, tmp_path):
    def work(threshold=0.5, code=""):
        same = collection(texts / "gold.jsonl", models, tmp_path, code=code)
        return replace(same, models=replace(same.models, threshold=threshold))

    assert run_collection(work())["counts"]["let_through"] > 0
    first = blocks_of(tmp_path)
    with pytest.raises(UserError, match=r"was made with threshold 0\.5 \(now 1\.0\);"):
        run_collection(work(1.0))
    assert run_collection(work(1.0), replace=True)["counts"]["let_through"] == 0
    second = blocks_of(tmp_path)
    assert not first.keys() & second.keys() and all(
        row["triples"] == [] for row in rows_of(tmp_path)
    )
    with pytest.raises(UserError, match=r"was made with code  \(now other\);"):
        run_collection(work(1.0, "other"))
    run_collection(work(1.0, "other"), replace=True)
    assert not second.keys() & blocks_of(tmp_path).keys()


def test_a_block_that_an_interrupted_run_made_again_has_its_own_digest(
    models, texts, tmp_path, monkeypatch
):
    work = collection(texts / "gold.jsonl", models, tmp_path)
    lost, other, *_ = (block["file"] for block in run_collection(work)["blocks"])
    (tmp_path / lost).unlink()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(engine, "remove_others", interrupted)
        run_collection(work)
    assert (tmp_path / lost).exists()
    parquet.write_table(parquet.read_table(tmp_path / other), tmp_path / other, compression="none")
    blocks = run_collection(work)["blocks"]
    assert all(block["sha256"] == sha256(tmp_path / block["file"]) for block in blocks)


def interrupted(*_):
    raise KeyboardInterrupt


def test_types_of_entities_survive_in_blocks(tmp_path):
    typed = Triple(Span(0, 3, "Ada", "P"), "leads", Span(10, 15, "Delta", "F"), 0.5)
    plain = Triple(Span(0, 3, "Ada"), "likes", Span(10, 15, "Delta"), 0.5)
    rows = [Sentence("a", "Ada leads Delta", (typed,)), Sentence("b", "Ada likes Delta", (plain,))]
    table = predictions(
        "a.txt", [Line("", "", 1), Line("", "", 2)], [Extracted(row) for row in rows]
    )
    write_block(folder_of(str(tmp_path)), "a-000000001-0123456789abcdef", table, {})
    (tmp_path / "collection.json").write_text(
        json.dumps({"blocks": [{"file": "blocks/a-000000001-0123456789abcdef.parquet"}]})
    )
    spans = [
        span
        for each in read_corpus(tmp_path).sentences
        for t in each.triples
        for span in (t.subject, t.object)
    ]
    assert [span.type for span in spans] == ["P", "F", None, None]
    assert [row["triples"] for row in rows_of(tmp_path)] == [
        [triple.to_json()] for triple in (typed, plain)
    ]


def test_without_a_gate_and_with_triples_only(models, texts, tmp_path):
    manifest = run_collection(
        collection(texts / "gold.jsonl", models, tmp_path, False, write="triples")
    )
    rows = rows_of(tmp_path)
    assert (
        manifest["counts"]["let_through"]
        == manifest["counts"]["sentences"]
        == COPIES * len(toy_sentences())
    )
    assert len(rows) == manifest["counts"]["with_triples"] and all(row["triples"] for row in rows)
    assert "gate" not in rows[0] and manifest["gate"] is None


@pytest.fixture(scope="module")
def many(texts):
    """More rows than are worth other processes: the toy sentences, each with a number of its
    own.
    """
    rows = [
        {"text": f"{each.text} {copy}"}
        for copy in range(1100 // len(toy_sentences()) + 1)
        for each in toy_sentences()
    ]
    (texts / "many.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return texts / "many.jsonl"


def started(many, models, out):
    """Start the command with two workers, as a process group of its own."""
    command = [
        "collection",
        "run",
        str(many),
        "--model",
        str(models / "casrel"),
        "--gate",
        str(models / "zcc"),
    ]
    options = [
        "--out",
        str(out),
        "--block",
        "25",
        "--batch-size",
        "8",
        "--workers",
        "2",
        "--gpu",
        "0",
    ]
    return psutil.Popen(
        [sys.executable, "-m", "tripleaudit", *command, *options], stderr=subprocess.PIPE, text=True
    )


def wait_for_blocks(process, out, number):
    while process.poll() is None and len(blocks_of(out)) < number:
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.thorough
def test_two_workers_make_the_same_rows_and_one_that_dies_is_one_sentence(many, models, tmp_path):
    work = collection(many, models, tmp_path / "one", size=25)
    run_collection(work)
    command = started(many, models, tmp_path / "two")
    wait_for_blocks(command, tmp_path / "two", 3)
    worker = next(
        each for each in command.children() if "multiprocessing.spawn" in " ".join(each.cmdline())
    )
    worker.kill()
    error = command.communicate()[1].splitlines()[-1]
    assert error.startswith("error: a worker process died") and command.returncode == 1
    before = blocks_of(tmp_path / "two")
    assert 3 <= len(before) < len(blocks_of(tmp_path / "one")), "the command had finished"
    again = started(many, models, tmp_path / "two")
    assert again.wait() == 0
    assert rows_of(tmp_path / "two") == rows_of(tmp_path / "one")
    assert before.items() <= blocks_of(tmp_path / "two").items()


@pytest.mark.slow
@pytest.mark.thorough
def test_a_command_that_is_killed_ten_times_makes_every_row_once_and_leaves_no_process(
    many, models, tmp_path
):
    run_collection(collection(many, models, tmp_path / "one", size=25))
    chance = random.Random(5)
    for _ in range(10):
        command = started(many, models, tmp_path / "killed")
        wait_for_blocks(command, tmp_path / "killed", len(blocks_of(tmp_path / "killed")) + 1)
        time.sleep(chance.uniform(0, 0.3))
        workers = command.children(recursive=True)
        command.kill()
        command.wait()
        assert not psutil.wait_procs(workers, timeout=60)[1]
    assert started(many, models, tmp_path / "killed").wait() == 0
    assert rows_of(tmp_path / "killed") == rows_of(tmp_path / "one")
    assert not [
        path for path in (tmp_path / "killed" / "blocks").iterdir() if path.name.startswith(".")
    ]


def test_parts_that_several_jobs_extract_make_the_same_collection(
    extracted, models, texts, tmp_path, capsys
):
    options = [str(texts / "gold.jsonl"), "--out", str(tmp_path), "--block", str(SIZE)]
    models_ = [
        "--model",
        str(models / "casrel"),
        "--gate",
        str(models / "zcc"),
        "--batch-size",
        "8",
        "--gpu",
        "0",
    ]
    assert main(["collection", "divide", *options]) == 0
    assert main(["collection", "part", *options, *models_, "--number", "2", "--parts", "2"]) == 0
    assert main(["collection", "finish", *options, *models_]) == 1
    assert re.search(
        r"error: .*: 2 of 5 blocks are missing, the first is gold", capsys.readouterr().err
    )
    assert main(["collection", "part", *options, *models_, "--number", "1", "--parts", "2"]) == 0
    assert main(["collection", "finish", *options, *models_]) == 0
    manifest = json.loads((tmp_path / "collection.json").read_text())
    assert rows_of(tmp_path) == rows_of(extracted[0])
    assert {**manifest["counts"]} == extracted[1]["counts"]
    parts = [json.loads((tmp_path / f"parts/{part}-of-2.json").read_text()) for part in (1, 2)]
    listed = {Path(block["file"]).stem: block["sha256"] for block in manifest["blocks"]}
    assert parts[0] | parts[1] == listed and len(parts[0]) == 2


def test_what_is_wrong_is_said_before_a_model_is_loaded(models, texts, tmp_path, monkeypatch):
    monkeypatch.setattr(pipeline, "BlockExtractor", lambda *_: pytest.fail("nothing may be loaded"))
    (tmp_path / "broken.txt").write_bytes(b"one\ntwo \xff\n")
    (tmp_path / "keys.jsonl.gz").write_bytes(gzip.compress(b'{"id": 1, "sentence": "one"}\n'))
    (tmp_path / "empty.txt").write_text("")
    for name, message in (
        ("broken.txt", r"broken\.txt line 2: not UTF-8 text"),
        (
            "keys.jsonl.gz",
            r"keys\.jsonl\.gz line 1: .* string 'text'; it has id, sentence: name it with text_column",
        ),
        ("empty.txt", r"empty\.txt: no lines; expected at least one"),
    ):
        with pytest.raises(UserError, match=message):
            run_collection(collection(tmp_path / name, models, tmp_path / "out"))
        assert not (tmp_path / "out").exists()
    work = collection(texts / "gold.jsonl", models, tmp_path / "out")
    for changed, message in (
        ({"extractor": str(models / "zcc")}, "holds the classifier zcc, expected an extractor"),
        (
            {"gate": str(models / "casrel")},
            "holds the extractor casrel, expected a zero-cardinality classifier",
        ),
        ({"extractor": str(models / "none")}, "not a trained extractor"),
    ):
        with pytest.raises(UserError, match=message):
            run_collection(replace(work, models=replace(work.models, **changed)))


def test_a_broken_line_stops_the_run_in_one_sentence_and_keeps_what_is_finished(models, tmp_path):
    good = [json.dumps({"text": each.text}) for each in toy_sentences()]
    (tmp_path / "a.jsonl").write_text("\n".join([*good, "{broken"]) + "\n")
    with pytest.raises(
        UserError, match=rf"^{tmp_path}/a\.jsonl line {len(good) + 1}: not valid JSON \(.*\)$"
    ):
        run_collection(collection(tmp_path / "a.jsonl", models, tmp_path / "out", size=2))
    skipping = collection(
        tmp_path / "a.jsonl", models, tmp_path / "skip", size=2, reading={"skip": True}
    )
    assert run_collection(skipping)["counts"]["broken"] == 1


def test_the_table_names_the_models(extracted, tmp_path):
    files = ResultFiles(collection=[extracted[0] / "collection.json"])
    make_tables(files, {"collection": {}}, tmp_path)
    assert "CasRel after the classifier ZCC on cpu" in (tmp_path / "collection.md").read_text(
        encoding="utf-8"
    )


def test_extract_prints_a_stream_behind_a_gate(models, tmp_path, capsys):
    save_sentences(tmp_path / "s.jsonl", toy_sentences())
    (tmp_path / "s.txt").write_text(
        "".join(each.text + "\n\n" for each in toy_sentences()), encoding="utf-8"
    )
    printed = []
    for name in ("s.jsonl", "s.txt"):
        gate = ["--gate", str(models / "zcc")]
        assert (
            main(
                [
                    "extract",
                    "--model",
                    str(models / "casrel"),
                    "--input",
                    str(tmp_path / name),
                    "--json",
                    *gate,
                ]
            )
            == 0
        )
        printed.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
    assert [row["triples"] for row in printed[0]] == [row["triples"] for row in printed[1]]
    assert 0 < sum(bool(row["triples"]) for row in printed[0]) <= 4


CLASS = """
import os
class Upper:
    def __init__(self, missing=""):
        self.missing = missing
    def extract(self, texts):
        with open(os.environ["ASKED"], "a") as file:
            file.write("".join(text + "\\n" for text in texts))
        words = [text.split() for text in texts]
        return [[{"subject": each[0], "relation": "precedes", "object": each[1]}] for each in words]
"""


@pytest.mark.parametrize("gate", [True, False])
def test_any_system_reads_a_collection_behind_the_gate(models, texts, tmp_path, monkeypatch, gate):
    (tmp_path / "upper.py").write_text(CLASS)
    monkeypatch.setenv("ASKED", str(tmp_path / "asked.txt"))
    settings = {
        "python": f"{tmp_path}/upper.py:Upper",
        "timeout": 60,
        "restarts": 0,
        "relations": False,
        "batch_size": 8,
    }
    system = System("upper", "python", settings, {"threads": 1}, files=(f"{tmp_path}/upper.py",))
    work = collection(texts / "gold.jsonl", models, tmp_path / "out", gate)
    work = replace(work, models=replace(work.models, extractor="", system=system))
    manifest = run_collection(work)
    rows, known = rows_of(tmp_path / "out"), [each.text for each in toy_sentences()]
    scores = dict(zip(known, ZCC.from_pretrained(models / "zcc").decide(known), strict=True))
    for row in rows:
        words, score = row["text"].split(), scores[row["text"]]
        said = [(t["subject"]["text"], t["relation"], t["object"]["text"]) for t in row["triples"]]
        assert said == ([(words[0], "precedes", words[1])] if score > 0.5 or not gate else [])
        assert ("gate" in row) is gate
    assert manifest["extractor"] == "upper" and manifest["money"] == 0
    asked = (tmp_path / "asked.txt").read_text().splitlines()
    assert len(asked) < len(rows)  # equal texts of a block once
    run_collection(work)
    assert (tmp_path / "asked.txt").read_text().splitlines() == asked  # nothing is asked twice
    (tmp_path / "upper.py").write_text(CLASS.replace("precedes", "follows"))
    with pytest.raises(UserError, match="was made with system"):
        run_collection(work)


def test_a_dry_run_says_what_a_sample_took_and_writes_nothing(models, texts, tmp_path):
    work = collection(texts / "gold.jsonl", models, tmp_path / "out")
    first, *more = forecast(work, 2, 24)
    assert first == "5 blocks with 97 rows; 5 with 97 are to be made" and len(more) == 3
    assert not (tmp_path / "out").exists()
    run_collection(work)
    assert list(forecast(work, 1, 24)) == ["5 blocks with 97 rows; 0 with 0 are to be made"]


def measured(**changes):
    took = {"start": 18.0, "other": 100.0, "tokenisation": 50.0, "gate": 50.0, "extraction": 300.0}
    counts = {"sentences": 1000, "let_through": 250}
    return {
        "counts": counts,
        "seconds": took,
        "money": 50.0,
        "bytes": 2e9,
        "device": ["cpu"],
    } | changes


@pytest.mark.parametrize(("workers", "hours"), [(1, "0.02"), (2, "0.01")])
def test_what_a_sample_took_is_said_of_all_rows(
    models, texts, tmp_path, monkeypatch, workers, hours
):
    """Of 97 rows, where 1,000 sentences took 500 s, 2 GB and 50 of money: 48.5 s of one worker,
    and 18 s to start.
    """
    monkeypatch.setattr("tripleaudit.collection.engine.run_collection", lambda *_: measured())
    assert list(forecast(collection(texts / "gold.jsonl", models, tmp_path / "out"), workers, 24))[
        1:
    ] == [
        "2 sentences a second of one process on cpu, from 25 of them",
        "25 % pass to the extractor; about 0.19 GB are written",
        f"{hours} hours with {workers} workers on such machines",
        "money: 4.85 for answers",
    ]


def test_nothing_measured_is_said(models, texts, tmp_path, monkeypatch):
    nothing = measured(counts={"sentences": 0, "let_through": 0})
    monkeypatch.setattr("tripleaudit.collection.engine.run_collection", lambda *_: nothing)
    with pytest.raises(UserError, match="the sample has no sentences"):
        list(forecast(collection(texts / "gold.jsonl", models, tmp_path / "out"), 1, 24))
