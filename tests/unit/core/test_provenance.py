"""What a provenance record says, and what it must not say."""

import json
import subprocess

from tripleaudit.core.provenance import digest, git_state, provenance


def record(tmp_path, **changes):
    file = tmp_path / "train.jsonl"
    file.write_text("{}\n", encoding="utf-8")
    options = {
        "settings": {"b": 1, "a": 2},
        "seed": 3,
        "device": "cpu",
        "seconds": 1.23456,
    } | changes
    return provenance(command="train", inputs={"train": file}, **options)


def test_a_record_names_code_data_settings_versions_and_times(tmp_path):
    found = record(tmp_path)
    sha256 = "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"
    assert found["inputs"]["train"] == {"name": "train.jsonl", "sha256": sha256}
    assert found["settings_sha256"] == digest({"a": 2, "b": 1})
    assert found["packages"]["torch"].startswith("2.")
    assert (found["seed"], found["device"], found["seconds"]) == (3, "cpu", 1.235)


def test_a_digest_is_of_the_canonical_form_and_stays_what_it_is():
    assert (
        digest({"b": ["é", 1], "a": None})
        == "78ab89dca31849202db8157bb7253b0a46e90c5e369f642a1afb539fc54e1cb2"
    )


def test_a_record_holds_no_path_and_no_host(tmp_path):
    import socket

    text = json.dumps(record(tmp_path))
    assert str(tmp_path) not in text
    assert socket.gethostname() not in text or len(socket.gethostname()) < 4


def test_missing_packages_and_checkouts_are_none(tmp_path, monkeypatch):
    monkeypatch.setattr("tripleaudit.core.provenance.PACKAGES", ("no-such-package",))
    assert record(tmp_path)["packages"] == {"no-such-package": None}
    assert git_state(tmp_path) is None


def test_the_state_of_a_checkout(tmp_path):
    def git(*arguments):
        command = [
            "git",
            "-C",
            tmp_path,
            "-c",
            "user.name=n",
            "-c",
            "user.email=e@example.org",
            *arguments,
        ]
        subprocess.run(command, check=True, capture_output=True)

    git("init")
    (tmp_path / "file").write_text("1", encoding="utf-8")
    git("add", "file")
    git("commit", "-m", "m")
    clean = git_state(tmp_path)
    assert clean["clean"] is True
    assert len(clean["commit"]) == 40
    (tmp_path / "file").write_text("2", encoding="utf-8")
    assert git_state(tmp_path) == {**clean, "clean": False}
