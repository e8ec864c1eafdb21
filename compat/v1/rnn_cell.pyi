# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.nn.rnn_cell`."""

from ...graph.functions.rnn.cells import BasicLSTMCell as BasicLSTMCell
from ...graph.functions.rnn.cells import BasicRNNCell as BasicRNNCell
from ...graph.functions.rnn.cells import GRUCell as GRUCell
from ...graph.functions.rnn.cells import LSTMCell as LSTMCell
from ...graph.functions.rnn.cells import LSTMStateTuple as LSTMStateTuple
from ...graph.functions.rnn.cells import RNNCell as RNNCell
from ...graph.functions.rnn.wrappers import DeviceWrapper as DeviceWrapper
from ...graph.functions.rnn.wrappers import DropoutWrapper as DropoutWrapper
from ...graph.functions.rnn.wrappers import MultiRNNCell as MultiRNNCell
from ...graph.functions.rnn.wrappers import ResidualWrapper as ResidualWrapper
