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
