"""The joint extractors and the zero-cardinality classifier, one module each, and what they share.

Importing this package imports neither torch nor any extractor.
"""

from tripleaudit.extractors.registry import load_extractor

__all__ = ["load_extractor"]
