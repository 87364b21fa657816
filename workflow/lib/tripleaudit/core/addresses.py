"""Secrets in addresses (URLs), headers and log records.

* :func:`clean_addresses`, :func:`clean_values` and :func:`clean_log_records` remove every login and
  every query from addresses before these are stored or printed, whatever they contain.
* :func:`holds_secrets`, :func:`is_secret_name` and :func:`is_literal_secret` decide whether a
  configuration holds a secret itself, which checks refuse. Only these depend on ``SECRET_WORDS``
  and ``PUBLIC_HEADERS``.
"""

import logging
import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

SECRET_WORDS = (
    "key",
    "token",
    "secret",
    "sig",
    "pass",
    "pwd",
    "credential",
    "auth",
    "cookie",
    "session",
    "bearer",
    "jwt",
)
"""Words in the names of parameters of a query whose values are secrets."""
PUBLIC_HEADERS = {
    "accept",
    "accept-encoding",
    "accept-language",
    "content-type",
    "user-agent",
    "referer",
    "http-referer",
    "x-title",
    "openai-organization",
    "openai-project",
    "openai-beta",
    "anthropic-version",
    "anthropic-beta",
    "x-goog-user-project",
}
"""Headers, in small letters, whose values may be written in a study."""
SECRET_SCHEMES = ("basic ", "bearer ", "digest ", "negotiate ")
"""Beginnings of the values of headers, in small letters, that are secrets under any name."""
FROM_ENVIRONMENT = "env:"
"""Beginning of the value of a header that names an environment variable."""
_ADDRESS = re.compile(
    r"""
    # https://, or https:/ because pathlib.Path writes two slashes as one
    (?P<scheme> [A-Za-z][A-Za-z0-9+.-]*:// | \b(?:https?|ftp|gs|s3):/ )
    (?P<login>
        [^\s/?\#'"<>]* @  # user:password@
        |
        # The same with slashes or quotes in the password. What follows the colon must not be a
        # port, as in host:8000/path?user=a@b, where the @ ends no login.
        [^\s/?\#'"<>:\[]+ : (?! \d* (?: [/?\#'"<>\s] | $ ) ) \S* @
    )?
    (?P<path> [^\s?\#'"<>]* )
    (?P<query> \? [^\s\#'"<>]* )?
    """,
    re.VERBOSE,
)


def is_web_address(address: str) -> bool:
    """Return whether an address has the form ``http(s)://host[:port][/path]``, without blanks."""
    if not address.isprintable() or " " in address:
        return False
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:  # a port out of range, an open bracket
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0


def has_login_or_query(address: str) -> bool:
    """Return whether a web address holds more than host and path, which may be secret."""
    parts = urlsplit(address)
    return bool(parts.username or parts.password or parts.query or parts.fragment)


def clean_addresses(text: str) -> str:
    """Return a text whose addresses have neither user and password nor a query."""
    return _ADDRESS.sub(_without_secrets, text) if ":/" in text else text


def clean_values(value: Any) -> Any:
    """Return a JSON value whose texts have clean addresses."""
    if isinstance(value, str):
        return clean_addresses(value)
    if isinstance(value, dict):
        return {key: clean_values(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [clean_values(inner) for inner in value]
    return value


def holds_secrets(address: str) -> bool:
    """Return whether an address has a user or password, or a query with a secret."""
    if "://" not in address:
        return False
    try:
        parts = urlsplit(address)
        names = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    except ValueError:
        return "@" in address
    return "@" in parts.netloc or any(map(is_secret_name, names))


def is_secret_name(name: str) -> bool:
    """Return whether the value of a query's parameter with this name is a secret."""
    return any(word in name.lower() for word in SECRET_WORDS)


def is_literal_secret(header: str, value: str) -> bool:
    """Return whether a header may hold a secret itself instead of ``env:NAME``.

    A name such as ``X-Pass`` or ``X-Team`` does not show what its value is, so that only
    :data:`PUBLIC_HEADERS` may have literal values.
    """
    if value.startswith(FROM_ENVIRONMENT):
        return False
    is_public = header.strip().lower() in PUBLIC_HEADERS
    return not is_public or value.lower().startswith(SECRET_SCHEMES)


def clean_log_records() -> None:
    """Clean the addresses in all records that this process logs from now on."""
    make_record = logging.getLogRecordFactory()
    if getattr(make_record, "cleans_addresses", False):
        return

    def make_clean_record(*args: Any, **options: Any) -> logging.LogRecord:
        record = make_record(*args, **options)
        message = record.getMessage()
        if ":/" in message:
            record.msg, record.args = clean_addresses(message), None
        return record

    make_clean_record.cleans_addresses = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(make_clean_record)


def _without_secrets(match: re.Match[str]) -> str:
    query = "?…" if match["query"] else ""
    return f"{match['scheme']}{match['path']}{query}"
