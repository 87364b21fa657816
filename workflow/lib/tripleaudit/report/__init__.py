"""One self-contained HTML page of a study: headlines, tables, plots, errors, provenance."""
