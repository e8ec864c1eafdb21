"""The names of `tf.nn`: activations, convolutions, pools, losses, normalisations."""

from ...facade import facade
from .homes import NN

__all__, __getattr__, __dir__ = facade(__name__, NN, modules={"rnn_cell": "compat.v1.rnn_cell"})
