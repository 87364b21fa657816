"""Archives that mean harm, or were made by chance: each is one sentence, nothing lands outside,
nothing without end.
"""

import io
import stat
import struct
import tarfile
import zipfile

import pytest

from tripleaudit.core.errors import UserError
from tripleaudit.sources import archives
from tripleaudit.sources.archives import extract

KINDS = ("zip", "tar")
CONTENT = b"x" * 100


def write(path, kind, *names, content=CONTENT):
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in names:
                info = zipfile.ZipInfo("stand-in", (1980, 1, 1, 0, 0, 0))
                info.filename, info.compress_type = name, zipfile.ZIP_DEFLATED
                archive.writestr(info, content)
    else:
        with tarfile.open(path, "w:gz") as archive:
            for name in names:
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return path


HOSTILE = {
    "dot": (["."], "member '.' names no file"),
    "nothing": ([""], "names no file"),
    "dots": (["./."], "names no file"),
    "file, then below it": (["a", "a/b"], "member 'a/b' has the path of another one"),
    "below it, then file": (["a/b", "a"], "member 'a' has the path of another one"),
    "long": (["n" * 300], "has a name that no file here can have"),
    "deep": (
        ["/".join("d" * 63 + "a"), "/".join("e" * 65)],
        "member '(e/)+.* more than 64 folders deep",
    ),
    "short enough": (["n" * 80 + "/b", "n" * 80], f"member '{'n' * 80}' has the path"),
    "shortened": (["n" * 81 + "/b", "n" * 81], f"member '{'n' * 77}...' has the path"),
    "up": (["../a"], "outside its folder"),
    "up later": (["a/../../b"], "outside its folder"),
    "absolute": (["/a"], "outside its folder"),
    "backslash": (["a\\..\\..\\b"], "outside its folder"),
    "drive": (["C:/a"], "outside its folder"),
}


@pytest.mark.parametrize(  # a tar archive ends at an empty name
    ("kind", "name"),
    [(kind, name) for kind in KINDS for name in HOSTILE if (kind, name) != ("tar", "nothing")],
)
def test_a_hostile_name_is_one_sentence(tmp_path, kind, name):
    names, message = HOSTILE[name]
    with pytest.raises(UserError, match=message) as caught:
        extract(write(tmp_path / "a.bin", kind, "ok.txt", *names), "", tmp_path / "out" / "all")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300
    assert {file.name for file in tmp_path.rglob("*") if file.is_file()} <= {
        "a.bin",
        "ok.txt",
        "a",
        "b",
    }
    assert not [
        file for file in tmp_path.rglob("*") if file.name == "b" and "out" not in file.parts
    ]


def test_a_link_in_a_zip_and_what_the_disk_does_not_take_are_one_sentence(tmp_path):
    link = zipfile.ZipInfo("b")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(write(tmp_path / "a.zip", "zip", "a"), "a") as archive:
        archive.writestr(link, "a")
    with pytest.raises(UserError, match="a.zip: member 'b' is a link, which is not unpacked"):
        extract(tmp_path / "a.zip", "", tmp_path / "all")
    for place, message in (
        ("/dev/full", "a.zip: the disk is full"),
        ("loop", "a.zip: member 'a' cannot be unpacked"),
    ):
        (tmp_path / "loop").unlink(missing_ok=True)
        (tmp_path / "loop").symlink_to(place)
        with pytest.raises(UserError, match=message):
            extract(tmp_path / "a.zip", "a", tmp_path / "loop")


def changed(path, old, new):
    """Change a field of all members: the file's header and the one of the central directory."""
    data = path.read_bytes()
    for signature, place in ((b"PK\x03\x04", old[0]), (b"PK\x01\x02", old[1])):
        at = data.index(signature)
        while at >= 0:
            data = data[: at + place] + struct.pack("<H", new) + data[at + place + 2 :]
            at = data.find(signature, at + 4)
    path.write_bytes(data)
    return path


FLAGS, METHOD = (6, 8), (8, 10)  # places in the two headers


@pytest.mark.parametrize(("field", "value"), [(FLAGS, 1), (METHOD, 99)])
def test_what_zipfile_cannot_read_is_one_sentence(tmp_path, field, value):
    with pytest.raises(
        UserError,
        match="member 'a' is encrypted or packed in another way; expected an open archive",
    ):
        extract(changed(write(tmp_path / "a.zip", "zip", "a"), field, value), "", tmp_path / "all")


@pytest.mark.parametrize("kind", KINDS)
def test_an_archive_unpacks_to_no_more_than_it_may(tmp_path, monkeypatch, kind):
    assert (archives.LITTLE, archives.RATIO) == (2**30, 50)
    monkeypatch.setattr(archives, "LITTLE", 200_000)
    zeros = bytes(100_000)
    extract(write(tmp_path / "two", kind, "a", "b", content=zeros), "", tmp_path / "allowed")
    with pytest.raises(UserError, match="three: unpacks to more than 200,000 bytes"):
        extract(
            write(tmp_path / "three", kind, "a", "b", "c", content=zeros), "", tmp_path / "bomb"
        )
    written = sum(file.stat().st_size for file in (tmp_path / "bomb").rglob("*"))
    assert written <= 200_000
    monkeypatch.setattr(archives, "RATIO", 10_000)  # of its own size, where that is more
    extract(tmp_path / "three", "", tmp_path / "large")


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_archive_is_one_sentence_wherever_it_is_damaged(tmp_path, kind):
    data = write(tmp_path / "good", kind, "a", "b/c", content=bytes(range(256)) * 40).read_bytes()
    for place in range(0, len(data), max(1, len(data) // 60)):
        for broken in (
            data[:place],
            data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :],
        ):
            (tmp_path / "broken").write_bytes(broken)
            try:
                extract(tmp_path / "broken", "", tmp_path / f"out{place}-{len(broken)}")
            except UserError as error:
                assert "\n" not in str(error)
