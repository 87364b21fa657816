"""``gre-score``, ``gre-lda``, ``gre-judge`` and ``gre-systems`` on small files, from the command
line down.
"""

import json
import logging
import math

import pytest

from support.fake_endpoint import FakeEndpoint
from tripleaudit.cli import main

A, B = ["Ann", "met", "Bo"], ["Bo", "lives in", "Lyon"]


@pytest.fixture
def files(tmp_path):
    def write(name, value):
        path = tmp_path / name
        path.write_text(json.dumps(value), encoding="utf-8")
        return str(path)

    return {
        "triples": write("triples.json", {"Ann met Bo in Lyon.": [A, B], "Nothing.": []}),
        "reference": write("reference.json", {"Ann met Bo in Lyon.": [A], "Nothing.": []}),
        "factualness": write(
            "fs.json", {"Ann met Bo in Lyon.": {"score": 0.5, "results": [True, False]}}
        ),
        "granularity": write("gs.json", {"Ann met Bo in Lyon.": {"1": "N/A", "2": "[x] [y]"}}),
        "lda-text": write(
            "texts.json", ["Ann met Bo in Lyon .", "Bo lives in Lyon .", "Ann sings ."] * 5
        ),
    }


@pytest.fixture
def score(told, files):
    """Scores files of these kinds."""

    def run(kinds, *more):
        options = [part for kind in kinds for part in (f"--{kind}", files[kind])]
        return told("gre-score", *options, "--bootstrap", "50", *more)

    return run


def test_each_score_is_there_if_its_input_is(score):
    assert set(score(["triples"])) == {"ntri", "ntok", "coverage", "intervals", "record"}
    found = score(
        ["triples", "reference", "factualness", "granularity", "lda-text"], "--topics", "2"
    )
    assert {"ntri", "ntok", "ts", "fs", "gs", "coverage", "precision", "recall", "f1"} <= set(found)
    assert not {"us", "cs"} & set(found)
    assert (found["ntri"], found["ntok"], found["coverage"], found["fs"]) == (1, 3.5, 0.5, 0.5)
    assert found["gs"] == pytest.approx((1 + math.exp(-2)) / 2)
    assert (found["precision"], found["recall"]) == (0.5, 1)
    assert 0 < found["ts"] < 1
    assert (
        found["record"]["scored_texts"]["ts"] == 1
    )  # "Nothing." has no word that the topic model knows


def test_embedder_gives_uniqueness_and_completeness(score, refused, files, tiny_encoder, tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer

    body = Transformer(str(tiny_encoder))
    SentenceTransformer(modules=[body, Pooling(body.get_embedding_dimension())]).save(
        str(tmp_path / "encoder")
    )
    more = ["--embedder", str(tmp_path / "encoder")]
    known = ["--triples", files["triples"], "--reference", files["reference"]]
    assert "no similarity threshold is known" in refused("gre-score", *known, *more)
    found = score(["triples", "reference"], *more, "--phi", "0.9999")
    assert (found["us"], found["cs"]) == (1, 1)
    assert found["record"]["embedder"].startswith("encoder@")


def test_saved_topic_model_gives_the_value_of_one_trained_now(score, files, tmp_path):
    assert (
        main(
            [
                "gre-lda",
                "--text",
                files["lda-text"],
                "--topics",
                "2",
                "--out",
                str(tmp_path / "lda"),
            ]
        )
        == 0
    )
    now = score(["triples", "lda-text"], "--topics", "2")["ts"]
    assert score(["triples"], "--lda", str(tmp_path / "lda"))["ts"] == now


def test_an_endpoint_judges_what_is_not_stored(score, tmp_path):
    with FakeEndpoint(
        answer=lambda body: "true" if "Claim" in str(body) else '{"parts": []}'
    ) as fake:
        more = ["--endpoint", fake.url, "--model", "fake", "--cache", str(tmp_path / "cache")]
        found = score(["triples"], *more)
        assert (found["fs"], found["gs"]) == (1, 1)
        assert found["record"]["judge"]["fs"]["questions"] == 2
        stored = score(["triples", "factualness", "granularity"], *more)
        assert stored["fs"] == 0.5
    assert score(["triples"], *more) == found  # the endpoint is gone; all answers are stored


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            ["--similarities", "reference", "--phi", "-0.5"],
            "phi is -0.5, expected a cosine above 0",
        ),
        (
            ["--similarities", "reference", "--phi", "0"],
            "phi is 0.0, expected",
        ),  # and not the usual one in its place
        (["--embedder", "missing"], "missing: no sentence encoder here"),
        (["--lda", "missing"], "missing: no topic model here"),
        (["--similarities", "missing"], "missing: no such file"),
    ],
)
def test_nothing_is_paid_for_a_command_that_is_refused(refused, files, tmp_path, more, message):
    more = [files.get(part, part) for part in more]
    with FakeEndpoint(answer="true") as fake:
        judge = [
            "--endpoint",
            fake.url,
            "--model",
            "fake",
            "--cache",
            str(tmp_path / "cache"),
            "--prices",
            "1",
            "1",
        ]
        known = ["--triples", files["triples"], "--reference", files["reference"]]
        assert message in refused("gre-score", *known, *judge, *more)
        assert fake.count == 0


def test_progress_of_a_judge_is_shown(score, tmp_path, monkeypatch, logging_as_it_was):
    monkeypatch.setattr(logging.root, "handlers", [])
    with FakeEndpoint("true") as fake:
        more = ["--endpoint", fake.url, "--model", "fake", "--cache", str(tmp_path / "cache")]
        score(["triples", "granularity"], *more)
    assert logging.getLogger("tripleaudit.llm.client").isEnabledFor(logging.INFO)


@pytest.mark.parametrize(
    "more, message",
    [
        (["--endpoint", "http://localhost:1/v1"], "--endpoint and --model belong together"),
        (["--similarities", "x.json"], "--similarities needs --reference"),
        (["--factualness", "missing.json"], "missing.json: no such file"),
    ],
)
def test_errors_are_one_line(refused, files, more, message):
    assert message in refused("gre-score", "--triples", files["triples"], *more)
