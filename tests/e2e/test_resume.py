"""A study that is killed again and again ends with the results of a study that was left alone."""

import collections
import hashlib
import json
import random
import re
import subprocess
import sys
import time

import pytest

from support.fake_endpoint import FakeEndpoint
from support.killing import SOURCE, STARTED, Running, unlock, wheel_of
from support.serving import web_server
from support.workflow import planned, write_study
from tripleaudit.llm.store import Store
from tripleaudit.testing import save_tiny_encoder

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

SEED = 20240607
CONCURRENCY = 2
STAGES = (
    "fetch_model", "prepare_corpus", "build_protocol", "train", "predict", "score", "generate", "score_triples",
    "tables",
)  # fmt: skip
RESULTS = ("tables/*.*", "scores.csv", "gre/scores.csv", "predictions/**/*.jsonl", "models/**/model.safetensors",
           "protocols/**/*.jsonl", "corpora/**/*.jsonl", "counts/**/*.csv", "generative/**/*.jsonl")  # fmt: skip


def triples_of(body):
    """What the endpoint answers: triples that depend on nothing but the question."""
    text = body["messages"][-1]["content"].removeprefix("Passage: ")
    words = text.split()
    digest = hashlib.sha256(text.encode()).digest()[0]
    rows = [[words[0], "comes before", words[-1]]] + [[words[1], "is after", words[0]]] * (
        digest % 3
    )
    return json.dumps({"triples": rows})


def study_in(folder, url):
    """Write the smallest study that has every stage."""
    folder.mkdir()
    endpoint = {
        "base_url": url,
        "model": "fake",
        "concurrency": CONCURRENCY,
        "prices": {"input": 1.0, "output": 2.0},
    }
    write_study(
        folder,
        SOURCE,
        protocols={"original": None, "sift-1": {"rule": "frequency", "max_count": 1, "train": False}},
        settings=["nz"],
        noising=None,
        threads=1,
        training={
            "epochs": 30, "batch_size": 8, "encoder_learning_rate": 3e-3, "head_learning_rate": 1e-2,
            "evaluate_every": 10, "save_every": 20,
        },
        extractors={"casrel": {"model": {"prior": 0.05}}},
        tables={"triple-types": None, "strata-sizes": None, "type-f1": None, "gre-sentence": None},
        generative={
            "endpoints": {"fake": endpoint},
            "budget": 1.0,
            "datasets": {"tiny": {"corpus": "tiny", "limit": 16}},
            "systems": {"fake-open": {"endpoint": "fake"}},
        },
        grescores={"embedder": None, "bootstrap": 20,
                   "datasets": {"tiny": {"level": "sentence", "generative": "tiny"}}},
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Where pip finds the encoder: a folder of wheels and nothing else."""
    home = tmp_path_factory.mktemp("wheels")
    wheel_of(save_tiny_encoder(home / "model", layers=1), home / "index")
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(home / "index")}


def contents(folder):
    """Every result that must not depend on what happened on the way, by its path."""
    study = folder / "results" / "small"

    def content(path):
        if path.name != "answers.jsonl":
            return path.read_bytes()
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for answer in (answer for row in rows for answer in row["answers"]):
            assert answer.pop("served")["model"]  # the server numbers and dates its answers
        return rows

    return {
        str(path.relative_to(study)): content(path)
        for pattern in RESULTS
        for path in sorted(study.glob(pattern))
        if path.is_file() and "checkpoints" not in path.parts
    }


def stored(folder):
    """The texts of the passages whose answers lie in the cache."""
    return Store(folder / "results" / "cache" / "llm").answer_keys()


def asked(fake):
    """How often each passage was sent."""
    return collections.Counter(body["messages"][-1]["content"] for body in fake.requests)


class Victim:
    """The study that is killed, and what has happened to it."""

    def __init__(self, folder, environment, fake):
        self.folder, self.environment, self.fake = folder, environment, fake
        self.kills = 0
        self.resumed = set()  # what the logs of resumed trainings say
        self.counted = self.kept = 0
        self.again = 0  # requests that may be sent twice: those in flight when the job died

    def run(self):
        """Start the study, exactly as it was started the first time."""
        return Running(self.folder, "--", "tables", **self.environment)

    def kill(self, run, delay, rule=None):
        """Kill after so many seconds, or when the job of this rule ends, if that is earlier."""
        end = time.monotonic() + delay
        while time.monotonic() < end and (rule is None or rule in run.running()):
            time.sleep(0.01)
        if not run.kill():
            assert run.process.returncode == 0, run.text[-4000:]
            return
        self.kills += 1
        self.in_flight()
        self.look_for_resumed()
        unlock(self.folder)

    def first_of(self, run, stages):
        """Wait for the first of these stages to begin, in whatever order they come; None if the
        run ends before.
        """

        def begun():
            checkpoints = any((self.folder / "results/small/models").rglob("checkpoint-*.pt"))
            for stage in stages:
                rule, _, later = stage.partition(",")
                if run.started(rule) and (checkpoints or not later):
                    return stage
            return None

        run.wait_until(begun)
        return begun()

    def in_flight(self):
        """Count the requests that were sent and whose answers are not stored."""
        time.sleep(0.05)  # what was on its way arrives
        lost = len(self.fake.requests) - self.counted - (len(stored(self.folder)) - self.kept)
        assert 0 <= lost <= CONCURRENCY, f"{lost} answers of a killed job are lost"
        self.counted, self.kept = len(self.fake.requests), len(stored(self.folder))
        self.again += lost

    def look_for_resumed(self):
        """Count the trainings that went on from a checkpoint; a rerun starts a new log."""
        for path in (self.folder / "results/small/logs/train").rglob("*.log"):
            self.resumed |= set(
                re.findall(r"^.*resuming from checkpoint-\d+", path.read_text(), re.MULTILINE)
            )


def test_a_study_that_is_killed_at_any_moment_ends_with_the_same_tables(tmp_path, environment):
    draw = random.Random(SEED)
    with FakeEndpoint(answer=triples_of, latency=0.15) as fake:
        calm = study_in(tmp_path / "calm", fake.url)
        run = Running(calm, "--", "tables", **environment)
        assert run.wait() == 0, run.text[-4000:]
        seconds = run.seconds_of_rules()
        calm_requests = asked(fake)
    assert set(STAGES) <= set(seconds), sorted(seconds)
    assert calm_requests.total() == len(calm_requests) == 16

    with FakeEndpoint(answer=triples_of, latency=0.15) as fake:
        victim = Victim(study_in(tmp_path / "killed", fake.url), environment, fake)
        planning = 1.2 * next(moment for moment, line in run.lines if STARTED.match(line))
        pending = {stage: 0.6 * seconds[stage] for stage in STAGES}
        pending["train, after a checkpoint"] = 0.1 * seconds["train"]
        while pending:
            run = victim.run()
            if draw.random() < 0.4:  # while it plans, or in the job that happens to be first
                victim.kill(run, draw.uniform(0, planning))
                run = victim.run()
            stage = victim.first_of(run, pending)
            assert stage, f"never seen running: {sorted(pending)}"
            victim.kill(run, draw.uniform(0, pending.pop(stage)), stage.partition(",")[0])
        run = victim.run()
        assert run.wait() == 0, run.text[-4000:]
        victim.look_for_resumed()
        killed_requests = asked(fake)

    assert victim.kills >= 10
    expected, found = contents(calm), contents(victim.folder)
    assert len([name for name in expected if name.startswith("tables/")]) == 20
    assert sorted(expected) == sorted(found)
    assert [name for name in expected if expected[name] != found[name]] == []
    assert victim.resumed
    assert set(killed_requests) == set(calm_requests)
    assert killed_requests.total() - len(killed_requests) <= victim.again
    assert planned(victim.folder, "--", "tables", **environment) == {}


def test_a_download_that_is_killed_in_the_middle_is_made_again(tmp_path):
    content = random.Random(SEED).randbytes(3_000_000)
    target = tmp_path / "corpus.json"
    command = [
        sys.executable,
        "-m",
        "tripleaudit",
        "fetch",
        "--sha256",
        hashlib.sha256(content).hexdigest(),
    ]
    with web_server() as server:
        command += ["--source", server.serve("corpus.json", content, "stall"), "--out", str(target)]
        killed = subprocess.Popen(command)
        while not any(path.stat().st_size > 1_000_000 for path in tmp_path.rglob("download")):
            assert killed.poll() is None
            time.sleep(0.01)
        killed.kill()
        killed.wait()
        assert not target.exists()
        subprocess.run(command, check=True)
    assert target.read_bytes() == content
    assert server.requests == ["corpus.json"] * 2
