"""The registry of corpora and models: well formed, complete, and clear about what it lacks."""

import csv
import subprocess
import sys

import pytest
import yaml

from tripleaudit.descriptors import FORMATS
from tripleaudit.errors import UserError
from tripleaudit.sources import registry


def test_every_registered_format_has_a_reader():
    assert {file.format for file in registry.raw_files().values()} - {None} <= set(FORMATS)


def test_hashes_sizes_and_addresses_are_those_of_the_published_files(real_data):
    with open(real_data / "MANIFEST.tsv", encoding="utf-8", newline="") as stream:
        manifest = {row["path"]: row for row in csv.DictReader(stream, delimiter="\t")}
    hashed = {name: file for name, file in registry.raw_files().items() if file.sha256}
    assert len(hashed) > 50
    for name, file in hashed.items():
        row = manifest[name]
        assert (file.sha256, str(file.size)) == (row["sha256"], row["bytes"])
        assert f"/{row['upstream']}/{row['upstream_commit']}/" in file.source.location


def test_the_nyt_training_files_are_checked_by_their_counts():
    for name in ("nyt/train_triples.json", "nyt10-hrl/train.json", "nyt29/train.sent"):
        file = registry.raw_file(name)
        assert file.sha256 is None
        assert set(file.expect) == {"sentences", "triples"}
    assert registry.raw_file("nyt/train_triples.json").expect["sentences"] == (56196,)


def test_each_corpus_names_all_files_of_a_split():
    corpus = registry.corpus("conll04-full")
    assert corpus.splits == ("train", "valid", "test")
    assert [file.name for file in corpus.raw_files("test")] == [
        "conll04-full/corp.tsv",
        "conll04/train_triples.json",
        "conll04/dev_triples.json",
        "conll04/test_triples.json",
    ]
    assert len(registry.corpus("nyt29").raw_files("train")) == 3
    with pytest.raises(UserError, match="has no split 'valid', expected one of test"):
        registry.corpus("docred").raw_files("valid")


def test_resolve_prefers_local_copies(tmp_path):
    file = registry.raw_file("webnlg/val_triples.json")
    assert registry.resolve(file, None, tmp_path) == tmp_path / "webnlg" / "val_triples.json"
    with pytest.raises(UserError, match="no such file, expected webnlg/val_triples.json below raw_root"):
        registry.resolve(file, tmp_path, "downloads")
    (tmp_path / "webnlg").mkdir()
    (tmp_path / "webnlg" / "val_triples.json").write_text("[]")
    assert registry.resolve(file, tmp_path, "downloads") == tmp_path / "webnlg" / "val_triples.json"
    with pytest.raises(UserError, match="cannot be fetched; get it from https://"):
        registry.resolve(registry.raw_file("nyt29/train.sent"), None, tmp_path)


def test_unknown_names_are_one_clear_sentence():
    with pytest.raises(UserError, match="corpus 'nyt42' is not registered, expected one of webnlg"):
        registry.corpus("nyt42")
    with pytest.raises(UserError, match="model 'bert' is not registered, expected one of minilm"):
        registry.model("bert")
    with pytest.raises(UserError, match="raw file 'a' is not registered"):
        registry.raw_file("a")


def test_a_model_may_be_named_by_its_source():
    assert registry.find_model("minilm").sha256
    assert registry.find_model("hub:org/name").source.location == "org/name"


def test_a_model_in_parts_is_registered_with_the_hash_of_the_whole():
    model = registry.model("mpnet-base")
    assert [part.kind for part in model.source.parts] == ["pypi"] * 5
    assert [part.inner.rpartition(".")[2] for part in model.source.parts] == ["001", "002", "003", "004", "005"]
    assert (model.source.inner, model.layers) == ("all-mpnet-base-v2", 12)
    assert model.sha256 and model.size


def test_a_model_in_parts_needs_a_hash(tmp_path):
    (tmp_path / "models.yaml").write_text("models: {a: {title: A, licence: MIT, source: '(b + c)'}}")
    with pytest.raises(UserError, match="models/a: a download needs its sha256"):
        registry.load("models.yaml", tmp_path)


def test_the_registry_needs_no_heavy_import():
    code = (
        "import sys; from tripleaudit.sources import registry; registry.corpus('webnlg'); "
        "print([m for m in ('numpy', 'pandas', 'datasets', 'torch', 'transformers') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("corpora", "webnlg", "splits", "train"), "corpora/webnlg/splits/train: there is no file 'oops'"),
        (
            ("files", "ade/test_triples.json", "sha256"),
            "/sha256: 'oops' is not 64 hexadecimal digits",
        ),
        (("files", "ade/test_triples.json", "size"), "files/ade/test_triples.json/size: expected integer, got 'oops'"),
        (("files", "ade/test_triples.json", "repository"), "there is no repository 'oops'"),
        (("files", "ade/test_triples.json", "colour"), "unknown key 'colour'"),
        (("repositories", "prgc", "commit"), "repositories/prgc/commit: 'oops' is not 40 hexadecimal digits"),
        (
            ("corpora", "conll04-full", "divide", "parts"),
            "conll04-full/divide: expected either 'parts' or 'like'",
        ),
    ],
)
def test_every_problem_of_an_entry_is_named(tmp_path, change, problem):
    document = yaml.safe_load((registry.FOLDER / "corpora.yaml").read_text(encoding="utf-8"))
    *path, key = change
    entry = document
    for part in path:
        entry = entry[part]
    entry[key] = {"train": 1} if key == "parts" else ["oops"] if path[-1] == "splits" else "oops"
    (tmp_path / "corpora.yaml").write_text(yaml.safe_dump(document))
    with pytest.raises(UserError, match="is not usable") as caught:
        registry.load("corpora.yaml", tmp_path)
    assert problem in str(caught.value)


def test_a_fetched_file_needs_a_hash_or_counts(tmp_path):
    document = yaml.safe_load((registry.FOLDER / "corpora.yaml").read_text(encoding="utf-8"))
    del document["files"]["ade/test_triples.json"]["sha256"]
    (tmp_path / "corpora.yaml").write_text(yaml.safe_dump(document))
    with pytest.raises(UserError, match="needs its sha256, or the counts"):
        registry.load("corpora.yaml", tmp_path)


def test_what_is_wrong_is_shown_as_it_stands(tmp_path):
    (tmp_path / "models.yaml").write_text("models: {a: {title: A, licence: MIT, source: 'ftp://{a}/b'}}")
    with pytest.raises(UserError, match=r"models/a/source: source 'ftp://\{a\}/b': ftp is not supported"):
        registry.load("models.yaml", tmp_path)


def test_a_model_may_be_large(tmp_path):
    entry = f"{{title: A, licence: MIT, source: 'pypi:a==1!/a', sha256: '{'0' * 64}', size: {7 * 10**10}}}"
    (tmp_path / "models.yaml").write_text(f"models: {{a: {entry}}}")
    assert registry.load("models.yaml", tmp_path).models["a"].size == 7 * 10**10
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "models.yaml").write_text(f"models: {{a: {entry.replace(str(7 * 10**10), '0')}}}")
    with pytest.raises(UserError, match="models/a/size: expected at least 1, got 0"):
        registry.load("models.yaml", tmp_path / "other")


def test_a_model_needs_a_well_formed_source(tmp_path):
    (tmp_path / "models.yaml").write_text("models: {a: {title: A, licence: MIT, source: 'http://example.org/a'}}")
    with pytest.raises(UserError, match="models/a/source: source .*only https"):
        registry.load("models.yaml", tmp_path)
