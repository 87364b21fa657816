"""The tables by paper and theme: builders and answers, and one ``TableSpec`` for each table."""
