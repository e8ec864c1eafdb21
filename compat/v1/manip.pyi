# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.manip`."""

from ...graph.functions.array.array import batch_to_space_nd as batch_to_space_nd
from ...graph.functions.array.array import reshape as reshape
from ...graph.functions.array.array import reverse as reverse
from ...graph.functions.array.array import roll as roll
from ...graph.functions.array.array import scatter_nd as scatter_nd
from ...graph.functions.array.array import space_to_batch_nd as space_to_batch_nd
from ...graph.functions.array.array import tile as tile
from ...graph.functions.array.gathering import gather_nd as gather_nd
