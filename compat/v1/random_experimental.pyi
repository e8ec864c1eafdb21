# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.random.experimental`."""

from ...graph.functions.random_draws import fold_in as stateless_fold_in
from ...graph.functions.random_draws import split as stateless_split
