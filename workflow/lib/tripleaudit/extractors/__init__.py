"""The joint extractors and the zero-cardinality classifier, one module each, and what they share."""
