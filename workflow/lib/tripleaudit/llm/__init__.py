"""Querying language models: one client, cache, ledger, conversation and answer parser for every package above."""
