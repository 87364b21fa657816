"""Paper-style tables and plots from tidy scores.

Tables of plugins are made by :func:`of_frame`.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tripleaudit.tables.cells import of_frame

__all__ = ["of_frame"]


def __getattr__(name: str) -> Any:
    """Import a public function when it is needed."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.cells"), name)
