"""A model behind llama.cpp's own server, which a job starts and which ends with it."""

import os
import shutil
import subprocess
import sys

import pytest

from support.processes import alive, children, program, wait_for
from tripleaudit.core.errors import UserError
from tripleaudit.llm.client import Client, Endpoint, Request
from tripleaudit.llm.llama import LocalServer
from tripleaudit.llm.prompts import load_prompt
from tripleaudit.llm.reading import STATUSES, parse_label


def local(model: str = "smollm2") -> Endpoint:
    return Endpoint.from_config(
        "local", {"serve": {"source": "smollm2"}, "model": model, "max_tokens": 8}
    )


@pytest.mark.thorough
def test_an_answer_depends_on_its_request_alone(smollm2, tmp_path):
    """Neither on the order nor on what the server has read before, and it is the same on one
    core and on two.
    """
    texts = [f"Bo Lind leads Acme {number}. " * number for number in (1, 3, 2)]
    asked = [Request([{"role": "user", "content": f"Who leads?\n{text}"}]) for text in texts]
    values = {
        "text": "Bo leads Acme.",
        "subject": "Bo",
        "object": "Acme",
        "relations": "leads; owns",
    }
    asked.append(load_prompt("closed").request(**values))
    found = []
    for threads, order in ((1, asked), (2, asked[::-1])):
        server = LocalServer(smollm2, tmp_path / "logs" / "server.log", threads=threads)
        with Client(local(), tmp_path / f"cache{threads}", server=server) as client:
            assert not children(os.getpid(), smollm2)  # it starts when it is needed
            answers = dict(zip(map(id, order), client.complete_all(order), strict=True))
            reported = {"role": "assistant", "content": answers[id(asked[0])].text}
            messages = [*asked[0].messages, reported, {"role": "user", "content": "Who else?"}]
            answers["more"] = client.complete_all([Request(messages)])[
                0
            ]  # in one order right after its start
            (process,) = children(os.getpid(), smollm2)
        assert not alive(process)
        assert "listening" in (tmp_path / "logs" / "server.log").read_text()
        found.append([answers[id(one)] for one in asked] + [answers["more"]])
    assert [answer.text for answer in found[0]] == [answer.text for answer in found[1]]
    assert all(answer.text and 0 < answer.usage.completion_tokens <= 8 for answer in found[0])
    assert {answer.served["model"] for answer in found[0]} == {
        smollm2.stem
    }  # and no path of this machine
    assert parse_label(found[0][-2], ["leads", "owns"])[1] in STATUSES


def test_it_does_not_outlive_a_killed_job(smollm2):
    script = (
        "import sys, time; from tripleaudit.llm.llama import LocalServer; server = LocalServer(sys.argv[1]); "
        "server.start(); print('started', flush=True); time.sleep(600)"
    )
    job = subprocess.Popen(
        [sys.executable, "-c", script, str(smollm2)], stdout=subprocess.PIPE, text=True
    )
    assert job.stdout.readline() == "started\n"
    (server,) = children(job.pid, smollm2)
    job.kill()
    job.communicate()
    assert wait_for(lambda: not alive(server))


def test_what_is_no_model_is_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "model.gguf"
    with pytest.raises(
        UserError, match=r"model\.gguf: no such file, expected a language model as GGUF"
    ):
        LocalServer(path).start()
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(UserError, match="not a GGUF file"):
        LocalServer(path).start()
    path.write_bytes(b"GGUF nothing of the kind")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="xllamacpp"):  # the command says what installs it
        LocalServer(path).start()


def test_a_model_that_does_not_load_is_one_sentence_with_the_servers_last_words(smollm2, tmp_path):
    path = tmp_path / "cut.gguf"
    shutil.copy(smollm2, path)
    with open(path, "r+b") as stream:
        stream.truncate(5_000_000)
    with pytest.raises(
        UserError, match=r"cut\.gguf: this model cannot be served: .*load"
    ) as caught:
        LocalServer(path).start()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("said", ["no room", "0123456789" * 50])
def test_the_servers_last_words_are_400_characters_at_most(tmp_path, monkeypatch, said):
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    python = program(tmp_path / "python", f"#!/bin/sh\nprintf {said!r} >&2\n")
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    with pytest.raises(UserError, match=f"cannot be served: {said[-400:]}$"):
        LocalServer(tmp_path / "model.gguf").start()


def test_answers_of_another_server_are_not_its_own(tmp_path):
    request = Request([{"role": "user", "content": "Who?"}])
    elsewhere = Endpoint("http://127.0.0.1:9/v1", "smollm2", max_tokens=8)
    assert request.key(local()) != request.key(elsewhere)
