"""Extraction by language models behind an OpenAI-compatible API."""
