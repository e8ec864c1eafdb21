# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.test` that need no framework of tests."""

from ...graph.derivatives.gradient_checker import compute_gradient as compute_gradient
from ...graph.derivatives.gradient_checker import compute_gradient_error as compute_gradient_error
