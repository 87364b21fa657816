"""Checks of a study across sections, before anything runs; one file for each section."""
