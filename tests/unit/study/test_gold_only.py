"""Studies with a gold set alone, and what is found in a study's own files before anything runs."""

import json
from pathlib import Path

import pytest
import yaml

from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.study.study import Study

ENDPOINTS = {"endpoints": {"lm": {"base_url": "http://127.0.0.1:9", "model": "m"}}}
WITH = {"id": "a", "text": "Ann wrote Emma", "triples": [["Ann", "wrote", "Emma"]]}
WITHOUT = {"id": "b", "text": "It rains.", "triples": []}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Write a study of the corpus ``c`` with these files and sections; returns its path."""
    monkeypatch.chdir(tmp_path)

    def write(files: dict[str, list[dict]], corpus: dict | None = None, **sections) -> str:
        for split, rows in files.items():
            Path(f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        named = {split: f"{split}.jsonl" for split in files}
        config = {"study": "s", "corpora": {"c": {"files": named, **(corpus or {})}}, **sections}
        Path("study.yaml").write_text(yaml.safe_dump(config))
        return "study.yaml"

    return write


OPEN = {"systems": {"lm": {"endpoint": "lm", "setting": "open"}}, "generative": ENDPOINTS}


def test_a_gold_set_alone_is_a_study_of_systems_that_need_no_training(study, capsys) -> None:
    path = study({"test": [WITH]}, **OPEN)
    assert main(["validate", path]) == 0
    assert "this study can run" in capsys.readouterr().out
    found = Study.read(path)
    assert [row.train for row in found.runs.scores.values()] == [""]
    assert "type-f1" in found.report.possible and "triple-types" not in found.report.possible
    assert found.data.counts() == ["results/s/corpora/c/test.counts.json"]


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"extractors": {"casrel": None}}, "casrel need training sentences"),
        (
            {**OPEN, "protocols": {"original": None, "rearranged": None}},
            "the protocol rearranged needs training",
        ),
    ],
)
def test_what_needs_training_sentences_is_refused(study, sections, message) -> None:
    with pytest.raises(
        UserError, match=f"corpora/c/files: the key 'train' is missing; .*{message}"
    ):
        Study.read(study({"test": [WITH]}, **sections))


def test_empty_test_sentences_are_tested_unless_the_study_says_otherwise(study, capsys) -> None:
    assert Study.read(study({"test": [WITH, WITHOUT]}, **OPEN)).settings == ["wz"]
    assert Study.read(study({"test": [WITH]}, **OPEN)).settings == ["nz"]
    path = study({"test": [WITH, WITHOUT]}, settings=["nz"], **OPEN)
    assert Study.read(path).settings == ["nz"]
    assert main(["validate", path]) == 0
    assert "1 of 2 test sentences have no triples and are left out" in capsys.readouterr().out


def test_a_gold_set_that_is_too_large_to_read_early_keeps_all_sentences(study) -> None:
    long_text = WITH | {"text": f"Ann wrote Emma {'again ' * 900_000}"}
    assert Study.read(study({"test": [long_text, WITHOUT]}, **OPEN)).settings == ["wz"]


def test_the_setting_with_zero_triple_sentences_alone_needs_gold_sets_alone(study, capsys) -> None:
    path = study({"test": [WITH, WITHOUT]}, settings=["wz"], **OPEN)
    found = Study.read(path)
    assert [run.keys["testing"] for run in found.runs.scores.values()] == ["wz"]
    assert "type-f1" in found.report.possible and "end-to-end" not in found.report.possible
    files = {"train": [WITH, SECOND], "valid": [SECOND], "test": [WITH]}
    for sections in (OPEN, {"extractors": {"casrel": None}}):
        assert main(["validate", study(files, settings=["wz"], **sections)]) == 1
        error = capsys.readouterr().err
        assert "settings: wz alone is for test sets alone, but corpora/c has training" in error


def test_validate_offers_the_relations_that_a_closed_prompt_needs(study, capsys) -> None:
    closed = {"systems": {"lm": {"endpoint": "lm"}}, "generative": ENDPOINTS}
    assert main(["validate", study({"test": [WITH]}, **closed)]) == 1
    assert "list them under corpora/c/relations, such as {wrote: ''}" in capsys.readouterr().err
    assert main(["validate", study({"test": [WITH]}, {"relations": {"wrote": ""}}, **closed)]) == 0


def test_validate_finds_splits_that_would_be_empty(study, capsys) -> None:
    assert main(["validate", study({"train": [WITH], "test": [WITHOUT]}, **OPEN)]) == 1
    error = capsys.readouterr().err
    assert "corpora/c/files/train: split: part 'valid' of 1 sentences would be empty" in error
    assert "corpora/c/files/test: no sentence has a triple" in error


OTHER = {"id": "z", "text": "Bo sings", "triples": []}
SECOND = {"id": "c", "text": "Bo wrote Ode", "triples": [["Bo", "wrote", "Ode"]]}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([OTHER, OTHER | {"id": "y", "text": "Cy runs"}], "has 0 of the 2 sentences"),
        ([WITH], "has 1 of the 2 sentences of the test set; the first that is missing is 'c'"),
        ([{**WITH, "output": [["Ann", "wrote", "It"]]}, SECOND], "both 'triples' and 'output'"),
    ],
)
def test_validate_names_predictions_that_do_not_fit_the_test_set(
    rows, message, study, capsys
) -> None:
    Path("stored.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = study({"test": [WITH, SECOND]}, systems={"lm": {"predictions": "stored.jsonl"}})
    assert main(["validate", path]) == 1
    error = capsys.readouterr().err
    assert "systems/lm/predictions: " in error and message in error


def test_validate_accepts_predictions_of_the_test_set(study, capsys) -> None:
    rows = [SECOND, {**WITH, "triples": []}, OTHER]
    Path("stored.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = study({"test": [WITH, SECOND]}, systems={"lm": {"predictions": "stored.jsonl"}})
    assert main(["validate", path]) == 0


def test_validate_refuses_to_train_without_triples(study, capsys) -> None:
    files = {"train": [WITHOUT, OTHER], "valid": [OTHER], "test": [WITH]}
    assert main(["validate", study(files, extractors={"casrel": None})]) == 1
    error = capsys.readouterr().err
    assert "corpora/c/files/train: no sentence has a triple, so that casrel" in error


def test_validate_refuses_variants_of_no_test_sentence(study, capsys) -> None:
    files = {"train": [WITH, SECOND], "valid": [WITH], "test": [WITH]}
    protocols = {"original": None, "augmented": None}
    known = {"augmented": [{**WITH, "id": "a.su"}, {**WITH, "id": "a.uu"}]}
    assert main(["validate", study(files | known, protocols=protocols)]) == 0
    unknown = {"augmented": [{**WITH, "id": "q.su"}]}
    assert main(["validate", study(files | unknown, protocols=protocols)]) == 1
    error = capsys.readouterr().err
    assert "corpora/c/files/augmented" in error
    assert "'q.su' is a variant of no test sentence" in error


def test_validate_says_where_no_sentence_is_without_triples(study, capsys) -> None:
    files = {"train": [WITH, SECOND], "valid": [SECOND], "test": [WITH]}
    settings = ["nz", "wz"]
    assert main(["validate", study(files, settings=settings, extractors={"casrel": None})]) == 0
    assert "corpora/c: no sentence is without triples" in capsys.readouterr().out
    path = study(files, settings=settings, zcc={"binary": None})
    assert main(["validate", path]) == 1
    assert "every sentence has a triple, so that zcc-binary can learn" in capsys.readouterr().err
    files["train"] = [WITH, WITHOUT]
    path = study(files, settings=settings, zcc={"binary": None})
    assert main(["validate", path]) == 0
    assert "no sentence is without triples" not in capsys.readouterr().out


def test_a_classifier_is_no_extractor(study, capsys) -> None:
    files = {"train": [WITH, WITHOUT], "valid": [SECOND], "test": [WITH]}
    path = study(files, settings=["nz", "wz"], extractors={"zcc-binary": None})
    assert main(["validate", path]) == 1
    error = capsys.readouterr().err
    assert (
        "extractors/zcc-binary: is a classifier" in error
        and "'binary' under the key 'zcc'" in error
    )
