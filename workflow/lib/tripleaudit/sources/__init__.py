"""Where models and raw files come from, and fetching them."""

from tripleaudit.sources.source import Source, parse_source

__all__ = ["Source", "parse_source"]
