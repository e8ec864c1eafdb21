# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.ragged`."""

from ...graph.functions.ragged import constant as constant
from ...graph.functions.ragged import ragged_range as range
