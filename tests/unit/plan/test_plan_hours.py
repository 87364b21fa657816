"""Hours of trainings still to do: from the nearest finished trainings, scaled by work, and honest about the rest."""

import json

import pytest

from tripleaudit.cli import main
from tripleaudit.files import write_json, write_jsonl
from tripleaudit.plan import hours as trainings
from tripleaudit.plan.study import Study

CORPORA = {name: {"files": {"train": "t.jsonl", "test": "u.jsonl"}} for name in ("c", "other")}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(trainings, "devices", lambda: None)
    for name in ("t.jsonl", "u.jsonl"):
        (tmp_path / name).write_text("{}\n")


def study(name="s", **changes):
    values = {"study": name, "corpora": {"c": CORPORA["c"]}, "extractors": {"casrel": {}}, "training": {"epochs": 4}}
    return Study({**values, **changes})


def done(plan, run, seconds, *, device="cpu", sentences=100):
    """Leave behind what a finished training leaves behind."""
    asked = json.loads(plan.trainings.training_json(run))
    full = {"epochs": 9, "max_steps": 0, "batch_size": 8, "accumulation": 1, **asked}
    training = {"settings": full, "counts": {"sentences": sentences}}
    training |= {"seconds": seconds * 0.8, "validation_seconds": seconds * 0.2}
    record = {"settings": asked, "device": device, "training": training}
    write_json(f"results/{plan.name}/models/{run.path}/provenance.json", record)


def hours(plan):
    return {entry.extractor: entry for entry in trainings.estimate(plan)}


def test_more_epochs_and_sentences_take_longer():
    before = study()
    done(before, before.runs[0], 3600)
    plan = study(training={"epochs": 8})  # so the one that is there is not what is asked for
    write_jsonl("results/s/protocols/c/original/nz/train.jsonl", [{"n": n} for n in range(300)])
    entry = hours(plan)["casrel"]
    assert (entry.to_do, entry.done) == (1, 0)
    assert entry.hours == pytest.approx(2 * 3)


def test_steps_count_where_they_are_fixed():
    before = study(training={"max_steps": 100})
    done(before, before.runs[0], 3600)
    entry = hours(study(training={"max_steps": 50, "batch_size": 16}))["casrel"]
    assert entry.hours == pytest.approx(1.0)  # half the steps of twice the batch


def test_other_studies_help_and_are_named():
    other = study("paper", corpora={"other": CORPORA["other"]})
    done(other, other.runs[0], 7200, device="NVIDIA A100", sentences=1000)
    entry = hours(study())["casrel"]
    assert entry.unit == "GPU-hours"
    assert entry.hours == pytest.approx(2)  # the size of the corpus is not known
    assert entry.source == "1 training of paper on NVIDIA A100, not scaled, as sizes are not known yet"
    assert hours(study(gpu=0))["casrel"].source == ""  # a GPU says nothing about the CPU
    assert hours(study(gpu=1))["casrel"].unit == "GPU-hours"


def test_a_job_with_a_part_of_a_gpu_takes_that_part_of_an_hour_as_snakemake_hands_them_out():
    for share in (1, 3):
        plan = study(seeds=[1, 2, 3, 4], gpu=1, gpu_share=share)
        done(plan, plan.runs[0], 3600, device="NVIDIA A100")
        entry = hours(plan)["casrel"]
        assert (entry.to_do, entry.hours) == (3, pytest.approx(3 / share))
    assert trainings.as_lines([entry])[-1] == "  3 trainings take about 1.00 GPU-hours, one after the other"


def test_trainings_of_the_study_itself_come_first():
    other = study("paper", seeds=[7])
    done(other, other.runs[0], 36000)
    plan = study(seeds=[1, 2], noising={})
    done(plan, next(run for run in plan.runs if run.noise == "none"), 360)
    done(plan, next(run for run in plan.runs if run.noise == "noising"), 720)
    entry = hours(plan)["casrel"]
    assert (entry.to_do, entry.done) == (2, 2)
    assert entry.hours == pytest.approx((360 + 720) / 3600)


def test_the_command_says_what_is_known_and_passes_over_broken_records(capsys):
    plan = study(seeds=[1, 2])
    done(plan, plan.runs[0], 360)
    write_json(f"results/x/models/{plan.runs[0].path}/provenance.json", {"settings": {}})
    config = {"study": "s", "corpora": {"c": CORPORA["c"]}, "training": {"epochs": 4}, "seeds": [1, 2]}
    assert main(["estimate", "--config", json.dumps({**config, "extractors": {"casrel": None, "grte": None}})]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "trainings",
        "  casrel  1 to do, 1 done; about 0.10 hours, from 1 training of s on the CPU, scaled by sentences and epochs",
        "  grte    2 to do, 0 done; nothing is known: no training of it stands in these results",
        "  1 training takes about 0.10 hours, one after the other",
    ]
    assert main(["estimate", "--config", "{"]) == 1
    assert "--config: not valid JSON" in capsys.readouterr().err
