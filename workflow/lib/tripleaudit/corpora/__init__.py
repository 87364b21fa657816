"""Sentences, triples and spans; readers of upstream formats; the JSON-lines store."""
