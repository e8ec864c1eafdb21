# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""`tf.config.threading`: how many threads new Sessions use."""

from ...graph.session.devices import get_inter_op_parallelism_threads as get_inter_op_parallelism_threads
from ...graph.session.devices import get_intra_op_parallelism_threads as get_intra_op_parallelism_threads
from ...graph.session.devices import set_inter_op_parallelism_threads as set_inter_op_parallelism_threads
from ...graph.session.devices import set_intra_op_parallelism_threads as set_intra_op_parallelism_threads
