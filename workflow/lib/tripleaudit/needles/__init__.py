"""MINEA: needles infused into documents, and scores without a reference."""
