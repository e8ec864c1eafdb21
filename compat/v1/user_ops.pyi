# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.user_ops`."""

from ...graph.functions.strings import my_fact as my_fact
