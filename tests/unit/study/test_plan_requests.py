"""What models, judges and needles would be asked, counted before and after it is really asked."""

import json
from pathlib import Path

import pytest
import yaml

from support.fake_endpoint import FakeEndpoint, Reply
from support.needle_model import NeedleModel, make_document
from tripleaudit.cli import main
from tripleaudit.core.files import write_json
from tripleaudit.corpora.model import Sentence, Span, Triple
from tripleaudit.corpora.store import save_sentences
from tripleaudit.generative.extraction import build_task
from tripleaudit.llm.client import Client, Endpoint
from tripleaudit.study.requests import as_table
from tripleaudit.study.study import Study

TEXTS = {f"Ann met Bo{number}.": [["Ann", "met", f"Bo{number}"]] for number in range(5)}
PRICES = {"input": 10, "output": 20}
CORPORA = {"c": {"files": {"train": "gold.json", "test": "test.json"}}}


def endpoint(url, **more):
    return {
        "base_url": url,
        "model": "fake",
        "max_retries": 0,
        "prices": PRICES,
        "max_tokens": 100,
        **more,
    }


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The folder of a study with a judge; ``write`` changes its sections."""
    monkeypatch.chdir(tmp_path)
    for name in ("gold.json", "test.json"):
        (tmp_path / name).write_text(json.dumps(TEXTS))
    (tmp_path / "out.json").write_text(
        json.dumps({text: [*rows, ["x", "y", "z"]] for text, rows in TEXTS.items()})
    )

    def write(url, **sections):
        config = {
            "study": "s",
            "generative": {"cache": "cache", "endpoints": {"e": endpoint(url)}},
            **sections,
        }
        (tmp_path / "study.yaml").write_text(yaml.safe_dump(config))
        return tmp_path

    return write


@pytest.fixture
def estimated(told):
    """Returns the jobs of the study, by data set and system, and the whole estimate."""

    def jobs():
        result = told("estimate", "study.yaml")
        return {(job["dataset"], job["system"]): job for job in result["jobs"]}, result

    return jobs


def test_extractions_are_counted_and_shown(study, told, tmp_path, capsys):
    """Of a data set that is prepared, of another one that is not, and one extraction that is
    finished.
    """
    sentences = [Sentence(str(number), f"text {number}") for number in range(6)]
    save_sentences(tmp_path / "r/generative/d/texts.jsonl", sentences)
    systems = {"s": {"endpoint": "e"}, "finished": {"endpoint": "e", "datasets": ["d"]}}
    texts = {"d": {"corpus": "c"}, "later": {"corpus": "webnlg"}}
    generative = {"cache": "cache", "budget": 0.01, "datasets": texts}
    asked = ["estimate", "study.yaml", "--results", "r"]
    with FakeEndpoint(Reply("[]", completion_tokens=7)) as fake:
        generative |= {"systems": systems, "endpoints": {"e": endpoint(fake.url)}}
        corpora = {**CORPORA, "webnlg": None}
        study("", corpora=corpora, generative=generative)
        done = Study.read("study.yaml").language_models.identity("d", "finished")
        write_json(tmp_path / "r/generative/d/finished/report.json", {"identity": done})
        with Client(Endpoint(fake.url, "fake", max_tokens=100), tmp_path / "cache") as client:
            client.complete_all(
                [request for *_, request in build_task({}, {}, sentences).requests(sentences[:2])]
            )
        result = told(*asked)
        assert main(asked) == 0 and fake.count == 2  # nothing was sent
    jobs = {(job["dataset"], job["system"]): job for job in result["jobs"]}
    assert (
        set(jobs) == {("d", "s"), ("later", "s"), ("d", "finished")}
        and jobs["d", "finished"]["done"]
    )
    figures = jobs["d", "s"]
    assert (figures["total"], figures["cached"], figures["to_pay"], result["unknown"]) == (
        6,
        2,
        4,
        ["later"],
    )
    assert (figures["completion_tokens"], figures["completion_limit"]) == (4 * 7, 4 * 100)
    assert figures["cost"] == pytest.approx((figures["prompt_tokens"] * 10 + 28 * 20) / 1e6)
    text = capsys.readouterr().out
    assert "2 of 3 jobs are to run" in text and "the budget may not suffice" in text
    assert "budget 1, spent or reserved 0.2500, left 0.7500" in as_table(
        {**result, "budget": 1.0, "spent": 0.25}
    )
    assert "not counted, because what they read is not made yet: later" in text
    shown = [line.split() for line in text.splitlines()]
    assert ["d", "s", "e", "6", "2", "4"] in [row[:6] for row in shown] and [
        "d",
        "finished",
        "e",
        "done",
    ] in shown
    assert ["at", "least", "6", "2", "4"] in [row[:5] for row in shown]
    systems["finished"]["max_tokens"] = 5  # a result of other settings is not done
    study("", corpora=corpora, generative=generative)
    assert [job["done"] for job in told(*asked)["jobs"]] == [False, False, False]


def judge(url, out):
    section = json.dumps({"cache": "cache", "endpoints": {"e": endpoint(url)}})
    arguments = ["--section", section, "--study", "s", "--endpoint", "e", "--triples", "out.json"]
    for name in ("factualness", "granularity", "report"):
        arguments += [f"--{name}", str(out / f"{name}.json")]
    assert main(["gre-judge", "--kinds", "factualness", "granularity", *arguments]) == 0


def test_the_judge_of_the_grescores_is_counted_as_it_is_sent(study, estimated):
    system = {"triples": "out.json", "judge": True}
    gre = {
        "judge": {"endpoint": "e"},
        "embedder": None,
        "datasets": {
            "d": {
                "level": "sentence",
                "gold": {"triples": "gold.json"},
                "systems": {"mine": system},
            }
        },
    }
    with FakeEndpoint(
        answer=lambda body: "true" if "Claim" in str(body) else '{"parts": []}'
    ) as fake:
        folder = study(fake.url, grescores=gre)
        jobs, result = estimated()
        job = jobs["d", "mine (judge)"]
        assert (job["total"], job["cached"], job["to_pay"], job["done"]) == (10 + 6, 0, 16, False)
        assert job["cost"] > 0
        assert result["total"]["to_pay"] == 16
        assert fake.count == 0  # nothing was sent
        judge(fake.url, folder / "elsewhere")
        assert fake.count == 16
        job = estimated()[0]["d", "mine (judge)"]
        assert (job["total"], job["cached"], job["to_pay"], job["cost"]) == (16, 16, 0, 0.0)
        judge(fake.url, folder / "results/s/gre/d/judged/mine/e")
        assert estimated()[0]["d", "mine (judge)"]["done"]
        assert fake.count == 16


def test_what_reads_files_that_are_not_made_yet_is_named(study, estimated, capsys, tmp_path):
    (tmp_path / "report.txt").write_text(make_document(40).text)
    generative = {"endpoints": {"e": endpoint("http://127.0.0.1:9/v1", api_key_env="NOT_SET_HERE")}}
    generative |= {
        "cache": "cache",
        "datasets": {"d": {"corpus": "webnlg"}},
        "systems": {"lm": {"endpoint": "e"}},
    }
    gre = {"judge": {"endpoint": "e"}, "embedder": {"endpoint": "e"}}
    gre["datasets"] = {"g": {"generative": "d", "level": "sentence", "extractors": False}}
    systems = {
        "shown": {"endpoint": "e", "protocols": ["original"]},
        "some": {"endpoint": "e", "limit": 2},
    }
    study("", generative=generative, corpora={"webnlg": None}, grescores=gre, systems=systems)
    jobs, result = estimated()
    assert set(jobs) == {("d", "lm")} and result["missing_keys"] == ["NOT_SET_HERE"]
    assert result["unknown"] == [
        "d",
        *(
            f"webnlg/{name} (original: its sentences are not made yet)"
            for name in ("shown", "some")
        ),
        "g/lm (judge e: its triples are not there yet)",
        "g (embeddings: its gold triples are not there yet)",
    ]
    assert main(["estimate", "study.yaml"]) == 0
    assert "environment variables to set first: NOT_SET_HERE" in capsys.readouterr().out


@pytest.fixture
def needles(tmp_path):
    """A section on a document that is there."""
    (tmp_path / "report.txt").write_text(make_document(40).text)
    plan = {
        "schema": "demo",
        "iterations": 0,
        "piece_chars": 3000,
        "reserve": 300,
        "untouched": False,
    }
    return {"documents": ["report.txt"], "models": ["e"], "target": 0.05, "minimum": 0.01, **plan}


def extract_needles(url, needles, out="out", **more):
    """Make the needles, and extract them with the judge that the model itself is."""
    plan = json.dumps(
        {key: needles[key] for key in needles if key not in ("documents", "models", "needle_file")}
    )
    common = [
        "--section",
        json.dumps({"cache": "cache", "endpoints": {"e": endpoint(url, **more)}}),
        "--study",
        "s",
    ]
    made = [
        "--documents",
        "report.txt",
        "--needle-file",
        needles.get("needle_file", ""),
        "--out",
        "corpus",
    ]
    assert main(["make-needles", "--plan", plan, *common, *made]) == 0
    arguments = [*common, "--corpus", "corpus", "--endpoint", "e", "--out", out]
    assert main(["extract-needles", "--plan", plan, *arguments]) == 0


def test_a_study_is_counted_before_its_first_run_from_its_own_files(study, estimated, tmp_path):
    """Texts, test and training sentences are read from the corpus; nothing was made by the
    workflow yet.
    """
    (tmp_path / "valid.json").write_text((tmp_path / "gold.json").read_text())
    corpora = {"c": {"files": {"train": "gold.json", "valid": "valid.json", "test": "test.json"}}}
    corpora["alone"] = {"files": {"test": "test.json"}, "relations": {"met": ""}}
    systems = {"lm": {"endpoint": "e"}}
    generative = {"cache": "cache", "endpoints": {"e": endpoint("http://127.0.0.1:9/v1")}}
    generative |= {
        "datasets": {"d": {"corpus": "c", "limit": 2}},
        "systems": {"s": {"endpoint": "e"}},
    }
    study("", corpora=corpora, systems=systems, generative=generative)
    jobs, result = estimated()
    counted = {key: job["total"] for key, job in jobs.items()}
    assert counted == {("d", "s"): 2, ("c", "lm (original)"): 5, ("alone", "lm (original)"): 5}
    assert result["unknown"] == [] and result["total"]["cost_limit"] > 0


def test_needles_are_counted_as_they_are_sent(study, estimated, needles):
    with FakeEndpoint(NeedleModel()) as fake:
        study(fake.url, needles=needles)
        jobs, _ = estimated()
        extraction, asked = jobs["needles", "e (extraction)"], jobs["needles", "e (judge)"]
        assert extraction["to_pay"] >= 3
        assert asked["to_pay"] > 0
        dear = endpoint(fake.url, prices={name: 10 * price for name, price in PRICES.items()})
        both = {"cache": "cache", "endpoints": {"e": endpoint(fake.url), "dear": dear}}
        study(fake.url, generative=both, needles=needles | {"judge": "dear"})
        assert estimated()[0]["needles", "e (judge)"]["cost"] == pytest.approx(10 * asked["cost"])
        study(fake.url, needles=needles | {"judge": None})
        assert set(estimated()[0]) == {("needles", "e (extraction)")}
        study(fake.url, needles=needles)
        assert fake.count == 0
        extract_needles(fake.url, needles)
        assert 0 < fake.count <= extraction["to_pay"] + asked["to_pay"]
        jobs, _ = estimated()
        sent = sum(jobs["needles", f"e ({stage})"]["cached"] for stage in ("extraction", "judge"))
        assert sent == fake.count
        assert sum(job["to_pay"] for job in jobs.values()) == 0 and not any(
            job["done"] for job in jobs.values()
        )
        extract_needles(fake.url, needles, out="results/s/needles/models/e")
        assert all(job["done"] for job in estimated()[0].values())
        study(fake.url, needles=needles | {"iterations": 1})
        assert not any(job["done"] for job in estimated()[0].values())


def test_embeddings_are_counted_as_they_are_sent(study, estimated, tmp_path):
    own = {
        "level": "sentence",
        "gold": {"triples": "gold.json"},
        "systems": {"mine": {"triples": "out.json"}},
    }
    gre = {
        "judge": None,
        "embedder": {"endpoint": "e"},
        "matching": {"phi": 0.9},
        "datasets": {"d": own},
    }
    with FakeEndpoint() as fake:
        study(fake.url, grescores=gre)
        jobs, result = estimated()
        job = jobs["d", "all (strings to embed)"]
        strings = {part for rows in TEXTS.values() for row in rows for part in row} | {
            "x",
            "y",
            "z",
        }
        assert (job["total"], job["cached"], job["to_pay"], job["done"]) == (
            len(strings),
            0,
            len(strings),
            False,
        )
        assert job["prompt_tokens"] == sum(-(-len(text) // 4) for text in strings)
        assert (
            job["cost"]
            == job["cost_limit"]
            == pytest.approx(job["prompt_tokens"] * PRICES["input"] / 1e6)
        )
        assert result["total"]["to_pay"] == len(strings)
        assert fake.count == 0

        section = json.dumps({"cache": "cache", "endpoints": {"e": endpoint(fake.url)}})
        plan = Study(yaml.safe_load(Path("study.yaml").read_text(encoding="utf-8"))).grescores
        spec, files = plan.spec("d")
        arguments = ["--spec", spec, "--files", *files, "--study", "s", "--out", plan.scores("d")]
        assert main(["gre-systems", *arguments, "--section", section, "--endpoint", "e"]) == 0
        assert fake.count == 2  # a batch of the gold triples' strings, and one of the others
        job = estimated()[0]["d", "all (strings to embed)"]
        assert (job["total"], job["cached"], job["to_pay"], job["cost"]) == (
            len(strings),
            len(strings),
            0,
            0.0,
        )
        assert job["done"]
        (tmp_path / "out.json").write_text(
            json.dumps({text: [["new", "y", "z"]] for text in TEXTS})
        )
        job = estimated()[0]["d", "all (strings to embed)"]
        assert (job["to_pay"], job["done"]) == (
            1,
            False,
        )  # the scores that are there are of other strings


def test_embeddings_of_systems_that_have_not_answered_are_named(study, estimated, tmp_path):
    generative = {"endpoints": {"e": endpoint("http://127.0.0.1:9/v1")}}
    generative |= {
        "cache": "cache",
        "datasets": {"t": {"corpus": "c"}},
        "systems": {"later": {"endpoint": "e"}},
    }
    gre = {
        "embedder": {"endpoint": "e"},
        "datasets": {"d": {"level": "sentence", "generative": "t"}},
    }
    study("", generative=generative, grescores=gre, corpora=CORPORA)
    span = lambda text: Span(None, None, text)  # noqa: E731
    gold = [
        Sentence(
            text,
            text,
            [Triple(span(first), relation, span(last)) for first, relation, last in rows],
        )
        for text, rows in TEXTS.items()
    ]
    save_sentences(tmp_path / "results/s/generative/t/reference.jsonl", gold)
    jobs, result = estimated()
    assert "d (embeddings: the triples of 1 of 2 systems are not there yet)" in result["unknown"]
    assert jobs["d", "all (strings to embed)"]["to_pay"] == 7  # the gold triples' own
