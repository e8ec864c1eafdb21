"""StableHLO's operators."""
