"""Systems that need no training here: stored outputs, programs, services, Python classes,
language models.
"""
