"""What known services charge, as of a date (``data/prices.yaml``).

The plan and the commands that make an endpoint of options look prices up. A job is given its endpoints with prices, so
that a new list asks for no answer again: what an answer cost when it was paid for is kept with it.
"""

import functools
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tripleaudit.llm.prices import Prices
from tripleaudit.shipped import DATA
from tripleaudit.yaml_files import read_yaml

READS = ("data/prices.yaml",)

_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@functools.cache
def _table() -> Mapping[str, Any]:
    return read_yaml(DATA / "prices.yaml")


def with_prices(section: Mapping[str, Any]) -> dict[str, Any]:
    """Return a section ``generative`` whose endpoints have the listed prices where they name none of their own."""
    endpoints = {name: dict(server) for name, server in (section.get("endpoints") or {}).items()}
    for server in endpoints.values():
        known = listed(server.get("base_url"), server.get("model") or "")
        if server.get("prices") is None and known:
            server["prices"] = known.full()
    return {**section, "endpoints": endpoints}


def listed(base_url: str | None, model: str) -> Prices:
    """Return the listed prices of a model at an address; none where the table does not know both."""
    try:
        host = urlsplit(base_url or "").hostname or ""
    except ValueError:  # no address; who checks it says so
        host = ""
    service = _table()["services"].get(host) or {"models": {}}
    found = service["models"].get(model) or service["models"].get(_DATED.sub("", model))
    if found is None:
        return Prices()
    return Prices(**found, batch=service.get("batch", 1.0), as_of=_table()["date"].isoformat())
