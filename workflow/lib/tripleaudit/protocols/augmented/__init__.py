"""Augmented test set: entities replaced by similar ones, seen or unseen in training."""
