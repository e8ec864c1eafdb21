"""Kernels that fold dimensions, and searches."""
