"""Kernels of int16 activations."""
