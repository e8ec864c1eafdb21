# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.types.experimental`."""

from ...graph.core.typing import TensorLike as TensorLike
