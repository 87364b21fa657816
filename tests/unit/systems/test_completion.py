"""The completion probe: what is hidden, what is left out, who is said to know what it was not shown."""

import json
from dataclasses import replace

import pytest

from support.fake_endpoint import FakeEndpoint
from support.hidden_halves import AUGMENTED, NUMBER, ORIGINAL, PARTS, TRAIN, knows, write_sets
from support.scored import told
from support.webnlg import sentence
from tripleaudit.corpora.model import Sentence
from tripleaudit.corpora.store import save_sentences
from tripleaudit.files import read_json
from tripleaudit.plan.systems import next_attempt
from tripleaudit.systems.completion import CompletionFiles, chosen, cut, lookup, split, write_completion
from tripleaudit.tables.building import build_table
from tripleaudit.tables.gates import NOT_MEASURED
from tripleaudit.tables.loading import load_inputs

KEYS = {"study": "s", "corpus": "demo", "protocol": "original", "training": "nz", "testing": "nz", "seed": ""}
PRICES = {"input": 1.0, "output": 2.0}


def test_the_shown_half_ends_between_words_and_holds_one_entity_alone():
    half = cut(sentence("Ada Lund works for Harrow Steel .", ("Ada Lund", "employer", "Harrow Steel")))
    assert (half.shown, half.hidden) == ("Ada Lund works", {0: "object"})
    half = cut(sentence("Ada Lund visited Rome", ("Ada Lund", "visited", "Rome")))
    assert (half.shown, half.hidden) == ("Ada Lund", {0: "object"})
    half = cut(sentence("In Oslo lives Ben Ode today .", ("Ben Ode", "residence", "Oslo")))
    assert (half.shown, half.hidden) == ("In Oslo lives", {0: "subject"})
    half = cut(sentence("Ada of the hill went to see the Isle of Man .", ("Ada", "r", "Isle of Man")))
    assert half.hidden == {0: "object"}  # "of" and "the" give nothing away
    assert cut(Sentence("e", "")).shown == cut(Sentence("e", "Alone")).shown == ""


@pytest.mark.parametrize(
    ("text", "pair", "why"),
    [
        ("Ada knows Bo and nobody else at all .", ("Ada", "Bo"), "hidden name shown"),
        ("Parisian Ada of the old town is from Paris now .", ("Ada", "Paris"), "hidden name shown"),  # in a longer word
        ("Aarhus is where one lands , at Aarhus Airport , today .", ("Aarhus", "Aarhus Airport"), "hidden name shown"),
        ("Ada of steel has in the end joined Harrow Steel .", ("Ada", "Harrow Steel"), "hidden name shown"),
        ("Ada is one of New York 's many many friends .", ("Ada", "New York"), "hidden name shown"),  # cut within it
        ("Once upon a time there was Ada in Rome .", ("Ada", "Rome"), "nothing of it shown"),
        ("Ada lived there in the end , they say .", ("Ada", "Rome"), "not in the text"),
    ],
)
def test_what_the_shown_half_gives_away_is_left_out(text, pair, why):
    half = cut(sentence(text, (pair[0], "r", pair[1])))
    assert (half.hidden, half.why) == ({}, {0: why})


def test_only_what_is_hidden_in_a_variant_too_is_asked_for_and_the_rest_counted():
    own = sentence("Ada Lund works for Harrow Steel .", ("Ada Lund", "employer", "Harrow Steel"))
    there = sentence("Ada Lund in Oslo works there today and now .", ("Ada Lund", "employer", "Oslo"))
    variants = [sentence("Bo works for Delta .", ("Bo", "employer", "Delta")), there]
    open_ = sentence("Bo for Delta works for years and years .", ("Bo", "employer", "Delta"))
    odd = sentence("Bo works for Delta .", ("Bo", "residence", "Delta"))
    own, there = replace(own, id="a"), replace(there, id="b")
    variants = [
        replace(one, id=f"{of}.{n}") for n, (one, of) in enumerate(zip([*variants, open_, odd], "abab", strict=True))
    ]
    pairs, counts = chosen([own, there], variants, 9)
    assert [(len(variants), original.hidden) for original, variants in pairs] == [(1, {0: "object"})]
    assert (counts["of"], counts["left_out"]) == (2, 1) and counts["why"]["hidden name shown"] == 1
    same = [sentence(f"{one} works for {other} .", (one, "employer", other)) for one, other in
            (("Ada Lund", "Delta"), ("Bo", "Harrow Steel"), ("Harrow Steel", "Bo"))]  # fmt: skip
    pairs, counts = chosen([own], [replace(one, id=f"a.{n}") for n, one in enumerate([open_, odd, *same])], 9)
    assert not pairs and counts["why"]["no variant"] == 1
    assert [original.sentence.id for original, _ in chosen(ORIGINAL, AUGMENTED, 4)[0]] == ["t0", "t10", "t20", "t30"]


def test_the_lookup_completes_with_the_most_frequent_other_entity():
    names = lookup(TRAIN)
    assert split(("Ada", "born_in", "Oslo"), "subject") == (("object", "Oslo", "born_in"), "Ada")
    assert names["subject", "Ada00 Lund00", "born_in"] == "Harrow00"  # twice against once
    assert names["object", "Elsewhere", "born_in"] == "Ada00 Lund00"  # the first of equally many
    assert ("subject", "Nobody", "born_in") not in names


@pytest.fixture
def probe(tmp_path):
    """Query a model about hidden halves; returns the outcome and the tables' inputs of it."""
    paths = write_sets(tmp_path)

    def query(url: str, number: int = 99, attempt: int = 0):
        endpoint = {"base_url": url, "model": "m", "prices": PRICES, "max_retries": 0}
        section = {"cache": str(tmp_path / "cache"), "budget": 9, "endpoints": {"fake": endpoint}}
        job = {"study": "s", "section": section, "relations": {"born_in": "where life began"}, "threads": 1}
        settings = {"endpoint": "fake", "setting": "closed", "reask": True, "examples": 3, "completion": number}
        out = tmp_path / "out.json"
        files = CompletionFiles(**paths, out=out)
        write_completion("lm", settings, files, job, {**KEYS, "extractor": "lm"}, attempt)
        return read_json(out), load_inputs(runs=[out])

    return query


def test_a_model_that_knows_the_benchmark_memorised_names_the_hidden_half_of_the_originals_alone(probe, kept):
    with FakeEndpoint(knows(ORIGINAL)) as fake:
        found, inputs = probe(fake.url)
        assert fake.count == NUMBER * (1 + len(PARTS)) == found["completion"]["took"]["sent"]
        shown = [body["messages"][-1]["content"] for body in fake.requests]
        probe(fake.url)
        assert fake.count == len(shown)  # nothing is asked again
    assert all("Harrow" not in text and "Delta" not in text and "- born in: where life began" in text for text in shown)
    assert found["completion"]["took"]["money"] > 0 and found["failed"] is None
    # of the originals the lookup completes one; of the variants, which count the originals twice, one of eighty
    kept("tables/completion.md", told(build_table("completion", inputs)))


@pytest.mark.parametrize(
    ("known", "number", "name"),
    [([], 99, "knows-nothing"), ([*ORIGINAL, *AUGMENTED], 99, "reads-minds"), (ORIGINAL, 5, "few")],
)
def test_no_difference_and_few_sentences_draw_no_conclusion(probe, kept, known, number, name):
    with FakeEndpoint(knows(known)) as fake:
        _, inputs = probe(fake.url, number)
        assert fake.count == 3 * min(number, NUMBER)
    kept(f"tables/completion-{name}.md", told(build_table("completion", inputs)))


def test_an_endpoint_that_fails_costs_its_row_and_is_queried_once_more(probe, tmp_path):
    found, inputs = probe("http://127.0.0.1:9/v1")
    assert "cannot be reached" in found["failed"] or "127.0.0.1:9" in found["failed"]
    table = build_table("completion", inputs)
    assert not table.rows and any("lm (Demo) has no row:" in note for note in table.notes)
    assert build_table("completion", inputs).answer == NOT_MEASURED
    assert next_attempt(tmp_path / "out.json") == 1
    with FakeEndpoint(knows([])) as fake:
        assert probe(fake.url, attempt=1)[0]["failed"] is None
    assert next_attempt(tmp_path / "out.json") == 1


def test_without_variants_nothing_is_sent(probe, tmp_path, kept):
    save_sentences(tmp_path / "augmented.jsonl", [])
    found, inputs = probe("http://127.0.0.1:9/v1")
    assert found["failed"] is None and not found["completion"]["rows"]
    kept("tables/completion-without-variants.md", told(build_table("completion", inputs)))


def test_names_count_as_the_whole_sentence_spells_them(probe):
    def loud(body):
        rows = json.loads(knows(ORIGINAL)(body))["triples"]
        return json.dumps({"triples": [[s.upper(), r, o.upper()] for s, r, o in rows]})

    with FakeEndpoint(loud) as fake:
        _, inputs = probe(fake.url, 10)
    assert build_table("completion", inputs).rows[0].cells[2].value == 100
