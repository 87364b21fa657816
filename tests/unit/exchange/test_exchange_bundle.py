"""``tripleaudit bundle``: equal bytes, nothing of the machine, refusals, and every way to read a bundle back."""

import json
import shutil
import zipfile

import pytest
import yaml

from support.scored import make_study
from tripleaudit import __version__
from tripleaudit.cli import main
from tripleaudit.corpora.bundled import open_bundle, predictions_of, read_sentences
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.readers import detect_format, read_corpus
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.corpora.writers import write_parquet
from tripleaudit.exchange.bundling import OF_SETTINGS, PATHS, portable
from tripleaudit.exchange.cards import AXES, evaluation_card, results_card
from tripleaudit.files import read_json, read_jsonl, write_json, write_jsonl
from tripleaudit.scoring.counts import SentenceCounts
from tripleaudit.scoring.rows import count_run
from tripleaudit.scoring.sides import load_side
from tripleaudit.systems.test_set import SystemFiles, predict_system

FAST = ["--bootstrap", "50", "--shuffles", "50"]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = make_study(tmp_path_factory.mktemp("bundles") / "mine", {"casrel": 0.8, "prgc": 0.5})
    run = folder / "models/c/original-nz/casrel/none/seed1"
    record = {"git": {"commit": "abc", "clean": True}, "packages": {"torch": "2"}, "device": "cpu", "seed": 1}
    write_json(run / "provenance.json", {**record, "settings": {"encoder": str(folder / "models/x"), "lr": 0.1}})
    (run / "model.safetensors").write_bytes(b"weights")
    (run / "checkpoints").mkdir()
    write_json(run / "checkpoints" / "provenance.json", {})
    answers = [{"id": "s0", "text": "Ann wrote Emma in Rome", "answers": [{"text": "[]", "cost": 0.0}]}]
    write_jsonl(folder / "generative/c/lm/answers.jsonl", answers)
    write_json(folder / "gre/c/judged/lm/report.json", {"endpoint": "http://me:pass@host:1/v1?key=abc"})
    (folder / "tables").mkdir()
    (folder / "tables" / "t.md").write_text("| a |\n")
    (folder / "logs").mkdir()
    (folder / "logs" / "train.log").write_text("a log")
    return folder


@pytest.fixture(scope="module")
def bundle(study):
    out = study.parent / "mine.zip"
    assert main(["bundle", str(study), "--out", str(out)]) == 0
    return out


def names(path):
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


def test_equal_results_make_equal_bytes_wherever_they_lie(study, bundle, tmp_path):
    again = tmp_path / "elsewhere" / "mine"
    shutil.copytree(study, again)
    assert main(["bundle", str(again), "--out", str(tmp_path / "again.zip")]) == 0
    # the settings name a folder of the first place, which the second cannot know; the rest is equal
    paths = [path for path in names(bundle) if path not in ("bundle.json",)]
    with zipfile.ZipFile(bundle) as one, zipfile.ZipFile(tmp_path / "again.zip") as two:
        different = [path for path in paths if one.read(path) != two.read(path)]
    assert names(tmp_path / "again.zip") == names(bundle) == sorted(names(bundle))
    assert [path for path in different if "scores/" not in path and "models/" not in path] == []
    assert main(["bundle", str(study), "--out", str(tmp_path / "second.zip")]) == 0
    assert (tmp_path / "second.zip").read_bytes() == bundle.read_bytes()
    (tmp_path / "own.yaml").write_text("study: mine\ncorpora: {c: {files: {train: /data/a.jsonl}}}\n")
    assert main(["bundle", str(study), "--out", str(tmp_path / "c.zip"), "--config", str(tmp_path / "own.yaml")]) == 0
    with zipfile.ZipFile(tmp_path / "c.zip") as archive:
        settings = json.loads(archive.read("settings.json"))
    assert settings == {"study": "mine", "corpora": {"c": {"files": {"train": "a.jsonl"}}}}


def test_it_holds_results_and_nothing_of_the_machine(study, bundle, kept):
    """The cards say what the study tests: zero triples as in table 7 of zero-cardinality, strata, a language model."""
    with zipfile.ZipFile(bundle) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    assert not [name for name, text in content.items() if str(study.parent).encode() in text]
    assert json.loads(content["gre/c/judged/lm/report.json"]) == {"endpoint": "http://host:1/v1"}
    cards = "".join(content[name].decode() for name in ("README.md", "genbench.json"))
    kept("bundle.md", "".join(f"{name}\n" for name in content) + cards.replace(__version__, "VERSION"))


def test_a_language_model_among_the_systems_has_its_mark_and_held_out_relations_have_theirs(tmp_path):
    runs = [SentenceCounts({"protocol": "unseen_relations-5", "testing": "nz"}, [], [])]
    answered = {"keys": {}, "kind": "endpoint", "failed": None}
    for facts, marks in (
        ([answered], {"▽", "☆"}),
        ([{**answered, "failed": "no answer"}, {**answered, "kind": "command"}], {"▽"}),
    ):
        write_json(tmp_path / "systems.json", facts)
        assert set(evaluation_card(tmp_path, runs)["experiments"]) == marks
    assert evaluation_card(tmp_path / "none", []) == {
        "experiments": {}, "axes": {axis: {value: [] for value in values} for axis, values in AXES.items()}
    }  # fmt: skip


def test_paths_of_a_machine_are_cut_in_the_fields_that_name_them_alone(tmp_path):
    study = tmp_path / "results/s"
    places = {
        "in": (str(study / "a.json"), "a.json"),
        "out": ("/usr/share/words", "words"),
        "home": ("~/x/y", "y"),
        "url": ("https://u:p@h.org/v1?k=1#f", "https://h.org/v1"),
        "relative": ("../up/file", "file"),
        "two": ("/home/me/a.jsonl, /home/me/b.jsonl", "a.jsonl, b.jsonl"),
        "name": ("minilm", "minilm"),
    }
    given = {name: {"path": before} for name, (before, _) in places.items()}
    assert portable(given, study, PATHS) == {name: {"path": after} for name, (_, after) in places.items()}
    texts = {
        "text": ["/usr", "~root", "/", "a/../b", "http://a?b=c"],
        "/usr": 1,
        "/tmp/usr": 2,
        "/people/person": "/home/office",
    }
    assert portable(texts, study, PATHS) == texts
    own = {"corpora": {"c": {"files": {"train": "/data/mine.jsonl"}}}, "description": "/home/office"}
    expected = {"corpora": {"c": {"files": {"train": "mine.jsonl"}}}, "description": "/home/office"}
    assert portable(own, study, OF_SETTINGS) == expected


def test_texts_of_a_study_are_bundled_as_they_are(study, tmp_path):
    shutil.copytree(study, tmp_path / "mine")
    rows = [{"id": "s0", "text": "/usr", "answers": [{"text": "~root"}], "path": "/tmp/x"}]
    write_jsonl(tmp_path / "mine/generative/c/lm/answers.jsonl", rows)
    scores = {str(tmp_path / "mine/scores" / name): {"sha256": name} for name in ("a/test.csv", "b/test.csv")}
    write_json(tmp_path / "mine/scores.provenance.json", {"files": scores, "software": {}})
    assert main(["bundle", str(tmp_path / "mine"), "--out", str(tmp_path / "x.zip")]) == 0
    folder = open_bundle(tmp_path / "x.zip", tmp_path / "x")
    assert [row for _, row in read_jsonl(folder / "generative/c/lm/answers.jsonl")] == rows
    assert set(read_json(folder / "scores.provenance.json")["files"]) == {"scores/a/test.csv", "scores/b/test.csv"}


def test_names_are_never_markup_in_a_card(tmp_path):
    counts = count_run([Sentence("1", "x")], [Sentence("1", "x")], {"corpus": "<script>x|y", "extractor": "*b*"})
    write_json(tmp_path / "models/m/provenance.json", {"device": "<script>", "packages": {"torch": "<script>2"}})
    save_sentences(tmp_path / "predictions/<script>.parquet", [])
    card = results_card(tmp_path, "<script>\n# mine", [counts], ["†"], evaluation_card(tmp_path, [counts]))
    assert "<script>" not in card and "\n# mine" not in card
    assert "| &lt;script&gt;x&#124;y |  |  |  | \\*b\\* |  |  | 1 | 0.0† | 0.0† | 0.0† |" in card
    head = yaml.safe_load(card.removeprefix("---\n").partition("\n---\n")[0])
    assert head["pretty_name"] == "<script>\n# mine"
    assert head["configs"] == [{"config_name": "<script>", "data_files": "predictions/<script>.parquet"}]


def test_a_secret_stops_it(study, tmp_path, refused, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "Ann wrote Emma")
    line = refused("bundle", study, "--out", tmp_path / "x.zip")
    assert "holds the value of SOME_API_KEY" in line and "Ann wrote" not in line and not (tmp_path / "x.zip").exists()


def test_a_bundle_and_its_study_do_not_differ(study, bundle, tmp_path, told):
    folder = tmp_path / "new" / "folder" / "unpacked"
    assert main(["bundle", str(bundle), "--out", str(folder)]) == 0
    for side in (bundle, folder):
        pairs = told("compare", study, side, *FAST)["pairs"]
        assert len(pairs) == 4 and all(pair["changed"] == [] and pair["relations"] for pair in pairs)
        assert {pair["all"]["f1"]["difference"] for pair in pairs} == {0}
    for path in predictions_of(folder):
        original = study / path.relative_to(folder).with_suffix(".jsonl")
        assert [s.to_json() for s in read_sentences(path)] == [s.to_json() for s in load_sentences(original)]


def test_types_and_scores_survive(tmp_path):
    ann, rome = Span(0, 3, "Ann", "PER"), Span(7, 11, "Rome", "LOC")
    gone = Triple(ann, "left", Span(None, None, "Paris"), 0.25)
    sentences = [Sentence("1", "Ann in Rome", (Triple(ann, "in", rome, 0.5), gone)), Sentence("2", "Rome")]
    write_parquet(tmp_path / "typed.parquet", sentences)
    assert [s.to_json() for s in read_sentences(tmp_path / "typed.parquet")] == [s.to_json() for s in sentences]


def test_a_study_reads_the_predictions_of_a_bundle(study, bundle, tmp_path, told):
    original = load_sentences(study / "predictions/c/original-nz/casrel/none/seed1/test.jsonl")
    one = tmp_path / "one.zip"
    assert main(["bundle", str(study), "--out", str(one), "--only", "casrel/none/seed1"]) == 0
    assert detect_format(one) == "bundle"
    unpacked = open_bundle(bundle, tmp_path / "all") / "predictions/c/original-nz/casrel/none/seed1/test.parquet"
    for path in (one, unpacked):  # the way of stored predictions
        found = load_side(path, "predict")
        assert [(s.id, s.text, set(s.triples)) for s in found] == [(s.id, s.text, set(s.triples)) for s in original]
    gold = study / "protocols/c/original/wz/test.jsonl"
    own = study / "predictions/c/original-nz/casrel/none/seed1/test.jsonl"
    scores = [told("score", gold, path, "--bootstrap", "20") for path in (one, unpacked, own)]
    assert scores[0] == scores[1] == scores[2] and scores[0]["micro"]["f1"] > 0.5
    train = study / "protocols/c/original/nz/train.jsonl"
    for path in (one, unpacked):  # as a system of a study
        out, report = tmp_path / "system.jsonl", tmp_path / "system.report.json"
        predict_system("mine", {"predictions": str(path)}, SystemFiles(gold, train, out, report, [str(path)]), {})
        assert read_json(report)["failed"] is None
        assert [(s.id, set(s.triples)) for s in load_sentences(out)] == [(s.id, set(s.triples)) for s in original]
    with pytest.raises(Exception, match="has 2 prediction files .* expected one"):
        read_corpus(bundle)


def test_what_was_changed_is_refused_in_one_sentence(study, bundle, tmp_path, refused):
    with zipfile.ZipFile(bundle) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}

    def changed(files) -> str:
        path = tmp_path / "changed.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in {**content, **files}.items():
                if data is not None:
                    archive.writestr(name, data)
        return refused("compare", path, study)

    table, manifest = content["tables/t.md"], json.loads(content["bundle.json"])
    manifest["files"]["../out.txt"] = {"sha256": "0" * 64, "bytes": 1}
    for files, message in (
        ({"tables/t.md": bytes(reversed(table))}, "tables/t.md is not the file that was bundled"),
        ({"tables/t.md": table + b"x"}, "tables/t.md is not the file that was bundled"),
        ({"tables/t.md": None}, "tables/t.md is missing"),
        ({"more.txt": b"x"}, "more.txt is not the file"),
        ({"../out.txt": b"x"}, "../out.txt is not the file"),
        ({"../out.txt": b"x", "bundle.json": json.dumps(manifest).encode()}, "outside its folder"),
        ({"bundle.json": b"{}"}, "expected format 1"),
    ):
        assert message in changed(files) and not (tmp_path / "out.txt").exists()
    cut = tmp_path / "cut.zip"
    cut.write_bytes(bundle.read_bytes()[:-200])
    assert "not a bundle of results" in refused("bundle", cut, "--out", tmp_path / "folder")
    assert not (tmp_path / "folder").exists()
    folder = open_bundle(bundle, tmp_path / "open")
    save_sentences(folder / "README.md", [])
    assert "README.md is not the file" in refused("compare", folder, study)


def test_nothing_is_written_over(study, bundle, tmp_path, refused):
    assert "is there already" in refused("bundle", study, "--out", bundle)
    assert "ends in .zip" in refused("bundle", study, "--out", tmp_path / "x.tar")
    assert "no such file" in refused("bundle", tmp_path / "none", "--out", tmp_path / "x.zip")
    assert "no scored run has 'nope'" in refused("bundle", study, "--out", tmp_path / "x.zip", "--only", "nope")
    (tmp_path / "filled").mkdir()
    (tmp_path / "filled" / "mine.txt").write_text("mine")
    assert "holds something already" in refused("bundle", bundle, "--out", tmp_path / "filled")
    assert (tmp_path / "filled" / "mine.txt").read_text() == "mine"
