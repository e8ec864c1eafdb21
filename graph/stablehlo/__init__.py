"""Modules of StableHLO, as JAX exports them, as operations of a TF graph."""
