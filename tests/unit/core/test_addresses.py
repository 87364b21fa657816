"""Secrets in addresses reach no message, log line or provenance."""

import logging

import pytest

from tripleaudit.cli import main
from tripleaudit.core.addresses import clean_addresses, holds_secrets
from tripleaudit.core.errors import UserError
from tripleaudit.core.provenance import provenance

SECRET = "https://ada:SECRET0@host.example:8443/a/b?token=SECRET1&x=1#part"
CLEAN = "https://host.example:8443/a/b?…#part"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{SECRET}: no answer", f"{CLEAN}: no answer"),
        ("see 's3://KEY:SECRET@bucket/x?sig=S'.", "see 's3://bucket/x?…'."),
        ("HTTP://u:p@w@host/x", "HTTP://host/x"),
        (
            "postgresql+psycopg://u:p@h/db and http://a/b@c",
            "postgresql+psycopg://h/db and http://a/b@c",
        ),
        ("mail ada@host.example, what? a://b", "mail ada@host.example, what? a://b"),
        ("https://host/x?a=1\nhttps://u@host/y", "https://host/x?…\nhttps://host/y"),
        ("http://u:pa/SECRET@host/x", "http://host/x"),
        ("'http://u:it's@host/x'", "'http://host/x'"),
        ("http://[::1]:80/a@b, 'http://h:80','c@d'", "http://[::1]:80/a@b, 'http://h:80','c@d'"),
    ],
)
def test_user_password_and_query_are_cleaned_out_of_texts(text, expected):
    assert clean_addresses(text) == expected


def test_no_message_of_an_error_holds_them():
    assert str(UserError(f"{SECRET} cannot be reached")) == f"{CLEAN} cannot be reached"


def test_no_log_line_of_a_command_holds_them(capsys, caplog):
    main(["validate", "missing.yaml"])
    with caplog.at_level(logging.INFO):
        logging.getLogger("urllib3").info("GET %s: %d", SECRET, 403)
    assert caplog.messages == [f"GET {CLEAN}: 403"]


def test_a_command_does_not_repeat_them(capsys):
    assert main(["prepare", "--source", SECRET, "--out", "x", "--report", "y"]) == 1
    assert "SECRET" not in capsys.readouterr().err


def test_provenance_does_not_hold_them(tmp_path):
    settings = {"address": SECRET, "files": ["a.txt", {"deep": SECRET}]}
    record = provenance(
        command="x", inputs={}, settings=settings, seed=None, device="cpu", seconds=1.0
    )
    assert record["settings"] == {"address": CLEAN, "files": ["a.txt", {"deep": CLEAN}]}


@pytest.mark.parametrize(
    ("address", "secret"),
    [
        (SECRET, True),
        ("s3://KEY:SECRET@bucket/x", True),
        ("https://host/x?X-Amz-Signature=abc", True),
        ("s3://bucket/x?region=eu-west-1&endpoint_override=host", False),
        ("https://host/x", False),
        ("folder/with@sign", False),
        ("http://[::1", False),
    ],
)
def test_addresses_with_credentials_are_known(address, secret):
    assert holds_secrets(address) is secret
