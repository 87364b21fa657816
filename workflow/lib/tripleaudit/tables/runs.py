"""Keys of runs: what was scored, whatever the seed."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class RunKey(NamedTuple):
    """What is scored, without the seed."""

    corpus: str
    protocol: str
    training: str
    testing: str
    extractor: str
    noise: str = "none"


def run_of(keys: Mapping[str, Any]) -> RunKey:
    """Return what the keys of a row, or of counts, say was scored."""
    return RunKey(
        *(str(keys.get(name) or ("none" if name == "noise" else "")) for name in RunKey._fields)
    )
