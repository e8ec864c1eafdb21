"""Kernels of one element, or of two operands by numpy's rule."""
