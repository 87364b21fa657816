"""Environment variables with the keys of services; only whether they are set is read."""

import os
from collections.abc import Iterator, Mapping

from tripleaudit.systems.service import FROM_ENVIRONMENT


def key_variables(
    loc: str, headers: Mapping[str, str], key: str | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the variables of a key and of headers, with their locations in the configuration.

    Args:
        loc: location of the section, such as ``systems/NAME``.
        headers: headers of requests by name.
        key: name of the variable with the key; None for no key.
    """
    if key:
        yield key, f"{loc}/api_key_env"
    for header, value in headers.items():
        if value.startswith(FROM_ENVIRONMENT):
            yield value.removeprefix(FROM_ENVIRONMENT), f"{loc}/headers/{header}"


def is_set(name: str) -> bool:
    """Return whether a variable is set and not blank."""
    return bool(os.environ.get(name, "").strip())
