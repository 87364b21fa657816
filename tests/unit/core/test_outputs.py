"""Published files of a study: who may publish, and how changed files are noticed."""

import os
import subprocess
import sys

import pytest

from tripleaudit.cli import main
from tripleaudit.core import outputs, storage
from tripleaudit.core.errors import UserError
from tripleaudit.core.files import atomic_write, open_text, write_json
from tripleaudit.corpora.model import Sentence
from tripleaudit.scoring.scores import Score, keys_of, read_scores, write_scores


@pytest.fixture
def study(tmp_path, monkeypatch):
    folder = tmp_path / "results" / "small"
    monkeypatch.setenv("TRIPLEAUDIT_STUDY_FOLDER", str(folder))
    yield folder
    outputs.release_claims()


def in_another_process(code: str) -> None:
    command = [sys.executable, "-P", "-c", f"from tripleaudit.core import outputs; {code}"]
    subprocess.run(command, check=True)


def test_a_job_that_outlived_its_workflow_publishes_nothing(study):
    file = study / "predictions.jsonl"
    outputs.claim("predict x")
    in_another_process("outputs.claim('predict x')")  # the study was started again
    with pytest.raises(UserError, match="another job was started for this file meanwhile"):
        write_json(file, [])
    assert not file.exists()


def test_an_older_job_does_not_replace_the_file_of_a_later_one_that_has_ended(study):
    outputs.claim("predict x")
    in_another_process("outputs.claim('predict x'); outputs.release_claims()")
    with pytest.raises(UserError, match="another job was started"):
        write_json(study / "predictions.jsonl", [])


def test_an_older_job_with_the_same_settings_may_finish(study):
    outputs.claim("train x", "settings")
    in_another_process("outputs.claim('train x', 'settings')")
    in_another_process("outputs.claim('train y', 'other settings')")
    write_json(study / "model.json", {})
    assert (study / "model.json").is_file()


def test_jobs_of_two_tables_write_into_one_folder_side_by_side(study):
    """``snakemake --cores 2 type_f1 sifted`` runs a job for each."""
    outputs.claim_options("tables", {"out": "tables", "tables": {"type-f1": {}}})
    in_another_process(
        "outputs.claim_options('tables', {'out': 'tables', 'tables': {'sifted': {}}})"
    )
    write_json(study / "tables" / "type-f1.json", 1)
    in_another_process(
        "outputs.claim_options('tables', {'out': 'tables', 'tables': {'type-f1': {}}})"
    )
    with pytest.raises(UserError, match="another job was started for this file"):
        write_json(study / "tables" / "type-f1.json", 2)


def test_a_study_in_a_folder_that_cannot_be_written_claims_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TRIPLEAUDIT_STUDY_FOLDER", str(tmp_path / "file"))
    outputs.claim("train x")
    write_json(tmp_path / "a.json", {})


@pytest.mark.parametrize(
    ("damage", "state"),
    [
        (lambda data: data, "unchanged"),
        (lambda data: data[: len(data) // 2], "cut"),
        (lambda data: b"", "empty"),
        (lambda data: data.replace(b"1", b"2"), "changed"),
        (lambda data: data.partition(b"\n")[2], "cut"),
    ],
)
def test_a_file_that_changed_after_its_job_is_named(study, damage, state):
    file = study / "tables" / "table.csv"
    with atomic_write(file) as stream:
        stream.write("a,1\nb,1\n")
    file.write_bytes(damage(file.read_bytes()))
    os.utime(file, (1, 1))
    assert dict(outputs.verify(study)) == {"tables/table.csv": state}
    if state == "unchanged":
        with open_text(file) as stream:
            assert stream.read() == "a,1\nb,1\n"
    else:
        with (
            pytest.raises(
                UserError, match="table.csv: has changed since its job wrote it; delete the file"
            ),
            open_text(file),
        ):
            pass


def test_a_file_that_is_gone_is_named(study):
    write_json(study / "a.json", {})
    (study / "a.json").unlink()
    assert dict(outputs.verify(study)) == {"a.json": "missing"}


def test_checkpoints_and_files_outside_the_study_have_no_digests(study, tmp_path):
    write_json(study / "models" / "tiny" / "seed1" / "checkpoints" / "state.json", {})
    write_json(tmp_path / "other.json", {})
    assert dict(outputs.verify(study)) == {}


def test_files_of_a_corpus_with_the_name_checkpoints_have_digests(study):
    write_json(study / "corpora" / "checkpoints" / "test.json", {})
    assert dict(outputs.verify(study)) == {"corpora/checkpoints/test.json": "unchanged"}


def save_extractor(folder, encoder):
    from tripleaudit.extractors.casrel import CasRel
    from tripleaudit.testing import build_extractor

    build_extractor(CasRel, encoder).save_pretrained(folder)


def save_topics(folder, encoder):
    from tripleaudit.grescores.topics import train_topics

    train_topics(["Paris France capital", "Rome Italy capital"] * 3, 2, seed=0).save(folder)


def save_masked_lm(folder, encoder):
    from tripleaudit.protocols.augmented.train_mlm import train_masked_lm

    sentences = [Sentence(str(number), f"it rains today {number} .") for number in range(6)]
    train_masked_lm(encoder, sentences, folder, steps=1)


def load_extractor(folder):
    from tripleaudit.extractors.base import Extractor

    Extractor.from_pretrained(folder)


def load_topics(folder):
    from tripleaudit.grescores.topics import TopicModel

    TopicModel.load(folder)


def load_masked_lm(folder):
    from tripleaudit.protocols.augmented.masked_lm import MaskedLanguageModel

    MaskedLanguageModel(folder)


@pytest.mark.parametrize(
    ("save", "load"),
    [
        (save_extractor, load_extractor),
        (save_topics, load_topics),
        (save_masked_lm, load_masked_lm),
    ],
)
def test_weights_that_changed_after_their_job_are_not_loaded(
    study, tmp_path, tiny_encoder, save, load
):
    """The changed file is a whole one with finite numbers, so that only its digest tells."""
    from safetensors.numpy import load_file, save_file

    fresh, model = tmp_path / "fresh", study / "models" / "one"
    fresh.mkdir()
    model.mkdir(parents=True)
    save(fresh, tiny_encoder)
    storage.publish(fresh, model)
    load(model)
    (weights,) = model.glob("*.safetensors")
    numbers = load_file(weights)
    name = sorted(numbers)[0]
    save_file({**numbers, name: numbers[name] + 1}, weights, metadata={"format": "pt"})
    with pytest.raises(UserError, match=f"{weights.name}: has changed since its job wrote it"):
        load(model)


def test_models_can_be_read_by_colleagues(study, tmp_path):
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    weights = fresh / "model.safetensors"
    weights.touch(mode=0o600)
    study.mkdir(parents=True)
    umask = os.umask(0o022)
    try:
        storage.publish(fresh, study)
    finally:
        os.umask(umask)
    assert (study / "model.safetensors").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_results_and_their_digests_are_readable_as_the_umask_says(study, umask, mode):
    """A colleague who may read a result may also verify it."""
    before = os.umask(umask)
    try:
        write_json(study / "tables" / "a.json", {})
    finally:
        os.umask(before)
    files = [path for path in study.rglob("*") if path.is_file()]
    assert {path.name for path in files} == {"a.json", "a.json.json"}
    assert {path.stat().st_mode & 0o777 for path in files} == {mode}


@pytest.mark.parametrize(
    "step",
    [
        "score-run --gold {0} --predictions {0} --keys {{}} --out-scores {1}/s.csv --out-counts {1}/c.json",
        "predict-baseline --baseline memorise --train {0} --test {0} --out {1}/p.jsonl",
        "original-split --sentences {0} --setting wz --out {1}/o.jsonl",
    ],
)
def test_sets_without_sentences_are_refused(tmp_path, capsys, step):
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert main(step.format(empty, tmp_path).split()) == 1
    assert capsys.readouterr().err == f"error: {empty}: has no sentences; expected at least one\n"


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_scores_that_are_not_finite_are_refused(tmp_path, value):
    scores = tmp_path / "scores.csv"
    write_scores(scores, [Score(keys_of({"study": "s"}), "all", "exact", "f1", float(value))])
    with pytest.raises(UserError, match=r"scores.csv line 2: expected finite numbers"):
        read_scores(scores)


def test_digests_do_not_have_the_ending_of_the_files_that_they_are_of(study):
    """A search such as ``find -name '*.csv'`` finds every result once."""
    write_json(study / "tables" / "a.csv", [1])
    assert [path.name for path in study.rglob("*.csv")] == ["a.csv"]
    assert [name for name, _ in outputs.verify(study)] == ["tables/a.csv"]
