"""Kernels for any shape, which the others are held against."""
