"""Checkpoints by names and by objects: savers, managers, restoring, warm starts."""
