# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.bitwise`: the bits of integers."""

from ...graph.functions.math.arithmetic import bitwise_and as bitwise_and
from ...graph.functions.math.arithmetic import bitwise_or as bitwise_or
from ...graph.functions.math.arithmetic import bitwise_xor as bitwise_xor
from ...graph.functions.math.arithmetic import invert as invert
from ...graph.functions.math.arithmetic import left_shift as left_shift
from ...graph.functions.math.arithmetic import right_shift as right_shift
