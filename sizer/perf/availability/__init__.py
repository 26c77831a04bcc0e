"""Failures of large jobs, checkpoints and what they leave of the time."""
