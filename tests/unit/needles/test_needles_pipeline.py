"""A whole study against a scripted endpoint, every number computed by hand."""

import dataclasses
import json

import pytest

from support.fake_endpoint import asking
from support.needle_model import NeedleModel, make_document, make_needles
from support.scored import told
from tripleaudit.core.errors import UserError
from tripleaudit.core.rows import write_rows
from tripleaudit.llm.conversation import TokenCounter
from tripleaudit.llm.endpoint import Prices
from tripleaudit.llm.units import text_of
from tripleaudit.needles.entities import deduplicated
from tripleaudit.needles.extracting import estimate_extraction, extract_corpus
from tripleaudit.needles.generation import discover_types, discovered_schema, fitting_types
from tripleaudit.needles.generation import make_needles as ask_for
from tripleaudit.needles.haystack import Document, read_documents, shorten
from tripleaudit.needles.infused import Corpus, Result
from tripleaudit.needles.making import build_corpus, corpus_from_needles
from tripleaudit.needles.minea import rate_matches
from tripleaudit.needles.pieces import ENRICHED, all_pieces, failed_pieces
from tripleaudit.needles.plan import Plan
from tripleaudit.needles.schema import load_schema, schema_from_json
from tripleaudit.needles.score_rows import score_result
from tripleaudit.tables.building import build_table
from tripleaudit.tables.inputs import TableInputs
from tripleaudit.tables.result_frames import ResultFrames, score_frame

KEYS = {"study": "s", "corpus": "docs", "extractor": "fake"}
PLAN = Plan(
    schema="demo",
    target=0.3,
    piece_chars=2500,
    iterations=1,
    reserve=300,
    parts=5,
    part_iterations=1,
)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The study of :class:`NeedleModel`: corpus, stored result and scores, and their folder."""
    folder = tmp_path_factory.mktemp("study")
    corpus = corpus_from_needles([make_document(60)], make_needles(), PLAN)
    assert len(corpus.infusions["report"].needles) == 10  # all of them fit below 30 %
    with asking(folder / "cache", NeedleModel(forgotten=(2, 3, 4))) as (fake, client):
        result = extract_corpus(corpus, PLAN, client, "fake")
        sent = fake.count
        again = extract_corpus(corpus, PLAN, client, "fake")
        assert fake.count == sent  # truncated answers are kept for the thread, too
    assert again.entities == result.entities
    corpus.save(folder / "corpus")
    corpus, stored = Corpus.load(folder / "corpus"), rated(result, PLAN, folder / "model")
    scores = score_result(corpus, stored, PLAN, KEYS)
    return {"corpus": corpus, "stored": stored, "scores": scores, "folder": folder}


def rated(result, plan, folder):
    result.save(folder)
    rate_matches(folder, plan.thresholds)
    return Result.load(folder)


def by_key(scores):
    """Values by protocol, stratum, matching and metric, each of which is there once."""
    found = {(s.key("protocol"), s.stratum, s.matching, s.metric): s.value for s in scores}
    assert len(found) == len(scores)
    return found


def test_every_number_by_hand(study):
    # n: 0-6; ns: those and 8; k(0.5): 0-7; k(0.6): 4 or 6 of 6 keywords: 0-4 and 7; k(0.7): 0-2;
    # llm: 0-7
    found = {"n": 7, "ns": 8, "k0.5": 8, "k0.6": 6, "k0.7": 3, "llm": 8}
    hand = {
        ("needles", "Person", criterion, "found"): number for criterion, number in found.items()
    }
    hand |= {
        ("needles", "all", criterion, "rate"): number / 10 for criterion, number in found.items()
    }
    hand |= {
        ("needles", "all", "max", "minea"): 0.8,
        ("needles", "all", "any", "minea_any"): 0.9,
    }  # all but needle 9
    hand |= {
        ("needles-untouched", "all", "max", "minea"): 0,
        ("needles", "all", "n", "displaced"): 0,
    }
    hand |= {("parts", str(part), "", "redundancy"): int(1 < part < 5) for part in range(1, 6)}
    hand |= {("parts", str(part), "", "new"): 2 for part in range(1, 6)}
    # without needles: nothing complete in the first answers, one "fact" for each piece in the
    # follow-up
    pieces = len([e for e in study["stored"].entities if e.variant == "untouched"])
    # words thing, fact and a number each; the days' numbers below the number of pieces are in the
    # document
    words = len(make_document(60).text.replace(".", " ").replace(",", " ").split())
    precision, recall = pieces / (3 * pieces), pieces / words
    second = {
        "entities": pieces,
        "redundancy_avoidance(0.2)": 0,  # lines "Thing fact 1", "Thing fact 2": cosines 2/3 with one another
        "redundancy_avoidance(0.5,name)": 1,  # names "fact 1", "fact 2": cosines 1/2, which is not above 0.5
        "bias_avoidance": 0,  # "fact 1" is not in the document
        "incompleteness": 0,  # Thing is not in the demo schema
        "relevance": precision * recall / (0.9 * precision + 0.1 * recall),
    }
    hand |= {("iterations", "1", "", metric): number for metric, number in second.items()}
    scores = by_key(study["scores"])
    assert {key: scores[key] for key in hand} == pytest.approx(hand)
    assert [key[3] for key in scores if key[:2] == ("iterations", "0")] == [
        "entities"
    ]  # none, so nothing else
    statuses = {"ok": 26, "repaired": 0, "truncated": 16, "empty": 0, "refused": 0, "failed": 0}
    assert (
        study["stored"].report["statuses"] == statuses
    )  # the first answer about each piece and each part


def test_where_the_needles_came_from(study):
    corpus = study["corpus"]
    made = {
        "wanted": 4,
        "generated": 1,
        "from_templates": 3,
        "rejected": {},
        "calls": 3,
        "infused": 2,
    }
    report = {
        **corpus.report,
        "needles": made,
        "generator": "fake",
        "types": {"a": [{}, {}], "b": [{}]},
    }
    report["plan"] = {**report["plan"], "discover": True}
    stated = score_result(dataclasses.replace(corpus, report=report), study["stored"], PLAN, KEYS)
    assert (
        "Needles: 4 wanted, 1 invented by the generating model, 3 from templates, 2 infused. "
        "Types that it named as fitting the documents: 3."
    ) in build_table("minea", TableInputs(ResultFrames(score_frame(stated)))).notes


def test_given_needles_with_keywords_in_common_are_refused():
    first, second, *others = make_needles()
    second = dataclasses.replace(second, keywords=(*first.keywords[:3], *second.keywords[3:]))
    with pytest.raises(
        UserError, match=r"needle 'report:Person:01' cannot be used: it shares 3 of 6 keywords"
    ):
        corpus_from_needles([make_document(60)], [first, second], PLAN)
    corpus_from_needles(
        [make_document(60)], [first, second, *others], PLAN.model_copy(update={"overlap": 0.6})
    )


def test_false_positives_are_judged_too(tmp_path):
    """A judge that points at the first record: what it says of documents without needles are
    false positives.
    """
    document = Document("report", make_document(60).text + "\n\nPerson Zero stood by the door.\n")
    plan = PLAN.model_copy(update={"parts": 0, "iterations": 0})
    corpus = corpus_from_needles([document], make_needles(), plan)

    def model(body):
        asked = "These records were extracted" in body["messages"][-1]["content"]
        return json.dumps(
            {"match": 1} if asked else {"entities": [{"type": "Person", "name": "Person Zero"}]}
        )

    with asking(tmp_path / "c", model, prices=Prices(1, 2)) as (fake, client):
        result = extract_corpus(corpus, plan, client, "fake")
        paid = result.report["requests"], result.report["cost"]
        assert paid == (
            fake.count,
            pytest.approx(client.store.spent(), abs=1e-15),
        )  # the judge's answers, too
    assert 0 < result.report["judge"]["cost"] < result.report["cost"]
    assert [match["llm"] for match in result.displaced] == [True] * 10
    scores = by_key(score_result(corpus, rated(result, plan, tmp_path / "model"), plan, KEYS))
    rates = {
        key[2]: rate
        for key, rate in scores.items()
        if key[:2] + key[3:] == ("needles-untouched", "all", "rate")
    }
    assert rates == {
        "n": 0,
        "ns": 0,
        "k0.5": 0,
        "k0.6": 0,
        "k0.7": 0,
        "llm": 1,
    }  # every needle by itself


def test_every_request_for_json_carries_a_closed_schema_with_the_types_of_the_study(tmp_path):
    corpus = corpus_from_needles([make_document(60)], make_needles(), PLAN)
    with asking(tmp_path, NeedleModel()) as (fake, client):
        extract_corpus(corpus, PLAN, client, "fake")
    formats = [body["response_format"]["json_schema"] for body in fake.requests]
    assert all(
        answer["strict"] for answer in formats
    )  # every object forbids members without a name in the schema
    extraction = next(
        answer["schema"] for answer in formats if "entities" in answer["schema"]["properties"]
    )
    *types, other = extraction["properties"]["entities"]["items"]["anyOf"]
    expected = load_schema("demo").types
    assert {
        kind["properties"]["type"]["enum"][0]: tuple(kind["required"][1:]) for kind in types
    } == {name: kind.properties for name, kind in expected.items()}
    assert other["properties"]["type"] == {"type": "string"}


def test_unreadable_verdicts_of_a_judge_are_asked_for_once_more_and_counted(study, tmp_path):
    plan = PLAN.model_copy(update={"parts": 0, "iterations": 0, "untouched": False})

    def model(body):
        question = body["messages"][-1]["content"]
        if "These records were extracted" not in question:
            return json.dumps({"entities": [{"type": "Person", "name": "Person Zero"}]})
        if "Name: Person Zero1\n" in question and "nothing else" in question:
            return "Record 1"  # the answer to the reminder
        return "2" if "Name: Person Zero2\n" in question else "I would not know."

    with asking(tmp_path / "c", model) as (fake, client):
        result = extract_corpus(study["corpus"], plan, client, "fake")
    judged = sum(
        "These records were extracted" in body["messages"][-1]["content"] for body in fake.requests
    )
    assert (result.report["judge_questions"], result.report["judge_unreadable"], judged) == (
        10,
        8,
        19,
    )
    assert {match["name"] for match in result.matches if match["llm"]} == {
        "Person Zero1",
        "Person Zero2",
    }
    scores = score_result(study["corpus"], rated(result, plan, tmp_path / "model"), plan, KEYS)
    note = "fake 100.0 % (1 ok), 8 of 10 verdicts of its judge unreadable"
    assert note.partition("(")[2][5:] in " ".join(
        build_table("minea", TableInputs(ResultFrames(score_frame(scores)))).notes
    )


def test_tables_of_the_study(study, kept):
    """The tables; their numbers are computed by hand above."""
    files = {"criteria": [study["folder"] / "model" / "criteria.jsonl"]}
    inputs = TableInputs(ResultFrames(score_frame(study["scores"])), files=files)
    for name in (
        "minea",
        "needle-criteria",
        "needle-example",
        "lost-in-the-middle",
        "iterations",
        "llm-comparison",
    ):
        kept(f"needles/{name}.md", told(build_table(name, inputs)))


def test_deduplicated_view(study):
    entities = study["stored"].entities
    given = {
        "Ada": {"job": None, "keywords": ["a"]},
        "ADA ": {"job": "smith", "keywords": ["a", "b"]},
    }
    rows = enumerate([*given.items(), ("Ada", {"job": "x"})])
    same = [
        dataclasses.replace(entities[0], index=i, type="T", name=n, properties=of)
        for i, (n, of) in rows
    ]
    (row,) = deduplicated(same)
    assert row["properties"] == {"job": "smith", "keywords": ["a", "b"]} and row["conflicts"] == {
        "job": ["x"]
    }
    assert row["indices"] == [0, 1, 2] and row["name"] == "Ada"
    assert len(deduplicated([dataclasses.replace(one, name=None) for one in same])) == 3
    assert len(deduplicated(entities)) == len(
        entities
    )  # this model lists nothing twice in one variant


def test_needles_are_generated_validated_and_refilled(tmp_path):
    good, asked = make_needles(4), []

    def answer(body):
        text = body["messages"][-1]["content"]
        if "Think up" in text:
            asked.append(text)
            thought_up = good[3:] if len(asked) > 1 else good[:3]
            assert f"Think up {len(thought_up)} different entities" in text
            return json.dumps(
                {"needles": [{"paragraph": needle.paragraph} for needle in thought_up]}
            )
        shown = [needle for needle in good if f"{needle.name} arrived" in text]
        keywords = {good[1].name: ["a", "a", "b"]}
        rows = [
            {"name": n.name, "description": "d", "keywords": keywords.get(n.name, n.keywords)}
            for n in shown
        ]
        return json.dumps({"needles": rows})

    kind = load_schema("demo").types["Person"]
    with asking(tmp_path, answer) as (fake, client):
        made = client.drive(
            {0: ask_for(make_document(), kind, Plan(per_type=3, seed=5), "m", taken := [])}
        )[0]
        assert fake.count == 4 == made.calls
    assert [needle.name for needle in made.needles] == [good[number].name for number in (0, 2, 3)]
    assert taken == made.needles
    reason = "it has … keywords, … of them different; expected … different ones"
    assert dict(made.rejected) == {reason: 1}
    assert made.needles[0].generator["seed"] == 5 and "Do not write about Person Zero0" in asked[1]


def test_needles_that_no_model_delivers_come_from_the_templates(tmp_path):
    plan = Plan(schema="demo", per_type=4, refills=1)
    with asking(tmp_path, "I cannot do that.") as (fake, client):
        corpus = build_corpus([make_document()], plan, client, "m")
        assert fake.count == 8  # four types, asked twice
    report = {
        "generated": 0,
        "from_templates": 16,
        "rejected": {"no paragraph in the answer (ok)": 32},
    }
    assert report.items() <= corpus.report["needles"].items()


def test_schema_discovery(tmp_path):
    rows = [
        {"type": "https://schema.org/Article", "relevance": 1.0, "reason": "it is one"},
        {"type": "Person", "relevance": "0.6", "reason": "people"},
        {"type": "Thing", "relevance": 0.1},
        {"type": "Bad", "relevance": 7},
        {"relevance": 0.9},
    ]
    with asking(tmp_path, json.dumps({"types": rows})) as (_, client):
        found = client.drive({0: discover_types(make_document(), 200)})[0]
    assert [row["type"] for row in found] == ["Article", "Person", "Thing"]
    assert [row["reason"] for row in found] == ["it is one", "people", ""]
    assert fitting_types(found, 0.6) == ["Article", "Person"] and fitting_types(
        found, 0.5, top=1
    ) == ["Article"]
    schema = schema_from_json(
        discovered_schema(["Article", "Person"], dict(load_schema("demo").types))
    )
    assert schema.types["Article"].properties == ("name", "description", "keywords")
    assert not schema.types["Article"].custom
    assert "worksFor" in schema.types["Person"].properties


def test_the_estimate_bounds_what_is_sent(tmp_path):
    plan = PLAN.model_copy(update={"parts": 2})
    documents = [make_document(60)]
    corpus = corpus_from_needles(documents, make_needles(), plan)
    with asking(tmp_path, NeedleModel(), prices=Prices(1.0, 2.0)) as (fake, client):
        stages = estimate_extraction(corpus, plan, client, TokenCounter)
        assert fake.count == 0
        result = extract_corpus(corpus, plan, client, "m")
        assert stages["extraction"].to_pay == len(result.calls)
        assert stages["judge"].to_pay >= 9 and fake.count <= sum(s.to_pay for s in stages.values())
        assert sum(s.cost for s in stages.values()) >= client.totals.cost > 0
        stages = estimate_extraction(corpus, plan, client, TokenCounter)
        assert sum(s.to_pay for s in stages.values()) == 0 and stages["extraction"].cached == len(
            result.calls
        )


@pytest.mark.parametrize(
    ("files", "given", "said"),
    [
        ({"a.txt": b" \n\n"}, "a.txt", r"a\.txt.*the document is empty"),
        ({"a.txt": b"PK\x03\x04\x00\x00"}, "a.txt", r"a\.txt.*this is a binary file"),
        ({"a.txt": b"caf\xe9"}, "a.txt", r"a\.txt.*not UTF-8"),
        ({}, "a.txt", r"a\.txt.*no such file"),
        ({}, ".", "no .txt or .md file"),
        ({"a.txt": b"one", "a.md": b"two"}, ".", "was read from .* already"),
    ],
)
def test_bad_documents_are_refused_in_one_sentence(tmp_path, files, given, said):
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=said):
        read_documents([tmp_path / given])


def test_documents_are_shortened_to_whole_paragraphs():
    text = "one one\n\ntwo two\n\nthree"
    assert shorten(text, 19) == "one one\n\ntwo two\n" and shorten(text, 100) == text
    assert shorten(text, 3) == "one one\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "schema/version: expected one of 1, got 2"),
        ({"typs": {}}, "unknown key 'typs', did you mean 'types'"),
        ({"types": {}}, "schema/types: expected at least 1 of them"),
        (
            {"types": {"A": {"properties": {"name": {}, "description": {}}}}},
            "type 'A' lacks the property 'keywords'",
        ),
        (
            {"types": {"A": {"propertys": {}}}},
            "schema/types/A: unknown key 'propertys', did you mean 'properties'",
        ),
        ({"groups": {"1": "Person"}}, "schema/groups/1: expected a list, got 'Person'"),
    ],
)
def test_bad_schemas(change, message):
    properties = {"name": {}, "description": {}, "keywords": {}, "jobs": {"list": True}}
    good = {"version": 1, "types": {"A": {"properties": properties}}}
    kind = schema_from_json(good).types["A"]
    assert kind.lists == {"keywords", "jobs"} and not kind.custom
    with pytest.raises(UserError, match=message):
        schema_from_json(good | change)


def test_shipped_schemas_and_subsets():
    paper = load_schema("paper")
    assert len(paper.types) == 11
    assert [name for name, kind in paper.types.items() if kind.custom] == [
        "OpportunityArea",
        "Insight",
    ]
    assert "Place" in paper.groups["5 outside the schema"]


def test_a_bare_name_means_the_shipped_schema_and_a_path_never_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paper").mkdir()
    assert len(load_schema("paper").types) == 11
    with pytest.raises(UserError, match="schema 'some/folder/paper' is neither a file nor one of"):
        load_schema("some/folder/paper")


def test_rejected_needles_are_counted_by_reason_whatever_they_are_called(tmp_path):
    names = ["Ada Moss", "Eva's Inn"]
    paragraph = "Somebody came to town. " + "word " * 50

    def answer(body):
        text = body["messages"][-1]["content"]
        if "Think up" in text:
            return json.dumps({"needles": [{"paragraph": f"{paragraph}{n}"} for n in (1, 2)]})
        rows = [{"name": n, "description": "d", "keywords": list("abcdef")} for n in names]
        return json.dumps({"needles": rows})

    kind = load_schema("demo").types["Person"]
    with asking(tmp_path, answer) as (_, client):
        conversation = ask_for(make_document(), kind, Plan(per_type=2, refills=0), "m", [])
        made = client.drive({0: conversation})[0]
    assert dict(made.rejected) == {"the name … does not occur in the paragraph": 2}


def test_a_document_too_short_for_the_templates_is_refused_before_the_model_is_queried():
    short = Document("short", "A sentence of six words stands here. " * 15)
    plan = Plan(schema="demo", needle_types=["Person"], per_type=1)
    with pytest.raises(
        UserError, match="document 'short'.*use a longer document or shorter needles"
    ):
        build_corpus([short], plan, object(), "model")  # which cannot be queried


def test_a_piece_is_missing_where_all_its_calls_failed():
    statuses = [(1, "failed"), (1, "ok"), (2, "refused"), (3, "ok"), (2, "failed"), (3, "failed")]
    calls = [
        {"stage": "s", "doc": "d", "piece": piece, "status": status} for piece, status in statuses
    ]
    assert failed_pieces(calls) == [("s", "d", 2)]


def test_needles_stay_whole_in_short_pieces(study):
    needles = {needle.id: needle.paragraph for needle in study["corpus"].needles}
    shown = all_pieces(study["corpus"], PLAN.model_copy(update={"piece_chars": 200}))[
        ENRICHED, "report"
    ]
    assert (
        text_of([unit for piece in shown for unit in piece.units])
        == study["corpus"].infusions["report"].text
    )
    inside = {unit.needle: unit.text for piece in shown for unit in piece.units if unit.needle}
    assert {name: text.strip() for name, text in inside.items()} == needles
    assert all(
        len(piece.units) == 1 for piece in shown for unit in piece.units if len(unit.text) > 200
    )


def test_a_changed_document_is_refused(study, tmp_path):
    study["corpus"].save(tmp_path)
    documents = [
        dataclasses.replace(document, text=document.text + "!")
        for document in study["corpus"].documents
    ]
    write_rows(tmp_path / "documents.jsonl", documents)
    with pytest.raises(
        UserError, match="without its needles, 'report' is not its document; make the needles again"
    ):
        Corpus.load(tmp_path)
