"""Rows of any kind: every way in which people write triples down gives the same corpus."""

import codecs
import csv
import gzip
import io
import json
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

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


def strings(corpus):
    return [(sentence.text, [triple.strings for triple in sentence.triples]) for sentence in corpus.sentences]


def lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def as_triples(make, key="triples", text="text"):
    return lines({text: sentence, key: [make(*triple) for triple in triples]} for sentence, triples in TEXTS)


def span(text, entity, end="end"):
    return {"start": text.index(entity), end: text.index(entity) + len(entity)}


PLAIN = {
    "subject, relation, object": as_triples(lambda s, r, o: {"subject": s, "relation": r, "object": o}),
    "head, type, tail": as_triples(lambda s, r, o: {"head": s, "type": r, "tail": o}),
    "lists": as_triples(lambda s, r, o: [s, r, o]),
    "one string": as_triples(lambda s, r, o: f"{s} | {r} | {o}"),
    "other names of the lists": as_triples(
        lambda s, r, o: {"sub": s, "predicate": r, "obj": o}, "triplets", "sentence"
    ),
    "objects with names": as_triples(lambda s, r, o: {"h": {"name": s}, "relation": r, "t": {"name": o}}, "relations"),
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_forms_need_no_mapping(tmp_path, name):
    path = tmp_path / "a.jsonl"
    path.write_text(PLAIN[name], encoding="utf-8")
    assert strings(read_corpus(path)) == TEXTS
    listed = tmp_path / "a.json"
    listed.write_text(json.dumps([json.loads(line) for line in PLAIN[name].splitlines()]), encoding="utf-8")
    assert strings(read_corpus(listed)) == TEXTS


def rows_of_one_triple():
    for text, triples in TEXTS:
        for triple in triples or [("", "", "")]:
            yield {"text": text, **dict(zip(NAMES, triple, strict=True))}


def table(rows, delimiter):
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, [*rows[0]], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_tables_of_one_triple_a_row(tmp_path, delimiter):
    rows = list(rows_of_one_triple())
    path = tmp_path / "a.csv"
    path.write_text(table([*rows[::2], *rows[1::2]], delimiter), encoding="utf-8")  # in any order
    assert detect_format(path) == "records"
    found = {text: set(triples) for text, triples in strings(read_corpus(path))}
    assert found == {text: set(triples) for text, triples in TEXTS}


@pytest.mark.parametrize(
    ("name", "mapped", "expected"),
    [("id", {}, 1), ("id", {"id": "id"}, 2), ("sentence_id", {}, 2), ("number", {"id": "number"}, 2)],
)
def test_rows_of_one_text_are_one_sentence_unless_they_have_ids_of_sentences(tmp_path, name, mapped, expected):
    rows = [(1, "a leads b"), (1, "a leads b"), (2, "a leads b")]
    path = tmp_path / "rows.jsonl"
    triples = [("a", "leads", "b"), ("b", "is led by", "a"), ("a", "leads", "b")]
    given = [
        {name: number, "text": text, **dict(zip(NAMES, triple, strict=True))}
        for (number, text), triple in zip(rows, triples, strict=True)
    ]
    path.write_text(lines(given))
    corpus = read_corpus(path, columns=mapped)
    assert [len(sentence.triples) for sentence in corpus.sentences] == [2, 1][:expected]
    path.write_text(lines([*given, {**given[0], "text": "b leads a"}]))
    if expected == 2:
        with pytest.raises(UserError, match=r"rows.jsonl line 4: the sentence '1' has another text than in .* line 1"):
            read_corpus(path, columns=mapped)
    else:
        assert len(read_corpus(path).sentences) == 2


def test_lists_in_the_cells_of_a_table(tmp_path):
    path = tmp_path / "a.csv"
    for write in (json.dumps, repr):
        path.write_text(table([{"text": text, "triples": write(triples)} for text, triples in TEXTS], ","))
        assert strings(read_corpus(path)) == TEXTS


def test_parquet_files_and_folders(tmp_path):
    rows = [
        {"text": text, "triples": [dict(zip(NAMES, triple, strict=True)) for triple in triples]}
        for text, triples in TEXTS
    ]
    folder = tmp_path / "set" / "data"
    folder.mkdir(parents=True)
    parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "train-00000-of-00001.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(rows[:1]), folder / "test-00000-of-00001.parquet")
    assert strings(read_corpus(folder / "train-00000-of-00001.parquet")) == TEXTS
    assert strings(read_corpus(tmp_path / "set", split="test")) == TEXTS[:1]
    (tmp_path / "cut.parquet").write_bytes((folder / "test-00000-of-00001.parquet").read_bytes()[:200])
    with pytest.raises(UserError, match="not a whole Parquet file"):
        read_corpus(tmp_path / "cut.parquet", "records")


def test_positions_and_positions_of_entities(tmp_path):
    """Spans of characters and of tokens, both kinds of ends, places in a list of entities, and ids of entities."""
    text, triples = TEXTS[0]
    words = text.split()
    entities = ["Ada Lund", "Harrow Steel", "Oslo"]
    tokens = [(0, 2), (3, 5), (6, 7)]
    forms = {
        "characters": ({"text": text, "rels": [{"a": span(text, s), "r": r, "b": span(text, o)}
                                              for s, r, o in triples]}, ""),
        "next to": (
            {"text": text, "rels": [
                {"a": s, "r": r, "b": o, "x": text.index(s), "y": text.index(o)} for s, r, o in triples
            ]},
            "subject_start=x,object_start=y",
        ),
        "tokens": (
            {"words": words, "rels": [
                {"a": tokens[entities.index(s)], "r": r, "b": tokens[entities.index(o)]} for s, r, o in triples
            ]},
            "tokens=words",
        ),
        "inclusive": (
            {"text": text, "rels": [
                {"a": [tokens[entities.index(s)][0], tokens[entities.index(s)][1] - 1], "r": r,
                 "b": [tokens[entities.index(o)][0], tokens[entities.index(o)][1] - 1]}
                for s, r, o in triples
            ]},
            "units=tokens,last=inclusive",
        ),
        "places": (
            {"text": text, "ents": [{"text": e, **span(text, e, "to")} for e in entities], "rels": [
                {"a": entities.index(s), "r": r, "b": entities.index(o)} for s, r, o in triples
            ]},
            "entities=ents,end=to",
        ),
        "ids": (
            {"text": text, "ents": [{"tag": f"T{n}", "text": e} for n, e in enumerate(entities)], "rels": [
                {"a": f"T{entities.index(s)}", "r": r, "b": f"T{entities.index(o)}"} for s, r, o in triples
            ]},
            "entities=ents,key=tag",
        ),
        "deep": (
            {"data": {"text": text, "rels": [
                {"a": {"is": {"w": s}}, "r": [r], "b": {"is": {"w": o}}} for s, r, o in triples
            ]}},
            "text=data.text,triples=data.rels,subject=a.is.w,object=b.is.w,relation=r.0",
        ),
        "inverse": ({"text": text, "rels": [[r, o, s] for s, r, o in triples]}, "order=ros"),
    }  # fmt: skip
    for name, (row, extra) in forms.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"all": [row]}))
        columns = parse_columns(["triples=rels,subject=a,relation=r,object=b,rows=all"]) | parse_columns(
            filter(None, [extra])
        )
        corpus = read_corpus(path, columns=columns)
        assert strings(corpus) == [TEXTS[0]], name
        assert all(triple.located for triple in corpus.sentences[0].triples)


def test_every_encoding_and_compression(tmp_path):
    content = PLAIN["lists"]
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
    }
    for name, data in forms.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(data)
        assert strings(read_corpus(path)) == TEXTS, name
        path.write_bytes(codecs.BOM_UTF8 + table(list(rows_of_one_triple()), ",").encode())
        assert strings(read_corpus(path)) == TEXTS
    path.write_bytes(zstd[:40])
    with pytest.raises(UserError, match="zstd|empty|not valid JSON"):
        read_corpus(path)


def test_pairs_without_a_relation_are_counted(tmp_path):
    rows = [
        {"sentence": "A B C", "subject": "A", "label": label, "object": "B"} for label in ("NA", "r", "no_relation")
    ]
    path = tmp_path / "a.jsonl"
    path.write_text(lines(rows))
    corpus = read_corpus(path)
    assert strings(corpus) == [("A B C", [("A", "r", "B")])]
    assert corpus.report.notes == {"pairs_without_relation": 2}


def test_mappings_of_another_form_are_refused():
    with pytest.raises(UserError, match="'text', expected ROLE=COLUMN"):
        parse_columns(["text"])
    with pytest.raises(UserError, match="--column: unknown key 'subjekt', did you mean 'subject'"):
        parse_columns(["subjekt=a"])


def test_commands_take_a_mapping(tmp_path, capsys):
    path, plain = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    path.write_text(as_triples(lambda s, r, o: {"von": s, "art": r, "nach": o}, "kanten", "satz"))
    plain.write_text(PLAIN["lists"])
    mapping = ["--column", "text=satz,triples=kanten", "--column", "subject=von,relation=art,object=nach"]
    assert main(["prepare", "--source", str(path), "--out", str(tmp_path / "out.jsonl"), *mapping]) == 0
    assert strings(read_corpus(tmp_path / "out.jsonl")) == TEXTS
    capsys.readouterr()
    assert main(["audit", str(path), str(path), "--json", *mapping]) == 0
    assert json.loads(capsys.readouterr().out)["triple_types"]["entirely_seen"]["count"] == 3
    assert main(["score", str(path), str(plain), "--json", *mapping]) == 0
    assert json.loads(capsys.readouterr().out)["micro"]["f1"] == 1
    options = ["--protocol", "sifted", "--rule", "sample", "--percent", "0", "--out", str(tmp_path / "sets")]
    assert main(["split", *[str(path)] * 3, *options, *mapping]) == 0
    assert (tmp_path / "sets" / "train.jsonl").exists()


def test_a_study_says_which_column_is_what(tmp_path):
    from tripleaudit.plan.study import Study

    files = {split: str(tmp_path / f"{split}.jsonl") for split in ("train", "test")}
    for path in files.values():
        Path(path).write_text(as_triples(lambda s, r, o: {"von": s, "art": r, "nach": o}, "kanten", "satz"))
    columns = {"text": "satz", "triples": "kanten", "subject": "von", "relation": "art", "object": "nach"}
    corpus = {"files": files, "columns": columns}
    options = Study({"study": "s", "corpora": {"own": corpus}}).data.prepare_options("own", "test")
    given = [options[place + 1] for place, option in enumerate(options) if option == "--column"]
    assert parse_columns(given) == columns
    with pytest.raises(UserError, match="corpora/own/columns: unknown key 'txt', did you mean 'text'"):
        Study({"study": "s", "corpora": {"own": corpus | {"columns": {"txt": "satz"}}}})


def test_a_name_in_lower_case_is_spelt_as_its_positions_say(tmp_path):
    head, tail = {"name": "mira okafor", "pos": [0, 2]}, {"name": "a lab", "pos": [3, 9]}
    row = {"token": ["Mira", "Okafor", "leads", "A", "Lab"], "h": head, "t": tail, "relation": "leads"}
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    (triple,) = read_corpus(tmp_path / "a.jsonl").sentences[0].triples
    assert (triple.subject.text, triple.object.text) == ("Mira Okafor", "a lab")  # 9 is outside, so the name stays
