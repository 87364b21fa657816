"""Triples of large text collections: blocks of texts, extraction, manifest and costs."""
