"""Versions of the code behind results, computed again after an edit."""

import inspect

from tripleaudit.core import code


def forget() -> None:
    """Forget what was read off files, but not what was parsed of a content.

    The cache of parsed contents belongs to a function without arguments.
    """
    for cached in vars(code).values():
        if hasattr(cached, "cache_clear") and inspect.signature(cached).parameters:
            cached.cache_clear()
