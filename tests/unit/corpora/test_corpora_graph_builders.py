"""What builders of knowledge graphs and open extractors write is read with no option, as their
packages dump it.
"""

import json
import re
import shutil
from pathlib import Path

import pytest

from support.reading import lines, write
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers import read_corpus

TEXT = "Ada Lund leads Harrow Steel in Oslo ."
TRIPLES = [("Ada Lund", "leads", "Harrow Steel"), ("Harrow Steel", "in", "Oslo")]


SAMPLES = (
    Path(__file__).parents[2] / "data" / "builders"
)  # what each package's own code dumps, by its version
UPPER = [
    ("ADA LUND", "Ada Lund leads Harrow Steel", "HARROW STEEL"),
    ("HARROW STEEL", "Harrow Steel in Oslo", "OSLO"),
]


def dumped(name: str) -> list:
    (path,) = SAMPLES.glob(f"{name}-[0-9]*.json*")
    text = path.read_text()
    return (
        [json.loads(line) for line in text.splitlines()]
        if path.suffix == ".jsonl"
        else json.loads(text)
    )


(LANGCHAIN,) = dumped("langchain-community")
GRAPH = dumped("kg-gen")  # sets, in any order
REBEL = "<s><triplet> Ada Lund <subj> Harrow Steel <obj> leads<triplet> Harrow Steel <subj> Oslo <obj> in</s><pad>"
OUTPUTS = {
    "langchain": [LANGCHAIN],
    "llama-index": dumped("llama-index-core"),
    "kg-gen": [{"text": TEXT, **GRAPH}],
    "langextract": dumped("langextract"),
    "gliner2": [{"text": TEXT, **dumped("gliner2")[0]}],
    "rebel": [{"text": TEXT, "generated_text": REBEL}],
}  # fmt: skip


FILES = {**dict.fromkeys(("s1.ttl", "s1.nt", "s1.jsonld"), "rdf"), "graphrag-3.3.0": "graphrag"}
PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")


def read(path: Path) -> list:
    corpus = read_corpus(path)
    return [
        (corpus.report.format, each.text, sorted(triple.strings for triple in each.triples))
        for each in corpus.sentences
    ]


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_is_read_without_options(tmp_path, name):
    assert (
        read(write(tmp_path, {"out.json": OUTPUTS[name]})) == [(name, TEXT, TRIPLES)]
        and f"`{name}`" in PAGE
    )
    if isinstance(OUTPUTS[name], list):
        assert read(write(tmp_path, {"out.json": lines(*OUTPUTS[name])})) == [(name, TEXT, TRIPLES)]


@pytest.mark.parametrize("name", FILES)
def test_a_file_or_folder_of_a_builder_is_read(tmp_path, name):
    path, expected = SAMPLES / name, TRIPLES if FILES[name] == "rdf" else UPPER
    if FILES[name] == "rdf":
        pytest.importorskip("rdflib")
        path = Path(shutil.copy(SAMPLES / "rdflib-7.6.0" / name, tmp_path))
        write(tmp_path, {"s1.txt": TEXT})
    assert read(path) == [(FILES[name], TEXT, expected)] and f"`{FILES[name]}`" in PAGE


def test_the_page_says_the_lines_that_dumped_the_samples():
    root = Path(__file__).parents[3]
    page = (root / "docs" / "howto" / "systems.md").read_text(encoding="utf-8")
    script = (root / "benchmarks" / "graph_builders.py").read_text(encoding="utf-8")
    blocks = [part.partition("```")[0] for part in page.split("```python\n")[1:]]
    (block,) = [part for part in blocks if "LangChain" in part]
    lines = [line.partition("    #")[0] for line in block.splitlines() if line]
    assert len(lines) == 6
    code = without_layout(script).replace("openai/scripted", "openai/MODEL")
    for line in lines:
        assert without_layout(line.replace("rows = ", "return ")) in code


def without_layout(code: str) -> str:
    """Return code without blanks, line breaks and the commas that a formatter adds."""
    return re.sub(r",(?=[)\]}])", "", "".join(code.split()))


def test_pairs_of_gliner2_may_have_spans_and_scores(tmp_path):
    path = write(tmp_path, {"out.jsonl": {"text": TEXT, **dumped("gliner2")[1]}})
    assert read(path) == [("gliner2", TEXT, TRIPLES)]
    assert read_corpus(path).report.found["given"] == 4
    for pairs, message in (
        ([["Ada Lund"]], "a pair of 'leads' is .*, expected a head and a tail"),
        ({"head": "Ada Lund"}, "field 'leads' is .*, expected a list"),
    ):
        with pytest.raises(UserError, match=message):
            read_corpus(
                write(
                    tmp_path, {"out.jsonl": {"text": TEXT, "relation_extraction": {"leads": pairs}}}
                )
            )


def test_types_of_entities_come_along(tmp_path):
    for name in ("langchain", "llama-index"):
        (sentence,) = read_corpus(write(tmp_path, {f"{name}.json": OUTPUTS[name]})).sentences
        assert all(triple.typed for triple in sentence.triples)


def test_an_index_of_graphrag_in_parquet_is_read_by_its_text_units(tmp_path):
    import pyarrow
    from pyarrow import parquet

    units = [{"id": "u1", "text": TEXT}, {"id": "u2", "text": "It rained ."}]
    edges = [
        {"source": s, "target": o, "description": r, "text_unit_ids": ["u1"]} for s, r, o in UPPER
    ]
    edges += [
        {**edges[0], "text_unit_ids": of} for of in ([], ["u9"])
    ]  # of no unit, and of one that is not there
    for name, rows in (("text_units", units), ("relationships", edges)):
        parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / f"{name}.parquet")
    assert read(tmp_path) == [("graphrag", TEXT, UPPER), ("graphrag", "It rained .", [])]
    assert read_corpus(tmp_path).report.notes == {"unknown_units": 2}


@pytest.fixture
def gold(tmp_path) -> Path:
    rows = [
        {"id": "a", "text": TEXT, "triples": TRIPLES},
        {"id": "b", "text": "It rained .", "triples": [["It", "did", "rain"]]},
    ]
    return write(tmp_path, {"valid.jsonl": lines(*rows)})


def score(capsys, *arguments: object) -> tuple[dict, str]:
    code = main(["score", *map(str, arguments), "--bootstrap", "0", "--json"])
    found = capsys.readouterr()
    return (json.loads(found.out) if code == 0 else {}), found.err


def test_predictions_without_texts_go_by_id_or_by_order(tmp_path, capsys, gold):
    graphs = [GRAPH, {**GRAPH, "relations": []}]
    for rows in (graphs, [{"id": "b", **graphs[1]}, {"id": "a", **graphs[0]}]):
        assert (
            score(capsys, gold, write(tmp_path, {"said.jsonl": lines(*rows)}))[0]["micro"][
                "correct"
            ]
            == 2
        )
    for rows, message in (
        (graphs[:1], "1 rows without texts and ids for 2 sentences"),
        (
            [{"id": "a", **GRAPH}],
            "no prediction for 1 of them, such as id 'b': 'It rained .'; --missing empty takes",
        ),
        ([{"id": "x", **GRAPH}, {"id": "a", **GRAPH}], "'x' is no id of the gold"),
        ([{"id": "a", **GRAPH}] * 2, "'a' comes a second time"),
    ):
        assert message in score(capsys, gold, write(tmp_path, {"said.jsonl": lines(*rows)}))[1]


def test_missing_predictions_are_refused_or_counted_as_empty(tmp_path, capsys, caplog, gold):
    (tmp_path / "said.csv").write_text(
        f"text,subject,relation,object\n{TEXT},Ada Lund,leads,Harrow Steel\n"
    )
    assert "--missing empty takes such sentences" in score(capsys, gold, tmp_path / "said.csv")[1]
    value, _ = score(capsys, gold, tmp_path / "said.csv", "--missing", "empty")
    assert [value["micro"][key] for key in ("correct", "predicted", "gold")] == [1, 1, 3]
    assert (
        "1 of 2 sentences have no prediction and count as without triples, such as 'b'"
        in caplog.text
    )
    (tmp_path / "said.csv").write_text("text,subject,relation,object\nIt snowed .,It,did,snow\n")
    assert (
        "is for no gold sentence"
        in score(capsys, gold, tmp_path / "said.csv", "--missing", "empty")[1]
    )


def test_the_format_of_predictions_and_an_encoding_are_said(tmp_path, capsys, gold):
    said = [
        {"text": TEXT, "predict": TRIPLES, "truth": []},
        {"text": "It rained .", "predict": [], "truth": []},
    ]
    (tmp_path / "said.json").write_text(json.dumps(said))
    options = ("--format", "jsonl", "--predicted-format", "predictions")
    assert score(capsys, gold, tmp_path / "said.json", *options)[0]["micro"]["correct"] == 2
    (tmp_path / "said.csv").write_bytes(
        "text,subject,relation,object\nZoë rief .,Zoë,did,rief\n".encode("cp1252")
    )
    assert (
        "--encoding names another one"
        in score(capsys, tmp_path / "said.csv", tmp_path / "said.csv")[1]
    )
    value, _ = score(capsys, tmp_path / "said.csv", tmp_path / "said.csv", "--encoding", "cp1252")
    assert value["micro"]["correct"] == 1
    assert "is no encoding of texts" in score(capsys, gold, gold, "--encoding", "rot13")[1]
    assert "is no encoding of texts" in score(capsys, gold, gold, "--encoding", "nope")[1]
