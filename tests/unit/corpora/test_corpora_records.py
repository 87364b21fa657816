"""Rows of any kind: every way in which people write triples down gives the same corpus."""

import codecs
import gzip
import json

import pyarrow
import pytest

from support.reading import lines, strings, table, write
from tripleaudit.cli import main
from tripleaudit.corpora.readers import detect_format, read_corpus
from tripleaudit.corpora.readers.records import parse_columns
from tripleaudit.errors import UserError

TEXTS = [
    ("Ada Lund leads Harrow Steel in Oslo .", [("Ada Lund", "leads", "Harrow Steel"), ("Harrow Steel", "in", "Oslo")]),
    ("Nothing of note happened on Tuesday .", []),
    ("Zoë moved to Köln .", [("Zoë", "lives in", "Köln")]),
]
NAMES = ("subject", "relation", "object")


def read(path, **options):
    corpus = read_corpus(path, **options)
    return list(zip([sentence.text for sentence in corpus.sentences], strings(corpus), strict=True))


def rows_of(make, key="triples", text="text"):
    return [{text: sentence, key: [make(*triple) for triple in triples]} for sentence, triples in TEXTS]


def own(s, r, o):
    return {"von": s, "art": r, "nach": o}


PLAIN = {
    "subject, relation, object": rows_of(lambda *triple: dict(zip(NAMES, triple, strict=True))),
    "head, type, tail": rows_of(lambda s, r, o: {"head": s, "type": r, "tail": o}),
    "lists": rows_of(lambda *triple: triple),
    "one string": rows_of(lambda *triple: " | ".join(triple)),
    "other names of the lists": rows_of(lambda s, r, o: {"sub": s, "predicate": r, "obj": o}, "triplets", "sentence"),
    "objects with names": rows_of(lambda s, r, o: {"h": {"name": s}, "relation": r, "t": {"name": o}}, "relations"),
}
ONE_EACH = [[text, *triple] for text, triples in TEXTS for triple in triples or [("", "", "")]]
HEAD = ["text", *NAMES]


@pytest.mark.parametrize("name", PLAIN)
def test_plain_forms_need_no_mapping(tmp_path, name):
    assert read(write(tmp_path, {"a.jsonl": lines(*PLAIN[name])})) == TEXTS
    assert read(write(tmp_path, {"a.json": PLAIN[name]})) == TEXTS


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_tables_of_one_triple_a_row(tmp_path, delimiter):
    path = write(tmp_path, {"a.csv": table(HEAD, *ONE_EACH[::2], *ONE_EACH[1::2], delimiter=delimiter)})  # in any order
    assert detect_format(path) == "records"
    found = {text: set(triples) for text, triples in read(path)}
    assert found == {text: set(triples) for text, triples in TEXTS}


@pytest.mark.parametrize(
    ("name", "mapped", "expected"),
    [("id", {}, 1), ("id", {"id": "id"}, 2), ("sentence_id", {}, 2), ("number", {"id": "number"}, 2)],
)
def test_rows_of_one_text_are_one_sentence_unless_they_have_ids_of_sentences(tmp_path, name, mapped, expected):
    triples = [("a", "leads", "b"), ("b", "is led by", "a"), ("a", "leads", "b")]
    given = [
        {name: number, "text": "a leads b", **dict(zip(NAMES, triple, strict=True))}
        for number, triple in zip((1, 1, 2), triples, strict=True)
    ]
    corpus = read_corpus(write(tmp_path, {"rows.jsonl": lines(*given)}), columns=mapped)
    assert [len(sentence.triples) for sentence in corpus.sentences] == [2, 1][:expected]
    path = write(tmp_path, {"rows.jsonl": lines(*given, {**given[0], "text": "b leads a"})})
    if expected == 2:
        with pytest.raises(UserError, match=r"rows.jsonl line 4: the sentence '1' has another text than in .* line 1"):
            read_corpus(path, columns=mapped)
    else:
        assert len(read_corpus(path).sentences) == 2


@pytest.mark.parametrize("written", [json.dumps, repr])
def test_lists_in_the_cells_of_a_table(tmp_path, written):
    rows = [[text, written(triples)] for text, triples in TEXTS]
    assert read(write(tmp_path, {"a.csv": table(["text", "triples"], *rows)})) == TEXTS


def test_positions_and_positions_of_entities(tmp_path):
    """Spans of characters and of tokens, both kinds of ends, places in a list of entities, and ids of entities."""
    text, triples = TEXTS[0]
    tokens = {"Ada Lund": (0, 2), "Harrow Steel": (3, 5), "Oslo": (6, 7)}
    places = list(tokens)

    def span(entity, end="end"):
        return {"start": text.index(entity), end: text.index(entity) + len(entity)}

    def rels(make, relation=str, **more):
        return [{"a": make(s), "r": relation(r), "b": make(o), **{k: f(s, o) for k, f in more.items()}}
                for s, r, o in triples]  # fmt: skip

    forms = {
        "characters": ({"text": text, "rels": rels(span)}, ""),
        "next to": (
            {"text": text, "rels": rels(str, x=lambda s, o: text.index(s), y=lambda s, o: text.index(o))},
            "subject_start=x,object_start=y",
        ),
        "tokens": ({"words": text.split(), "rels": rels(tokens.get)}, "tokens=words"),
        "inclusive": (
            {"text": text, "rels": rels(lambda e: [tokens[e][0], tokens[e][1] - 1])}, "units=tokens,last=inclusive"
        ),
        "places": (
            {"text": text, "ents": [{"text": e, **span(e, "to")} for e in places], "rels": rels(places.index)},
            "entities=ents,end=to",
        ),
        "ids": (
            {"text": text, "ents": [{"tag": f"T{n}", "text": e} for n, e in enumerate(places)],
             "rels": rels(lambda e: f"T{places.index(e)}")},
            "entities=ents,key=tag",
        ),
        "deep": (
            {"data": {"text": text, "rels": rels(lambda e: {"is": {"w": e}}, lambda r: [r])}},
            "text=data.text,triples=data.rels,subject=a.is.w,object=b.is.w,relation=r.0",
        ),
        "inverse": ({"text": text, "rels": [[r, o, s] for s, r, o in triples]}, "order=ros"),
    }  # fmt: skip
    for name, (row, extra) in forms.items():
        path = write(tmp_path, {f"{name}.json": {"all": [row]}})
        columns = parse_columns(["triples=rels,subject=a,relation=r,object=b,rows=all"])
        corpus = read_corpus(path, columns=columns | parse_columns(filter(None, [extra])))
        assert strings(corpus) == [triples] and corpus.sentences[0].text == text, name
        assert all(triple.located for triple in corpus.sentences[0].triples)


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
    mapping = ["--column", "text=satz,triples=kanten", "--column", "subject=von,relation=art,object=nach"]
    assert main(["prepare", "--source", str(path), "--out", str(tmp_path / "out.jsonl"), *mapping]) == 0
    assert read(tmp_path / "out.jsonl") == TEXTS
    capsys.readouterr()
    assert main(["audit", str(path), str(path), "--json", *mapping]) == 0
    assert json.loads(capsys.readouterr().out)["triple_types"]["entirely_seen"]["count"] == 3
    assert main(["score", str(path), str(plain), "--json", *mapping]) == 0
    assert json.loads(capsys.readouterr().out)["micro"]["f1"] == 1
    options = ["--protocol", "sifted", "--rule", "sample", "--percent", "0", "--out", str(tmp_path / "sets")]
    assert main(["split", *[str(path)] * 3, *options, *mapping]) == 0
    assert (tmp_path / "sets" / "train.jsonl").exists()
