"""The augmented test set: entities replaced by similar ones that training has, or has not,
shown.
"""
