"""The MINEA commands: estimate first, one sentence for bad input."""

import json

import pytest

from support.fake_endpoint import FakeEndpoint
from support.needle_model import NeedleModel, make_document, make_needles
from tripleaudit.cli import main
from tripleaudit.commands.minea import as_object
from tripleaudit.core.files import write_jsonl
from tripleaudit.core.rows import write_rows
from tripleaudit.scoring.scores import Score, keys_of


@pytest.fixture
def document(tmp_path, monkeypatch):
    """A report, in the folder where commands run."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "report.txt"
    path.write_text(make_document(60).text, encoding="utf-8")
    return path


def test_estimate_first_then_yes(document, tmp_path, told, capsys):
    common = [
        str(document),
        "--schema",
        "demo",
        "--model",
        "m",
        "--needle-source",
        "templates",
        "--iterations",
        "1",
    ]
    common += ["--piece-chars", "3000", "--reserve", "300", "--prices", "1", "2", "--timeout", "20"]
    with FakeEndpoint(NeedleModel()) as fake:
        common += ["--endpoint", fake.url]
        assert main(["minea", *common, "--estimate"]) == 0
        assert main(["minea", *common]) == 0 and fake.count == 0
        shown = capsys.readouterr()
        assert (
            "nothing sent yet" in shown.err
            and "cost        at most" in shown.err
            and "Add --yes" in shown.err
        )
        result = told("minea", *common, "--yes", "--out", "out")
        sent = fake.count
        assert result["minea"]["needles"] > 0 and 0 <= result["minea"]["minea"] <= 1
        assert set(result["minea"]["criteria"]) == {"n", "ns", "k0.5", "k0.6", "k0.7", "llm"}
        assert (
            len(result["iterations"]) == 2
            and result["statuses"]["truncated"] > 0
            and result["cost"] > 0
        )
        assert (
            main(["minea", *common]) == 0 and fake.count == sent
        )  # everything is stored: nothing to confirm
        assert "MINEA: share of infused needles" in capsys.readouterr().out
    assert (tmp_path / "out" / "tables" / "minea.html").exists()
    assert main(["minea", *common, "--yes"]) == 0  # and no endpoint is needed


def test_scores_become_one_object_by_hand():
    """Of needles that no text holds the rate over all types alone."""
    values = [
        ("needles", "all", "", "minea", 0.5),
        ("needles", "all", "", "displaced", 2),
        ("needles", "all", "n", "rate", 0.4),
        ("needles", "group:1", "", "minea", 0.6),
        ("needles", "Person", "", "needles", 7),
        ("needles-untouched", "all", "", "minea", 0.1),
        ("needles-untouched", "all", "", "needles", 9),
        ("needles-untouched", "Person", "", "minea", 0.2),
        ("parts", "10", "", "redundancy", 0.8),
        ("parts", "2", "", "redundancy", 0.7),
        ("parts", "all", "", "restarted", 1),
    ]
    scores = [
        Score(keys_of({"study": "s", "corpus": "c", "protocol": protocol, "extractor": "m"}), *row)
        for protocol, *row in values
    ]
    report = {
        "statuses": {},
        "incomplete": [],
        "prompt_tokens": 1,
        "completion_tokens": 2,
        "cost": 0.3,
    }
    assert as_object(scores, {"needles": "made"}, report) == {
        "minea": {"minea": 0.5, "low": None, "high": None, "displaced": 2, "criteria": {"n": 0.4}},
        "groups": {"1": {"minea": 0.6, "low": None, "high": None}},
        "types": {"Person": {"needles": 7}},
        "false_positives": 0.1,
        "iterations": [],
        "parts": [{"redundancy": 0.7}, {"redundancy": 0.8}],
        "needles": "made",
        **report,
    }


def test_budget_stops_before_it_is_exceeded(document, refused, capsys):
    with FakeEndpoint(NeedleModel()) as fake:
        options = [
            str(document),
            "--schema",
            "demo",
            "--model",
            "m",
            "--endpoint",
            fake.url,
            "--yes",
            "--no-judge",
        ]
        options += [
            "--needle-source",
            "templates",
            "--reserve",
            "100",
            "--prices",
            "1",
            "1",
            "--budget",
            "0.02",
        ]
        assert main(["minea", *options]) == 1
        assert "the budget of 0.02 is used up" in capsys.readouterr().err
        unpriced = refused(
            "minea", document, "--model", "m", "--endpoint", fake.url, "--budget", "1"
        )
        assert "--budget requires --prices" in unpriced


def test_another_judge_gets_the_questions_of_a_judge_and_no_others(document):
    plan = json.dumps(
        {"schema": "demo", "target": 0.3, "piece_chars": 2500, "iterations": 0, "untouched": False}
    )
    write_rows("needles.jsonl", make_needles())
    made = [
        "make-needles",
        "--section",
        "{}",
        "--study",
        "s",
        "--plan",
        plan,
        "--documents",
        str(document),
    ]
    assert main([*made, "--needle-file", "needles.jsonl", "--out", "corpus"]) == 0
    with FakeEndpoint(NeedleModel()) as fake, FakeEndpoint(NeedleModel()) as other:
        servers = {
            "fake": {"base_url": fake.url, "model": "m"},
            "other": {"base_url": other.url, "model": "j"},
        }
        values = json.dumps({"endpoints": servers, "cache": "cache"})
        arguments = [
            "extract-needles",
            "--study",
            "s",
            "--plan",
            plan,
            "--corpus",
            "corpus",
            "--endpoint",
            "fake",
        ]
        assert main([*arguments, "--section", values, "--judge", "other", "--out", "out"]) == 0
    asked = [
        {
            "These records were extracted" in body["messages"][-1]["content"]
            for body in each.requests
        }
        for each in (fake, other)
    ]
    assert asked == [{False}, {True}]


def test_types_that_a_model_finds_fitting_become_a_schema(document, tmp_path, capsys):
    rows = [
        {"type": "Person", "relevance": 0.9, "reason": "people"},
        {"type": "Boat", "relevance": 0.7, "reason": "b"},
    ]
    with FakeEndpoint(json.dumps(rows)) as fake:
        values = {"endpoints": {"fake": {"base_url": fake.url, "model": "m"}}, "cache": "cache"}
        model = ["--section", json.dumps(values), "--endpoint", "fake"]
        assert (
            main(
                ["needles", "discover", "--documents", "report.txt", *model, "--out", "schema.json"]
            )
            == 0
        )
    assert list(json.loads((tmp_path / "schema.json").read_text())["types"]) == ["Person", "Boat"]
    assert "0.90  Person" in capsys.readouterr().out


def test_bad_input_is_one_sentence(document, tmp_path, refused):
    (tmp_path / "schema.json").write_text('{"version": 1, "types": {"A": {"property": {}}}}')
    (tmp_path / "short.txt").write_text("Just a few words.")
    good = [
        "--model",
        "m",
        "--endpoint",
        "http://127.0.0.1:9/v1",
        "--yes",
        "--needle-source",
        "templates",
    ]
    report = [str(document), *good]
    for arguments, message in (
        (
            [*report, "--schema", "schema.json"],
            "/types/A: unknown key 'property', did you mean 'properties'",
        ),
        (
            ["short.txt", *good],
            "document 'short': its 17 characters need between 2 and 7 characters of needles",
        ),
        ([*report, "--context", "100"], "4095 tokens kept free leave none of a context of 100"),
        ([*report, "--context", "4400"], "cannot hold the instructions"),
        ([str(document), "--model", "m"], "expected one of --endpoint URL and --gguf FILE"),
    ):
        assert message in refused("minea", *arguments)
    write_jsonl(
        tmp_path / "needles.jsonl",
        [{"id": "x", "type": "T", "paragraph": "p", "name": "n", "keywords": "k"}],
    )
    corpus = [
        "make-needles",
        "--section",
        "{}",
        "--study",
        "s",
        "--documents",
        str(document),
        "--out",
        "c",
        "--plan",
    ]
    said = refused(*corpus, "{}", "--needle-file", "needles.jsonl")
    assert "needles.jsonl line 1/keywords: expected a list, got 'k'" in said
    assert "--plan: not valid JSON" in refused(*corpus, "{")
    assert "did you mean 'iterations'" in refused(*corpus, '{"iteration": 1}')
