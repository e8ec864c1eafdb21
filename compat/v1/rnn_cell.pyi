# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.nn.rnn_cell`."""

from ...graph.functions.rnn_cells import BasicLSTMCell as BasicLSTMCell
from ...graph.functions.rnn_cells import BasicRNNCell as BasicRNNCell
from ...graph.functions.rnn_cells import GRUCell as GRUCell
from ...graph.functions.rnn_cells import LSTMCell as LSTMCell
from ...graph.functions.rnn_cells import LSTMStateTuple as LSTMStateTuple
from ...graph.functions.rnn_cells import RNNCell as RNNCell
from ...graph.functions.rnn_wrappers import DeviceWrapper as DeviceWrapper
from ...graph.functions.rnn_wrappers import DropoutWrapper as DropoutWrapper
from ...graph.functions.rnn_wrappers import MultiRNNCell as MultiRNNCell
from ...graph.functions.rnn_wrappers import ResidualWrapper as ResidualWrapper
