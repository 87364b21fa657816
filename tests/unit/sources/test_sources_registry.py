"""The registry of corpora and models: well formed, complete, and clear about what it lacks."""

import csv
import subprocess
import sys

import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.corpora.spec import FORMATS
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


def test_the_registry_needs_no_heavy_import():
    code = (
        "import sys; from tripleaudit.sources import registry; registry.corpus('webnlg'); "
        "print([m for m in ('numpy', 'pandas', 'datasets', 'torch', 'transformers') if m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip()
        == "[]"
    )


def test_what_entries_name_is_there_and_can_be_verified():
    files, corpora = registry.raw_files(), registry.corpora()
    for model in registry.models().values():
        assert model.source.kind in ("hub", "local") or model.sha256, model.name
    for name, file in files.items():
        assert not name.startswith("/") and ".." not in name.split("/")
        assert (
            (file.path and (file.sha256 or file.expect))
            if file.repository
            else (file.page and file.licence)
        ), name
    for name, entry in corpora.items():
        divide, zero = entry.division, entry.zero
        named = [
            file
            for plan in entry.whole.values()
            for file in (*plan.files, *plan.without, *plan.drop)
        ]
        named += [file for key, others in entry.needs.items() for file in (key, *others)]
        if divide:
            assert bool(divide.parts) != bool(divide.like), name
            assert not {*divide.parts, *divide.like} & {*entry.whole}, name
            named += [
                *divide.files,
                *divide.zero_texts,
                *(file for part in divide.like.values() for file in part),
            ]
        if zero:
            assert {*zero.sizes} == {*entry.whole}, name
            named += zero.files
        assert entry.splits and {*entry.sizes} <= {*entry.splits}, name
        assert named and {*named} <= {*files} and {*entry.published.values()} <= {*corpora}, name


def test_the_nyt_training_files_are_checked_by_their_counts():
    for name in ("nyt/train_triples.json", "nyt10-hrl/train.json", "nyt29/train.sent"):
        file = registry.raw_file(name)
        assert file.sha256 is None
        assert set(file.expect) == {"sentences", "triples"}
    assert registry.raw_file("nyt/train_triples.json").expect["sentences"] == (56196,)


def test_a_model_in_parts_is_registered_with_the_hash_of_the_whole():
    model = registry.model("mpnet-base")
    assert [part.kind for part in model.source.parts] == ["pypi"] * 5
    assert [part.inner.rpartition(".")[2] for part in model.source.parts] == [
        "001",
        "002",
        "003",
        "004",
        "005",
    ]
    assert (model.source.inner, model.layers) == ("all-mpnet-base-v2", 12)
    assert model.sha256 and model.size
