"""Hugging Face data sets: export and reading back, and other people's columns."""

import json
from types import SimpleNamespace

import pytest
import yaml
from datasets import Dataset

from support.reading import strings
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.readers.stored_sets import splits
from tripleaudit.corpora.writers import to_dataset_dict
from tripleaudit.sources.data_sets import fetch_split
from tripleaudit.study.study import Study

SENTENCES = [
    Sentence(
        "a", "Rome is in Italy .", (Triple(Span(0, 4, "Rome"), "in", Span(11, 16, "Italy"), 0.5),)
    ),
    Sentence("b", "Nothing .", ()),
    Sentence(
        "c", "Cancun", (Triple(Span(None, None, "Cancún"), "in", Span(None, None, "Mexico")),)
    ),
]


def saved(tmp_path, rows):
    Dataset.from_list(rows).save_to_disk(str(tmp_path / "data"))
    return tmp_path / "data"


def test_a_data_set_of_other_columns_is_read_by_a_mapping_or_refused_in_a_sentence(tmp_path):
    rows = [
        {"sent": "Rome is in Italy", "facts": [["Rome", "in", "Italy"]]},
        {"sent": "x", "facts": []},
    ]
    corpus = read_corpus(
        saved(tmp_path / "named", rows), columns={"text": "sent", "triples": "facts"}
    )
    assert strings(corpus) == [[("Rome", "in", "Italy")], []]
    path = saved(tmp_path, [{"words": ["x"], "label": 1}])
    with pytest.raises(
        UserError, match="known to be the subject and the object; .* columns are words, label"
    ):
        read_corpus(path)
    to_dataset_dict({"train": SENTENCES, "test": SENTENCES}).save_to_disk(str(tmp_path / "two"))
    with pytest.raises(UserError, match="has the splits train, test; name one as in .*two#train"):
        read_corpus(tmp_path / "two")
    with pytest.raises(UserError, match="there is no split 'dev', expected one of train, test"):
        read_corpus(tmp_path / "two", split="dev")
    with pytest.raises(UserError, match="the data set cannot be read"):
        read_corpus(tmp_path, "datasets")


def test_a_split_is_named_behind_its_folder(tmp_path, capsys):
    exported = to_dataset_dict({"train": SENTENCES, "test": SENTENCES[1:]})
    assert (
        exported["train"].features == exported["test"].features
    )  # though no score is in the second
    exported.save_to_disk(str(tmp_path / "two"))
    assert read_corpus(tmp_path / "two", "datasets", split="train").sentences == SENTENCES
    (tmp_path / "tables").mkdir()
    for split, sentences in (
        ("train", SENTENCES),
        ("validation", SENTENCES[:1]),
        ("test", SENTENCES[1:]),
    ):
        rows = [
            {"text": s.text, "triples": [list(t.strings) for t in s.triples]} for s in sentences
        ]
        Dataset.from_list(rows).to_parquet(tmp_path / "tables" / f"{split}-00000-of-00001.parquet")
    assert read_corpus(f"{tmp_path}/two#test").sentences == SENTENCES[1:]
    assert len(read_corpus(f"{tmp_path}/tables#validation").sentences) == 1
    assert main(["audit", f"{tmp_path}/two#train", f"{tmp_path}/two#test", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["leakage"]["sentences"]["equal"] == 2
    study = tmp_path / "study.yaml"
    assert main(["check", f"{tmp_path}/tables", "--json", "--write", str(study)]) == 0
    files = {
        file["split"]: file["sentences"] for file in json.loads(capsys.readouterr().out)["files"]
    }
    assert files == {"train": 3, "valid": 1, "test": 2}
    assert main(["validate", str(study)]) == 0
    data = Study(yaml.safe_load(study.read_text())).data
    wanted = SimpleNamespace(corpus="study", split="test", get=lambda name, default: default)
    assert data.raw_inputs(wanted) == [
        f"{tmp_path}/tables",
        *map(str, sorted((tmp_path / "tables").iterdir())),
    ]
    assert data.prepare_origin(wanted, data.raw_inputs(wanted)) == [
        "--source",
        f"{tmp_path}/tables#test",
    ]
    assert splits(tmp_path / "two") == ["train", "test"] and splits(study) == []
    for listed in ([], {}, {"splits": 7}):
        (tmp_path / "two" / "dataset_dict.json").write_text(json.dumps(listed))
        assert splits(tmp_path / "two") == []
    (tmp_path / "a#b.jsonl").write_text('{"text": "a", "triples": []}\n')
    assert len(read_corpus(tmp_path / "a#b.jsonl").sentences) == 1


def test_a_hub_data_set_is_loaded_at_its_revision(monkeypatch):
    import datasets

    def load_dataset(name, revision=None):
        assert (name, revision) == ("org/name", "v1")
        return to_dataset_dict({"test": SENTENCES})

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    assert read_corpus("hub:org/name@v1").sentences == SENTENCES
    monkeypatch.setattr(
        datasets, "load_dataset", lambda *a, **k: (_ for _ in ()).throw(OSError("offline"))
    )
    with pytest.raises(UserError, match="hub:org/name: the data set cannot be read: offline"):
        read_corpus("hub:org/name")


ROWS = [
    {
        "tokens": ["Ada", "Lund", "leads", "Harrow", "Steel", str(number)],
        "entities": [
            {"end": 2, "start": 0, "type": "Peop"},
            {"end": 5, "start": 3, "type": "Org"},
        ],
        "relations": [{"head": 0, "tail": 1, "type": "Work_For"}],
        "orig_id": number,
    }
    for number in range(20)
]


@pytest.fixture
def hub_folder(tmp_path, monkeypatch):
    """A copy of a repository of the hub with three splits, as ``push_to_hub`` writes them; it is
    read offline, and the cache of datasets is a folder of its own.
    """
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    for split, count in (("train", 20), ("dev", 2), ("test", 1)):
        file = tmp_path / "conll" / "data" / f"{split}-00000-of-00001.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        Dataset.from_list(ROWS[:count]).to_parquet(file)
    readme = "configs: [{config_name: default, data_files: [%s]}]"
    splits = ", ".join(f"{{split: {s}, path: data/{s}-*}}" for s in ("train", "dev", "test"))
    (tmp_path / "conll" / "README.md").write_text(f"---\n{readme % splits}\n---\n")
    return tmp_path / "conll"


def prepare(study, split, downloads):
    """Fetch and prepare a split as the rules of the workflow do, and return its sentences."""
    wanted = SimpleNamespace(corpus="conll", split=split, get=lambda name, default: default)
    paths = study.data.raw_inputs(wanted)
    for path in paths:
        folder, name = (
            path.removeprefix(f"{downloads}/datasets/").removesuffix(".parquet").split("/")
        )
        options = study.data.data_set(folder)
        assert main(["fetch", *options, "--split", name, "--out", path]) == 0
    out = downloads / f"{split}.jsonl"
    options = [*study.data.prepare_origin(wanted, paths), *study.data.prepare_options(wanted)]
    assert main(["prepare", *options, "--out", str(out)]) == 0
    return read_corpus(out).sentences


def test_a_corpus_of_the_hub_is_fetched_and_prepared(hub_folder, tmp_path):
    downloads = tmp_path / "downloads"
    config = {"study": "s", "extractors": {"casrel": {}}}
    hub = {"hub": str(hub_folder), "hub_splits": {"valid": "dev"}}
    study = Study({**config, "corpora": {"conll": hub}}, downloads=str(downloads))
    assert [len(prepare(study, split, downloads)) for split in ("train", "valid", "test")] == [
        20,
        2,
        1,
    ]
    (sentence,) = prepare(study, "test", downloads)
    assert sentence.text == "Ada Lund leads Harrow Steel 0"
    (triple,) = sentence.triples
    assert triple.strings == ("Ada Lund", "Work_For", "Harrow Steel")
    divided = {"hub": str(hub_folder), "hub_splits": {"valid": None}}
    study = Study({**config, "corpora": {"conll": divided}}, downloads=str(downloads))
    sizes = [len(prepare(study, split, downloads)) for split in ("train", "valid")]
    assert sum(sizes) == 20 and min(sizes) > 0


def test_a_corpus_of_the_hub_that_cannot_be_used_is_refused(hub_folder):
    config = {"study": "s", "extractors": {"casrel": {}}}

    def problems(corpus):
        with pytest.raises(UserError) as error:
            Study({**config, "corpora": {"conll": corpus}})
        return str(error.value)

    assert "corpora/conll/hub: source 'hub:a b': expected" in problems({"hub": "a b"})
    files = {"train": "a.jsonl", "test": "b.jsonl"}
    assert "corpora/conll/files: has no meaning together with 'hub'" in problems(
        {"hub": "org/name", "files": files}
    )
    assert "corpora/conll/registry: has no meaning together with 'hub'" in problems(
        {"hub": "org/name", "registry": "conll04"}
    )
    same = problems({"hub": "org/name", "hub_splits": {"test": "train"}})
    assert "corpora/conll/hub_splits: train and test sentences are one split (train)" in same
    with pytest.raises(
        UserError, match="there is no split 'validation', expected one of train, dev, test"
    ):
        fetch_split(str(hub_folder), None, "validation", hub_folder / "out.parquet")
    assert not (hub_folder / "out.parquet").exists()
