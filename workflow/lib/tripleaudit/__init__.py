"""tripleaudit: audit relational-triple extraction, from raw corpus to paper-style tables.

In Python: :func:`score`, :func:`audit`, :func:`check`, :func:`claims`, :func:`compare`, :func:`which`,
:func:`export` and :func:`load` (:mod:`tripleaudit.api`).
"""

import importlib
from typing import TYPE_CHECKING, Any

from tripleaudit.core.version import __version__ as __version__

if TYPE_CHECKING:
    from tripleaudit.api.audit import audit
    from tripleaudit.api.check import check
    from tripleaudit.api.claims import claims
    from tripleaudit.api.compare import compare
    from tripleaudit.api.export import export
    from tripleaudit.api.load import load
    from tripleaudit.api.score import score
    from tripleaudit.api.which import which

__all__ = ["audit", "check", "claims", "compare", "export", "load", "score", "which"]


def __getattr__(name: str) -> Any:
    """Import a function when it is first used.

    The module's name is composed, because no result depends on it.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.api.{name}"), name)


def __dir__() -> list[str]:
    """Return the names that a notebook completes."""
    return [*__all__, "__version__"]
