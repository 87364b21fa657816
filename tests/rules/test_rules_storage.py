"""A study whose inputs and outputs lie in an S3 store, by Snakemake's storage plugin, on a
server of this machine.
"""

import shutil

import pytest

from support.fake_endpoint import FakeEndpoint
from support.killing import Running
from support.workflow import ran, write_study

moto = pytest.importorskip("moto.server")
pytest.importorskip("snakemake_storage_plugin_s3")

OPTIONS = ["--default-storage-provider", "s3", "--default-storage-prefix", "s3://study/here"]
OPTIONS += ["--shared-fs-usage", "persistence", "software-deployment", "sources", "source-cache"]


@pytest.fixture
def store():
    """A bucket, and what Snakemake has to know of it."""
    import boto3

    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    address = f"http://127.0.0.1:{server.get_host_and_port()[1]}"
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}
    client = boto3.client("s3", endpoint_url=address, **keys)
    client.create_bucket(Bucket="study")
    settings = {"ENDPOINT_URL": address, "ACCESS_KEY": "a", "SECRET_KEY": "b"}
    yield client, {f"SNAKEMAKE_STORAGE_S3_{name}": value for name, value in settings.items()}
    server.stop()


@pytest.mark.slow
@pytest.mark.thorough
def test_a_study_in_a_store_goes_on_elsewhere_from_its_checkpoint_and_its_answers(
    store, tiny_encoder, tmp_path
):
    """Training is killed; another working folder, as of another pod, has only the store and the
    volume in common.
    """
    client, environment = store
    first, second, volume = (tmp_path / name for name in ("first", "second", "volume"))
    shutil.copytree(tiny_encoder, first / "encoder")
    endpoint = {"model": "fake", "prices": {"input": 1, "output": 2}}
    with FakeEndpoint(answer='[["a", "b", "c"]]') as fake:
        endpoint |= {"base_url": fake.url}
        few = {
            "protocols": {"original": None},
            "settings": ["nz"],
            "noising": None,
            "baselines": [],
        }
        few |= {"training": {"epochs": 8, "batch_size": 16, "save_every": 5, "evaluate_every": 8}}
        few |= {"tables": {"triple-types": None, "training-time": None}}
        asked = {"endpoints": {"fake": endpoint}, "systems": {"open": {"endpoint": "fake"}}}
        asked |= {
            "cache": str(volume / "answers"),
            "datasets": {"few": {"corpus": "tiny", "limit": 5}},
        }
        write_study(first, "encoder", **few, generative=asked)
        shutil.copytree(first, second)
        for path in first.rglob("*.*"):
            client.upload_file(str(path), "study", f"here/{path.relative_to(first)}")
        options = [*OPTIONS, "--local-storage-prefix", str(volume / "files")]
        ran(first, *options, "--", "generative", **environment)
        sent = fake.count
        assert sent == 5
        run = Running(first, *options, "--", "results/small/models/tiny/original-nz/casrel/none/seed1/config.json",
                      **environment)  # fmt: skip
        assert run.wait_until(lambda: any(volume.rglob("checkpoint-*.pt"))), run.text[-3000:]
        run.kill()
        answers = "here/results/small/generative/few/open/answers.jsonl"
        client.delete_object(Bucket="study", Key=answers)
        ran(second, *options, "--", "report", "generative", **environment)
        assert fake.count == sent
    found = {item["Key"] for item in client.list_objects_v2(Bucket="study")["Contents"]}
    assert {"here/results/small/report.html", answers} <= found
    log = client.get_object(
        Bucket="study", Key="here/results/small/logs/train/tiny/original-nz/casrel/none/seed1.log"
    )
    assert "resuming from checkpoint-" in log["Body"].read().decode()
    assert not list(second.glob("results/small/*.html"))
