"""Model card of a trained extractor: data, settings, scores and usage."""

import json
from collections.abc import Mapping
from typing import Any

import jinja2

from tripleaudit.core.shipped import DATA

TEMPLATE = DATA / "templates" / "model-card.md"
SHOWN = 40  # relations
TRIPLE_TYPES = {
    "all": "all",
    "entirely_seen": "entirely seen",
    "partially_seen": "partially seen",
    "unseen": "unseen",
    "others": "of several types",
}
"""Part of the scores -> what the card calls the triples of its sentences."""


def model_card(record: Mapping[str, Any], kind: str, relations: list[str]) -> str:
    """Return ``README.md`` with a hub's metadata in front.

    ``record`` is the training's provenance with its part ``training``, and of a small copy its
    parts ``compact`` and ``licence``; ``kind`` is ``extractor`` or ``classifier``.
    """
    template = jinja2.Template(
        TEMPLATE.read_text(encoding="utf-8"),
        trim_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    settings = {
        name: value for name, value in record["settings"].items() if name != "module"
    }  # a path of a machine
    own = {
        "settings": settings,
        "kind": kind,
        "relations": relations,
        "shown": SHOWN,
        "triple_types": TRIPLE_TYPES,
        "json": json.dumps,
        "percent": _percent,
    }
    defaults = {"git": None, "encoder": None, "compact": None, "licence": "other"}
    return template.render({**defaults, **record, **own})


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"
