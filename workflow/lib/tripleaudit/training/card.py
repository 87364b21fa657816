"""Model card of a trained extractor: data, settings, scores and usage."""

import json
from collections.abc import Mapping
from typing import Any

import jinja2

from tripleaudit.core.shipped import DATA

TEMPLATE = DATA / "templates" / "model-card.md"
SHOWN = 40  # relations


def model_card(record: Mapping[str, Any], kind: str, relations: list[str]) -> str:
    """Return ``README.md`` with a hub's metadata in front.

    ``record`` is the training's provenance with its part ``training``; ``kind`` is ``extractor`` or
    ``classifier``.
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
        "json": json.dumps,
    }
    return template.render({"git": None, "encoder": None, **record, **own})
