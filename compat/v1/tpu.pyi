# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.tpu` that have a meaning without one."""

from ...graph.functions.flow.sharding import XLAOptions as XLAOptions
from ...graph.functions.flow.sharding import shard as shard
