"""Triples of large text collections: blocks of texts, extraction on Ray Data, one manifest, and what it costs."""
