"""A study whose inputs and outputs lie in an S3 store, by Snakemake's storage plugin, on a server of this machine."""

import pytest

from support.workflow import snakemake, write_study

moto = pytest.importorskip("moto.server")
pytest.importorskip("snakemake_storage_plugin_s3")


@pytest.mark.slow
def test_inputs_come_from_a_store_and_outputs_go_there(tmp_path):
    import boto3

    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "config.json").write_text("{}", encoding="utf-8")
    config = write_study(tmp_path, tmp_path / "encoder")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        address = f"http://127.0.0.1:{server.get_host_and_port()[1]}"
        keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}
        client = boto3.client("s3", endpoint_url=address, **keys)
        client.create_bucket(Bucket="study")
        for split in ("train", "valid", "test"):
            client.upload_file(str(tmp_path / f"{split}.jsonl"), "study", f"here/{split}.jsonl")
        options = ["--default-storage-provider", "s3", "--default-storage-prefix", "s3://study/here"]
        options += [
            "--storage-s3-endpoint-url",
            address,
            "--storage-s3-access-key",
            "a",
            "--storage-s3-secret-key",
            "b",
        ]
        options += ["--shared-fs-usage", "persistence", "software-deployment", "sources", "source-cache"]
        wanted = "results/small/corpora/tiny/test.jsonl"
        result = snakemake(tmp_path, *options, "--", wanted, config=config)
        assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-4000:]
        found = {item["Key"] for item in client.list_objects_v2(Bucket="study")["Contents"]}
        assert f"here/{wanted}" in found and not (tmp_path / wanted).exists()
    finally:
        server.stop()
