"""Times of trainings: the measurements equal their sources, and estimates are scaled from them."""

import json
import os
import re
from pathlib import Path

import pytest
import yaml

from support.workflow import ROOT as PROJECT
from tripleaudit.cli import main
from tripleaudit.study.training_times import RUN_TIMES, measurements

MARK = "<!-- run times: made from workflow/lib/tripleaudit/data/run_times.yaml; a test compares the two -->"
END = "<!-- end of run times -->"
CONLL04 = {"nz": 922, "wz": 922 + 2607}  # training sentences, resources/results/conll04.md


def rows(kind: str) -> dict[tuple, float]:
    """Return the seconds of one kind of measurement."""
    return {
        (row.extractor, row.encoder, row.layers, row.batch_size, row.setting): row.seconds
        for row in measurements()
        if row.kind == kind
    }


def table(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the rows below a heading row of a page."""
    lines = (PROJECT / page).read_text().split("\n")
    begin = next(number for number, line in enumerate(lines) if line.startswith(heading))
    cells = []
    for line in lines[begin + 2 :]:
        if not line.startswith("|"):
            break
        cells.append([cell.strip() for cell in line.strip("|").split("|")])
    return cells


def test_steps_equal_the_rates_of_the_page_on_speed() -> None:
    expected = {}
    for extractor, batches, *_, rates, _ in table(
        "docs/explanation/speed.md", "| extractor | batch | captured"
    ):
        for batch, rate in zip(batches.split("/"), rates.split("/"), strict=True):
            seconds = round(1000 / float(rate.replace(",", "")), 3)
            expected[extractor, "minilm", 6, int(batch), None] = seconds
    assert rows("steps") == expected


def test_whole_trainings_equal_their_provenance() -> None:
    expected = {}
    for file in (PROJECT / "resources/trainings/webnlg").glob("*/provenance.json"):
        fact = json.loads(file.read_text())
        if "noising" in fact["settings"]:
            continue
        training, encoder = fact["training"], fact["encoder"]
        seconds = round(1000 * training["seconds_per_epoch"] / training["counts"]["sentences"], 3)
        batch = training["settings"]["batch_size"]
        expected[fact["extractor"], encoder["name"], encoder["layers"], batch, None] = seconds
    assert rows("shared") == expected


def test_times_on_cpus_equal_the_pages_on_conll04() -> None:
    expected = {}
    for name, nz, wz, _ in table(
        "resources/results/conll04.md",
        "| Model | CoNLL04<br>NZ | CoNLL04<br>WZ | CoNLL04<br>WZ / NZ",
    ):
        if name in ("CasRel", "BiRTE"):
            for setting, cell in (("nz", nz), ("wz", wz)):
                minutes = float(cell.split(" ")[0])
                expected[name.lower(), "minilm", 2, 8, setting] = (
                    minutes * 60_000 / CONLL04[setting]
                )
    others = {}
    text = (PROJECT / "docs/explanation/speed.md").read_text()
    for name, nz, wz in re.findall(
        r"(\w+) ([\d.]+) / ([\d.]+)[,|\s]", text[text.index("CoNLL04 on two layers") :]
    ):
        for setting, minutes in (("nz", nz), ("wz", wz)):
            others[name.lower(), "minilm", 2, None, setting] = (
                float(minutes) * 60_000 / CONLL04[setting]
            )
    for name, key in (("ZCC binary", "zcc-binary"), ("ZCC MCML", "zcc-mcml")):
        (row,) = (
            row
            for row in table("resources/results/conll04.md", "| Training set | System")
            if row[1] == name
        )
        epochs, minutes = float(row[3]), float(row[12])
        expected[key, "minilm", 2, 16, "wz"] = minutes * 60_000 / epochs / CONLL04["wz"]
    assert rows("conll04") == pytest.approx(expected, abs=0.051)
    assert rows("conll04-speed") == pytest.approx(others, abs=0.051)


def test_the_page_has_the_measurements() -> None:
    on_cpu = [row for row in measurements() if "CPU" in row.device]
    on_gpu = [row for row in measurements() if "CPU" not in row.device]
    settings = {"nz": "with triples", "wz": "all"}
    lines = [
        "### On a GPU", "",
        "| extractor | encoder | layers | device | batch | seconds | measured |",
        "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for row in on_gpu:
        lines.append(
            f"| {row.extractor} | {row.encoder} | {row.layers} | {row.device} | {row.batch_size} "
            f"| {row.seconds:g} | {row.note} |"
        )
    lines += [
        "", "### On a CPU", "",
        "| extractor | encoder | layers | device | batch | sentences | seconds | measured |",
        "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for row in on_cpu:
        lines.append(
            f"| {row.extractor} | {row.encoder} | {row.layers} | {row.device} "
            f"| {row.batch_size or 'not recorded'} | {settings[row.setting]} | {row.seconds:g} | {row.note} |"
        )
    page = PROJECT / "docs/reference/run-times.md"
    before, rest = page.read_text().split(MARK)
    _, after = rest.split(END)
    expected = "\n".join([f"{before}{MARK}", *lines, f"{END}{after}"])
    if os.environ.get("TRIPLEAUDIT_KEEP"):
        page.write_text(expected)
    assert page.read_text() == expected


def study(folder: Path, **sections: object) -> str:
    """Write a study of ten training sentences and return its file."""
    row = {"text": "Ada leads Acme", "triples": [["Ada", "leads", "Acme"]]}
    for split, count in (("train", 10), ("valid", 2), ("test", 2)):
        lines = (json.dumps({"id": f"{split}{number}", **row}) for number in range(count))
        (folder / f"{split}.jsonl").write_text("\n".join(lines))
    files = {split: str(folder / f"{split}.jsonl") for split in ("train", "valid", "test")}
    content = {"study": "s", "corpora": {"own": {"files": files}}, "settings": ["nz"], **sections}
    (folder / "study.yaml").write_text(yaml.safe_dump(content))
    return str(folder / "study.yaml")


def test_an_estimate_is_scaled_by_sentences_epochs_and_seeds(tmp_path, capsys) -> None:
    sections = {
        "encoder": {"model": "minilm", "layers": 2},
        "extractors": {"casrel": {"epochs": 360, "patience": 0}, "unirel": None},
        "seeds": [1, 2, 3],
    }
    file = study(tmp_path, **sections)
    assert main(["estimate", file, "--json"]) == 0
    casrel, unirel = json.loads(capsys.readouterr().out)["trainings"]
    assert (casrel["extractor"], casrel["sentences"], casrel["seeds"], casrel["epochs"]) == (
        "casrel",
        10,
        3,
        1080,
    )
    by_device = {
        (one["device"], one["measured"]["conditions"][:16]): one for one in casrel["estimates"]
    }
    on_cpu = by_device["one CPU core (x86-64, 2.6 GHz)", "minilm, 2 layers"]
    seconds = rows("conll04")["casrel", "minilm", 2, 8, "nz"]
    assert on_cpu["hours"] == pytest.approx(seconds * 10 / 1000 * 1080 / 3600)
    assert unirel["estimates"] == []
    assert main(["estimate", file, "--all"]) == 0
    text = capsys.readouterr().out
    assert "casrel on own, original-nz, 3 seeds" in text and "2 minutes on one CPU core" in text
    assert "never measured: unirel" in text


def test_an_encoder_without_a_measurement_is_named(tmp_path, capsys) -> None:
    file = study(tmp_path, encoder={"model": "bert-base-cased"}, extractors={"casrel": None})
    assert main(["estimate", file]) == 0
    assert "not measured with bert-base-cased" in capsys.readouterr().out


@pytest.mark.parametrize("layers", [{"layers": 6}, {}])
def test_an_encoder_with_more_layers_than_measured_is_said_to_take_longer(
    tmp_path, capsys, layers
) -> None:
    file = study(tmp_path, encoder={"model": "minilm", **layers}, extractors={"casrel": None})
    assert main(["estimate", file]) == 0
    text = capsys.readouterr().out
    assert (
        "one CPU core (x86-64, 2.6 GHz): not measured with 6 layers, which may take about 3.0 times"
        in text
    )
    assert "NVIDIA H100: not measured" not in text


def test_every_row_is_complete() -> None:
    content = yaml.safe_load(RUN_TIMES.read_text())
    assert {row[-1] for row in content["rows"]} == set(content["measurements"])
    assert all(row.seconds > 0 for row in measurements())


def summary(text: str) -> dict[str, list[str]]:
    """Return the cells of a summary by the label of the row."""
    rows = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
    return {row[0]: row[1:] for row in rows}


def test_a_summary_has_a_row_for_each_extractor_and_a_total_for_each_device(
    tmp_path, capsys
) -> None:
    sections = {
        "encoder": {"model": "minilm", "layers": 6},
        "extractors": {"casrel": {"epochs": 36_000, "patience": 0}, "grte": {"epochs": 36_000}},
        "seeds": [1, 2],
    }
    file = study(tmp_path, **sections)
    assert main(["estimate", file]) == 0
    text = capsys.readouterr().out
    shared = rows("shared")["casrel", "minilm", 6, 64, None] * 10 / 1000 * 72_000 / 3600
    cells = summary(text)
    header, casrel, grte, total = (cells[name] for name in ("trainings", "casrel", "grte", "total"))
    assert header[0] == "NVIDIA H100"
    assert casrel[:2] == ["2", f"{60 * shared:.0f} minutes"]  # whole trainings, not their steps
    assert grte[1].startswith("> ") and total[0] == "4" and total[1].startswith("> ")
    assert "--all" in text


def test_where_no_number_of_sentences_is_known_totals_are_rates(tmp_path, capsys) -> None:
    file = Path(study(tmp_path, extractors={"casrel": None}))
    content = yaml.safe_load(file.read_text())
    files = content["corpora"]["own"]["files"]
    for split in ("train", "valid", "test"):
        table = tmp_path / f"{split}.csv"
        table.write_text("text,subject,relation,object\nAda leads Acme,Ada,leads,Acme\n")
        files[split] = str(table)
    file.write_text(yaml.safe_dump(content))
    assert main(["estimate", str(file)]) == 0
    text = capsys.readouterr().out
    assert "for each 1,000 training sentences" in text and "total" in summary(text)


def test_a_corpus_of_some_relations_has_at_most_the_sentences_of_the_whole(capsys) -> None:
    assert main(["estimate", "webnlg-ten", "--json"]) == 0
    times = json.loads(capsys.readouterr().out)["trainings"]
    assert {(time["sentences"], time["at_most"]) for time in times} == {(5019, True)}
    for name in ("webnlg-ten", "webnlg"):
        assert main(["estimate", name]) == 0
        text = capsys.readouterr().out
        assert "upper limits" in text and "total" in summary(text) and text.count("\n") < 40
