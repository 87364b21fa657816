"""`tripleaudit check`: what it sees in corpora with known faults, and the study that it writes."""

from pathlib import Path

import pytest
import yaml

from tripleaudit.cli import main
from tripleaudit.core.files import write_jsonl
from tripleaudit.testing import make_sentence
from tripleaudit.testing.sentences import structures

CLEAN = [
    {"text": f"{name} works for {firm} .", "triples": [[name, "employer", firm]]}
    for name in ("Ada Lund", "Ben Ode", "Cleo Ray", "Dan Moss", "Eva Hill")
    for firm in ("Harrow Steel and Iron", "Delta Foods of the North")
]


def write(path: Path, rows: list[dict]) -> str:
    write_jsonl(path, rows)
    return str(path)


def found(value: dict, file: int = 0) -> dict[str, dict]:
    return {finding["check"]: finding for finding in value["files"][file]["findings"]}


FAULTS = {
    "order-sor": (
        [{"text": r["text"], "triples": [[s, o, p] for s, p, o in r["triples"]]} for r in CLEAN], 10, "order=sor",
    ),
    "missing-case": ([*CLEAN, {"text": "ANN left Rome", "triples": [["Ann", "left", "Rome"]]}], 1, "'ANN'"),
    "missing-blanks": ([*CLEAN, {"text": "Ann left ( Rome )", "triples": [["Ann", "left", "(Rome)"]]}], 1, "(Rome)"),
    "missing-strings": (
        [*CLEAN, {"text": "Anna Lindt left Rome", "triples": [["Anna Lints", "left", "Rome"]]}],
        1, "nearest is 'Anna Lindt'",
    ),
    "not-words": (
        [*CLEAN, {"text": "Ann left `` Rome", "triples": [["``", "left", "Rome"], ["Ann", "left", "Rom"]]}],
        2, "cut inside a word 10: 'Rom' 10: '``'",
    ),
    "blanks": ([*CLEAN, {"text": "Ann left Rome", "triples": [["Ann ", "left", "Rome"]]}], 1, "'Ann '"),
    "spelling": (
        [*CLEAN, {"text": "Ann left Rome", "triples": [["Ann", "Employer", "Rome"]]}], 1, "Employer / employer",
    ),
    "repeated": ([*CLEAN, CLEAN[0] | {"text": CLEAN[0]["text"].upper()}], 1, "10 is like 0"),
    "near-repeated": ([*CLEAN, CLEAN[0] | {"text": f"{CLEAN[0]['text']} today"}], 1, "10 is like 0"),
    "contradictory-copies": ([*CLEAN, CLEAN[0] | {"triples": []}], 1, "10 and 0"),
    "renamed-ids": ([row | {"id": str(n // 2)} for n, row in enumerate(CLEAN)], 5, "#2"),
    "rare-relations": ([*CLEAN, {"text": "Ann left Rome", "triples": [["Ann", "left", "Rome"]]}], 1, "left (1)"),
    "several-relations": (
        [*CLEAN, {"text": "Ann left Rome", "triples": [["Ann", "employer", "Rome"], ["Ann", "left", "Rome"]]}],
        1, "employer, left",
    ),
    "loops": ([*CLEAN, {"text": "Ann left Rome", "triples": [["Ann", "left", "Ann"]]}], 1, "(Ann; left; Ann)"),
    "both-directions": (
        [*CLEAN, {"text": "Ann left Rome", "triples": [["Ann", "r", "Rome"], ["Rome", "r", "Ann"]]}], 1, "Ann – Rome",
    ),
    "nesting": (
        [*CLEAN, {"text": "Ann left New Rome", "triples": [["New Rome", "left", "Rome"]]}], 1, "'Rome' in 'New Rome'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_with_its_position(tmp_path: Path, told, name: str) -> None:
    rows, count, shown = FAULTS[name]
    finding = found(told("check", write(tmp_path / "a.jsonl", rows)))[name]
    assert finding["count"] == count
    assert shown in " ".join([finding["text"], *finding["examples"]])


def test_relations_that_training_lacks_are_named(tmp_path: Path, told) -> None:
    rows = {
        "train": CLEAN,
        "test": [CLEAN[0], {"text": "Ann left Rome", "triples": [["Ann", "left", "Rome"]]}],
    }
    value = told("check", *(write(tmp_path / f"{name}.jsonl", of) for name, of in rows.items()))
    assert found(value, 0) == {} and found(value, 1)["unknown-relations"]["examples"] == [
        "left (1)"
    ]


def test_the_written_study_can_run(tmp_path: Path, told, refused, capsys) -> None:
    rows = [
        {"satz": r["text"], "kanten": [{"von": s, "art": p, "nach": o} for s, p, o in r["triples"]]}
        for r in CLEAN
    ]
    files = [write(tmp_path / f"{name}.jsonl", rows) for name in ("train", "test")]
    mapping = ["--column", "text=satz,triples=kanten,subject=von,relation=art,object=nach"]
    study = tmp_path / "people.yaml"
    assert told("check", *files, *mapping, "--write", study)["study"] == str(study)
    value = yaml.safe_load(study.read_text())
    assert value["corpora"]["people"]["files"] == {"train": files[0], "test": files[1]}
    assert value["corpora"]["people"]["columns"]["text"] == "satz"
    assert main(["validate", str(study)]) == 0
    assert "people: this study can run" in capsys.readouterr().out
    assert "this file exists; --force replaces it" in refused(
        "check", *files, *mapping, "--write", study
    )
    assert main(["check", *files, *mapping, "--write", str(study), "--force"]) == 0


@pytest.mark.parametrize("name", ["gold", "test"])
def test_a_study_of_a_gold_set_alone_is_written(tmp_path: Path, told, name: str) -> None:
    path = write(tmp_path / f"{name}.jsonl", CLEAN)
    told("check", path, "--write", tmp_path / "which.yaml")
    value = yaml.safe_load((tmp_path / "which.yaml").read_text())
    corpus = value["corpora"]["which"]
    assert corpus["files"] == {"test": path} and corpus["relations"]
    value["systems"] = {"mine": {"predictions": path}}
    (tmp_path / "which.yaml").write_text(yaml.safe_dump(value))
    assert main(["validate", str(tmp_path / "which.yaml")]) == 0


def test_what_cannot_be_checked_is_one_sentence(tmp_path: Path, refused) -> None:
    path = write(tmp_path / "a.jsonl", CLEAN)
    train = write(tmp_path / "train.jsonl", CLEAN)
    written = refused("check", train, "--write", tmp_path / "s.yaml")
    assert "--write: a study needs a test set" in written
    assert "expected one file for each" in refused("check", path, path)
    assert "gone.jsonl: no such file" in refused("check", tmp_path / "gone.jsonl")


def test_gold_triples_that_extractors_cannot_represent_are_counted(
    tmp_path: Path, told, tiny_encoder
) -> None:
    """Of twelve triples ten have contradictory labels in CasRel's layout `subword`."""
    both_directions = make_sentence(
        "tim leads house .", ("tim", "C", "house"), ("house", "C", "tim")
    )
    rows = [
        {"text": each.text, "triples": [list(triple.strings) for triple in each.triples]}
        for each in [*structures(), both_directions]
    ]
    rows.append({"text": "it rains today .", "triples": [["nobody", "C", "today"]]})
    file = write(tmp_path / "a.jsonl", rows)
    (found,) = told("check", file, "--encoder", tiny_encoder)["files"]
    counts = {(each["extractor"], each["layout"]): each for each in found["unrepresentable"]}
    assert {each["triples"] for each in counts.values()} == {12}
    assert {each["without_tokens"] for each in counts.values()} == {1}
    contradictory = {key: each["contradictory"] for key, each in counts.items()}
    casrel = "CasRel", "CasRel (own subject weights)"
    assert [contradictory.pop((casrel[0], layout)) for layout in ("subword", "marker")] == [10, 4]
    assert contradictory.pop((casrel[0], "exclusive")) == 6  # rivals, both directions, adjacent
    assert contradictory.pop((casrel[1], "subword")) == 4  # rivals, both directions
    assert contradictory.pop(("TPLinker", "subword")) == 2  # both directions of one relation
    assert len(contradictory) == 8 and set(contradictory.values()) == {0}
    assert counts["OneRel", "marker"]["share"] == pytest.approx(1 / 12)


def test_words_that_an_extractor_cannot_divide_are_counted_as_not_writable(
    tmp_path: Path, told, tiny_encoder
) -> None:
    rows = [{"text": "tim leads cupertino .", "triples": [["tim", "C", "cup"]]}]
    (found,) = told("check", write(tmp_path / "a.jsonl", rows), "--encoder", tiny_encoder)["files"]
    counts = {each["extractor"]: each for each in found["unrepresentable"] if each["share"]}
    lost = [name for name, each in counts.items() if each["share"] == 1]
    assert sorted(lost) == ["CasRel", "OneRel", "PFN", "PtrNet"]  # CasRel with markers


def test_an_encoder_of_another_language_is_noticed(tmp_path: Path, told, tiny_encoder, capsys):
    rows = [{"text": "小明住在龘靐城", "triples": [["小明", "住在", "龘靐城"]]}]
    file = write(tmp_path / "a.jsonl", rows)
    (found,) = told("check", file, "--encoder", tiny_encoder)["files"]
    assert found["unknown_word_pieces"] > 0.5
    assert main(["check", file, "--encoder", str(tiny_encoder)]) == 0
    assert "unknown to this encoder ([UNK])" in capsys.readouterr().out


def test_counts_of_extractors_are_a_table_of_the_command(tmp_path: Path, tiny_encoder, capsys):
    rows = [{"text": "tim leads apple .", "triples": [["tim", "C", "apple"]]}]
    file = write(tmp_path / "a.jsonl", rows)
    assert main(["check", file, "--encoder", str(tiny_encoder)]) == 0
    printed = capsys.readouterr().out
    assert "Of 1 gold triples, what each extractor (layout) cannot represent" in printed
    lines = [line.split() for line in printed.splitlines()]
    assert ["CasRel", "(exclusive)", "0", "0", "0", "0.0"] in lines
    assert "gone: expected a local folder" in _refusal(file, tmp_path / "gone", capsys)


def _refusal(file: str, encoder: Path, capsys) -> str:
    assert main(["check", file, "--encoder", str(encoder)]) == 1
    return capsys.readouterr().err
