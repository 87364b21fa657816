"""Sentences, triples and spans; readers of every upstream format; the project's JSON-lines
store.
"""
