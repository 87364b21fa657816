"""Triples of large text collections: blocks of texts, their extraction, one manifest, and what
it costs.
"""
