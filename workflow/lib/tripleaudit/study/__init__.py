"""The plan of a study: its configuration, its validation, and the jobs that follow from it."""
