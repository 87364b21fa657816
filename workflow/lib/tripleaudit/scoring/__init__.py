"""Matching, micro and type F1, intervals and significance."""
