"""The plan of a study: what follows from its configuration, and everything that is wrong with
it.
"""
