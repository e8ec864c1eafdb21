"""Vectorised kernels of float32."""
