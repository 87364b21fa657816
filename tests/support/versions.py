"""Versions of the code behind results, computed again after an edit."""

from tripleaudit.core import code


def forget() -> None:
    """Forget what was read off files, but for what was parsed of a content."""
    for cached in vars(code).values():
        if hasattr(cached, "cache_clear") and cached is not code._parsed_files:
            cached.cache_clear()
