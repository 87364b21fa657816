"""The benchmark of extractors: its sentences, one small measurement, and the files with goals."""

import csv
import dataclasses

import pytest

from benchmarks import __main__ as main_module
from benchmarks.__main__ import missed, parsed, parts_at_hand, write
from benchmarks.speed import LEARNING_RATES, Measurement, Task, measure, renamed, settings_of, synthetic_sentences
from support.extractors import build
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.extractors.registry import extractor_class, extractor_names


def test_synthetic_sentences_are_shaped_like_webnlg(tiny_encoder):
    sentences = synthetic_sentences(build(CasRel, tiny_encoder), 300)
    words = sum(len(each.text.split()) for each in sentences) / 300
    triples = sum(len(each.triples) for each in sentences) / 300
    assert 18 < words < 28
    assert 2 < triples < 3
    for each in sentences:
        for triple in each.triples:
            assert each.text[triple.subject.start : triple.subject.end] == triple.subject.text
            assert triple.subject.end < triple.object.start or triple.object.end < triple.subject.start
    names = {triple.relation for each in renamed(sentences, ["a", "b", "c"]) for triple in each.triples}
    assert names == {"a", "b", "c"}


def test_measurement_of_both_phases(tiny_encoder):
    rows = measure(
        Task("casrel", 5, str(tiny_encoder), None, 3, 4, 2, rounds=2, warm_up=1, threads=1, gpu=False, goals=(0.0, 9e9))
    )
    assert [(row.phase, row.batch) for row in rows] == [("train", 3), ("predict", 4)]
    for row in rows:
        assert 0 < row.ratio_low <= row.ratio <= row.ratio_high
        assert row.sentences_per_second > 0
        assert row.peak_mb > 50
    assert rows[1].gold > 1
    assert sum(share for _, share in rows[0].shares) == pytest.approx(1)
    assert {"matrix products", "optimiser"} < {kind for kind, _ in rows[0].shares}
    assert rows[0].calls > 100
    assert not rows[1].shares


@pytest.mark.parametrize("name", extractor_names())
def test_steps_have_the_official_optimiser_and_clipping(name):
    settings, official = settings_of(extractor_class(name)), extractor_class(name).settings.training_defaults
    assert (settings.encoder_learning_rate, settings.head_learning_rate) == LEARNING_RATES
    for key in ("optimizer", "clip", "clip_norm"):
        assert getattr(settings, key) == official.get(key, getattr(settings, key))


def test_files_name_goals_and_what_misses_them(tmp_path):
    row = Measurement("birte", 216, "train", 6, 1.5, 1.4, 1.6, 20.0, 900.0)
    row = dataclasses.replace(
        row, shares=(("optimiser", 0.5), ("matrix products", 0.3), ("b", 0.1), ("c", 0.1)), calls=7
    )
    rows = [row, dataclasses.replace(row, phase="predict", ratio=1.2), dataclasses.replace(row, ratio=1.0, peak_mb=2e3)]
    assert missed(rows, gpu=False) == [
        "missed: birte, train, 216 relations: 1.5 times the encoder, goal 1.4; the encoder's own time is 67% of it; by "
        "operators: optimiser 50%, matrix products 30%, b 10% (7 operator calls for a batch)",
        "missed: birte, train, 216 relations: peak 2000 MB, goal 1600",
    ]
    write(rows, parsed(["--out", str(tmp_path)]), gpu=False)
    with open(tmp_path / "extractors.csv", newline="") as file:
        written = list(csv.DictReader(file))
    columns = "extractor relations phase batch ratio ratio_low ratio_high sentences_per_second peak_mb"
    assert " ".join(written[0]) == columns
    table = [line for line in (tmp_path / "extractors.md").read_text().splitlines() if line.startswith("| birte")]
    assert [line.split(" | ")[7] for line in table] == ["no", "yes", "no"]
    assert "- missed: birte, train, 216 relations: peak 2000 MB" in (tmp_path / "extractors.md").read_text()


def test_parts_run_on_their_own_and_failures_show(monkeypatch, capsys):
    assert {"extractors", "endpoint", "protocols"} <= set(parts_at_hand())
    monkeypatch.setattr(main_module, "holds", lambda part: print(part) or part != "endpoint")
    assert main_module.main(["--only", "protocols"]) == 0
    assert main_module.main(["--only", "protocols", "endpoint"]) == 1
    output = capsys.readouterr()
    assert output.out.split() == ["protocols", "protocols", "endpoint"]
    assert output.err == "failed: endpoint\n"


def test_bad_options():
    with pytest.raises(SystemExit):
        parsed(["--batches", "0"])
    with pytest.raises(SystemExit):
        parsed(["--extractor", "nothing"])
    with pytest.raises(SystemExit):
        parsed(["--only", "nothing"])
