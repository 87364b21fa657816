"""Batches, the Trainer set-up, early stopping and prediction."""
