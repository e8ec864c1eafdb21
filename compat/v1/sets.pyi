# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.sets`."""

from ...graph.functions.math.sets import set_difference as difference
from ...graph.functions.math.sets import set_difference as set_difference
from ...graph.functions.math.sets import set_intersection as intersection
from ...graph.functions.math.sets import set_intersection as set_intersection
from ...graph.functions.math.sets import set_size as set_size
from ...graph.functions.math.sets import set_size as size
from ...graph.functions.math.sets import set_union as set_union
from ...graph.functions.math.sets import set_union as union
