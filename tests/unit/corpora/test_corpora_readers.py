"""Every format from small files: what the samples of docs/reference/formats.md do not show, and a sentence
for what is broken.
"""

import contextlib
import gzip
import json
import re
from pathlib import Path

import pytest

from support.reading import lines, located, strings, write
from support.samples import ANN, CONLL, KBP, LINK, POINTED, RASH, TYPED
from tripleaudit.core.errors import UserError
from tripleaudit.core.plugins import use_plugins
from tripleaudit.corpora.readers import detect_format, read_corpus
from tripleaudit.corpora.readers.documents import guess_order
from tripleaudit.corpora.readers.form import form
from tripleaudit.corpora.readers.records import parse_columns

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "howto" / "extending.md").read_text(
    encoding="utf-8"
)
ROME = {
    "text": "Rome , Italy , and Rome , Georgia",
    "triple_list": [["Rome", "in", "Italy"], ["Rome", "in", "Italy"]],
}
SPANS = {
    "text": "Rome and Rome in Italy", "id": "test_0", "triple_list": [["Rome", "in", "Italy"]],
    "relation_list": [
        {"subject": "Rome", "object": "Italy", "subj_char_span": [s, s + 4], "obj_char_span": [17, 22],
         "predicate": "in"}
        for s in (0, 9)
    ],
}  # fmt: skip
TOKENS = {
    "tokens": ["John", "Wilkes", "Booth", "shot", "Lincoln"], "orig_id": 5178,
    "entities": [{"type": "Peop", "start": 0, "end": 3}, {"type": "Peop", "start": 4, "end": 5}],
    "relations": [{"type": "Kill", "head": 0, "tail": 1}],
}  # fmt: skip
NYT = {
    "sentText": "Tim Pawlenty of Minnesota .\r\n",
    "relationMentions": [
        {"em1Text": "Tim Pawlenty", "em2Text": "Minnesota", "label": "/people/person/place_lived"},
        {"em1Text": "Minnesota", "em2Text": "Tim Pawlenty", "label": "None"},
    ],
    "entityMentions": [{"text": "Tim Pawlenty"}, {"text": "Minnesota"}],
}
LIVES = {
    f"A{n} lives in B{n} with C{n} .": [[f"A{n}", f"B{n}", "place"], [f"A{n}", f"C{n}", "spouse"]]
    for n in range(5)
}
LIVED = [
    [(0, f"A{n}", "place", 12, f"B{n}"), (0, f"A{n}", "spouse", 20, f"C{n}")] for n in range(5)
]
DOCUMENT = {
    "title": "Ada",
    "sents": [["Ada", "leads", "Harrow", "."], ["Harrow", "is", "in", "Oslo", "."]],
    "vertexSet": [
        [{"name": "Ada", "sent_id": 0, "pos": [0, 1], "type": "PER"}],
        [
            {"name": "Harrow", "sent_id": part, "pos": pos, "type": "ORG"}
            for part, pos in ((1, [0, 1]), (0, [2, 3]))
        ],
        [{"name": "Oslo", "sent_id": 1, "pos": [3, 4], "type": "LOC"}],
    ],
    "labels": [
        {"h": 0, "t": 1, "r": "P1", "evidence": [0]},
        {"h": 0, "t": 2, "r": "P2", "evidence": [0, 1]},
    ],
}
DYGIE = {
    "doc_key": "d",
    "sentences": [["A", "B"], ["C", "D", "E"]],
    "ner": [[], []],
    "relations": [[], [[2, 3, 4, 4, "r"]]],
}
TACRED = {
    "id": "x", "relation": "r", "token": ["A", "B", "C"], "subj_start": 0, "subj_end": 1, "obj_start": 2, "obj_end": 2
}  # fmt: skip
REBEL = {"id": "1", "context": "A B C", "triplets": "<triplet> A <subj> B <obj> r <subj> C <obj> q"}
BRAT = {"a.ann": ANN, "a.txt": "Ada leads De fta .\nIn Oslo .\n"}
PAIR_TEXT, BORN = "Ann was born in Bonn , not in Rome .", "/people/person/place_of_birth"
PAIRS = [
    ("Ann", "Bonn", BORN, PAIR_TEXT),
    ("Ann", "Rome", "NA", PAIR_TEXT),
    ("Ann", "Rome", "NA", "Ann saw Rome ."),
]
BORN_ONCE = [[(0, "Ann", BORN, 16, "Bonn")], []], {
    "format": "pairs", "zero_triple_sentences": 1, "texts": [PAIR_TEXT, "Ann saw Rome ."],
    "notes": {"pairs_without_relation": 2},
}  # fmt: skip
REGION = [
    {"id": i, "value": {"start": s, "end": e, "labels": ["P"]}}
    for i, s, e in (("a", 0, 3), ("b", 10, 15))
]


def task(*links, **more):
    return [
        {
            "id": 1,
            "data": {"text": "Ada leads Delta"},
            "annotations": [{"result": [*REGION, *links]} | more],
        }
    ]


RIGHT, LEFT = (0, "Ada", "leads", 10, "Delta"), (10, "Delta", "leads", 0, "Ada")
STORED = [
    {"text": "A B", "predict": [["A", "r", "B"]], "truth": []},
    {"text": "C", "predict": [], "truth": []},
]
PREDICTED = {
    "list": STORED,
    "lines": lines(*STORED),
    "indented": "\n".join(json.dumps(row, indent=4) for row in STORED),
}
# name -> files, options, the triples of each sentence, and some of the report with ids, texts and
# types of entities
SAMPLES = {
    "triple-list": (
        {"a.json": [ROME, {"text": " Nothing ", "triple_list": []}]}, {}, [[(0, "Rome", "in", 7, "Italy")], []],
        {"sentences": 2, "triples_raw": 2, "triples": 1, "duplicates": 1, "zero_triple_sentences": 1, "relations": 1,
         "ids": ["0", "1"], "texts": [ROME["text"], " Nothing "], "format": "triple-list",
         "found": {"given": 0, "word": 2, "token": 0, "substring": 0, "missing": 0}},
    ),
    "JSON lines, compressed": (
        {"a.jsonl.gz": gzip.compress((lines(ROME) + "\n" + lines(ROME)).encode())}, {},
        [[(0, "Rome", "in", 7, "Italy")]] * 2, {},
    ),
    "every occurrence pairs all positions and stays one triple": (
        {"a.json": [ROME]}, {"occurrence": "all"}, [[(0, "Rome", "in", 7, "Italy"), (19, "Rome", "in", 7, "Italy")]],
        {"triples": 1, "spans": 2, "duplicates": 1},
    ),
    "an entity that is not in the text keeps its string": (
        {"a.json": [{"text": "He flew to Cancun .", "triple_list": [["Cancún", "in", "Mexico"]]}]}, {},
        [[(None, "Cancún", "in", None, "Mexico")]], {"triples_not_in_text": 1, "spans": 0},
    ),
    "leading blanks do not shift offsets": (
        {"a.json": [{"text": " in Rome ", "triple_list": [["Rome", "r", "in"]]}]}, {},
        [[(4, "Rome", "r", 1, "in")]], {},
    ),
    **{f"triple-list-spans, {occurrence}": (
        {"a.json": [SPANS]}, {"occurrence": occurrence}, [[(start, "Rome", "in", 17, "Italy") for start in starts]],
        {"ids": ["test_0"], "triples_raw": 1, "triples": 1, "notes": {}},
    ) for occurrence, starts in (("first", [0]), ("all", [0, 9]), ("given", [0, 9]))},
    "entity-relation": (
        {"a.json": [TOKENS, {"tokens": ["Rome", "fell"], "entities": [{"type": "Loc", "start": 0, "end": 1}] * 2,
                             "relations": []}]},
        {}, [[(0, "John Wilkes Booth", "Kill", 23, "Lincoln")], []],
        {"ids": ["5178", "1"], "zero_triple_sentences": 1, "types": [("Peop", "Peop")]},
    ),
    "conll04": (
        {"corp.tsv": CONLL}, {}, [[(0, "Tuvia Tzafir", "Live_In", 15, "Tel -LRB-Aviv")], [], []],
        {"texts": ["Tuvia Tzafir , Tel -LRB-Aviv / )", "The UN", "End"], "ids": ["7", "9", "10"],
         "types": [("Peop", "Loc")], "zero_triple_sentences": 2},
    ),
    "nyt-raw": (
        {"a.json": lines(NYT)}, {}, [[(0, "Tim Pawlenty", "/people/person/place_lived", 16, "Minnesota")]],
        {"texts": ["Tim Pawlenty of Minnesota ."], "notes": {"pairs_without_relation": 1}},
    ),
    **{f"sent-tup with pointers, {name}": (
        {name: POINTED[name], **POINTED}, {"occurrence": "given"},
        [[(9, "Rome", "in", 16, "Italy"), (0, "Rome", "r", 24, "x")], [], [(0, "A", "r", 3, "B")]], {"notes": {}},
    ) for name in ("x.sent", "x.pointer")},
    "sent-tup, strings win over pointers that disagree": (
        {"x.sent": "In Rome , Italy\n", "x.tup": "Rome ; Italy ; in\n", "x.pointer": "0 0 3 3 in\n"}, {},
        [[(3, "Rome", "in", 10, "Italy")]], {"notes": {"pointer_mismatches": 1}},
    ),
    "sent-tup without pointers": (
        {"x.sent": "Rome and Rome , Italy\n", "x.tup": "Rome ; Italy ; in\n"}, {"occurrence": "all"},
        [[(0, "Rome", "in", 16, "Italy"), (9, "Rome", "in", 16, "Italy")]], {},
    ),
    "genres": ({"a.json": LIVES}, {}, LIVED, {"format": "genres", "relation_counts": {"place": 5, "spouse": 5}}),
    "genres-processed by its order": (
        {"a.json": {text: [[s, r, o] for s, o, r in rows] for text, rows in LIVES.items()}}, {}, LIVED,
        {"format": "genres-processed", "relation_counts": {"place": 5, "spouse": 5}},
    ),
    "genres of CDR has ids, and its label last": (
        {"a.json": {"Text": [["D006220", "D002375", "NON-CROSS", "1:CID:2"]]}}, {}, None,
        {"relation_counts": {"1:CID:2": 1}, "triples_not_in_text": 1},
    ),
    "genres-processed counts what is no triple": (
        {"a.json": {"A and B": [["A", "r", "B"], ["A", "since", 1998], ["A", " ", "B"], ["A", "r"]], "Nothing": []}},
        {"format": "genres-processed"}, [[(0, "A", "r", 6, "B")], []],
        {"triples_raw": 4, "notes": {"malformed": 3}, "duplicates": 0, "zero_triple_sentences": 1},
    ),
    "ade-corpus-v2": (
        {"DRUG-AE.rel": RASH}, {}, [[(22, "rash", "Adverse-Effect", 12, "x")]],
        {"sentences": 1, "triples_raw": 2, "duplicates": 1},
    ),
    "ade-corpus-v2 without relations": (
        {"ADE-NEG.txt": "6460590 NEG Clioquinol intoxication.\n"}, {}, [[]], {"texts": ["Clioquinol intoxication."]},
    ),
    "semeval": (
        {"kbp.txt": KBP}, {}, [[(15, "Mississippi", "org:place", 5, "MS ANG")], []],
        {"texts": [" The MS ANG of Mississippi . ", "The cat and dog."]},
    ),
    "docred": (
        {"a.json": [DOCUMENT, DOCUMENT | {"labels": []}]}, {},
        [[(0, "Ada", "P1", 10, "Harrow"), (0, "Ada", "P2", 32, "Oslo")], []],
        {"ids": ["Ada", "Ada#2"], "texts": ["Ada leads Harrow . Harrow is in Oslo ."] * 2, "zero_triple_sentences": 1},
    ),
    "docred, every pair of mentions": (
        {"a.json": [DOCUMENT]}, {"occurrence": "all"},
        [[(0, "Ada", "P1", 10, "Harrow"), (0, "Ada", "P1", 19, "Harrow"), (0, "Ada", "P2", 32, "Oslo")]],
        {"triples": 2, "spans": 3, "duplicates": 0},
    ),
    "names in lower case are spelt as their positions say": (
        {"a.jsonl": {"token": ["Mira", "Okafor", "leads", "A", "Lab"], "relation": "leads",
                     "h": {"name": "mira okafor", "pos": [0, 2]}, "t": {"name": "a lab", "pos": [3, 9]}}}, {},
        [[(0, "Mira Okafor", "leads", None, "a lab")]], {},  # 9 is outside, so the name stays
    ),
    "dygie, positions in a document become those of the sentence": (
        {"a.json": DYGIE}, {}, [[], [(0, "C D", "r", 4, "E")]], {"ids": ["d-0", "d-1"]},
    ),
    "tacred, pairs of one sentence are joined": (
        {"a.json": [TACRED, TACRED | {"relation": "no_relation"}, TACRED | {"relation": "q"}]}, {},
        [[(0, "A B", "r", 4, "C"), (0, "A B", "q", 4, "C")]], {"ids": ["x"], "notes": {"pairs_without_relation": 1}},
    ),
    "rebel, triples may share a subject": ({"a.json": REBEL}, {}, [[(0, "A", "r", 2, "B"), (0, "A", "q", 4, "C")]], {}),
    "pairs of NYT10": (
        {"a.txt": lines(*({"text": t, "relation": r, "h": {"id": "m.1", "name": s, "pos": [0, 3]}, "t": {"name": o}}
                          for s, o, r, t in PAIRS))}, {}, *BORN_ONCE,
    ),
    "pairs of OpenNRE's first version": (
        {"a.json": [{"sentence": t, "relation": r, "head": {"word": s}, "tail": {"word": o}} for s, o, r, t in PAIRS]},
        {}, *BORN_ONCE,
    ),
    "pairs between tabs": (
        {"a.txt": "".join(f"m.1\tm.2\t{s}\t{o}\t{r}\t{t} ###END###\n" for s, o, r, t in PAIRS)}, {}, *BORN_ONCE,
    ),
    "pairs between tabs, joined words are taken apart": (
        {"a.txt": "m.1\tm.2\tnew_york\tqueens\t/contains\tqueens is in new_york . ###END###\n"}, {},
        [[(13, "new york", "/contains", 0, "queens")]], {"texts": ["queens is in new york ."]},
    ),
    **{f"brat by {name or 'its folder'}": (
        BRAT, {"path": name}, [[(0, "Ada", "leads", 10, "De fta")], []],
        {"format": "brat", "notes": {"relations_between_lines": 1}},
    ) for name in ("a.ann", "a.txt", "")},
    **{f"predictions, {side or 'gold by default'}, {form}": (
        {"p.json": content}, {"side": side} if side else {}, [[(0, "A", "r", 2, "B")] * (side == "predict"), []],
        {"format": "predictions", "ids": ["0", "1"]},
    ) for side in ("", "truth", "predict") for form, content in PREDICTED.items()},
    **{f"label-studio, {direction}": (
        {"a.json": task(LINK | {"direction": direction})}, {}, [found], {"format": "label-studio"},
    ) for direction, found in (("right", [RIGHT]), ("left", [LEFT]), ("bi", [RIGHT, LEFT]))},
}  # fmt: skip


@pytest.mark.parametrize("case", SAMPLES)
def test_a_sample_is_read(tmp_path, case):
    files, options, triples, facts = SAMPLES[case]
    path = write(tmp_path, files)
    corpus = read_corpus(tmp_path / options["path"] if "path" in options else path,
                         **{name: value for name, value in options.items() if name != "path"})  # fmt: skip
    assert triples is None or [located(sentence) for sentence in corpus.sentences] == triples
    found = corpus.report.to_json() | {
        "ids": [sentence.id for sentence in corpus.sentences],
        "texts": [sentence.text for sentence in corpus.sentences],
        "types": [
            (triple.subject.type, triple.object.type)
            for each in corpus.sentences
            for triple in each.triples
        ],
    }
    assert {name: found[name] for name in facts} == facts


def test_files_are_joined_and_the_three_of_one_corpus_found_by_their_common_name(tmp_path):
    both = [
        write(tmp_path, {"a.rel": RASH}),
        write(tmp_path, {"b.txt": "6460590 NEG Clioquinol intoxication.\n"}),
    ]
    report = read_corpus(both).report
    assert (report.sentences, report.zero_triple_sentences) == (2, 1)
    path = write(tmp_path, POINTED)
    found = read_corpus(path, occurrence="given")
    assert found.report.found["given"] == 6
    assert read_corpus(path.with_suffix(""), occurrence="given").sentences == found.sentences


@pytest.mark.parametrize(
    ("given", "unique"),
    [
        (["a", "a", "a#2"], ["a", "a#2", "a#2#2"]),
        (["a#2", "a", "a"], ["a#2", "a", "a#3"]),
        (["a", "a#2", "a", "a", "a#3"], ["a", "a#2", "a#3", "a#4", "a#3#2"]),
    ],
)
def test_ids_are_unique_whatever_they_are(tmp_path, given, unique):
    corpus = read_corpus(write(tmp_path, {"a.json": [ROME | {"id": name} for name in given]}))
    assert [sentence.id for sentence in corpus.sentences] == unique
    assert corpus.report.notes == {
        "renamed_ids": sum(a != b for a, b in zip(given, unique, strict=True))
    }


BORDERS = ("3 1 0 sor", "2 1 0", "1 3 0 sro", "1 2 0", "2 2 1 sro", "3 3 1", "4 4 2 sro")


@pytest.mark.parametrize("border", BORDERS)
def test_an_order_shows_by_fewer_than_half_as_many_names_or_more_than_a_third_in_the_text(
    tmp_path, border
):
    seconds, thirds, there, *order = border.split()
    triples = [
        ["A", f"b{n % int(seconds)}", f"c{n % int(thirds)}"]
        for n in range(max(int(seconds), int(thirds)))
    ]
    text = " ".join(f"c{n}" for n in range(int(there)))
    path = write(tmp_path, {"a.json": {text: triples, "Bo": [["A", " ", "z"]]}})
    with (
        contextlib.nullcontext()
        if order
        else pytest.raises(UserError, match="the order of the triples cannot be")
    ):
        assert [guess_order(path)] == order


def test_a_long_first_object_is_detected(tmp_path):
    long = {"text": "x " * 50_000, "triple_list": []}
    for files in ({"a.json": [long]}, {"a.jsonl": lines(long, long)}):
        assert detect_format(write(tmp_path, files)) == "triple-list"


@pytest.mark.parametrize("name", TYPED)
def test_types_of_entities_are_read_wherever_a_file_has_them(tmp_path, name):
    corpus = read_corpus(write(tmp_path, {"a.json": [TYPED[name]]}))
    assert corpus.report.format == name and strings(corpus) == [[("Ada", "leads", "Delta")]]
    (triple,) = corpus.sentences[0].triples
    assert (triple.subject.type, triple.object.type) == ("P", "F")


def test_a_type_that_is_no_name_is_refused_where_it_is_declared_and_passed_over_elsewhere(tmp_path):
    row = TYPED["entity-relation"]
    broken = row | {"entities": [row["entities"][0], row["entities"][1] | {"type": 7}]}
    with pytest.raises(UserError, match="a.json item 1: an entity's type is 7, expected a string"):
        read_corpus(write(tmp_path, {"a.json": [broken]}))
    (sentence,) = read_corpus(
        write(tmp_path, {"a.json": [TYPED["records"] | {"head_type": 7}]})
    ).sentences
    assert [sentence.triples[0].subject.type, sentence.triples[0].object.type] == [None, "F"]


PRODIGY = {
    "text": "Ada leads Delta", "answer": "accept",
    "tokens": [{"start": 0, "end": 3}, {"start": 4, "end": 9}, {"start": 10, "end": 15}],
    "spans": [{"start": 0, "end": 3, "token_end": 0}], "relations": [{"head": 0, "child": 2, "label": "leads"}],
}  # fmt: skip
DOCCANO = TYPED["doccano"]
OWN, SPAN = {"id": "a", "text": "Rome", "triples": []}, {"start": 0, "end": 9, "text": "Rome"}
GIVEN = {"occurrence": "given"}


def own(**triple):
    return {"a.jsonl": json.dumps({"text": "A B", "triples": [triple]})}


def pointers(sent, tup, pointer=None):
    return {"x.sent": sent, "x.tup": tup} | ({} if pointer is None else {"x.pointer": pointer})


def brat(old, new):
    return BRAT | {"a.ann": ANN.replace(old, new)}


BROKEN = [  # files, options, what the refusal says
    # no corpus at all
    ({"a.json": ""}, {}, "a.json: the corpus is empty, expected at least one sentence"),
    ({"a.json": []}, {}, "a.json: the corpus is empty"),
    ({"a.json": "\n\n"}, {}, "a.json: the corpus is empty"),
    ({"a.txt": "Just some words.\n"}, {}, "a.txt: the format cannot be recognised from the content: it is no table"),
    ({"a.txt": "Title\twith a tab\n\nAda Lund lives in Oslo.\n"}, {}, "texts without triples are for the commands ext"),
    ({"a.txt": 'Open "quote\tin a text\nof two lines\n'}, {}, "it is no table, whose rows have fields"),
    ({"a.csv": "subject,relation,text\nAda,led,Ada led it\n"}, {}, "content: it has no column 'object'"),
    ({"a.csv": "Ada,led,it,Ada led it\nBo,led,it,Bo led it\n"}, {}, "its first line looks like data"),
    ({"a.jsonl": {"text": "Ada led it", "mine": "[]"}}, {}, "--predicted-column answer=COLUMN"),
    ({"a.tsv": "who\twhat\nAda\tlives\n"}, {}, "its columns are who, what; say which column is what"),
    *(({name: content}, {}, "it is no table, whose rows have fields like its first line") for name, content in (
        ("graph.graphml", '<?xml version="1.0"?>\n<graphml><graph edgedefault="directed"/></graphml>\n'),
        ("parsed.conllu", "# text = Ada leads\n1\tAda\tAda\tPROPN\tNNP\t_\t2\tnsubj\t_\t_\n"),
    )),
    ({"neo4j.csv": ":START_ID,:END_ID,:TYPE\nAda Lund,Harrow Steel,leads\n"}, {},
     "its columns are :START_ID, :END_ID, :TYPE; say which column is what with --column text="),
    # what would read it
    ({"a.txt": {"text": "a b", "predict": []}}, {}, "nothing is known to be the triples"),
    ({"a.txt": {"token": ["a"], "relation": "r"}}, {}, r"near are .*tacred \(no 'subj_start'"),
    ({"a.txt": {"satz": "a b", "kanten": []}}, {}, r"columns are satz, kanten.*--column text=COLUMN,triples=COLUMN"),
    ({"a.txt": "satz,von,art,nach\na,b,c,d\n"}, {}, "text=COLUMN,subject=COLUMN,relation=COLUMN,object=COLUMN"),
    ({"a.json": {"text": "A B", "rel": [["A", "r", "B"]]}}, {}, "columns are text, rel; near are .*triple-list.*--col"),
    ({"a.json": {"body": "A B", "triples": []}}, {}, r"near are jsonl \(no 'text'\); .* --column text=COLUMN"),
    ({"a.json": {"Text": [["A", "b", "c"]]}}, {}, "name format genres .* or genres-processed"),
    ({"a.parquet": b"PAR1" + bytes(96)}, {"format": "records"}, "a.parquet: not a whole Parquet file"),
    # JSON
    ({"a.json": '[{"text": "x", "triple_list": []},\n{"text": ]'}, {}, "a.json line 2: not valid JSON"),
    ({"a.json": '[\n{"text": x}]'}, {}, "a.json line 2: not valid JSON"),
    ({"a.jsonl": json.dumps(ROME) + "\n{broken\n"}, {}, "a.jsonl line 2: not valid JSON"),
    ({"a.json": '{"T": [["a", "b", "c", "d"]], "T": []}'}, {}, "the key 'T' occurs twice in one object"),
    ({"a.json": [ROME, 7]}, {}, "item 2: expected an object, got 7"),
    # triples
    ({"a.json": [{"text": "x", "triple_list": [["a", "b"]]}]}, {}, r" 1: expected a triple \[subject, relation, ob"),
    ({"a.json": [{"text": "x", "triple_list": [["a", "", "b"]]}]}, {}, "item 1: the triple .* has no relation"),
    ({"a.json": [{"triple_list": []}]}, {}, "item 1: field 'text' is missing"),
    ({"a.json": [{"text": 5, "triple_list": []}]}, {}, "item 1: the text is 5, expected a string"),
    ({"a.json": [SPANS | {"relation_list": [SPANS["relation_list"][0] | {"subj_char_span": [90, 94]}]}]}, GIVEN,
     r"the subject span \[90, 94\) is outside the text of 22 characters"),
    ({"a.jsonl": lines(OWN, {"text": "x"})}, {}, "a.jsonl line 2: there is no column 'triples'"),
    ({"a.jsonl": lines(OWN | {"triples": [{"subject": SPAN, "relation": "r", "object": SPAN}]})}, {},
     r"a.jsonl line 1: the subject span \[0, 9\) is outside the text of 4 characters"),
    (own(head="A", type="r"), {}, "the object of .* is missing"),
    (own(head=3, type="r", tail="B"), {}, "expected the position of one of"),
    # a mapping
    ({"a.json": [ROME]}, "text", "--column: 'text', expected ROLE=COLUMN"),
    ({"a.json": [ROME]}, "subjekt=a", "--column: unknown key 'subjekt', did you mean 'subject'"),
    ({"a.json": [ROME]}, "text=text,text=subject", "text is text and subject; expected each role once"),
    ({"a.json": {"body": "A B", "triples": []}}, "text=bodi", r"there is no column 'bodi' \(text\)"),
    ({"a.json": {"text": "A B", "triples": [["A", "r", "B"]]}}, "order=srx", "order: expected one of sro, sor"),
    ({"a.json": {"text": "A B", "triples": {"a": 1}}}, "text=text", "the triple .* has no relation"),
    ({"a.json": {"text": "A B", "triples": 7}}, "text=text", "the triples are 7, expected a list"),
    ({"a.json": {"tokens": ["A", 1], "triples": []}}, "tokens=tokens", "expected a list of strings"),
    ({"a.json": {"text": "A B", "triples": []}}, "rows=none", "there is no list at 'none'"),
    ({"a.csv": "text,triples\nA,[],x\n"}, {}, "line 2: more fields than the 2 columns"),
    ({"a.csv": 'text,triples\n"A,[]\n'}, {}, "broken table"),
    # the formats' own
    ({"a.json": [TOKENS | {"entities": [{"start": 0, "end": 9}]}]}, {}, r"entity span \[0, 9\) is outside the text"),
    ({"a.json": [TOKENS | {"relations": [{"type": "x", "head": 0, "tail": 2}]}]}, {}, "'tail' is 2, expected the pos"),
    ({"a.json": [TOKENS | {"relations": [{"type": " ", "head": 0, "tail": 1}]}]}, {}, "the triple .* has the relation"),
    ({"a.tsv": CONLL.replace("0\t2\tLive_In", "0\t9\tLive_In")}, {}, "line 7: '9' is outside the text of 5 tokens"),
    ({"a.tsv": CONLL.replace("0\t2\tLive_In", "0\t2\t ")}, {}, "line 7: the triple has no relation"),
    ({"a.tsv": CONLL.replace("9\tO\t0", "9\tO\t4")}, {}, "line 9: the token's position is '4', expected 0"),
    ({"a.tsv": CONLL + "one\ttwo\n"}, {}, "line 14: 2 tab-separated columns, expected 9 for a token or 3"),
    ({"a.json": lines(NYT | {"relationMentions": [{"label": ""}]})}, {}, "line 1: field 'em1Text' is missing"),
    ({"a.rel": "10|text|rash|43|54|x|22|34\n10|text\n"}, {}, "line 2: expected 'id|sentence"),
    ({"a.txt": '7\t"<e1>a</e1> <e2>b</e2>"\nrel(e1,e1)\n\n\n'}, {}, "the relation is 'rel.e1,e1.', expected name"),
    (pointers("A B\nC\n", "A ; B ; r\n"), {}, "x.tup: 1 lines, expected 2 as in x.sent"),
    (pointers("A B\n", "A ; B\n"), {}, "x.tup line 1: the triple 'A ; B' has two parts"),
    (pointers("A B\n", "A\n"), {}, "x.tup line 1: the triple 'A' has no relation"),
    (pointers("A B\n", "A ; B ; r\n", "0 0 1 2 r\n"), {}, "line 1: the word positions 1 2 are outside the text of 2"),
    (pointers("A B\n", "A ; B ; r\n", "0 0 1 1 q\n"), {}, "x.pointer line 1: the relation is 'q', expected 'r'"),
    (pointers("A B\n", "A ; B ; r\n", "\n"), {}, "x.pointer line 1: 0 triples, expected 1"),
    (pointers("A B\n", "A ; B ; r\n", "0 0 r\n"), {}, "expected four word positions and a relation"),
    ({"x.sent": "A"}, {}, "x.tup: no such file"),
    ({"a.json": [DOCUMENT | {"labels": [{"h": 0, "t": 9, "r": "P1"}]}]}, {}, "points to entity 9, expected one of 3"),
    ({"a.json": [DOCUMENT | {"sents": [["Ada"]]}]}, {}, r"span \[2, 3\) is outside|sentence 1, expected one of 1"),
    ({"a.json": [DOCUMENT | {"vertexSet": [], "labels": [], "sents": [[1], []]}]}, {}, "expected a list of strings"),
    ({"a.json": DYGIE | {"relations": [[], [[2, 3, 9, 9, "r"]]]}}, {},
     r"sentence 1: the object span \[7, 7\] is outside the text of 3"),
    ({"a.json": DYGIE | {"relations": [[], [[2, 3]]]}}, {}, r"expected \[start, end, start, end, type\]"),
    ({"a.json": [TACRED | {"obj_end": 7}]}, {}, r"the object span \[2, 7\] is outside the text of 3 tokens"),
    ({"a.json": [{k: v for k, v in TYPED["tacred"].items() if k != "obj_end"}]}, {"format": "tacred"},
     "a.json item 1: field 'obj_end' is missing"),
    ({"a.json": REBEL | {"triplets": "<triplet> A <subj> B"}}, {}, "has no '<obj> relation'"),
    ({"a.txt": "m.1\tm.2\ta\tb\tNA\tx ###END###\nm.1\tm.2\ta\tb\n"}, {}, "line 2: 4 fields between tabs, expected 6"),
    ({"a.txt": "m.1\tm.2\ta\tb\t\tx ###END###\n"}, {}, "line 1: the triple .* has no relation"),
    ({"a.txt": {"text": "x", "relation": "NA", "h": {"name": "a"}, "t": {}}}, {},
     "line 1: field 'tail.word' or 't.name' is missing"),
    ({"a.txt": {"text": "x", "relation": "NA", "h": "a", "t": {}}}, {}, "line 1: field 'head.word' or 'h.name' is mis"),
    ({"a.json": [PRODIGY | {"relations": [{"head": 0, "child": 9, "label": "x"}]}]}, {}, "neither child_span nor a sp"),
    ({"a.json": [PRODIGY | {"relations": [{"head": 0, "child_span": {"start": 9, "end": 99}, "label": "x"}]}]}, {},
     r"the object span \[9, 99\) is outside"),
    ({"a.json": task(LINK | {"to_id": "c"})}, {}, "'to_id' is \"c\", expected the 'id' of one of 2 entities"),
    ({"a.json": [DOCCANO | {"relations": [{"from_id": 7, "to_id": 9, "type": "x"}]}]}, {},
     "'to_id' is 9, expected the 'id' of one of 2 entities"),
    (brat("Arg2:T3", "Arg2:T9"), {}, "a.ann line 5: in points to T9, expected one of T1, T2, T3"),
    (brat("22 26", "22 99"), {}, "a.ann line 3: the span 22 99 is outside the text of 29 characters"),
    (brat("T1\tP 0 3\tAda", "T1 P 0 3 Ada"), {}, "a.ann line 1: expected 'T1<tab>Type start end<tab>text'"),
    # what is asked for
    ({"a.json": [ROME]}, {"format": "xml"}, "format: 'xml' is unknown, expected auto or one of ade-corpus-v2, answers"),
    ({"a.json": [ROME]}, {"occurrence": "last"}, "occurrence: 'last' is unknown, expected one of first, all, given"),
    ({"a.json": [ROME]}, GIVEN, "no position of 'Rome' is given; expected occurrence 'first' or 'all'"),
    ({"a.json": [ROME]}, {"split": "truth"}, "format triple-list has no option 'split', expected one of side"),
    ({"a.json": [{"text": "", "predict": [], "truth": []}]}, {"side": "left"}, "side: 'left' is unknown"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_broken_input_is_one_clear_sentence(tmp_path, number):
    files, options, message = BROKEN[number]
    path = write(tmp_path, files)
    with pytest.raises(UserError, match=message) as caught:
        read_corpus(
            path, **({"columns": parse_columns([options])} if isinstance(options, str) else options)
        )
    named = any(str(tmp_path / name) in str(caught.value) for name in (*files, "x.tup"))
    assert "\n" not in str(caught.value) and (named or path.name not in message)


def test_what_is_not_there_is_one_clear_sentence(tmp_path):
    for path, message in (
        (tmp_path / "nothing.json", "nothing.json: no such file"),
        (tmp_path, "this is a folder, expected a file"),
        ([], "no corpus file is given"),
    ):
        with pytest.raises(UserError, match=message):
            read_corpus(path)


def test_the_declaration_of_the_page_is_short_and_reads_its_sample(tmp_path):
    names = ("notes-test.jsonl", "edges.py")
    path = write(tmp_path, {
        name: re.search(rf"^`{name}`:\n\n```\w+\n(.*?)```\n", PAGE, re.MULTILINE | re.DOTALL)[1] for name in names
    })  # fmt: skip
    assert len((tmp_path / "edges.py").read_text().splitlines()) < 10
    use_plugins([str(tmp_path / "edges.py")])
    corpus = read_corpus(path)
    first, second = (triple for sentence in corpus.sentences for triple in sentence.triples)
    assert (
        first.strings == ("Eva Hill", "employer", "Nordic Rail") and second.relation == "residence"
    )
    assert (corpus.report.format, corpus.report.notes) == ("edges", {"pairs_without_relation": 1})


def test_a_declaration_may_say_where_its_rows_stand_and_in_which_order_triples_are(tmp_path):
    rows = [{"body": "Rome in Italy", "facts": [["Rome", "Italy", "in"]]}]
    path = write(tmp_path, {"a.json": {"found": {"rows": rows}}})
    (sentence,) = form("x", rows="found.rows", text="body", triples="facts", order="sor").read(path)
    assert [triple[:3] for triple in sentence.triples] == [("Rome", "in", "Italy")]
    with pytest.raises(UserError, match="there is no list at 'found'"):
        list(
            form("x", rows="found", text="body", triples="facts").read(
                write(tmp_path, {"a.json": {"found": 7}})
            )
        )
    with pytest.raises(UserError, match="form x.*order: expected one of sro, sor"):
        form("x", text="body", triples="facts", order="srx")


def test_a_declaration_with_an_unknown_role_is_refused():
    with pytest.raises(UserError, match="form x: unknown key 'txt', did you mean 'text'"):
        form("x", txt="body")
