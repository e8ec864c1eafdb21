# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""`tf.types`: the types that annotations name."""

from ...compat.v1 import types_experimental as experimental
