"""What classifiers and models that are asked for entities said, as sentences of the page; kinds
of errors.
"""

import json

import pytest

from tripleaudit.core.files import write_json, write_jsonl
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.store import save_sentences
from tripleaudit.report.browser import browser_data, error_counts
from tripleaudit.report.kinds import KINDS, decided, kind_of
from tripleaudit.report.study_files import Predicted, answered_by, entities_of
from tripleaudit.report.table_files import Links
from tripleaudit.tables.cells import Cell, about

KEYS = {
    "corpus": "demo",
    "protocol": "original",
    "training": "wz",
    "extractor": "zcc-binary",
    "noise": "none",
}


@pytest.fixture
def classified(tmp_path):
    """Four sentences, two with a triple; one of each is judged wrongly."""
    triple = Triple(Span(0, 3, "Ada"), "knows", Span(4, 7, "Ben"))
    gold = [Sentence(f"s{number}", "Ada Ben", (triple,) * (number < 2)) for number in range(4)]
    save_sentences(tmp_path / "test.jsonl", gold)
    scores = (0.9, 0.2, 0.8, 0.1)
    write_jsonl(
        tmp_path / "said.jsonl", [{"id": f"s{n}", "score": score} for n, score in enumerate(scores)]
    )
    lines = [
        f"s{n},,{int(score > 0.5 and n < 2)},{int(score > 0.5)},{int(n < 2)}"
        for n, score in enumerate(scores)
    ]
    counts = tmp_path / "classification.csv"
    head = "id,stratum,classification:correct,classification:predicted,classification:gold"
    keys = (
        '# {"corpus": "demo", "extractor": "zcc-binary", "protocol": "original", "training": "wz"}'
    )
    counts.write_text("\n".join([keys, head, *lines]) + "\n", encoding="utf-8")
    return Predicted(
        "demo",
        "original",
        "wz",
        "zcc-binary",
        "none",
        tmp_path / "said.jsonl",
        tmp_path / "test.jsonl",
        counts,
    )


def test_a_classifier_says_of_each_sentence_whether_it_has_triples(classified):
    data = browser_data([classified])
    expected = [[1, 0.9], [0, 0.2], [1, 0.8], [0, 0.1]]
    assert [sentence["d"] for sentence in data["sentences"]] == [{0: one} for one in expected]
    assert not any(sentence["p"] for sentence in data["sentences"])
    (counts,) = error_counts(data)
    assert {kind: number for kind, number in counts.items() if number} == {
        "correct": 2,
        "missed": 1,
        "zero": 1,
    }
    kinds = [decided(yes, has) for yes in (True, False) for has in (True, False)]
    assert kinds == ["correct", "zero", "missed", "correct"]


def test_numbers_of_a_classifier_lead_to_its_sentences(classified):
    links = Links.to([classified])
    of = {**KEYS, "testing": "wz", "stratum": "all", "matching": "classification"}
    own = "#sentences?set=demo%2Foriginal&system=zcc-binary%2Fwz"
    assert links.address(Cell(0.5, of={**of, "metric": "precision"})) == own
    assert links.address(Cell(0.5, of={**of, "metric": "recall"})) == f"{own}&stratum=with"


@pytest.fixture
def named(tmp_path):
    """One document with a needle; the model names it with its type, and another entity."""
    corpus, model = tmp_path / "needles/corpus", tmp_path / "needles/models/lm"
    needle = {"text": "Zed Harbour is a port. ", "needle": "d:Place:1"}
    units = [needle, {"text": "Ada Lund lives there.", "needle": ""}]
    write_jsonl(corpus / "infusions.jsonl", [{"doc": "d", "units": units}])
    needles = (("Place", "Zed Harbour"), ("Person", "never infused"))
    rows = [{"id": f"d:{kind}:1", "doc": "d", "type": kind, "name": name} for kind, name in needles]
    write_jsonl(corpus / "needles.jsonl", rows)
    found = [("enriched", "Place", "Zed Harbour"), ("enriched", "Person", "Ada Lund")]
    found.append(("untouched", "Person", "of another reading"))
    rows = [
        {"doc": "d", "variant": variant, "type": kind, "name": name}
        for variant, kind, name in found
    ]
    write_jsonl(model / "entities.jsonl", rows)
    return entities_of(model / "entities.jsonl")


def test_needles_stand_in_their_documents_with_what_was_named(named):
    data = browser_data([named])
    (document,) = data["sentences"]
    types = data["relations"]
    assert document["t"].startswith("Zed Harbour is")
    assert [(one[0], types[one[1]], one[2]) for one in document["g"]] == [([0, 11], "Place", "")]
    predicted = [(one[0], types[one[1]], one[3]) for one in document["p"][0]]
    assert predicted == [([0, 11], "Place", "correct"), ([23, 31], "Person", "other")]
    assert data["sets"] == [{"key": "needles", "name": "entities in documents with needles"}]


@pytest.mark.parametrize(
    ("protocol", "stratum", "more"),
    [
        ("needles", "all", ""),
        ("needles", "Place", "&relation=Place"),
        ("iterations", "2", ""),
        ("parts", "1", ""),
    ],
)
def test_numbers_about_needles_lead_to_their_documents(named, protocol, stratum, more):
    of = {
        "corpus": "any",
        "protocol": protocol,
        "training": "",
        "testing": "",
        "extractor": "lm",
        "noise": "none",
    }
    cell = Cell(1.0, of={**of, "stratum": stratum, "matching": "max", "metric": "minea"})
    assert Links.to([named]).address(cell) == f"#sentences?set=needles&system=lm{more}"
    assert Links.to([named]).address(Cell(1.0, of={**cell.of, "extractor": "another"})) == ""


def test_numbers_about_texts_lead_to_them_whatever_the_system(classified):
    links = Links.to([classified])
    assert (
        links.address(Cell(2.0, of=about("demo", "original")))
        == "#sentences?set=demo%2Foriginal&stratum=with"
    )
    assert links.address(Cell(2.0, of=about("demo", "original", "unseen"))).endswith(
        "&stratum=unseen"
    )
    assert links.address(Cell(2.0, of=about("demo", "original", "zero", "wz"))).endswith(
        "&stratum=zero"
    )
    assert links.address(Cell(2.0, of=about("demo", "rearranged"))) == ""


def test_generative_scores_of_trained_systems_lead_to_the_same_texts_in_the_test_set(classified):
    run = Predicted("demo", "generative", "", "lm", "none", classified.predictions, classified.gold)
    links = Links.to([classified, run])
    of = {
        "corpus": "demo",
        "testing": "",
        "stratum": "all",
        "matching": "default",
        "metric": "ts",
        "noise": "none",
    }
    trained = {
        **of,
        "protocol": "gre-sentence-trained",
        "extractor": "zcc-binary",
        "training": "wz",
    }
    assert links.address(Cell(1.0, of=trained)).endswith(
        "system=zcc-binary%2Fwz&among=demo%2Fgenerative"
    )
    gold = {**of, "protocol": "gre-sentence-gold", "extractor": "groundtruth", "training": ""}
    assert links.address(Cell(1.0, of=gold)) == "#sentences?set=demo%2Fgenerative"


def test_what_a_judge_said_of_a_triple_stands_behind_it(tmp_path):
    """Of four triples one is not supported, one has an answer that cannot be read, and one was
    never judged.
    """
    texts, judged = tmp_path / "generative/texts", tmp_path / "gre/set/judged/lm/judge"
    triples = [
        Triple(Span(0, 3, "Ada"), relation, Span(4, 7, "Ben"))
        for relation in ("knows", "likes", "is")
    ]
    save_sentences(texts / "reference.jsonl", [Sentence("s", "Ada Ben", triples[:1])])
    later = Triple(Span(0, 3, "Ada"), "later", Span(4, 7, "Ben"))
    save_sentences(texts / "lm/predictions.jsonl", [Sentence("s", "Ada Ben", (*triples, later))])
    said = [
        dict(zip(("subject", "relation", "object"), triple.strings, strict=True))
        for triple in triples
    ]
    write_jsonl(texts / "lm/answers.jsonl", [{"id": "s", "text": "Ada Ben", "triples": said}])
    write_json(
        judged / "factualness.json", {"Ada Ben": {"score": 0.5, "results": [True, False, None]}}
    )
    split = '{"parts": [["Ada", "likes", "x"], ["x", "likes", "Ben"]]}'
    answers = {
        json.dumps(list(triple.strings)): text
        for triple, text in zip(triples, ("[]", split, "?"), strict=True)
    }
    write_json(judged / "granularity.json", {"Ada Ben": answers})
    other = tmp_path / "gre/set/judged/other/judge/factualness.json"
    run = answered_by(texts / "lm/answers.jsonl", [other, judged / "factualness.json"])
    (sentence,) = browser_data([run])["sentences"]
    assert [triple[5:] for triple in sentence["p"][0]] == [
        [[1.0, 1.0]],
        [[0.0, 0.14]],
        [[None, None]],
        [],
    ]


TEXT = "Ann Lee wrote Emma in Rome"


def span(text: str, located: bool = True) -> Span:
    start = TEXT.index(text) if located else None
    return Span(start, start + len(text) if located else None, text)


def triple(subject: str, relation: str, object_: str, located: bool = True) -> Triple:
    return Triple(span(subject, located), relation, span(object_, located))


GOLD = [triple("Ann Lee", "wrote", "Emma"), triple("Ann Lee", "born", "Rome")]


@pytest.mark.parametrize(
    ("predicted", "kind"),
    [
        (triple("Ann Lee", "wrote", "Emma"), "correct"),
        (triple("Ann Lee", "read", "Emma"), "relation"),
        (triple("Emma", "wrote", "Ann Lee"), "swapped"),
        (triple("Ann", "wrote", "Emma"), "boundary"),
        (triple("Ann", "wrote", "Emma", located=False), "boundary"),
        (triple("Ann Lee", "wrote", "Rome"), "relation"),
        (triple("Rome", "wrote", "Emma"), "argument"),
        (triple("Rome", "near", "Emma"), "other"),
    ],
)
def test_kind_of_a_prediction(predicted, kind):
    assert kind_of(predicted, GOLD) == kind
    assert kind in ("correct", *KINDS)
    assert kind_of(predicted, []) == "zero"  # any triple on a sentence without triples
