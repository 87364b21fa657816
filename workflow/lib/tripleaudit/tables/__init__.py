"""Paper-style tables and plots from tidy scores."""
