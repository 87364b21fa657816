"""The rules of the language-model stage, run by Snakemake against a scripted endpoint."""

import json
from pathlib import Path

import pytest

from support.fake_endpoint import FakeEndpoint, Reply, status
from support.workflow import change, planned, ran, snakemake
from tripleaudit.corpora.store import load_sentences, save_sentences
from tripleaudit.llm.store import Store
from tripleaudit.testing import make_sentence

KEY = "sk-rules-0123456789-secret"


def answer(body) -> Reply:
    shown = body["messages"][-1]["content"]
    words = shown.rsplit("Passage: ", 1)[-1].split("\n")[0].rstrip(".").split(" ")
    text = "leader of" if "Subject: " in shown else json.dumps([words])
    return Reply(text, prompt_tokens=10, completion_tokens=5)


def study(folder: Path, url: str, **endpoint) -> None:
    if not (folder / "test.jsonl").exists():
        pairs = [(f"Person{number}", f"Company{number}") for number in range(8)]
        for name, more in (("train", " So they say."), ("test", "")):
            made = [
                make_sentence(f"{one} leads {two}.{more}", (one, "leaderOf", two), id=one)
                for one, two in pairs
            ]
            save_sentences(folder / f"{name}.jsonl", made)
    (folder / "study.yaml").write_text(f"""
study: lm
corpora: {{mine: {{files: {{train: train.jsonl, test: test.jsonl}}, format: jsonl}}}}
generative:
  budget: 1
  endpoints:
    fake: {{base_url: "{url}", model: fake, api_key_env: RULES_LM_KEY, max_retries: 0, prices: {{input: 1, output: 2}}}}
  datasets: {{few: {{corpus: mine, limit: 5, verbalise: {{leaderOf: leader of}}}}}}
  systems: {{open: {{endpoint: fake, examples: 2}}, closed: {{endpoint: fake, setting: closed}}}}
""")
    change(folder, {"generative": {"endpoints": {"fake": endpoint}}})


@pytest.mark.slow
def test_a_study_is_refused_without_its_key_then_extracted_resumed_and_kept(tmp_path):
    with FakeEndpoint(answer=answer, faults=[None] * 7 + [status(500)] * 99, echo_key=True) as fake:
        study(tmp_path, fake.url)
        ran(tmp_path, "-n", "--", "generative", RULES_LM_KEY="")
        refused = snakemake(tmp_path, "--", "generative", RULES_LM_KEY="")
        assert refused.returncode != 0 and "Traceback" not in refused.stderr
        unset = "- generative/endpoints/fake/api_key_env: the environment variable RULES_LM_KEY is not set"
        assert (
            unset in refused.stdout + refused.stderr
            and not (tmp_path / "results/lm/corpora").exists()
        )
        first = ran(tmp_path, "--", "estimate", RULES_LM_KEY=KEY)
        assert "2 of 2 jobs are to run" in first.stdout
        assert fake.count == 0
        broken = snakemake(tmp_path, "--keep-going", "--", "generative", RULES_LM_KEY=KEY)
        assert broken.returncode != 0
        assert len(fake.answered) == 7
        assert {str(body["messages"]).count("So they say.") for body in fake.answered} == {
            0,
            2,
        }  # examples of one
    with FakeEndpoint(answer=answer) as fake:
        study(
            tmp_path, fake.url, concurrency=2, timeout=30
        )  # another address and other limits change no result
        second = ran(tmp_path, "--", "generative", RULES_LM_KEY=KEY)
        assert fake.count == 3
        folder = tmp_path / "results" / "lm" / "generative" / "few"
        reference = load_sentences(folder / "reference.jsonl")
        assert len(reference) == 5
        assert reference[0].triples[0].relation == "leader of"
        for system, relation in (("open", "leads"), ("closed", "leaderOf")):
            predicted = load_sentences(folder / system / "predictions.jsonl")
            expected = [(f"Person{number}", relation, f"Company{number}") for number in range(5)]
            assert [item.triples[0].strings for item in predicted] == expected
        study(tmp_path, "http://127.0.0.1:9/v1", concurrency=1, prices={"input": 5, "output": 5})
        assert planned(tmp_path, "--", "generative") == {}
        (folder / "open" / "report.json").unlink()
        (folder / "closed" / "report.json").unlink()
        cached = ran(tmp_path, "--", "generative")
        assert fake.count == 3
    assert Store(tmp_path / "results/cache/llm", "lm").spent() == pytest.approx(10 * 20 / 1e6)
    assert not any(
        KEY in result.stdout + result.stderr for result in (first, broken, second, cached)
    )
    assert not [
        path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()
    ]
