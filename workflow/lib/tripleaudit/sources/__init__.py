"""Where models and raw files come from, and fetching them."""
