"""Sections of the configuration of a study: plain data, one file for each stage.

The docstring under each attribute is its reference: `config/README.md` and the JSON schema are made from it.
"""
