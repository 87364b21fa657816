"""Environment variables with the keys of services; only whether they are set is read."""

import os
from collections.abc import Iterator, Mapping

from tripleaudit.systems.service import FROM_ENVIRONMENT


def key_variables(
    loc: str, headers: Mapping[str, str], key: str | None = None
) -> Iterator[tuple[str, str]]:
    """Yield each variable that a key and headers come from, and where the configuration says so."""
    if key:
        yield key, f"{loc}/api_key_env"
    for header, value in headers.items():
        if value.startswith(FROM_ENVIRONMENT):
            yield value.removeprefix(FROM_ENVIRONMENT), f"{loc}/headers/{header}"


def is_set(name: str) -> bool:
    """Whether a variable holds something."""
    return bool(os.environ.get(name, "").strip())
