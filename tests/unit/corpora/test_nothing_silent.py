"""What used to be read without a word: every case is read right, counted with examples, or
refused in one sentence.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import tripleaudit
from support.reading import lines, table, write
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.remarks import describe, remarks

TEXT = "Ada Lund leads Delta"
REGIONS = [("a", 0, 8, "Ada Lund"), ("b", 15, 20, "Delta")]


def regions(*places: tuple[str, int, int, str]) -> list[dict]:
    return [
        {"id": n, "value": {"start": s, "end": e, "text": t, "labels": ["P"]}}
        for n, s, e, t in places
    ]


def link(label: str = "leads") -> dict:
    return {"type": "relation", "from_id": "a", "to_id": "b", "labels": [label]}


def made(by: object = 1, label: str = "leads", **more) -> dict:
    return {"completed_by": by, "result": [*regions(*REGIONS), link(label)], **more}


def task(*annotations: dict, text: str = TEXT) -> dict:
    return {"id": 1, "data": {"text": text}, "annotations": list(annotations)}


def studio(*tasks: dict) -> dict[str, str]:
    return {"a.json": json.dumps(tasks)}


def cells(*found: list[str]) -> dict[str, str]:
    return {"a.csv": table(*found)}


def rows(*found: dict) -> dict[str, str]:
    return {"a.jsonl": lines(*found)}


def brat(text: str, *lines: str) -> dict[str, str]:
    return {"a.ann": "".join(f"{line}\n" for line in lines), "a.txt": text}


def said(subject: str, object_: str) -> dict:
    return {"text": TEXT, "triples": [[subject, "leads", object_]]}


def triple(**more: object) -> dict[str, str]:
    return rows(
        {
            "text": TEXT,
            "triples": [{"subject": "Ada Lund", "relation": "leads", "object": "Delta", **more}],
        }
    )


def archive(name: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as zipped:
        zipped.writestr(name, "x")
    return stream.getvalue()


HEAD = ["text", "subject", "relation", "object"]
GOOD = [TEXT, "Ada Lund", "leads", "Delta"]
PRODIGY = {
    "text": TEXT, "answer": "accept", "spans": [],
    "relations": [{"label": "leads", "head_span": {"start": 0, "end": 8}, "child_span": {"start": 15, "end": 20}}],
}  # fmt: skip
DOCRED = {
    "title": "1", "sents": [["Ada", "leads", "Delta"]], "labels": [{"h": 0, "t": 1, "r": "leads"}],
    "vertexSet": [[{"sent_id": 0, "pos": [0, 1]}], [{"sent_id": 0, "pos": [2, 3]}]],
}  # fmt: skip
DYGIE = {"doc_key": "d", "sentences": [["Ada", "leads", "Delta"], ["It", "rains"]]}
WORDS, PARTS = TEXT.split(), [{"text": "Delta"}, {"text": "since May"}]
T1, T2, R1 = "T1\tP 0 8\tAda Lund", "T2\tF 15 20\tDelta", "R1\tleads Arg1:T1 Arg2:T2"
ROW = {"text": TEXT, "triples": [["Ada Lund", "leads", "Delta"]]}
# name -> files, then (sentences, triples, counts of what was left out or changed) or what the
# refusal says
CASES: dict[str, tuple[dict, object]] = {
    "a skipped task": (studio(task(made()), task(made(was_cancelled=True))), (1, 1, {"skipped": 1})),
    "a task that waits": (studio(task(made()), task()), (1, 1, {"not_annotated": 1})),
    "nothing but such": (studio(task(), task(made(was_cancelled=True))), "no sentence is left, 1 text that nobody"),
    "two annotators": (studio(task(made(1, "wrong"), made(2))), (1, 1, {"several_annotators": 1})),
    "offsets of another text": (
        studio(task({"result": regions(("a", 1, 9, "Ada Lund"))})),
        r"the entity span \[1, 9\) reads 'da Lund ', but the file says 'Ada Lund' of it",
    ),
    "offsets in units of UTF-16": (
        studio(task({"result": regions(("a", 3, 11, "Ada Lund"))}, text=f"😀 {TEXT}")),
        (1, 0, {"utf16_offsets": 1, "without_any_relation": 1}),
    ),
    "brat, offsets of another text": (brat(TEXT, "T1\tP 1 9\tAda Lund"), "span 1 9 reads 'da Lund ', but the file"),
    "brat, an entity in pieces": (brat(TEXT, "T1\tP 0 3;9 14\tAda leads", T2, R1), (1, 0, {"in_pieces": 1})),
    "brat, a relation over lines": (brat("Ada Lund leads\nDelta", T1, T2, R1), (2, 0, {"relations_between_lines": 1})),
    "brat, a character that ends lines elsewhere": (brat("Ada Lund\x85leads Delta", T1, T2, R1), (1, 1, {})),
    "brat, a text saved with other line ends": (
        brat("It rains .\r\nAda", "T1\tP 11 14\tAda"), "span 11 14 reads '.nAd', but the file says 'Ada'",
    ),
    "brat, events and equivalences": (
        brat(TEXT, T1, T2, R1, "E1\tLead:T1 Who:T2", "*\tEquiv T1 T2"), (1, 1, {"no_relations": 2}),
    ),
    "a blind DocRED": (rows({**DOCRED, "labels": None}), "no sentence is left, 1 document has no relations"),
    "DocRED, partly without labels": (
        rows({key: value for key, value in DOCRED.items() if key != "labels"}, DOCRED), (1, 1, {"without_labels": 1}),
    ),
    "DyGIE, fewer lists than sentences": (
        rows({**DYGIE, "relations": [[]]}), "1 lists of 'relations' for 2 sentences; expected one for each",
    ),
    "DyGIE, fewer lists of entities": (
        rows({**DYGIE, "ner": [[], [], []], "relations": [[], []]}), "3 lists of 'ner' for 2 sentences",
    ),
    "rejected rows at the end": (
        rows(PRODIGY, {**PRODIGY, "answer": "reject"}, {**PRODIGY, "answer": "ignore"}),
        (1, 1, {"texts_not_accepted": 2}),
    ),
    "spans of Prodigy with another text": (
        rows({**PRODIGY, "spans": [{"start": 0, "end": 4, "text": "Ada Lund"}]}),
        "reads 'Ada ', but the file says 'Ada Lund'",
    ),
    "missing values": (cells(HEAD, GOOD, ["It rains", "nan", "NULL", "nan"]), (2, 1, {"missing_values": 1})),
    "a missing value": (cells(HEAD, GOOD, [TEXT, "Ada", "is", "<NA>"]), (1, 2, {"names_like_missing": 1})),
    "a missing relation": (cells(HEAD, [TEXT, "Ada", "nan", "Delta"]), (1, 1, {"names_like_missing": 1})),
    "null as a name": (rows(said("null", "Delta")), (1, 1, {"names_like_missing": 1})),
    "an empty entity": (rows(said("", "Delta")), (1, 1, {"empty_names": 1})),
    "a blank entity": (rows(said("Ada", "  ")), (1, 1, {"empty_names": 1})),
    "null for triples": (
        rows({"sentence": TEXT, "facts": ROW["triples"]}, {"sentence": "It rains", "facts": None}),
        (2, 1, {"null_triples": 1}),
    ),
    "triples that are not available": (cells(HEAD, GOOD, ["It rains", *["N/A"] * 3]), (2, 1, {"missing_values": 1})),
    "relations that say there is none": (
        cells(HEAD, *([TEXT, "Ada Lund", name, "Delta"] for name in ("no relation", "NONE", "leads"))),
        (1, 3, {"names_like_none": 2}),
    ),
    "a header again": (cells(HEAD, GOOD, HEAD, GOOD), "line 3: the header stands again, as where files were joined"),
    "UTF-8 as if it were another encoding": (
        cells(HEAD, GOOD, ["ZoÃ« rief", "ZoÃ«", "did", "rief"]), (2, 2, {"broken_characters": 1}),
    ),
    "characters that were lost": (rows({"text": "Zo\ufffd", "triples": []}), (1, 0, {"broken_characters": 1})),
    "a byte-order mark inside": (cells(HEAD, GOOD, ["\ufeffIt rains", "", "", ""]), (2, 1, {"broken_characters": 1})),
    "labels of no relation": (
        cells(HEAD, GOOD, *(["It rains", "It", label, "rains"] for label in ("NA", "no_relation"))),
        (2, 1, {"pairs_without_relation": 2}),
    ),
    "capital headers": (cells([name.upper() for name in HEAD], GOOD), (1, 1, {})),
    "ids twice": (rows({**ROW, "id": "a"}, {**ROW, "id": "a"}), (2, 2, {"renamed_ids": 1})),
    "no triples among the predictions": (
        {"a.json": json.dumps({TEXT: [["Ada", "leads", "Delta"], ["Ada", 1], []]})}, (1, 1, {"malformed": 2}),
    ),
    "tokens, ends that are the last one": (
        rows({"tokens": WORDS, "entities": [{"start": 0, "end": 1, "text": "Ada Lund"}], "relations": [[0, "is", 0]]}),
        (1, 1, {"other_names": 2}),
    ),
    "an id that no entity has": (
        rows({"text": TEXT, "entities": [{"id": 7, "text": "Ada Lund"}], "relations": [[7, "leads", 0]]}),
        "the object is 0, expected the 'id' of one of 1 entities",
    ),
    "an object with an empty name": (
        rows({"text": TEXT, "triples": [{"subject": "", "relation": "leads", "object": "Delta"}]}),
        'the subject of .* is "", expected a string',
    ),
    "an empty cell": (cells(HEAD, GOOD, [TEXT, "Ada Lund", "leads", ""]), 'the object of .* is "", expected a string'),
    "no relation in a span's triple": (
        rows({"text": TEXT, "triples": [{"subject": {"text": "Ada"}, "relation": "", "object": {"text": "Delta"}}]}),
        (1, 0, {"empty_relations": 1}),
    ),
    "an empty relation": (cells(HEAD, GOOD, ["It rains", "It", "", "rains"]), (2, 1, {"empty_relations": 1})),
    "triples under two names": (
        rows({"text": TEXT, "triples": [], "relations": ROW["triples"]}), (1, 0, {"other_lists": 1}),
    ),
    "texts without a character": (rows(ROW, {"text": " ", "triples": []}), (2, 1, {"empty_texts": 1})),
    "a relation that is a number": (rows({"text": TEXT, "triples": [["Ada", 3, "Delta"]]}), "the relation 3, expect"),
    "a triple with its score": (rows({"text": TEXT, "triples": [["Ada", "leads", "Delta", 0.9]]}), "expected a tri"),
    "a span that runs backwards": (
        rows({"text": TEXT, "triples": [{"subject": [8, 0], "relation": "leads", "object": "Delta"}]}),
        r"the subject span \[8, 0\) is outside the text",
    ),
    "offsets that count from 1": (
        rows({"text": TEXT, "triples": [{"subject": [1, 9], "relation": "leads", "object": [16, 20]}]}),
        (1, 1, {"cut_names": 2}),
    ),
    "ends that are the last character": (
        rows({"text": TEXT, "triples": [{"subject": [0, 7], "relation": "is", "object": [15, n]} for n in (19, 20)]}),
        (1, 2, {"cut_names": 3}),
    ),
    "half of the names cut inside a word": (
        rows({"text": TEXT, "triples": [{"subject": [0, 7], "relation": "leads", "object": [15, 20]}]}), (1, 1, {}),
    ),
    "offsets of characters in a list of tokens": (
        rows({"tokens": WORDS, "triples": [{"subject": [0, 8], "relation": "leads", "object": [15, 20]}]}),
        r"the subject span \[0, 8\) is outside the text of 4 tokens",
    ),
    "DocRED, a mention beyond its sentence": (
        rows({**DOCRED, "sents": [["Ada", "leads"], ["Delta"]]}),
        r"the span \[2, 3\) is outside sentence 0 of 2 tokens",
    ),
    "DyGIE without relations": (rows(DYGIE), "no sentence is left, 1 document has no relations"),
    "brat, a negation": (brat(TEXT, T1, T2, R1, "A1\tNegated R1"), (1, 1, {"attributes": 1})),
    "brat, a negation of older versions": (brat(TEXT, T1, T2, R1, "M1\tNegation R1"), (1, 1, {"attributes": 1})),
    "doccano, nothing annotated": (
        rows({"text": TEXT, "entities": [], "relations": []}), (1, 0, {"empty_annotations": 1}),
    ),
    "Prodigy, a text of two people": (
        rows({**PRODIGY, "_session_id": "ann"}, {**PRODIGY, "_session_id": "bob"}), (1, 1, {"several_annotators": 1}),
    ),
    "DocRED, another name than its tokens": (
        rows({**DOCRED, "vertexSet": [[{"sent_id": 0, "pos": [0, 1], "name": "Bo"}], DOCRED["vertexSet"][1]]}),
        (1, 1, {"other_names": 1}),
    ),
    "brat, nothing annotated": (brat(TEXT), (1, 0, {"empty_annotations": 1})),
    "LangExtract, half a relation": (
        rows({"text": TEXT, "extractions": [{"extraction_class": "leads", "attributes": {"subject": "Ada"}}]}),
        (1, 0, {"no_object": 1}),
    ),
    "LangExtract, other attributes": (
        rows({"text": TEXT, "extractions": [{"extraction_class": "leads", "attributes": {"who": "Ada", "to": "D"}}]}),
        (1, 0, {"other_attributes": 1}),
    ),
    "DuIE, further objects": (
        rows({"text": TEXT, "spo_list": [{"subject": "Ada", "predicate": "is", "object": {"@value": "x", "y": ""}}]}),
        (1, 1, {"further_objects": 1}),
    ),
    "REBEL without its marks": (
        rows({"text": TEXT, "triplets": "<triplet>"}, {"text": TEXT, "triplets": "Ada Lund Delta leads"}),
        (2, 0, {"outside_marks": 1}),
    ),
    "rows of two splits": (
        cells([*HEAD, "split"], [*GOOD, "train"], ["It rains", "", "", "", "test"], ["It", "", "", "", "train"]),
        (3, 1, {"other_splits": 1}),
    ),
    "rows of one split": (cells([*HEAD, "split"], [*GOOD, "train"], ["It rains", "", "", "", "train"]), (2, 1, {})),
    "a triple with qualifiers": (triple(qualifiers={"since": "1999"}), (1, 1, {"attributes": 1})),
    "a row that failed": (rows(ROW, {"text": "It", "triples": [], "error": "timeout"}), (2, 1, {"failed_rows": 1})),
    "a rejected row": (rows({**ROW, "answer": "reject"}, {**ROW, "answer": "accept"}), (2, 2, {"failed_rows": 1})),
    "predictions next to the gold": (rows({**ROW, "predicted": []}), (1, 1, {"predictions_beside": 1})),
    "gold next to the predictions": (rows({**ROW, "gold": ROW["triples"]}), (1, 1, {"second_lists": 1})),
    "marks of entities": (
        rows({"text": "<e1>Ada Lund</e1> leads <e2>Delta</e2>", "triples": ROW["triples"]}), (1, 1, {"marks": 1}),
    ),
    "Excel": ({"a.xlsx": archive("xl/workbook.xml")}, "this is a table of Excel; save it as CSV"),
    "an old Excel": ({"a.xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest"}, "this is a table of Excel; save"),
    "an archive": ({"a.zip": archive("data.jsonl")}, "this is an archive; unpack it"), 
    "a broken archive": ({"a.zip": archive("x").replace(b"PK\x01", b"PK\x07")}, "this is an archive; unpack it"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_left_out_or_changed_without_a_word(tmp_path, caplog, case):
    files, expected = CASES[case]
    path = write(tmp_path, files)
    if isinstance(expected, str):
        with pytest.raises(UserError, match=expected):
            read_corpus(path)
        return
    sentences, triples, counts = expected
    corpus = read_corpus(path)
    found = remarks(corpus.report)
    assert (corpus.report.sentences, corpus.report.triples) == (sentences, triples)
    assert {kind: count for kind, (count, _) in found.items()} == counts
    assert len({sentence.id for sentence in corpus.sentences}) == sentences
    said = [record.getMessage() for record in caplog.records]
    assert said == [f"{path}: {text}" for _, text in found.values()]
    for kind, (count, text) in found.items():
        assert text.startswith(describe(kind, count))
        assert ", such as " in text
        assert len(corpus.report.examples.get(kind, ())) <= 2


def test_a_text_without_annotations_next_to_others_is_no_sentence(tmp_path):
    pair = brat(TEXT, T1, T2, R1)
    write(
        tmp_path,
        {
            **pair,
            "b.txt": "It rains .",
            **{f"more/{name}": content for name, content in pair.items()},
        },
    )
    report = read_corpus(tmp_path).report
    assert (report.sentences, report.notes) == (1, {"folders": 1, "not_annotated": 1})


def test_relationships_without_a_text_unit_are_counted(tmp_path):
    edges = "source,target,description,text_unit_ids\nADA,DELTA,leads,[]\nADA,DELTA,runs,['u1']\n"
    write(tmp_path, {"text_units.csv": f"id,text\nu1,{TEXT}\n", "relationships.csv": edges})
    corpus = read_corpus(tmp_path)
    assert (corpus.report.triples, remarks(corpus.report)["unknown_units"][0]) == (1, 1)


def test_an_annotator_is_chosen_by_name(tmp_path, capsys):
    people = {"id": 7, "email": "ann@example.org"}
    path = write(
        tmp_path,
        studio(task(made(1, "wrong"), made(people), made(people, "old")), task(made(1, "wrong"))),
    )
    corpus = read_corpus(path, columns={"annotator": "ann@example.org"})
    assert [triple.relation for sentence in corpus.sentences for triple in sentence.triples] == [
        "leads"
    ]
    assert {kind: count for kind, (count, _) in remarks(corpus.report).items()} == {
        "other_annotators": 1,
        "several_annotators": 1,
    }
    said = write(
        tmp_path,
        rows({**PRODIGY, "_session_id": "ann"}, *[{**PRODIGY, "_annotator_id": "bob"}] * 2),
    )
    assert read_corpus(said, columns={"annotator": "bob"}).report.notes == {"other_annotators": 1}
    assert main(["check", str(path), "--column", "annotator=9"]) == 1
    assert (
        "no sentence is left, 2 texts are not annotated by the chosen annotator"
        in capsys.readouterr().err
    )
    with pytest.raises(UserError, match="format label-studio says itself what the text is"):
        read_corpus(path, format="label-studio", columns={"text": "data"})


@pytest.mark.parametrize("command", ["score", "audit", "check", "prepare", "compare", "relations"])
def test_every_command_says_what_was_left_out(tmp_path, capsys, caplog, command):
    (tmp_path / "train.jsonl").write_text(lines(ROW, said("nan", "x")))
    train, other = (str(tmp_path / name) for name in ("train.jsonl", "other.jsonl"))
    Path(other).write_text(Path(train).read_text())
    arguments = {
        "check": [train],
        "prepare": ["--source", train, "--out", str(tmp_path / "out.jsonl")],
        "compare": [train, other, train],
    }.get(command, [train, other])
    assert main([command, *arguments]) == 0
    printed = "".join([*capsys.readouterr(), caplog.text])
    sentence = "1 triple has a name like nan or NULL, as tables write a missing value; it is read as a name, such as "
    assert sentence in printed
    if command == "score":  # what pytest catches goes to standard error
        shell = [sys.executable, "-m", "tripleaudit", command, *arguments, "--json"]
        done = subprocess.run(shell, capture_output=True, text=True, check=True)
        assert sentence in done.stderr and json.loads(done.stdout)["sentences"] == 2


@pytest.mark.parametrize("again", ["{0}", "{1}/./train.jsonl", "{1}/link.jsonl"])
def test_a_file_given_twice_is_refused(tmp_path, capsys, caplog, again):
    path = tmp_path / "train.jsonl"
    path.write_text(lines(ROW))
    os.symlink(path, tmp_path / "link.jsonl")
    other = again.format(path, tmp_path)
    with pytest.raises(UserError, match="given twice"):
        read_corpus([path, other])
    assert (
        main(
            [
                "prepare",
                "--source",
                str(path),
                "--source",
                other,
                "--out",
                str(tmp_path / "o.jsonl"),
            ]
        )
        == 1
    )
    assert "given twice" in capsys.readouterr().err
    shutil.copy(path, tmp_path / "copy.jsonl")
    with pytest.raises(UserError, match="copy.jsonl: a copy of .*train.jsonl, given before"):
        read_corpus([path, tmp_path / "copy.jsonl"])
    assert main(["score", str(path), str(tmp_path / "copy.jsonl"), "--bootstrap", "0"]) == 0
    assert "the same file as the gold" in caplog.text


def test_more_resamples_than_change_a_digit_are_refused(tmp_path, capsys):
    path = str(write(tmp_path, rows(*(dict(ROW, id=n) for n in range(20)))))
    for command, option in (
        ("score", "--bootstrap"),
        ("compare", "--bootstrap"),
        ("compare", "--shuffles"),
    ):
        with pytest.raises(SystemExit):
            main([command, *[path] * (2 if command == "score" else 3), option, "20000000"])
        assert "and at most 100000" in capsys.readouterr().err
    with pytest.raises(
        UserError, match="bootstrap: 20000000 resamples; expected at most 100000, beyond which"
    ):
        tripleaudit.score(path, path, bootstrap=20_000_000)
