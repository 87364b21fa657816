"""Triples of large text collections: shards, streaming extraction, one sharded result, and what it costs."""
