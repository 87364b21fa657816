"""Configuration keys that earlier versions had, and what replaces them."""

from collections.abc import Iterator, Mapping
from typing import Any

REMOVED_KEYS = {
    "needles/triples": "trained extractors and language models are compared by F1 and GREScores",
    "needles/identification": "every needle is identified by itself, as in the paper",
    "tables/triple-needles": "the tables type-f1 and gre-sentence compare trained extractors and language models",
    "systems/*/completion": "the table contamination compares original and augmented test sentences",
    "collections/*/gpu_share": "the workers of a job share its GPU, and jobs divides the blocks among jobs",
    "tables/completion": "the table contamination compares original and augmented test sentences",
    "generative/endpoints/*/batch": "requests are sent one by one",
    "generative/endpoints/*/prices/batch": "requests are sent one by one, at the full price",
    "generative/endpoints/*/token_field": "the field is learned from the server's error",
    "generative/endpoints/*/backoff": "max_retries and the server's Retry-After decide when a request is repeated",
    "generative/endpoints/*/max_backoff": "max_retries and the server's Retry-After decide when a request is repeated",
    "generative/endpoints/*/requests_per_minute": "concurrency limits the requests in flight",
    "generative/endpoints/*/tokens_per_minute": "concurrency limits the requests in flight",
    "generative/systems/*/samples": "a second system with another seed draws a second answer",
    "grescores/judge/others": "a second study with another judge compares judges",
    "grescores/datasets/*/systems/*/factualness_by": "a second study with another judge compares judges",
    "needles/samples": "a second endpoint with another seed draws a second extraction",
    "needles/separate_runs": "the table iterations counts what the first calls of one extraction returned",
}
"""Path of a removed key, ``*`` for any name -> what replaces it."""


def remove_keys(config: dict[str, Any], removed: Mapping[str, str] = REMOVED_KEYS) -> Iterator[str]:
    """Delete removed keys from a configuration, and yield one sentence for each that it has."""
    for path, replacement in removed.items():
        *parents, key = path.split("/")
        for location, section in _sections(config, parents):
            if key in section:
                del section[key]
                yield f"{'/'.join([*location, key])}: this key was removed; {replacement}"


def _sections(config: Any, path: list[str]) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Yield ``(location, mapping)`` of each section that a path leads to."""
    if not isinstance(config, dict):
        return
    if not path:
        yield [], config
        return
    name, *rest = path
    names = list(config) if name == "*" else [name]
    for child in names:
        for location, section in _sections(config.get(child), rest):
            yield [child, *location], section
