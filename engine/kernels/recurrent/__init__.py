"""Kernels of a whole sequence of a recurrent layer."""
