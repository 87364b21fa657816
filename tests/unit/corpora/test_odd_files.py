"""Files as tools export them: offsets in other units, gaps of an export, tables without a
header.
"""

import json

import pytest

from support.reading import lines, strings, table, write
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers import read_corpus

LEADS = ("Ada Lund", "leads", "Harrow Steel")


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def doccano(text: str, *names: str) -> dict:
    starts = [units(text[: text.index(name)]) for name in names]
    entities = [
        {"id": number, "label": "X", "start_offset": start, "end_offset": start + units(name)}
        for number, (start, name) in enumerate(zip(starts, names, strict=True))
    ]
    return {
        "id": 1,
        "text": text,
        "entities": entities,
        "relations": [{"from_id": 0, "to_id": 1, "type": "leads"}],
    }


def studio(text: str, named: bool, **relation) -> dict:
    values = [("a", "Ada Lund"), ("h", "Harrow Steel")]
    result: list[dict] = []
    for key, name in values:
        start = units(text[: text.index(name)])
        value = {
            "start": start,
            "end": start + units(name),
            "labels": ["X"],
            **({"text": name} if named else {}),
        }
        result.append({"id": key, "type": "labels", "value": value})
    result.append({"type": "relation", "from_id": "a", "to_id": "h", **relation})
    return {"id": 1, "data": {"text": text}, "annotations": [{"result": result}]}


@pytest.mark.parametrize(
    "text", ["🎉 Ada Lund leads Harrow Steel .", "🎉🎉 Ada Lund , 🎉 leads Harrow Steel"]
)
def test_offsets_in_units_of_utf16_are_converted_and_counted(text: str, tmp_path) -> None:
    files = {
        "doccano.jsonl": lines(doccano(text, "Ada Lund", "Harrow Steel")),
        "named.json": json.dumps([studio(text, True, labels=["leads"])]),
        "unnamed.json": json.dumps([studio(text, False, labels=["leads"])]),
    }
    for name, content in files.items():
        corpus = read_corpus(write(tmp_path, {name: content}))
        assert strings(corpus) == [[LEADS]]
        assert corpus.report.notes["utf16_offsets"] > 0
        assert not list(corpus.sentences[0].problems())


def test_offsets_in_characters_stay_where_they_fit(tmp_path) -> None:
    text = "🎉 Ada Lund leads Harrow Steel ."
    row = {"text": text, "triples": [{"subject": [2, 10], "relation": "leads", "object": [17, 29]}]}
    corpus = read_corpus(write(tmp_path, {"a.jsonl": lines(row)}))
    assert strings(corpus) == [[LEADS]]
    assert "utf16_offsets" not in corpus.report.notes


def test_a_relation_without_a_label_is_left_out_and_counted(tmp_path) -> None:
    text = "Ada Lund leads Harrow Steel"
    tasks = [
        studio(text, True, labels=["leads"]),
        studio(text, True),
        studio(text, True, labels=[]),
    ]
    corpus = read_corpus(write(tmp_path, {"a.json": json.dumps(tasks)}))
    assert strings(corpus) == [[LEADS], [], []]
    assert corpus.report.notes["unlabelled_relations"] == 2


def test_a_relation_to_an_event_is_left_out_and_counted(tmp_path) -> None:
    marks = "T1\tP 0 8\tAda Lund\nT2\tJ 9 15\tjoined\nT3\tO 16 28\tHarrow Steel\nE1\tJ:T2 Who:T1\n"
    links = "R1\temployer Arg1:T1 Arg2:T3\nR2\tdate Arg1:E1 Arg2:T3\n"
    corpus = read_corpus(
        write(tmp_path, {"a.ann": marks + links, "a.txt": "Ada Lund joined Harrow Steel\n"})
    )
    assert strings(corpus) == [[("Ada Lund", "employer", "Harrow Steel")]]
    assert corpus.report.notes["relations_to_events"] == 1


def test_check_reports_an_export_without_any_relation(tmp_path, capsys) -> None:
    annotated = doccano("Ada Lund leads Harrow Steel", "Ada Lund", "Harrow Steel")
    rows = [{**annotated, "relations": []}] * 3
    path = write(tmp_path, {"a.jsonl": lines(*rows)})
    main(["check", str(path)])
    assert "without-any-relation" in capsys.readouterr().out
    path = write(tmp_path, {"b.jsonl": lines(*rows, annotated)})
    main(["check", str(path)])
    assert "without-any-relation" not in capsys.readouterr().out


HEADERLESS = [
    ["Ada Lund leads Harrow Steel .", "leads", "Ada Lund", "Harrow Steel"],
    ["Ben Ode lives in Lima .", "lives in", "Ben Ode", "Lima"],
    ["Nothing happened .", "", "", ""],
]


@pytest.mark.parametrize("delimiter", ["\t", ","])
def test_a_table_without_a_header_is_read_by_the_numbers_of_its_columns(
    delimiter: str, tmp_path
) -> None:
    path = write(tmp_path, {"a.tsv": table(*HEADERLESS, delimiter=delimiter)})
    corpus = read_corpus(
        path, columns={"text": "0", "relation": "1", "subject": "2", "object": "3"}
    )
    assert strings(corpus) == [[LEADS], [("Ben Ode", "lives in", "Lima")], []]


def test_a_first_row_is_not_taken_for_a_header(tmp_path) -> None:
    path = write(tmp_path, {"a.tsv": table(*HEADERLESS, delimiter="\t")})
    columns = dict(zip(("text", "relation", "subject", "object"), HEADERLESS[0], strict=True))
    with pytest.raises(UserError, match="text=0"):
        read_corpus(path, columns=columns)


def test_the_text_of_a_task_may_have_any_name(tmp_path) -> None:
    task = studio("Ada Lund leads Harrow Steel", True, labels=["leads"])
    task["data"] = {"Full_Text": task["data"]["text"], "number": 4}
    assert strings(read_corpus(write(tmp_path, {"a.json": json.dumps([task])}))) == [[LEADS]]
