"""The joint extractors and the zero-cardinality classifier, one module each, and what they share.

Importing this package imports neither torch nor any extractor.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tripleaudit.extractors.registry import load_extractor

__all__ = ["load_extractor"]


def __getattr__(name: str) -> Any:
    """Import a public function when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.registry"), name)
