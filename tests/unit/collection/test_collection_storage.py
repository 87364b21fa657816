"""A collection in a store: read from and written to an S3 server of this machine, and what is
said where that fails.
"""

import gzip
import urllib.request

import pytest

from support.serving import web_server
from tripleaudit.collection import addresses, engine
from tripleaudit.collection.finished import folder_of
from tripleaudit.collection.pipeline import Models
from tripleaudit.collection.reading import Reading
from tripleaudit.core.errors import UserError
from tripleaudit.extractors.casrel import CasRel
from tripleaudit.testing import build_extractor, toy_sentences

moto = pytest.importorskip("moto.server")


@pytest.fixture
def environment(monkeypatch):
    """Credentials and address of a store; connections are not kept from one test to the next."""

    def of(port, **more):
        values = {
            "AWS_ACCESS_KEY_ID": "a",
            "AWS_SECRET_ACCESS_KEY": "b",
            "AWS_REGION": "us-east-1",
            **more,
        }
        for name, value in {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", **values}.items():
            monkeypatch.setenv(name, value)
        addresses.store.cache_clear()

    yield of
    addresses.store.cache_clear()


@pytest.fixture
def bucket(environment):
    """The bucket ``texts`` of a server that holds nothing."""
    import boto3

    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    port = server.get_host_and_port()[1]
    environment(port)
    client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1")
    client.create_bucket(Bucket="texts")
    yield client
    urllib.request.urlopen(f"http://127.0.0.1:{port}/moto-api/reset", data=b"").close()
    server.stop()


@pytest.fixture(scope="module")
def model(tmp_path_factory, tiny_encoder):
    folder = tmp_path_factory.mktemp("models") / "casrel"
    build_extractor(CasRel, tiny_encoder, prior=0.4).save_pretrained(folder)
    return folder


def test_a_store_is_read_written_and_gone_on_in(bucket, model):
    lines = [each.text for each in toy_sentences()] * 3
    bucket.put_object(Bucket="texts", Key="in/a.txt", Body="\n".join(lines).encode())
    bucket.put_object(
        Bucket="texts", Key="in/b.txt.gz", Body=gzip.compress("\n".join(lines[:5]).encode())
    )
    work = engine.Collection(
        "stored",
        ["s3://texts/in"],
        folder_of("s3://texts/out"),
        Models(str(model), batch_size=8),
        Reading(10),
    )
    manifest = engine.run_collection(work)
    assert manifest["counts"]["sentences"] == len(lines) + 5 and manifest["counts"]["triples"] > 0
    assert {block["source"] for block in manifest["blocks"]} == {
        "s3://texts/in/a.txt",
        "s3://texts/in/b.txt.gz",
    }
    keys = {
        item["Key"]: item["ETag"]
        for item in bucket.list_objects_v2(Bucket="texts", Prefix="out/")["Contents"]
    }
    assert {
        f"out/{block['file']}" for block in manifest["blocks"]
    } < keys.keys() and "out/collection.json" in keys
    bucket.put_object(Bucket="texts", Key="in/c.txt", Body=b"one more")
    assert engine.run_collection(work)["counts"]["sentences"] == len(lines) + 6
    after = {
        item["Key"]: item["ETag"]
        for item in bucket.list_objects_v2(Bucket="texts", Prefix="out/")["Contents"]
    }
    made = {key for key in after if key.endswith(".parquet") and after[key] != keys.get(key)}
    assert len(made) == 1 and "c.txt" in made.pop()


def test_folders_patterns_and_what_is_not_there(bucket):
    for key in ("in/a.txt", "in/deep/b.jsonl", "in/c.md"):
        bucket.put_object(Bucket="texts", Key=key, Body=b"x")
    names = [file.name for file in addresses.text_files(["s3://texts/in", "s3://texts/in/*.txt"])]
    assert names == ["s3://texts/in/a.txt", "s3://texts/in/deep/b.jsonl"]
    for address in ("s3://texts/none", "s3://nobucket/a.txt"):
        with pytest.raises(UserError, match=f"^{address}: no such file or folder"):
            addresses.text_files([address])


def test_a_store_that_refuses_is_said(environment):
    with web_server() as server:
        environment(server.serve("texts/in", b"", *[403] * 9).split(":")[2].partition("/")[0])
        with pytest.raises(
            UserError, match=r"^s3://texts/in: the store refuses access or there are no credentials"
        ):
            addresses.text_files(["s3://texts/in"])


def test_a_store_that_cannot_be_reached_is_said(environment):
    environment(9, AWS_MAX_ATTEMPTS="1")
    with pytest.raises(UserError, match=r"^s3://texts/in: cannot be reached or read"):
        addresses.text_files(["s3://texts/in"])
