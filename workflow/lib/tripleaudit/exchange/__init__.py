"""Comparison of two finished results."""
