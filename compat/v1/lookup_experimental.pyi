# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.lookup.experimental`."""

from ...graph.functions.resources.mutable_tables import DenseHashTable as DenseHashTable
from ...graph.functions.resources.mutable_tables import MutableHashTable as MutableHashTable
