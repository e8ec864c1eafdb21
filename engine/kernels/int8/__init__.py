"""Kernels of quantized 8-bit integers, and what makes and unmakes them."""
