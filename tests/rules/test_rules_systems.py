"""Systems of a study, queried by Snakemake on sets that are there already."""

import os
import time

import pytest

from support.workflow import configure, jobs, ran

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("edited", "rule"), [("said", "predict_system"), ("texts", "prepare_corpus")]
)
def test_a_changed_file_inside_a_folder_makes_what_is_read_from_it_again(tmp_path, edited, rule):
    prepared = [
        f"corpora/own/{split}.{kind}"
        for split in ("train", "test")
        for kind in ("jsonl", "counts.json")
    ]
    sets = [f"protocols/own/original/nz/{split}.jsonl" for split in ("train", "test")]
    answers = [
        f"predictions/own/original-nz/stored/test.{kind}" for kind in ("jsonl", "report.json")
    ]
    made = [f"results/own/{name}" for name in (*prepared, *sets, *answers)]
    given = [
        "train.jsonl",
        *(f"{folder}/a.{kind}" for folder in ("said", "texts") for kind in ("txt", "ann")),
    ]
    for age, name in enumerate(
        [*reversed([*given, *made]), "said", "texts"], 100
    ):  # what is made is the younger
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix:
            path.write_text(
                '{"text": "It rains .", "triples": []}\n' if name.endswith("jsonl") else ""
            )
        os.utime(path, (time.time() - age, time.time() - age))
    files = {"train": "train.jsonl", "test": "texts"}
    config = {
        "study": "own",
        "corpora": {"own": {"files": files}},
        "systems": {"stored": {"predictions": "said"}},
    }
    configure(tmp_path, config)
    options = ("-n", "--quiet", "rules", "--rerun-triggers", "mtime", "--", *made)
    assert jobs(ran(tmp_path, *options)) == {}
    (tmp_path / edited / "a.ann").write_text("T1\tP 0 2\tIt\n")
    assert jobs(ran(tmp_path, *options))[rule] == 1
