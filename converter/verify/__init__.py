"""A written file compared with its source."""
