"""Addresses (URLs) without the secrets that they may hold."""

import logging
import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

SECRET_WORDS = (
    *("key", "token", "secret", "sig", "pass", "pwd", "credential", "auth"),
    *("cookie", "session", "bearer", "jwt"),
)
"""Words in the names of parameters of a query whose values are secrets."""
PUBLIC_HEADERS = {
    *("accept", "accept-encoding", "accept-language", "content-type", "user-agent"),
    *("referer", "http-referer", "x-title"),
    *("openai-organization", "openai-project", "openai-beta", "anthropic-version"),
    *("anthropic-beta", "x-goog-user-project"),
}
"""Headers, in small letters, whose values may be written in a study."""
SECRET_SCHEMES = ("basic ", "bearer ", "digest ", "negotiate ")
"""Beginnings of the values of headers, in small letters, that are secrets under any name."""
FROM_ENVIRONMENT = "env:"
_ADDRESS = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://|\b(?:https?|ftp|gs|s3):/)"  # paths lose a slash
    r"(?P<login>[^\s/?#'\"<>]*@"
    r"|[^\s/?#'\"<>:\[]+:(?!\d*(?:[/?#'\"<>\s]|$))\S*@)?"  # a password with slashes or quotes
    r"(?P<path>[^\s?#'\"<>]*)"
    r"(?P<query>\?[^\s#'\"<>]*)?"
)


def is_web_address(address: str) -> bool:
    """Return whether an address has the form ``http(s)://host[:port][/path]``, without blanks."""
    if any(character.isspace() for character in address):
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
