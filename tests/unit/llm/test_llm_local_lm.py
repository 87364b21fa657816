"""A model behind ``transformers serve``: a tiny random one, and the real SmolLM2."""

import os
import signal
import subprocess
import sys

import pytest

from support.tiny_lm import save_tiny_lm, wait_for
from tripleaudit.errors import UserError
from tripleaudit.llm.answers import STATUSES, parse_label
from tripleaudit.llm.client import Client, Endpoint, Request
from tripleaudit.llm.local_lm import LocalServer, check_model, convert_gguf
from tripleaudit.llm.prompts import load_prompt


@pytest.fixture(scope="module")
def tiny_lm(tmp_path_factory):
    return save_tiny_lm(tmp_path_factory.mktemp("tiny-lm"))


def serving(name: str) -> list[int]:
    """Process numbers of all servers of a model name."""
    found = subprocess.run(["ps", "-ww", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in found.splitlines() if f" serve {name} " in f"{line} "]


def test_it_stops_at_a_signal_and_takes_its_address_along(tiny_lm, tmp_path):
    url_file, name = tmp_path / "url", f"signalled-{os.getpid()}"
    command = [sys.executable, "-m", "tripleaudit", "serve-lm", "--model-dir", str(tiny_lm), "--name", name]
    command += ["--url-file", str(url_file), "--device", "cpu", "--threads", "1"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        assert wait_for(lambda: url_file.exists() or process.poll() is not None, 90)
        assert url_file.read_text().startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        process.kill()
    assert not url_file.exists()
    assert serving(name) == []


def test_it_answers_side_by_side_and_does_not_outlive_a_killed_job(tiny_lm, tmp_path):
    name, log = f"orphan-{os.getpid()}", tmp_path / "logs" / "server.log"
    script = (
        "import time; from tripleaudit.llm.local_lm import LocalServer; "
        f"server = LocalServer({str(tiny_lm)!r}, {name!r}, {str(log)!r}, device='cpu', threads=1); "
        "print(server.start(), flush=True); time.sleep(600)"
    )
    job = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        url = job.stdout.readline().strip()
        endpoint = Endpoint(url, name, max_tokens=6, concurrency=3, timeout=60)
        questions = [Request([{"role": "user", "content": f"question {number}"}]) for number in range(5)]
        with Client(endpoint, tmp_path / "cache") as client:
            answers = client.complete_all(questions)
        assert {answer.status for answer in answers} <= {"ok", "truncated"}
        assert all(0 < answer.usage.completion_tokens <= 6 for answer in answers)
        assert len(serving(name)) == 1
    finally:
        job.kill()
        job.wait()
    assert wait_for(lambda: not serving(name))
    assert "Uvicorn running" in log.read_text()


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors", "tokenizer"])
def test_a_folder_that_cannot_be_served(tiny_lm, tmp_path, missing):
    for path in tiny_lm.iterdir():
        if not path.name.startswith(missing):
            (tmp_path / path.name).symlink_to(path)
    with pytest.raises(UserError, match="expected config.json" if missing != "tokenizer" else "has no tokenizer"):
        check_model(tmp_path)


def test_a_model_that_does_not_load_is_one_sentence_with_the_servers_last_words(tiny_lm, tmp_path):
    for path in tiny_lm.iterdir():
        if path.name != "model.safetensors":
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / "model.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(UserError, match="the local model broken cannot be served: .*did not start"):
        LocalServer(tmp_path, "broken", device="cpu").start()


def test_a_library_that_the_server_lacks_is_named_with_what_installs_it(tiny_lm, tmp_path, monkeypatch):
    (tmp_path / "transformers.py").write_text("raise ModuleNotFoundError(\"No module named 'uvicorn'\")\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(UserError, match=r"uvicorn is not installed; expected .*: pip install 'tripleaudit\[serve\]'"):
        LocalServer(tiny_lm, "lacking", device="cpu").start()


def test_only_gguf_is_converted(tmp_path):
    path = tmp_path / "model.gguf"
    with pytest.raises(UserError, match="no such file"):
        convert_gguf(path, tmp_path / "out")
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(UserError, match="not a GGUF file"):
        convert_gguf(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_smollm2_is_converted_served_and_read(smollm2, tmp_path):
    folder = convert_gguf(smollm2, tmp_path / "model")
    assert "quantization_config" not in (folder / "config.json").read_text()
    assert check_model(folder)
    name = f"smollm2-{os.getpid()}"
    endpoint = Endpoint(None, name, name="local", max_tokens=12, timeout=300)
    values = {"text": "Bo leads Acme.", "subject": "Bo", "object": "Acme", "relations": "leads; owns"}
    with Client(endpoint, tmp_path / "cache", server=LocalServer(folder, name, device="cpu", threads=1)) as client:
        assert serving(name) == []  # it starts when it is needed
        (answer,) = client.complete_all([load_prompt("closed").request(**values)])
        assert len(serving(name)) == 1
    assert serving(name) == []
    assert answer.text
    assert answer.usage.prompt_tokens > 50
    assert parse_label(answer, ["leads", "owns"])[1] in STATUSES
