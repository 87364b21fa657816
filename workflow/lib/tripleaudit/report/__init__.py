"""One self-contained HTML page of a study: questions, answers, tables, plots, errors,
provenance.
"""
