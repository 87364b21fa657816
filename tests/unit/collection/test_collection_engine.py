"""From files to finished blocks on one Ray cluster, and the blocks read as one file by all that reads predictions."""

import contextlib
import functools
import gzip
import json
import math
import os
import pickle
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pyarrow.parquet as parquet
import pytest

from support.extractors import build, toy_sentences
from support.fake_endpoint import FakeEndpoint
from tripleaudit.cli import main
from tripleaudit.collection import cluster, engine
from tripleaudit.collection.cluster import Cluster
from tripleaudit.collection.cost import forecast
from tripleaudit.collection.engine import Collection, run_collection
from tripleaudit.collection.finished import folder_of, read_state, write_block
from tripleaudit.collection.pipeline import Models, System, predictions
from tripleaudit.collection.reading import Line, Reading
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.errors import UserError
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.extractors.zcc import ZCC
from tripleaudit.files import plain_row, read_jsonl, sha256
from tripleaudit.grescores.systems import read_system
from tripleaudit.plan.study import Study
from tripleaudit.tables.building import make_table
from tripleaudit.training.stream import Extracted

COPIES, SIZE = 12, 20
HERE = Cluster(address=None)


def imported_ray():
    """Ray reads its settings when it is imported, so that whichever test comes first has to say them."""
    with cluster._settings_of_ray(HERE):
        import ray
    return ray


@pytest.fixture(scope="module")
def ray_here():
    """One Ray cluster with a pretended GPU for all tests that need one; few rows are else extracted in this process."""
    ray = imported_ray()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray, "init", functools.partial(ray.init, num_gpus=1))
        with cluster.connected(replace(HERE, workers=2)):
            yield
    assert not list(Path("/tmp").glob(f"{cluster.FOLDER}-{psutil.Process().pid}-*"))


@pytest.fixture(scope="module")
def models(tmp_path_factory, tiny_encoder):
    """A CasRel that finds something everywhere (its biases say so), and a classifier with scores on both sides."""
    folder = tmp_path_factory.mktemp("models")
    extractor = build(CasRel, tiny_encoder, prior=0.4)
    extractor.save_pretrained(folder / "casrel")
    classifier = build(ZCC, tiny_encoder)
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
    return Collection("toys", [str(files)], folder_of(str(out)), what, Reading(size, **dict(reading)), **changes)


@pytest.fixture(scope="module")
def extracted(models, texts, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    return out, run_collection(collection(texts / "gold.jsonl", models, out), HERE)


def rows_of(out):
    return [row for _, row in read_jsonl(out)]


def triples_of(out):
    return [(row["id"], row["triples"]) for row in rows_of(out)]


def blocks_of(out):
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in Path(out).glob("blocks/*.parquet")}


def made(work):
    """Run a collection; returns its manifest, and the names of the blocks that were made, new or again."""
    before = blocks_of(work.target.location)
    manifest = run_collection(work, HERE)
    return manifest, {name for name, file in blocks_of(work.target.location).items() if file != before.get(name)}


def test_the_blocks_read_as_one_file_and_equal_the_extractor_behind_the_gate(extracted, models, texts):
    out, manifest = extracted
    rows, gold = rows_of(out), load_sentences(texts / "gold.jsonl")
    assert [row["id"] for row in rows] == [each.id for each in gold]
    assert [row["line"] for row in rows] == list(range(1, len(gold) + 1))
    assert {row["source"] for row in rows} == {str(texts / "gold.jsonl")}
    classifier, extractor = ZCC.from_pretrained(models / "zcc"), CasRel.from_pretrained(models / "casrel")
    known = [each.text for each in toy_sentences()]
    scores = dict(zip(known, classifier.decide(known), strict=True))
    expected = {each.text: {t.strings for t in each.triples} for each in extractor.extract(known)}
    passed = 0
    for row, sentence in zip(rows, load_sentences(out), strict=True):
        let_through = scores[row["text"]] > 0.5
        passed += let_through
        assert row["gate"] == pytest.approx(scores[row["text"]], abs=1e-3)
        assert {t.strings for t in sentence.triples} == (expected[row["text"]] if let_through else set())
    assert 0 < passed < len(rows) and manifest["counts"]["triples"] > 0
    assert manifest["counts"] == {
        "lines": len(rows) + 1, "empty": 1, "broken": 0, "too_long": 0, "sentences": len(rows), "let_through": passed,
        "cut": 0, "with_triples": sum(bool(row["triples"]) for row in rows),
        "triples": sum(len(row["triples"]) for row in rows),
    }  # fmt: skip
    assert sum(manifest["relations"].values()) == manifest["counts"]["triples"]
    assert manifest["rows"] == len(rows) and len(manifest["blocks"]) == math.ceil((len(rows) + 1) / SIZE)
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
    found = duckdb.sql(f"select count(*), sum(len(triples)) from '{out}/blocks/*.parquet'").fetchall()[0]
    assert found == (counts["sentences"], counts["triples"])
    loaded = datasets.Dataset.from_parquet(sorted(map(str, out.glob("blocks/*.parquet"))), cache_dir=str(out / "cache"))
    assert plain_row(loaded[0]) == rows_of(out)[0]
    shutil.rmtree(out / "cache")


def test_a_lost_or_torn_block_alone_is_made_again(extracted, models, texts, tmp_path):
    out, manifest = extracted
    shutil.copytree(out, tmp_path / "copy")
    lost, torn = (manifest["blocks"][number]["file"] for number in (1, 3))
    (tmp_path / "copy" / lost).unlink()
    with pytest.raises(UserError, match=rf"{lost}: this block is missing, but collection\.json lists it"):
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
    run_collection(work, HERE)
    assert len({row["id"] for row in rows_of(tmp_path / "out")}) == 3 * len(lines)
    (folder / "c.txt").write_text("\n".join(lines[:7]) + "\n")
    assert [name[:5] for name in made(work)[1]] == ["c.txt"]
    changed = [*lines[:15], f"Now {lines[15]}", *lines[16:], "one more"]  # the block of the longer line, and the last
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
    run_collection(work, HERE)
    lines[2] = lines[2].swapcase()
    file.write_text("\n".join(lines))
    os.utime(file, ns=(changed, changed + 10**9))
    run_collection(work, HERE)
    assert [row["text"] for row in rows_of(tmp_path / "out")] == lines


def test_what_decides_the_triples_decides_the_blocks(models, texts, tmp_path):
    def work(threshold=0.5, code=""):
        same = collection(texts / "gold.jsonl", models, tmp_path, code=code)
        return replace(same, models=replace(same.models, threshold=threshold))

    assert run_collection(work(), HERE)["counts"]["let_through"] > 0
    first = blocks_of(tmp_path)
    with pytest.raises(UserError, match=r"was made with threshold 0\.5 \(now 1\.0\);"):
        run_collection(work(1.0), HERE)
    assert run_collection(work(1.0), HERE, replace=True)["counts"]["let_through"] == 0
    second = blocks_of(tmp_path)
    assert not first.keys() & second.keys() and all(row["triples"] == [] for row in rows_of(tmp_path))
    with pytest.raises(UserError, match=r"was made with code  \(now other\);"):
        run_collection(work(1.0, "other"), HERE)
    run_collection(work(1.0, "other"), HERE, replace=True)
    assert not second.keys() & blocks_of(tmp_path).keys()


def test_a_block_that_an_interrupted_run_made_again_has_its_own_digest(models, texts, tmp_path, monkeypatch):
    work = collection(texts / "gold.jsonl", models, tmp_path)
    lost, other, *_ = (block["file"] for block in run_collection(work, HERE)["blocks"])
    (tmp_path / lost).unlink()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(engine, "remove_others", interrupted)
        run_collection(work, HERE)
    assert (tmp_path / lost).exists()
    known = read_state(work.target)["digests"]
    assert other in known and lost not in known
    parquet.write_table(parquet.read_table(tmp_path / other), tmp_path / other, compression="none")
    blocks = run_collection(work, HERE)["blocks"]
    assert all(block["sha256"] == sha256(tmp_path / block["file"]) for block in blocks)


def interrupted(*_):
    raise KeyboardInterrupt


def test_types_of_entities_survive_in_blocks(tmp_path):
    typed = Triple(Span(0, 3, "Ada", "P"), "leads", Span(10, 15, "Delta", "F"), 0.5)
    plain = Triple(Span(0, 3, "Ada"), "likes", Span(10, 15, "Delta"), 0.5)
    rows = [Sentence("a", "Ada leads Delta", (typed,)), Sentence("b", "Ada likes Delta", (plain,))]
    table = predictions("a.txt", [Line("", "", 1), Line("", "", 2)], [Extracted(row) for row in rows])
    write_block(folder_of(str(tmp_path)), "a-000000001-0123456789abcdef", table, {})
    (tmp_path / "collection.json").write_text(
        json.dumps({"blocks": [{"file": "blocks/a-000000001-0123456789abcdef.parquet"}]})
    )
    spans = [span for each in read_corpus(tmp_path).sentences for t in each.triples for span in (t.subject, t.object)]
    assert [span.type for span in spans] == ["P", "F", None, None]
    assert [row["triples"] for row in rows_of(tmp_path)] == [[triple.to_json()] for triple in (typed, plain)]


def test_without_a_gate_and_with_triples_only(models, texts, tmp_path):
    manifest = run_collection(collection(texts / "gold.jsonl", models, tmp_path, False, write="triples"), HERE)
    rows = rows_of(tmp_path)
    assert manifest["counts"]["let_through"] == manifest["counts"]["sentences"] == COPIES * len(toy_sentences())
    assert len(rows) == manifest["counts"]["with_triples"] and all(row["triples"] for row in rows)
    assert "gate" not in rows[0] and manifest["gate"] is None


def kill_while(run, out, size):
    """Kill the process that holds the models while blocks are being made; the run has to succeed."""
    failed = []

    def caught():
        try:
            assert run() != 1  # of a command
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=caught)
    thread.start()
    while thread.is_alive() and not blocks_of(out):
        time.sleep(0.01)
    killed = children("MapBatches(Extract)")
    for process in killed:
        process.kill()
    unfinished = len(blocks_of(out)) < math.ceil((COPIES * len(toy_sentences()) + 1) / size)
    thread.join()
    assert not failed and len(killed) == 1 and unfinished


def children(name):
    """Return the processes under this one with a name, but no copy of one that is about to become another program."""
    parents = {}
    for each in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # it has ended meanwhile
            if name in " ".join(each.cmdline()):
                parents[each] = each.ppid()
    return [each for each, parent in parents.items() if parent not in {other.pid for other in parents}]


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("where", [HERE, replace(HERE, gpus=0.5)], ids=["CPU", "half a GPU"])
def test_processes_that_are_killed_lose_and_double_nothing(
    ray_here, extracted, models, texts, tmp_path, monkeypatch, where
):
    """On Ray; the process that holds the models is killed, while blocks are being made."""
    monkeypatch.setattr(engine, "FEW", 0)
    out, _ = extracted
    work = collection(texts / "gold.jsonl", models, tmp_path, size=3)
    kill_while(lambda: run_collection(work, where), tmp_path, size=3)
    assert triples_of(tmp_path) == triples_of(out)


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("victim", ["driver", "raylet"])
def test_a_driver_or_daemon_that_is_killed_goes_on_from_its_blocks(extracted, models, texts, tmp_path, victim):
    out, _ = extracted
    work = collection(texts / "gold.jsonl", models, tmp_path, size=1)
    code = "import pickle; from tripleaudit.collection import engine; engine.FEW = 0;"
    code += f"engine.run_collection(pickle.loads({pickle.dumps(work)!r}), engine.Cluster(address=None))"
    with open(tmp_path / "said.txt", "w") as said:
        driver = subprocess.Popen([sys.executable, "-c", code], stderr=said)
    while driver.poll() is None and len(blocks_of(tmp_path)) < 2:
        time.sleep(0.01)
    own = psutil.Process(driver.pid).children(recursive=True)
    {"driver": driver, **{each.name(): each for each in own}}[victim].kill()
    driver.wait()
    before = blocks_of(tmp_path)
    assert 2 <= len(before) < COPIES * len(toy_sentences()), "the driver had finished"
    gone, alive = psutil.wait_procs(own, timeout=300)
    assert gone and not alive
    if victim == "raylet":
        said = (tmp_path / "said.txt").read_text()
        assert re.search(
            r"^error: Ray's daemon on this machine \(the raylet\) died.* the same command goes on", said, re.M
        )
        assert "Traceback" not in said and "Last 20 lines" not in said and driver.returncode == 1
    before = blocks_of(tmp_path)
    _, again = made(work)
    assert not again & before.keys() and len(blocks_of(tmp_path)) == COPIES * len(toy_sentences()) + 1
    assert triples_of(tmp_path) == triples_of(out)
    assert not [path for path in (tmp_path / "blocks").iterdir() if path.name.startswith(".")]


def test_what_is_wrong_is_said_before_a_model_is_loaded(models, texts, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "connected", lambda cluster: pytest.fail("nothing may be started"))
    (tmp_path / "broken.txt").write_bytes(b"one\ntwo \xff\n")
    (tmp_path / "keys.jsonl.gz").write_bytes(gzip.compress(b'{"id": 1, "sentence": "one"}\n'))
    (tmp_path / "empty.txt").write_text("")
    for name, message in (
        ("broken.txt", r"broken\.txt line 2: not UTF-8 text"),
        ("keys.jsonl.gz", r"keys\.jsonl\.gz line 1: .* string 'text'; it has id, sentence: name it with text_column"),
        ("empty.txt", r"empty\.txt: no line is there"),
    ):
        with pytest.raises(UserError, match=message):
            run_collection(collection(tmp_path / name, models, tmp_path / "out"), HERE)
        assert not (tmp_path / "out").exists()
    work = collection(texts / "gold.jsonl", models, tmp_path / "out")
    for changed, message in (
        ({"extractor": str(models / "zcc")}, "holds the classifier zcc, expected an extractor"),
        ({"gate": str(models / "casrel")}, "holds the extractor casrel, expected a zero-cardinality classifier"),
        ({"extractor": str(models / "none")}, "not a trained extractor"),
    ):
        with pytest.raises(UserError, match=message):
            run_collection(replace(work, models=replace(work.models, **changed)), HERE)


def test_a_cluster_without_what_was_asked_for_is_said(ray_here, models, texts, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "FEW", 0)
    work = collection(texts / "gold.jsonl", models, tmp_path)
    with pytest.raises(UserError, match=r"3 workers need 1\.5 GPUs, but the Ray cluster has 1; expected fewer"):
        run_collection(work, replace(HERE, workers=3, gpus=0.5))
    with pytest.raises(UserError, match=r"50 workers need 37\.75 CPUs, but the Ray cluster has"):
        run_collection(work, replace(HERE, workers=50))
    assert not blocks_of(tmp_path)


@pytest.mark.thorough
def test_an_error_on_the_cluster_is_one_sentence(ray_here, models, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "FEW", 0)
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n{broken\n')
    with pytest.raises(UserError, match=rf"^{tmp_path}/a\.jsonl line 2: not valid JSON \(.*\)$"):
        run_collection(collection(tmp_path / "a.jsonl", models, tmp_path / "out"), HERE)


def test_a_cluster_that_does_not_answer_is_said(monkeypatch):
    ray = imported_ray()
    listening = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{listening.getsockname()[1]}"

    def refused(**options):
        raise ConnectionError("Could not connect\nto the cluster")

    monkeypatch.setattr(ray, "init", refused)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    for why in ("Could not connect", ".*refused"):
        with (
            pytest.raises(UserError, match=rf"RAY_ADDRESS {address}: no Ray cluster answers there \({why}\)$"),
            cluster.connected(Cluster(address=address)),
        ):
            pass
        listening.close()


def test_a_broken_line_stops_the_run_in_one_sentence_and_keeps_what_is_finished(models, tmp_path):
    good = [json.dumps({"text": each.text}) for each in toy_sentences()]
    (tmp_path / "a.jsonl").write_text("\n".join([*good, "{broken"]) + "\n")
    with pytest.raises(UserError, match=rf"^{tmp_path}/a\.jsonl line {len(good) + 1}: not valid JSON \(.*\)$"):
        run_collection(collection(tmp_path / "a.jsonl", models, tmp_path / "out", size=2), HERE)
    skipping = collection(tmp_path / "a.jsonl", models, tmp_path / "skip", size=2, reading={"skip": True})
    assert run_collection(skipping, HERE)["counts"]["broken"] == 1


def test_the_table_names_the_models(extracted, tmp_path):
    make_table("collection", tmp_path / "collection", collection=[extracted[0] / "collection.json"])
    assert "CasRel after the classifier ZCC on cpu" in (tmp_path / "collection.md").read_text(encoding="utf-8")


def test_extract_prints_a_stream_behind_a_gate(models, tmp_path, capsys):
    save_sentences(tmp_path / "s.jsonl", toy_sentences())
    (tmp_path / "s.txt").write_text("".join(each.text + "\n\n" for each in toy_sentences()), encoding="utf-8")
    printed = []
    for name in ("s.jsonl", "s.txt"):
        gate = ["--gate", str(models / "zcc")]
        assert main(["extract", str(models / "casrel"), "--input", str(tmp_path / name), "--json", *gate]) == 0
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
    manifest = run_collection(work, HERE)
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
    run_collection(work, HERE)
    assert (tmp_path / "asked.txt").read_text().splitlines() == asked  # nothing is asked twice
    (tmp_path / "upper.py").write_text(CLASS.replace("precedes", "follows"))
    with pytest.raises(UserError, match="was made with system"):
        run_collection(work, HERE)


@pytest.mark.slow
@pytest.mark.thorough
def test_a_model_whose_process_is_killed_answers_every_row_once(ray_here, texts, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "FEW", 0)

    def answer(body):
        time.sleep(0.02)  # so that there is something left to be killed
        words = body["messages"][-1]["content"].rsplit("Passage: ", 1)[-1].split()
        return json.dumps([[words[0], "precedes", words[1]]])

    with FakeEndpoint(answer=answer) as fake:
        endpoint = {"base_url": fake.url, "model": "fake", "prices": {"input": 1, "output": 1}}
        study = Study(
            {
                "study": "asked",
                "systems": {"own": {"endpoint": "fake", "setting": "open"}},
                "generative": {"cache": str(tmp_path / "cache"), "endpoints": {"fake": endpoint}},
                "collections": {"toys": {"files": str(texts / "gold.jsonl"), "extractor": "own", "gate": None}},
            }
        )
        command = ["collection", "run", str(texts / "gold.jsonl"), *study.collections.who_options("toys", 1)]
        command += ["--out", str(tmp_path / "out"), "--block", "4", "--gpu", "0"]
        kill_while(lambda: main(command), tmp_path / "out", size=4)
        gold, rows = load_sentences(texts / "gold.jsonl"), rows_of(tmp_path / "out")
        assert [row["id"] for row in rows] == [each.id for each in gold]
        for row in rows:
            words = row["text"].split()
            said = [(t["subject"]["text"], t["relation"], t["object"]["text"]) for t in row["triples"]]
            assert said == [(words[0], "precedes", words[1])]
        assert len(fake.answered) <= len({row["text"] for row in rows}) + 1  # the one under way


def test_a_dry_run_says_what_a_sample_took_and_writes_nothing(models, texts, tmp_path):
    work = collection(texts / "gold.jsonl", models, tmp_path / "out")
    first, *more = forecast(work, 2, 24)
    assert first == "5 blocks with 97 rows; 5 with 97 are to be made" and len(more) == 3
    assert not (tmp_path / "out").exists()
    run_collection(work, HERE)
    assert list(forecast(work, 1, 24)) == ["5 blocks with 97 rows; 0 with 0 are to be made"]


def measured(**changes):
    took = {"start": 18.0, "other": 100.0, "tokenisation": 50.0, "gate": 50.0, "extraction": 300.0}
    counts = {"sentences": 1000, "let_through": 250}
    return {"counts": counts, "seconds": took, "money": 50.0, "bytes": 2e9, "device": ["cpu"]} | changes


@pytest.mark.parametrize(("workers", "hours"), [(1, "0.02"), (2, "0.01")])
def test_what_a_sample_took_is_said_of_all_rows(models, texts, tmp_path, monkeypatch, workers, hours):
    """Of 97 rows, where 1,000 sentences took 500 s, 2 GB and 50 of money: 48.5 s of one worker, and 18 s to start."""
    monkeypatch.setattr("tripleaudit.collection.engine.run_collection", lambda *_: measured())
    assert list(forecast(collection(texts / "gold.jsonl", models, tmp_path / "out"), workers, 24))[1:] == [
        "2 sentences a second of one process on cpu, from 25 of them",
        "25 % pass to the extractor; about 0.19 GB are written",
        f"{hours} hours with {workers} workers on such machines",
        "money: 4.85 for answers",
    ]


def test_folders_of_processes_that_are_gone_are_removed():
    there, gone = subprocess.Popen(["sleep", "60"]), subprocess.Popen(["true"])
    gone.wait()
    folders = [Path("/tmp", f"{cluster.FOLDER}-{process.pid}-test") for process in (there, gone)]
    for folder in folders:
        folder.mkdir()
    folders.append(cluster._own_folder())
    found = [folder.exists() for folder in folders]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    assert found == [True, False, True] and there.poll() is None
    there.kill()


def test_nothing_measured_is_said(models, texts, tmp_path, monkeypatch):
    nothing = measured(counts={"sentences": 0, "let_through": 0})
    monkeypatch.setattr("tripleaudit.collection.engine.run_collection", lambda *_: nothing)
    with pytest.raises(UserError, match="the sample has no sentences"):
        list(forecast(collection(texts / "gold.jsonl", models, tmp_path / "out"), 1, 24))
