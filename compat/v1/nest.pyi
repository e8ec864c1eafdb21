# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.nest`."""

from ...graph.functions.nest import assert_same_structure as assert_same_structure
from ...graph.functions.nest import flatten as flatten
from ...graph.functions.nest import is_nested as is_nested
from ...graph.functions.nest import map_structure as map_structure
from ...graph.functions.nest import pack_sequence_as as pack_sequence_as
