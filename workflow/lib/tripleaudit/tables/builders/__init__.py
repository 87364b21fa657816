"""The tables by paper and theme: builders, and one ``TableSpec`` for each table."""
