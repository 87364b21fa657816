"""Python functions behind the commands score, audit, check and compare.

A command prints what the function of its name returns.
"""
