"""What builders of knowledge graphs and open extractors write is read with no option, as their packages dump it."""

import json
from pathlib import Path

import pytest

from tripleaudit.cli import main
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.remarks import remarks
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.systems.test_set import SystemFiles, predict_system

TEXT = "Ada Lund leads Harrow Steel in Oslo ."
TRIPLES = [("Ada Lund", "leads", "Harrow Steel"), ("Harrow Steel", "in", "Oslo")]
PLACES = {"Ada Lund": (0, 2), "Harrow Steel": (3, 5), "Oslo": (6, 7)}
WORDS = TEXT.split()


def node(name: str) -> dict:
    return {"id": name, "type": "Thing", "properties": {}}


def by_relation(pair) -> dict:
    return {relation: [pair(subject, object_)] for subject, relation, object_ in TRIPLES}


LANGCHAIN = {
    "nodes": [node(name) for name in PLACES],
    "relationships": [{"source": node(s), "target": node(o), "type": r, "properties": {}} for s, r, o in TRIPLES],
    "source": {"id": None, "metadata": {}, "page_content": TEXT, "type": "Document"},
}
LLAMA_INDEX = {
    "id_": "1f", "embedding": None, "excluded_embed_metadata_keys": [], "text": TEXT, "class_name": "TextNode",
    "metadata": {
        "nodes": [{"label": "entity", "embedding": None, "properties": {}, "name": name} for name in PLACES],
        "relations": [{"label": r, "source_id": s, "target_id": o, "properties": {}} for s, r, o in TRIPLES],
    },
}  # fmt: skip
GRAPH = {"entities": [*PLACES], "edges": ["in", "leads"], "relations": [list(triple) for triple in TRIPLES]}
CORENLP = {"sentences": [{
    "index": 0, "tokens": [{"index": n, "word": word} for n, word in enumerate(WORDS, 1)],
    "openie": [
        {"subject": s, "subjectSpan": [*PLACES[s]], "relation": r, "relationSpan": [2, 3], "object": o,
         "objectSpan": [*PLACES[o]]} for s, r, o in TRIPLES
    ],
}]}  # fmt: skip
GLIREL = [
    {"head_pos": [*PLACES[s]], "tail_pos": [*PLACES[o]], "head_text": s.split(), "tail_text": o.split(), "label": r,
     "score": 0.9} for s, r, o in TRIPLES
]  # fmt: skip
REBEL = "<s><triplet> Ada Lund <subj> Harrow Steel <obj> leads<triplet> Harrow Steel <subj> Oslo <obj> in</s><pad>"
OUTPUTS = {
    "langchain": [LANGCHAIN],
    "llama-index": [LLAMA_INDEX],
    "kg-gen": [{"text": TEXT, **GRAPH, "entity_clusters": None, "edge_clusters": None}],
    "openie5": [
        {"sentence": TEXT, "extraction": {"arg1": {"text": s}, "rel": {"text": r}, "arg2s": [{"text": o}]}}
        for s, r, o in TRIPLES
    ],
    "stanford-openie": CORENLP,
    "langextract": [{
        "document_id": "d", "text": TEXT,
        "extractions": [
            {"extraction_class": "person", "extraction_text": "Ada Lund", "attributes": {}},
            *({"extraction_class": r, "extraction_text": TEXT, "attributes": {"subject": s, "object": o}}
              for s, r, o in TRIPLES),
        ],
    }],
    "gliner2": [{"text": TEXT, "relation_extraction": by_relation(lambda s, o: [s, o])}],
    "glirel": [{"tokens": WORDS, "relations": GLIREL}],
    "rebel": [{"text": TEXT, "generated_text": REBEL}],
}  # fmt: skip


def strings(path: Path) -> list:
    corpus = read_corpus(path)
    return [(corpus.report.format, each.text, [triple.strings for triple in each.triples]) for each in corpus.sentences]


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_is_read_without_options(tmp_path, name):
    path = tmp_path / "out.json"
    path.write_text(json.dumps(OUTPUTS[name]))
    assert strings(path) == [(name, TEXT, TRIPLES)]
    if isinstance(OUTPUTS[name], list):
        path.write_text("".join(json.dumps(row) + "\n" for row in OUTPUTS[name]))
        assert strings(path) == [(name, TEXT, TRIPLES)]


def test_pairs_of_gliner2_may_have_spans_and_scores(tmp_path):
    ends = by_relation(lambda s, o: {"head": {"text": s, "confidence": 0.9}, "tail": {"text": o, "confidence": 0.8}})
    path = tmp_path / "out.jsonl"
    path.write_text(json.dumps({"text": TEXT, "relation_extraction": ends}))
    assert strings(path) == [("gliner2", TEXT, TRIPLES)]


def test_an_extraction_without_an_object_is_counted(tmp_path):
    path = tmp_path / "out.json"
    none = {"sentence": TEXT, "extraction": {"arg1": {"text": "It"}, "rel": {"text": "rained"}, "arg2s": []}}
    path.write_text(json.dumps([OUTPUTS["openie5"][0], none]))
    assert remarks(read_corpus(path).report)["no_object"][0] == 1


def test_types_of_entities_come_along(tmp_path):
    for name in ("langchain", "llama-index"):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(OUTPUTS[name]))
        assert all(triple.typed for triple in read_corpus(path).sentences[0].triples)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_index_of_graphrag_is_read_by_its_text_units(tmp_path, ending):
    import pyarrow
    from pyarrow import parquet

    units = [{"id": "u1", "text": TEXT}, {"id": "u2", "text": "It rained ."}]
    edges = [
        {"source": s, "target": o, "description": r, "text_unit_ids": ["u1"] if ending == "parquet" else "['u1']"}
        for s, r, o in TRIPLES
    ]
    for name, rows in (("text_units", units), ("relationships", edges)):
        if ending == "parquet":
            parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / f"{name}.parquet")
        else:
            lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
            (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    assert strings(tmp_path) == [("graphrag", TEXT, TRIPLES), ("graphrag", "It rained .", [])]


@pytest.fixture
def gold(tmp_path) -> Path:
    rows = [
        {"id": "a", "text": TEXT, "triples": TRIPLES},
        {"id": "b", "text": "It rained .", "triples": [["It", "did", "rain"]]},
    ]
    path = tmp_path / "valid.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def score(capsys, *arguments: object) -> tuple[dict, str]:
    code = main(["score", *map(str, arguments), "--bootstrap", "0", "--json"])
    found = capsys.readouterr()
    return (json.loads(found.out) if code == 0 else {}), found.err


def test_predictions_without_texts_go_by_id_or_by_order(tmp_path, capsys, gold):
    graphs = [GRAPH, {**GRAPH, "relations": []}]
    for rows in (graphs, [{"id": "b", **graphs[1]}, {"id": "a", **graphs[0]}]):
        (tmp_path / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert score(capsys, gold, tmp_path / "said.jsonl")[0]["micro"]["correct"] == 2
    for rows, message in (
        (graphs[:1], "1 rows without texts and ids for 2 sentences"),
        ([{"id": "a", **GRAPH}], "no prediction for 1 sentences, such as id 'b'; --missing empty takes"),
        ([{"id": "x", **GRAPH}, {"id": "a", **GRAPH}], "'x' is no id of the gold"),
        ([{"id": "a", **GRAPH}] * 2, "'a' comes a second time"),
    ):
        (tmp_path / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert message in score(capsys, gold, tmp_path / "said.jsonl")[1]


def test_missing_predictions_are_refused_or_counted_as_empty(tmp_path, capsys, caplog, gold):
    (tmp_path / "said.csv").write_text(f"text,subject,relation,object\n{TEXT},Ada Lund,leads,Harrow Steel\n")
    assert "--missing empty takes such sentences" in score(capsys, gold, tmp_path / "said.csv")[1]
    value, _ = score(capsys, gold, tmp_path / "said.csv", "--missing", "empty")
    assert [value["micro"][key] for key in ("correct", "predicted", "gold")] == [1, 1, 3]
    assert "1 of 2 sentences have no prediction and count as without triples, such as 'b'" in caplog.text
    (tmp_path / "said.csv").write_text("text,subject,relation,object\nIt snowed .,It,did,snow\n")
    assert "is for no gold sentence" in score(capsys, gold, tmp_path / "said.csv", "--missing", "empty")[1]


def test_the_format_of_predictions_and_an_encoding_are_said(tmp_path, capsys, gold):
    said = [{"text": TEXT, "predict": TRIPLES, "truth": []}, {"text": "It rained .", "predict": [], "truth": []}]
    (tmp_path / "said.json").write_text(json.dumps(said))
    options = ("--format", "jsonl", "--predicted-format", "predictions")
    assert score(capsys, gold, tmp_path / "said.json", *options)[0]["micro"]["correct"] == 2
    (tmp_path / "said.csv").write_bytes("text,subject,relation,object\nZoë rief .,Zoë,did,rief\n".encode("cp1252"))
    assert "--encoding names another one" in score(capsys, tmp_path / "said.csv", tmp_path / "said.csv")[1]
    value, _ = score(capsys, tmp_path / "said.csv", tmp_path / "said.csv", "--encoding", "cp1252")
    assert value["micro"]["correct"] == 1
    assert "is no encoding of texts" in score(capsys, gold, gold, "--encoding", "rot13")[1]
    assert "is no encoding of texts" in score(capsys, gold, gold, "--encoding", "nope")[1]


def test_a_dump_is_a_row_of_a_study_by_its_path_alone(tmp_path):
    (tmp_path / "dump.json").write_text(json.dumps([LANGCHAIN]))
    save_sentences(tmp_path / "test.jsonl", read_corpus(tmp_path / "dump.json").sentences)
    out, report = tmp_path / "out.jsonl", tmp_path / "report.json"
    files = SystemFiles(tmp_path / "test.jsonl", tmp_path / "test.jsonl", out, report, [str(tmp_path / "dump.json")])
    predict_system("builder", {"predictions": "dump.json"}, files, {"threads": 1})
    assert [triple.strings for triple in load_sentences(out)[0].triples] == TRIPLES
