"""Every format from small files, and one clear sentence for each kind of broken input."""

import gzip
import json

import pytest

from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.readers import detect_format, read_corpus
from tripleaudit.corpora.store import save_sentences
from tripleaudit.errors import UserError


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


def located(sentence):
    """Triples as (subject start, subject, relation, object start, object)."""
    return [(t.subject.start, t.subject.text, t.relation, t.object.start, t.object.text) for t in sentence.triples]


ROME = {"text": "Rome , Italy , and Rome , Georgia", "triple_list": [["Rome", "in", "Italy"], ["Rome", "in", "Italy"]]}


def test_triple_list(write):
    path = write("a.json", [ROME, {"text": " Nothing ", "triple_list": []}])
    corpus = read_corpus(path)
    first, second = corpus.sentences
    assert located(first) == [(0, "Rome", "in", 7, "Italy")]
    assert second == Sentence("1", " Nothing ", ())
    report = corpus.report
    assert (report.format, report.sentences, report.triples_raw, report.triples) == ("triple-list", 2, 2, 1)
    assert (report.duplicates, report.zero_triple_sentences, report.relations) == (1, 1, 1)
    assert report.found == {"given": 0, "word": 2, "token": 0, "substring": 0, "missing": 0}


def test_triple_list_in_json_lines_and_compressed(write, tmp_path):
    lines = "\n".join([json.dumps(ROME), "", json.dumps(ROME)]) + "\n"
    expected = read_corpus(write("a.json", [ROME, ROME])).sentences
    assert read_corpus(write("a.jsonl", lines)).sentences == expected
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    assert read_corpus(tmp_path / "a.jsonl.gz").sentences == expected


def test_every_occurrence_pairs_all_positions_and_stays_one_triple(write):
    corpus = read_corpus(write("a.json", [ROME]), occurrence="all")
    assert located(corpus.sentences[0]) == [(0, "Rome", "in", 7, "Italy"), (19, "Rome", "in", 7, "Italy")]
    assert (corpus.report.triples, corpus.report.spans, corpus.report.duplicates) == (1, 2, 1)


def test_an_entity_that_is_not_in_the_text_is_kept_without_a_position(write):
    item = {"text": "He flew to Cancun .", "triple_list": [["Cancún", "in", "Mexico"]]}
    corpus = read_corpus(write("a.json", [item]))
    assert corpus.sentences[0].triples == (Triple(Span(None, None, "Cancún"), "in", Span(None, None, "Mexico")),)
    assert (corpus.report.triples_not_in_text, corpus.report.spans) == (1, 0)


def test_leading_blanks_do_not_shift_offsets(write):
    corpus = read_corpus(write("a.json", [{"text": " in Rome ", "triple_list": [["Rome", "r", "in"]]}]))
    assert located(corpus.sentences[0]) == [(4, "Rome", "r", 1, "in")]


SPANS = {
    "text": "Rome and Rome in Italy",
    "id": "test_0",
    "triple_list": [["Rome", "in", "Italy"]],
    "relation_list": [
        {
            "subject": "Rome",
            "object": "Italy",
            "subj_char_span": [s, s + 4],
            "obj_char_span": [17, 22],
            "predicate": "in",
        }
        for s in (0, 9)
    ],
}


@pytest.mark.parametrize(("occurrence", "starts"), [("first", [0]), ("all", [0, 9]), ("given", [0, 9])])
def test_triple_list_with_spans(write, occurrence, starts):
    corpus = read_corpus(write("a.json", [SPANS]), occurrence=occurrence)
    assert [triple.subject.start for triple in corpus.sentences[0].triples] == starts
    assert corpus.sentences[0].id == "test_0"
    assert (corpus.report.triples_raw, corpus.report.triples) == (1, 1)
    assert corpus.report.notes == {"relation_list": 2}


TOKENS = {
    "tokens": ["John", "Wilkes", "Booth", "shot", "Lincoln"],
    "entities": [{"type": "Peop", "start": 0, "end": 3}, {"type": "Peop", "start": 4, "end": 5}],
    "relations": [{"type": "Kill", "head": 0, "tail": 1}],
    "orig_id": 5178,
}


def test_entity_relation(write):
    zero = {"tokens": ["Rome", "fell"], "entities": [{"type": "Loc", "start": 0, "end": 1}] * 2, "relations": []}
    corpus = read_corpus(write("a.json", [TOKENS, zero]))
    assert corpus.sentences[0].id == "5178"
    assert located(corpus.sentences[0]) == [(0, "John Wilkes Booth", "Kill", 23, "Lincoln")]
    (triple,) = corpus.sentences[0].triples
    assert [triple.subject.type, triple.object.type] == [entity["type"] for entity in TOKENS["entities"]]
    assert corpus.report.zero_triple_sentences == 1


CONLL = """\
7\tPeop\t0\tO\tNNP/NNP\tTuvia/Tzafir\tO\tO\tO
7\tO\t1\tO\t,\tCOMMA\tO\tO\tO
7\tLoc\t2\tO\tNNP/-LRB-\tTel/-LRB-Aviv\tO\tO\tO
7\tO\t3\tO\tNN\t/\tO\tO\tO
7\tO\t4\tO\t)\t-RRB-\tO\tO\tO

0\t2\tLive_In

9\tO\t0\tO\tDT\tThe\tO\tO\tO
9\tOrg\t1\tO\tNNP\tUN\tO\tO\tO


10\tO\t0\tO\tDT\tEnd\tO\tO\tO
"""


def test_conll04(write):
    corpus = read_corpus(write("corp.tsv", CONLL))
    assert [sentence.text for sentence in corpus.sentences] == ["Tuvia Tzafir , Tel -LRB-Aviv / )", "The UN", "End"]
    assert [sentence.id for sentence in corpus.sentences] == ["7", "9", "10"]
    assert located(corpus.sentences[0]) == [(0, "Tuvia Tzafir", "Live_In", 15, "Tel -LRB-Aviv")]
    (triple,) = corpus.sentences[0].triples
    assert (triple.subject.type, triple.object.type) == ("Peop", "Loc")
    assert corpus.report.zero_triple_sentences == 2


NYT = {
    "sentText": "Tim Pawlenty of Minnesota .\r\n",
    "relationMentions": [
        {"em1Text": "Tim Pawlenty", "em2Text": "Minnesota", "label": "/people/person/place_lived"},
        {"em1Text": "Minnesota", "em2Text": "Tim Pawlenty", "label": "None"},
    ],
    "entityMentions": [{"text": "Tim Pawlenty"}, {"text": "Minnesota"}],
}


def test_nyt_raw(write):
    corpus = read_corpus(write("a.json", json.dumps(NYT) + "\n"))
    assert corpus.sentences[0].text == "Tim Pawlenty of Minnesota ."
    assert located(corpus.sentences[0]) == [(0, "Tim Pawlenty", "/people/person/place_lived", 16, "Minnesota")]
    assert corpus.report.notes == {"pairs_without_relation": 1}


def sent_tup(write, sent, tup, pointer=None):
    path = write("x.sent", sent)
    write("x.tup", tup)
    if pointer is not None:
        write("x.pointer", pointer)
    return path


def test_sent_tup_with_pointers(write):
    path = sent_tup(
        write,
        "Rome and Rome ; Italy | x\nNothing here\nA  B\n",
        "Rome ; Italy ; in | Rome ; x ; r\n\nA ; B ; r\n",
        "2 2 4 4 in | 0 0 6 6 r\n\n0 0 1 1 r\n",
    )
    corpus = read_corpus(path, occurrence="given")
    assert located(corpus.sentences[0]) == [(9, "Rome", "in", 16, "Italy"), (0, "Rome", "r", 24, "x")]
    assert located(corpus.sentences[2]) == [(0, "A", "r", 3, "B")]
    assert corpus.sentences[1].triples == ()
    assert corpus.report.notes == {}
    assert corpus.report.found["given"] == 6
    assert read_corpus(path.with_suffix(".pointer")).sentences == corpus.sentences
    assert read_corpus(path.with_suffix("")).sentences == corpus.sentences


def test_sent_tup_strings_win_over_pointers_that_disagree(write):
    path = sent_tup(write, "In Rome , Italy\n", "Rome ; Italy ; in\n", "0 0 3 3 in\n")
    corpus = read_corpus(path)
    assert located(corpus.sentences[0]) == [(3, "Rome", "in", 10, "Italy")]
    assert corpus.report.notes == {"pointer_mismatches": 1}


def test_sent_tup_without_pointers(write):
    path = sent_tup(write, "Rome and Rome , Italy\n", "Rome ; Italy ; in\n")
    assert len(read_corpus(path, occurrence="all").sentences[0].triples) == 2


GENRES = {
    f"A{n} lives in B{n} with C{n} .": [[f"A{n}", f"B{n}", "place"], [f"A{n}", f"C{n}", "spouse"]] for n in range(5)
}


def test_genres_recognises_the_order_of_triples(write):
    corpus = read_corpus(write("a.json", GENRES))
    assert corpus.report.format == "genres"
    assert corpus.report.relation_counts == {"place": 5, "spouse": 5}
    processed = {text: [[s, r, o] for s, o, r in rows] for text, rows in GENRES.items()}
    again = read_corpus(write("b.json", processed))
    assert again.report.format == "genres-processed"
    assert again.sentences == corpus.sentences


def test_genres_cdr_has_ids_and_its_label_last(write):
    corpus = read_corpus(write("a.json", {"Text": [["D006220", "D002375", "NON-CROSS", "1:CID:2"]]}))
    assert corpus.report.relation_counts == {"1:CID:2": 1}
    assert corpus.report.triples_not_in_text == 1


def test_genres_processed_counts_what_is_no_triple(write):
    rows = [["A", "r", "B"], ["A", "since", 1998], ["A", " ", "B"], ["A", "r"]]
    corpus = read_corpus(write("a.json", {"A and B": rows, "Nothing": []}), "genres-processed")
    assert located(corpus.sentences[0]) == [(0, "A", "r", 6, "B")]
    assert (corpus.report.triples_raw, corpus.report.malformed, corpus.report.duplicates) == (4, 3, 0)
    assert corpus.report.zero_triple_sentences == 1


def test_genres_order_that_cannot_be_known(write):
    with pytest.raises(UserError, match="name format genres .* or genres-processed"):
        read_corpus(write("a.json", {"Text": [["A", "b", "c"]]}))


def test_jsonl_round_trip(write, tmp_path):
    sentences = read_corpus(write("a.json", [ROME, {"text": "x", "triple_list": [["y", "r", "x"]]}])).sentences
    save_sentences(tmp_path / "own.jsonl", sentences)
    corpus = read_corpus(tmp_path / "own.jsonl")
    assert corpus.sentences == sentences
    assert read_corpus(tmp_path / "own.jsonl", occurrence="given").sentences == sentences
    assert corpus.report.format == "jsonl"
    assert corpus.report.triples_not_in_text == 1


@pytest.mark.parametrize("indent", [None, 4])
def test_predictions(write, indent):
    items = [{"text": "A B", "predict": [["A", "r", "B"]], "truth": []}, {"text": "C", "predict": [], "truth": []}]
    text = "\n".join(json.dumps(item, indent=indent) for item in items)
    for content in (text, items):
        path = write("p.json", content)
        gold, predicted = (read_corpus(path, side=side) for side in ("truth", "predict"))
        assert [sentence.id for sentence in gold.sentences] == [sentence.id for sentence in predicted.sentences]
        assert (gold.report.triples, predicted.report.triples) == (0, 1)
        assert read_corpus(path).report.zero_triple_sentences == 2


def test_ade_corpus(write):
    rel = "10|Intravenous x-induced rash.|rash|43|54|x|22|34\n10|Intravenous x-induced rash.|rash|1|2|x|3|4\n"
    corpus = read_corpus(write("DRUG-AE.rel", rel))
    assert located(corpus.sentences[0]) == [(22, "rash", "Adverse-Effect", 12, "x")]
    assert (corpus.report.sentences, corpus.report.triples_raw, corpus.report.duplicates) == (1, 2, 1)
    negative = write("ADE-NEG.txt", "6460590 NEG Clioquinol intoxication.\n")
    assert read_corpus(negative).sentences[0].text == "Clioquinol intoxication."
    both = read_corpus([write("a.rel", rel), negative])
    assert (both.report.sentences, both.report.zero_triple_sentences) == (2, 1)


def test_semeval(write):
    text = (
        '7\t" The <e1> MS ANG </e1> of <e2>Mississippi</e2> . "\norg:place(e2,e1)\n\n\n'
        '8\t"The <e1>cat</e1> and <e2>dog</e2>."\nno_relation\nComment: none\n\n'
    )
    corpus = read_corpus(write("kbp.txt", text))
    first, second = corpus.sentences
    assert first.text == " The MS ANG of Mississippi . "
    assert located(first) == [(15, "Mississippi", "org:place", 5, "MS ANG")]
    assert (second.text, second.triples) == ("The cat and dog.", ())


@pytest.mark.parametrize(
    ("given", "unique"),
    [
        (["a", "a", "a#2"], ["a", "a#2", "a#2#2"]),
        (["a#2", "a", "a"], ["a#2", "a", "a#3"]),
        (["a", "a#2", "a", "a", "a#3"], ["a", "a#2", "a#3", "a#4", "a#3#2"]),
    ],
)
def test_ids_are_unique_whatever_they_are(write, given, unique):
    corpus = read_corpus(write("a.json", [ROME | {"id": name} for name in given]))
    assert [sentence.id for sentence in corpus.sentences] == unique
    assert corpus.report.notes == {"renamed_ids": sum(a != b for a, b in zip(given, unique, strict=True))}


OWN = {"id": "a", "text": "Rome", "triples": []}
SPAN = {"start": 0, "end": 9, "text": "Rome"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", "", "a.json: the corpus is empty, expected at least one sentence"),
        ("a.json", "[]", "a.json: the corpus is empty"),
        ("a.json", "\n\n", "a.json: the corpus is empty"),
        ("a.json", '[{"text": "x", "triple_list": []},\n{"text": ]', "a.json line 2: not valid JSON"),
        ("a.json", '[\n{"text": x}]', "a.json line 2: not valid JSON"),
        ("a.jsonl", json.dumps(ROME) + "\n{broken\n", "a.jsonl line 2: not valid JSON"),
        ("a.jsonl", json.dumps(OWN) + '\n{"text": "x"}\n', r"a.jsonl line 2: there is no column 'triples'"),
        ("a.txt", "Just some words.\n", "a.txt: the format cannot be recognised from the content: it is no table"),
        (
            "a.txt",
            "Title\twith a tab\n\nAda Lund lives in Oslo.\n",
            "texts without triples are for the commands extract",
        ),
        ("a.txt", 'Open "quote\tin a text\nof two lines\n', "it is no table, whose rows have fields"),
        ("a.tsv", "who\twhat\nAda\tlives\n", "its columns are who, what; say which column is what"),
        ("a.json", [{"text": "x", "triple_list": [["a", "b"]]}], r"item 1: expected a triple \[subject, relation, ob"),
        ("a.json", [{"text": "x", "triple_list": [["a", "", "b"]]}], "item 1: the triple .* has no relation"),
        ("a.json", [{"triple_list": []}], "item 1: field 'text' is missing"),
        ("a.json", [{"text": 5, "triple_list": []}], "item 1: the text is 5, expected a string"),
        ("a.json", [ROME, 7], "item 2: expected an object, got 7"),
        ("a.json", [SPANS | {"relation_list": [SPANS["relation_list"][0] | {"subj_char_span": [90, 94]}]}], "ok"),
        ("a.json", [TOKENS | {"entities": [{"start": 0, "end": 9}]}], r"entity span \[0, 9\) is outside the text of 5"),
        (
            "a.json",
            [TOKENS | {"relations": [{"type": "x", "head": 0, "tail": 2}]}],
            "'tail' is 2, expected the position",
        ),
        ("a.json", [TOKENS | {"relations": [{"type": " ", "head": 0, "tail": 1}]}], "the triple .* has the relation"),
        (
            "a.jsonl",
            json.dumps(OWN | {"triples": [{"subject": SPAN, "relation": 7, "object": SPAN}]}),
            "has the relation 7, expected a string",
        ),
        (
            "a.jsonl",
            json.dumps(OWN | {"triples": [{"subject": SPAN, "relation": "r", "object": SPAN}]}),
            r"a.jsonl line 1: the subject span \[0, 9\) is outside the text of 4 characters",
        ),
        ("a.tsv", CONLL.replace("0\t2\tLive_In", "0\t9\tLive_In"), "line 7: '9' is outside the text of 5 tokens"),
        ("a.tsv", CONLL.replace("0\t2\tLive_In", "0\t2\t "), "line 7: the triple has no relation"),
        ("a.tsv", CONLL.replace("9\tO\t0", "9\tO\t4"), "line 9: the token's position is '4', expected 0"),
        ("a.tsv", CONLL + "one\ttwo\n", "line 14: 2 tab-separated columns, expected 9 for a token or 3"),
        ("a.json", json.dumps(NYT | {"relationMentions": [{"label": ""}]}), "line 1: field 'em1Text' is missing"),
        ("a.json", '{"T": [["a", "b", "c", "d"]], "T": []}', "the key 'T' occurs twice in one object"),
        ("a.rel", "10|text|rash|43|54|x|22|34\n10|text\n", "line 2: expected 'id|sentence"),
        ("a.txt", '7\t"<e1>a</e1> <e2>b</e2>"\nrel(e1,e1)\n\n\n', "the relation is 'rel.e1,e1.', expected name"),
    ],
)
def test_broken_input_is_one_clear_sentence(write, name, content, message):
    path = write(name, content)
    occurrence = "given" if "relation_list" in path.read_text() else "first"
    if message == "ok":
        message = r"the subject span \[90, 94\) is outside the text of 22 characters"
    with pytest.raises(UserError, match=message) as caught:
        read_corpus(path, occurrence=occurrence)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("sent", "tup", "pointer", "message"),
    [
        ("A B\nC\n", "A ; B ; r\n", None, "x.tup: 1 lines, expected 2 as in x.sent"),
        ("A B\n", "A ; B\n", None, "x.tup line 1: the triple 'A ; B' has two parts"),
        ("A B\n", "A\n", None, "x.tup line 1: the triple 'A' has no relation"),
        ("A B\n", "A ; B ; r\n", "0 0 1 2 r\n", "x.pointer line 1: the word positions 1 2 are outside the text of 2"),
        ("A B\n", "A ; B ; r\n", "0 0 1 1 q\n", "x.pointer line 1: the relation is 'q', expected 'r'"),
        ("A B\n", "A ; B ; r\n", "\n", "x.pointer line 1: 0 triples, expected 1"),
        ("A B\n", "A ; B ; r\n", "0 0 r\n", "expected four word positions and a relation"),
    ],
)
def test_broken_text_files_are_one_clear_sentence(write, sent, tup, pointer, message):
    with pytest.raises(UserError, match=message):
        read_corpus(sent_tup(write, sent, tup, pointer))


def test_missing_files_and_unknown_names(write, tmp_path):
    with pytest.raises(UserError, match="nothing.json: no such file"):
        read_corpus(tmp_path / "nothing.json")
    with pytest.raises(UserError, match="this is a folder, expected a file"):
        read_corpus(tmp_path)
    with pytest.raises(UserError, match="x.tup: no such file"):
        read_corpus(write("x.sent", "A"))
    path = write("a.json", [ROME])
    with pytest.raises(UserError, match="format: 'xml' is unknown, expected auto or one of ade-corpus-v2, brat, "):
        read_corpus(path, "xml")
    with pytest.raises(UserError, match="occurrence: 'last' is unknown"):
        read_corpus(path, occurrence="last")
    with pytest.raises(UserError, match="no position of 'Rome' is given; expected occurrence 'first' or 'all'"):
        read_corpus(path, occurrence="given")
    with pytest.raises(UserError, match="format triple-list has no option 'side', expected none"):
        read_corpus(path, side="truth")
    with pytest.raises(UserError, match="side: 'left' is unknown"):
        read_corpus(write("p.json", [{"text": "", "predict": [], "truth": []}]), side="left")
    with pytest.raises(UserError, match="no corpus file is given"):
        read_corpus([])


def test_a_long_first_object_is_detected(write):
    long = {"text": "x " * 50_000, "triple_list": []}
    assert detect_format(write("a.json", [long])) == "triple-list"
    assert detect_format(write("a.jsonl", json.dumps(long) + "\n" + json.dumps(long))) == "triple-list"
