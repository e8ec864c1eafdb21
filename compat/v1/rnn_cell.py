"""The names of `tf.nn.rnn_cell`."""

from ...facade import facade
from .homes import RNN_CELL

__all__, __getattr__, __dir__ = facade(__name__, RNN_CELL)
