"""Rows of any kind: every way in which people write triples down gives the same corpus."""

import codecs
import gzip
import json
import sys
from collections import Counter

import pyarrow
import pytest

from support.reading import lines, located, strings, table, write
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers import detect_format, read_corpus
from tripleaudit.corpora.readers.records import parse_columns

TEXTS = [
    (
        "Ada Lund leads Harrow Steel in Oslo .",
        [("Ada Lund", "leads", "Harrow Steel"), ("Harrow Steel", "in", "Oslo")],
    ),
    ("Nothing of note happened on Tuesday .", []),
    ("Zoë moved to Köln .", [("Zoë", "lives in", "Köln")]),
]
NAMES = ("subject", "relation", "object")


def read(path, **options):
    corpus = read_corpus(path, **options)
    return list(zip([sentence.text for sentence in corpus.sentences], strings(corpus), strict=True))


def rows_of(make, key="triples", text="text"):
    return [
        {text: sentence, key: [make(*triple) for triple in triples]} for sentence, triples in TEXTS
    ]


def own(s, r, o):
    return {"von": s, "art": r, "nach": o}


PLAIN = {
    "subject, relation, object": rows_of(lambda *triple: dict(zip(NAMES, triple, strict=True))),
    "head, type, tail": rows_of(lambda s, r, o: {"head": s, "type": r, "tail": o}),
    "lists": rows_of(lambda *triple: triple),
    "one string": rows_of(lambda *triple: " | ".join(triple)),
    "other names of the lists": rows_of(
        lambda s, r, o: {"sub": s, "predicate": r, "obj": o}, "triplets", "sentence"
    ),
    "objects with names": rows_of(
        lambda s, r, o: {"h": {"name": s}, "relation": r, "t": {"name": o}}, "relations"
    ),
}
ONE_EACH = [[text, *triple] for text, triples in TEXTS for triple in triples or [("", "", "")]]
HEAD = ["text", *NAMES]


@pytest.mark.parametrize("name", PLAIN)
def test_plain_forms_need_no_mapping(tmp_path, name):
    assert read(write(tmp_path, {"a.jsonl": lines(*PLAIN[name])})) == TEXTS
    assert read(write(tmp_path, {"a.json": PLAIN[name]})) == TEXTS


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_tables_of_one_triple_a_row(tmp_path, delimiter):
    path = write(
        tmp_path, {"a.csv": table(HEAD, *ONE_EACH[::2], *ONE_EACH[1::2], delimiter=delimiter)}
    )  # in any order
    assert detect_format(path) == "records"
    found = {text: set(triples) for text, triples in read(path)}
    assert found == {text: set(triples) for text, triples in TEXTS}


@pytest.mark.parametrize(
    ("name", "mapped", "expected"),
    [
        ("id", {}, 1),
        ("id", {"id": "id"}, 2),
        ("sentence_id", {}, 2),
        ("number", {"id": "number"}, 2),
    ],
)
def test_rows_of_one_text_are_one_sentence_unless_they_have_ids_of_sentences(
    tmp_path, name, mapped, expected
):
    triples = [("a", "leads", "b"), ("b", "is led by", "a"), ("a", "leads", "b")]
    given = [
        {name: number, "text": "a leads b", **dict(zip(NAMES, triple, strict=True))}
        for number, triple in zip((1, 1, 2), triples, strict=True)
    ]
    corpus = read_corpus(write(tmp_path, {"rows.jsonl": lines(*given)}), columns=mapped)
    assert [len(sentence.triples) for sentence in corpus.sentences] == [2, 1][:expected]
    path = write(tmp_path, {"rows.jsonl": lines(*given, {**given[0], "text": "b leads a"})})
    if expected == 2:
        with pytest.raises(
            UserError,
            match=r"rows.jsonl line 4: the sentence '1' has another text than in .* line 1",
        ):
            read_corpus(path, columns=mapped)
    else:
        assert len(read_corpus(path).sentences) == 2


@pytest.mark.parametrize("written", [json.dumps, repr])
def test_lists_in_the_cells_of_a_table(tmp_path, written):
    rows = [[text, written(triples)] for text, triples in TEXTS]
    assert read(write(tmp_path, {"a.csv": table(["text", "triples"], *rows)})) == TEXTS


ENDS, EDGES = ("Ada", "Delta"), ((0, 3), (10, 15))  # of "Ada leads Delta"
POSITIONS = {  # options -> what a row has besides its text
    "": {
        "rels": [
            {
                "r": "leads",
                **{key: {"start": s, "end": e} for key, (s, e) in zip("ab", EDGES, strict=True)},
            }
        ]
    },
    "subject_start=x,object_start=y": {
        "rels": [{"a": "Ada", "x": 0, "r": "leads", "b": "Delta", "y": 10}]
    },
    "tokens=words": {
        "words": ["Ada", "leads", "Delta"],
        "rels": [{"a": [0, 1], "r": "leads", "b": [2, 3]}],
    },
    "units=tokens,last=inclusive": {"rels": [{"a": [0, 0], "r": "leads", "b": [2, 2]}]},
    "entities=ents,end=to": {
        "ents": [
            {"text": each, "start": s, "to": e} for each, (s, e) in zip(ENDS, EDGES, strict=True)
        ],
        "rels": [{"a": 0, "r": "leads", "b": 1}],
    },
    "entities=ents,key=tag": {
        "ents": [{"tag": f"T{each}", "text": each} for each in ENDS],
        "rels": [{"a": "TAda", "r": "leads", "b": "TDelta"}],
    },
    "text=data.text,triples=data.rels,subject=a.is.w,object=b.is.w,relation=r.0": {
        "data": {
            "text": "Ada leads Delta",
            "rels": [{"a": {"is": {"w": "Ada"}}, "r": ["leads"], "b": {"is": {"w": "Delta"}}}],
        }
    },
    "order=ros": {"rels": [["leads", "Delta", "Ada"]]},
}


@pytest.mark.parametrize("options", POSITIONS)
def test_positions_and_positions_of_entities(tmp_path, options):
    """Spans of characters and of tokens, both kinds of ends, places in a list of entities, and
    ids of entities.
    """
    path = write(tmp_path, {"a.json": {"all": [{"text": "Ada leads Delta", **POSITIONS[options]}]}})
    columns = parse_columns(["triples=rels,subject=a,relation=r,object=b,rows=all"])
    (each,) = read_corpus(path, columns=columns | parse_columns(filter(None, [options]))).sentences
    assert (each.text, located(each)) == ("Ada leads Delta", [(0, "Ada", "leads", 10, "Delta")])


def test_every_encoding_and_compression(tmp_path):
    content = lines(*PLAIN["lists"])
    windows = content.replace("\n", "\r\n")
    stream = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(stream, "zstd") as packed:
        packed.write(content.encode())
    zstd = stream.getvalue().to_pybytes()
    forms = {
        "bom": codecs.BOM_UTF8 + content.encode(),
        "utf-16": windows.encode("utf-16"),
        "utf-16-be": codecs.BOM_UTF16_BE + content.encode("utf-16-be"),
        "no mark": content.encode("utf-16-le"),
        "crlf": windows.encode(),
        "gzip": gzip.compress(content.encode()),
        "zstd": zstd,
        "table": codecs.BOM_UTF8 + table(HEAD, *ONE_EACH).encode(),
    }
    for name, data in forms.items():
        assert read(write(tmp_path, {f"{name}.jsonl": data})) == TEXTS, name
    with pytest.raises(UserError, match="zstd|empty|not valid JSON"):
        read_corpus(write(tmp_path, {"cut.jsonl": zstd[:40]}))


def test_commands_take_a_mapping(tmp_path, capsys):
    path = write(tmp_path, {"a.jsonl": lines(*rows_of(own, "kanten", "satz"))})
    plain = write(tmp_path, {"b.jsonl": lines(*PLAIN["lists"])})
    mapping = [
        "--column",
        "text=satz,triples=kanten",
        "--column",
        "subject=von,relation=art,object=nach",
    ]
    assert (
        main(["prepare", "--source", str(path), "--out", str(tmp_path / "out.jsonl"), *mapping])
        == 0
    )
    assert read(tmp_path / "out.jsonl") == TEXTS
    capsys.readouterr()
    assert main(["audit", str(path), str(path), "--json", *mapping]) == 0
    assert json.loads(capsys.readouterr().out)["triple_types"]["entirely_seen"]["count"] == 3
    assert main(["score", str(path), str(plain), "--json", *mapping]) == 0
    assert json.loads(capsys.readouterr().out)["micro"]["f1"] == 1
    options = [
        "--protocol",
        "sifted",
        "--rule",
        "sample",
        "--percent",
        "0",
        "--out",
        str(tmp_path / "sets"),
    ]
    assert main(["split", *[str(path)] * 3, *options, *mapping]) == 0
    assert (tmp_path / "sets" / "train.jsonl").exists()


def jsonl(folder, rows):
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_rows_with_equal_keys_are_read_by_their_own_values(tmp_path):
    """A field such as ``gold`` may be a list of triples in one row and a flag in the next."""
    path = jsonl(
        tmp_path,
        [
            {"text": "Ada met Byron", "gold": [["Ada", "met", "Byron"]], "triples": []},
            {"text": "Rome lies here", "gold": True, "triples": [["Rome", "lies", "here"]]},
        ],
    )
    strings = [[t.strings for t in s.triples] for s in read_corpus(path, "records").sentences]
    assert strings == [[("Ada", "met", "Byron")], [("Rome", "lies", "here")]]


def test_reading_a_sentence_takes_few_steps(tmp_path):
    """What depends on the keys of objects alone is found once for objects with the same keys."""
    span = {"subject": {"start": 0, "end": 3, "text": "Ada"}, "relation": "met"}
    triple = {**span, "object": {"start": 8, "end": 13, "text": "Byron"}}
    rows = [{"id": str(n), "text": "Ada met Byron", "triples": [triple]} for n in range(200)]
    path = jsonl(tmp_path, rows)
    calls = Counter()
    sys.setprofile(lambda frame, event, argument: calls.update([event]))
    try:
        sentences = read_corpus(path).sentences
    finally:
        sys.setprofile(None)
    assert len(sentences) == 200
    assert calls["call"] / 200 < 125
