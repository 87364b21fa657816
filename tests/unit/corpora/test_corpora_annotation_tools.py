"""brat, Prodigy, doccano, Label Studio and IOB: what the samples of docs/formats.md do not show."""

import json

import pytest

from tripleaudit.corpora.readers import read_corpus
from tripleaudit.errors import UserError

ANN = "T1\tP 0 3\tAda\nT2\tF 10 16\tDe fta\nT3\tL 22 26\tOslo\nR1\tleads Arg1:T1 Arg2:T2\nR2\tin Arg1:T2 Arg2:T3\n"
TEXT = "Ada leads De fta .\nIn Oslo .\n"
PRODIGY = {
    "text": "Ada leads Delta",
    "tokens": [{"start": 0, "end": 3}, {"start": 4, "end": 9}, {"start": 10, "end": 15}],
    "spans": [{"start": 0, "end": 3, "token_end": 0}],
    "relations": [{"head": 0, "child": 2, "label": "leads"}],
    "answer": "accept",
}
REGIONS = [
    {"id": "a", "value": {"start": 0, "end": 3, "labels": ["P"]}},
    {"id": "b", "value": {"start": 10, "end": 15, "labels": ["F"]}},
]
LINK = {"type": "relation", "from_id": "a", "to_id": "b", "labels": ["leads"]}
DOCCANO = {
    "id": 1, "text": "Ada leads Delta",
    "entities": [{"id": 7, "start_offset": 0, "end_offset": 3}, {"id": 8, "start_offset": 10, "end_offset": 15}],
    "relations": [{"from_id": 7, "to_id": 8, "type": "leads"}],
}  # fmt: skip
IOB = "#doc 1\n0\tAda\tB-P\t['leads']\t[2]\n1\tleads\tO\t['N']\t[1]\n2\tDelta\tB-F\t['N']\t[2]\n"


def task(*links, **more):
    return [{"id": 1, "data": {"text": "Ada leads Delta"}, "annotations": [{"result": [*REGIONS, *links]} | more]}]


def write(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def brat(tmp_path, ann=ANN):
    write(tmp_path / "a.txt", TEXT)
    return write(tmp_path / "a.ann", ann)


def strings(corpus):
    return [[triple.strings for triple in sentence.triples] for sentence in corpus.sentences]


def test_relations_between_lines_are_counted(tmp_path):
    path = brat(tmp_path)
    for place in (path, tmp_path, tmp_path / "a.txt"):
        corpus = read_corpus(place)
        assert corpus.report.format == "brat"
        assert strings(corpus) == [[("Ada", "leads", "De fta")], []]
        assert corpus.report.notes == {"relations_between_lines": 1}


def test_directions_and_cancelled_annotations(tmp_path):
    for direction, expected in (
        ("right", [("Ada", "leads", "Delta")]),
        ("left", [("Delta", "leads", "Ada")]),
        ("bi", [("Ada", "leads", "Delta"), ("Delta", "leads", "Ada")]),
    ):
        path = write(tmp_path / "a.json", task(LINK | {"direction": direction}))
        assert strings(read_corpus(path)) == [expected]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([PRODIGY | {"relations": [{"head": 0, "child": 9, "label": "x"}]}], "neither child_span nor a span that ends"),
        (
            [PRODIGY | {"relations": [{"head": 0, "child_span": {"start": 9, "end": 99}, "label": "x"}]}],
            r"the object span \[9, 99\) is outside",
        ),
        (task(LINK | {"to_id": "c"}), "'to_id' is \"c\", expected the 'id' of one of 2 entities"),
        (task(LINK | {"labels": []}), "from 'a' to 'b' has no label"),
        (
            [DOCCANO | {"relations": [{"from_id": 7, "to_id": 9, "type": "x"}]}],
            "'to_id' is 9, expected the 'id' of one of 2 entities",
        ),
        (IOB.replace("[2]\n1", "[1]\n1"), "leads leads from token 0 to 1, expected ends of entities"),
        *(
            (IOB.replace("['leads']\t[2]", cells), "token 0 has .*expected two lists of one length")
            for cells in (
                "leads(\t[2]",
                "['leads']\t[2, 1]",
                "7\t[2]",
                "['leads']\t['2']",
                "['leads']\t",
            )
        ),
        (IOB.replace("\tB-P", ""), "line 2: 4 tab-separated columns, expected 5"),
    ],
)
def test_broken_input_is_one_clear_sentence(tmp_path, value, message):
    with pytest.raises(UserError, match=message):
        read_corpus(write(tmp_path / "a.json", value))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Arg2:T3", "Arg2:T9", "a.ann line 5: in points to T9, expected one of T1, T2, T3"),
        ("22 26", "22 99", "a.ann line 3: the span 22 99 is outside the text of 29 characters"),
        ("T1\tP 0 3\tAda", "T1 P 0 3 Ada", "a.ann line 1: expected 'T1<tab>Type start end<tab>text'"),
    ],
)
def test_broken_annotations_name_their_line(tmp_path, old, new, message):
    with pytest.raises(UserError, match=message):
        read_corpus(brat(tmp_path, ANN.replace(old, new)))
