"""Files as other programs write them: answers of language models, results of extractors, corpora."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tripleaudit
from support.reading import lines, strings, write
from tripleaudit.cli import main
from tripleaudit.core.errors import UserError
from tripleaudit.corpora.readers import read_corpus
from tripleaudit.corpora.readers.records import parse_columns

TEXT = "Ada Lund leads Harrow Steel in Oslo ."
LEADS = ("Ada Lund", "leads", "Harrow Steel")
BASED = ("Harrow Steel", "based in", "Oslo")
GOLD = [
    {"id": "s-1", "text": TEXT, "triples": [LEADS, BASED]},
    {"id": "s-2", "text": "Nothing of note happened .", "triples": []},
]
ANSWER = f"```json\n{json.dumps([LEADS, BASED])}\n```"


def score(folder: Path, predictions: Path, **options) -> tuple[int, int, int]:
    gold = write(folder, {"gold.jsonl": lines(*GOLD)})
    micro = tripleaudit.score(gold, predictions, bootstrap=0, **options).micro
    return micro.correct, micro.predicted, micro.gold


ANSWERS = {
    "fenced": [ANSWER, "[]"],
    "prose": [
        "Here are the triples:\n1. (Ada Lund; leads; Harrow Steel)\n2. (Harrow Steel; based in; Oslo)",
        "None",
    ],
    "thought": [f'<think>maybe [["x", "y", "z"]]</think>{json.dumps([LEADS, BASED])}', "[]"],
}


@pytest.mark.parametrize("column", ["response", "answer", "output", "generated_text"])
@pytest.mark.parametrize("answers", ANSWERS.values(), ids=ANSWERS)
def test_stored_answers_are_read_as_those_of_endpoints(tmp_path, answers, column) -> None:
    rows = [{"text": gold["text"], column: text} for gold, text in zip(GOLD, answers, strict=True)]
    assert score(tmp_path, write(tmp_path, {"answers.jsonl": lines(*rows)})) == (2, 2, 2)


def test_a_column_of_answers_can_be_named(tmp_path: Path) -> None:
    rows = [{"key": "s-1", "said": ANSWER}, {"key": "s-2", "said": "[]"}]
    path = write(tmp_path, {"answers.jsonl": lines(*rows)})
    columns = {"answer": "said", "id": "key"}
    assert score(tmp_path, path, predicted_columns=columns) == (2, 2, 2)
    gold = str(tmp_path / "gold.jsonl")
    options = ["--predicted-column", "answer=said,id=key", "--bootstrap", "0"]
    assert main(["score", gold, str(path), *options]) == 0


def test_an_output_file_of_a_batch_goes_by_custom_id(tmp_path: Path) -> None:
    def result(name: str, text: str, reason: str = "stop") -> dict:
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": reason}
        body = {"choices": [choice]}
        return {"custom_id": name, "response": {"status_code": 200, "body": body}, "error": None}

    rows = [result("s-2", "[]"), result("s-1", json.dumps([LEADS]))]
    assert score(tmp_path, write(tmp_path, {"batch.jsonl": lines(*rows)})) == (1, 1, 2)
    failed = {"custom_id": "s-2", "response": None, "error": {"code": "batch_expired"}}
    path = write(tmp_path, {"batch.jsonl": lines(failed, result("s-1", ANSWER, "length"))})
    assert score(tmp_path, path, missing="empty") == (2, 2, 2)


FAILED_REQUESTS = {
    "expired": {"response": None, "error": {"code": "batch_expired", "message": "late"}},
    "rate limit": {"response": {"status_code": 429, "body": {"error": {"message": "rate"}}}},
    "no choice": {"response": {"status_code": 200, "body": {}}, "error": None},
}


@pytest.mark.parametrize("failed", FAILED_REQUESTS.values(), ids=FAILED_REQUESTS)
def test_a_failed_request_of_a_batch_is_no_empty_answer(tmp_path, failed, capsys, caplog) -> None:
    choice = {"message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}
    good = {"custom_id": "s-1", "response": {"status_code": 200, "body": {"choices": [choice]}}}
    gold = str(write(tmp_path, {"gold.jsonl": lines(*GOLD)}))
    batch = str(write(tmp_path, {"batch.jsonl": lines(good, {"custom_id": "s-2", **failed})}))
    assert main(["score", gold, batch, "--fail-under", "10"]) == 1
    assert "1 request of a batch failed and has no answer" in caplog.text
    assert "'s-2'" in capsys.readouterr().err
    assert main(["score", gold, batch, "--missing", "empty"]) == 0
    write(tmp_path, {"batch.jsonl": lines({"custom_id": "s-2", **failed})})
    assert main(["score", gold, batch, "--missing", "empty"]) == 1
    assert "every request failed" in capsys.readouterr().err


def test_unread_and_truncated_answers_are_counted(tmp_path: Path) -> None:
    rows = [
        {"text": TEXT, "response": "The weather was fine on that day."},
        {"text": "It rained .", "response": '[["It", "was", "rain"', "finish_reason": "length"},
    ]
    corpus = read_corpus(write(tmp_path, {"answers.jsonl": lines(*rows)}), side="predict")
    assert corpus.report.notes["unread_answers"] == corpus.report.notes["truncated_answers"] == 1


BY_ORDER = {
    "EDC, Python lists": f"{[list(LEADS)]}\n[]\n",
    "EDC, tuples": f"{[LEADS]}\n[]\n",
    "JSON lists": f"{json.dumps([LEADS])}\n[]\n",
    "one JSON list": json.dumps([[LEADS], []]),
    "PtrNet": "Ada Lund ; Harrow Steel ; leads\n\n",
}


@pytest.mark.parametrize("text", BY_ORDER.values(), ids=BY_ORDER)
def test_lists_of_triples_go_by_the_order_of_the_gold(text: str, tmp_path: Path) -> None:
    path = write(tmp_path, {"test.out": text})
    assert score(tmp_path, path) == (1, 1, 2)
    with pytest.raises(UserError, match="without texts; expected as predictions next to a gold"):
        read_corpus(path)


def test_a_broken_line_of_triples_is_one_wrong_prediction(tmp_path: Path) -> None:
    broken = write(tmp_path, {"edc.txt": f"{[list(LEADS)]}\n[['Ada Lund', 'leads'\n"})
    assert score(tmp_path, write(tmp_path, {"edc.txt": f"{[list(LEADS)]}\n[['a']]\n"})) == (1, 2, 2)
    assert broken.is_file()


DOCUMENT = {
    "title": "d", "sents": [["Ada", "leads", "Delta", "."], ["Lund", "owns", "it", "."]],
    "vertexSet": [
        [{"name": "Ada", "sent_id": 0, "pos": [0, 1], "type": "PER"},
         {"name": "Lund", "sent_id": 1, "pos": [0, 1], "type": "PER"}],
        [{"name": "Delta", "sent_id": 0, "pos": [2, 3], "type": "ORG"}],
    ],
    "labels": [{"h": 0, "t": 1, "r": "P1", "evidence": [0]}],
}  # fmt: skip


def test_results_of_docred_point_into_the_gold(tmp_path: Path) -> None:
    gold = write(tmp_path, {"dev.json": [DOCUMENT]})
    results = [
        {"title": "d", "h_idx": 0, "t_idx": 1, "r": "P1", "evidence": []},
        {"title": "d", "h_idx": 1, "t_idx": 0, "r": "P2", "evidence": []},
        {"title": "d", "h_idx": 7, "t_idx": 0, "r": "P2", "evidence": []},
    ]
    path = write(tmp_path, {"result.json": results})
    micro = tripleaudit.score(gold, path, bootstrap=0).micro
    assert (micro.correct, micro.predicted, micro.gold) == (1, 3, 1)
    other = write(tmp_path, {"gold.jsonl": lines(*GOLD)})
    with pytest.raises(UserError, match="point into its documents"):
        tripleaudit.score(other, path)


MARKER_GOLD = [
    {
        "doc_key": "a", "sentences": [["It", "rained", "."], TEXT.split()],
        "ner": [[], [[3, 4, "P"], [6, 7, "O"]]], "relations": [[], [[3, 4, 6, 7, "leads"]]],
    },
    {"doc_key": "b", "sentences": [TEXT.split()], "ner": [[]], "relations": [[[0, 1, 3, 4, "leads"]]]},
]  # fmt: skip


def test_results_of_pl_marker_point_into_documents_by_their_numbers(tmp_path: Path) -> None:
    gold = write(tmp_path, {"test.json": lines(*MARKER_GOLD)})
    right, wrong = [[3, 4], [6, 7], "leads"], [[6, 7], [3, 4], "leads"]
    path = write(tmp_path, {"pred_results.json": json.dumps({"0": [[1, [right, wrong, ["x"]]]]})})
    micro = tripleaudit.score(gold, path, bootstrap=0).micro
    assert (micro.correct, micro.predicted, micro.gold) == (1, 3, 2)
    other = write(tmp_path, {"gold.jsonl": lines(*GOLD)})
    with pytest.raises(UserError, match="PL-Marker"):
        tripleaudit.score(other, path)
    with pytest.raises(UserError, match="PL-Marker"):
        read_corpus(path)
    outside = write(tmp_path, {"outside.json": json.dumps({"0": [[2, [right]]]})})
    with pytest.raises(UserError, match="sentence 2"):
        tripleaudit.score(gold, outside)
    unknown = write(tmp_path, {"unknown.json": json.dumps({"2": [[0, [right]]]})})
    with pytest.raises(UserError, match="document 2"):
        tripleaudit.score(gold, unknown)


def test_crossre_is_read_with_types(tmp_path: Path) -> None:
    row = {
        "doc_key": "x-1", "sentence": TEXT.split(), "ner": [[0, 1, "person"], [3, 4, "organisation"]],
        "relations": [[0, 1, 3, 4, "role", "", False, False]],
    }  # fmt: skip
    empty = {"doc_key": "x-2", "sentence": ["It", "rained", "."], "ner": [], "relations": []}
    corpus = read_corpus(write(tmp_path, {"a.jsonl": lines(row, empty)}))
    assert corpus.report.format == "crossre"
    assert strings(corpus) == [[("Ada Lund", "role", "Harrow Steel")], []]
    assert corpus.sentences[0].triples[0].subject.type == "person"


TRIPLE = "Harrow_Steel | location | Oslo"
XML = f"""<?xml version="1.0" ?>
<benchmark><entries><entry category="C" eid="Id1" size="1">
<originaltripleset><otriple>{TRIPLE}</otriple></originaltripleset>
<modifiedtripleset><mtriple>{TRIPLE}</mtriple></modifiedtripleset>
<lex comment="good" lid="Id1">Harrow Steel is in Oslo.</lex>
<lex comment="good" lid="Id2">Oslo has Harrow Steel.</lex>
</entry></entries></benchmark>"""
HUB = {
    "eid": "Id1", "size": 1, "modified_triple_sets": {"mtriple_set": [[TRIPLE]]},
    "lex": {"lid": ["Id1", "Id2"], "text": ["Harrow Steel is in Oslo.", "Oslo has Harrow Steel."]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content"), [("a.xml", XML), ("a.jsonl", lines(HUB))], ids=["XML", "hub"]
)
def test_each_text_of_webnlg_is_a_sentence(name: str, content: str, tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path, {name: content}))
    assert [sentence.id for sentence in corpus.sentences] == ["Id1-Id1", "Id1-Id2"]
    assert strings(corpus) == [[("Harrow Steel", "location", "Oslo")]] * 2
    assert corpus.report.triples_not_in_text == 0


def test_a_broken_xml_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a whole XML file"):
        read_corpus(write(tmp_path, {"a.xml": XML[:-20]}))


PUBTATOR = """1|t|Dornase in cystic lung disease
1|a|Dornase reduced the rate of cystic lung disease in May.
1\t0\t7\tDornase\tChemicalEntity\tD1
1\t11\t30\tcystic lung disease\tDiseaseOrPhenotypicFeature\tD2
1\t31\t38\tDornase\tChemicalEntity\tD1
1\tNegative_Correlation\tD1\tD2\tNovel
1\tAssociation\tD1\tD9\tNo

2|t|Nothing here
2|a|Nothing there.
"""


def test_pubtator_links_concepts_by_their_first_mentions(tmp_path: Path) -> None:
    path = write(tmp_path, {"a.txt": PUBTATOR})
    corpus = read_corpus(path)
    assert strings(corpus) == [[("Dornase", "Negative_Correlation", "cystic lung disease")], []]
    assert corpus.sentences[0].triples[0].subject.type == "ChemicalEntity"
    assert corpus.report.notes == {"without_mention": 1}
    assert len(read_corpus(path, occurrence="all").sentences[0].triples) == 2


DYGIE = {
    "doc_key": "d", "sentences": [TEXT.split()], "ner": [[]],
    "relations": [[[0, 1, 3, 4, "leads"], [0, 1, "x"], "none", [0, 1, 3, 99, "leads"]]],
}  # fmt: skip
LABELS = [{"h": 0, "t": 1, "r": "P1"}, {"h": 0, "t": 9, "r": "P1"}, "none", {"h": 0}]
REBEL = {
    "text": TEXT,
    "generated_text": "<triplet> Ada Lund <subj> Harrow Steel <obj> leads <triplet> Oslo",
}
DAMAGED = {
    "dygie": (lines(DYGIE), 3),
    "docred": ([{**DOCUMENT, "labels": LABELS}], 3),
    "rebel": (lines(REBEL), 1),
    "nyt-raw": (
        lines({"sentText": TEXT, "relationMentions": [
            {"em1Text": "Ada Lund", "label": "leads", "em2Text": "Harrow Steel"},
            {"em1Text": "", "label": "leads", "em2Text": "Oslo"},
        ]}), 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("format", DAMAGED)
def test_a_malformed_item_costs_itself_in_predictions_and_the_file_in_gold(
    format: str, tmp_path: Path
) -> None:
    content, malformed = DAMAGED[format]
    path = write(tmp_path, {"damaged.json": content})
    corpus = read_corpus(path, side="predict")
    assert corpus.report.format == format
    assert corpus.report.notes["malformed_predictions"] == malformed
    assert corpus.report.triples == malformed + 1
    with pytest.raises(UserError, match=r"damaged\.json"):
        read_corpus(path)


WORDS = TEXT.split()
IN_OSLO = ("Harrow Steel", "in", "Oslo")
PLACES = {"Ada Lund": (0, 2), "Harrow Steel": (3, 5), "Oslo": (6, 7)}
TRIPLES = [LEADS, IN_OSLO]
SAMPLES = Path(__file__).parents[2] / "data" / "builders"


def sample(name: str) -> list:
    (path,) = SAMPLES.glob(f"{name}-[0-9]*.json*")
    text = path.read_text()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return json.loads(text)


def openie5(subject: str, relation: str, object_: str) -> dict:
    parts = {"arg1": {"text": subject}, "rel": {"text": relation}, "arg2s": [{"text": object_}]}
    return {"sentence": TEXT, "extraction": parts}


def stanford(subject: str, relation: str, object_: str) -> dict:
    spans = {"subjectSpan": PLACES[subject], "objectSpan": PLACES[object_]}
    return {"subject": subject, "relation": relation, "object": object_, **spans}


def raw_rebel(*triple: str) -> dict:
    parts = zip(("subject", "predicate", "object"), triple, strict=True)
    return {part: {"surfaceform": name} for part, name in parts}


MAPPED = {
    "openie5": [openie5(*triple) for triple in TRIPLES],
    "stanford-openie": {"sentences": [
        {"tokens": [{"word": word} for word in WORDS], "openie": [stanford(*t) for t in TRIPLES]},
    ]},
    "glirel": [{"tokens": WORDS, "relations": sample("glirel")}],
    "relik": sample("relik"),
    "spacy-llm": sample("spacy-llm"),
    "rebel-raw": [{"docid": "1", "text": TEXT, "triples": [raw_rebel(*t) for t in TRIPLES]}],
}  # fmt: skip


@pytest.mark.parametrize("name", MAPPED)
def test_a_former_format_is_read_by_the_mapping_that_its_refusal_names(name: str, tmp_path) -> None:
    path = write(tmp_path, {"out.json": MAPPED[name]})
    with pytest.raises(UserError, match="no longer built in; expected --column ") as caught:
        read_corpus(path, name)
    option = str(caught.value).partition("--column ")[2].partition(" ")[0]
    assert option in FORMATS_PAGE.read_text(encoding="utf-8")
    corpus = read_corpus(path, columns=parse_columns([option]))
    assert [sorted(triples) for triples in strings(corpus)] == [sorted(TRIPLES)]


FORMATS_PAGE = Path(__file__).parents[3] / "docs" / "reference" / "formats.md"
FEWREL = {"leads": [{"tokens": WORDS, "h": ["ada", "Q1", [[0, 1]]], "t": ["h", "Q2", [[3, 4]]]}]}
IOB = """#doc 7
0\tAda\tB-P\t['N']\t[0]
1\tLund\tI-P\t['leads']\t[4]
2\tleads\tO\t['N']\t[2]
3\tHarrow\tB-F\t['N']\t[3]
4\tSteel\tI-F\t['N']\t[4]
"""


@pytest.mark.parametrize(("name", "content"), [("fewrel", FEWREL), ("iob", IOB)])
def test_a_former_format_is_an_example_of_a_plugin(name: str, content, tmp_path) -> None:
    path = write(tmp_path, {"a.txt": content})
    with pytest.raises(UserError, match=f"--plugin resources/plugins/{name}.py"):
        read_corpus(path, name)
    plugin = Path(__file__).parents[3] / "resources" / "plugins" / f"{name}.py"
    command = [sys.executable, "-m", "tripleaudit", "--plugin", str(plugin), "check", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"{name}, 1 sentences" in done.stdout
    assert "subject 'Ada Lund', relation 'leads', object 'Harrow Steel'" in done.stdout
