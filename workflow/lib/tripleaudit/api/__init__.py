"""What the commands score, audit, check and compare do as functions of Python; a command prints
what one returns.
"""
