"""Settings and specs of the shipped extractors, one module each, imported without torch."""
