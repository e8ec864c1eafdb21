# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.lite.experimental.nn`."""

from ...graph.functions.rnn.separate_gates import TFLiteLSTMCell as TFLiteLSTMCell
from ...graph.functions.rnn.separate_gates import TfLiteRNNCell as TfLiteRNNCell
from ...graph.functions.rnn.separate_gates import dynamic_rnn as dynamic_rnn
