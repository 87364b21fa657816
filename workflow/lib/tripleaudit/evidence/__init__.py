"""Table ``claims``: what the four papers claim, what was measured of it, and a verdict."""
